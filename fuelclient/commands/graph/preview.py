"""`graph preview`: show what would run where."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import AS_MASTER, ASSUME, SOME_NODES, flag, one_of, option
from fuelclient.commands.base import STRUCTURED, Comparing, Lister, report, sorted_by
from fuelclient.commands.exits import Exit
from fuelclient.commands.formatters import Fields, Names, check_columns, column_name, finding_fields
from fuelclient.commands.graph.question import OF_GRAPH, SELECT, query_tasks
from fuelclient.commands.graph.sides import GRAMMAR, WHAT_IF, Side, compared, graph_option, refusals_of, sides, what_if
from fuelclient.commands.shell import LOG, count, for_target
from fuelclient.errors import FIRST_STEPS, Conflict, InvalidGraph, Unsupported, UsageError
from fuelclient.model.graph import MergePolicy
from fuelclient.printing import printable

if TYPE_CHECKING:
    from fuelclient.model.finding import Finding
    from fuelclient.model.snapshot import Snapshot
    from fuelclient.plan.preview import Preview, PreviewOptions, PreviewRow
    from fuelclient.plan.study import Study

_KEYS = (
    "order", "first_generation", "last_generation", "stage", "priority", "band", "task", "type", "roles", "nodes",
    "layer", "overrides", "requires", "findings", "verdicts",
)  # fmt: skip
"""The keys of a row in JSON and YAML, always all of them and in this order."""


class GraphPreview(Comparing, Lister):
    """Show what would run where, in order

    The layers of the environment (release, plugins, cluster) are merged, placed on its nodes and ordered; nothing is
    executed. Each row is a task, at the position where its first instance runs. 'generation' says in which rounds its
    instances run, 'layer' which layer the task comes from, and 'overrides' which layers it overrides.

    A terminal gets as many columns as fit: order, task and layer first, then nodes, verdict and stage. Those left out
    are named. Lists are shortened. Files and pipes get everything.

    --assume previews with other nodes than those of the environment. It takes ROLES=COUNT, ... where ROLES is one role
    or several joined by '+'. If the environment has no nodes, a few nodes for each role are assumed.

    --select shows only the tasks that a query selects, as 'graph query' does; the order is that of all tasks.

    A dependency on a task that runs on no node has no effect. Findings say where that changes the order; -f json keeps
    it in 'requires', marked '(runs nowhere)'.

    Conditions and computed dependencies, if the graph has any, are evaluated on the facts of the nodes: 'verdict' says
    which tasks would be skipped, or depend on a fact that is not known. --no-facts shows the bare graph.

    --as-master adds findings about what a Fuel master would refuse or do differently; see `graph validate`.

    If there is an error among the findings, the exit code is 7.

    --with and --without preview the environment as it would be: with the graph in a file as its own, with a plugin that
    is not enabled or not even installed, or without one. Nothing is stored. The changes, including those of the order,
    are printed on stderr; 'fuel2 graph diff' prints them as data. --against compares with another graph than that of
    the environment as it is.

    --verify compares this merge, task by task, with the master's own; without a master the exit code is 2. With
    --exit-code the exit code is 10 if a comparison found a difference.

      fuel2 graph preview --env 1
      fuel2 graph preview --env 1 --assume controller=3,compute=8,cinder=3 --only changed
      fuel2 graph preview --env 1 --assume controller+cinder=1,compute=2 -f json
      fuel2 graph preview --env 1 --with override.yaml --with plugin:./my-plugin --exit-code
      fuel2 graph preview --env 1 --against run:12
      fuel2 graph preview --env 1 --select '1+keystone+1'
    """

    reads_once = True

    columns = (
        "order", "generation", "stage", "priority", "task", "type", "roles", "nodes", "layer", "overrides", "verdict",
    )  # fmt: skip
    by_weight = (
        "order", "task", "layer", "nodes", "verdict", "stage", "priority", "roles", "generation", "type", "overrides",
    )  # fmt: skip
    sort_by = "order"

    arguments = (
        *OF_GRAPH,
        one_of(SOME_NODES, ASSUME),
        option(
            "--merge-policy",
            choices=tuple(map(str, MergePolicy)),
            default=str(MergePolicy.REPLACE),
            help="whether a task with a type replaces the task below it, or overrides only the attributes it states",
        ),
        option("--no-facts", action="store_false", dest="facts", help="do not evaluate conditions and dependencies"),
        AS_MASTER,
        option("--only", choices=("changed",), help="only tasks that a plugin or the environment changes"),
        SELECT,
        flag("--verify", help="compare with the merge that the master itself computes"),
        *WHAT_IF,
        graph_option("--against", help=f"compare with this graph: {GRAMMAR}"),
        flag("--exit-code", help="exit with 10 if a comparison finds differences"),
    )

    def run(self, parsed_args: argparse.Namespace) -> int:
        if parsed_args.exit_code and not (parsed_args.verify or _compares(parsed_args)):
            hint = "Add --with, --without, --against or --verify, or leave --exit-code out."
            raise UsageError("--exit-code needs a comparison.", hint=hint)
        if parsed_args.verify and self.shell.settings.master is None:
            hint = "Name one with --server, or leave --verify out."
            raise Unsupported("--verify compares with the merge of a Fuel master, and no master is named.", hint=hint)
        if parsed_args.verify and _compares(parsed_args):
            hint = "Leave --verify out, or the others."
            raise UsageError("A master merges only what it has: --verify allows no other graphs.", hint=hint)
        if parsed_args.as_master and parsed_args.merge_policy != "replace":
            raise UsageError("A Fuel master merges with --merge-policy replace.", hint="Leave --as-master out.")
        return super().run(parsed_args)

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        from fuelclient.plan.preview import PreviewOptions

        structured = parsed_args.formatter in STRUCTURED
        columns = _KEYS if structured else self.columns
        check_columns([*parsed_args.columns, *parsed_args.sort_columns], columns)
        options = PreviewOptions(
            tuple(parsed_args.nodes or ()), parsed_args.assume or "", MergePolicy(parsed_args.merge_policy)
        )
        snapshot = self._snapshot(parsed_args, options)
        study, preview = self._preview(snapshot, options, parsed_args)
        _log_summary(preview)
        if not study.merged.tasks:
            LOG.warning("%s", for_target(FIRST_STEPS["task"], self.shell.called))
        if any(finding.is_error for finding in preview.findings):
            self.exit_code = Exit.INVALID
        if parsed_args.verify:
            self._verify(snapshot, options, parsed_args)
        rows = [row for row in preview.rows if row.is_changed or parsed_args.only is None]
        if parsed_args.select:
            names = query_tasks(self, study, parsed_args.select, parsed_args.env, parsed_args.graph_type)
            rows = [row for row in rows if row.task in names]
        sorted_rows = sorted_by([(*_cells(row), row) for row in rows], self.columns, parsed_args.sort_keys or ["order"])
        if structured:
            return columns, [_record(cells[-1]) for cells in sorted_rows]
        wants_verdict = "verdict" in map(column_name, parsed_args.columns)
        shown = len(columns) if wants_verdict or any(row.verdicts for row in preview.rows) else columns.index("verdict")
        return columns[:shown], [cells[:shown] for cells in sorted_rows]

    def _snapshot(self, parsed_args: argparse.Namespace, options: PreviewOptions) -> Snapshot:
        """The snapshot to preview. Its differences from the environment or from --against are printed."""
        current = self.backend.graphs.snapshot(parsed_args.env, parsed_args.graph_type)
        if not _compares(parsed_args):
            return current
        from fuelclient.commands.graph.diff import comparison_lines
        from fuelclient.insight.blame import OVERRIDES

        before = after = Side(f"env:{parsed_args.env}", current)
        if parsed_args.added or parsed_args.left_out:
            after = what_if(self, after, parsed_args)
            report(refusals_of(self.backend, parsed_args.env, parsed_args))
        if parsed_args.against:
            (before,) = sides(self, [parsed_args.against], parsed_args)
        comparison, expansions = compared((before, after), options, self.backend)
        self.differs = comparison.is_different
        LOG.info("%s -> %s", before.label, after.label)
        for line in comparison_lines(comparison, expansions[1]):
            LOG.info("%s", printable(line))
        report(finding for finding in comparison.findings if finding.code in OVERRIDES)  # the preview has all others
        return after.snapshot

    def _preview(
        self, snapshot: Snapshot, options: PreviewOptions, parsed_args: argparse.Namespace
    ) -> tuple[Study, Preview]:
        from fuelclient.backends.studies import study_of

        if parsed_args.as_master:
            from fuelclient.environment.as_master import in_graph, strict

            snapshot = strict(snapshot)
        study = study_of(self.backend, snapshot, options, facts=parsed_args.facts, conditions=True)
        findings: tuple[Finding, ...] = ()
        if not options.node_ids and study.merged.metadata.get("node_filter"):
            from fuelclient.expressions.readable import check_filter  # few graphs have a filter

            findings = tuple(check_filter(study.snapshot, study.merged.metadata))
        if parsed_args.as_master:
            findings = (*findings, *in_graph(study, findings))
        return study, study.preview(findings)

    def _verify(self, snapshot: Snapshot, options: PreviewOptions, parsed_args: argparse.Namespace) -> None:
        """Compare with the server's own merge. The preview is shown even if the server refuses to merge."""
        from fuelclient.graph.merge import merge_layers
        from fuelclient.insight.differences import differences

        try:
            theirs = self.backend.graphs.merged(parsed_args.env, parsed_args.graph_type)
        except (Conflict, InvalidGraph) as error:
            LOG.error("The other side cannot merge this graph: %s", error)
            self.exit_code = Exit.INVALID
            return
        ours = [merged.task for merged in merge_layers(snapshot.layers, options.policy).tasks]
        differing = differences(ours, theirs)
        for difference in differing:
            LOG.warning("%s", difference)
        if differing:
            LOG.warning("The other side merges differently: %s.", count(len(differing), "difference"))
        else:
            LOG.info("The other side merges to the same %s.", count(len(ours), "task"))
        self.differs = bool(differing)


