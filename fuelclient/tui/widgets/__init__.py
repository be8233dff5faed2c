"""Widgets show what they are given and post messages; they never ask for data."""
