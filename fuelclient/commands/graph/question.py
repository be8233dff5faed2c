"""The common parts of commands that answer questions about a merged graph, such as options, texts and documents;
and the simplest such command, `graph query`."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TextIO

from stevedore.extension import ExtensionManager

from fuelclient.commands.arguments import ASSUME, OF_ENV, SOME_NODES, Arguments, flag, one_of, option, type_option
from fuelclient.commands.base import Command, Lister, report
from fuelclient.commands.fitting import Columns, align, elided
from fuelclient.commands.formatters import Csv, Json, Yaml, finding_fields, formatters
from fuelclient.commands.shell import LOG, count
from fuelclient.errors import InvalidGraph, NotFound, UsageError

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.insight.query import Results, Selected
    from fuelclient.model.finding import Place
    from fuelclient.model.snapshot import Snapshot
    from fuelclient.plan.study import Study

FORMAT_VERSION = 1
"""The version of the documents of all answers. It rises if a key goes or changes its meaning; keys may be added."""

OF_GRAPH = (OF_ENV, type_option(default="default"))

FORMAT = option(
    "-f", "--format", choices=("text", "json", "yaml"), default="text",
    help="text for people (default); json and yaml have everything, with a format_version",
)  # fmt: skip

JSONL = "jsonl"

lines_option = partial(
    option, choices=("text", JSONL), default="text",
    help="text for people (default); jsonl: a JSON object on each line, with a format_version",
)  # fmt: skip
"""`--format` of commands that follow a run: `format` is text or `JSONL`."""

ON_NODES = (
    one_of(SOME_NODES, ASSUME),
    flag("--facts", help="accepted for scripts: dependencies that are expressions always count"),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as lines for people, and as a document for programs: a mapping or dataclass for `encode`."""

    lines: Iterable[str | Columns]
    document: Any


class Question(Command):
    reads_once = True

    arguments: Arguments = (*OF_GRAPH, FORMAT)

    def answer(self, parsed_args: argparse.Namespace) -> Answer:
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        answer = self.answer(parsed_args)
        if parsed_args.format == "text":
            for line in answer.lines:
                self.tell(line)
            return
        subject = {"format_version": FORMAT_VERSION, "env": parsed_args.env, "graph_type": parsed_args.graph_type}
        self.app.stdout.write(self.dumps({**subject, **encode(answer.document)}, parsed_args.format))

    def snapshot(self, parsed_args: argparse.Namespace) -> Snapshot:
        return self.backend.graphs.snapshot(parsed_args.env, parsed_args.graph_type)


class OrderQuestion(Question):
    """A question about the order of instances, on the environment's nodes or on assumed ones."""

    arguments: Arguments = (*OF_GRAPH, FORMAT, *ON_NODES)

    def study(self, parsed_args: argparse.Namespace, *, despite_cycles: bool = False) -> Study:
        """Study the graph, and print its errors. Raise `InvalidGraph` if it has no order; with `despite_cycles` print
        its cycles instead."""
        study = self._study(parsed_args, despite_cycles=despite_cycles)
        for cycle in cycle_names(study):
            ring = " -> ".join((*cycle, cycle[0]))
            LOG.warning("Tasks wait for one another and have no order among themselves: %s.", ring)
        if study.cycles:
            LOG.warning(
                "What removes them: fuel2 graph validate --env %s --type %s.", parsed_args.env, parsed_args.graph_type
            )
        elif study.problem:
            raise InvalidGraph(study.problem, findings=study.errors)
        _log_summary(study)
        report(error for error in study.errors if error not in study.cycle_findings)
        return study

    def study_unordered(self, parsed_args: argparse.Namespace) -> Study:
        """Study the graph, which may have no order, and print its errors."""
        study = self._study(parsed_args)
        _log_summary(study)
        report(study.errors)
        return study

    def _study(self, parsed_args: argparse.Namespace, *, despite_cycles: bool = False) -> Study:
        from fuelclient.backends.studies import study_of
        from fuelclient.plan.preview import PreviewOptions

        options = PreviewOptions(tuple(parsed_args.nodes or ()), parsed_args.assume or "")
        return study_of(self.backend, self.snapshot(parsed_args), options, despite_cycles=despite_cycles)


