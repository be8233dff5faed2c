"""Floor 0: graphs as data. Merging layers, stages, name patterns, checks and orders; pure functions only."""
