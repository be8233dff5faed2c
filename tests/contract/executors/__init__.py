"""The contract of executors, whose servers end with the last of these tests."""
