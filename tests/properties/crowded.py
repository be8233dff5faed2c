"""One environment in which names meet everywhere, made from texts alone, for tests of what hash seeds might change."""

from __future__ import annotations

from typing import Any

from building import RELEASE, STAGES, layer, plugin, roles, tasks_from

from fuelclient.model.graph import Layer

TAGS = [f"tag-{number}" for number in range(9)]
PRIMARY = ["tag-0", "tag-2", "tag-7"]
ROLES = roles(**{f"role-{n}": TAGS[n : n + 3] for n in range(9)})

_NOTHING: list[list[dict[str, Any]]] = [[{"name": "ghost"}], [{"yaql_exp": "[]"}]]
_TASKS: list[dict[str, Any]] = [
    {
        "id": f"task-{n}",
        "type": "shell",
        "roles": [TAGS[n % 9], "/tag-[3-5]/", "primary-tag-0"],
        "requires": ["deploy_start", f"/task-[0-{n % 7}]$/"] if n > 9 else [],
        "required_for": ["deploy_end"],
        "condition": {"yaql_exp": f"$.uid != '{n % 12}'"},
        "parameters": {"cmd": "run", "strategy": {"type": "parallel", "amount": 1 + n % 3}},
        "cross-depends": [{"name": "/task-[01]$/", "role": TAGS[1:4]}] if n > 9 else _NOTHING[n % 2],
    }
    for n in range(30)
]
_GROUPS = [{"id": f"group-{n}", "type": "group", "roles": TAGS[n : n + 2], "tasks": [f"task-{n}"]} for n in range(8)]
_LEGACY = [{"stage": f"pre_deployment/{n % 3}", "type": "shell", "role": TAGS[n % 9]} for n in range(9)]


def layers() -> list[Layer]:
    """A release with patterns and groups, and two plugins with entries in the same stage."""
    return [
        layer(RELEASE, *tasks_from([*STAGES, *_TASKS, *_GROUPS])),
        layer(plugin("zeta"), *tasks_from(_LEGACY, "zeta")),
        layer(plugin("alfa"), *tasks_from(_LEGACY, "alfa")),
    ]
