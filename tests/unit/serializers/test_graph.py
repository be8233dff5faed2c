"""Documents to graphs, graphs to documents and to Nailgun's JSON; every graph of the corpus."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from corpus import corpus
from refusals import refused

from fuelclient import files
from fuelclient.errors import InvalidDocument
from fuelclient.files import json_text
from fuelclient.files.yaml_text import parse
from fuelclient.model.finding import Severity
from fuelclient.model.graph import Graph, GraphDocument, GraphSummary, Level, Owner
from fuelclient.model.task import NAME_LISTS, Task
from fuelclient.serializers.graph import document_from, documents_from, graph_from, graph_to, layer_to, summary_from

_SPELLING = {"role": "roles", "cross_depends": "cross-depends", "cross_depended_by": "cross-depended-by"}


def read(text: str) -> GraphDocument:
    return document_from(parse(text, "g.yaml"), owner_label="cluster")


def codes(graph: GraphDocument) -> list[tuple[str, int]]:
    return [(finding.code, finding.place.line) for finding in graph.findings]


def test_a_mapping_carries_name_and_metadata() -> None:
    graph = read("name: fix\nnode_filter: $.x\non_stop: {}\ntasks:\n- id: a\n")
    assert (graph.name, graph.metadata) == ("fix", {"node_filter": "$.x", "on_stop": {}})
    assert [task.id for task in graph.tasks] == ["a"]
    assert graph.tasks[0].source.line == 5


@pytest.mark.parametrize("text", ["", "# nothing\n", "[]", "tasks:", "tasks: []"])
def test_an_empty_graph_is_a_graph(text: str) -> None:
    assert read(text) == GraphDocument(())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello", ("G006", 1)),
        ("\n5", ("G006", 1)),
        ("id: a\ntype: shell", ("G006", 1)),
        ("name: x", ("G006", 1)),
        ("\ntasks: {a: b}", ("G006", 2)),
        ("tasks: []\nname: 5", ("G006", 2)),
        ("tasks: []\non_error: [x]", ("G006", 2)),
        ("tasks: []\non_error: {node_attributes: ready}", ("G006", 2)),
        ("tasks: []\nnode_filtre: x", ("G010", 2)),
        ("- id: a\n\n- just text\n", ("G006", 3)),
        ("- {name: a, version: b, operating_system: c}\n- {name: d, version: e, roles_metadata: {}}", ("G006", 1)),
        ("name: a\nversion: b\nroles_metadata: {}", ("G006", 1)),
    ],
)
def test_what_is_no_graph_is_an_error_at_its_line(text: str, expected: tuple[str, int]) -> None:
    assert codes(read(text)) == [expected]


def test_bad_tasks_are_left_out_and_warnings_kept() -> None:
    graph = read("- {id: a, type: shell}\n- {type: shell}\n- {id: c, id: b}\n")
    assert [task.id for task in graph.tasks] == ["a", "b"]
    assert codes(graph) == [("G008", 3), ("G002", 2)]


def test_several_documents_are_one_graph_and_positions_go_on() -> None:
    first, second = parse("- {stage: x, type: shell}\n", "1"), parse("- {stage: x/5, type: shell}\n", "2")
    about = parse("name: n\non_error: {}\n", "m")
    graph = documents_from([first, second], about, owner_label="p")
    assert [task.id for task in graph.tasks] == ["p:x#1", "p:x#2"]
    assert [task.source.file for task in graph.tasks] == ["1", "2"]
    assert (graph.name, graph.metadata) == ("n", {"on_error": {}})


def test_metadata_is_no_place_for_tasks_and_must_be_a_mapping() -> None:
    graph = documents_from([], parse("tasks: []\nname: x\n", "m"), owner_label="p")
    assert codes(graph) == [("G010", 1)]
    assert codes(documents_from([], parse("- a\n", "m"), owner_label="p")) == [("G006", 1)]
    assert documents_from([], parse("", "m"), owner_label="p") == GraphDocument(())


def test_what_a_download_writes_is_read_back_as_the_same_graph() -> None:
    graph = read("name: n\non_error: {}\ntasks:\n- {id: a, type: shell}\n- {stage: x/1, type: shell}\n")
    written = layer_to(graph.tasks, label="cluster", name=graph.name, metadata=graph.metadata)
    assert written == {
        "name": "n",
        "on_error": {},
        "tasks": [{"id": "a", "type": "shell"}, {"stage": "x/1", "type": "shell"}],
    }
    again = read(files.dumps(written, "yaml"))
    assert (again.name, again.metadata) == (graph.name, graph.metadata)
    assert [task.id for task in again.tasks] == ["a", "cluster:x#2"]
    assert layer_to(graph.tasks[:1]) == [{"id": "a", "type": "shell"}]


def test_old_tasks_stay_such_through_a_download_of_a_merge() -> None:
    """Also those with an id of their own, and those with relations, which have no effect in them."""
    staged = {"type": "shell", "roles": ["x"], "stage": "pre_deployment/5"}
    old = [
        Task("early", staged, legacy=True),
        Task("p:pre_deployment#2", {**staged, "requires": ["a"]}, legacy=True),
        Task("p:pre_deployment#3", staged, legacy=True),
        Task("my:pre_deployment#4", {**staged, "requires": ["a"]}),
        Task("a", {"type": "shell", "roles": ["x"]}),
    ]
    written = layer_to(old)
    assert isinstance(written, dict)
    assert written["legacy"] == ["early", "p:pre_deployment#2"]
    again = read(yaml.safe_dump(written))
    assert [(task.id, task.legacy, dict(task.attributes)) for task in again.tasks] == [
        (task.id, task.legacy, task.attributes) for task in old
    ]
    assert isinstance(layer_to(old[2:]), list)


def test_the_json_of_a_graph_reads_back() -> None:
    tasks = read("- {id: a, type: shell, role: x}\n").tasks
    graph = Graph(7, "custom", Owner(Level.PLUGIN, 3, "p", "1.0.0"), tasks, metadata={"on_stop": {}})
    assert graph_to(graph) == {
        "id": 7,
        "name": None,
        "tasks": [{"id": "a", "task_name": "a", "type": "shell", "roles": ["x"], "role": ["x"], "version": "1.0.0"}],
        "relations": [{"type": "custom", "model": "plugin", "model_id": 3}],
        "on_stop": {},
    }
    again = document_from(json_text.parse(json.dumps(graph_to(graph)), "g.json"), owner_label="cluster")
    assert (again.name, again.metadata, again.findings) == (None, {"on_stop": {}}, ())
    (task,) = again.tasks
    assert task.attributes == {**tasks[0].attributes, "version": "1.0.0"}


_RELATION = {"type": "custom", "model": "Plugin", "model_id": 3}
_RECORDS = (
    {"id": "a", "type": "shell"},
    {"task_name": "b", "type": "shell"},
    {"_custom": {"id": "c"}, "type": "shell"},
    {"stage": "post_deployment/5", "type": "shell"},
    {"id": " d ", "type": 7},
)


def test_a_summary_has_the_ids_that_the_whole_graph_has() -> None:
    answer = {"id": 7, "name": "", "tasks": list(_RECORDS[:4]), "relations": [_RELATION]}
    named = Owner(Level.PLUGIN, 3, "p", "1.0.0")
    for owner in (None, named):
        whole, summary = graph_from(answer, owner), summary_from(answer, owner)
        ids = tuple(task.id for task in whole.tasks)
        assert summary == GraphSummary(whole.id, whole.type, whole.owner, whole.name, ids)
    assert summary_from(answer, named).task_ids == ("a", "b", "c", "plugin p-1.0.0:post_deployment#4")


def test_a_summary_asks_of_a_task_for_its_id_only() -> None:
    answer = {"id": 7, "name": "x", "tasks": [_RECORDS[4]], "relations": [_RELATION]}
    assert summary_from(answer).task_ids == (" d ",)
    with refused(InvalidDocument, "type"):
        graph_from(answer)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"tasks": [{"id": "a"}, {"type": "shell"}]}, ["graph 7", "entry 2", "id"]),
        ({"tasks": [{"id": " "}]}, ["graph 7", "entry 1", "id"]),
        ({"tasks": [{"id": 5}]}, ["graph 7", "entry 1", "id", "number 5"]),
        ({"tasks": ["a"]}, ["graph 7", "entry 1", "string 'a'"]),
        ({"tasks": {"id": "a"}}, ["tasks of one graph", "mapping", "list"]),
        ({"relations": []}, ["graph 7", "owner"]),
        ({"relations": [{"type": "x", "model": "node", "model_id": 1}]}, ["graph of a 'node'"]),
        ({"name": 5}, ["name of one graph", "number 5"]),
        ({"id": None}, ["id of one graph", "whole number"]),
    ],
)
def test_what_is_no_graph_has_no_summary_either(changed: dict[str, Any], named: list[str]) -> None:
    answer = {"id": 7, "name": "x", "tasks": [], "relations": [_RELATION], **changed}
    with refused(InvalidDocument, *named):
        summary_from(answer)
    with refused(InvalidDocument, *named):
        graph_from(answer)


def _graph_files(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*.y*ml")):
        parts = path.relative_to(root).parts
        if parts[0] != "odd" and ("tasks" in path.stem or "graphs" in parts) and path.stem != "metadata":
            yield path


def _records(graph: Any) -> list[dict[str, Any]]:
    return list(graph["tasks"] if isinstance(graph, dict) else graph)


def _normal(record: dict[str, Any]) -> list[tuple[str, Any]]:
    """A record's items as the author wrote them, modulo spellings and a text for a list of one, id first."""
    items: dict[str, Any] = {"id": record["id"]} if "id" in record else {}
    for key, value in record.items():
        key_ = _SPELLING.get(key, key)
        items[key_] = [value] if key_ in NAME_LISTS and isinstance(value, str) else value
    return list(items.items())


