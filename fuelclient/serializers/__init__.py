"""Floor 1: documents to values and back, in Nailgun's v1 shapes. Aliases and raw mappings end here."""
