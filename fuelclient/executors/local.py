"""The executor for this machine: it never restarts or erases it, unless a configured command does."""

from __future__ import annotations

from fuelclient.executors.base import Job
from fuelclient.executors.machine import MachineExecutor
from fuelclient.model.node import ExecutorKind


class LocalExecutor(MachineExecutor):
    """Runs the commands of jobs on this machine."""

    def _refused(self, job: Job) -> str:
        if job.target.kind is ExecutorKind.SSH:
            return f"Task {job.label} cannot run: the local executor does not reach {job.target.ip}."
        return ""
