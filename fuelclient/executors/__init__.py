"""Executors: what runs one task instance, on this machine, over SSH, or not at all.

`base` has the values and the protocol, `handlers` turn a job into recipes without touching anything, `spool` runs a
recipe so that its result outlives whoever started it, and the executors put these together. Nothing here decides what
runs when; that is the schedule's.
"""
