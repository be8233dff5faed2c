"""Handlers: one function for each task type, which turns a job into steps.

Handlers are pure: files of this machine are only read when a step is carried out, so that a plan can check every job
before anything starts. They raise `ValueError` for invalid parameters of a job.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from fuelclient.errors import nearest
from fuelclient.executors.handlers import commands, files, sync
from fuelclient.executors.job import MASTER, Job, Nothing, Reboot, Recipe, Step
from fuelclient.model.task import TaskType

Handler = Callable[[Job], tuple[Step, ...]]


def _nothing(job: Job) -> tuple[Step, ...]:
    return (Nothing(f"there is nothing to do for a task of type {job.type}"),)


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        TaskType.PUPPET: lambda job: (Recipe(commands.puppet_script(job), ok=commands.PUPPET_SUCCESS),),
        TaskType.SHELL: lambda job: (Recipe(commands.shell_script(job)),),
        # the command runs on the master, but the schedule counts it for the node
        TaskType.MASTER_SHELL: lambda job: (Recipe(commands.shell_script(job), where=MASTER),),
        TaskType.SYNC: sync.steps,
        **dict.fromkeys(files.FILE_READERS, files.steps),
        TaskType.REBOOT: lambda _: (Reboot(),),
        **dict.fromkeys((TaskType.STAGE, TaskType.SKIPPED, TaskType.NOOP), _nothing),
    }
)
"""The task types that run without configuration."""

CONFIGURED = frozenset({TaskType.ERASE_NODE, TaskType.MOVE_TO_BOOTSTRAP, TaskType.COBBLER_SYNC, TaskType.REBOOT})
"""The task types that can have a configured command. All of them except reboot need one."""


def steps_of(job: Job, handler_commands: Mapping[str, str]) -> tuple[Step, ...]:
    """Turn a job into steps; `handler_commands` are the configured commands by task type.

    Raise `ValueError` for a type that cannot run, and for invalid parameters.
    """
    if job.type in CONFIGURED and handler_commands.get(job.type):
        return commands.configured_steps(job, handler_commands[job.type])
    if (handler := HANDLERS.get(job.type)) is None:
        raise ValueError(_unknown(job.type))
    return handler(job)


def _unknown(type: str) -> str:
    if type in CONFIGURED:
        return f"there is no handler command for tasks of type {type}; name one in HANDLER_COMMANDS of a settings file"
    if type in (TaskType.GROUP, TaskType.ROLE):
        return f"tasks of type {type} are never executed"
    close = nearest(type, [*HANDLERS, *CONFIGURED])
    return f"there is no task type {type!r}" + (f", the nearest is {close}" if close else "")
