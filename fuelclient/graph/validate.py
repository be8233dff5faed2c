"""Checks of a graph before it is stored: everything that is wrong with one document, in one go.

Codes: G001-G010 are about the document (`files`, `serializers`), G011-G029 about its tasks (here), G030 and
above about the merged and placed graph (`graph.references`, `plan`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from fuelclient.errors import UsageError, nearest
from fuelclient.graph.match import pattern_error
from fuelclient.graph.merge import duplicate
from fuelclient.graph.stage import PLUGIN_STAGES, parse_stage
from fuelclient.graph.unchanging import HINT, unchanging
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.graph import GraphDocument, Layer, Level, Owner
from fuelclient.model.task import KNOWN, NAME_LISTS, RELATION_LISTS, Task, TaskType

_NEED_PARAMETERS = frozenset(
    {TaskType.PUPPET, TaskType.SHELL, TaskType.SYNC, TaskType.UPLOAD_FILE, TaskType.UPLOAD_FILES,
     TaskType.COPY_FILES, TaskType.MASTER_SHELL}
)  # fmt: skip
_TYPE = re.compile(r"[A-Za-z0-9_-]+")
_SPELLINGS = (*KNOWN, "role", "cross-depends", "cross-depended-by")


def require_type(graph_type: str) -> None:
    """Raise `UsageError` if `graph_type` cannot name a graph type: a master takes types from URLs."""
    if not _TYPE.fullmatch(graph_type):
        raise UsageError(f"{graph_type!r} cannot be a graph type.", hint="Use letters, digits, - and _ only.")


def check_document(
    document: GraphDocument, owner: Owner | None, below: Sequence[Layer] | None, stages: Collection[str] = ()
) -> tuple[Finding, ...]:
    """All findings of a document that is to become the graph of `owner`, its own reading's included.

    `below` are the layers that it will lie over; None means that they are not known (a file that is only
    checked, a plugin's graph), and then a record without a type is taken on trust. `stages` are the stages that
    the target has beside those that every release has and those that the document or a layer below defines.
    """
    findings = [*document.findings, *_title(document.name or ""), *_duplicates(document.tasks)]
    if below is not None:
        findings += _partial(document.tasks, owner, below)
    known = _stages(document.tasks, below or (), stages)
    for task in document.tasks:
        findings += _name(task)
        findings += _stage(task, known)
        findings += _typos(task)
        findings += _patterns(task)
        findings += _wildcards(task)
        findings += _parameters(task)
        findings += _unchanging(task)
    return tuple(findings)


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
    under = {Level.PLUGIN: "in the release", Level.CLUSTER: "in the release or an enabled plugin"}
    where = under.get(owner.level, "below it") if owner else "below it"
    for task in tasks:
        if task.is_partial and task.id not in known:
            close = nearest(task.id, known)
            hint = f"Did you mean {close}? Or state its type." if close else "State its type."
            yield _finding(Severity.ERROR, "G020", task, "", f"it has no type, and nothing {where} defines it", hint)


def _title(name: str) -> Iterator[Finding]:
    if not name.isprintable():
        message = f"{name!r}: the name of the graph has unprintable characters"
        yield Finding(Severity.ERROR, "G016", message, hint="Write printable letters only.")


def _name(task: Task) -> Iterator[Finding]:
    if not task.id.isprintable():
        place = task.source.place("id")
        yield Finding(Severity.ERROR, "G016", unprintable_id(task.id), place, task.id, "Write printable letters only.")


def unprintable_id(name: str) -> str:
    """What is wrong with an id that has characters which nobody can see, type or print: a terminal obeys some.

    >>> unprintable_id("a\\nb")
    "task 'a\\\\nb': its id has unprintable characters"
    """
    return f"task {name!r}: its id has unprintable characters"


def _stages(tasks: Sequence[Task], below: Sequence[Layer], stages: Collection[str]) -> list[str]:
    found = dict.fromkeys(PLUGIN_STAGES)
    for task in (*(task for layer in below for task in layer.tasks), *tasks):
        if task.type == TaskType.STAGE and task.id.endswith("_end"):
            found[task.id.removesuffix("_end")] = None
    found.update(dict.fromkeys(stages))
    return list(found)


def _stage(task: Task, known: Sequence[str]) -> Iterator[Finding]:
    if not task.stage:
        return
    stage = parse_stage(task.stage)
    if stage.name not in known:
        close = nearest(stage.name, known)
        hint = f"Stages: {', '.join(known)}." + (f" Did you mean {close}?" if close else "")
        yield _finding(Severity.ERROR, "G011", task, "stage", f"there is no stage {stage.name!r}", hint)
    if not stage.is_valid:
        yield _finding(
            Severity.ERROR, "G012", task, "stage", f"the priority in {task.stage!r} is not a plain decimal number",
            f"Write it as {stage.name}/100 or {stage.name}/-99.9.",
        )  # fmt: skip


def _typos(task: Task) -> Iterator[Finding]:
    for key in task.attributes:
        if key in KNOWN or len(key) < 4:
            continue
        close = nearest(key, _SPELLINGS)
        if close and _is_typo(key, close):
            yield _finding(
                Severity.WARNING, "G009", task, key, f"unknown key {key!r} is kept, but means nothing to Fuel",
                f"Did you mean {close}?",
            )  # fmt: skip


def _is_typo(key: str, word: str) -> bool:
    """Whether `key` is `word` with a letter or two wrong, and not a word of its own such as `test_case`.

    >>> _is_typo("required_form", "required_for"), _is_typo("test_case", "test_post")
    (True, False)
    """
    ours, theirs = sorted(key.replace("-", "_")), sorted(word.replace("-", "_"))
    left = list(theirs)
    extra = 0
    for letter in ours:
        if letter in left:
            left.remove(letter)
        else:
            extra += 1
    return max(extra, len(left)) <= 2


def _patterns(task: Task) -> Iterator[Finding]:
    for attribute in NAME_LISTS:
        for word in task.names(attribute):
            if error := pattern_error(word):
                yield _bad_pattern(task, attribute, word, error)
    for attribute in RELATION_LISTS:
        for relation in task.relations(attribute):
            roles = relation.roles if isinstance(relation.roles, tuple) else (relation.roles,)
            for word in (relation.name, *roles):
                if isinstance(word, str) and (error := pattern_error(word)):
                    yield _bad_pattern(task, attribute, word, error)


def _bad_pattern(task: Task, attribute: str, word: str, error: str) -> Finding:
    message = f"{word} in {attribute} is not a regular expression: {error}"
    return _finding(Severity.ERROR, "G015", task, attribute, message, "Correct the pattern between the slashes.")


def _wildcards(task: Task) -> Iterator[Finding]:
    attribute, names = task.placement
    if "*" in names and len(names) > 1:
        yield _finding(
            Severity.WARNING, "G014", task, attribute, f"'*' beside other names in {attribute} adds no node",
            "Write '*' alone for every node.",
        )  # fmt: skip


def _parameters(task: Task) -> Iterator[Finding]:
    if task.type in _NEED_PARAMETERS and not task.attributes.get("parameters"):
        yield _finding(
            Severity.WARNING, "G013", task, "type", f"a task of type {task.type} without parameters does nothing",
            "Add its parameters.",
        )  # fmt: skip


def _unchanging(task: Task) -> Iterator[Finding]:
    for attribute, message in unchanging(task):
        yield _finding(Severity.WARNING, "G017", task, attribute, message, HINT)
