"""Documents to values and back, in the shapes of Nailgun's API v1. Aliases and raw mappings end here."""
