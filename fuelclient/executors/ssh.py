"""The executor for nodes with an address, over SSH; what belongs to the master runs on this machine."""

from __future__ import annotations

import importlib.util

from fuelclient.executors.base import Job
from fuelclient.executors.machine import MachineExecutor
from fuelclient.model.node import ExecutorKind


class SshExecutor(MachineExecutor):
    """Runs the commands of jobs over SSH, through one connection for each node."""

    def _refused(self, job: Job) -> str:
        if job.target.kind is not ExecutorKind.SSH:
            return ""  # the master takes part in most runs
        if not job.target.ip:
            return f"Task {job.label} cannot run: node {job.name} has no address."
        if importlib.util.find_spec("asyncssh") is None:
            return f"Task {job.label} cannot run over SSH without asyncssh: pip install 'fuelclient[ssh]'."
        return ""
