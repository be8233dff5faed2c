"""The SQLite file of the embedded engine. Rows never leave this package."""
