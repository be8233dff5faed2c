"""Compute the owners, layers, roles, settings, facts and plans of an environment. Pure, for any backend."""
