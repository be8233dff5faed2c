"""What an environment is, read from the store."""
