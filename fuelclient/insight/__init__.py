"""Pure: answers about graphs and runs: who set what, why one task precedes another, how far a run is."""
