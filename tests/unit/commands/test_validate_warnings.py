"""`graph validate --env` repeats what the documents of an environment were warned of: nobody could see it later."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine
from package_trees import MITAKA, write_package

from fuelclient.backends import engine_at
from fuelclient.model.graph import Layer
from fuelclient.serializers.graph import layer_record_from, layer_record_to

SLIPS = """
- id: net
  type: skipped
  roles: [compute]
  roles: [controller]
  require: [keystone]
"""


def codes(tiny: CommandLine) -> set[tuple[str, str, str]]:
    rows = tiny("graph", "validate", "--env", 1, "-f", "json").json
    return {(row["code"], row["task"], row["place"].rpartition("/")[2]) for row in rows}


@pytest.mark.parametrize("owner", [("--env", 1), ("--release", 1)])
def test_what_an_upload_was_warned_of(tiny: CommandLine, tmp_path: Path, owner: tuple[str, int]) -> None:
    (tmp_path / "slips.yaml").write_text(SLIPS, encoding="utf-8")
    tiny.ok("graph", "upload", *owner, "--type", "default", "--file", tmp_path / "slips.yaml")
    assert {("G008", "", "slips.yaml:5"), ("G009", "net", "slips.yaml:6")} <= codes(tiny)
    tiny.ok("graph", "upload", *owner, "--type", "default", "--file", "-", stdin="[]")
    assert not {"G008", "G009"} & {code for code, _, _ in codes(tiny)}


def test_what_an_installation_was_warned_of(tiny: CommandLine, tmp_path: Path) -> None:
    release = {**MITAKA, "version": "tiny-1.0", "mode": ["ha"]}
    package = write_package(tmp_path / "p", releases=[release], files={"deployment_tasks.yaml": SLIPS})
    tiny.ok("plugins", "install", package, "--force")
    tiny.ok("plugins", "enable", 1, "--env", 1)
    assert {("G008", "deployment_tasks.yaml:5"), ("G009", "deployment_tasks.yaml:6")} <= {
        (code, place) for code, _, place in codes(tiny)
    }


def test_a_server_passes_them_on(tiny: CommandLine) -> None:
    tiny.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=SLIPS)
    backend = engine_at(str(tiny.engine))
    own: Layer = backend.graphs.snapshot(1).layers[-1]
    backend.close()
    assert {warning.code for warning in own.warnings} >= {"G008", "G009"}
    assert layer_record_from(layer_record_to(own, "default")).warnings == own.warnings


def test_a_node_filter_that_cannot_be_read(tiny: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "filtered.yaml").write_text("node_filter: $.(\ntasks: []\n", encoding="utf-8")
    stated = ("--env", 1, "--type", "odd")
    found = [tiny("graph", "validate", "--file", tmp_path / "filtered.yaml", "-f", "json")]
    uploaded = tiny.ok("graph", "upload", *stated, "--file", tmp_path / "filtered.yaml")
    found.append(tiny("graph", "validate", *stated, "-f", "json"))

    assert "warning: node_filter: " in uploaded.err
    assert [(done.code, done.json[0]["severity"], done.json[0]["code"]) for done in found] == [(7, "error", "G024")] * 2


@pytest.mark.parametrize("condition", ["settings:a.value ==", "{yaql_exp: '$.('}"])
def test_an_unreadable_condition_is_told_once(tiny: CommandLine, condition: str) -> None:
    text = f"- {{id: odd, type: shell, version: 2.1.0, roles: ['*'], condition: {condition}, parameters: {{cmd: a}}}}"
    tiny.ok("graph", "upload", "--env", 1, "--type", "odd", "--file", "-", stdin=text)
    nodes = "- {name: one, roles: [compute]}"
    tiny.ok("node", "import", "-", "--env", 1, stdin=nodes)
    done = tiny("graph", "validate", "--env", 1, "--type", "odd", "-f", "json")
    assert [row["code"] for row in done.json if row["severity"] == "error"] == ["G024"]


@pytest.mark.parametrize(
    ("stated", "codes"),
    [
        ("$.(", ["G024"]),
        ("$.nosuch = 1", ["G034"]),
        ("$.id + name", ["G034"]),
        ("$.id > 0", []),
        ("$.id > 99", []),
        ("'$.id = 1'", []),
        ("''", []),
    ],
)
def test_a_node_filter_that_a_run_refuses(tiny: CommandLine, stated: str, codes: list[str]) -> None:
    text = f"node_filter: {stated}\ntasks:\n- {{id: a, type: skipped, version: 2.1.0, roles: ['*']}}"
    tiny.ok("graph", "upload", "--env", 1, "--type", "odd", "--file", "-", stdin=text)
    tiny.ok("node", "import", "-", "--env", 1, stdin="- {name: one, roles: [compute]}")
    about = ("--env", 1, "--type", "odd")
    run = tiny("graph", "execute", *about, "--dry-run")
    validated = tiny("graph", "validate", *about, "-f", "json")
    previewed, named = tiny("graph", "preview", *about), tiny("graph", "preview", *about, "--node", "one")
    assert run.code == validated.code == (7 if codes else 0), run
    assert [row["code"] for row in validated.json if row["severity"] == "error"] == codes
    assert [code for code in ("G024", "G034") if f"[{code}]" in previewed.err] == codes
    assert ("node filter lets no node through: a run has nothing to do [G066]" in previewed.err) == (
        stated == "$.id > 99"
    )
    assert "[G066]" not in named.err + str(validated.json)
    assert "error:" not in named.err  # a run on named nodes reads no filter
