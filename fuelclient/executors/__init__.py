"""Run one task instance: on this machine, over SSH, on a Dask worker, as another package has it, or not at all.

`handlers` turn a job into recipes without touching anything, `executor` carries them out and `spool` keeps a result
where it outlives the process that started the command. Kinds of executors differ in their `connector` only. When a task
runs is decided by the schedule and not here.
"""
