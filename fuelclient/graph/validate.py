"""Check a graph before it is stored, and report everything that is wrong with the document at once.

The shape of documents is checked where they are read (`files`, `serializers`), and merged graphs in
`graph.references` and `plan`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from fuelclient.errors import UsageError, nearest
from fuelclient.graph.keys import mappings_in, unknown_keys
from fuelclient.graph.match import pattern_error
from fuelclient.graph.merge import duplicate
from fuelclient.graph.parameters import SHAPES
from fuelclient.graph.stage import PLUGIN_STAGES, parse_stage
from fuelclient.model.finding import Finding, Place, Severity, limited
from fuelclient.model.graph import GraphDocument, Layer, Level, Owner
from fuelclient.model.release import FUEL_ROLES
from fuelclient.model.task import NAME_LISTS, RELATION_LISTS, Task, TaskType, tolerance_from
from fuelclient.similar import Similar

_TYPE = re.compile(r"[A-Za-z0-9_-]+")
_PRINTABLE = "Use printable characters only."

_ON_ITSELF = "it names itself in {}, which is ignored here, and ends the run of a Fuel master"
_ON_ITSELF_HINT = "Remove its own name from the list."

IGNORED = "{} of an entry of tasks.yaml is ignored, as by a Fuel master: its stage alone orders it"
IGNORED_HINT = "Remove it, or move the entry to deployment_tasks.yaml, without its stage."

_UNCHANGING_HINT = "Write $ instead, which has both the old and the new facts: changed($.nodes)."

_TOKEN = re.compile(
    r"""(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`)
    |\b(?P<call>changed|changedAny|changedAll|added|deleted)\s*\(
    |(?P<open>\()|(?P<close>\))
    |(?P<now>\$(?:common|node)\b)""",
    re.VERBOSE,
)


def require_type(graph_type: str) -> None:
    """Raise `UsageError` if `graph_type` cannot name a graph type: a master takes types from URLs."""
    if not _TYPE.fullmatch(graph_type):
        raise UsageError(f"{graph_type!r} cannot be a graph type.", hint="Use letters, digits, - and _ only.")


def check_document(
    document: GraphDocument, owner: Owner | None, below: Sequence[Layer] | None, stages: Collection[str] = ()
) -> tuple[Finding, ...]:
    """Return all findings of a document that is to become the graph of `owner`, including those of reading it.

    `below` are the layers that it will lie over. None means that they are not known (a file that is only checked, a
    plugin's graph); records without a type are then accepted. `stages` are the stages that the target has besides
    `PLUGIN_STAGES` and those that the document or a layer below defines.
    """
    return tuple(limited(_findings(document, owner, below, stages)))


def _findings(
    document: GraphDocument, owner: Owner | None, below: Sequence[Layer] | None, stages: Collection[str]
) -> Iterator[Finding]:
    yield from document.findings
    if document.name and not document.name.isprintable():
        message = f"{document.name!r}: the name of the graph contains characters that cannot be printed"
        yield Finding(Severity.ERROR, "G016", message, hint=_PRINTABLE)
    yield from _duplicates(document.tasks)
    if below is not None:
        yield from _partial(document.tasks, owner, below)
    known = _stages(document.tasks, below or (), stages)
    for task in document.tasks:
        if not task.id.isprintable():
            yield unprintable_id(task.id, task.source.place("id"), Severity.ERROR, _PRINTABLE)
        yield from _stage(task, known)
        for path, message, hint in unknown_keys(task):
            yield _finding(Severity.WARNING, "G009", task, path, message, hint)
        for check in (_patterns, _placement_and_parameters, _on_itself):
            yield from check(task)
        for code, attribute, message, hint in surprises(task):
            yield _finding(Severity.WARNING, code, task, attribute, message, hint)


def unprintable_id(task_id: str, place: Place, severity: Severity, hint: str = "") -> Finding:
    """Return the finding for an id with characters that cannot be seen or typed; a terminal even obeys some of them.

    >>> unprintable_id("a\\nb", Place(), Severity.ERROR).message
    "task 'a\\\\nb': its id contains characters that cannot be printed"
    """
    message = f"task {task_id!r}: its id contains characters that cannot be printed"
    return Finding(severity, "G016", message, place, task_id, hint)


def _finding(severity: Severity, code: str, task: Task, attribute: str, message: str, hint: str = "") -> Finding:
    return Finding(severity, code, f"task {task.id}: {message}", task.source.place(attribute), task.id, hint)


def _duplicates(tasks: Sequence[Task]) -> Iterator[Finding]:
    seen: dict[str, Task] = {}
    for task in tasks:
        if task.id in seen:
            yield duplicate(task, seen[task.id])
        seen.setdefault(task.id, task)


def _partial(tasks: Sequence[Task], owner: Owner | None, below: Sequence[Layer]) -> Iterator[Finding]:
    known = {task.id for layer in below for task in layer.tasks}
    similar = Similar(known)
    under = {Level.PLUGIN: "in the release", Level.CLUSTER: "in the release or an enabled plugin"}
    where = under.get(owner.level, "below it") if owner else "below it"
    for task in tasks:
        if task.is_partial and task.id not in known:
            close = similar.nearest(task.id)
            hint = f"Did you mean {close}? Or state its type." if close else "State its type."
            yield _finding(Severity.ERROR, "G020", task, "", f"it has no type, and nothing {where} defines it", hint)


def _stages(tasks: Sequence[Task], below: Sequence[Layer], stages: Collection[str]) -> list[str]:
    below_and_here = (*(task for layer in below for task in layer.tasks), *tasks)
    ends = (task.id for task in below_and_here if task.type == TaskType.STAGE and task.id.endswith("_end"))
    return list(dict.fromkeys((*PLUGIN_STAGES, *(end.removesuffix("_end") for end in ends), *stages)))


def _stage(task: Task, known: Sequence[str]) -> Iterator[Finding]:
    if not task.stage:
        return
    stage = parse_stage(task.stage)
    if stage.name not in known:
        close = nearest(stage.name, known)
        hint = f"Stages: {', '.join(known)}." + (f" Did you mean {close}?" if close else "")
        yield _finding(Severity.ERROR, "G011", task, "stage", f"the stage {stage.name!r} does not exist", hint)
    if not stage.is_valid:
        yield _finding(
            Severity.ERROR, "G012", task, "stage", f"the priority in {task.stage!r} is not a plain decimal number",
            f"Write it as {stage.name}/100 or {stage.name}/-99.9.",
        )  # fmt: skip


def _patterns(task: Task) -> Iterator[Finding]:
    for attribute, word in words_of(task):
        if pattern_error(word):
            message, hint = bad_pattern(attribute, word)
            yield _finding(Severity.ERROR, "G015", task, attribute, message, hint)


def _on_itself(task: Task) -> Iterator[Finding]:
    """Yield a warning if a task waits for itself on the same node (G023). Patterns may well match their own task."""
    for attribute in ("requires", "required_for"):
        if task.id in task.names(attribute):
            yield _finding(Severity.WARNING, "G023", task, attribute, _ON_ITSELF.format(attribute), _ON_ITSELF_HINT)
    for attribute in RELATION_LISTS:
        if any(relation.name == task.id and relation.roles == "self" for relation in task.relations(attribute)):
            yield _finding(Severity.WARNING, "G023", task, attribute, _ON_ITSELF.format(attribute), _ON_ITSELF_HINT)


def misspelt_roles(tasks: Iterable[Task], own: Collection[str] = ()) -> Iterator[Finding]:
    """Yield a warning for each role of a task that only a hyphen, an underscore or a capital letter keeps from being
    one of Fuel's, one of `own`, or the primary of one (G041). Which other roles exist is known only in an environment.

    >>> [finding.hint for finding in misspelt_roles([Task("a", {"roles": ["primary_db", "Ceph_OSD", "My_role"]})])]
    ['Did you mean primary-db?', 'Did you mean ceph-osd?']
    """
    known = {_spelt(name): name for name in (*FUEL_ROLES, *own)}
    for task in tasks:
        for attribute, word in _role_words(task):
            spelt = _spelt(word)
            meant = known.get(spelt, word)
            if spelt.startswith("primary-"):
                meant = "primary-" + known.get(spelt[len("primary-") :], word[len("primary-") :])
            if word != meant and word not in own:
                message = f"{attribute} names the role {word}, which is probably misspelt"
                yield _finding(Severity.WARNING, "G041", task, attribute, message, f"Did you mean {meant}?")


def _spelt(role: str) -> str:
    return role.replace("_", "-").casefold()


def _role_words(task: Task) -> Iterator[tuple[str, str]]:
    """Yield the words by which a task names roles, each with its attribute."""
    for attribute in ("roles", "groups", "tags"):
        for word in task.names(attribute):
            yield attribute, word
    for attribute in RELATION_LISTS:
        for relation in task.relations(attribute):
            for role in relation.roles if isinstance(relation.roles, tuple) else (relation.roles,):
                if isinstance(role, str):
                    yield attribute, role


def words_of(task: Task) -> Iterator[tuple[str, str]]:
    """Yield the names and patterns by which a task refers to others, each with its attribute."""
    for attribute in NAME_LISTS:
        for word in task.names(attribute):
            yield attribute, word
    for attribute in RELATION_LISTS:
        for relation in task.relations(attribute):
            roles = relation.roles if isinstance(relation.roles, tuple) else (relation.roles,)
            for name in (relation.name, *roles):
                if isinstance(name, str):
                    yield attribute, name


def bad_pattern(attribute: str, word: str) -> tuple[str, str]:
    """Return the message and the hint for a pattern in `attribute` that cannot be matched."""
    message = f"{word} in {attribute} is not a regular expression that can be matched: {pattern_error(word)}"
    return message, "Correct the pattern between the slashes, or list the names that it means."


def _placement_and_parameters(task: Task) -> Iterator[Finding]:
    attribute, names = task.placement
    if "*" in names and len(names) > 1:
        yield _finding(
            Severity.WARNING, "G014", task, attribute, f"'*' next to other names in {attribute} adds no nodes",
            "Write '*' alone for every node.",
        )  # fmt: skip
    if task.type in SHAPES and not task.attributes.get("parameters"):
        yield _finding(
            Severity.WARNING, "G013", task, "type", f"a task of type {task.type} without parameters cannot run",
            "Add its parameters, unless another layer has them.",
        )  # fmt: skip


def surprises(task: Task) -> Iterator[tuple[str, str, str, str]]:
    """Yield each value that is accepted, and does not do what it seems to: code, attribute, problem, and what to do."""
    for attribute, problem in _unchanging(task):
        yield "G017", attribute, problem, _UNCHANGING_HINT
    if "condition" in task.attributes and task.condition is None:
        yield "G019", "condition", "its condition is empty, so it always runs", "Write false to skip it, or true."
    yield from _stars(task)
    for attribute in task.ignored:
        yield "G029", attribute, IGNORED.format(attribute), IGNORED_HINT
    stated = task.attributes.get("fault_tolerance")
    if stated is not None and task.type in ("", TaskType.GROUP) and (
        not isinstance(stated, int | str) or isinstance(stated, bool) or tolerance_from(stated) is None
    ):  # fmt: skip
        read = tolerance_from(stated)
        effect = "cannot be read, so any number of its nodes may fail" if read is None else f"counts as {read[0]}"
        hint = "Write a whole number, or a percentage such as '10%'."
        yield "G025", "fault_tolerance", f"the fault_tolerance {stated!r:.40} {effect}", hint


def _stars(task: Task) -> Iterator[tuple[str, str, str, str]]:
    """Yield each `*` that means no node where it stands (G014)."""
    if task.is_placed_by_star:
        attribute = task.placement[0]
        stated = "'*'" if attribute in task.source.lone else "['*']"
        takes = task.names("roles") == ("*",)
        hint = f"Remove {attribute}: it takes precedence over roles." if takes else "Write roles: '*' for every node."
        yield "G014", attribute, f"{attribute}: {stated} means no node", hint
    for attribute in RELATION_LISTS:
        if any(isinstance(relation.roles, tuple) and "*" in relation.roles for relation in task.relations(attribute)):
            shown = attribute.replace("_", "-")
            yield (
                "G014",
                attribute,
                f"'*' in a list of roles in {shown} means no node",
                "Write role: '*' for every node.",
            )


def _unchanging(task: Task) -> Iterator[tuple[str, str]]:
    """Yield each attribute of a task whose expressions ask for changes of what never changes, and the problem (G017).

    The functions that compare facts pass the other facts to their argument as `$` only: `$common` and `$node` are the
    current ones on both sides. Source: Nailgun `yaql_ext.datadiff`, whose authors moved their own tasks to `$`.
    """
    for attribute, value in task.attributes.items():
        for text in expressions_in(value):
            if variable := never_changes(text):
                yield attribute, f"{attribute} asks for changes of {variable}, which is the same in every run"
                break


def never_changes(expression: str) -> str:
    """Return the first of `$common` and `$node` that an expression compares with itself, or an empty string.

    >>> never_changes("changedAny($.get('vips'), $common.nodes)")
    '$common'
    >>> never_changes("changed($.x) and $node.y = 'changed($node)'")
    ''
    """
    if "$common" not in expression and "$node" not in expression:
        return ""
    depth: list[bool] = []
    for token in _TOKEN.finditer(expression):
        if token["call"] or token["open"]:
            depth.append(bool(token["call"]))
        elif token["close"] and depth:
            depth.pop()
        elif token["now"] and any(depth):
            return token["now"]
    return ""


def expressions_in(value: Any) -> Iterator[str]:
    """Yield the YAQL expressions at any depth of an attribute."""
    for mapping in mappings_in(value):
        if isinstance(text := mapping.get("yaql_exp"), str):
            yield text
