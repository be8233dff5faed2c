"""Evaluate Fuel's own expression language: conditions such as `settings:storage.images_ceph.value == true`.

Restrictions of roles and settings, limits, and conditions of tasks are written in it. Values are compared as Python
compares them, because Nailgun does so: numbers never equal texts, but 1 equals true. Source: Nailgun `expression`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from fuelclient.expressions.errors import ExpressionError, UndefinedValue, quoted

Models: TypeAlias = Mapping[str, Mapping[str, Any]]

MAX_LENGTH = 10_000
"""The longest expression of Fuel's releases and plugins has a few hundred characters."""
MAX_DEPTH = 100
"""Nested operators; deeper expressions would come near Python's own limit of recursion."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression, which can be evaluated on many models."""

    text: str
    root: Node

    def evaluate(self, models: Models, *, strict: bool = True, as_master: bool = False) -> Any:
        """Return the value on `models` (`settings`, `cluster`, `version`, `networking_parameters`).

        `and` and `or` return the value of the operand that decides, and evaluate nothing after it. A missing path
        raises `UndefinedValue` if `strict`, and is None otherwise. Raise `ExpressionError` for an unknown model, and
        for an `in` on something that contains nothing; as on a master, what is missing may be that something.

        >>> parse("cluster:mode == 'ha_compact' and not settings:debug").evaluate(
        ...     {"cluster": {"mode": "ha_compact"}, "settings": {"debug": False}}
        ... )
        True
        """
        return self.root.value(Scope(models, strict, self.text, strict or as_master))

    def paths(self) -> frozenset[str]:
        """Return the model paths that the expression can read.

        >>> sorted(parse("settings:a.b == 1 or 'x' in settings:c").paths())
        ['settings:a.b', 'settings:c']
        """
        return frozenset(node.text for level in _levels(self.root) for node in level if isinstance(node, Path))


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Expression:
    """Return the parsed expression, from a cache if the same text was parsed before.

    Raise `ExpressionError` if the text is not an expression (an empty one is not), is longer than `MAX_LENGTH`, or
    nests deeper than `MAX_DEPTH`.

    >>> parse("not 'x' in settings:list") is parse("not 'x' in settings:list")
    True
    """
    from fuelclient.expressions.grammar import parse_tree  # the parser library costs 50 ms to import

    if len(text) > MAX_LENGTH:
        message = f"Expression {quoted(text)} has {len(text)} characters."
        raise ExpressionError(message, text, position=MAX_LENGTH, hint=f"At most {MAX_LENGTH} are allowed.")
    root = parse_tree(text)
    if len(_levels(root)) > MAX_DEPTH:
        message = f"Expression {quoted(text)} is nested more than {MAX_DEPTH} operators deep."
        raise ExpressionError(message, text, position=0, hint="Join conditions with and, or.")
    return Expression(text, root)


def _levels(root: Node) -> list[list[Node]]:
    """Return the nodes by their distance from the root, without recursion."""
    levels = [[root]]
    while below := [operand for node in levels[-1] for operand in node.operands]:
        levels.append(below)
    return levels


def parse_condition(condition: str) -> Expression:
    """Return the condition of a task, parsed as it reads the facts of a node. Its messages show what its author wrote.

    Raise what `parse` raises.
    """
    return Expression(condition, parse(rewrite(parse(condition).text)).root)


def value_of_condition(text: str, facts: Mapping[Any, Any], *, as_master: bool = False) -> Any:
    """Return the value of the condition of a task on facts. Raise `ExpressionError` if it has none."""
    models = {"settings": facts, "cluster": facts.get("cluster") or {}}
    return parse_condition(text).evaluate(models, strict=False, as_master=as_master)


_TEXT_OR_PATH = re.compile(r"""("[^"]*"|'[^']*'|(?<!\w)\w*+:[\w.\-]+)""")


def rewrite(condition: str) -> str:
    """Return a task's condition, which is written for the settings of a master, as it reads the facts of a node.

    Facts have no section `common`, no section of components (each component is a section with `enabled`), and no
    `value` at the end of a path. Quoted texts and other models stay as they are. Source: Nailgun
    `lcm.task_serializer`, which rewrites quoted texts as well.

    >>> rewrite("settings:additional_components.ceilometer.value == true")
    'settings:ceilometer.enabled == true'
    >>> rewrite("settings:common.debug.value == settings:storage.volumes_ceph.value")
    'settings:debug == settings:storage.volumes_ceph'
    """
    return _TEXT_OR_PATH.sub(lambda match: _rewritten(match[0]), condition)


