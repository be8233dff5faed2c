"""Parameters that a check finds impossible are those that a run refuses; what is computed is left to the run."""

from __future__ import annotations

from typing import Any

import pytest
from executor_bench import job_of
from hypothesis import given
from hypothesis import strategies as st

from fuelclient.executors.executor import MachineExecutor
from fuelclient.executors.transport import Options
from fuelclient.graph.parameters import SHAPES, names_of, parameter_problems

ANY: st.SearchStrategy[Any] = st.sampled_from(
    [None, "", "x", "/x", "/", "a\nb", "\0", "rsync://a/b", "http://a", "0644", 0o600, "rw", True, "perhaps", -1, "7.5",
     [], {}, [1], {"a": 1}, 1e400]
)  # fmt: skip
FILE: st.SearchStrategy[Any] = st.dictionaries(
    st.sampled_from(["src", "dst", "data", "permissions", "dir_permissions", "source", "mode"]), ANY, max_size=6
)
FILES: st.SearchStrategy[Any] = st.one_of(ANY, st.lists(FILE, max_size=3))
NODES: st.SearchStrategy[Any] = st.one_of(
    ANY, st.lists(st.fixed_dictionaries({"uid": st.just("1"), "files": FILES}), max_size=2)
)


@st.composite
def parameters(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A type, and parameters of its names and others; most of the values are good ones."""
    kind = draw(st.sampled_from(sorted(SHAPES)))
    good = {
        "cmd": "true", "puppet_manifest": "a.pp", "src": "/a", "dst": "/b", "path": "/c", "data": "d",
        "files": [{"src": "/a", "dst": "/b", "data": "c"}],
        "nodes": [{"uid": "1", "files": [{"dst": "/b", "data": ""}]}],
    }  # fmt: skip
    names = [name for name in (*names_of(kind), "command", "manifest") if name != "strategy"]
    stated = {name: value for name, value in good.items() if name in SHAPES[kind]}
    for name in draw(st.lists(st.sampled_from(names), max_size=3)):
        stated[name] = draw(FILES if name == "files" else NODES if name == "nodes" else ANY)
    for name in draw(st.sets(st.sampled_from(sorted(stated)), max_size=1)):
        del stated[name]
    return kind, stated


@given(parameters())
def test_what_is_impossible_is_what_a_run_refuses(made: tuple[str, dict[str, Any]]) -> None:
    kind, stated = made
    reason = MachineExecutor(Options("/nowhere")).check(job_of(kind, **stated))
    found = [str(problem) for _, problem in parameter_problems(kind, stated)]
    assert bool(reason) == bool(found)
    assert not reason or any(problem in reason for problem in found)


@given(parameters(), st.data())
def test_what_is_computed_is_never_impossible(made: tuple[str, dict[str, Any]], data: st.DataObject) -> None:
    kind, stated = made
    name = data.draw(st.sampled_from(sorted(names_of(kind))))
    computed = data.draw(st.sampled_from([{"yaql_exp": "$.x"}, "{CLUSTER_ID}", "/a/{SETTINGS.X}"]))
    before = {other for other, _ in parameter_problems(kind, stated)} - {name}
    assert {other for other, _ in parameter_problems(kind, {**stated, name: computed})} == before
    assert not list(parameter_problems(kind, {"yaql_exp": "$.all"}))


@pytest.mark.parametrize(
    ("kind", "stated", "said"),
    [
        ("puppet", {"puppet_manifests": "a.pp"}, "puppet_manifest is missing; there is puppet_manifests instead"),
        ("shell", {"command": "true"}, "cmd is missing; there is command instead"),
        ("upload_file", {"path": "/a", "content": "b"}, "data is missing"),
        ("sync", {"source": "/a", "dst": "/b"}, "src is missing; there is source instead"),
        ("copy_files", {"files": [{"src": "{X}", "dest": "/b"}]}, "dst is missing; there is dest instead"),
    ],
)
def test_the_nearest_stated_name_is_told(kind: str, stated: dict[str, Any], said: str) -> None:
    [(_, problem)] = parameter_problems(kind, stated)
    assert str(problem).endswith(said)
