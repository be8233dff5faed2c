"""Floor 2: the SQLite file of the embedded engine. Rows never leave this package."""
