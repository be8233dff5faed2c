"""The parts of a parsed expression, and the value of each.

Values are compared as Python compares them, which is what Nailgun does: numbers never equal texts, but 1 equals
true. Source: Nailgun `expression`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from fuelclient.expressions.failure import ExpressionError, UndefinedValue, quoted

Models: TypeAlias = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Scope:
    """What one evaluation reads: the models by name, whether undefined values are errors, and the text of the
    expression for messages."""

    models: Models
    strict: bool
    text: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, a text, true, false or null."""

    constant: int | str | bool | None

    @property
    def operands(self) -> tuple[Node, ...]:
        return ()

    def value(self, _scope: Scope) -> Any:
        return self.constant


@dataclass(frozen=True, slots=True)
class Path:
    """A value of a model: `settings:storage.images_ceph.value`."""

    text: str

    @property
    def operands(self) -> tuple[Node, ...]:
        return ()

    def value(self, scope: Scope) -> Any:
        """The value, or None for an undefined one when the scope is not strict.

        Raises `ExpressionError` for an unknown model always, `UndefinedValue` when strict. What lies behind a
        null, a number or a text is undefined too, where Nailgun fails with an internal error.
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
    """True when its operand is falsy, else false."""

    operand: Node

    @property
    def operands(self) -> tuple[Node, ...]:
        return (self.operand,)

    def value(self, scope: Scope) -> Any:
        return not self.operand.value(scope)


@dataclass(frozen=True, slots=True)
class Either:
    """`or`: the first truthy operand's value, else the last one's; what stands behind it is not evaluated."""

    operands: tuple[Node, ...]

    def value(self, scope: Scope) -> Any:
        value: Any = None
        for operand in self.operands:
            value = operand.value(scope)
            if value:
                break
        return value


@dataclass(frozen=True, slots=True)
class Both:
    """`and`: the first falsy operand's value, else the last one's; what stands behind it is not evaluated."""

    operands: tuple[Node, ...]

    def value(self, scope: Scope) -> Any:
        value: Any = None
        for operand in self.operands:
            value = operand.value(scope)
            if not value:
                break
        return value


@dataclass(frozen=True, slots=True)
class Same:
    """`==`, or `!=` when negated."""

    left: Node
    right: Node
    negated: bool = False

    @property
    def operands(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def value(self, scope: Scope) -> Any:
        return bool(self.left.value(scope) == self.right.value(scope)) != self.negated


@dataclass(frozen=True, slots=True)
class Within:
    """`in`: whether a list has an element, a mapping a key, or a text a part."""

    part: Node
    whole: Node

    @property
    def operands(self) -> tuple[Node, ...]:
        return (self.part, self.whole)

    def value(self, scope: Scope) -> Any:
        """Nothing is in null when the scope is not strict.

        Raises `ExpressionError` where the right side can contain nothing (a number, or a null when strict) and
        where something else than a text is looked for in a text; Nailgun fails with an internal error there.
        """
        part, whole = self.part.value(scope), self.whole.value(scope)
        if whole is None and not scope.strict:
            return False
        if isinstance(whole, str):
            fits = isinstance(part, str)
        else:
            fits = isinstance(whole, Mapping | list | tuple | set | frozenset)
        if not fits:
            message = f"Expression {quoted(scope.text)} looks for {_kind(part)} in {_kind(whole)}."
            raise ExpressionError(message, scope.text, hint='"in" needs a list or a mapping, or two texts.')
        try:
            return part in whole
        except TypeError:  # a list or a mapping is never the key of a mapping
            return False


Node: TypeAlias = Literal | Path | Not | Either | Both | Same | Within


def _kind(value: object) -> str:
    """What `value` is, in the words of a YAML document."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    for kind, words in ((str, "a text"), (int | float, "a number"), (Mapping, "a mapping")):
        if isinstance(value, kind):
            return words
    return "a list"
