"""Check a graph before it is stored, and report all problems of the document at once.

The shape of documents is checked where they are read (`files`, `serializers`), and merged graphs in
`graph.references` and `plan`.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from fuelclient.errors import UsageError, did_you_mean, nearest
from fuelclient.graph.match import pattern_error
from fuelclient.graph.merge import duplicates
from fuelclient.graph.parameters import SHAPES, Entries, Shape, names_of, parameter_problems
from fuelclient.graph.stage import PLUGIN_STAGES, parse_stage, stage_names
from fuelclient.model.finding import Finding, Severity, finding_at, limited, task_finding
from fuelclient.model.graph import GraphDocument, Layer, Level, MergedTask, Owner
from fuelclient.model.release import FUEL_ROLES
from fuelclient.model.task import DEPENDENCIES, KNOWN, NAME_LISTS, RELATION_LISTS, Task, TaskType, tolerance_from
from fuelclient.similar import Similar

_TYPE = re.compile(r"[A-Za-z0-9_-]+")
_PRINTABLE = "Use printable characters only."

IGNORED = "{} has no effect in an entry of tasks.yaml, as on a Fuel master: the entry is ordered by its stage alone"
IGNORED_HINT = "Remove it, or move the entry to deployment_tasks.yaml, without its stage."

_Problem = tuple[str, str, str, str]
"""A warning about a task: code, attribute, problem, and what to do."""

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


def check_document(document: GraphDocument, owner: Owner | None, below: Sequence[Layer] | None) -> tuple[Finding, ...]:
    """All findings about a document that is to become the graph of `owner`, including those that were found while it
    was read.

    `below` are the layers that it will override, or None if they are unknown (a file that is only checked, a plugin's
    graph). Records without a type are then accepted.
    """
    return tuple(limited(_findings(document, owner, below)))


def _findings(document: GraphDocument, owner: Owner | None, below: Sequence[Layer] | None) -> Iterator[Finding]:
    yield from document.findings
    if document.name and not document.name.isprintable():
        message = f"{document.name!r}: the name of the graph contains characters that cannot be printed"
        yield Finding(Severity.ERROR, "G016", message, hint=_PRINTABLE)
    yield from duplicates(document.tasks)
    if below is not None:
        yield from _baseless_findings(document.tasks, owner, below)
    every = (*(task for layer in below or () for task in layer.tasks), *document.tasks)
    known = list(dict.fromkeys((*PLUGIN_STAGES, *stage_names(every))))
    for task in document.tasks:
        if not task.id.isprintable():
            yield unprintable_id(task, Severity.ERROR, _PRINTABLE)
        yield from _stage_findings(task, known)
        for path, message, hint in unknown_keys(task):
            yield task_finding(Severity.WARNING, "G009", task, path, message, hint)
        yield from (bad_pattern(task, key, name) for key, name in references_in(task) if pattern_error(name))
        for code, attribute, message, hint in (*_problems(task), *_on_itself(task), *ineffective_values(task)):
            yield task_finding(Severity.WARNING, code, task, attribute, message, hint)


def unprintable_id(given: Task | MergedTask, severity: Severity, hint: str = "") -> Finding:
    """The finding for an id with characters that cannot be seen or typed; some would control the terminal.

    >>> unprintable_id(Task("a\\nb", {}), Severity.ERROR).message
    "task 'a\\\\nb': its id contains characters that cannot be printed"
    """
    message = f"task {given.id!r}: its id contains characters that cannot be printed"
    return finding_at(severity, "G016", given, "id", message, hint)


def _baseless_findings(tasks: Sequence[Task], owner: Owner | None, below: Sequence[Layer]) -> Iterator[Finding]:
    known = {task.id for layer in below for task in layer.tasks}
    similar = Similar(known)
    levels_below = {Level.PLUGIN: "in the release", Level.CLUSTER: "in the release or an enabled plugin"}
    where = levels_below.get(owner.level, "below it") if owner else "below it"
    for task in tasks:
        if task.is_partial and task.id not in known:
            close = similar.nearest(task.id)
            hint = f"Did you mean {close}? Or state its type." if close else "State its type."
            yield task_finding(
                Severity.ERROR, "G020", task, "", f"it has no type, and nothing {where} defines it", hint
            )


def _stage_findings(task: Task, known: Sequence[str]) -> Iterator[Finding]:
    if not task.stage:
        return
    stage = parse_stage(task.stage)
    if stage.name not in known:
        hint = f"Stages: {', '.join(known)}. {did_you_mean(stage.name, known, '')}".rstrip()
        yield task_finding(Severity.ERROR, "G011", task, "stage", f"the stage {stage.name!r} does not exist", hint)
    if not stage.is_valid:
        yield task_finding(
            Severity.ERROR, "G012", task, "stage", f"the priority in {task.stage!r} is not a plain decimal number",
            f"Write it as {stage.name}/100 or {stage.name}/-99.9.",
        )  # fmt: skip


def _on_itself(task: Task) -> Iterator[_Problem]:
    """Yield a warning if a task waits for itself on the same node (G023). Patterns may match their own task."""
    for attribute in DEPENDENCIES:
        related = [relation.name for relation in task.relations(attribute) if relation.roles == "self"]
        if task.id in (related if attribute in RELATION_LISTS else task.names(attribute)):
            problem = f"it names itself in {attribute}: this is ignored here, but makes a run on a Fuel master fail"
            yield "G023", attribute, problem, "Remove its own name from the list."


def misspelt_roles(tasks: Iterable[Task], own: Collection[str] = ()) -> Iterator[Finding]:
    """Yield a warning for each role of a task that differs from a role of Fuel or of `own`, or from the primary of
    one, only in hyphens, underscores or case (G041). Other roles are not checked here, because only an environment
    knows all of its roles.

    >>> [finding.hint for finding in misspelt_roles([Task("a", {"roles": ["primary_db", "Ceph_OSD", "My_role"]})])]
    ['Did you mean primary-db?', 'Did you mean ceph-osd?']
    """
    known = {_normalised(name): name for name in (*FUEL_ROLES, *own)}
    for task in tasks:
        for attribute, role in references_in(task, ("roles", "groups", "tags"), names=False):
            normalised = _normalised(role)
            meant = known.get(normalised, role)
            if normalised.startswith("primary-"):
                meant = "primary-" + known.get(normalised[len("primary-") :], role[len("primary-") :])
            if role != meant and role not in own:
                problem = f"{attribute} names the role {role}, which is probably misspelt"
                yield task_finding(Severity.WARNING, "G041", task, attribute, problem, f"Did you mean {meant}?")


def _normalised(role: str) -> str:
    return role.replace("_", "-").casefold()


def references_in(
    task: Task, lists: Iterable[str] = NAME_LISTS, *, names: bool = True, roles: bool = True
) -> Iterator[tuple[str, str]]:
    """Yield each name or pattern in the attributes `lists` and in the relations of a task, after the name of its
    attribute. Of relations, yield the names of tasks if `names`, and those of roles if `roles`."""
    written = task.attributes.__contains__
    for attribute in filter(written, lists):
        for target in task.names(attribute):
            yield attribute, target
    for attribute in filter(written, RELATION_LISTS):
        for relation in task.relations(attribute):
            of_roles = relation.roles if isinstance(relation.roles, tuple) else (relation.roles,)
            for given in (*((relation.name,) if names else ()), *(of_roles if roles else ())):
                if isinstance(given, str):
                    yield attribute, given


def bad_pattern(given: Task | MergedTask, attribute: str, target: str) -> Finding:
    problem = f"{target} in {attribute} is not a regular expression that can be matched: {pattern_error(target)}"
    hint = "Correct the pattern between the slashes, or list the names that it means."
    return task_finding(Severity.ERROR, "G015", given, attribute, problem, hint)


def _problems(task: Task) -> Iterator[_Problem]:
    attribute, names = task.placement
    if "*" in names and len(names) > 1:
        problem = f"'*' next to other names in {attribute} adds no nodes"
        yield "G014", attribute, problem, "Write '*' alone for every node."
    if task.type in SHAPES and not task.attributes.get("parameters"):
        problem = f"a task of type {task.type} without parameters cannot run"
        yield "G013", "type", problem, "Add its parameters, unless another layer has them."


def ineffective_values(task: Task) -> Iterator[_Problem]:
    """Yield a warning for each value that is accepted, but does not do what it seems to.

    The functions that compare facts (G017) evaluate their argument with `$` as the old and as the new facts, but
    `$common` and `$node` are the new ones both times. Source: Nailgun `yaql_ext.datadiff`; its authors write `$` in
    their tasks.
    """
    has_expressions = any(expressions_in(task.attributes))  # few have, and all attributes together are faster
    for attribute, value in task.attributes.items() if has_expressions else ():
        if variable := next(filter(None, map(compared_with_itself, expressions_in(value))), ""):
            problem = f"{attribute} asks for changes of {variable}, which is the same in every run"
            hint = "Write $ instead, which has both the old and the new facts: changed($.nodes)."
            yield "G017", attribute, problem, hint
    if "condition" in task.attributes and task.condition is None:
        yield "G019", "condition", "its condition is empty, so it always runs", "Write false to skip it, or true."
    if task.is_placed_by_star:
        attribute = task.placement[0]
        star = "'*'" if attribute in task.source.lone else "['*']"
        every = task.names("roles") == ("*",)
        hint = f"Remove {attribute}: it takes precedence over roles." if every else "Write roles: '*' for every node."
        yield "G014", attribute, f"{attribute}: {star} means no node", hint
    for attribute in filter(task.attributes.__contains__, RELATION_LISTS):
        if any(isinstance(relation.roles, tuple) and "*" in relation.roles for relation in task.relations(attribute)):
            problem = f"'*' in a list of roles in {attribute.replace('_', '-')} means no node"
            yield "G014", attribute, problem, "Write role: '*' for every node."
    for attribute in task.ignored:
        yield "G029", attribute, IGNORED.format(attribute), IGNORED_HINT
    if (given := task.attributes.get("fault_tolerance")) is not None and task.type in ("", TaskType.GROUP) and (
        not isinstance(given, int | str) or isinstance(given, bool) or tolerance_from(given) is None
    ):  # fmt: skip
        read = tolerance_from(given)
        effect = "cannot be read, so any number of its nodes may fail" if read is None else f"counts as {read[0]}"
        hint = "Write a whole number, or a percentage such as '10%'."
        yield "G025", "fault_tolerance", f"the fault_tolerance {given!r:.40} {effect}", hint


def compared_with_itself(expression: str) -> str:
    """The first `$common` or `$node` that an expression compares with itself; empty if there is none.

    >>> compared_with_itself("changedAny($.get('vips'), $common.nodes)")
    '$common'
    >>> compared_with_itself("changed($.x) and $node.y = 'changed($node)'")
    ''
    """
    if "$common" not in expression and "$node" not in expression:
        return ""
    in_calls: list[bool] = []
    for token in _TOKEN.finditer(expression):
        if token["call"] or token["open"]:
            in_calls.append(bool(token["call"]))
        elif token["close"] and in_calls:
            in_calls.pop()
        elif token["now"] and any(in_calls):
            return token["now"]
    return ""


def expressions_in(value: Any) -> Iterator[str]:
    """Yield the YAQL expressions at any depth of an attribute."""
    for mapping in mappings_in(value):
        if isinstance(text := mapping.get("yaql_exp"), str):
            yield text


_SPELLINGS = (*KNOWN, "role", "cross-depends", "cross-depended-by")
_EXPRESSION = "yaql_exp"
_RELATION = ("name", "role", "tags", "policy")
_STRATEGY = ("type", "amount")
_MIN_KEY_LENGTH = 4
"""Shorter keys resemble a known key too easily to be called typos."""

_KeyCheck = tuple[str, str, Iterable[str], Sequence[str]]
"""The dotted path of a mapping, its name in messages, the keys to check, and the keys that it can have."""


def unknown_keys(task: Task) -> Iterator[tuple[str, str, str]]:
    """Yield misspelt and misplaced keys of a task, and all unknown keys of its relations, strategies, expressions and
    files: the dotted path of each, the problem, and what to do."""
    yield from _task_keys(task)
    unknown: dict[tuple[str, str], tuple[str, Sequence[str]]] = {}
    for path, holder, keys, known in (*_relation_keys(task), *_parameter_keys(task), *_expression_keys(task)):
        for key in keys:
            if key not in known:
                unknown.setdefault((path, key), (holder, known))
    for (path, key), (holder, known) in unknown.items():
        hint = did_you_mean(key, known, f"Keys: {', '.join(known)}.")
        yield f"{path}.{key}", f"{holder} has no key {key!r}; it is kept, but does nothing", hint


_SCALARS = (str, int, float, type(None))


def mappings_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the mappings at any depth of an attribute. YAML aliases may make a value contain itself."""
    waiting, seen = [value], set[int]()
    while waiting:
        item = waiting.pop()
        if isinstance(item, _SCALARS) or id(item) in seen:
            continue
        if isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, dict) or isinstance(item, Mapping):  # noqa: SIM101 (most are dicts, which is faster)
            yield item
            waiting.extend(item.values())
        seen.add(id(item))


