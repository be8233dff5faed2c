"""Laws: what is written is read back as it was, for tasks with any keys and for any data at all."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fuelclient import files
from fuelclient.files import json_text
from fuelclient.files.yaml_text import parse
from fuelclient.model.graph import METADATA
from fuelclient.model.task import KNOWN, NAME_LISTS, RELATION_LISTS, TaskType
from fuelclient.serializers.graph import document_from, layer_to
from fuelclient.serializers.task import task_from, task_to
from fuelclient.serializers.values import rebased

SPELLINGS = {
    "id": "task_name",
    "roles": "role",
    "cross_depends": "cross-depends",
    "cross_depended_by": "cross-depended-by",
}

_nasty = st.sampled_from(
    ["", " ", "yes", "no", "on", "null", "~", "1", "1.0", "0x1f", "1e3", "1:30", "2001-01-01", "=", "<<", "*", "&a",
     "!x", "a: b", "- a", "# c", "a #b", "|", ">", "%a", "@a", "`a", "{", "[", "'", '"', "\\", "\n", "a\n", "\na",
     " a\n b\n", "a\n\n", "\t", "a\tb\n", "\r", "\r\n", "\x85", "\u2028", "\ufeff",
     "\x00", "\x7f", "é", "\U0001f600", "_custom "]
)  # fmt: skip
texts = st.one_of(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), _nasty)
names = texts.filter(str.strip)
scalars = st.one_of(texts, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False))
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=12
)
yaql = st.builds(lambda text: {"yaql_exp": text}, texts)
relations = st.lists(
    st.one_of(
        yaql,
        st.fixed_dictionaries(
            {"name": names | yaql},
            optional={
                "role": st.one_of(st.none(), texts, st.lists(texts, max_size=2), yaql),
                "policy": st.sampled_from(["all", "any"]),
                "x": values,
            },
        ),
    ),
    max_size=3,
)
custom_keys = texts.filter(
    lambda key: key not in (*KNOWN, *SPELLINGS.values(), "_custom", *NAME_LISTS, *RELATION_LISTS)
)


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    """A record as a master or an author could write it: canonical names and lists, in any order."""
    record: dict[str, Any] = {"id": draw(names)}
    choices: dict[str, st.SearchStrategy[Any]] = {
        "type": st.sampled_from([str(word) for word in TaskType]),
        "version": st.sampled_from(["1.0.0", "2.2.0"]),
        "condition": st.one_of(texts, st.booleans(), yaql),
        "parameters": st.dictionaries(texts.filter(lambda key: key != "strategy"), values, max_size=3),
        **{key: st.lists(texts, max_size=3) for key in NAME_LISTS},
        "requires": st.one_of(yaql, st.lists(texts | yaql, max_size=3)),
        **dict.fromkeys(RELATION_LISTS, relations | yaql),
    }
    for key in draw(st.lists(st.sampled_from(sorted(choices)), unique=True, max_size=6)):
        record[key] = draw(choices[key])
    record.update(draw(st.dictionaries(custom_keys, values, max_size=3)))
    return dict(draw(st.permutations(list(record.items()))))


def _read(record: Any) -> Any:
    task, findings = task_from(record, file="", owner_label="release", position=1)
    assert findings == []
    assert task is not None
    return task


def _pairs(data: Any) -> str:
    """`data` as a text that tells the order of keys, and 1 from true and 1.0."""
    return json.dumps(data)


def _canonical(record: dict[str, Any]) -> dict[str, Any]:
    written = {"cross_depends": "cross-depends", "cross_depended_by": "cross-depended-by"}
    items = {written.get(key, key): value for key, value in record.items() if key != "id"}
    return {"id": record["id"], **items}


@given(records())
def test_a_task_is_written_as_it_was_stated(record: dict[str, Any]) -> None:
    assert _pairs(task_to(_read(record))) == _pairs(_canonical(record))


@given(records(), st.data())
def test_spellings_and_lone_names_do_not_matter(record: dict[str, Any], data: st.DataObject) -> None:
    respelled: dict[str, Any] = {}
    for key, value in record.items():
        lone = key in NAME_LISTS and isinstance(value, list) and len(value) == 1 and isinstance(value[0], str)
        shown = value[0] if lone and data.draw(st.booleans()) else value
        both = data.draw(st.sampled_from(["old", "new", "both"])) if key in SPELLINGS else "new"
        if both != "new":
            respelled[SPELLINGS[key]] = shown
        if both != "old":
            respelled[key] = value
    assert _pairs(task_to(_read(respelled))) == _pairs(_canonical(record))


@given(records())
def test_reading_what_was_written_changes_nothing(record: dict[str, Any]) -> None:
    task = _read(record)
    again = _read(task_to(task))
    assert (again.id, _pairs(again.attributes)) == (task.id, _pairs(task.attributes))


@given(values)
def test_documents_survive_yaml_and_json(data: Any) -> None:
    assert _pairs(parse(files.dumps(data, "yaml"), "f").data) == _pairs(data)
    assert _pairs(json_text.parse(files.dumps(data, "json"), "f").data) == _pairs(data)


about = st.fixed_dictionaries(
    {},
    optional={
        "node_filter": texts,
        **{key: st.dictionaries(custom_keys, values, max_size=2) for key in METADATA if key != "node_filter"},
    },
)


@given(st.lists(records(), max_size=4), st.none() | texts, about, st.sampled_from(["yaml", "json"]))
def test_upload_then_download_is_an_identity(
    stated: list[dict[str, Any]], name: str | None, metadata: dict[str, Any], fmt: str
) -> None:
    tasks = [_read(record) for record in stated]
    text = files.dumps(layer_to(tasks, name=name, metadata=metadata), fmt)
    document = json_text.parse(text, "f") if fmt == "json" else parse(text, "f")
    graph = document_from(document, owner_label="cluster")
    assert graph.findings == ()
    assert (graph.name, _pairs(graph.metadata)) == (name, _pairs(metadata))
    assert [_pairs(task_to(task)) for task in graph.tasks] == [_pairs(task_to(task)) for task in tasks]
    assert files.dumps(layer_to(graph.tasks, name=graph.name, metadata=graph.metadata), fmt) == text


@given(values)
def test_no_value_makes_the_reader_raise(value: Any) -> None:
    task, findings = task_from(value, file="f", owner_label="release", position=1)
    assert (task is None) == bool(findings)
    keys = (*KNOWN, *SPELLINGS.values(), "_custom")
    for key in keys:
        task, findings = task_from({"id": "a", "type": "shell", key: value}, file="f", owner_label="r", position=1)
        assert (task is None) == bool(findings)


few = st.sampled_from("abc")
members = st.lists(st.dictionaries(st.sampled_from(["uid", "name", "x"]), few, max_size=3), max_size=3)
documents = st.recursive(
    st.one_of(few, st.none(), st.integers(0, 2), members),
    lambda inner: st.dictionaries(few, inner, max_size=3) | st.lists(inner, max_size=2),
    max_leaves=8,
)


@given(documents, documents, documents)
def test_what_changed_is_carried_over_and_nothing_else(stated: Any, before: Any, now: Any) -> None:
    assert json.dumps(rebased(stated, before, before)) == json.dumps(stated)
    assert rebased(before, before, now) == now
    assert rebased(now, before, now) == now


@given(st.dictionaries(few, documents), documents, documents)
def test_only_what_changed_is_carried_over(both: dict[str, Any], before: Any, now: Any) -> None:
    """Beside names that did not change, the order and the values of which are their own."""
    stated = {name.upper(): value for name, value in both.items()}
    found = rebased({**stated, "d": before}, {**both, "d": before}, {**both, "d": now})
    assert list(found.items()) == [*stated.items(), ("d", now)]
