"""Handlers: one for each task type, which turns a job into the steps that make it true.

They are pure: paths of this machine are named here and read when a step is carried out, so that a plan can ask about
every job before anything starts. What is wrong with a job's parameters is a `ValueError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from fuelclient.errors import nearest
from fuelclient.executors.base import Job
from fuelclient.executors.handlers import files, puppet, reboot, shell, sync, template
from fuelclient.executors.limits import limits_of
from fuelclient.executors.recipe import Nothing, Step
from fuelclient.model.node import ExecutorKind
from fuelclient.model.task import TaskType

Handler = Callable[[Job], tuple[Step, ...]]


def _nothing(job: Job) -> tuple[Step, ...]:
    return (Nothing(f"there is nothing to do for a task of type {job.type}"),)


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        TaskType.PUPPET: puppet.steps,
        TaskType.SHELL: shell.steps,
        TaskType.MASTER_SHELL: shell.master_steps,
        TaskType.SYNC: sync.steps,
        TaskType.UPLOAD_FILE: files.upload_file,
        TaskType.UPLOAD_FILES: files.upload_files,
        TaskType.COPY_FILES: files.copy_files,
        TaskType.REBOOT: reboot.steps,
        TaskType.STAGE: _nothing,
        TaskType.SKIPPED: _nothing,
        TaskType.NOOP: _nothing,
    }
)
"""What this package can do by itself."""

CONFIGURED = frozenset({TaskType.ERASE_NODE, TaskType.MOVE_TO_BOOTSTRAP, TaskType.COBBLER_SYNC, TaskType.REBOOT})
"""What a configured command can do; but for reboot there is no other way."""


def steps_of(job: Job, commands: Mapping[str, str]) -> tuple[Step, ...]:
    """The steps of a job; `commands` are the configured handler commands by task type.

    Raises `ValueError` for a type that nobody can run here, and for parameters that make no sense.
    """
    if job.type in CONFIGURED and commands.get(job.type):
        return template.steps(job, commands[job.type])
    if job.type == TaskType.REBOOT and job.target.kind is ExecutorKind.LOCAL:
        raise ValueError(
            "the local executor never restarts the machine it runs on; "
            "give the node an address, or name a command for reboot in HANDLER_COMMANDS of a settings file"
        )
    handler = HANDLERS.get(job.type)
    if handler is None:
        raise ValueError(_unknown(job.type))
    return handler(job)


def check(job: Job, commands: Mapping[str, str]) -> str:
    """Why `job` can never run, or an empty string: its type has no handler, or its parameters make no sense."""
    try:
        steps_of(job, commands)
        limits_of(job.type, job.parameters)
    except ValueError as error:
        return f"Task {job.label} cannot run: {error}."
    return ""


def _unknown(type: str) -> str:
    if type in CONFIGURED:
        return f"there is no handler command for tasks of type {type}; name one in HANDLER_COMMANDS of a settings file"
    if type in (TaskType.GROUP, TaskType.ROLE):
        return f"tasks of type {type} are never executed"
    close = nearest(type, [*HANDLERS, *CONFIGURED])
    return f"there is no task type {type!r}" + (f", the nearest is {close}" if close else "")
