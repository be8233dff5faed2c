"""Graphs on the command line: list, upload, download, delete, preview, validate."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import GRAPH, OVERRIDE, RELEASE, CommandLine

from fuelclient.commands.graph.preview import _KEYS

UPLOADED = "Deployment graph was successfully uploaded.\n"


def test_list_filters_add_up(tiny: CommandLine) -> None:
    def owners(*filters: str) -> list[str]:
        rows = tiny.ok("graph", "list", "--env", 1, *filters, "-f", "json").json
        return [row["relations"][0]["model"] for row in rows]

    assert owners() == ["release", "cluster"]
    assert owners("--cluster") == ["cluster"]
    assert owners("--cluster", "--release") == ["release", "cluster"]
    assert owners("--plugins") == []


def test_list_is_structured_for_programs(tiny: CommandLine) -> None:
    [row] = tiny.ok("graph", "list", "--cluster", "-f", "json").json
    assert row == {
        "id": 2,
        "name": "prod fixes",
        "tasks": ["banner", "keystone"],
        "relations": [{"type": "default", "model": "cluster", "model_id": 1}],
    }


def test_list_sorts_as_asked(tiny: CommandLine) -> None:
    by_name = tiny.ok("graph", "list", "-s", "name", "id", "-f", "value", "-c", "id").out.split()
    assert by_name == ["2", "1"]  # a graph without name comes last
    assert tiny.ok(
        "graph", "list", "--sort-column", "id", "--sort-descending", "-f", "value", "-c", "id"
    ).out.split() == [
        "2",
        "1",
    ]


def test_upload_keeps_the_id_and_takes_the_name(tiny: CommandLine) -> None:
    done = tiny.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", "--name", "new", stdin=GRAPH)
    assert done.out == UPLOADED
    assert f"Target: {tiny.engine}\n" in done.err
    [row] = tiny.ok("graph", "list", "--cluster", "-f", "json").json
    assert (row["id"], row["name"]) == (2, "new")


def test_upload_to_an_owner_with_the_id_zero_is_not_no_owner(tiny: CommandLine) -> None:
    done = tiny("graph", "upload", "--env", 0, "--type", "default", "--file", "-", stdin=GRAPH)
    assert (done.code, done.out) == (5, "")
    assert "Environment 0 does not exist." in done.err


def test_upload_without_type_asks_on_a_terminal(tiny: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "graph.yaml"
    file.write_text(GRAPH, encoding="utf-8")
    line = ("graph", "upload", "--env", 1, "--file", file)
    question = "Replace the 2 tasks of type 'default' of environment 1? [y/N]"
    refused = tiny(*line, stdin="n\n", terminal=True)
    assert (refused.code, refused.out) == (11, "")
    assert question in refused.err
    assert tiny("graph", "list", "--cluster", "-f", "json").json[0]["tasks"] == ["banner", "keystone"]
    assert tiny(*line, stdin="", terminal=True).code == 11
    assert tiny(*line, stdin="y\n", terminal=True).out == UPLOADED
    unasked = tiny(*line, "--yes", terminal=True)
    assert (unasked.out, question in unasked.err) == (UPLOADED, False)


def test_a_graph_that_would_be_refused_is_not_asked_about(tiny: CommandLine, tmp_path: Path) -> None:
    tiny.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=GRAPH)
    file = tmp_path / "graph.yaml"
    file.write_text("- {id: nowhere, parameters: {a: 1}}\n", encoding="utf-8")
    refused = tiny("graph", "upload", "--env", 1, "--type", "default", "--file", file, stdin="y\n", terminal=True)
    assert refused.code == 7
    assert "[G020]" in refused.err
    assert "?" not in refused.err
    checked = tiny("graph", "validate", "--env", 1, "--file", file, "-f", "json")
    assert (checked.code, [row["code"] for row in checked.json]) == (7, ["G020"])
    assert tiny("graph", "validate").code == 2


def test_upload_without_type_and_terminal_says_where_it_goes(tiny: CommandLine) -> None:
    done = tiny.ok("graph", "upload", "--env", 1, "--file", "-", stdin=GRAPH)
    assert "uploading to the graph type 'default' of environment 1." in done.err


@pytest.mark.parametrize("spelling", ["-t", "--type", "--graph-type"])
@pytest.mark.parametrize("owner", ["-e", "--env", "--environment"])
def test_upload_understands_every_spelling(tiny: CommandLine, owner: str, spelling: str) -> None:
    tiny.ok("graph", "upload", owner, 1, spelling, "extra", "-f", "-", stdin=GRAPH)
    assert len(tiny.ok("graph", "list", "--cluster", "-f", "json").json) == 2
    tiny.ok("graph", "delete", owner, 1, spelling, "extra")


def test_upload_of_a_directory(tiny: CommandLine, tmp_path: Path) -> None:
    for name, task in (("b", "second"), ("a", "first")):
        (tmp_path / "tree" / name).mkdir(parents=True)
        text = f"- {{id: {task}, type: shell, roles: [compute], parameters: {{cmd: x, timeout: 1}}}}\n"
        (tmp_path / "tree" / name / "tasks.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "tree" / "metadata.yaml").write_text("name: from a tree\n", encoding="utf-8")
    tiny.ok("graph", "upload", "-r1", "-t", "extra", "-d", tmp_path / "tree")
    printed = tiny.ok("graph", "download", "--env", 1, "--release", "-t", "extra", "--file", "-").out
    assert printed.startswith("name: from a tree\n")
    assert printed.index("first") < printed.index("second")
    assert tiny("graph", "upload", "-r", 1, "-t", "extra", "-d", tmp_path / "nowhere").code == 5


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("- {id: a, type: shell, parameters: {cmd: x}}\n- {id: a, type: shell, parameters: {cmd: x}}\n", "<stdin>:2"),
        ("- {id: unheard-of, requires: [netconfig]}\n", "<stdin>:1"),
        ("- id: [\n", "<stdin>:"),
        ("42\n", "<stdin>:1"),
    ],
)
def test_a_graph_that_is_wrong_is_refused_whole(tiny: CommandLine, text: str, where: str) -> None:
    before = tiny.ok("graph", "list", "-f", "json").out
    done = tiny("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=text)
    assert (done.code, done.out) == (7, "")
    assert where in done.err
    assert "Traceback" not in done.err
    assert tiny.ok("graph", "list", "-f", "json").out == before


def test_download_names_its_file_and_overwrites_it(
    tiny: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for level in ("all", "cluster", "plugins", "release"):
        done = tiny.ok("graph", "download", "--env", 1, f"--{level}")
        assert done.out == f"Tasks were downloaded to {tmp_path / level}_graph_1.yaml\n"
    done = tiny.ok("graph", "download", "--env", 1, "--all")
    assert f"{tmp_path}/all_graph_1.yaml already exists and will be overwritten." in done.err
    tiny.ok("graph", "download", "--env", 1, "--all", "--format", "json")
    assert (tmp_path / "all_graph_1.json").exists()


def test_a_merge_says_that_it_is_one(tiny: CommandLine) -> None:
    first = tiny.ok("graph", "download", "-e", 1, "-a", "-f", "-").out.splitlines()[0]
    assert first.startswith("# Merge of the layers: release, cluster (environment 1, graph type default).")
    assert not tiny.ok("graph", "download", "-e", 1, "-c", "-f", "-").out.startswith("#")
    assert isinstance(tiny.ok("graph", "download", "-e", 1, "-a", "-f", "-", "--format", "json").json, list)


def test_what_a_layer_is_downloaded_as_is_what_was_uploaded(tiny: CommandLine) -> None:
    printed = tiny.ok("graph", "download", "-e", 1, "-c", "-f", "-").out
    tiny.ok("graph", "delete", "-e", 1, "-t", "default")
    tiny.ok("graph", "upload", "-e", 1, "-t", "default", "-f", "-", stdin=printed)
    assert tiny.ok("graph", "download", "-e", 1, "-c", "-f", "-").out == printed
    assert printed.startswith("name: prod fixes\n")
    assert OVERRIDE.count("id:") == printed.count("- id:")


def test_a_format_is_not_taken_for_a_file(tiny: CommandLine) -> None:
    done = tiny("graph", "download", "-e", 1, "-a", "-f", "json")
    assert done.code == 2
    assert "--format json" in done.err


@pytest.mark.parametrize("verb", ["download --cluster --file -", "preview", "validate"])
def test_an_unknown_type_or_environment_is_not_found(tiny: CommandLine, verb: str) -> None:
    unknown = tiny("graph", *verb.split(), "--env", 1, "--type", "defualt")
    assert (unknown.code, unknown.out) == (5, "")
    assert "Did you mean default?" in unknown.err
    assert unknown.err.count("\n") == 1
    assert tiny("graph", *verb.split(), "--env", 9).code == 5


def test_delete(tiny: CommandLine) -> None:
    done = tiny.ok("graph", "delete", "--env", 1, "--type", "default")
    assert done.out == "Deployment graph 'default' for environment with id 1 was deleted.\n"
    assert tiny("graph", "delete", "--env", 1, "--type", "default").code == 5


def test_preview_rows_of_json(tiny: CommandLine) -> None:
    rows = tiny.ok("graph", "preview", "--env", 1, "-f", "json").json
    assert all(tuple(row) == _KEYS for row in rows)
    by_task = {row["task"]: row for row in rows}
    assert by_task["keystone"]["layer"] == "cluster"
    assert by_task["keystone"]["overrides"] == ["release"]
    assert by_task["netconfig"]["nodes"] == [1, 2]
    order = {row["task"]: row["order"] for row in rows}
    assert order["netconfig"] < order["keystone"]
    assert order["netconfig"] < order["banner"]


def test_preview_table(tiny: CommandLine) -> None:
    done = tiny.ok("graph", "preview", "--env", 1)
    header = [cell.strip() for cell in done.out.splitlines()[1].strip("|").split("|")]
    assert header == [
        "order",
        "generation",
        "stage",
        "priority",
        "task",
        "type",
        "roles",
        "nodes",
        "layer",
        "overrides",
    ]
    assert " instances in " in done.err
    changed = tiny.ok("graph", "preview", "--env", 1, "--only", "changed", "-f", "value", "-c", "task").out.split()
    assert sorted(changed) == ["banner", "keystone"]


def test_preview_on_other_nodes(tiny: CommandLine) -> None:
    done = tiny.ok("graph", "preview", "--env", 1, "--assume", "controller=1,compute=4", "-f", "json")
    assert {row["task"]: len(row["nodes"]) for row in done.json}["netconfig"] == 5
    only = tiny.ok("graph", "preview", "--env", 1, "--nodes", "2", "-f", "json").json
    assert {row["task"]: row["nodes"] for row in only}["netconfig"] == [2]
    unknown = tiny("graph", "preview", "--env", 1, "--assume", "controler=1")
    assert (unknown.code, unknown.out) == (5, "")
    assert "controller" in unknown.err


def test_validate_reports_on_stdout_and_in_the_exit_code(tiny: CommandLine) -> None:
    assert tiny.ok("graph", "validate", "--file", "-", "-f", "json", stdin=GRAPH).json == []
    typo = "- {id: a, type: shell, roles: [compute], required_form: [b], parameters: {cmd: x, timeout: 1}}\n"
    rows = tiny.ok("graph", "validate", "--file", "-", "-f", "json", stdin=typo).json
    assert [(row["severity"], row["task"], row["place"]) for row in rows] == [("warning", "a", "<stdin>:1")]
    twice = tiny("graph", "validate", "--file", "-", "-f", "json", stdin=typo * 2)
    assert twice.code == 7
    assert twice.json[0]["severity"] == "error"
    unreadable = tiny("graph", "validate", "--file", "-", "-f", "json", stdin="- id: [\n")
    assert (unreadable.code, unreadable.json[0]["code"]) == (7, "G001")


def test_a_cycle_is_reported_with_its_edges(tiny: CommandLine) -> None:
    ring = (
        "- {id: a, type: shell, version: 2.0.0, roles: [compute], requires: [b], parameters: {cmd: x, timeout: 1}}\n"
        "- {id: b, type: shell, version: 2.0.0, roles: [compute], requires: [a], parameters: {cmd: x, timeout: 1}}\n"
    )
    tiny.ok("graph", "upload", "--env", 1, "--type", "ring", "--file", "-", stdin=ring)
    seen = tiny("graph", "preview", "--env", 1, "--type", "ring")
    assert (seen.code, seen.out) == (7, "")
    assert "<stdin>:1" in seen.err
    checked = tiny("graph", "validate", "--env", 1, "--type", "ring", "-f", "json")
    assert checked.code == 7
    assert any(row["severity"] == "error" for row in checked.json)


RING = """
- {id: b, type: shell, version: 2.0.0, roles: [compute], requires: [c], parameters: {cmd: x, timeout: 1}}
- {id: c, type: shell, version: 2.0.0, roles: [compute], requires: [a], parameters: {cmd: x, timeout: 1}}
- {id: a, type: shell, version: 2.0.0, roles: [compute], requires: [b], parameters: {cmd: x, timeout: 1}}
"""


def test_a_cycle_is_told_in_the_order_of_the_ring(tiny: CommandLine) -> None:
    tiny.ok("graph", "upload", "--env", 1, "--type", "ring", "--file", "-", stdin=RING)
    drawn = tiny("graph", "preview", "--env", 1, "--type", "ring").err
    assert re.findall(r"^  [.|`]-.? (\w)@2$", drawn, re.M) == ["b", "a", "c", "b"]
    told = tiny("graph", "validate", "--env", 1, "--type", "ring", "-f", "value", "-c", "message").out
    edges = re.findall(r"(\w)@2 runs before (\w)@2: ", told)
    assert edges == [("b", "a"), ("a", "c"), ("c", "b")]


def test_places_lead_to_the_file_from_everywhere(
    tiny: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tree").mkdir()
    text = "- {id: odd, type: shell, roles: [compute], requires: [nowhere], parameters: {cmd: x, timeout: 1}}\n"
    for name in ("one.yaml", "tree/tasks.yaml"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for source, place in (
        (("--file", "one.yaml"), f"{tmp_path}/one.yaml:1"),
        (("--dir", "tree"), f"{tmp_path}/tree/tasks.yaml:1"),
        (("--file", "-"), "<stdin>:1"),
    ):
        tiny.ok("graph", "upload", "--env", 1, "--type", "odd", *source, stdin=text)
        rows = tiny("graph", "validate", "--env", 1, "--type", "odd", "-f", "json").json
        assert place in {row["place"] for row in rows}
    assert tiny("graph", "validate", "--file", "one.yaml", "-f", "json").err == "No findings.\n"


def test_a_merge_with_errors_is_not_written(tiny: CommandLine, tmp_path: Path) -> None:
    tiny.ok("graph", "upload", "--release", 1, "--type", "default", "--file", "-", stdin="[]")
    path = tmp_path / "all.yaml"
    for target in (path, "-"):
        done = tiny("graph", "download", "--env", 1, "--all", "--file", target)
        assert (done.code, done.out, path.exists()) == (7, "", False)
        first, *_, last = done.err.splitlines()
        assert "keystone" in first
        assert last == "The default graph of environment 1 cannot be merged. Nothing was written."


def test_variants_of_one_id_are_told_in_a_download(tiny: CommandLine, tmp_path: Path) -> None:
    for name in ("one", "two"):
        tiny.ok("plugins", "create", tmp_path / name)
        (tmp_path / name / "environment_config.yaml").unlink(missing_ok=True)
        tiny.ok("plugins", "install", tmp_path / name)
    for plugin in (1, 2):
        task = "[{id: same, type: shell, version: 2.0.0, roles: [compute], parameters: {cmd: x, timeout: 1}}]"
        tiny.ok("graph", "upload", "--plugin", plugin, "--type", "extra", "--file", "-", stdin=task)
    tiny.ok("release", "create", "Newton", "--version", "newton-10.0", "--operating-system", "Ubuntu")
    tiny.ok("env", "create", "both", "--release", 2)
    tiny.ok("plugins", "enable", 1, 2, "--env", 2)
    done = tiny.ok("graph", "download", "--env", 2, "--all", "--type", "extra", "--file", "-")
    assert done.out.count("- id: same\n") == 2
    told = "Several plugins define the task same: plugin one-1.0.0, plugin two-1.0.0. The file cannot be uploaded."
    assert told in done.err.splitlines()


def test_validate_says_how_much_it_found(tiny: CommandLine) -> None:
    assert tiny.ok("graph", "validate", "--file", "-", stdin=GRAPH).err == "No findings.\n"
    typo = "- {id: a, type: shell, roles: [compute], required_form: [b], parameters: {cmd: x, timeout: 1}}\n"
    assert tiny("graph", "validate", "--file", "-", stdin=typo * 2).err == "1 error, 2 warnings.\n"
    assert tiny("graph", "validate", "--file", "-", "-q", stdin=typo * 2).err == ""


def test_the_target_is_told_once_and_only_before_a_write(tiny: CommandLine, tmp_path: Path) -> None:
    target = f"Target: {tiny.engine}\n"
    line = ("graph", "upload", "--type", "default", "--file")
    assert tiny(*line, tmp_path / "nowhere", "--env", 1).err.count("\n") == 1
    assert tiny(*line, "-", "--env", 9, stdin=GRAPH).err.count("\n") == 1
    for failing in ("plugins install nowhere", "plugins enable nothing --env 1", "plugins remove 7 --yes"):
        assert tiny(*failing.split()).err.count("\n") == 1
    file = tmp_path / "graph.yaml"
    file.write_text(GRAPH, encoding="utf-8")
    asked = tiny("graph", "upload", "--env", 1, "--file", file, stdin="y\n", terminal=True)
    assert asked.err.startswith(target)
    assert asked.err.count(target) == 1


KNOT = """
- {id: up, type: shell, version: 2.0.0, roles: [compute], requires: [down], parameters: {cmd: "true"}}
- {id: down, type: shell, version: 2.0.0, roles: [compute], requires: [up], parameters: {cmd: {yaql_exp: "$.foo("}}}
"""


def test_validate_finds_what_would_refuse_a_run(tiny: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "ring.yaml"
    path.write_text(KNOT, encoding="utf-8")
    done = tiny("graph", "validate", "--file", path, "-f", "json")
    assert done.code == 7
    rows = sorted((row["code"], row["task"]) for row in done.json)
    assert rows == [("G024", "down"), ("G050", ""), ("G050", "down"), ("G050", "up")]


def test_an_upload_that_would_refuse_a_run_says_so(tiny: CommandLine) -> None:
    done = tiny.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=KNOT)
    assert (done.err.count("warning: "), done.err.count("[G050]"), done.err.count("[G024]")) == (4, 3, 1)
    validated = tiny("graph", "validate", "--env", 1, "-f", "json")
    assert validated.code == 7
    assert {"G024", "G050"} <= {row["code"] for row in validated.json}


def test_a_cycle_is_found_before_a_release_has_an_environment(fuel2: CommandLine) -> None:
    fuel2.ok("release", "import", "-", stdin=RELEASE)
    ring = "".join(
        f"- {{id: {task}, type: shell, version: 2.0.0, roles: [compute], requires: [{other}],"
        " parameters: {cmd: x, timeout: 1}}\n"
        for task, other in (("one", "two"), ("two", "one"))
    )
    upload = ("graph", "upload", "--release", 1, "--type", "default", "--file", "-")
    before = fuel2.ok(*upload, stdin=ring).err
    assert "G050" in before
    assert "one" in before
    assert "two" in before
    fuel2.ok("env", "create", "prod", "--release", 1)
    after = fuel2.ok(*upload, "--yes", stdin=ring).err
    assert [line for line in after.splitlines() if "G050" in line] == [
        line for line in before.splitlines() if "G050" in line
    ]
    assert "G050" not in fuel2.ok(*upload, "--yes", stdin=ring.replace("requires: [two]", "requires: []")).err


def test_an_upload_to_a_release_says_where_it_closes_a_cycle(tiny: CommandLine) -> None:
    knot = KNOT.replace("$.foo(", "$.foo")
    done = tiny.ok("graph", "upload", "--release", 1, "--type", "default", "--file", "-", stdin=knot)
    assert done.err.count("[G050]") == 3