def cycle_names(study: Study) -> list[list[str]]:
    return [[study.merged.tasks[index].id for index in cycle] for cycle in study.cycles]


def run_query(study: Study, query: str, stderr: TextIO, results: Callable[[], Results] | None = None) -> Selected:
    """Select tasks by a query. An invalid query is printed on stderr with a caret below the mistake."""
    from fuelclient.insight.query import BadQuery, select

    try:
        return select(study, query, results)
    except BadQuery as error:
        for line in error.picture():
            stderr.write(f"{line}\n")
        raise


def _log_summary(study: Study) -> None:
    if study.expansion.fleet.assumption:
        LOG.info("%s", study.expansion.fleet.assumption)
    _report_left_out(study)


def _report_left_out(study: Study) -> None:
    if left_out := study.left_out:
        LOG.info("The computed dependencies of %s are left out.", count(len(left_out), "task"))


def value_text(value: Any) -> str:
    """A value on one line: text as it is, everything else as JSON, shortened in the middle if it is long.

    >>> value_text(["a"]), value_text("a\\nb"), value_text(None), len(value_text("x" * 99))
    ('["a"]', 'a b', 'null', 48)
    """
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return elided(" ".join(shown.split()), 48)


_INDEX_FIELDS = frozenset({"index", "before_task", "after_task", "start", "end"})
"""Fields with indices of tasks and instances. Documents omit them, because they are valid only within one study."""


def encode(value: Any) -> Any:
    """Encode an answer in plain JSON types. The fields of a dataclass are keys, in their order; an `origin` or `place`
    is replaced by its layer, file and line, null if they are not known.
    """
    from fuelclient.model.finding import Finding, Place
    from fuelclient.model.graph import Origin, Owner

    match value:
        case Owner():
            return value.label
        case Origin():
            return encode(replace(value.place, layer=value.owner.label))
        case Place():
            return {"layer": value.layer, "file": value.file or None, "line": value.line or None}
        case Finding():
            return {"task": value.task, **finding_fields(value)}
        case Enum():
            return str(value)
        case Mapping():
            return {key: encode(item) for key, item in value.items()}
        case list() | tuple():
            return [encode(item) for item in value]
    if not is_dataclass(value):
        return value
    keys: dict[str, Any] = {}
    for field in fields(value):
        item = encode(getattr(value, field.name))
        if field.name in ("origin", "place"):
            keys |= item | keys
        elif field.name not in _INDEX_FIELDS:
            keys[field.name] = item
    return keys


def where(place: Place) -> str:
    """A place as editors understand it, or a dash, because a Fuel master stores no places."""
    return str(place) if place.file else "-"


SELECT = option("--select", metavar="QUERY", help="only the tasks that a query selects; see 'graph query'")
"""`select`, None for all tasks."""


def selected_tasks(command: Command, query: str, env: int, graph_types: Sequence[str]) -> tuple[str, ...]:
    """Select tasks of a graph by a query, and return their ids in execution order.

    Raise `UsageError` for several graphs, and `NotFound` if nothing is selected, because a run without names of tasks
    runs all.
    """
    from fuelclient.backends.studies import study_of

    if len(graph_types) != 1:
        raise UsageError("--select selects tasks of one graph.", hint="Name one graph type, or use --task-names.")
    snapshot = command.backend.graphs.snapshot(env, graph_types[0])
    study = study_of(command.backend, snapshot, despite_cycles=True)
    tasks = query_tasks(command, study, query, env, graph_types[0])
    _report_left_out(study)
    LOG.info("Selected: %s of %d.", count(len(tasks), "task"), len(study.merged.tasks))
    return tasks


