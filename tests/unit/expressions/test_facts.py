"""Facts: unions that copy nothing, what is old for whom, and what is computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from refusals import refused

from fuelclient.errors import InvalidDocument
from fuelclient.expressions.facts import Facts, Past, Reads, Union, View, Views
from fuelclient.expressions.yaql_engine import Yaql, parse
from fuelclient.model.run import uid_of

FACTS = Facts(
    {"a": {"x": 1, "y": {"z": 1}}, "list": [1, 2], "both": 1, "plain": {"deep": {"er": True}}},
    {"1": {"a": {"x": 2, "y": {"w": 3}}, "list": [9], "own": "one"}, "2": {"both": {"k": 1}}, "null": {}},
)


def read(look: Callable[[View], Any], node: int | None = 1) -> tuple[Any, bool]:
    """What a look at a view gives, and whether it read anything of the node."""
    views = Views(FACTS)
    found = look(views.at("t", node))
    return found, views.reads.node


@pytest.mark.parametrize(
    ("look", "expected"),
    [
        (lambda view: view.new["plain"]["deep"], ({"er": True}, False)),
        (lambda view: view.new.get("missing"), (None, False)),
        (lambda view: "missing" in view.new, (False, False)),
        (lambda view: "a" in view.new, (True, False)),
        (lambda view: view.new["a"]["x"], (2, True)),
        (lambda view: view.new["a"]["y"].get("q"), (None, False)),
        (lambda view: view.new["a"]["y"]["z"], (1, False)),
        (lambda view: view.new["a"]["y"]["w"], (3, True)),
        (lambda view: view.new["list"], ([9], True)),
        (lambda view: view.new["own"], ("one", True)),
        (lambda view: "own" in view.new, (True, True)),
        (lambda view: view.new["both"], (1, True)),
        (lambda view: list(view.new), (["a", "list", "both", "plain", "own"], True)),
        (lambda view: len(view.new), (5, True)),
        (lambda view: view.node.get("own"), ("one", True)),
        (lambda view: view.node.get("plain"), (None, False)),
        (lambda view: view.common["both"], (1, False)),
        (lambda view: view.new["a"] == {"x": 2, "y": {"z": 1, "w": 3}}, (True, True)),
    ],
)
def test_a_view_remembers_whether_nodes_could_differ(look: Callable[[View], Any], expected: tuple[Any, bool]) -> None:
    assert read(look) == expected


def test_a_key_that_only_other_nodes_have_is_a_read() -> None:
    assert read(lambda view: view.new.get("own"), node=2) == (None, True)
    assert read(lambda view: "own" in view.new, node=None) == (False, True)


def test_mapping_of_another_type_on_one_node_differs() -> None:
    assert read(lambda view: view.new["both"]["k"], node=2) == (1, True)


def test_views_show_no_values() -> None:
    """Libraries put what they got into their messages, and facts hold passwords."""
    assert repr(Views(FACTS).at("t", 1).new) == "<facts>"


def test_views_equal_mappings_and_are_no_keys() -> None:
    reads = Reads()
    union = Union({"a": {"b": 1}}, {"a": {"c": 2}}, None, reads)
    assert union == Union({"a": {"b": 1}}, {"a": {"c": 2}}, None, reads)
    assert union == Union({"a": {"b": 1, "c": 2}}, {}, None, reads)
    assert union != Union({"a": {"b": 1}}, {}, None, reads)
    assert union != [1]
    with pytest.raises(TypeError):
        hash(union)


@pytest.mark.parametrize(("common", "nodes"), [([], {}), ({}, {"1": []}), ({}, {"1": None})])
def test_facts_are_mappings(common: Any, nodes: Any) -> None:
    with refused(InvalidDocument, "mapping"):
        Facts(common, nodes)


@pytest.mark.parametrize(
    ("task", "node", "old"),
    [
        ("t", 1, {"c": 0, "u": "then"}),  # its last success
        ("t", 2, {}),  # never ran there
        ("other", 1, {}),  # another task's success counts for nothing
        ("t", 3, {}),  # nothing was known of the node then
        ("t", 4, {}),  # the node is deployed anew
        ("t", None, {}),  # the parts of sync points are empty
    ],
)
def test_old_facts_are_those_of_the_last_success_here(task: str, node: int | None, old: dict[str, Any]) -> None:
    then = Facts({"c": 0}, {"1": {"u": "then"}, "2": {"u": "x"}, "3": {}, "4": {"u": "y"}, "null": {}})
    last = {("t", uid): "tx" for uid in ("1", "3", "4", "null")}
    views = Views(Facts({"c": 1}, {}), Past({"tx": then}, last, forgotten={"4"}))

    assert dict(views.at(task, node).old) == old
    assert dict(views.at(task, node).new) == {"c": 1}


def test_moments_do_not_mix() -> None:
    """Two tasks that last succeeded in different runs compare with different facts."""
    now = Facts({"c": 1}, {"1": {"u": 1}})
    past = Past(
        {"a": Facts({"c": 1}, {"1": {"u": 1}}), "b": Facts({"c": 0}, {"1": {"u": 1}})},
        {("s", "1"): "a", ("t", "1"): "b"},
    )
    views = Views(now, past)
    changed = parse("changed($.c)")

    assert [changed.value(views.at(task, 1)) for task in ("s", "t", "s", "new")] == [False, True, False, True]


def test_what_reads_no_node_is_computed_once() -> None:
    views, calls = Views(FACTS), []

    def common(view: View) -> Any:
        calls.append("common")
        return view.new["plain"]

    def own(view: View) -> Any:
        calls.append("own")
        return view.once("inner", lambda: view.new["own" if view.uid == "1" else "list"])

    for node in (1, 1, 2, 1):
        view = views.at("t", node)
        view.once("common", lambda view=view: common(view))  # type: ignore[misc]
        view.once("own", lambda view=view: own(view))  # type: ignore[misc]

    assert calls == ["common", "own", "own"]  # the value for node 1 is kept


@pytest.mark.parametrize(
    "text",
    ["$.roles", "$.roles.any($ = 'a')", "$.get(flag, 0)", "switch($.flag => 1, true => 2)", "str($.get(zero, 0))"],
)
def test_nodes_on_which_all_that_is_read_is_alike_share_a_value(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes: dict[str, dict[str, Any]] = {
        str(uid): {"uid": str(uid), "roles": ["a", "b"][: 1 + uid % 2]} for uid in range(20)
    }
    nodes["0"]["flag"], nodes["1"]["flag"], nodes["2"]["flag"] = 1, True, False
    nodes["3"]["zero"], nodes["4"]["zero"] = 0.0, -0.0
    facts = Facts({"flag": 0}, nodes)
    parsed = parse(text)
    plain = [parsed.value(Views(facts, memoise=False).at("t", uid)) for uid in range(20)]
    computed: list[str] = []
    value_of = Yaql._value

    def counted(parsed: Yaql, view: View) -> Any:
        computed.append(view.uid)
        return value_of(parsed, view)

    monkeypatch.setattr(Yaql, "_value", counted)

    views = Views(facts)
    found = [parsed.value(views.at("t", uid)) for uid in range(20)]

    assert [(type(one), one) for one in found] == [(type(one), one) for one in plain]
    assert len(computed) <= 4


def test_what_differs_on_every_node_is_not_kept_for_all() -> None:
    nodes = {str(uid): {"uid": str(uid)} for uid in range(200)}
    views = Views(Facts({}, nodes))
    assert [parse("$.uid").value(views.at("t", uid)) for uid in range(200)] == list(nodes)
    assert not any(alike.is_worth_it or alike._values for alike in views.alike.values())


def test_a_kept_value_of_one_node_is_still_a_read() -> None:
    """The outer computation must not pass for one that reads nothing of the node."""
    views = Views(FACTS)
    view = views.at("t", 1)
    view.once("inner", lambda: view.new["own"])
    view.once("outer", lambda: view.once("inner", lambda: view.new["own"]))

    assert {key[0] for key in views.own if isinstance(key, tuple)} == {"inner", "outer"}
    assert not views.shared


def test_what_fails_is_computed_again() -> None:
    view, calls = Views(FACTS).at("t", 1), []

    def fail() -> Any:
        calls.append(1)
        raise KeyError("x")

    for _ in range(2):
        with pytest.raises(KeyError):
            view.once("key", fail)
    assert len(calls) == 2


def test_newtons_expressions_are_evaluated_once_for_all_nodes() -> None:
    nodes = {str(uid): {"uid": str(uid), "scheme": {"ip": uid}} for uid in range(1, 6)}
    metadata = {"nodes": {f"node-{uid}": {"uid": uid} for uid in nodes}}
    views = Views(Facts({"network_metadata": metadata, "debug": True}, nodes))
    for uid in range(1, 6):
        for text in ("changed($.network_metadata)", "$.debug and $.network_metadata.nodes.values().uid.len() > 1"):
            assert parse(text).value(views.at("t", uid)) is True
            assert not views.own
        assert parse("$.uid in added($.network_metadata.nodes.values()).uid").value(views.at("t", uid)) is True
        assert views.own


def test_uids() -> None:
    assert [uid_of(node) for node in (7, "master", None)] == ["7", "master", "null"]
