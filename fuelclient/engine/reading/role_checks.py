"""Check whether nodes may have their roles: conflicts, restrictions and upper limits.

The words are Nailgun's. Nailgun knows limits but never enforces them; here `max` is enforced, while `min` and
`recommended` are a matter of the whole environment and not of one assignment. Source: Nailgun
`validators.assignment` and `utils.restrictions`; "role-as-a-plugin" for conflicts per node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.environment import settings
from fuelclient.environment.roles import roles as roles_of
from fuelclient.errors import Conflict, InvalidDocument
from fuelclient.expressions.legacy import Models, parse
from fuelclient.expressions.restrictions import LimitKind, check_limits, conflicting, expand_restrictions, unmet
from fuelclient.model.environment import Environment
from fuelclient.model.node import Node
from fuelclient.model.release import Role

_BOUNDS = tuple(LimitKind)


def require(environment: Environment, before: Iterable[Node], after: Sequence[Node]) -> None:
    """Raise `Conflict`, with all reasons and nodes, if nodes may not get the roles that they did not have `before`.

    `after` are all nodes of the environment.
    """
    had = {node.id: node.all_roles for node in before}
    taken = [(node, [role for role in node.all_roles if role not in had.get(node.id, ())]) for node in after]
    known = roles_of(environment)
    models = settings.models(environment)
    refused: dict[str, list[int]] = {}
    for node, roles in taken:
        for reason in _conflicts(node, known) if roles else ():
            refused.setdefault(reason, []).append(node.id)
    for name in dict.fromkeys(role for _, roles in taken for role in roles if role in known):
        count = sum(name in node.all_roles and not node.pending_deletion for node in after)
        for reason in _refusals(known[name], count, models):
            refused.setdefault(reason, []).extend(node.id for node, roles in taken if name in roles)
    if refused:
        nodes = sorted({node_id for node_ids in refused.values() for node_id in node_ids if node_id})
        noun = "nodes" if len(nodes) > 1 else "node"
        whom = f"This is about {noun} {', '.join(map(str, nodes))}; " if nodes else ""
        raise Conflict(" ".join(refused), hint=f"{whom}nothing was changed.".capitalize())


def _conflicts(node: Node, known: Mapping[str, Role]) -> Iterator[str]:
    roles = [role for role in node.all_roles if role in known]
    for name in roles:
        others = conflicting(name, roles, known[name].metadata)
        if others:
            yield f"Role '{name}' in conflict with role '{', '.join(others)}'."


def _refusals(role: Role, count: int, models: Models) -> Iterator[str]:
    """Yield why `count` nodes cannot have a role."""
    reasons = _unmet(role, models)
    if reasons:
        yield f"Role '{role.name}' restrictions mismatch: {'. '.join(reason.rstrip('.') for reason in reasons)}."
    for reason in _over(role, count, models):
        yield f"Role '{role.name}' limits mismatch: {reason.rstrip('.')}."


def _unmet(role: Role, models: Models) -> list[str]:
    """Return the restrictions that forbid a role. An unreadable one forbids nothing: the package check reported it."""
    reasons: list[str] = []
    try:
        restrictions = expand_restrictions(role.metadata.get("restrictions"))
    except InvalidDocument:
        return []
    for restriction in restrictions:
        try:
            reasons += unmet([replace(restriction, strict=False)], models)
        except InvalidDocument:
            continue
    return reasons


def _over(role: Role, count: int, models: Models) -> list[str]:
    """Return the upper limits that `count` nodes exceed; limits that cannot be read limit nothing."""
    stated = role.metadata.get("limits")
    if not isinstance(stated, Mapping):
        return []
    try:
        violations = check_limits(_lenient(stated, models), count, models, kinds=(LimitKind.MAX,))
    except InvalidDocument:
        return []
    return [violation.message for violation in violations]


def _lenient(stated: Mapping[str, Any], models: Models) -> dict[str, Any]:
    """Return limits with their expressions evaluated, in which an unknown setting is null and no error."""
    overrides = stated.get("overrides")
    active = [
        {**_numbers(override, models), "condition": "true"}
        for override in (overrides if isinstance(overrides, list | tuple) else ())
        if isinstance(override, Mapping) and _value(override.get("condition"), models)
    ]
    return {**_numbers(stated, models), "overrides": active}


def _numbers(stated: Mapping[str, Any], models: Models) -> dict[str, Any]:
    return {key: _value(value, models) if key in _BOUNDS else value for key, value in stated.items()}


def _value(stated: Any, models: Models) -> Any:
    """Return the value of a limit or a condition: a string is an expression, everything else stands for itself."""
    if not isinstance(stated, str):
        return stated
    try:
        return parse(stated).evaluate(models, strict=False)
    except InvalidDocument:
        return None
