"""Pure: deployment graphs as data: merging layers, stages, name patterns, checks and orders."""
