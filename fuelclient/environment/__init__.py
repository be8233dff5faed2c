"""What follows from an environment: owners, layers, roles, settings, facts, plans. Pure, whoever fetched it."""
