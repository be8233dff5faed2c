"""P061: references to tasks, roles and volumes that do not exist.

A package is checked without the release and the other plugins it will be used with, and most names that it does not
define are defined there. So the name of a task is only reported if it looks like a typo: it is similar to the id of a
task in the package, or begins with the plugin's own name. Volumes and roles are reported if neither the package nor
any release of Fuel has them, because plugins do not add volumes to each other's roles. If the tasks of a release are
given, every name that neither has is reported.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath
from typing import Any

from fuelclient.errors import nearest
from fuelclient.graph.match import is_pattern
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.release import FUEL_ROLES
from fuelclient.plugins.parts import Record
from fuelclient.plugins.reading import Reading
from fuelclient.serializers.values import items_of, key_text, line_of, mapping

_RELEASE_VOLUMES = frozenset(
    {"os", "logs", "mongo", "ceph", "cephjournal", "mysql", "vm", "image", "horizon", "cinder", "cinder-block-device"}
)
"""The volumes of Fuel 6.0 to 10.0."""

_WORDS, _DIGITS = re.compile(r"[^_-]+"), re.compile(r"[0-9]+")
_ALIKE = 0.8
_MIN_LETTERS = 4
_MAX_PAIRS = 100_000
"""The most pairs of names that are compared letter by letter, which takes some seconds."""


def check(package: Reading, release_tasks: Collection[str] | None = None) -> Iterator[Finding]:
    """Yield a warning for every name that is not defined, or, without `release_tasks`, is probably not defined."""
    # The manifest names the files of graphs.
    if not _unread(package, "deployment_tasks", "node_roles", PurePosixPath(package.files.manifest).stem):
        yield from _tasks(package, release_tasks)
    if not _unread(package, "node_roles", "volumes"):
        yield from _volumes(package)


def _unread(package: Reading, *stems: str) -> bool:
    """Return whether a file with one of these names could not be read, which may well define what is looked for."""
    return any(
        finding.code == "P037" and PurePosixPath(finding.place.file).stem in stems for finding in package.files.findings
    )


def _tasks(package: Reading, release_tasks: Collection[str] | None) -> Iterator[Finding]:
    tasks = [*package.tasks(), *package.records("release_tasks")]
    own = {name for task in tasks if isinstance(name := task.data.get("id"), str)}
    own |= {key_text(name) for name, *_ in package.roles()}
    references = [reference for task in tasks for reference in _references(task)]
    references += _references_of_roles(package)
    suspects: dict[str, str] = {}
    unknown = {name for name, _, _ in references} - own - set(release_tasks or ())
    exhaustive = len(unknown) * len(own) <= _MAX_PAIRS
    for name in unknown:
        close = next((known for known in sorted(own) if _is_typo(name, known)), "") if exhaustive else ""
        has_prefix = bool(package.name) and name.startswith((f"{package.name}-", f"{package.name}_"))
        if close or has_prefix or release_tasks is not None:
            suspects[name] = close
    for name, place, task in references:
        if name in suspects:
            close = suspects[name]
            message = f"{f'task {task}' if task else 'the role'} names the task {name}, which the package does not have"
            hint = f"Did you mean {close}?" if close else "Correct the name, or remove it."
            yield Finding(Severity.WARNING, "P061", message, place, task, hint)


def _is_typo(name: str, known: str) -> bool:
    """Return whether `name` is probably `known` with a letter or two, or the separators, wrong.

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
    return difflib.SequenceMatcher(None, our, their).ratio() >= _ALIKE


def _references(task: Record) -> Iterator[tuple[str, Place, str]]:
    """Yield the tasks that a task refers to: name, place, and id of the task. Patterns and expressions are skipped."""
    for key in ("requires", "required_for", "tasks"):
        value = task.data.get(key)
        line = task.place(key).line
        for item, at in items_of(value, line) if isinstance(value, list) else [(value, line)]:
            if isinstance(item, str) and _is_name(item):
                yield item, Place(task.file, at), task.name
    for key in ("cross-depends", "cross_depends", "cross-depended-by", "cross_depended_by"):
        value = task.data.get(key)
        for item, at in items_of(value, task.place(key).line) if isinstance(value, list) else ():
            name = mapping(item).get("name")
            if isinstance(name, str) and _is_name(name):
                yield name, Place(task.file, line_of(item, "name") or at), task.name


def _references_of_roles(package: Reading) -> Iterator[tuple[str, Place, str]]:
    for _, role, file in package.roles():
        value = role.get("tasks")
        for item, at in items_of(value, line_of(role, "tasks")) if isinstance(value, list) else ():
            if isinstance(item, str) and _is_name(item):
                yield item, Place(file, at), ""


def _is_name(word: str) -> bool:
    return bool(word) and word != "*" and not is_pattern(word)


def _volumes(package: Reading) -> Iterator[Finding]:
    roles = {key_text(name) for name, *_ in package.roles()} | FUEL_ROLES
    sets = list(package.of("volumes"))
    records = [record for data in sets for record in data.records("volumes")]
    volumes = {name for record in records if isinstance(name := record.data.get("id"), str)} | _RELEASE_VOLUMES
    for document, file in (pair for data in sets for pair in data.mappings()):
        mapped = mapping(document.get("volumes_roles_mapping"))
        for key, listed in mapped.items():
            name, line = key_text(key), line_of(mapped, str(key))
            if name not in roles:
                message = f"volumes are given to the role {name}, which neither the package nor Fuel has"
                yield _warning(message, Place(file, line), name, roles)
            yield from _mapped(listed, file, line, volumes)
    for _, role, file in package.roles():
        yield from _mapped(role.get("volumes_mapping"), file, line_of(role, "volumes_mapping"), volumes)


def _mapped(listed: Any, file: str, line: int, volumes: set[str]) -> Iterator[Finding]:
    for item, at in items_of(listed, line) if isinstance(listed, list) else ():
        volume = mapping(item).get("id")
        if isinstance(volume, str) and volume not in volumes:
            message = f"a role is given the volume {volume}, which neither the package nor Fuel has"
            yield _warning(message, Place(file, line_of(item, "id") or at), volume, volumes)


def _warning(message: str, place: Place, name: str, known: Collection[str]) -> Finding:
    close = nearest(name, known) if len(known) < 1000 else ""
    hint = f"Did you mean {close}?" if close else "Correct the name, or define it."
    return Finding(Severity.WARNING, "P061", message, place, hint=hint)
