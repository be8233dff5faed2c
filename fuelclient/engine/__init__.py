"""Floor 3: use cases of the embedded engine: read a snapshot, think with pure functions, write."""
