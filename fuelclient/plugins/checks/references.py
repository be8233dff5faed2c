"""P061, P062, P064 and P069: check the names in a package, of tasks, roles, volumes, models and scripts.

A package is checked without the release and the other plugins it will be used with, and most names that it does not
define are defined there. So the name of a task is only reported if it looks like a typo: it is similar to the id of a
task in the package, or begins with the plugin's own name. Volumes and roles are reported if neither the package nor
any release of Fuel has them, because plugins do not add volumes to each other's roles.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from fuelclient.errors import InvalidDocument, did_you_mean
from fuelclient.expressions.legacy import parse
from fuelclient.expressions.restrictions import expand_restrictions
from fuelclient.graph.match import is_pattern
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.plugin import SCRIPTS
from fuelclient.model.release import FUEL_ROLES
from fuelclient.model.task import TaskType
from fuelclient.plugins.checks.package_version import CROSS
from fuelclient.plugins.package_files import stays_below
from fuelclient.plugins.parts import Record, strings_in
from fuelclient.plugins.reading import Reading
from fuelclient.printing import count
from fuelclient.serializers.values import items_of, key_text, line_of, mapping, mappings

_RELEASE_VOLUMES = frozenset(
    {"os", "logs", "mongo", "ceph", "cephjournal", "mysql", "vm", "image", "horizon", "cinder", "cinder-block-device"}
)
"""The volumes of Fuel 6.0 to 10.0."""

_WORDS, _DIGITS = re.compile(r"[^_-]+"), re.compile(r"[0-9]+")
_MIN_SIMILARITY = 0.8
_MIN_LETTERS = 4
_MAX_PAIRS = 100_000
"""The most pairs of names that are compared character by character, which takes some seconds."""


def check_names(package: Reading) -> Iterator[Finding]:
    """P061: warn of every name that is probably defined nowhere."""
    # The manifest names the files of graphs.
    if not _unread(package, "deployment_tasks", "node_roles", PurePosixPath(package.files.manifest).stem):
        yield from _unknown_tasks(package)
    if not _unread(package, "node_roles", "volumes"):
        yield from _unknown_volumes(package)


def _unread(package: Reading, *stems: str) -> bool:
    """Whether a file with one of these names could not be read: it may define the names that seem missing."""
    return any(
        finding.code == "P037" and PurePosixPath(finding.place.file).stem in stems for finding in package.files.findings
    )


def _unknown_tasks(package: Reading) -> Iterator[Finding]:
    tasks = [*package.tasks(), *package.records("release_tasks")]
    own = {name for task in tasks if isinstance(name := task.data.get("id"), str)}
    own |= {key_text(name) for name, *_ in package.roles()}
    keys = ("requires", "required_for", "tasks", *CROSS)
    references = [reference for task in tasks for reference in _references(task, *keys)]
    for _, role, file in package.roles():
        if isinstance(role.get("tasks"), list):
            references += _references(Record(role, file, 0, ""), "tasks")
    suspects: dict[str, str] = {}
    unknown = {name for name, _, _ in references} - own
    exhaustive = len(unknown) * len(own) <= _MAX_PAIRS
    for name in unknown:
        close = next((known for known in sorted(own) if _is_typo(name, known)), "") if exhaustive else ""
        if close or (package.name and name.startswith((f"{package.name}-", f"{package.name}_"))):
            suspects[name] = close
    for name, place, task in references:
        if name in suspects:
            close = suspects[name]
            message = f"{f'task {task}' if task else 'the role'} names the task {name}, which the package does not have"
            hint = f"Did you mean {close}?" if close else "Correct the name, or remove it."
            yield Finding(Severity.WARNING, "P061", message, place, task, hint)


def _is_typo(name: str, known: str) -> bool:
    """Whether `name` is probably `known` with one or two wrong letters, or with wrong separators.

    Names that differ in a whole word, or only in their digits, are different names.

    >>> _is_typo("my_task", "my-task"), _is_typo("my-conected-task", "my-connected-task")
    (True, True)
    >>> _is_typo("neutron-l2", "neutron-l3"), _is_typo("openstack-haproxy", "openstack-haproxy-nsxv")
    (False, False)
    """
    ours, theirs = _WORDS.findall(name.lower()), _WORDS.findall(known.lower())
    if len(ours) != len(theirs):
        return False
    pairs = [(our, their) for our, their in zip(ours, theirs, strict=True) if our != their]
    if len(pairs) != 1:
        return not pairs
    our, their = pairs[0]
    if _DIGITS.sub("", our) == _DIGITS.sub("", their) or min(len(our), len(their)) < _MIN_LETTERS:
        return False
    return difflib.SequenceMatcher(None, our, their).ratio() >= _MIN_SIMILARITY


def _references(holder: Record, *keys: str) -> Iterator[tuple[str, Place, str]]:
    """Yield the tasks that a task or a role refers to, each with its place and the id of the task that names it.

    Patterns and expressions are skipped.
    """
    for key in keys:
        value, line = holder.data.get(key), holder.place(key).line
        listed = value if isinstance(value, list) else [value] if isinstance(value, str) else []
        for item, at in items_of(listed, line):
            name = mapping(item).get("name") if key in CROSS else item
            if isinstance(name, str) and name not in ("", "*") and not is_pattern(name):
                yield name, Place(holder.file, line_of(item, "name") or at), holder.name


def _unknown_volumes(package: Reading) -> Iterator[Finding]:
    roles = {key_text(name) for name, *_ in package.roles()} | FUEL_ROLES
    ids = (record.data.get("id") for record in package.records("volumes"))
    volumes = {name for name in ids if isinstance(name, str)} | _RELEASE_VOLUMES
    for document, file in (pair for part in package.of("volumes") for pair in part.mappings()):
        mapped = mapping(document.get("volumes_roles_mapping"))
        for key, listed in mapped.items():
            name, line = key_text(key), line_of(mapped, str(key))
            if name not in roles:
                message = f"volumes are given to the role {name}, which neither the package nor Fuel has"
                yield _warning(message, Place(file, line), name, roles)
            yield from _unknown_in_mapping(listed, file, line, volumes)
    for _, role, file in package.roles():
        yield from _unknown_in_mapping(role.get("volumes_mapping"), file, line_of(role, "volumes_mapping"), volumes)


def _unknown_in_mapping(listed: Any, file: str, line: int, volumes: set[str]) -> Iterator[Finding]:
    for item, at in items_of(listed, line) if isinstance(listed, list) else ():
        volume = mapping(item).get("id")
        if isinstance(volume, str) and volume not in volumes:
            message = f"a role is given the volume {volume}, which neither the package nor Fuel has"
            yield _warning(message, Place(file, line_of(item, "id") or at), volume, volumes)


def _warning(message: str, place: Place, name: str, known: Collection[str]) -> Finding:
    hint = did_you_mean(name, known if len(known) < 1000 else (), "Correct the name, or define it.")
    return Finding(Severity.WARNING, "P061", message, place, hint=hint)


_SCRIPT = re.compile(r"[\w.@+-][\w./@+-]*\.(?:sh|bash|py|rb|pl|pp)")
_FOLDER = "deployment_scripts"
_SEARCHED_BYTES = 65536
"""How many bytes of a script are searched."""
_PLACEHOLDERS = frozenset({".gitkeep", ".gitignore", ".keep", "README.md"})


def check_scripts(package: Reading) -> Iterator[Finding]:
    """P064, P069: warn of every manifest and script that is not in a directory of scripts, once if those directories
    are empty, and of every script there that no node could run.

    Absolute paths are skipped, because they name files on the node, and so are tasks with a `cwd` of their own.
    """
    named = strings_in([record.data.get(SCRIPTS) for record in package.releases])
    folders = list(dict.fromkeys(PurePosixPath(name).as_posix() for name in named if stays_below(name))) or [_FOLDER]
    present = {
        PurePosixPath(name).relative_to(folder).as_posix(): package.files.directory / name
        for folder in folders
        for name in package.files.files_in(folder)
    }
    types = ("deployment_tasks", "release_tasks", *package.legacy)
    tasks = [task for file_type in types for task in package.records(file_type)]
    run = [(task, name, present.get(PurePosixPath(name).as_posix())) for task in tasks for name in _scripts_of(task)]
    missing = [(task, name) for task, name, path in run if path is None]
    if missing and not {PurePosixPath(name).name for name in present} - _PLACEHOLDERS:
        task, name = missing[0]
        message = (
            f"{' and '.join(folders)} has no scripts, but tasks run {count(len(missing), 'script')}, such as {name}"
        )
        yield _finding(task, message, f"Put the scripts below {folders[0]}.")
        return
    for task, name in missing:
        message = f"task {task.name} runs {name}, which is not below {' or '.join(folders)}"
        yield _finding(task, message, "Add the file, or correct the path.")
    for task, name, path in run:
        if path is not None and task.type == TaskType.SHELL:
            yield from _unusable_script(task, name, path)


def _unusable_script(task: Record, name: str, path: Path) -> Iterator[Finding]:
    """Yield a warning for a script that is run by its path but not executable, and for one with Windows line ends."""
    command = task.data["parameters"]["cmd"]
    if shlex.split(command[:4096])[0].removeprefix("./") == name and not path.stat().st_mode & 0o100:
        yield _finding(task, f"task {task.name} runs {name}, which is not executable", f"Run chmod +x {path}.", "P069")
    with suppress(OSError), path.open("rb") as stream:
        if b"\r\n" in stream.read(_SEARCHED_BYTES):
            message = f"task {task.name} runs {name}, whose lines end with CRLF, which shells and env take for text"
            yield _finding(task, message, f"Run sed -i 's/\\r$//' {path}.", "P069")


def _finding(task: Record, message: str, hint: str, code: str = "P064") -> Finding:
    return task.nested("parameters").finding(Severity.WARNING, code, message, hint, "puppet_manifest", "cmd")


def _scripts_of(task: Record) -> Iterator[str]:
    """Yield the file in the directory of scripts that a task runs: its manifest, or the script with a relative path
    in a simple command such as `bash deploy.sh x`."""
    parameters = task.data.get("parameters")
    if not isinstance(parameters, dict) or "cwd" in parameters:
        return
    manifest, command = parameters.get("puppet_manifest"), parameters.get("cmd")
    if task.type == TaskType.PUPPET and isinstance(manifest, str) and not manifest.startswith("/"):
        if manifest.strip():
            yield manifest
    elif task.type == TaskType.SHELL and isinstance(command, str):
        with suppress(ValueError):  # an open quote, which the shell will report
            words = (word.removeprefix("./") for word in shlex.split(command[:4096])[:3])
            yield from islice(filter(_SCRIPT.fullmatch, words), 1)


_MODELS = frozenset(
    {"settings", "cluster", "version", "networking_parameters", "interface", "nic_attributes", "release", "default",
     "current_vcenter", "glance"}
)  # fmt: skip
"""The models on which Nailgun and its user interface evaluate expressions."""

_WITH_EXPRESSIONS = (
    "node_roles", "environment_config", "node_config", "nic_config", "bond_config", "components", "release_components"
)  # fmt: skip
_MAX_EXPRESSIONS = 5000
"""The most different expressions of one package that are parsed, in about a second. A release of Fuel has 200."""


def check_conditions(package: Reading) -> Iterator[Finding]:
    """P062: warn of every restriction, limit and task condition that cannot be understood."""
    problems: dict[str, tuple[str, str]] = {}
    for text, place, task in _expressions(package):
        if isinstance(text, InvalidDocument):
            message, hint = text.message, text.hint
        else:
            if text not in problems and len(problems) < _MAX_EXPRESSIONS:
                problems[text] = _problem(text)
            message, hint = problems.get(text, ("", ""))
        if message:
            yield Finding(Severity.WARNING, "P062", message.rstrip("."), place, task, hint)


def _problem(text: str) -> tuple[str, str]:
    """The problem of an expression, and a hint; two empty strings if it is correct."""
    try:
        paths = parse(text).paths()
    except InvalidDocument as error:
        return error.message, error.hint or "Correct the expression."
    for path in sorted(paths):
        if (model := path.partition(":")[0]) not in _MODELS:
            return f"{path} refers to the unknown model {model!r}", did_you_mean(model, sorted(_MODELS))
    return "", ""


_Expression = tuple[str | InvalidDocument, Place, str]


def _expressions(package: Reading) -> Iterator[_Expression]:
    """Yield all expressions, or the errors for those that cannot be read, with their places and tasks."""
    for data in package.of(*_WITH_EXPRESSIONS):
        for document in data.documents:
            yield from _expressions_in(document.data, document.file, set())
    for task in package.records("deployment_tasks", "release_tasks"):
        condition = task.data.get("condition")
        if isinstance(condition, str):
            yield condition, task.place("condition"), task.name


def _expressions_in(data: Any, file: str, seen: set[int]) -> Iterator[_Expression]:
    """Yield the expressions in restrictions and limits at any depth. Values shared by YAML aliases are visited once."""
    if not isinstance(data, Mapping | list | tuple) or id(data) in seen:
        return
    seen.add(id(data))
    for key, value in data.items() if isinstance(data, Mapping) else enumerate(data):
        line = line_of(data, str(key))
        if key == "restrictions" and isinstance(value, list):
            for item, at in items_of(value, line):
                place = Place(file, line_of(item, "condition") or at)
                try:
                    [restriction] = expand_restrictions([item])
                except InvalidDocument as error:
                    yield error, place, ""
                else:
                    yield restriction.condition, place, ""
        elif key == "limits" and isinstance(value, Mapping):
            for holder in (value, *mappings(value.get("overrides"))):
                for name in ("condition", "min", "max", "recommended"):
                    if isinstance(holder.get(name), str):
                        yield holder[name], Place(file, line_of(holder, name) or line), ""
        else:
            yield from _expressions_in(value, file, seen)
