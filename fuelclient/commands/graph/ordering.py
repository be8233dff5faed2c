"""Questions about the order of tasks: `graph why`, `graph impact`, `graph order` and the figures of `graph stats`."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from fuelclient.commands.arguments import option
from fuelclient.commands.fitting import Columns, align
from fuelclient.commands.formatters import some
from fuelclient.commands.graph.question import Answer, OrderQuestion, where
from fuelclient.commands.shell import count
from fuelclient.errors import UsageError

if TYPE_CHECKING:
    from fuelclient.insight.relation import Paths, Position, Relation, Step
    from fuelclient.insight.stats import Impact, Stats
    from fuelclient.plan.expand import Expansion
    from fuelclient.plan.study import Study

_MAX_NAMES = 8
"""The number of names of a list that text shows."""


class GraphWhy(OrderQuestion):
    """Show why one task runs before another, or that they have no order

    The answer is the shortest chain of dependencies between the two, with the statement that makes each edge: its task,
    attribute, layer, file and line. Every path passes the tasks marked with *. The paths are counted. The answer also
    names the smallest set of edges whose removal would end the order: those are what to change. Tasks of one stage are
    ordered by the number after its name, then by the name of the plugin, then by their order in the file; the answer
    says which of these decides.

    The order on one node is shown. If no node has both tasks, or they have no order on any node, the order between
    nodes is shown. If no nodes have such an order, the answer names the nearest tasks that precede and follow both,
    and what would order the two.

      fuel2 graph why keystone globals --env 1
      fuel2 graph why keystone globals --env 1 --assume controller=3,compute=8 -f json
    """

    arguments = (
        option("first", metavar="A", help="id of a task"),
        option("second", metavar="B", help="id of a task"),
        *OrderQuestion.arguments,
    )

    def answer(self, parsed_args: argparse.Namespace) -> Answer:
        from fuelclient.insight.relation import relation
        from fuelclient.plan.study import indices_of

        if parsed_args.first == parsed_args.second:
            raise UsageError("A and B are the same task.", hint="Name two tasks.")
        study = self.study_unordered(parsed_args)
        first, second = (indices_of(study.merged, name) for name in (parsed_args.first, parsed_args.second))
        found = relation(study.expansion, first, second)
        return Answer(_lines(study.expansion, found), found)


def _lines(expansion: Expansion, relation: Relation) -> Iterator[str]:
    before, after = relation.before, relation.after
    if relation.because == "nowhere":
        placed = {expansion.tasks[index].id for index in set(expansion.task_of)}
        nowhere = [name for name in (before, after) if name not in placed]
        yield f"{' and '.join(nowhere)} {'runs' if len(nowhere) == 1 else 'run'} on no node, so there is no order."
    elif relation.paths is None:
        yield from _unordered_lines(relation)
    else:
        nodes = _nodes_text(relation.chain, same_node=relation.same_node)
        yield f"{after} runs after {before}{nodes}{_tie(expansion, relation)}."
        yield from _chain_lines(relation.chain, relation.paths)
        yield from _path_lines(relation.paths)


def _nodes_text(steps: Sequence[Step], *, same_node: bool) -> str:
    start, end = (name.rpartition("@")[2] if "@" in name else "" for name in (steps[0].before, steps[-1].after))
    if same_node:
        node = start or end
        return f", here on node {node}" if node else ""
    return f", here from node {start} to node {end}"


def _tie(expansion: Expansion, relation: Relation) -> str:
    """The rule of stages that orders two tasks; empty if a dependency does."""
    from fuelclient.graph.stage import author, parse_stage

    tasks = [expansion.tasks[index] for index in (relation.chain[0].before_task, relation.chain[-1].after_task)]
    low, high = (parse_stage(task.task.stage) for task in tasks)
    first, second = (author(task).label for task in tasks)
    if relation.because == "dependency":
        return ""
    if relation.because == "priority":
        return f": both are in stage {low.name}, and {low.priority:g} is less than {high.priority:g}"
    same = f": both are in stage {low.name} with priority {low.priority:g}, a tie that "
    if relation.because == "file":
        return f"{same}their order in {first} breaks"
    rule = "the names of the plugins break" if relation.because == "plugin" else "their layers break"
    return f"{same}{rule}: {first} before {second}. Different priorities would make it certain"


def _chain_lines(steps: Sequence[Step], paths: Paths) -> Iterator[str]:
    """Yield the instances of a chain, each followed by the statements that make its edge to the next instance."""
    statements = [each for step in steps for each in step.statements]
    lines = iter(align([(str(each), each.place.layer, where(each.place)) for each in statements], "      "))
    yield f"  {steps[0].before}"
    for step in steps:
        yield from itertools.islice(lines, len(step.statements))
        name = step.after.rpartition("@")[0] or step.after
        yield f"  {step.after}{' *' if name in paths.waypoints else ''}"


def _path_lines(paths: Paths) -> Iterator[str]:
    through = f"through {count(paths.tasks, 'task')} and {count(paths.edges, 'edge')}"
    if paths.count is None:
        yield f"Paths lead {through}. They are not counted, since tasks of several nodes wait for each other."
    else:
        yield f"{count(paths.count, 'path')} {through}."
    if paths.waypoints:
        yield f"Every path passes: {', '.join(paths.waypoints)}."
    if paths.minimum_cut is None:
        yield "To remove the order takes very many edges."
        return
    edges = some(paths.minimum_cut, _MAX_NAMES)
    these = "this edge" if len(paths.minimum_cut) == 1 else f"these {len(paths.minimum_cut)} edges"
    yield f"Without {these} the order is gone: {edges}."


def _unordered_lines(relation: Relation) -> Iterator[str]:
    before, after = relation.before, relation.after
    note = "" if relation.same_node else " No node has both."
    yield f"{before} and {after} have no order: they may run at the same time.{note}"
    for word, common in (("precede", relation.preceding), ("follow", relation.following)):
        nearest = f"; the nearest: {some(common.nearest, _MAX_NAMES)}" if common.count else ""
        yield f"{count(common.count, 'task')} {word}{'s' if common.count == 1 else ''} both{nearest}."
    added = f"{before} to the requires" if relation.same_node else f"{{name: {before}}} to the cross_depends"
    yield f"To run {after} after {before}, add {added} of {after}; that closes no cycle."


class GraphImpact(OrderQuestion):
    """Show which tasks run after a task, and so wait for it

    Each row is a task that waits for TASK, directly or indirectly, on at least one node. It shows the fewest edges
    between the two, how many instances wait, and whether every path to the task leads through TASK. If TASK fails on
    all its nodes, these instances do not run; 'fuel2 graph simulate --fail TASK/NODE' shows one failure with fault
    tolerance.

      fuel2 graph impact netconfig --env 1
      fuel2 graph impact netconfig --env 1 -f json
    """

    arguments = (option("task", metavar="TASK", help="id of the task"), *OrderQuestion.arguments)

    def answer(self, parsed_args: argparse.Namespace) -> Answer:
        from fuelclient.insight.stats import impact
        from fuelclient.plan.study import indices_of

        study = self.study_unordered(parsed_args)
        found = impact(study.expansion, indices_of(study.merged, parsed_args.task))
        return Answer(_impact_lines(found), found)


def _impact_lines(impact: Impact) -> Iterator[str | Columns]:
    share = round(100 * len(impact.waiting) / max(impact.tasks, 1))
    yield (
        f"{count(len(impact.waiting), 'task')} of {impact.tasks} ({share} %), with "
        f"{count(impact.waiting_instances, 'instance')} of {impact.instances}, wait for {impact.task}."
    )
    if impact.waiting:
        only = sum(each.only_through for each in impact.waiting)
        alone = {0: "None of them waits", 1: "1 of them waits"}.get(only, f"{only} of them wait")
        yield f"{alone} for {impact.task} alone" + (": there is no way around it." if only else ".")
        header = ("edges", "task", "instances", "only through it", "layer")
        rows = [
            (str(each.distance), each.task, str(each.instances), "yes" * each.only_through, each.layer.label)
            for each in impact.waiting
        ]
        yield Columns(header, rows, ("task", "edges", "instances"), "  ")


class GraphOrder(OrderQuestion):
    """Show all tasks in order, each with the reason for its position

    The order is that of a preview. The reason for a task's position is the last of its direct predecessors, with the
    statement that makes it one. Among the tasks of one stage, the reason is the rule that decides: the number after the
    stage, the name of the plugin, or the order in the file. Tasks of one generation may run at the same time; their
    order in the list is that of the merge.

      fuel2 graph order --env 1
      fuel2 graph order --env 1 --type default -f json
    """

    def answer(self, parsed_args: argparse.Namespace) -> Answer:
        from fuelclient.insight.relation import positions

        study = self.study(parsed_args)
        order = list(positions(study))
        header = ("#", "gen", "stage", "task", "layer", "because", "where")
        rows: list[tuple[str, ...]] = []
        for row, position in zip(study.rows, order, strict=True):
            place, because = "".join(where(each.place) for each in position.statements[:1]), _because(study, position)
            rows.append((str(row.order), row.generations, position.stage or "", row.task, row.layer, because, place))
        return Answer([Columns(header, rows, ("#", "task", "because", "layer"))], {"order": order})


def _because(study: Study, position: Position) -> str:
    from fuelclient.graph.stage import parse_stage

    because, after = str(position.because), position.after
    if because == "priority":
        before = next(task for task in study.merged.tasks if task.id == after)
        own = parse_stage(study.merged.tasks[position.index].task.stage).priority
        return f"priority {own:g} > {parse_stage(before.task.stage).priority:g}"
    if because in ("plugin", "file", "level"):
        rule = {"plugin": "the plugin's name", "file": "the order in the file", "level": "the layer"}[because]
        return f"same priority as {after}; {rule} decides"
    if because == "dependency":
        statement, more = position.statements[0], len(position.statements) - 1
        return f"{statement}{f' (and {more} more)' if more else ''}"
    return {
        "nothing": "nothing precedes it", "nowhere": "it runs on no node", "computed": f"computed: after {after}",
        "stage": f"stage: after {after}",
    }[because]  # fmt: skip


class GraphStats(OrderQuestion):
    """Show the figures of a graph: its size, depth and width, who changes it, what most tasks wait for

    The longest chain is one with the most task instances: it bounds how fast a run can be, whatever the number of
    nodes. The widest generation says how many instances can run at the same time.

      fuel2 graph stats --env 1
      fuel2 graph stats --env 1 --assume controller=3,compute=100 -f json
    """

    def answer(self, parsed_args: argparse.Namespace) -> Answer:
        from fuelclient.insight.stats import stats

        figures = stats(self.study(parsed_args))
        return Answer(align(_figure_rows(figures)), figures)


def _figure_rows(figures: Stats) -> Iterator[tuple[str, str]]:
    yield "tasks", f"{figures.tasks}; {figures.placed} run on a node, {figures.changed} override others"
    yield "by type", _counts(figures.types)
    yield "by layer", _counts(figures.layers)
    yield "instances", f"{figures.instances} on {figures.nodes} nodes"
    yield "edges", f"{figures.edges} between tasks"
    widest = figures.widest
    yield "generations", f"{figures.generations}; the widest is {widest.generation} with {widest.instances} instances"
    yield "longest chain", f"{count(len(figures.longest), 'instance')}: {' -> '.join(figures.longest)}"
    yield "most predecessors", _counts({entry.task: entry.count for entry in figures.most_before})
    yield "most successors", _counts({entry.task: entry.count for entry in figures.most_after})
    yield "findings", _counts(figures.findings) or "none"


def _counts(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counted.items())
