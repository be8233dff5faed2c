"""Values. Frozen dataclasses and sets of words; nothing here reads, writes or decides."""
