"""Repeatable workloads, measured side by side in one run; `make bench` prints one table.

Machines are noisy, so ratios within one run are what counts; nothing here is part of the tests.
"""
