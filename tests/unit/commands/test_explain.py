"""`fuel2 explain`: every code is explained, and the examples lead to what they are examples of."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from building import layers_from, roles, snapshot
from command_line import CommandLine

from fuelclient.commands.exits import Exit
from fuelclient.commands.explain import explanations
from fuelclient.graph.merge import merge_layers
from fuelclient.model.node import Node
from fuelclient.plan.preview import PreviewOptions
from fuelclient.plan.study import Study

KNOWN = explanations()
PAGE = Path(__file__).resolve().parents[3] / "docs/findings.md"
GRAPHS = dict(re.findall(r"^`(G\d+)`:\n\n```yaml\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S))
"""The examples that are graphs."""
NEED_NODES = {"G065"}
"""Of these, a file alone does not show what only nodes do."""


def test_all_codes_are_listed_with_their_meaning(fuel2: CommandLine) -> None:
    listed = [line.split()[0] for line in fuel2.ok("explain").out.splitlines()]
    assert listed == list(KNOWN)
    assert {str(code.value) for code in Exit} <= set(listed)


@pytest.mark.parametrize("code", ["G050", "g050", "[P012]", "9"])
def test_one_code(fuel2: CommandLine, code: str) -> None:
    entry = KNOWN[code.strip("[]").upper()]
    shown = fuel2.ok("explain", code).out
    assert all(line in shown for text in entry.values() for line in text.splitlines())
    document = fuel2.ok("explain", code, "-f", "json").json
    assert document["format_version"] == 1
    assert document["codes"] == [{"code": code.strip("[]").upper(), **entry}]


def test_an_unknown_code(fuel2: CommandLine) -> None:
    assert fuel2("explain", "G999").code == 5


def test_every_finding_says_what_to_do_or_shows_an_example() -> None:
    assert all("example" in entry for code, entry in KNOWN.items() if not code.isdecimal())
    assert all(entry["means"] for entry in KNOWN.values())


@pytest.mark.parametrize("code", GRAPHS)
def test_an_example_that_is_a_graph_has_the_finding(fuel2: CommandLine, code: str) -> None:
    example: Any = yaml.safe_load(GRAPHS[code]) if code != "G001" else []
    if code in NEED_NODES:
        assert code in _codes_of_layers({"release": example})
    elif "release:" in GRAPHS[code] or "plugin" in GRAPHS[code]:
        assert code in _codes_of_layers(example)
    else:
        rows = fuel2("graph", "validate", "--file", "-", "-f", "json", stdin=GRAPHS[code]).json
        assert code in {row["code"] for row in rows}


def _codes_of_layers(stated: dict[str, Any]) -> set[str]:
    layers = layers_from(stated)
    nodes = [Node(1, "node-1", roles=("compute",)), Node(2, "node-2", roles=("controller",))]
    known = Study(snapshot(layers, nodes, roles("compute", "cinder", "controller")), PreviewOptions()).findings
    return {finding.code for finding in (*known, *merge_layers(layers).findings)}
