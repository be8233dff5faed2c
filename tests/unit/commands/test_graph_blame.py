"""`graph blame`: layers, places and losers, through every way by which a graph reaches an engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine, fuel2
from package_trees import task, write_package
from questioned import questioned_engine

from fuelclient.insight.blame import blame, statements
from fuelclient.model.graph import Layer, Level, Owner
from fuelclient.model.task import Source, Task

RELEASE, PLUGIN, CLUSTER = Owner(Level.RELEASE, 1), Owner(Level.PLUGIN, 2, "p", "1.0.0"), Owner(Level.CLUSTER, 3)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    return questioned_engine(tmp_path_factory.mktemp("questioned"))


def rows_of(engine: CommandLine, *arguments: str) -> dict[str, dict[str, object]]:
    [definition] = engine.ok("graph", "blame", *arguments, "--env", 1, "-f", "json").json["definitions"]
    return {row["attribute"]: row for row in definition["attributes"]}


def test_the_winner_and_what_it_overrode_have_their_lines(engine: CommandLine) -> None:
    row = rows_of(engine, "keystone")["parameters.timeout"]
    assert (row["value"], row["layer"], row["file"], row["line"]) == (99, "cluster", "<stdin>", 5)
    assert row["overrode"] == [{"value": 60, "layer": "release", "file": "<stdin>", "line": 29}]


def test_lists_say_which_elements_changed(engine: CommandLine) -> None:
    row = rows_of(engine, "keystone", "requires")["requires"]
    assert (row["elements_added"], row["elements_removed"]) == (["netconfig"], [])


def test_a_mapping_has_the_rows_below_it(engine: CommandLine) -> None:
    assert set(rows_of(engine, "keystone", "parameters")) == {"parameters.cmd", "parameters.timeout"}
    assert set(rows_of(engine, "agent", "cross-depends")) == {"cross_depends"}


def test_tasks_of_packages_name_the_file_in_the_package(engine: CommandLine) -> None:
    row = rows_of(engine, "plugin1:pre_deployment#2", "stage")["stage"]
    assert (row["layer"], row["file"]) == ("plugin plugin1-1.0.0", "plugin1-1.0.0/tasks.yaml")
    assert isinstance(row["line"], int)


def test_places_survive_the_server(tmp_path: Path) -> None:
    pytest.importorskip("flask", reason="the server comes with the extra [server]")
    from server_process import serving

    local = questioned_engine(tmp_path)
    override = tmp_path / "site" / "override.yaml"
    override.parent.mkdir()
    override.write_text("- id: agent\n  parameters:\n    timeout: 7\n")
    with serving(tmp_path) as server:
        upload = ("graph", "upload", "--env", 1, "--type", "default", "--file", override)
        assert fuel2("--server", server.url, *upload).code == 0
        remote = fuel2("--server", server.url, "graph", "blame", "agent", "--env", 1)
    assert remote.out == local.ok("graph", "blame", "agent", "--env", 1).out
    assert f"{override}:3" in remote.out
    assert "<stdin>:" in remote.out


def test_unknown_names_have_their_nearest(engine: CommandLine) -> None:
    for words, near in ((("keystne",), "keystone"), (("keystone", "parameters.timeut"), "parameters.timeout")):
        done = engine("graph", "blame", *words, "--env", 1)
        assert (done.code, done.out) == (5, "")
        assert f"Did you mean {near}?" in done.err


def test_each_variant_of_two_plugins_is_shown(engine: CommandLine, tmp_path: Path) -> None:
    other = questioned_engine(tmp_path / "variants")
    for name in ("left", "right"):
        files = {"deployment_tasks.yaml": [task("both", role=["controller" if name == "left" else "compute"])]}
        other.ok("plugins", "install", write_package(tmp_path / name, name, "1.0.0", files=files))
        other.ok("plugins", "enable", name, "--env", 1)
    answer = other.ok("graph", "blame", "both", "roles", "--env", 1, "--explain", "-f", "json").json
    assert [one["layer"] for one in answer["definitions"]] == ["plugin left-1.0.0", "plugin right-1.0.0"]
    effects = {said["layer"]: said["effect"] for said in answer["definitions"][0]["attributes"][0]["layers"]}
    assert (effects["plugin left-1.0.0"], effects["plugin right-1.0.0"]) == ("sets", "apart")
    assert effects["cluster"] == "absent"


def record(owner: Owner, line: int, **attributes: object) -> Layer:
    source = Source(f"{owner.level}.yaml", line, dict.fromkeys(attributes, line + 1))
    return Layer(owner, (Task("a", attributes, source),))


def test_every_layer_says_what_it_does_to_an_attribute() -> None:
    from fuelclient.graph.merge import merge_layers

    layers = [
        record(RELEASE, 10, type="shell", requires=["x"], condition=True),
        record(PLUGIN, 20, type="shell", requires=["y"]),
        record(CLUSTER, 30, requires=["z"]),
    ]
    [task] = merge_layers(layers).tasks
    rows = {row.attribute: row for row in blame(task, layers)}

    def effects(path: str) -> list[tuple[str, object, int]]:
        return [(said.effect, said.value, said.place.line) for said in statements(task, rows[path], layers)]

    assert effects("requires") == [("overridden", ["x"], 11), ("overridden", ["y"], 21), ("sets", ["z"], 31)]
    assert effects("type") == [("overridden", "shell", 11), ("sets", "shell", 21), ("silent", None, 30)]
    assert effects("condition") == [("overridden", True, 11), ("removes", None, 20), ("silent", None, 30)]


def test_help_has_an_example() -> None:
    assert "fuel2 graph blame" in fuel2("graph", "blame", "--help").out
