"""Graphs as web pages: one file that asks for nothing else, and runs nothing but its own script."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Collection, Mapping
from importlib.resources import files
from string import Template
from typing import Any

from fuelclient.commands.graph.question import value_text, where
from fuelclient.grouping import grouped
from fuelclient.insight.blame import blame
from fuelclient.insight.picture import Picture, kind, layout
from fuelclient.insight.stats import tasks_of_roles
from fuelclient.insight.timeline import Timeline
from fuelclient.model.graph import MergedTask, Origin
from fuelclient.redact import masked_document, scrubbed, secrets_of


def page(drawn: Picture, title: str, seen: Timeline | None = None) -> str:
    """A picture as a page, with the times of a run if `seen` has them. Secrets are masked."""
    style, script = (files(__package__).joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )
    template = Template(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute(
        policy=html.escape(policy),
        title=html.escape(title),
        style=style,
        script=script,
        data=_data({**_fields(drawn), "run": _run(drawn, seen) if seen else None}),
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _data(document: Mapping[str, Any]) -> str:
    """Encode as JSON in which no HTML tag can begin or end.

    >>> _data({"a": "</script>"})
    '{"a":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(document, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _fields(drawn: Picture) -> dict[str, Any]:
    names = {name: number for number, name in enumerate(drawn.groups)}
    placed = layout(drawn.edges, [names[vertex.group] for vertex in drawn.vertices])
    with_role = tasks_of_roles(drawn.study.merged.tasks, drawn.study.snapshot)
    tasks = [
        {
            "name": vertex.name, "column": placed.columns[number], "row": placed.rows[number],
            "kind": kind(vertex.task.task), "type": vertex.row.type, "stage": vertex.row.stage or "",
            "generation": vertex.row.generations, "nodes": len(vertex.row.nodes),
            "roles": [role for role, indices in with_role.items() if vertex.index in indices],
            "layer": vertex.row.layer,
            "layers": [vertex.row.layer, *vertex.row.overrides], "changed": vertex.row.is_changed,
            "place": where(vertex.task.origin().place), "attributes": _attributes(drawn, vertex.task),
        }
        for number, vertex in enumerate(drawn.vertices)
    ]  # fmt: skip
    bent = [*zip(drawn.edges, placed.bends, strict=True), *((edge, []) for edge in drawn.back)]
    back = len(drawn.edges)
    edges = [
        [*edge, bends, "back" if number >= back else "", "cycle" if edge in drawn.cycle else ""]
        for number, (edge, bends) in enumerate(bent)
    ]
    bands = [
        {"name": name, "top": top, "height": height} for name, (top, height) in zip(names, placed.bands, strict=True)
    ]
    return {"tasks": tasks, "edges": edges, "bands": bands}


def _run(drawn: Picture, seen: Timeline) -> dict[str, Any]:
    numbers = grouped((vertex.row.task, number) for number, vertex in enumerate(drawn.vertices))
    nodes = [
        [
            "sync points" if node is None else f"node {node}",
            [
                [
                    bar.row.task, numbers.get(bar.row.task, []), bar.word, bar.idle, bar.ready, bar.begin, bar.end,
                    bar.critical,
                ]
                for bar in bars
            ],
        ]
        for node, bars in seen.nodes.items()
    ]  # fmt: skip
    return {"seconds": seen.seconds, "nodes": nodes}


def _attributes(drawn: Picture, task: MergedTask) -> list[Any]:
    rows = list(blame(task, drawn.study.snapshot.layers))
    values = ({row.attribute: value} for row in rows for value in (row.value, *(below.value for below in row.overrode)))
    secrets = frozenset[str]().union(*map(secrets_of, values))  # a command may repeat what another attribute states
    return [
        [
            row.attribute, "(removed)" if row.removed else _shown(row.attribute, row.value, secrets),
            *_origin(row.origin),
            [[_shown(row.attribute, below.value, secrets), *_origin(below.origin)] for below in reversed(row.overrode)],
        ]
        for row in rows
    ]  # fmt: skip


def _shown(path: str, value: Any, secrets: Collection[str]) -> str:
    return scrubbed(value_text(masked_document({path: value})[path]), secrets)


def _origin(origin: Origin) -> tuple[str, str]:
    return origin.owner.label, where(origin.place)