def _task_keys(task: Task) -> Iterator[tuple[str, str, str]]:
    for key in task.attributes:
        if key == "fault_tolerance" and task.type not in ("", TaskType.GROUP):
            yield key, "fault_tolerance has no effect outside of groups", "State it in the group of the role."
        elif key in KNOWN:
            continue
        elif key == "strategy" or key in names_of(task.type):
            yield key, f"{key} has no effect outside the parameters", f"Move it into them: parameters: {{{key}: ...}}."
        elif len(key) >= _MIN_KEY_LENGTH and (close := _nearest_key(key)) and _is_typo(key, close):
            yield key, f"Fuel has no key {key!r}; it is kept, but does nothing", f"Did you mean {close}?"


def _relation_keys(task: Task) -> Iterator[_KeyCheck]:
    for attribute in RELATION_LISTS:
        given = task.attributes.get(attribute)
        for entry in given if isinstance(given, list) else ():
            if isinstance(entry, Mapping) and _EXPRESSION not in entry:
                yield attribute, f"an entry of {attribute.replace('_', '-')}", entry, _RELATION


def _parameter_keys(task: Task) -> Iterator[_KeyCheck]:
    """Yield the keys of strategies and files, and misspelt parameters, unless the one that is meant is required: then
    an error already reports that it is missing."""
    parameters = task.attributes.get("parameters")
    if not isinstance(parameters, Mapping) or _EXPRESSION in parameters:
        return
    strategy, known = parameters.get("strategy"), names_of(task.type)
    if isinstance(strategy, Mapping) and _EXPRESSION not in strategy:
        yield "parameters.strategy", "a strategy", strategy, _STRATEGY
    missing = {name for name, _ in parameter_problems(task.type, parameters)}
    for key in parameters:
        if key not in known and len(key) >= _MIN_KEY_LENGTH and (close := nearest(key, known)) and close not in missing:
            yield "parameters", f"a task of type {task.type}", (key,), known
    yield from _entry_keys("parameters", SHAPES.get(task.type, {}), parameters)


