"""Which roles a node may take: restrictions, limits and conflicts of a role's metadata.

They are checked when roles are assigned. Source: Nailgun `utils.restrictions` and `validators.assignment`;
Nailgun knows limits but never enforces them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.expressions.legacy import parse
from fuelclient.expressions.nodes import Models

EVERY_OTHER = "*"


@dataclass(frozen=True, slots=True)
class Restriction:
    """Something is not available while `condition` holds; `message` says why, when its author did."""

    condition: str
    message: str = ""
    action: str = "disable"
    strict: bool = True

    def is_satisfied(self, models: Models) -> bool:
        """Whether the condition holds, and so the restriction blocks. Raises what `Expression.evaluate` does."""
        return bool(parse(self.condition).evaluate(models, strict=self.strict))


def expand_restrictions(value: object) -> list[Restriction]:
    """The restrictions that a document states, in its order; none for null.

    Three forms are known: a condition, `{condition: message}`, and a mapping with `condition` and any of
    `message`, `action` and `strict`. Conditions are not parsed here. Raises `InvalidDocument` for another form.

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
    """Why something is not available: one message for each restriction that blocks, whatever its action.

    A restriction without a message is told by its condition. Raises what `Expression.evaluate` does.
    """
    return [
        restriction.message or f"not available while {' '.join(restriction.condition.split())}"
        for restriction in restrictions
        if restriction.is_satisfied(models)
    ]


def conflicting(role: str, others: Iterable[str], metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Those of `others` that the metadata of `role` names as its conflicts, sorted and each once.

    The list is followed in this direction only, as Nailgun does; ask for each role of a node. `*` is every
    other role; it counts inside a list as well, where Nailgun takes it for a name.

    >>> conflicting("mongo", ["mongo", "compute", "cinder"], {"conflicts": ["compute"]})
    ('compute',)
    """
    stated = metadata.get("conflicts") or ()
    names = {stated} if isinstance(stated, str) else set(stated)
    asked = {other for other in others if other != role}
    return tuple(sorted(asked if EVERY_OTHER in names else asked & names))


class LimitKind(StrEnum):
    """What a limit bounds; `recommended` is an advice, the others are rules."""

    MIN = "min"
    MAX = "max"
    RECOMMENDED = "recommended"


@dataclass(frozen=True, slots=True)
class Violation:
    """`count` nodes are too few or too many: `limit` is the bound that was overstepped."""

    kind: LimitKind
    limit: int
    count: int
    message: str


def check_limits(
    limits: Mapping[str, Any] | None,
    count: int,
    models: Models,
    *,
    kinds: Sequence[LimitKind] = tuple(LimitKind),
    limit_reached: bool = True,
) -> list[Violation]:
    """What `count` nodes with a role violate of its limits, at most one violation of each kind, in their order.

    `count` leaves out nodes that are about to be deleted. A limit is a number or an expression, and 0 or null
    is none. Overrides whose condition holds replace the limit of the same kind; of several violated ones the
    tightest is told (the lowest max, the highest min). With `limit_reached=False` the question is whether one
    more node may be added, or taken away.

    Raises `InvalidDocument` for limits in another form, and what `parse` and `Expression.evaluate` raise.

    >>> [found.message for found in check_limits({"min": 3}, 1, {})]
    ['at least 3 nodes are needed, there is 1']
    """
    if limits is None:
        return []
    active = [override for override in _overrides(limits) if parse(override["condition"]).evaluate(models)]
    violations = []
    for kind in kinds:
        stated = [(override, _bound(override, kind, models)) for override in active]
        if not any(bound for _, bound in stated):
            stated = [(limits, _bound(limits, kind, models))]
        broken = [(bound, where) for where, bound in stated if bound and _is_broken(kind, count, bound, limit_reached)]
        if broken:
            pick = min if kind is LimitKind.MAX else max
            bound, where = pick(broken, key=lambda one: one[0])
            violations.append(Violation(kind, bound, count, str(where.get("message") or _sentence(kind, bound, count))))
    return violations


def _overrides(limits: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    overrides = limits.get("overrides") or ()
    if not isinstance(overrides, list | tuple):
        raise _bad_limits(overrides)
    for override in overrides:
        if not isinstance(override, Mapping) or not isinstance(override.get("condition"), str):
            raise _bad_limits(override)
    return overrides


def _bound(stated: Mapping[str, Any], kind: LimitKind, models: Models) -> int:
    """The number that `stated` gives for `kind`; 0 when it gives none."""
    value = stated.get(kind)
    if isinstance(value, str):
        value = parse(value).evaluate(models)
    if not value:
        return 0
    if isinstance(value, bool) or not isinstance(value, int):
        raise _bad_limits({str(kind): stated.get(kind)})
    return value


def _is_broken(kind: LimitKind, count: int, bound: int, limit_reached: bool) -> bool:
    if not limit_reached and count == bound and kind is not LimitKind.RECOMMENDED:
        return True
    return count > bound if kind is LimitKind.MAX else count < bound


def _sentence(kind: LimitKind, bound: int, count: int) -> str:
    words = {
        LimitKind.MIN: f"at least {_nodes(bound)} needed",
        LimitKind.MAX: f"at most {_nodes(bound)} allowed",
        LimitKind.RECOMMENDED: f"at least {_nodes(bound)} recommended",
    }
    return f"{words[kind]}, there {'is' if count == 1 else 'are'} {count}"


def _nodes(number: int) -> str:
    return f"{number} node is" if number == 1 else f"{number} nodes are"


def _bad_limits(found: object) -> InvalidDocument:
    hint = "min, max and recommended are whole numbers or expressions; each override has a condition."
    return InvalidDocument(f"Invalid limits: {str(found)[:80]}.", hint=hint)