def query_tasks(command: Command, study: Study, query: str, env: int, graph_type: str) -> tuple[str, ...]:
    """The ids of the tasks that a query selects, in execution order. Raise `NotFound` if it selects none."""
    chosen = run_query(study, query, command.app.stderr, results_of(command.backend, env, graph_type))
    if not chosen:
        hint = f"`fuel2 graph query {shlex.quote(query)} --env {env} --explain` shows what it means."
        raise NotFound("task", query, message=f"The query {query} selects no task.", hint=hint)
    ordered = study.indices or range(len(study.merged.tasks))  # a graph that cannot be merged has no order
    return tuple(dict.fromkeys(study.merged.tasks[index].id for index in ordered if index in chosen))


def results_of(
    backend: Backend, env: int, graph_type: str, run_id: int | None = None
) -> Callable[[], dict[str, set[str]]]:
    """A function that reads the results of a run (by default the last one) when they are first needed."""
    from fuelclient.backends.earlier_runs import results_of as results_in

    return cache(partial(results_in, backend, env, graph_type, run_id))


class AnswerList(Lister):
    """A list whose JSON and YAML is one document: the `subject`, which `rows` may set, and the rows at `key`.

    docs/answers.schema.json describes the documents.
    """

    key = ""
    subject: Mapping[str, Any] = MappingProxyType({})

    def _load_formatter_plugins(self) -> ExtensionManager[Any]:
        documents = {"json": lambda: Json(self._document), "yaml": lambda: Yaml(self._document)}
        return formatters({"csv": Csv, **documents})

    def _document(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        return {"format_version": FORMAT_VERSION, **self.subject, self.key: rows}


class GraphQuery(OrderQuestion):
    """Select tasks by name, neighbourhood or property, in execution order

    QUERY is one or several of these, joined by 'or' (either) or by a comma or 'and' (both); ! or 'not' means all other
    tasks; brackets group. A blank alone joins nothing. A task id, in double quotes if it has blanks; a glob on ids
    (neutron-*); a pattern (/^neutron/); +TASK with all before it, TASK+ with all after it, 2+TASK+1 with those at most
    two edges before and one after it; A..B, what lies between two tasks; role:NAME; layer:release, layer:plugin,
    layer:cluster or layer:PLUGIN; type:puppet; state:added, overridden, unchanged or unplaced; stage:NAME;
    stage:NAME/<0 for the tasks that state a stage with such a priority; result:error, ready, skipped, pending or
    running for tasks with an instance of that status in the last run, or in the run that --run names.
    role:compute|cinder has either value.

    The graph may have cycles. Their tasks have no order among themselves, so stage:NAME, which needs one, is refused.

    Each line is a task id. --explain adds the layer, the place, and why the task is selected.

      fuel2 graph query '1+keystone+1' --env 1 --explain
      fuel2 graph query 'role:compute|cinder,!state:unchanged' --env 1
      fuel2 graph query 'layer:plugin,state:overridden or globals..keystone' --env 1 -f json
    """

    arguments = (
        option("query", metavar="QUERY", help="which tasks, in quotes"),
        option("--run", type=int, metavar="RUN", help="the run that result: is about (default: the last)"),
        flag("--explain", help="also say why each task is selected"),
        *OrderQuestion.arguments,
    )

    def answer(self, parsed_args: argparse.Namespace) -> Answer:
        study = self.study(parsed_args, despite_cycles=True)
        results = results_of(self.backend, parsed_args.env, parsed_args.graph_type, parsed_args.run)
        chosen = run_query(study, parsed_args.query, self.app.stderr, results)
        selected_rows = [(row, index) for row, index in zip(study.rows, study.indices, strict=True) if index in chosen]
        LOG.info("%s of %d.", count(len(selected_rows), "task"), len(study.rows))
        origins = [study.merged.tasks[index].origin() for _, index in selected_rows]
        lines: Sequence[str] = [row.task for row, _ in selected_rows]
        if parsed_args.explain:
            lines = align(
                (row.task, "; ".join(chosen[index]), row.layer, where(origin.place))
                for (row, index), origin in zip(selected_rows, origins, strict=True)
            )
        rows = [
            {"task": row.task, "order": row.order, **encode(origin), "because": chosen[index]}
            for (row, index), origin in zip(selected_rows, origins, strict=True)
        ]
        return Answer(lines, {"query": parsed_args.query, "selected": rows, "cycles": cycle_names(study)})
