"""Graphs as web pages: one file that loads nothing else, and runs only its own script."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from importlib.resources import files
from string import Template
from typing import Any

from fuelclient.commands.graph.question import value_text, where
from fuelclient.grouping import grouped
from fuelclient.insight.blame import blame
from fuelclient.insight.picture import Picture, kind, layout
from fuelclient.insight.stats import tasks_of_roles
from fuelclient.insight.timeline import Timeline
from fuelclient.model.graph import Layer, MergedTask, Origin
from fuelclient.redact import masked_document, scrubbed, secrets_of


def page(picture: Picture, title: str, timeline: Timeline | None = None) -> str:
    """Render a picture as a page, with the times of a run if there is a `timeline`. Secrets are masked."""
    style, script = (files(__package__).joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )
    return Template(files(__package__).joinpath("page.html").read_text(encoding="utf-8")).substitute(
        policy=html.escape(policy),
        title=html.escape(title),
        style=style,
        script=script,
        data=_data({**_fields(picture), "run": _run(picture, timeline) if timeline else None}),
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


def _fields(picture: Picture) -> dict[str, Any]:
    names = {name: number for number, name in enumerate(picture.groups)}
    placed = layout(picture.edges, [names[vertex.group] for vertex in picture.vertices])
    with_role = tasks_of_roles(picture.study.merged.tasks, picture.study.snapshot)
    records = _by_task(picture.study.snapshot.layers)
    tasks = [
        {
            "name": vertex.name, "column": placed.columns[number], "row": placed.rows[number],
            "kind": kind(vertex.task.task), "type": vertex.row.type, "stage": vertex.row.stage or "",
            "generation": vertex.row.generations, "nodes": len(vertex.row.nodes),
            "roles": [role for role, indices in with_role.items() if vertex.index in indices],
            "layer": vertex.row.layer,
            "layers": [vertex.row.layer, *vertex.row.overrides], "changed": vertex.row.is_changed,
            "place": where(vertex.task.origin().place),
            "attributes": _attributes(vertex.task, records.get(vertex.task.id, ())),
        }
        for number, vertex in enumerate(picture.vertices)
    ]  # fmt: skip
    edges_with_bends = [*zip(picture.edges, placed.bends, strict=True), *((edge, []) for edge in picture.back)]
    back = len(picture.edges)
    edges = [
        [*edge, bends, "back" if number >= back else "", "cycle" if edge in picture.cycle else ""]
        for number, (edge, bends) in enumerate(edges_with_bends)
    ]
    bands = [
        {"name": name, "top": top, "height": height} for name, (top, height) in zip(names, placed.bands, strict=True)
    ]
    return {"tasks": tasks, "edges": edges, "bands": bands}


def _run(picture: Picture, timeline: Timeline) -> dict[str, Any]:
    numbers = grouped((vertex.row.task, number) for number, vertex in enumerate(picture.vertices))
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
        for node, bars in timeline.nodes.items()
    ]  # fmt: skip
    return {"seconds": timeline.seconds, "nodes": nodes}


def _by_task(layers: Iterable[Layer]) -> dict[str, list[Layer]]:
    """For each task, the layers that have it, without their other tasks: these would be searched for each task. Of two
    definitions in one layer, the first one comes last, which is the one that `blame` takes."""
    return grouped((task.id, replace(layer, tasks=(task,))) for layer in layers for task in reversed(layer.tasks))


def _attributes(task: MergedTask, layers: Iterable[Layer]) -> list[Any]:
    rows = list(blame(task, layers))
    values = ({row.attribute: value} for row in rows for value in (row.value, *(old.value for old in row.overrode)))
    secrets = frozenset[str]().union(*map(secrets_of, values))  # a command may repeat what another attribute states
    return [
        [
            row.attribute, "(removed)" if row.removed else _masked_text(row.attribute, row.value, secrets),
            *_origin(row.origin),
            [[_masked_text(row.attribute, old.value, secrets), *_origin(old.origin)] for old in reversed(row.overrode)],
        ]
        for row in rows
    ]  # fmt: skip


def _masked_text(path: str, value: Any, secrets: Collection[str]) -> str:
    return scrubbed(value_text(masked_document({path: value})[path]), secrets)


def _origin(origin: Origin) -> tuple[str, str]:
    return origin.owner.label, where(origin.place)
