"""The limits and restrictions of roles: how many nodes an environment must and may have of each, and when none.

Nailgun knows limits but enforces none. Here `max` is enforced when a role is assigned
(`engine/reading/role_checks.py`); `min` is a matter of the whole environment, and is reported before a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from fuelclient.environment import settings
from fuelclient.environment.roles import roles as roles_of
from fuelclient.errors import InvalidDocument
from fuelclient.expressions.legacy import Models, parse
from fuelclient.expressions.restrictions import LimitKind, check_limits, expand_restrictions, unmet
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.release import Role
from fuelclient.serializers.values import mapping, mappings


def missing_nodes(environment: Environment) -> Iterator[Finding]:
    """Yield a warning for each role with fewer nodes than its `limits.min`, in an environment with nodes of its own.

    A role that no node may have, because of its restrictions, lacks none.
    """
    nodes = [node for node in environment.nodes if not node.pending_deletion]
    limited = [role for role in roles_of(environment).values() if role.metadata.get("limits")]
    if not nodes or not limited or environment.nodes_are_assumed:
        return
    models = settings.models(environment)
    for role in limited:
        count = sum(role.name in node.all_roles for node in nodes)
        if not count and restricted(role, models):
            continue
        for reason in violated(role, count, models, LimitKind.MIN):
            message = f"role {role.name}: {reason.rstrip('.')}"
            hint = f"Give more nodes the role: fuel2 env add nodes -e {environment.cluster.id} -n NODE -r {role.name}."
            yield Finding(Severity.WARNING, "P089", message, Place(layer=role.owner), hint=hint)


def violated(role: Role, count: int, models: Models, kind: LimitKind) -> list[str]:
    """Return the limits of one kind that `count` nodes violate; limits that cannot be read limit nothing."""
    limits = _lenient(mapping(role.metadata.get("limits")), models)
    with suppress(InvalidDocument):
        return [violation.message for violation in check_limits(limits, count, models, kinds=(kind,))]
    return []


def restricted(role: Role, models: Models) -> list[str]:
    """Return the restrictions that forbid a role. An unreadable one forbids nothing: the package check reported it."""
    reasons: list[str] = []
    with suppress(InvalidDocument):
        for restriction in expand_restrictions(role.metadata.get("restrictions")):
            with suppress(InvalidDocument):
                reasons += unmet([replace(restriction, strict=False)], models)
    return reasons


def _lenient(stated: Mapping[str, Any], models: Models) -> dict[str, Any]:
    """Return limits with their expressions evaluated, in which an unknown setting is null and no error."""
    active = [
        {**_numbers(override, models), "condition": "true"}
        for override in mappings(stated.get("overrides"))
        if _value(override.get("condition"), models)
    ]
    return {**_numbers(stated, models), "overrides": active}


def _numbers(stated: Mapping[str, Any], models: Models) -> dict[str, Any]:
    return {key: _value(value, models) if key in tuple(LimitKind) else value for key, value in stated.items()}


def _value(stated: Any, models: Models) -> Any:
    """Return the value of a limit or a condition: a string is an expression, everything else stands for itself."""
    if not isinstance(stated, str):
        return stated
    try:
        return parse(stated).evaluate(models, strict=False)
    except InvalidDocument:
        return None
