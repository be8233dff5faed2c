"""Find what a Fuel master refuses in a graph, or handles differently, although the engine accepts it.

The rule that two plugins may not define one task belongs to merges (`Snapshot.unique_tasks`). Sources: the schema and
the columns of Nailgun's tasks, `lcm.task_serializer`, `transactions.manager`, and recorded refusals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from fuelclient.errors import FuelError, UnknownFact
from fuelclient.expressions.evaluation import Expressions
from fuelclient.expressions.yaql_engine import YAQL, root_names
from fuelclient.graph.references import place_of_filter
from fuelclient.graph.validate import expressions_in, mappings_in
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import GraphDocument, MergedTask
from fuelclient.model.run import NodeKey
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import NAME_LISTS, ORCHESTRATOR_TYPES, RELATION_LISTS, Task, TaskType
from fuelclient.plan.study import Study

NODE_FIELDS = (
    "attributes", "error_type", "hostname", "id", "labels", "meta", "name", "pending_addition", "pending_deletion",
    "pending_roles", "roles", "status",
)  # fmt: skip
"""The fields of a node that a master serves to node filters. Source: Nailgun `transactions.manager`."""

_MAX_CHARS = 255
_MAX_FILTER_CHARS = 4096
_REFUSAL_HINT = "A Fuel master refuses that. Shorten or correct it."
_NAMES_ONLY = ("requires", "required_for")


def strict(snapshot: Snapshot) -> Snapshot:
    """Make it an error (G049) if two plugins define one task, as on a master."""
    return replace(snapshot, unique_tasks=True)


def in_graph(study: Study, reported: Iterable[Finding] = ()) -> tuple[Finding, ...]:
    """Check the graph of an environment.

    Expressions are evaluated if there are facts; otherwise findings name the attributes that were not evaluated.
    Failures that the study has found, or that are in `reported`, are left out.
    """
    failed = (finding for finding in (*study.findings, *reported) if finding.code in ("G024", "G034"))
    known_failures = {(finding.task, finding.place) for finding in failed}
    evaluation = study.evaluation
    tasks_with_nodes = zip(study.merged.tasks, study.expansion.placement.nodes, strict=True)
    if isinstance(evaluation, Expressions):
        found = failed_expressions(study, evaluation)
    else:  # a master does not evaluate tasks that run nowhere
        found = not_evaluated(task for task, nodes in tasks_with_nodes if nodes)
    return (
        *(finding for layer in study.snapshot.layers for finding in in_tasks(layer.tasks, layer.owner.label)),
        *node_filter(study.merged.metadata, place_of_filter(study.snapshot.layers)),
        *(finding for finding in found if not (finding.is_error and (finding.task, finding.place) in known_failures)),
    )


def in_documents(documents: Iterable[GraphDocument]) -> tuple[Finding, ...]:
    """Check documents, as far as that is possible without an environment."""
    found: list[Finding] = []
    for document in documents:
        file = document.tasks[0].source.file if document.tasks else ""
        for key, place in document.nulls.items():
            message = f"{key} is null, and a Fuel master refuses a document with that"
            hint = "Leave the key out. An upload by this client does so."
            found.append(Finding(Severity.ERROR, "G056", message, place, hint=hint))
        if len(document.name or "") > _MAX_CHARS:
            message = f"the name of the graph has more than {_MAX_CHARS} letters, which a Fuel master does not store"
            found.append(Finding(Severity.ERROR, "G026", message, Place(file), hint="Shorten it."))
        found += in_tasks(document.tasks)
        found += in_tasks(document.tasks, is_uploaded=True)
        found += node_filter(document.metadata, Place(file))
        found += not_evaluated(document.tasks)
    return tuple(dict.fromkeys(found))


_Problem = tuple[str, str, str, str]
"""A problem of a task: the code of the finding, the attribute, the message, and a hint."""


def in_tasks(tasks: Iterable[Task], label: str = "", *, is_uploaded: bool = False) -> Iterator[Finding]:
    """Yield errors for tasks that a master cannot store or, if `is_uploaded`, does not accept in an upload."""
    for task in tasks:
        for code, attribute, message, hint in _null_roles(task) if is_uploaded else _not_stored(task):
            place = replace(task.source.place(attribute), layer=label)
            yield Finding(Severity.ERROR, code, f"task {task.id}: {message}", place, task.id, hint)


def _not_stored(task: Task) -> Iterator[_Problem]:
    if task.is_partial:
        message = "it has no type, and a Fuel master stores only whole tasks"
        hint = "State the whole task. An upload by this client to a master completes the record from the layers below."
        yield "G054", "", message, hint
    if task.type in ORCHESTRATOR_TYPES:
        message = f"a Fuel master stores no task of the type {task.type}, which only its orchestrator knows"
        types = (kind for kind in TaskType if kind not in ORCHESTRATOR_TYPES)
        yield "G055", "type", message, f"Types that it stores: {', '.join(types)}."
    for attribute in filter(task.has_expressions, _NAMES_ONLY):
        message = f"{attribute} has an expression, and a Fuel master stores only names there"
        hint = "Write an entry of cross-depends or cross-depended-by with role: self; they may be expressions."
        yield "G057", attribute, message, hint
    if len(task.id) > _MAX_CHARS:
        yield "G026", "id", f"its id has more than {_MAX_CHARS} letters", _REFUSAL_HINT
    for attribute in NAME_LISTS:
        if any(len(name) > _MAX_CHARS for name in task.names(attribute)):
            yield "G026", attribute, f"a name in {attribute} has more than {_MAX_CHARS} letters", _REFUSAL_HINT
        if attribute in task.source.lone and attribute in _NAMES_ONLY:
            yield "G026", attribute, f"{attribute} is a text, and must be a list", _REFUSAL_HINT
    for attribute, value in task.attributes.items():
        if any(not isinstance(mapping.get(YAQL, ""), str) for mapping in mappings_in(value)):
            yield "G026", attribute, f"an expression in {attribute} is no text", _REFUSAL_HINT
    condition = task.attributes.get("condition")
    if isinstance(condition, str) and condition and not condition.strip():
        yield "G026", "condition", "its condition is blank, and ends the run", _REFUSAL_HINT
    tolerance = task.attributes.get("fault_tolerance", 0)
    is_blank = isinstance(tolerance, str) and not tolerance.strip()
    if task.type == TaskType.GROUP and (is_blank or isinstance(tolerance, list | Mapping)):
        yield "G026", "fault_tolerance", "its fault_tolerance is no number, and ends the run", _REFUSAL_HINT


def _null_roles(task: Task) -> Iterator[_Problem]:
    """Yield a problem for each attribute with a null role. A master plans such relations, but refuses their upload."""
    for attribute in RELATION_LISTS:
        if any(relation.roles is None for relation in task.relations(attribute)):
            shown = attribute.replace("_", "-")
            yield "G026", attribute, f"a role in {shown} is null, which an upload may not have", _REFUSAL_HINT


def node_filter(metadata: Mapping[str, object], place: Place) -> Iterator[Finding]:
    """Yield a finding for each node field that a graph's filter reads and a master does not serve (G058).

    A filter that is too long for a master is G026. One that cannot be parsed has no findings here (G024).
    """
    given = metadata.get("node_filter")
    text = given.get(YAQL) if isinstance(given, Mapping) else given
    if isinstance(text, str) and len(text) > _MAX_FILTER_CHARS:
        message = f"the node filter has more than {_MAX_FILTER_CHARS} letters, which a Fuel master does not store"
        yield Finding(Severity.ERROR, "G026", message, place, hint="Shorten it.")
    try:
        read = root_names(text) if isinstance(text, str) else {}
    except FuelError:
        return
    for name, has_default in read.items():
        if name in NODE_FIELDS:
            continue
        effect = "finds nothing there" if has_default else "fails, and the run with it"
        severity = Severity.WARNING if has_default else Severity.ERROR
        message = f"the node filter reads {name}, which a Fuel master does not serve to filters: it {effect}"
        yield Finding(severity, "G058", message, place, hint=f"Fields that it serves: {', '.join(NODE_FIELDS)}.")


def failed_expressions(study: Study, evaluation: Expressions) -> Iterator[Finding]:
    """Yield findings for expressions of tasks that fail on a node, or that read an unknown fact (G059).

    A master evaluates all expressions of a task for all its nodes, even if the task is skipped. A failure ends the run.
    Each attribute has at most one error and one warning, about the first node.
    """
    nodes = study.expansion.fleet.nodes
    for index, merged in enumerate(study.merged.tasks):
        uids = [nodes[node].uid for node in study.expansion.placement.nodes[index]]
        expressions = [
            (name, list(expressions_in(value)), evaluation.value) for name, value in merged.task.attributes.items()
        ]
        if isinstance(merged.task.condition, str):
            expressions.append(("condition", [merged.task.condition], evaluation.legacy_on_master))
        for attribute, texts, evaluate in expressions:
            failed: dict[Severity, list[tuple[NodeKey, FuelError]]] = {}
            for uid, text in product(uids, texts):
                try:
                    evaluate(text, merged.task, uid)
                except FuelError as error:
                    severity = Severity.WARNING if isinstance(error, UnknownFact) else Severity.ERROR
                    failed.setdefault(severity, []).append((uid, error))
            for severity, errors in failed.items():
                yield _failure(merged, attribute, severity, errors)


def _failure(
    merged: MergedTask, attribute: str, severity: Severity, errors: Sequence[tuple[NodeKey, FuelError]]
) -> Finding:
    uid, first = errors[0]
    where = merged.id if uid is None else f"{merged.id}@{uid}"
    more = len({other for other, _ in errors}) - 1
    others = f" and {more} more" if more else ""
    problem = f"{first.message.rstrip('.')}. The whole run of a Fuel master fails"
    if isinstance(first, UnknownFact):
        problem = f"it reads {first.path}, which is not known here. If a Fuel master lacks it, its whole run fails"
    message = f"task {where}{others}: {attribute}: {problem}, even if the task is skipped"
    hint = first.hint or "Let the expression have a value on every node of the task: .get(name, default)."
    return Finding(severity, "G059", message, merged.place(attribute), merged.id, hint)


def not_evaluated(tasks: Iterable[Task | MergedTask]) -> Iterator[Finding]:
    """Yield a notice for each task with expressions, which were not evaluated (G059)."""
    for given in tasks:
        task = given.task if isinstance(given, MergedTask) else given
        if names := [name for name, value in task.attributes.items() if any(True for _ in expressions_in(value))]:
            message = f"task {task.id}: the expressions in {', '.join(names)} were not evaluated: no facts are at hand"
            hint = "A Fuel master evaluates them all, also where the task is skipped; one that fails ends the run."
            yield Finding(Severity.INFO, "G059", message, given.place(names[0]), task.id, hint)
