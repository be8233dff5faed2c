"""Print the failures of a run, each of them once."""

from __future__ import annotations

import re
import shlex

from fuelclient.commands.shell import LOG
from fuelclient.model.run import NodeKey, instance_name
from fuelclient.printing import printable

ON_A_MASTER = "A master keeps what tasks printed in /var/log/astute/ and /var/log/remote/."

_LONG = 60
"""Characters of a reason from which on it is not repeated."""


def labelled(graph_type: str, task: str, node: NodeKey) -> str:
    """Return a task instance as people read it: `default: keystone/1`."""
    return printable(f"{graph_type}: {instance_name(task, node)}".removeprefix(": "))


class Failures:
    """The failures that were printed: `keys` are their graph's run, task and node.

    A long reason that differs only in numbers from one before, such as that of an unknown host key, is not repeated:
    it refers to the first of them. `has_logs` says whether `task logs` shows what an instance printed.
    """

    def __init__(self, *, has_logs: bool) -> None:
        self.keys: set[tuple[int, str, NodeKey]] = set()
        self._has_logs = has_logs
        self._first: dict[str, str] = {}

    def show(self, run_id: int, key: tuple[int, str, NodeKey], name: str, word: str, why: str) -> None:
        """Print that the instance `name` of a run has failed, and the command to look at."""
        self.keys.add(key)
        alike = re.sub(r"\d+", "0", why)
        first = self._first.setdefault(alike, name)
        if first != name and len(why) >= _LONG:
            why = f"like {first}"
        LOG.error("%s %s%s", name, word, f" ({why})" if why else "")
        if self._has_logs:
            _, task, node = key
            LOG.info("  fuel2 task logs %d %s", run_id, shlex.quote(printable(instance_name(task, node))))
