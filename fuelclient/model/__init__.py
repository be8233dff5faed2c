"""Floor 0: values. Frozen dataclasses and sets of words; nothing here reads, writes or decides."""
