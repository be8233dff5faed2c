"""`graph diff`: what differs between two graphs, and what that does to the order."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from fuelclient.commands.arguments import ASSUME, ENV, EXIT_CODE, ID_NAME, option, reference, type_option
from fuelclient.commands.base import Comparing, report
from fuelclient.commands.exits import Exit
from fuelclient.commands.fitting import align
from fuelclient.commands.graph.question import FORMAT, Answer, Question, value_text, where
from fuelclient.commands.graph.sides import GRAMMAR, WHAT_IF, Side, compared, graph_option, refusals_of, sides, what_if
from fuelclient.commands.shell import LOG, count
from fuelclient.errors import UsageError

if TYPE_CHECKING:
    from fuelclient.insight.comparison import Comparison, ValueChange
    from fuelclient.model.graph import Origin
    from fuelclient.plan.expand import Expansion

_SIGNS = {"added": "+", "removed": "-", "changed": "~"}
_MAX_PAIRS = 20


class GraphDiff(Comparing, Question):
    """Compare two graphs: tasks, attributes, list elements, and the order

    GRAPH names a merged graph (env:1), one layer (cluster:1, release:2, plugin:NAME), the graph of a run (run:7) or a
    file. A type may follow, as in env:1/TYPE. With --with and --without, the second graph is that of an environment as
    it would be; without a second GRAPH, of the first one. Nothing is uploaded, installed or enabled.

    The order effect says which orderings of task instances are lost or gained. Removing an edge may have no effect,
    because a longer path keeps the order. A layer or a file is compared by itself, on the nodes of --env, or of the
    environment that the other GRAPH belongs to; its overrides have no place in the order. Passwords of runs are masked.

    Findings that only the second graph has are printed too; if a merged graph has errors among them, the exit code is
    7. With --exit-code the exit code is 10 if anything differs.

      fuel2 graph diff release:1 env:1
      fuel2 graph diff cluster:1 override.yaml --exit-code
      fuel2 graph diff env:1 --without plugin:lma_collector -f json
      fuel2 graph diff run:12 env:1
    """

    arguments = (
        graph_option("before", help=GRAMMAR),
        graph_option("after", nargs="?", help="the second graph"),
        *WHAT_IF,
        option(
            *ENV, type=reference("environment"), metavar=ID_NAME, dest="env", help="place layers and files on its nodes"
        ),
        type_option(default="default"),
        ASSUME,
        EXIT_CODE,
        FORMAT,
    )

    def answer(self, parsed_args: argparse.Namespace) -> Answer:
        from fuelclient.plan.preview import PreviewOptions

        before, after = self._sides(parsed_args)
        options = PreviewOptions(assume=parsed_args.assume or "")
        comparison, expansions = compared((before, after), options, self.backend)
        clusters = (side.snapshot.cluster.id for side in (before, after))  # one that is compared with itself has more
        assumed = dict(zip(clusters, (expansion.fleet.assumption for expansion in expansions), strict=True))
        for assumption in filter(None, dict.fromkeys(assumed.values())):
            LOG.info("%s", assumption)
        if not after.alone and any(finding.is_error for finding in comparison.findings):
            self.exit_code = Exit.INVALID
        if parsed_args.added:
            refused = refusals_of(self.backend, after.snapshot.cluster.id, parsed_args)
            comparison = replace(comparison, findings=(*refused, *comparison.findings))
        self.differs = comparison.is_different
        report(comparison.findings)
        parts = {field.name: getattr(comparison, field.name) for field in fields(comparison)}
        document = {"before": before.label, "after": after.label, **parts}
        title = f"{before.label} -> {after.label}"
        return Answer([title, *comparison_lines(comparison, expansions[1])], document)

    def _sides(self, parsed_args: argparse.Namespace) -> list[Side]:
        changes = bool(parsed_args.added or parsed_args.left_out)
        if parsed_args.after is None and not changes:
            raise UsageError(
                "There is nothing to compare with.", hint="Name a second graph, or add --with or --without."
            )
        references = [parsed_args.before, parsed_args.after or parsed_args.before]
        pair = sides(self, references[: 2 if parsed_args.after else 1], parsed_args)
        if changes:
            if references[1][0] != "env":
                raise UsageError(
                    "--with and --without change an environment.", hint="Name it as the last graph: env:1."
                )
            pair[1:] = [what_if(self, pair[-1], parsed_args)]
        return pair


def comparison_lines(comparison: Comparison, expansion: Expansion) -> Iterator[str]:
    """Yield the differences as lines for people; `expansion` is that of the second graph."""
    yield from task_lines(comparison)
    yield from _order_lines(comparison, expansion)


def task_lines(comparison: Comparison) -> Iterator[str]:
    changes = [str(task.change) for task in comparison.tasks]
    figures = [f"{changes.count(word)} {word}" for word in _SIGNS if word in changes]
    yield f"Tasks: {', '.join(figures) or 'no difference'}."
    rows: list[tuple[str, ...]] = []
    for task in comparison.tasks:
        rows.append((f"{_SIGNS[task.change]} {task.task}", "", *_source(task.after or task.before)))
        rows += [
            (f"    {value.attribute}", _change(value), *_source(value.set_after or value.set_before))
            for value in task.attributes
        ]
    rows += [(f"~ {value.attribute} of the graph", _change(value), "", "") for value in comparison.metadata]
    if rows:
        yield from align(rows)


def _source(origin: Origin | None) -> tuple[str, str]:
    return (origin.owner.label, where(origin.place)) if origin else ("", "")


def _change(value: ValueChange) -> str:
    if value.elements_added or value.elements_removed:
        removed = [f"-{value_text(element)}" for element in value.elements_removed]
        return " ".join([*removed, *(f"+{value_text(element)}" for element in value.elements_added)])
    if value.reordered:
        return f"{value_text(value.before)} -> {value_text(value.after)} (only the order)"
    before, after = ("(not stated)" if side is None else value_text(side) for side in (value.before, value.after))
    return f"{before} -> {after}"


def _order_lines(comparison: Comparison, expansion: Expansion) -> Iterator[str]:
    if (order := comparison.order) is None:
        yield f"Order: cannot be compared. {comparison.problem}"
        return
    edges = f"{count(len(order.edges_removed), 'edge')} between tasks removed, {len(order.edges_added)} added"
    lost = count(order.orderings_lost, "ordering")
    yield f"Order: {edges}; {lost} of {order.orderings_before} lost, {order.orderings_gained} gained."
    if order.lost or order.gained:
        nodes = count(expansion.fleet.size, "assumed node" if expansion.fleet.assumption else "node")
        yield f"  (of the {order.instances} task instances in both, on {nodes})"
    for word, pairs in (("lost", order.lost), ("gained", order.gained)):
        for pair in pairs[:_MAX_PAIRS]:
            yield f"  {word:6}  {pair.before} -> {pair.after}  ({count(pair.instances, 'pair')})"
        if len(pairs) > _MAX_PAIRS:
            yield f"  {word:6}  and {count(len(pairs) - _MAX_PAIRS, 'more pair')} of tasks; -f json has all"
