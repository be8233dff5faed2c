"""Environments, nodes, roles, tags, releases, sequences, graphs and facts."""
