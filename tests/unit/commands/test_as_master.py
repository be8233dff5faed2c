"""`--as-master` on `graph validate`, `graph preview` and `plugins check`."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine
from package_trees import role, task, write_package

DEMO = [{"os": "ubuntu", "version": "ocata-11.0", "mode": ["ha"]}]
GRAPH = """
- {id: a, type: noop, roles: ['/.*/']}
- {id: d, type: skipped, roles: ['/.*/'], parameters: {cmd: {yaql_exp: "1 + $.uid"}}}
- {id: e, type: shell, roles: ['/.*/'], parameters: {cmd: {yaql_exp: "$.uid"}}}
"""


@pytest.fixture
def demo(fuel2: CommandLine) -> CommandLine:
    """The packaged examples: release 1, environment 1 with two plugins."""
    fuel2.ok("demo")
    return fuel2


def codes(demo: CommandLine, *arguments: object) -> set[tuple[str, str, str]]:
    """Code, severity and task of the findings whose codes are those of masters."""
    rows = demo(*arguments, "-f", "json", "--select", "G049,G054,G055,G056,G057,G058,G059").json
    return {(row["code"], row["severity"], row["task"]) for row in rows}


def test_an_environment_is_checked_on_its_facts(demo: CommandLine) -> None:
    partial = ("G054", "error", "primary-database")
    assert codes(demo, "graph", "validate", "--env", 1, "--as-master") == {partial}
    demo.ok("graph", "upload", "--env", 1, "--type", "other", "--file", "-", stdin=GRAPH)

    asked = ("graph", "validate", "--env", 1, "--type", "other")
    assert not codes(demo, *asked)
    assert codes(demo, *asked, "--as-master") == {("G055", "error", "a"), ("G059", "error", "d")}
    assert demo(*asked, "--as-master").code == 7


def test_a_preview_has_the_findings_at_its_rows(demo: CommandLine) -> None:
    demo.ok("graph", "upload", "--env", 1, "--type", "other", "--file", "-", stdin=GRAPH)
    asked = ("graph", "preview", "--env", 1, "--type", "other", "-f", "json")
    demo.ok(*asked)

    done = demo(*asked, "--as-master")
    found = {row["task"]: [finding["code"] for finding in row["findings"]] for row in done.json}
    assert (done.code, found) == (7, {"a": ["G055"], "d": ["G059"], "e": []})
    bare = demo(*asked, "--as-master", "--no-facts").json
    assert {row["task"]: [each["severity"] for each in row["findings"]] for row in bare} == {
        "a": ["error"], "d": ["info"], "e": ["info"],
    }  # fmt: skip


def test_assumed_nodes_are_evaluated_too(demo: CommandLine) -> None:
    demo.ok("graph", "upload", "--env", 1, "--type", "other", "--file", "-", stdin=GRAPH)
    done = demo("graph", "preview", "--env", 1, "--type", "other", "--assume", "compute=2", "--as-master", "-f", "json")
    [finding] = next(row["findings"] for row in done.json if row["task"] == "d")
    assert (finding["code"], finding["severity"]) == ("G059", "error")


def test_a_master_merges_in_one_way_only(demo: CommandLine) -> None:
    done = demo("graph", "preview", "--env", 1, "--as-master", "--merge-policy", "overlay")
    assert done.code == 2


def test_a_document_is_checked_without_facts(fuel2: CommandLine) -> None:
    text = f"name: null\ntasks:{GRAPH}- {{id: p, parameters: {{}}}}\n"
    fuel2.ok("graph", "validate", "--file", "-", stdin=text)
    done = fuel2("graph", "validate", "--file", "-", "--as-master", "-f", "json", stdin=text)
    assert [row["code"] for row in done.json if row["severity"] == "error"] == ["G056", "G055", "G054"]
    assert {row["task"] for row in done.json if row["code"] == "G059"} == {"d", "e"}


def test_a_package_with_a_task_of_another_plugin(demo: CommandLine, tmp_path: Path) -> None:
    tasks = [task("image-cache-disks", role=["cache"], type="skipped"), task("own", role=["cache"], type="noop")]
    files = {"node_roles.yaml": {"cache": role()}, "deployment_tasks.yaml": tasks}
    package = write_package(tmp_path / "p", releases=DEMO, files=files)

    alone = ("plugins", "check", package, "--as-master")
    assert codes(demo, *alone) == {("G055", "error", "own")}
    together = ("plugins", "check", package, "--env", 1)
    assert not codes(demo, *together)
    assert codes(demo, *together, "--as-master") == {
        ("G049", "error", "image-cache-disks"), ("G055", "error", "own"),
    }  # fmt: skip