def _rewritten(part: str) -> str:
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


@dataclass(frozen=True, slots=True)
class Scope:
    """The models of one evaluation by name, whether undefined values are errors, the expression for messages, and
    whether searching in null is an error."""

    models: Models
    strict: bool
    text: str
    searches_strictly: bool = True


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, a string, true, false or null."""

    constant: int | str | bool | None
    operands: ClassVar[tuple[Node, ...]] = ()

    def value(self, _scope: Scope) -> Any:
        return self.constant


@dataclass(frozen=True, slots=True)
class Path:
    """A value of a model: `settings:storage.images_ceph.value`."""

    text: str
    operands: ClassVar[tuple[Node, ...]] = ()

    def value(self, scope: Scope) -> Any:
        """Return the value, or None for an undefined one if the scope is not strict.

        Always raise `ExpressionError` for an unknown model; raise `UndefinedValue` if strict. Anything below a null, a
        number or a text is undefined too; Nailgun fails there with an internal error.
        """
        model, _, path = self.text.partition(":")
        if model not in scope.models:
            known = ", ".join(sorted(scope.models))
            hint = f"The expression {quoted(scope.text)} can read: {known}."
            raise ExpressionError(f'No model with name "{model}" defined.', scope.text, hint=hint)
        value: Any = scope.models[model]
        for key in path.split("."):
            if isinstance(value, Mapping) and key in value:
                value = value[key]
            elif scope.strict:
                raise UndefinedValue(self.text, scope.text)
            else:
                return None
        return value


@dataclass(frozen=True, slots=True)
class Not:
    """`not`."""

    operands: tuple[Node]

    def value(self, scope: Scope) -> Any:
        return not self.operands[0].value(scope)


@dataclass(frozen=True, slots=True)
class Deciding:
    """`or`, or `and`: the value of the first operand whose truth decides (true for `or`, false for `and`), otherwise of
    the last; operands after it are not evaluated."""

    operands: tuple[Node, ...]
    decides: bool

    def value(self, scope: Scope) -> Any:
        value: Any = None
        for operand in self.operands:
            value = operand.value(scope)
            if bool(value) is self.decides:
                break
        return value


@dataclass(frozen=True, slots=True)
class Same:
    """`==`, or `!=` if negated."""

    operands: tuple[Node, Node]
    negated: bool = False

    def value(self, scope: Scope) -> Any:
        left, right = self.operands
        return bool(left.value(scope) == right.value(scope)) != self.negated


@dataclass(frozen=True, slots=True)
class Within:
    """`in`: whether a list has an element, a mapping a key, or a string a part."""

    operands: tuple[Node, Node]

    def value(self, scope: Scope) -> Any:
        """Return whether the part is in the whole. Null contains nothing if the scope does not search strictly.

        Raise `ExpressionError` if the right side cannot contain anything (a number, or null if strict), or if
        anything but a text is looked for in a text. Nailgun fails there with an internal error.
        """
        part, whole = (operand.value(scope) for operand in self.operands)
        if whole is None and not scope.searches_strictly:
            return False
        if isinstance(whole, str):
            fits = isinstance(part, str)
        else:
            fits = isinstance(whole, Mapping | list | tuple | set | frozenset)
        if not fits:
            message = f"Expression {quoted(scope.text)} looks for {_described(part)} in {_described(whole)}."
            raise ExpressionError(message, scope.text, hint='"in" needs a list or a mapping, or two strings.')
        try:
            return part in whole
        except TypeError:  # a list or a mapping is never the key of a mapping
            return False


Node: TypeAlias = Literal | Path | Not | Deciding | Same | Within


def _described(value: object) -> str:
    """Return what `value` is, in the words of a YAML document."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    for types, words in ((str, "a string"), (int | float, "a number"), (Mapping, "a mapping")):
        if isinstance(value, types):
            return words
    return "a list"
