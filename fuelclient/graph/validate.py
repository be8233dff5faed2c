"""Check a graph before it is stored, and report everything that is wrong with the document at once.

The shape of documents is checked where they are read (`files`, `serializers`), and merged graphs in
`graph.references` and `plan`.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from fuelclient.errors import UsageError, nearest
from fuelclient.graph.match import pattern_error
from fuelclient.graph.merge import duplicates
from fuelclient.graph.parameters import SHAPES, Entries, Shape, impossible, names_of
from fuelclient.graph.stage import PLUGIN_STAGES, parse_stage, stage_names
from fuelclient.model.finding import Finding, Severity, finding_at, limited, task_finding
from fuelclient.model.graph import GraphDocument, Layer, Level, MergedTask, Owner
from fuelclient.model.release import FUEL_ROLES
from fuelclient.model.task import KNOWN, NAME_LISTS, RELATION_LISTS, Task, TaskType, tolerance_from
from fuelclient.similar import Similar

_TYPE = re.compile(r"[A-Za-z0-9_-]+")
_PRINTABLE = "Use printable characters only."

IGNORED = "{} of an entry of tasks.yaml is ignored, as by a Fuel master: its stage alone orders it"
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
    """Find everything wrong with a document that is to become the graph of `owner`, including findings of reading it.

    `below` are the layers that it will lie over. None means that they are not known (a file that is only checked, a
    plugin's graph); records without a type are then accepted.
    """
    return tuple(limited(_findings(document, owner, below)))


def _findings(document: GraphDocument, owner: Owner | None, below: Sequence[Layer] | None) -> Iterator[Finding]:
    yield from document.findings
    if document.name and not document.name.isprintable():
        message = f"{document.name!r}: the name of the graph contains characters that cannot be printed"
        yield Finding(Severity.ERROR, "G016", message, hint=_PRINTABLE)
    yield from duplicates(document.tasks)
    if below is not None:
        yield from _partial(document.tasks, owner, below)
    every = (*(task for layer in below or () for task in layer.tasks), *document.tasks)
    known = list(dict.fromkeys((*PLUGIN_STAGES, *stage_names(every))))
    for task in document.tasks:
        if not task.id.isprintable():
            yield unprintable_id(task, Severity.ERROR, _PRINTABLE)
        yield from _stage(task, known)
        for path, message, hint in unknown_keys(task):
            yield task_finding(Severity.WARNING, "G009", task, path, message, hint)
        yield from (bad_pattern(task, attribute, word) for attribute, word in words_of(task) if pattern_error(word))
        for code, attribute, message, hint in (*_lacking(task), *_on_itself(task), *ineffective_values(task)):
            yield task_finding(Severity.WARNING, code, task, attribute, message, hint)


def unprintable_id(given: Task | MergedTask, severity: Severity, hint: str = "") -> Finding:
    """Return the finding for an id with characters that cannot be seen or typed; a terminal even obeys some of them.

    >>> unprintable_id(Task("a\\nb", {}), Severity.ERROR).message
    "task 'a\\\\nb': its id contains characters that cannot be printed"
    """
    message = f"task {given.id!r}: its id contains characters that cannot be printed"
    return finding_at(severity, "G016", given, "id", message, hint)


def _partial(tasks: Sequence[Task], owner: Owner | None, below: Sequence[Layer]) -> Iterator[Finding]:
    known = {task.id for layer in below for task in layer.tasks}
    similar = Similar(known)
    under = {Level.PLUGIN: "in the release", Level.CLUSTER: "in the release or an enabled plugin"}
    where = under.get(owner.level, "below it") if owner else "below it"
    for task in tasks:
        if task.is_partial and task.id not in known:
            close = similar.nearest(task.id)
            hint = f"Did you mean {close}? Or state its type." if close else "State its type."
            yield task_finding(
                Severity.ERROR, "G020", task, "", f"it has no type, and nothing {where} defines it", hint
            )


def _stage(task: Task, known: Sequence[str]) -> Iterator[Finding]:
    if not task.stage:
        return
    stage = parse_stage(task.stage)
    if stage.name not in known:
        close = nearest(stage.name, known)
        hint = f"Stages: {', '.join(known)}." + (f" Did you mean {close}?" if close else "")
        yield task_finding(Severity.ERROR, "G011", task, "stage", f"the stage {stage.name!r} does not exist", hint)
    if not stage.is_valid:
        yield task_finding(
            Severity.ERROR, "G012", task, "stage", f"the priority in {task.stage!r} is not a plain decimal number",
            f"Write it as {stage.name}/100 or {stage.name}/-99.9.",
        )  # fmt: skip


def _on_itself(task: Task) -> Iterator[_Problem]:
    """Yield a warning if a task waits for itself on the same node (G023). Patterns may well match their own task."""
    for attribute in ("requires", "required_for", *RELATION_LISTS):
        related = [relation.name for relation in task.relations(attribute) if relation.roles == "self"]
        if task.id in (related if attribute in RELATION_LISTS else task.names(attribute)):
            problem = f"it names itself in {attribute}, which is ignored here, and ends the run of a Fuel master"
            yield "G023", attribute, problem, "Remove its own name from the list."


def misspelt_roles(tasks: Iterable[Task], own: Collection[str] = ()) -> Iterator[Finding]:
    """Yield a warning for each role of a task that only a hyphen, an underscore or a capital letter keeps from being
    one of Fuel's, one of `own`, or the primary of one (G041). Which other roles exist is known only in an environment.

    >>> [finding.hint for finding in misspelt_roles([Task("a", {"roles": ["primary_db", "Ceph_OSD", "My_role"]})])]
    ['Did you mean primary-db?', 'Did you mean ceph-osd?']
    """
    known = {_spelt(name): name for name in (*FUEL_ROLES, *own)}
    for task in tasks:
        for attribute, word in words_of(task, ("roles", "groups", "tags"), names=False):
            spelt = _spelt(word)
            meant = known.get(spelt, word)
            if spelt.startswith("primary-"):
                meant = "primary-" + known.get(spelt[len("primary-") :], word[len("primary-") :])
            if word != meant and word not in own:
                problem = f"{attribute} names the role {word}, which is probably misspelt"
                yield task_finding(Severity.WARNING, "G041", task, attribute, problem, f"Did you mean {meant}?")


def _spelt(role: str) -> str:
    return role.replace("_", "-").casefold()


def words_of(
    task: Task, lists: Iterable[str] = NAME_LISTS, *, names: bool = True, roles: bool = True
) -> Iterator[tuple[str, str]]:
    """Yield the names and patterns in some lists of a task, and in its relations those of other tasks (`names`) and of
    `roles`, each with its attribute."""
    for attribute in lists:
        for word in task.names(attribute):
            yield attribute, word
    for attribute in RELATION_LISTS:
        for relation in task.relations(attribute):
            of_roles = relation.roles if isinstance(relation.roles, tuple) else (relation.roles,)
            for given in (*((relation.name,) if names else ()), *(of_roles if roles else ())):
                if isinstance(given, str):
                    yield attribute, given


def bad_pattern(given: Task | MergedTask, attribute: str, word: str) -> Finding:
    problem = f"{word} in {attribute} is not a regular expression that can be matched: {pattern_error(word)}"
    hint = "Correct the pattern between the slashes, or list the names that it means."
    return task_finding(Severity.ERROR, "G015", given, attribute, problem, hint)


def _lacking(task: Task) -> Iterator[_Problem]:
    attribute, names = task.placement
    if "*" in names and len(names) > 1:
        problem = f"'*' next to other names in {attribute} adds no nodes"
        yield "G014", attribute, problem, "Write '*' alone for every node."
    if task.type in SHAPES and not task.attributes.get("parameters"):
        problem = f"a task of type {task.type} without parameters cannot run"
        yield "G013", "type", problem, "Add its parameters, unless another layer has them."


def ineffective_values(task: Task) -> Iterator[_Problem]:
    """Yield each value that is accepted, and does not do what it seems to.

    The functions that compare facts (G017) pass the other facts to their argument as `$` only: `$common` and `$node`
    are the current ones on both sides. Source: Nailgun `yaql_ext.datadiff`, whose authors moved their own tasks to `$`.
    """
    for attribute, value in task.attributes.items():
        if variable := next(filter(None, map(never_changes, expressions_in(value))), ""):
            problem = f"{attribute} asks for changes of {variable}, which is the same in every run"
            hint = "Write $ instead, which has both the old and the new facts: changed($.nodes)."
            yield "G017", attribute, problem, hint
    if "condition" in task.attributes and task.condition is None:
        yield "G019", "condition", "its condition is empty, so it always runs", "Write false to skip it, or true."
    if task.is_placed_by_star:
        attribute = task.placement[0]
        star = "'*'" if attribute in task.source.lone else "['*']"
        takes = task.names("roles") == ("*",)
        hint = f"Remove {attribute}: it takes precedence over roles." if takes else "Write roles: '*' for every node."
        yield "G014", attribute, f"{attribute}: {star} means no node", hint
    for attribute in RELATION_LISTS:
        if any(isinstance(relation.roles, tuple) and "*" in relation.roles for relation in task.relations(attribute)):
            problem = f"'*' in a list of roles in {attribute.replace('_', '-')} means no node"
            yield "G014", attribute, problem, "Write role: '*' for every node."
    for attribute in task.ignored:
        yield "G029", attribute, IGNORED.format(attribute), IGNORED_HINT
    given = task.attributes.get("fault_tolerance")
    if given is not None and task.type in ("", TaskType.GROUP) and (
        not isinstance(given, int | str) or isinstance(given, bool) or tolerance_from(given) is None
    ):  # fmt: skip
        read = tolerance_from(given)
        effect = "cannot be read, so any number of its nodes may fail" if read is None else f"counts as {read[0]}"
        hint = "Write a whole number, or a percentage such as '10%'."
        yield "G025", "fault_tolerance", f"the fault_tolerance {given!r:.40} {effect}", hint


def never_changes(expression: str) -> str:
    """Find the first of `$common` and `$node` that an expression compares with itself; an empty string if there is
    none.

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


_SPELLINGS = (*KNOWN, "role", "cross-depends", "cross-depended-by")
_EXPRESSION = "yaql_exp"
_RELATION = ("name", "role", "tags", "policy")
_STRATEGY = ("type", "amount")
_SHORTEST = 4
"""Shorter keys are too easily like another one."""

_Holder = tuple[str, str, Iterable[str], Sequence[str]]
"""The dotted path of what holds keys, what that is in words, its keys, and those that it can have."""


def unknown_keys(task: Task) -> Iterator[tuple[str, str, str]]:
    """Yield the keys of a task that look like others or are in a wrong place, and all that a relation, a strategy, an
    expression or a file does not have: the dotted path of each, what is wrong with it, and what to do."""
    yield from _of_task(task)
    unknown: dict[tuple[str, str], tuple[str, Sequence[str]]] = {}
    for path, holder, keys, known in (*_of_relations(task), *_of_parameters(task), *_of_expressions(task)):
        for key in keys:
            if key not in known:
                unknown.setdefault((path, key), (holder, known))
    for (path, key), (holder, known) in unknown.items():
        close = nearest(key, known)
        hint = f"Did you mean {close}?" if close else f"Keys: {', '.join(known)}."
        yield f"{path}.{key}", f"{holder} has no key {key!r}; it is kept, but does nothing", hint


def mappings_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the mappings at any depth of an attribute. YAML aliases may make a value contain itself."""
    waiting, seen = [value], set[int]()
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):  # as most are, and what follows takes ten times as long
            continue
        if isinstance(item, Mapping | list) and id(item) not in seen:
            seen.add(id(item))
            if isinstance(item, Mapping):
                yield item
            waiting.extend(item.values() if isinstance(item, Mapping) else item)


def _of_task(task: Task) -> Iterator[tuple[str, str, str]]:
    for key in task.attributes:
        if key == "fault_tolerance" and task.type not in ("", TaskType.GROUP):
            yield key, "fault_tolerance does nothing in a task that is no group", "State it in the group of the role."
        elif key in KNOWN:
            continue
        elif key == "strategy" or key in names_of(task.type):
            yield key, f"{key} does nothing beside the parameters", f"Move it into them: parameters: {{{key}: ...}}."
        elif len(key) >= _SHORTEST and (close := _spelling(key)) and _is_typo(key, close):
            yield key, f"Fuel has no key {key!r}; it is kept, but does nothing", f"Did you mean {close}?"


def _of_relations(task: Task) -> Iterator[_Holder]:
    for attribute in RELATION_LISTS:
        given = task.attributes.get(attribute)
        for entry in given if isinstance(given, list) else ():
            if isinstance(entry, Mapping) and _EXPRESSION not in entry:
                yield attribute, f"an entry of {attribute.replace('_', '-')}", entry, _RELATION


def _of_parameters(task: Task) -> Iterator[_Holder]:
    """Yield what strategies and files do not have, and what looks like a parameter of the task's type, unless it is
    impossible without that one, which is an error of its own."""
    parameters = task.attributes.get("parameters")
    if not isinstance(parameters, Mapping) or _EXPRESSION in parameters:
        return
    strategy, known = parameters.get("strategy"), names_of(task.type)
    if isinstance(strategy, Mapping) and _EXPRESSION not in strategy:
        yield "parameters.strategy", "a strategy", strategy, _STRATEGY
    missing = {name for name, _ in impossible(task.type, parameters)}
    for key in parameters:
        if key not in known and len(key) >= _SHORTEST and (close := nearest(key, known)) and close not in missing:
            yield "parameters", f"a task of type {task.type}", (key,), known
    yield from _of_entries("parameters", SHAPES.get(task.type, {}), parameters)


def _of_entries(path: str, shape: Shape, holder: Mapping[str, Any]) -> Iterator[_Holder]:
    for name, reader in shape.items():
        given = holder.get(name) if isinstance(reader, Entries) else None
        for entry in given if isinstance(given, list) else ():
            if isinstance(reader, Entries) and isinstance(entry, Mapping) and _EXPRESSION not in entry:
                yield f"{path}.{name}", f"an entry of {name}", entry, tuple(reader.shape)
                yield from _of_entries(f"{path}.{name}", reader.shape, entry)


def _of_expressions(task: Task) -> Iterator[_Holder]:
    """Yield keys beside an expression, and keys that were meant to be one. A mapping as a condition is always
    meant to be one."""
    for attribute, value in task.attributes.items():
        for mapping in mappings_in(value):
            if _EXPRESSION in mapping or (attribute == "condition" and mapping is value):
                yield attribute, f"an expression in {attribute}", mapping, (_EXPRESSION,)
            else:
                alike = [key for key in mapping if key.lower().startswith("yaql")]
                yield attribute, attribute, alike, (_EXPRESSION,)


@functools.lru_cache(maxsize=1024)
def _spelling(key: str) -> str:
    return nearest(key, _SPELLINGS)


def _is_typo(key: str, word: str) -> bool:
    """Whether `key` is `word` with a letter or two wrong, and not a different word such as `test_case`.

    >>> _is_typo("required_form", "required_for"), _is_typo("test_case", "test_post")
    (True, False)
    """
    ours, theirs = (Counter(text.replace("-", "_")) for text in (key, word))
    return max((ours - theirs).total(), (theirs - ours).total()) <= 2
