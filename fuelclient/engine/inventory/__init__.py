"""Environments, nodes, roles, tags, releases and sequences."""
