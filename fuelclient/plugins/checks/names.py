"""P061: names that lead to nothing: tasks, the roles that get volumes, the volumes that they get.

A package is checked without the release and the other plugins that it will meet, and most names that it does not
define are theirs. So a task's name is only doubted when it looks like a slip: nearly the id of a task of the
package, or beginning with the plugin's own name. Volumes and roles are doubted when neither the package nor any
release of Fuel has them, as nobody adds volumes to the roles of another plugin. With the tasks of a release at
hand, every name that neither has is dangling.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from fuelclient.graph.match import is_pattern
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.plugins.checks.subject import Record, Subject, records_of
from fuelclient.serializers.values import items_of, key_text, line_of

RELEASE_VOLUMES = frozenset(
    {"os", "logs", "mongo", "ceph", "cephjournal", "mysql", "vm", "image", "horizon", "cinder", "cinder-block-device"}
)
RELEASE_ROLES = frozenset(
    {"controller", "compute", "cinder", "cinder-block-device", "cinder-vmware", "compute-vmware", "ceph-osd", "mongo",
     "base-os", "virt", "ironic", "other", "zabbix-server"}
)  # fmt: skip
"""What the releases 6.0 to 10.0 of Fuel have."""

_LISTS = ("requires", "required_for", "tasks")
_RELATIONS = ("cross-depends", "cross_depends", "cross-depended-by", "cross_depended_by")
_WORDS, _DIGITS = re.compile(r"[^_-]+"), re.compile(r"[0-9]+")
_ALIKE = 0.8
_MIN_LETTERS = 4
_MAX_PAIRS = 100_000
"""Names times ids that are compared letter by letter, which takes some seconds."""


def check(subject: Subject, release_tasks: Collection[str] | None = None) -> Iterator[Finding]:
    """A warning for every name that leads to nothing, or, without `release_tasks`, probably does."""
    if subject.metadata is None:
        return
    yield from _tasks(subject, release_tasks)
    yield from _volumes(subject)


def _tasks(subject: Subject, release_tasks: Collection[str] | None) -> Iterator[Finding]:
    tasks = [*subject.tasks(), *subject.records("release_tasks")]
    roles = dict.fromkeys(_role_names(subject))
    own = {name for task in tasks if isinstance(name := task.data.get("id"), str)} | set(roles)
    referred = [reference for task in tasks for reference in _references(task)]
    referred += _of_roles(subject)
    doubted: dict[str, tuple[bool, str]] = {}
    unknown = {name for name, _, _ in referred} - own - set(release_tasks or ())
    exhaustive = len(unknown) * len(own) <= _MAX_PAIRS
    for name in unknown:
        close = next((one for one in sorted(own) if is_slip(name, one)), "") if exhaustive else ""
        ours = bool(subject.name) and name.startswith((f"{subject.name}-", f"{subject.name}_"))
        doubted[name] = (bool(close) or ours or release_tasks is not None, close)
    for name, place, task in referred:
        is_doubted, close_one = doubted.get(name, (False, ""))
        if is_doubted:
            message = (
                f"{f'task {task}' if task else 'the role'} names the task {name}, and there is none in the package"
            )
            hint = f"Did you mean {close_one}?" if close_one else "Correct the name, or remove it."
            yield Finding(Severity.WARNING, "P061", message, place, task, hint)


def is_slip(name: str, known: str) -> bool:
    """Whether `name` is probably `known` with a letter or two, or the signs between its words, wrong.

    Names that differ in a whole word, or only in their digits, are names of their own.

    >>> is_slip("my_task", "my-task"), is_slip("my-conected-task", "my-connected-task")
    (True, True)
    >>> is_slip("neutron-l2", "neutron-l3"), is_slip("openstack-haproxy", "openstack-haproxy-nsxv")
    (False, False)
    """
    ours, theirs = _WORDS.findall(name.lower()), _WORDS.findall(known.lower())
    if len(ours) != len(theirs):
        return False
    pairs = [(one, other) for one, other in zip(ours, theirs, strict=True) if one != other]
    if len(pairs) != 1:
        return not pairs
    one, other = pairs[0]
    if _DIGITS.sub("", one) == _DIGITS.sub("", other) or min(len(one), len(other)) < _MIN_LETTERS:
        return False
    return difflib.SequenceMatcher(None, one, other).ratio() >= _ALIKE


def _references(task: Record) -> Iterator[tuple[str, Place, str]]:
    """The names of tasks that a task refers to, each with its place; patterns and expressions left out."""
    for key in _LISTS:
        value = task.data.get(key)
        line = task.place(key).line
        for item, at in items_of(value, line) if isinstance(value, list) else [(value, line)]:
            if isinstance(item, str) and _is_name(item):
                yield item, Place(task.file, at), task.name
    for key in _RELATIONS:
        value = task.data.get(key)
        for item, at in items_of(value, task.place(key).line) if isinstance(value, list) else ():
            name = item.get("name") if isinstance(item, Mapping) else None
            if isinstance(name, str) and _is_name(name):
                yield name, Place(task.file, line_of(item, "name") or at), task.name


def _of_roles(subject: Subject) -> Iterator[tuple[str, Place, str]]:
    for data in subject.of("node_roles"):
        for document in data.documents:
            for role in document.data.values() if isinstance(document.data, Mapping) else ():
                value = role.get("tasks") if isinstance(role, Mapping) else None
                for item, at in items_of(value, line_of(role, "tasks")) if isinstance(value, list) else ():
                    if isinstance(item, str) and _is_name(item):
                        yield item, Place(document.file, at), ""


def _is_name(word: str) -> bool:
    return bool(word) and word != "*" and not is_pattern(word)


def _role_names(subject: Subject) -> Iterator[str]:
    for data in subject.of("node_roles"):
        for document in data.documents:
            if isinstance(document.data, Mapping):
                yield from map(key_text, document.data)


def _volumes(subject: Subject) -> Iterator[Finding]:
    roles = set(_role_names(subject)) | RELEASE_ROLES
    sets = list(subject.of("volumes"))
    records = [record for data in sets for record in records_of(data, "volumes")]
    volumes = {name for record in records if isinstance(name := record.data.get("id"), str)} | RELEASE_VOLUMES
    for data in sets:
        for document in data.documents:
            mapping = document.data.get("volumes_roles_mapping") if isinstance(document.data, Mapping) else None
            for role, listed in mapping.items() if isinstance(mapping, Mapping) else ():
                name, line = key_text(role), line_of(mapping, str(role))
                if name not in roles:
                    message = f"volumes are given to the role {name}, and neither the package nor Fuel has it"
                    yield _warning(message, Place(document.file, line), name, roles)
                yield from _mapped(listed, document.file, line, volumes)
    for data in subject.of("node_roles"):
        for document in data.documents:
            for role in document.data.values() if isinstance(document.data, Mapping) else ():
                if isinstance(role, Mapping):
                    line = line_of(role, "volumes_mapping")
                    yield from _mapped(role.get("volumes_mapping"), document.file, line, volumes)


def _mapped(listed: Any, file: str, line: int, volumes: set[str]) -> Iterator[Finding]:
    for item, at in items_of(listed, line) if isinstance(listed, list) else ():
        volume = item.get("id") if isinstance(item, Mapping) else None
        if isinstance(volume, str) and volume not in volumes:
            message = f"a role is given the volume {volume}, and neither the package nor Fuel has it"
            yield _warning(message, Place(file, line_of(item, "id") or at), volume, volumes)


def _warning(message: str, place: Place, name: str, known: Collection[str]) -> Finding:
    close = difflib.get_close_matches(name, sorted(known), n=1) if len(known) < 1000 else []
    hint = f"Did you mean {close[0]}?" if close else "Correct the name, or define it."
    return Finding(Severity.WARNING, "P061", message, place, hint=hint)
