"""Floor 0: deployment graphs as data: merging layers, stages, name patterns, checks and orders. Pure functions only."""