def _entry_keys(path: str, shape: Shape, holder: Mapping[str, Any]) -> Iterator[_KeyCheck]:
    for name, reader in shape.items():
        given = holder.get(name) if isinstance(reader, Entries) else None
        for entry in given if isinstance(given, list) else ():
            if isinstance(reader, Entries) and isinstance(entry, Mapping) and _EXPRESSION not in entry:
                yield f"{path}.{name}", f"an entry of {name}", entry, tuple(reader.shape)
                yield from _entry_keys(f"{path}.{name}", reader.shape, entry)


def _expression_keys(task: Task) -> Iterator[_KeyCheck]:
    """Yield the keys next to `yaql_exp`, and keys that are meant as `yaql_exp`. A condition that is a mapping is always
    meant as an expression."""
    for attribute, value in task.attributes.items():
        for mapping in mappings_in(value):
            if _EXPRESSION in mapping or (attribute == "condition" and mapping is value):
                yield attribute, f"an expression in {attribute}", mapping, (_EXPRESSION,)
            else:
                alike = [key for key in mapping if key.lower().startswith("yaql")]
                yield attribute, attribute, alike, (_EXPRESSION,)


@functools.lru_cache(maxsize=1024)
def _nearest_key(key: str) -> str:
    return nearest(key, _SPELLINGS)


def _is_typo(key: str, known: str) -> bool:
    """Whether `key` is `known` with a letter or two wrong, and not a different word such as `test_case`.

    >>> _is_typo("required_form", "required_for"), _is_typo("test_case", "test_post")
    (True, False)
    """
    ours, theirs = (Counter(text.replace("-", "_")) for text in (key, known))
    return max((ours - theirs).total(), (theirs - ours).total()) <= 2
