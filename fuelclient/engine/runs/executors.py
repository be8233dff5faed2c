"""The executor of a run, made as the settings say."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping

from fuelclient import settings
from fuelclient.engine.runs.paths import nodes_path, spool_on_nodes, spool_path
from fuelclient.errors import InvalidDocument, nearest
from fuelclient.executors.executor import MachineExecutor
from fuelclient.executors.handlers import CONFIGURED
from fuelclient.executors.handlers.templates import misplaced
from fuelclient.executors.job import Executor, Job
from fuelclient.executors.transport import Options
from fuelclient.model.run import Run

_COMMANDS = "HANDLER_COMMANDS"

_PIECE, _PIECES, _MOST_PIECES = 4 << 20, 6, 4096
"""The bytes of an output that are read at a time, the pieces of its end that are kept, and the most that are read."""

Provider = Callable[[str, Run], MachineExecutor]
"""Makes the executor of a run of an engine file."""


def executor_for(engine: str, parent: Run, commands: Mapping[str, str] | None = None) -> MachineExecutor:
    """Return the executor of a run; `commands` are handler commands by task type, by default those of the settings."""
    spool, commands = str(spool_path(engine, parent)), handler_commands() if commands is None else commands
    kept = settings.load().output_megabytes
    return MachineExecutor(
        Options(spool, spool_on_nodes(parent), commands, str(nodes_path(engine)), output_megabytes=kept)
    )


def handler_commands() -> Mapping[str, str]:
    """Return the handler commands that the settings name, by task type.

    Raise `InvalidDocument` for a task type that takes no command, for an empty command, and for one with a placeholder
    that would not be one word.
    """
    loaded = settings.load()
    origin = loaded[_COMMANDS].origin
    for task_type, command in loaded.handler_commands.items():
        if task_type not in CONFIGURED:
            close = nearest(task_type, CONFIGURED)
            message = (
                f"{origin}: {_COMMANDS} has a command for {task_type!r}, which is not a task type that can have one"
            )
            raise InvalidDocument(
                f"{message}{f', the nearest is {close}' if close else ''}.",
                hint=f"Use {', '.join(sorted(CONFIGURED))}.",
            )
        if not command.strip():
            raise InvalidDocument(f"{origin}: the command for {task_type} is empty.", hint="Write a command of bash.")
        if problem := misplaced(command):
            raise InvalidDocument(
                f"{origin}: the command for {task_type} cannot be used: {problem}, where its value could be a command.",
                hint="Placeholders are quoted as words: put them between words, or pass them to a script.",
            )
    return loaded.handler_commands


def output_of(executor: Executor, job: Job, stream: str) -> tuple[int, str]:
    """Return what a job's commands wrote to `out` or `err`. Of a very long output, return the end, where failures are,
    and how many bytes before it are left out. Close the executor. For callers outside of an event loop."""
    end = deque[bytes](maxlen=_PIECES)

    async def whole() -> int:
        size = 0
        try:
            for _ in range(_MOST_PIECES):  # a command that still runs may write faster than this reads
                end.append(await executor.read(job, stream, size, _PIECE))
                size += len(end[-1])
                if len(end[-1]) < _PIECE:
                    break
        finally:
            await executor.close()
        return size

    left_out = asyncio.run(whole()) - sum(map(len, end))
    return left_out, b"".join(end).decode("utf-8", "replace")
