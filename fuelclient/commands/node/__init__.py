"""Commands of nodes, their labels and their attributes."""
