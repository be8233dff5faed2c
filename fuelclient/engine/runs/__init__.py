"""Runs: begin, execute, follow, stop, resume, delete."""
