"""G017: conditions that ask whether `$common` or `$node` changed, which on a Fuel master never did.

The functions that compare facts give their argument other facts as `$`, and `$` only: `$common` and `$node` are those
of now on both sides. Source: Nailgun `yaql_ext.datadiff`, whose authors moved their own tasks to `$`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fuelclient.model.task import Task

HINT = "Write $ in its place, which has the facts of both: changed($.nodes)."

_TOKEN = re.compile(
    r"""(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`)
    |\b(?P<call>changed|changedAny|changedAll|added|deleted)\s*\(
    |(?P<open>\()|(?P<close>\))
    |(?P<now>\$(?:common|node)\b)""",
    re.VERBOSE,
)


def unchanging(task: Task) -> Iterator[tuple[str, str]]:
    """For each attribute of a task that asks for changes of what never changes: its name, and what is wrong."""
    for attribute, value in task.attributes.items():
        for text in _expressions(value):
            if found := never_true(text):
                yield attribute, f"{attribute} asks for changes of {found}, which are the same in every run"
                break


def never_true(expression: str) -> str:
    """The first of `$common` and `$node` that an expression compares with itself; empty when there is none.

    >>> never_true("changedAny($.get('vips'), $common.nodes)")
    '$common'
    >>> never_true("changed($.x) and $node.y = 'changed($node)'")
    ''
    """
    if "$common" not in expression and "$node" not in expression:
        return ""
    depth: list[bool] = []
    for token in _TOKEN.finditer(expression):
        if token["call"] or token["open"]:
            depth.append(bool(token["call"]))
        elif token["close"] and depth:
            depth.pop()
        elif token["now"] and any(depth):
            return token["now"]
    return ""


def _expressions(value: Any) -> Iterator[str]:
    """The YAQL expressions at any depth of an attribute."""
    waiting, seen = [value], set[int]()
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping | list) and id(one) not in seen:
            seen.add(id(one))
            text = one.get("yaql_exp") if isinstance(one, Mapping) else None
            if isinstance(text, str):
                yield text
            waiting.extend(one.values() if isinstance(one, Mapping) else one)
