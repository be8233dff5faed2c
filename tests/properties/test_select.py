"""Laws of selection: a subgraph is what a reader would collect by hand, and what is left out changes no order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from building import fleet
from building import snapshot as taken
from hypothesis import assume, given
from hypothesis import strategies as st
from properties.strategies import IDS, OWNERS, fleets, graphs

from fuelclient.errors import InvalidGraph
from fuelclient.expressions.evaluation import Expressions
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.graph import Layer, MergedTask
from fuelclient.model.node import Node
from fuelclient.model.run import RunRequest
from fuelclient.model.task import TaskType
from fuelclient.plan.expand import Expansion, expand
from fuelclient.plan.plan import Plan, plan
from fuelclient.plan.select import Boundary, Subgraph, instances_inside, subgraph_from
from fuelclient.plan.work import InstanceKind

boundaries = st.none() | st.sampled_from(IDS).map(Boundary)
subgraphs = st.builds(Subgraph, boundaries, boundaries).filter(lambda one: bool(one.start or one.end))


def closure(edges: Iterable[tuple[int, int]], start: set[int]) -> set[int]:
    """Everything that edges lead to, looked for again and again."""
    result, known = set(start), -1
    pairs = list(edges)
    while known != len(result):
        known = len(result)
        result |= {after for before, after in pairs if before in result}
    return result


def by_hand(expansion: Expansion, one: Subgraph) -> set[int]:
    pairs = expansion.edges.pairs()
    everything = set(range(expansion.size))

    def of(boundary: Boundary) -> set[int]:
        return {v for v in everything if expansion.tasks[expansion.task_of[v]].id == boundary.task}

    after = closure(pairs, of(one.start)) if one.start else everything
    before = closure([(b, a) for a, b in pairs], of(one.end)) if one.end else everything
    return after & before


@given(graphs(), fleets, st.lists(subgraphs, min_size=1, max_size=3))
def test_subgraph_follows_its_start_and_precedes_its_end(
    tasks: list[MergedTask], nodes: dict[int, list[str]], wanted: list[Subgraph]
) -> None:
    expansion = expand(tasks, fleet(nodes))

    assert instances_inside(expansion, wanted) == set().union(*(by_hand(expansion, one) for one in wanted))


names = st.text("abcxyz-_.#0123456789:/", min_size=1, max_size=8)
uids = st.lists(st.integers(0, 99) | st.just("master"), max_size=3, unique=True).map(tuple)


@given(st.dictionaries(st.sampled_from(["start", "end"]), st.tuples(names, uids), min_size=1), st.sets(names))
def test_written_values_are_read_back_unless_ambiguous(
    ends: dict[str, tuple[str, tuple[int | str, ...]]], others: set[str]
) -> None:
    """Ids may hold colons and slashes: then a text may mean two things, but never one that nobody wrote."""
    wanted = Subgraph(*(Boundary(*ends[end]) if end in ends else None for end in ("start", "end")))
    text = ":".join(str(end or "") for end in (wanted.start, wanted.end))
    known = others | {one.task for one in (wanted.start, wanted.end) if one}

    result = subgraph_from(text, known)

    assert ":".join(str(end or "") for end in (result.start, result.end)) in (text, f"{text}:")
    if not any(mark in name for name in known for mark in ":/"):
        assert result == wanted


def plans(tasks: list[MergedTask], nodes: dict[int, list[str]], **options: tuple[str, ...]) -> Iterator[Plan]:
    """The plan of everything, and the one of a part."""
    members = [Node(uid, f"n{uid}", 1, roles=tuple(tags), executor="local") for uid, tags in nodes.items()]
    snapshot = taken([Layer(OWNERS[0], tuple(task.task for task in tasks))], members)
    parts: dict[str, dict[str, object]] = {uid: {} for uid in (*map(str, nodes), "master", "null")}
    for chosen in ({}, options):
        yield plan(snapshot, RunRequest(1, **chosen), Expressions(DeploymentFacts({}, parts)))  # type: ignore[arg-type]  # only tuples are given


@given(graphs(), fleets, st.sets(st.sampled_from(IDS), min_size=1))
def test_what_is_left_out_stays_in_its_place(
    tasks: list[MergedTask], nodes: dict[int, list[str]], chosen: set[str]
) -> None:
    try:
        whole, part = plans(tasks, nodes, task_names=tuple(sorted(chosen)))
    except InvalidGraph:
        assume(False)

    assert part.order == whole.order
    assert part.work.successors == whole.work.successors
    for vertex in range(whole.work.size):
        kept = part.at(vertex)[0].id in chosen or whole.work.kinds[vertex] is not InstanceKind.REAL
        assert part.work.kinds[vertex] is (whole.work.kinds[vertex] if kept else InstanceKind.SKIP)
        assert (vertex in part.rendered) == (part.work.kinds[vertex] is InstanceKind.REAL)
    assert all(part.at(v)[0].task.type != TaskType.GROUP for v in range(part.work.size))
