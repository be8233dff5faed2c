"""The restrictions, limits and conflicts in the metadata of a role: read them, and evaluate their conditions.

Source: Nailgun `utils.restrictions` and `validators.assignment`. Nailgun reads limits but never enforces them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.expressions.legacy import Models, parse

EVERY_OTHER = "*"


@dataclass(frozen=True, slots=True)
class Restriction:
    """Something is unavailable while `condition` holds; `message` is the reason, if its author wrote one."""

    condition: str
    message: str = ""
    action: str = "disable"
    strict: bool = True

    @property
    def reason(self) -> str:
        """The message, or else the condition."""
        return self.message or f"not available while {' '.join(self.condition.split())}"

    def is_satisfied(self, models: Models) -> bool:
        """Whether the condition holds. Raise what `Expression.evaluate` does."""
        return bool(parse(self.condition).evaluate(models, strict=self.strict))


def expand_restrictions(value: object) -> list[Restriction]:
    """The restrictions that a document states, in its order; none for null.

    There are three forms: a condition, `{condition: message}`, and a mapping with `condition` and any of `message`,
    `action` and `strict`. Raise `InvalidDocument` for any other form. Conditions are not parsed here.

    >>> expand_restrictions(["cluster:mode == 'multinode'", {"settings:a == true": "No a."}])[1].message
    'No a.'
    """
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise _bad_form(value)
    return [_restriction(item) for item in value]


def _restriction(item: object) -> Restriction:
    if isinstance(item, str):
        return Restriction(item)
    if not isinstance(item, Mapping):
        raise _bad_form(item)
    stated = dict(item)
    if "condition" not in stated and len(stated) == 1:
        ((condition, message),) = stated.items()
        stated = {"condition": condition, "message": message}
    condition, message = stated.get("condition"), stated.get("message")
    action, strict = stated.get("action", "disable"), stated.get("strict", True)
    texts = isinstance(condition, str) and isinstance(message, str | None) and isinstance(action, str)
    if not texts or not isinstance(strict, bool):
        raise _bad_form(item)
    return Restriction(str(condition), str(message or "").strip(), str(action), strict)


def _bad_form(item: object) -> InvalidDocument:
    hint = "Write a condition, {condition: message}, or a mapping with condition, message, action and strict."
    return InvalidDocument(f"Invalid restriction format: {str(item)[:80]}.", hint=hint)


def unmet(restrictions: Iterable[Restriction], models: Models) -> list[str]:
    """Why something is unavailable: the reason of each restriction that applies, whatever its action. Raise what
    `Expression.evaluate` does."""
    return [restriction.reason for restriction in restrictions if restriction.is_satisfied(models)]


def conflicting(role: str, others: Iterable[str], metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Those of `others` that the metadata of `role` names as conflicts, sorted, without duplicates.

    As in Nailgun, only the list of `role` counts, so ask for each role of a node. `*` means every other role, inside a
    list as well, where Nailgun takes it for a name.

    >>> conflicting("mongo", ["mongo", "compute", "cinder"], {"conflicts": ["compute"]})
    ('compute',)
    """
    stated = metadata.get("conflicts") or ()
    names = {stated} if isinstance(stated, str) else set(stated)
    asked = {other for other in others if other != role}
    return tuple(sorted(asked if EVERY_OTHER in names else asked & names))


class LimitKind(StrEnum):
    """The kinds of limits: `min` and `max` are rules, `recommended` is advice."""

    MIN = "min"
    MAX = "max"
    RECOMMENDED = "recommended"


def violation(limits: object, count: int, models: Models, kind: LimitKind) -> str:
    """The limit of a role that `count` nodes violate, in a sentence; empty if they violate none of that kind.

    `count` must not include nodes that are about to be deleted. A limit is a number or an expression, in which an
    unknown setting is null; 0 and null mean no limit, and one that cannot be read limits nothing. Overrides whose
    condition holds replace the limit of the same kind; if several are violated, the tightest counts (the lowest max,
    the highest min).

    >>> violation({"min": 3}, 1, {}, LimitKind.MIN)
    'at least 3 nodes are needed, there is 1'
    """
    given = limits if isinstance(limits, Mapping) else {}
    overrides = given.get("overrides")
    known = overrides if isinstance(overrides, list | tuple) else ()
    active = [each for each in known if isinstance(each, Mapping) and _value(each.get("condition"), models)]
    bounds = [(_bound(override, kind, models), override) for override in active]
    if not any(bound for bound, _ in bounds):
        bounds = [(_bound(given, kind, models), given)]
    if any(bound and type(bound) is not int for bound, _ in bounds):
        return ""
    is_most = kind is LimitKind.MAX
    broken = [pair for pair in bounds if pair[0] and (count > pair[0] if is_most else count < pair[0])]
    if not broken:
        return ""
    bound, where = (min if is_most else max)(broken, key=lambda pair: pair[0])
    return str(where.get("message") or _sentence(kind, bound, count))


def _bound(limits: Mapping[str, Any], kind: LimitKind, models: Models) -> Any:
    """Evaluate a limit twice, because the text of a setting may be a number."""
    return _value(_value(limits.get(kind), models), models)


def _value(given: Any, models: Models) -> Any:
    """Evaluate a limit or a condition: a string is an expression, everything else its own value."""
    with suppress(InvalidDocument):
        return parse(given).evaluate(models, strict=False) if isinstance(given, str) else given
    return None


def _sentence(kind: LimitKind, bound: int, count: int) -> str:
    words = {
        LimitKind.MIN: f"at least {_nodes(bound)} needed",
        LimitKind.MAX: f"at most {_nodes(bound)} allowed",
        LimitKind.RECOMMENDED: f"at least {_nodes(bound)} recommended",
    }
    return f"{words[kind]}, there {'is' if count == 1 else 'are'} {count}"


def _nodes(number: int) -> str:
    return f"{number} node is" if number == 1 else f"{number} nodes are"
