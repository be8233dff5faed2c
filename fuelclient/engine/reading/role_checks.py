"""Check whether nodes may have their roles: conflicts, restrictions and upper limits.

The words are Nailgun's. Nailgun knows limits but never enforces them; here `max` is enforced, while `min` is a matter
of the whole environment and not of one assignment (`environment/role_limits.py`). Source: Nailgun
`validators.assignment` and `utils.restrictions`; "role-as-a-plugin" for conflicts per node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from fuelclient.environment import settings
from fuelclient.environment.role_limits import restricted, violated
from fuelclient.environment.roles import roles as roles_of
from fuelclient.errors import Conflict
from fuelclient.expressions.legacy import Models
from fuelclient.expressions.restrictions import LimitKind, conflicting
from fuelclient.model.environment import Environment
from fuelclient.model.node import Node
from fuelclient.model.release import Role


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
    reasons = restricted(role, models)
    if reasons:
        yield f"Role '{role.name}' restrictions mismatch: {'. '.join(reason.rstrip('.') for reason in reasons)}."
    for reason in violated(role, count, models, LimitKind.MAX):
        yield f"Role '{role.name}' limits mismatch: {reason.rstrip('.')}."
