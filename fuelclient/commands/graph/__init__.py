"""Commands of graphs."""
