"""Run one task instance: on this machine, over SSH, on a Dask worker, by another package's executor, or not at all.

`handlers` turn a job into recipes, `executor` carries them out, and `spool` stores a result so that it outlives the
process that started the command. Kinds of executors differ only in their `connector`. The schedule of the run, and not
this package, decides when a task runs.
"""
