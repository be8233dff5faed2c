"""Parameters with which a task cannot run are found at every door, in the words of the run that would refuse them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from package_trees import write_package

GRAPH = """
- id: net
  type: shell
  version: 2.0.0
  roles: [compute]
  {condition}
  parameters:
    command: 'true'
    timeout: 60
"""
SAID = "the parameter cmd is missing; there is command instead"


def g046(findings: list[dict[str, Any]]) -> list[str]:
    return [finding["severity"] for finding in findings if finding["code"] == "G046" and SAID in finding["message"]]


@pytest.mark.parametrize(("condition", "severity"), [("", "error"), ("condition: 'false'", "warning")])
def test_every_door_finds_them(tiny: CommandLine, tmp_path: Path, condition: str, severity: str) -> None:
    """What a condition may skip is only a warning, because a run is not certain to fail."""
    text = GRAPH.replace("{condition}", condition)
    (tmp_path / "tasks.yaml").write_text(text, encoding="utf-8")
    code = 7 if severity == "error" else 0

    document = tiny("graph", "validate", "--file", tmp_path / "tasks.yaml", "-f", "json")
    assert (document.code, g046(document.json)) == (code, [severity])

    upload = tiny.ok("graph", "upload", "--env", 1, "--type", "odd", "--file", tmp_path / "tasks.yaml")
    assert f"tasks.yaml:7: warning: task net: it cannot run: {SAID} [G046]" in upload.err

    merged = tiny("graph", "validate", "--env", 1, "--type", "odd", "-f", "json")
    assert (merged.code, g046(merged.json)) == (code, [severity])

    preview = tiny("graph", "preview", "--env", 1, "--type", "odd")
    assert preview.code == code
    assert f"{severity}: task net: it cannot run: {SAID}" in preview.err

    package = write_package(tmp_path / "p", files={"deployment_tasks.yaml": text})
    checked = tiny("plugins", "check", package, "--select", "P003,G046", "-f", "json").json
    assert ("error", "cmd") in {(finding["severity"], "cmd" * ("cmd" in finding["message"])) for finding in checked}
    assert severity == "error" or g046(checked) == [severity]  # what the schema says is not said twice


def test_a_run_says_the_same(tiny: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "tasks.yaml").write_text(GRAPH.replace("{condition}", ""), encoding="utf-8")
    tiny.ok("graph", "upload", "--env", 1, "--type", "odd", "--file", tmp_path / "tasks.yaml")
    run = tiny("graph", "execute", "--env", 1, "--type", "odd", "--dry-run")
    assert run.code == 7
    assert f"cannot run: {SAID}" in run.err


def test_a_task_that_runs_nowhere_is_no_error(tiny: CommandLine, tmp_path: Path) -> None:
    text = GRAPH.replace("{condition}", "").replace("compute", "cinder")
    tiny.ok("graph", "upload", "--env", 1, "--type", "odd", "--file", "-", stdin=text)
    assert g046(tiny.ok("graph", "validate", "--env", 1, "--type", "odd", "-f", "json").json) == ["warning"]


@pytest.mark.parametrize("parameters", ["", ", parameters: {}", ", parameters: null"])
@pytest.mark.parametrize("kind", ["shell", "puppet", "sync", "upload_file", "copy_files"])
def test_task_without_parameters_is_refused_with_all_layers(tiny: CommandLine, kind: str, parameters: str) -> None:
    """One document is only warned (G013): another layer may have them."""
    text = f"- {{id: net, type: {kind}, version: 2.0.0, roles: [compute]{parameters}}}"
    tiny.ok("node", "import", "-", "--env", 1, stdin="- {name: one, roles: [compute]}")
    about = ("--env", 1, "--type", "odd")
    uploaded = tiny.ok("graph", "upload", *about, "--file", "-", stdin=text)
    validated = tiny("graph", "validate", *about, "-f", "json")
    others = [tiny("graph", "preview", *about), tiny("graph", "execute", *about, "--dry-run")]

    assert "[G013]" in uploaded.err
    assert validated.code == 7
    assert {row["code"] for row in validated.json} & {"G013", "G046"} == {"G046"}
    assert [(done.code, "[G046]" in done.err) for done in others] == [(7, True)] * 2


def test_two_servers_are_found_before_a_run(tiny: CommandLine) -> None:
    text = "- {id: s, type: sync, version: 2.1.0, roles: ['*'], parameters: {src: 'rsync://a/x', dst: 'rsync://b/y'}}"
    document = tiny("graph", "validate", "--file", "-", "-f", "json", stdin=text)
    assert [finding["code"] for finding in document.json] == ["G046"]
    assert "src and dst are both rsync:// addresses" in document.json[0]["message"]