@pytest.mark.corpus
def test_every_graph_of_the_corpus_survives_upload_and_download() -> None:
    paths = list(_graph_files(corpus()))
    assert len(paths) > 100
    for path in paths:
        graph = document_from(files.load(path), owner_label="plugin")
        assert [str(found) for found in graph.findings if found.is_error] == []
        text = files.dumps(layer_to(graph.tasks, label="plugin", name=graph.name, metadata=graph.metadata), "yaml")
        written = parse(text, str(path)).data
        original = yaml.load(path.read_text(), Loader=yaml.CSafeLoader) or []
        expected = [_normal(record) for record in _records(original)]
        assert json.dumps([list(record.items()) for record in _records(written)]) == json.dumps(expected), path


@pytest.mark.corpus
def test_the_library_is_read_whole() -> None:
    for release, count in (("9.0", 191), ("newton", 202)):
        paths = files.task_files(str(corpus("fuel-library", release, "deployment", "puppet")))
        graph = documents_from([files.load(path) for path in paths], owner_label="release")
        assert len(graph.tasks) == count
        assert all(task.source.line for task in graph.tasks)


@pytest.mark.corpus
def test_odd_files_are_read_or_refused_as_their_index_says() -> None:
    root = corpus("odd")
    seen = set()
    for entry in json.loads((root / "index.json").read_text()):
        path, seen_class = root / entry["file"], entry["class"]
        seen.add(seen_class)
        if seen_class == "yaml-error":
            with pytest.raises(InvalidDocument) as raised:
                files.load(path)
            [finding] = raised.value.findings
            assert str(finding).startswith(f"{path}:")
            continue
        document = files.load(path)
        if seen_class == "dup-keys":
            key, line = entry["finding"].removeprefix("dup-keys ").split("@")
            repeated = [finding for finding in document.findings if f"`{key}`" in finding.message]
            assert [(finding.code, finding.place.line) for finding in repeated] == [("G008", int(line))]
        if path.name.endswith("tasks.yaml"):
            graph = document_from(document, owner_label="plugin")
            errors = {(finding.code, finding.task) for finding in graph.findings if finding.severity is Severity.ERROR}
            malformed = [message.removesuffix(".cross-depends malformed") for message in entry["all_findings"]]
            expected = {("G006", task) for task in malformed} if seen_class == "malformed-cross-depends" else set()
            assert errors == expected, path
            assert all(finding.place.line for finding in graph.findings)
    assert {"yaml-error", "dup-keys", "malformed-cross-depends", "wrong-type-field", "negfloat"} <= seen