def _compares(parsed_args: argparse.Namespace) -> bool:
    return bool(parsed_args.added or parsed_args.left_out or parsed_args.against)


def _cells(row: PreviewRow) -> tuple[Any, ...]:
    """The cells of a row; the layer is a name, so that it is not wrapped."""
    return (
        row.order, row.generations, row.stage or "", "" if row.priority is None else row.priority, row.task,
        row.type, Names(row.roles), len(row.nodes), Names([row.layer]), Names(row.overrides), _verdict(row.verdicts),
    )  # fmt: skip


def _verdict(verdicts: Sequence[str]) -> str:
    """The verdicts on the instances of a task, except those that run.

    >>> _verdict(["run", "run"]), _verdict(["skip", "skip"]), _verdict(["run", "unknown: $.a"])
    ('', 'skip', 'unknown: $.a (1 of 2)')
    """
    phrases = [
        word if verdicts.count(word) == len(verdicts) else f"{word} ({verdicts.count(word)} of {len(verdicts)})"
        for word in dict.fromkeys(verdicts)
        if word != "run"
    ]
    return ", ".join(phrases)


def _record(row: PreviewRow) -> tuple[Any, ...]:
    return (
        row.order, row.first_generation, row.last_generation, row.stage, row.priority, row.band, row.task, row.type,
        Names(row.roles), Names(row.nodes), row.layer, Names(row.overrides),
        Names([*row.requires, *(f"{name} (runs nowhere)" for name in row.dropped)]),
        Fields(list(map(finding_fields, row.findings))), Names(row.verdicts),
    )  # fmt: skip


def _log_summary(preview: Preview) -> None:
    if preview.assumption:
        LOG.info("%s", preview.assumption)
    report(preview.findings)
    computed = ""
    if preview.computed:
        have = "has" if preview.computed == 1 else "have"
        computed = f"; {count(preview.computed, 'task')} {have} computed dependencies and may run later than shown"
    LOG.info(
        "%s, %s in %s on %s; %s, %d on the master%s.", count(len(preview.rows), "task"),
        count(preview.instances, "instance"), count(preview.generations, "generation"), count(preview.nodes, "node"),
        count(preview.sync_points, "sync point"), preview.on_master, computed,
    )  # fmt: skip
