"""Commands of graphs, one module per verb."""
