"""Commands of nodes: themselves, their labels, their attributes."""
