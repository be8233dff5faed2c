"""Plugin packages: install, synchronise, enable, disable, remove."""
