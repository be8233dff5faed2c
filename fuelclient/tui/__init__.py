"""The terminal UI. Only `fuel2 tui` imports it; only its widgets, screens and app import Textual."""
