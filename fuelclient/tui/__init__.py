"""The terminal UI. Only `fuel2 tui` imports it, and only its widgets, screens and app import Textual."""
