"""Check whether a machine has what tasks need, by a script for its own shell that changes nothing."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from fuelclient.executors.transport import Completed, Transport
from fuelclient.graph.parameters import is_remote
from fuelclient.grouping import grouped
from fuelclient.model.diagnosis import Diagnosis, Health, Shared
from fuelclient.model.task import TaskType

AREA = "nodes"

LITTLE_ROOM_KB, NO_ROOM_KB = 200 << 10, 1 << 10
"""Free kilobytes below which the spools may soon fill a disk, and below which they have no room at all."""

MAX_SKEW_SECONDS: Final = 10.0
"""How many seconds clocks may differ. Users compare logs with the times of a run."""

_CLOCK = "Let both machines synchronise their clocks (chrony or ntp)."
_FIRST_LINE = "fuel2 looks at this machine"
_EXAMINE = """
echo "$1"
root=$2
shift 2
echo "uid $(id -u)"
echo "clock $(date +%s)"
for file in /proc/uptime /proc/sys/kernel/random/boot_id "/proc/$$/stat"; do [ -r "$file" ] || echo "unread $file"; done
export PATH="$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/puppetlabs/bin"
for program in "$@"; do command -v "$program" > /dev/null 2>&1 || echo "missing $program"; done
if [ -d "$root" ]; then
  [ -O "$root" ] && [ ! -L "$root" ] || echo "foreign $root"
else
  while [ ! -e "$root" ]; do root=${root%/*}; [ -n "$root" ] || root=/; done
fi
[ -d "$root" ] && [ -w "$root" ] || echo "closed $root"
df -Pk "$root" | while read -r _ _ _ free _ place; do echo "free $free $root"; done
sudo -n true 2> /dev/null && echo "sudo"
exit 0
"""
"""Prints the state of a machine. Arguments: the first line to print, the root of the spools, the needed programs."""

_SPOOL_NEEDS = ("bash", "setsid", "tail", "head", "wc", "mkdir", "mv", "cat", "grep")
"""The programs that the scripts of the spool use, and without which no task runs."""

_PYTHON = re.compile(
    r"(?:^|[;&|({\n]|\b(?:then|do|else|exec|sudo|env)\s)\s*((?:/[\w./-]*/)?python[\d.]*)(?=\s|$)", re.MULTILINE
)


def programs_of(type: str, parameters: Mapping[str, Any]) -> frozenset[str]:
    """Find the programs that a task calls on its machine, as far as its type and its command line show.

    >>> programs_of("shell", {"cmd": "cd /opt && python3 run.py; echo python"})
    frozenset({'python3'})
    >>> programs_of("sync", {"src": "rsync://10.20.0.2/plugins/", "dst": "/etc/fuel/plugins"})
    frozenset({'rsync'})
    """
    if type == TaskType.PUPPET:
        return frozenset({"puppet"})
    if type == TaskType.SYNC:  # a tree of this machine is sent as an archive
        return frozenset({"rsync"}) if any(is_remote(parameters.get(name)) for name in ("src", "dst")) else frozenset()
    command = parameters.get("cmd")
    return _pythons_in(command) if type == TaskType.SHELL and isinstance(command, str) else frozenset()


@lru_cache(4096)  # a graph has few command lines, each on many nodes
def _pythons_in(command: str) -> frozenset[str]:
    return frozenset(_PYTHON.findall(command))


async def find_problems(transport: Transport, root: str, programs: Collection[str]) -> list[Diagnosis]:
    """Return the problems that would prevent spools below `root`, or tasks that call these programs, from working.

    Raise what transports raise.
    """
    before = time.time()
    answer = await transport.call(_EXAMINE, (_FIRST_LINE, root, *_SPOOL_NEEDS, *sorted(programs)))
    return list(_problems(answer, programs, (before + time.time()) / 2))


def problem(message: str, fix: str, health: Health = Health.ERROR, shared: Shared | None = None) -> Diagnosis:
    """Describe a problem of a machine. The caller adds the names of its nodes."""
    return Diagnosis(AREA, "", health, message, fix, shared)


def clock(area: str, name: str, skew: float) -> Iterator[Diagnosis]:
    """Yield a problem if the clock of a machine is too far ahead of ours (`skew` seconds) or behind it (negative)."""
    if abs(skew) > MAX_SKEW_SECONDS:
        where = "ahead of" if skew > 0 else "behind"
        yield Diagnosis(area, name, Health.WARNING, f"its clock is {abs(skew):.0f} s {where} this machine's", _CLOCK)


def _problems(answer: Completed, programs: Collection[str], now: float) -> Iterator[Diagnosis]:
    before, mark, after = answer.out.decode("utf-8", "replace").partition(f"{_FIRST_LINE}\n")
    if answer.rc or not mark:
        fix = "Its user needs a login shell that runs /bin/sh -c COMMAND."
        output = " ".join(before.split())[:200] if not answer.rc else ""
        yield problem(f"it runs no commands: {output or answer.error}", fix)
        return
    if before:
        fix = "Let its .bashrc print nothing where $- has no i."
        yield problem("its login shell prints text of its own before each command", fix, Health.WARNING)
    answers = grouped((line.partition(" ")[0], line.partition(" ")[2]) for line in after.splitlines())
    yield from _spool_problems(answers)
    yield from _task_problems(answers, programs)
    for moment in answers.get("clock", ()):
        if moment.isdigit():
            yield from clock(AREA, "", int(moment) + 0.5 - now)


def _spool_problems(answers: Mapping[str, list[str]]) -> Iterator[Diagnosis]:
    if missing := [name for name in answers.get("missing", ()) if name in _SPOOL_NEEDS]:
        yield problem(f"it has no {', '.join(missing)}", f"Install there: {' '.join(missing)}")
    for path in answers.get("unread", ())[:1]:
        yield problem(f"{path} cannot be read, by which commands are found again", "Mount /proc there.")
    for path in answers.get("foreign", ()):
        yield problem(f"{path} belongs to another user", f"Remove it there: rm -r {path}")
    for path in answers.get("closed", ()):
        yield problem(f"its user cannot write to {path}", f"Let it: chmod 1777 {path}")
    for line in answers.get("free", ()):
        free, _, path = line.partition(" ")
        if free.isdigit() and int(free) < LITTLE_ROOM_KB:
            health = Health.ERROR if int(free) < NO_ROOM_KB else Health.WARNING
            yield problem(
                f"less than {(NO_ROOM_KB if health is Health.ERROR else LITTLE_ROOM_KB) >> 10} MB are free in {path}",
                "Free some room there: the output of all tasks is kept in it until their run is deleted.",
                health,
            )


def _task_problems(answers: Mapping[str, list[str]], programs: Collection[str]) -> Iterator[Diagnosis]:
    for name in answers.get("missing", ()):
        if name in programs and name not in _SPOOL_NEEDS:
            fix = "Install it there, unless a task that runs before does."
            yield problem(f"it has no {name}, which tasks call", fix, Health.WARNING)
    if answers.get("uid", ["0"]) != ["0"]:
        if "sudo" in answers:
            how, fix = "but may use sudo", "or let commands of tasks begin with sudo -n"
        else:
            how, fix = "and who has no sudo without a password", "unless its tasks need no root"
        message = f"tasks run there as a user who is not root, {how}"
        yield problem(message, f"Set another user of the node, {fix}.", Health.WARNING)
