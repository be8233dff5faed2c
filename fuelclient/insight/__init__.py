"""Floor 0, pure: questions about a merged and expanded graph, and their answers as values."""
