"""shell and master_shell: a command in bash, on the node or on this machine in the name of the node."""

from __future__ import annotations

from fuelclient.executors.base import MASTER, Job
from fuelclient.executors.handlers.parameters import path, quoted, text
from fuelclient.executors.recipe import Recipe, Step

PATH = 'export PATH="$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"\n'
"""Logins that are not root's often lack the directories of system programs, which tasks rely on."""


def script(job: Job) -> str:
    """The text that bash runs: `cmd` in `cwd`. Raises `ValueError` for parameters that are missing or no texts.

    Source: Astute `tasks/shell.rb`, without the puppet manifest around it.
    """
    command, directory = text(job.parameters, "cmd"), path(job.parameters, "cwd", "/")
    return f"{PATH}cd -- {quoted(directory)} || exit\n{command}\n"


def steps(job: Job) -> tuple[Step, ...]:
    return (Recipe(script(job)),)


def master_steps(job: Job) -> tuple[Step, ...]:
    """The command runs on this machine; the place in the schedule that it takes is the node's."""
    return (Recipe(script(job), where=MASTER),)
