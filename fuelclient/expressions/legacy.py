"""Fuel's own expression language: conditions such as `settings:storage.images_ceph.value == true`.

They stand in the restrictions of roles and settings, in limits, and as texts in the conditions of tasks.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

from fuelclient.expressions.failure import ExpressionError, quoted
from fuelclient.expressions.nodes import Models, Node, Path, Scope

MAX_LENGTH = 10_000
"""Characters; the longest expression of Fuel's releases and plugins has a few hundred."""
MAX_DEPTH = 100
"""Operators inside one another; it keeps the evaluation away from Python's own limit."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression: evaluate it as often as there are models."""

    text: str
    root: Node

    def evaluate(self, models: Models, *, strict: bool = True) -> Any:
        """The value of the expression on `models` (`settings`, `cluster`, `version`, `networking_parameters`).

        `and` and `or` give the value of the operand that decides, and evaluate nothing behind it. Raises
        `UndefinedValue` for a path that is missing, unless not strict: then it is None. Raises
        `ExpressionError` for an unknown model, and for an `in` without anything to look in.

        >>> parse("cluster:mode == 'ha_compact' and not settings:debug").evaluate(
        ...     {"cluster": {"mode": "ha_compact"}, "settings": {"debug": False}}
        ... )
        True
        """
        return self.root.value(Scope(models, strict, self.text))

    def paths(self) -> frozenset[str]:
        """The model paths that the expression can read.

        >>> sorted(parse("settings:a.b == 1 or 'x' in settings:c").paths())
        ['settings:a.b', 'settings:c']
        """
        return frozenset(node.text for level in _levels(self.root) for node in level if isinstance(node, Path))


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Expression:
    """The parsed expression, from a cache where the same text was parsed before.

    Raises `ExpressionError` for anything that is not an expression, an empty text included, and for one that is
    longer than `MAX_LENGTH` or deeper than `MAX_DEPTH`.

    >>> parse("not 'x' in settings:list") is parse("not 'x' in settings:list")
    True
    """
    from fuelclient.expressions.grammar import parse_tree  # the parser library costs 50 ms to import

    if len(text) > MAX_LENGTH:
        message = f"Expression {quoted(text)} has {len(text)} characters."
        raise ExpressionError(message, text, position=MAX_LENGTH, hint=f"{MAX_LENGTH} are allowed.")
    root = parse_tree(text)
    if len(_levels(root)) > MAX_DEPTH:
        message = f"Expression {quoted(text)} is nested more than {MAX_DEPTH} operators deep."
        raise ExpressionError(message, text, position=0, hint="Join conditions with and, or.")
    return Expression(text, root)


def _levels(root: Node) -> list[list[Node]]:
    """The nodes by their distance from the root, found without recursion."""
    levels = [[root]]
    while below := [operand for node in levels[-1] for operand in node.operands]:
        levels.append(below)
    return levels


_TEXT_OR_PATH = re.compile(r"""("[^"]*"|'[^']*'|(?<!\w)\w*+:[\w.\-]+)""")


def rewrite(condition: str) -> str:
    """A task's condition, written for a master's settings, as it reads the serialized facts of a node.

    Facts know neither the section `common`, nor the components' section (each component is a section with
    `enabled`), nor the key `value` at the end. Quoted texts and other models stay as they are. Source: Nailgun
    `lcm.task_serializer`, which rewrites quoted texts as well.

    >>> rewrite("settings:additional_components.ceilometer.value == true")
    'settings:ceilometer.enabled == true'
    >>> rewrite("settings:common.debug.value == settings:storage.volumes_ceph.value")
    'settings:debug == settings:storage.volumes_ceph'
    """
    return _TEXT_OR_PATH.sub(lambda match: _rewritten(match[0]), condition)


def _rewritten(part: str) -> str:
    """A path, or a quoted text, as facts know it."""
    model, _, path = part.partition(":")
    if model != "settings":
        return part
    section, _, rest = path.partition(".")
    name = rest.removesuffix(".value")
    if section == "additional_components" and name:
        return f"settings:{name}.enabled"
    if section == "common" and name:
        return f"settings:{name}"
    return "settings:" + path.removesuffix(".value")
