"""Task types that only a configured command can do: erase_node, move_to_bootstrap, cobbler_sync."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fuelclient.executors.base import MASTER, Job
from fuelclient.executors.handlers.parameters import quoted
from fuelclient.executors.handlers.shell import PATH
from fuelclient.executors.recipe import Recipe, Step

_WORD = re.compile(r"\{((?:node|task|transaction|parameters)(?:\.[\w-]+)*)\}")


def steps(job: Job, command: str) -> tuple[Step, ...]:
    """The configured command, on this machine.

    `{node.uid}`, `{node.name}`, `{node.ip}`, `{task.id}`, `{task.type}`, `{transaction}` and
    `{parameters.<name>...}` are replaced, each quoted as one word of the shell; other braces stay. Raises
    `ValueError` for a name that the job does not have.
    """
    names: Mapping[str, Any] = {
        "node": {"uid": job.node, "id": job.node, "name": job.name, "ip": job.target.ip},
        "task": {"id": job.task, "type": job.type},
        "transaction": job.run,
        "parameters": job.parameters,
    }
    text = _WORD.sub(lambda match: quoted(_value(match[1], names)), command)
    return (Recipe(f"{PATH}{text}\n", where=MASTER),)


def _value(name: str, names: Mapping[str, Any]) -> str:
    value: Any = names
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise ValueError(f"the handler command names {{{name}}}, which this task does not have")
        value = value[part]
    if isinstance(value, Mapping | list | tuple) or value is None:
        raise ValueError(f"the handler command names {{{name}}}, which is not a text or a number")
    return str(value)
