"""Check the tasks of a merged graph for references to tasks and stages that it lacks, and for bad parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fuelclient.graph.match import Names, is_pattern, is_refused, pattern_error
from fuelclient.graph.parameters import SHAPES, Missing, parameter_problems
from fuelclient.graph.stage import parse_stage, stage_names
from fuelclient.graph.validate import IGNORED_HINT, bad_pattern, ineffective_values, references_in, unprintable_id
from fuelclient.model.finding import NO_PLACE, Finding, Place, Severity, finding_at, listed, task_finding
from fuelclient.model.graph import Layer, MergedGraph, MergedTask
from fuelclient.model.task import Task, TaskType
from fuelclient.similar import Similar

_NEVER_RUN = frozenset({TaskType.STAGE, TaskType.SKIPPED, TaskType.GROUP, TaskType.ROLE, TaskType.NOOP})
_OLD_TASKS_HINT = (
    "Give them version 2.0.0 and cross-depends. On releases after 8.0, the setting common.propagate_task_deploy also"
    " lets the groups of a default graph order old tasks."
)
_FILLED_HINT = (
    "Up to and including Fuel 8.0, a master fills in what such tasks of a release lack. Override the task in the"
    " environment's graph: state its parameters, or type: skipped."
)
_FILLED_TASKS = frozenset(
    (
        "copy_keys", "generate_keys", "generate_vms", "ironic_copy_bootstrap_key", "ironic_upload_images",
        "restart_radosgw", "rsync_core_puppet", "update_hosts", "upload_configuration", "upload_core_repos",
        "upload_nodes_info",
    )
)  # fmt: skip
"""The tasks whose parameters Nailgun computes up to Fuel 8.0, by id."""
_SPECIAL = frozenset("()[]|*?^$")
"""Ids never contain these, but patterns do, and people forget the slashes around them."""


def check_references(graph: MergedGraph) -> tuple[Finding, ...]:
    """Find references to tasks (which a run ignores) and to stages that the graph lacks, values that do not do what
    they seem to, and ids that `graph upload` would refuse today."""
    legacy = frozenset(task.id for task in graph.tasks if task.task.follows_stage)
    known = Names(task.id for task in graph.tasks if task.id not in legacy)
    similar = Similar(known)
    stages = stage_names(task.task for task in graph.tasks)
    findings: list[Finding] = []
    for task in graph.tasks:
        for attribute, target in references_in(task.task, ("requires", "required_for"), roles=False):
            if target in known:
                continue
            if target in legacy:
                problem = f"{attribute} names {target}, an entry of tasks.yaml, which is ordered by its stage alone"
                findings.append(task_finding(Severity.WARNING, "G029", task, attribute, problem, IGNORED_HINT))
            else:
                findings += _check_target(task, attribute, target, known, similar)
        findings += refused_patterns(task)
        findings += _check_stage(task, stages)
        for code, attribute, problem, hint in ineffective_values(task.task):
            findings.append(task_finding(Severity.WARNING, code, task, attribute, problem, hint))
        if not task.id.isprintable():
            findings.append(unprintable_id(task, Severity.WARNING))
    return (*findings, *_unordered_old_tasks(graph))


def refused_patterns(task: MergedTask) -> Iterator[Finding]:
    """Yield an error (G015) for each pattern that uploads refuse; those that Python cannot read match nothing, as on a
    master. All other findings of `check_references` are warnings and notices."""
    for attribute, name in references_in(task.task):
        if is_pattern(name) and is_refused(name):
            yield bad_pattern(task, attribute, name)


def _unordered_old_tasks(graph: MergedGraph) -> Iterator[Finding]:
    """Yield one warning if relations of groups do not order their tasks below version 2.0.0, at the first of these."""
    groups = {task.id: task for task in graph.tasks if task.task.type == TaskType.GROUP and not task.task.joins}
    old_tasks = [
        (task, groups.keys() & task.task.placement[1])
        for task in graph.tasks
        if task.task.version_tuple < (2, 0, 0) and task.task.type not in _NEVER_RUN and not task.task.follows_stage
    ]
    placed = set().union(*(names for _, names in old_tasks))
    relations = [
        (group.id, attribute, name, group.id if attribute == "requires" else name)
        for group in groups.values()
        for attribute in ("requires", "required_for")
        for name in group.task.names(attribute)
        if name in groups and name != group.id
    ]
    ignored = [f"{group} {attribute} {name}" for group, attribute, name, later in relations if later in placed]
    if unordered := [task for task, names in old_tasks if names & {later for *_, later in relations}]:
        first, *others = unordered
        which = f"task {first.id}" + (f" and {len(others)} more" if others else "")
        message = f"{which}: relations of groups do not order tasks below version 2.0.0: {listed(ignored)}"
        yield finding_at(Severity.WARNING, "G027", first, "id", message, _OLD_TASKS_HINT)


def check_parameters(
    given: Task | MergedTask, *, runs: bool = True, packaged: bool = False, filled: bool | None = None
) -> Iterator[Finding]:
    """Yield the problems that a run would have with the parameters of a task (G046).

    They are errors if the task certainly `runs` somewhere: it has a type and no condition. A task of a document that
    has no parameters at all is left to `check_document`: another layer may have them. For a package (`packaged`), only
    missing parameters are reported, because the schemas of its version check the others. `filled` means that a Fuel
    master adds what a task lacks; None, for a file, means that the ids of old tasks decide.
    """
    task = given.task if isinstance(given, MergedTask) else given
    is_bare = isinstance(given, Task) and task.type in SHAPES and not task.attributes.get("parameters")
    if task.type in _NEVER_RUN or is_bare:
        return
    is_certain = runs and task.condition is None and not task.is_partial
    if filled is None and task.version_tuple < (2, 0, 0) and task.id in _FILLED_TASKS:
        filled, is_certain = True, False
    hint = _FILLED_HINT if filled else "Correct its parameters."
    severity = Severity.ERROR if is_certain else Severity.WARNING
    for name, problem in parameter_problems(task.type, task.attributes.get("parameters")):
        if isinstance(problem, Missing) or not packaged:
            attribute = "parameters" if isinstance(given, MergedTask) else f"parameters.{name}"
            yield task_finding(severity, "G046", given, attribute, f"it cannot run: {problem}", hint)


def place_of_filter(layers: Iterable[Layer]) -> Place:
    """The most important layer that has a node filter."""
    owners = [layer.owner for layer in layers if layer.metadata.get("node_filter")]
    return Place(layer=max(owners, key=lambda owner: owner.order).label) if owners else NO_PLACE


def _check_target(task: MergedTask, attribute: str, target: str, known: Names, similar: Similar) -> Iterator[Finding]:
    if pattern_error(target) or known.matching(target):
        return
    severity, code, problem = Severity.WARNING, "G030", f"{attribute} names {target}, which no layer defines"
    if is_pattern(target):
        severity, code, problem = Severity.INFO, "G031", f"the pattern {target} in {attribute} matches no task"
    yield task_finding(severity, code, task, attribute, problem, _hint(target, known, similar))


def _hint(target: str, known: Names, similar: Similar) -> str:
    pattern = f"/{target}/"
    if _SPECIAL & set(target) and not is_pattern(target) and not pattern_error(pattern) and known.matching(pattern):
        return f"Did you mean the pattern {pattern}?"
    close = similar.nearest(target)
    return f"Did you mean {close}?" if close else "The dependency is ignored."


def _check_stage(task: MergedTask, stages: Sequence[str]) -> Iterator[Finding]:
    if not task.task.stage or task.task.type in (TaskType.STAGE, TaskType.GROUP):
        return
    stage = parse_stage(task.task.stage)
    if stage.name not in stages:
        shown = f"Stages: {', '.join(stages)}." if stages else "The graph has no stages."
        problem = f"the graph has no stage {stage.name!r}, so the task may run at any time"
        yield task_finding(Severity.WARNING, "G032", task, "stage", problem, shown)
    if not stage.is_valid:
        problem = f"the priority in {task.task.stage!r} is not a plain decimal number; it counts as 0"
        yield task_finding(Severity.WARNING, "G012", task, "stage", problem)
