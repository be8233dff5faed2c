"""What a redeployment would do, before it happens: `env changes` and `env drift`."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fuelclient.backends.earlier_runs import last_run
from fuelclient.commands.arguments import EXIT_CODE, flag, id_of, type_option
from fuelclient.commands.base import Comparing
from fuelclient.commands.fitting import align
from fuelclient.commands.formatters import Fields
from fuelclient.commands.graph.question import FORMAT, Answer, AnswerList, Question, value_text
from fuelclient.commands.shell import LOG, count
from fuelclient.environment.differences import Remembered, drift
from fuelclient.errors import NotFound
from fuelclient.grouping import grouped
from fuelclient.model.run import RunRequest
from fuelclient.printing import ids_text

if TYPE_CHECKING:
    from fuelclient.environment.redeploy import ChangedFact, Rerun
    from fuelclient.model.run import NodeKey

_REASONS = {
    "first": "it never succeeded there", "changed": "facts changed", "condition": "its condition holds",
    "always": "it has no condition", "unknown": "unknown", "other": "left out",
}  # fmt: skip


class EnvChanges(Question):
    """Show which tasks would run again now, and which facts made them

    Lists each task instance that would run, with the reason: it never succeeded there, it has no condition, or facts
    that its condition compares have changed since its last success, which are shown with both values. Instances that
    would be skipped are only counted; -f json lists them. Secrets are masked. Nothing runs and nothing is stored.

      fuel2 env changes 1
      fuel2 env changes 1 --type default -f json
    """

    arguments = (
        id_of("environment"),
        type_option(default="default"),
        flag("--all", help="also list what runs every time, and what is skipped"),
        FORMAT,
    )

    def answer(self, parsed_args: argparse.Namespace) -> Answer:
        from fuelclient.backends.plans import redeployed

        parsed_args.env = parsed_args.id
        ((_, reruns),) = redeployed(self.backend, RunRequest(parsed_args.id, (parsed_args.graph_type,)))
        join = ids_text if self.app.stdout.isatty() else ", ".join
        lines = _lines(reruns, lambda nodes: join(map(self.node_name, nodes)), everything=parsed_args.all)
        return Answer(lines, {"instances": reruns})


def _lines(reruns: Sequence[Rerun], join: Callable[[Sequence[NodeKey]], str], *, everything: bool) -> Iterator[str]:
    running = [rerun for rerun in reruns if rerun.runs]
    yield f"{count(len(running), 'task instance')} would run, {len(reruns) - len(running)} would be skipped."
    by_reason = Counter(rerun.why for rerun in running)
    yield from align([(str(number), _REASONS[why]) for why, number in by_reason.items()], "  ")
    shown = [rerun for rerun in reruns if everything or (rerun.runs and rerun.why != "always")]
    groups = grouped(
        ((rerun.task, rerun.runs, rerun.why, rerun.detail, tuple(map(_fact_line, rerun.facts))), rerun.node)
        for rerun in shown
    )
    for (task, runs, why, detail, facts), nodes_of in groups.items():
        reason = _REASONS[why] if runs or why != "condition" else "its condition does not hold"
        yield f"{'run ' if runs else 'skip'}  {task}  on {join(nodes_of)}: {reason}{f' ({detail})' if detail else ''}"
        yield from (f"        {fact}" for fact in facts)


def _fact_line(fact: ChangedFact) -> str:
    before = value_text(fact.before) if fact.had_value else "(no value)"
    where = f"{fact.expression}, {fact.path}" if fact.path else fact.expression
    return f"{where}: {before} -> {value_text(fact.after)}"


class EnvDrift(Comparing, AnswerList):
    """Compare an environment with what its last run saw

    Lists what differs in the graph, the settings and the facts since the last run of the graph type; dry runs and noop
    runs do not count. Groups are not compared, because runs do not remember them. Secrets are masked: a changed
    password in settings or facts is a row with two masked values; a changed password in a task is not listed, because
    runs do not remember it. With --exit-code the exit code is 10 if anything differs.

      fuel2 env drift 1
      fuel2 env drift 1 --type default --exit-code
    """

    columns = ("part", "place", "path", "last_run", "now")
    by_weight = ("path", "last_run", "now", "part")
    sort_by = ""
    key = "differences"

    arguments = (id_of("environment"), type_option(default="default"), EXIT_CODE)

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        runs = self.backend.runs
        inputs = runs.inputs(RunRequest(parsed_args.id, (parsed_args.graph_type,)))
        run = last_run(self.backend, parsed_args.id, parsed_args.graph_type)
        definitions = {row.task: row.definition for row in runs.history(run.id)}
        settings = None
        with suppress(NotFound):  # they were not recorded
            settings = runs.settings(run.id)
        found = drift(Remembered(definitions, settings, runs.deployment_info(run.id)), inputs, parsed_args.graph_type)
        self.differs = bool(found)
        self.subject = {"env": parsed_args.id, "graph_type": parsed_args.graph_type, "run": run.id}
        differences = count(len(found), "difference")
        LOG.info("Compared with run %d, which ended at %s: %s.", run.parent_id or run.id, run.time_end, differences)
        return [(each.part, each.place, each.path, *map(Fields, each.masked)) for each in found]
