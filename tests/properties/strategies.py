"""Strategies: small layers and graphs in which names meet often enough to matter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from fuelclient.model.graph import Layer, Level, MergedTask, Owner
from fuelclient.model.task import Source, Task

IDS = ("a", "b", "c", "d")
TAGS = ("db", "web", "primary-db")
OWNERS = (
    Owner(Level.RELEASE, 1),
    Owner(Level.PLUGIN, 3, "alfa", "1.0.0"),
    Owner(Level.PLUGIN, 2, "beta", "0.9.0"),
    Owner(Level.CLUSTER, 1),
)

scalars = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["x", "y"])
expressions = st.sampled_from([{"yaql_exp": "$.a"}, {"yaql_exp": "$.b"}])
values: st.SearchStrategy[Any] = st.recursive(
    scalars | expressions,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["k", "l", "m"]), inner, max_size=3),
    max_leaves=6,
)
bodies = st.dictionaries(st.sampled_from(["requires", "parameters", "condition", "x_note"]), values, max_size=4)
types = st.sampled_from(["puppet", "shell", ""])


def paths(value: Any, prefix: str = "") -> Iterator[str]:
    """The dotted path of every key."""
    for key, below in value.items() if isinstance(value, dict) else ():
        yield f"{prefix}{key}"
        yield from paths(below, f"{prefix}{key}.")


@st.composite
def records(draw: st.DrawFn, task_id: str, owner: Owner) -> Task:
    """A record, whole or partial (a release's is whole), written in its owner's file, each key on its own line."""
    body = draw(bodies)
    kind = draw(st.sampled_from(["puppet", "shell"]) if owner.level is Level.RELEASE else types)
    attributes = {"type": kind, **body} if kind else body
    lines = {path: 10 + position for position, path in enumerate(paths(attributes))}
    return Task(task_id, attributes, Source(f"{owner.label}.yaml", 1, lines))


@st.composite
def layers(draw: st.DrawFn, owners: tuple[Owner, ...] = OWNERS, cwd: bool = True) -> list[Layer]:
    """A layer for each of `owners`, least important first; the release's records are whole."""
    result = []
    for owner in owners:
        ids = draw(st.lists(st.sampled_from(IDS), unique=True, max_size=4))
        tasks = [draw(records(task_id, owner)) for task_id in ids]
        directory = f"/{owner.name}/" if cwd and owner.level is Level.PLUGIN else ""
        result.append(Layer(owner, tuple(tasks), cwd=directory))
    return result


names = st.sampled_from((*IDS, "s_end", "t", "/[ab]/", "/.*/", "ghost"))
name_lists = st.lists(names, max_size=2, unique=True)
role_words = st.sampled_from((*TAGS, "*", "/.*db/", "/.*/", "master", "none"))
relation_roles = st.none() | st.just("self") | role_words | st.lists(role_words, max_size=2)
relations = st.lists(
    st.builds(
        lambda name, role, policy: {"name": name, "role": role, "policy": policy},
        names,
        relation_roles,
        st.sampled_from(["all", "all", "any"]),
    ),
    max_size=2,
)
stages = st.sampled_from([None, None, "s", "s/1", "s/-2.5", "ghost"])


@st.composite
def graphs(draw: st.DrawFn) -> list[MergedTask]:
    """Merged tasks on nodes, two sync points, plugin entries in their stage, and a group. Half of the graphs have
    dependencies on earlier tasks only, so that most of these have an order."""
    forward = draw(st.booleans())
    result: list[MergedTask] = []
    for task_id in ("s_end", *IDS, "t", "g"):
        attributes: dict[str, Any] = {"type": {"s_end": "stage", "t": "stage", "g": "group"}.get(task_id, "shell")}
        attributes["roles"] = draw(st.lists(role_words, max_size=2, unique=True))
        if forward:
            earlier = st.sampled_from([task.id for task in result] or ["ghost"])
            attributes["requires"] = draw(st.lists(earlier, max_size=2))
            entry = st.fixed_dictionaries({"name": earlier, "role": relation_roles})
            attributes["cross_depends"] = draw(st.lists(entry, max_size=2))
        else:
            for attribute in ("requires", "required_for"):
                attributes[attribute] = draw(name_lists)
            for attribute in ("cross_depends", "cross_depended_by"):
                attributes[attribute] = draw(relations)
        if task_id in IDS and draw(st.booleans()):
            attributes["stage"] = draw(stages)
        if task_id == "g":
            attributes["tasks"] = draw(st.lists(st.sampled_from((*IDS, "s_end")), max_size=2, unique=True))
        result.append(MergedTask(Task(task_id, attributes), OWNERS[0]))
    return result


fleets = st.dictionaries(
    st.integers(1, 9), st.lists(st.sampled_from(TAGS), max_size=2, unique=True), min_size=1, max_size=5
)


@st.composite
def digraphs(draw: st.DrawFn, most: int = 7) -> list[list[int]]:
    """The successors of every vertex of a small graph, without edges from a vertex to itself."""
    size = draw(st.integers(1, most))
    pairs = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(lambda pair: pair[0] != pair[1])
    result: list[list[int]] = [[] for _ in range(size)]
    for before, after in draw(st.lists(pairs, max_size=2 * size, unique=True)):
        result[before].append(after)
    return result
