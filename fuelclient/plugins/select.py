"""What of a package is meant for one release, and why.

Source: the specification "plugins-v5", its multi-release packages. A file that the release record names comes first,
then one in the directory that it names, then the one at the root of the package; of what the chosen files hold,
records with version constraints are taken last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fuelclient.model.graph import DEFAULT_TYPE, GraphDocument
from fuelclient.model.package import Contents, Package, ReleaseRecord, Selection
from fuelclient.model.release import Release
from fuelclient.model.task import Task
from fuelclient.plugins import constraints

_MAPPING = "volumes_roles_mapping"
_GRAPH_FILES = ("tasks.yaml", "deployment_tasks.yaml", "node_roles.yaml")
"""The files that the default graph of a plugin consists of."""


def select(package: Package, release: Release) -> Selection:
    """What `package` brings to environments of `release`.

    A package that no release record makes compatible gives what it has for any release; see `is_compatible`.
    """
    record, why = _record_for(package, release)
    contents = package.contents
    if record is not None and record.contents is not None:
        contents = record.contents
        why += _told_files(record, contents, package.contents)
    choices = _Choices(release.version)
    return Selection(choices.of_contents(contents), record, (*why, *choices.why))


def is_compatible(package: Package, release: Release, mode: str = "") -> bool:
    """Whether the package extends the release, in environments of `mode` where one is given."""
    return any(matches(record, release) and _allows(record, mode) for record in package.records)


def needs_release(package: Package) -> bool:
    """Whether what the package brings depends on the release at all."""
    return any(record.contents is not None for record in package.records) or is_constrained(package.contents)


def is_constrained(contents: Contents) -> bool:
    """Whether any record of the contents states a version constraint."""
    tasks = (task.attributes for graph in contents.graphs.values() for task in graph.tasks)
    return any(map(constraints.is_constrained, (*tasks, *contents.roles.values(), *contents.network_roles)))


def for_any_release(package: Package) -> Contents:
    """What the package brings where no release is known yet: one record of each id, the one without a version
    constraint, or else the first; constraints stay where they are."""
    contents = package.contents
    graphs = {kind: replace(graph, tasks=_one_of_each(graph.tasks)) for kind, graph in contents.graphs.items()}
    return replace(contents, graphs=graphs)


def matches(record: ReleaseRecord, release: Release) -> bool:
    """Whether a record of a package means the release: the same operating system, and a version that begins with
    the record's."""
    return record.os.lower() == release.operating_system.lower() and begins_with(release.version, record.version)


def begins_with(version: str, stated: str) -> bool:
    """Whether a version is one that `stated` means: each part between dashes is the stated one, or one below it.

    Nailgun compares letter by letter, so that 2014.2-6.0 takes in 2014.20-6.01, and knows one dash only.

    >>> begins_with("2014.2.2-6.0.1", "2014.2-6.0"), begins_with("2014.20-6.01", "2014.2-6.0")
    (True, False)
    """
    parts, wanted = version.lower().split("-"), stated.lower().split("-")
    pairs = zip(parts, wanted, strict=False)
    return len(wanted) <= len(parts) and all(part == one or part.startswith(f"{one}.") for part, one in pairs)


def _allows(record: ReleaseRecord, mode: str) -> bool:
    """Whether a record is for environments of `mode`; one that states no modes is for all."""
    return not mode or not record.modes or any(mode.startswith(one) for one in record.modes)


def _record_for(package: Package, release: Release) -> tuple[ReleaseRecord | None, list[str]]:
    """The record of the package that means the release, and a sentence about it.

    Of several the one that says most wins, where Nailgun takes the first: a record for 2014.2.2 is written to be
    told from one for 2014.2.
    """
    meant = f"{release.operating_system} {release.version}"
    found = [record for record in package.records if matches(record, release)]
    if not found:
        known = ", ".join(dict.fromkeys(f"{record.os} {record.version}" for record in package.records))
        extends = f"it extends {known}" if known else "it extends no release"
        return None, [f"No release record of {package.name} {package.version} matches {meant}: {extends}."]
    record = max(found, key=lambda one: len(one.version.replace("-", ".").split(".")))
    others = f", the most exact of {len(found)} that match" if len(found) > 1 else ""
    return record, [f"The release record {record.os} {record.version} matches {meant}{others}."]


def _told_files(record: ReleaseRecord, contents: Contents, general: Contents) -> list[str]:
    """A sentence about each file and graph that the record names itself, and one about all others."""
    told, rest = [], []
    for file, name in contents.files.items():
        key = f"{file.removesuffix('.yaml')}_path"
        if key in record.metadata:
            told.append(f"{file} is {name}, as {key} of the record says.")
        elif name != file:
            told.append(f"{file} is {name}, as conf_path of the record says.")
        else:
            rest.append(file)
    own_files = any(file not in rest for file in _GRAPH_FILES if file in contents.files)
    for kind, graph in contents.graphs.items():
        if graph != general.graphs.get(kind) and not (kind == DEFAULT_TYPE and own_files):
            told.append(f"The graph {kind} is the record's own.")
    return [*told, *([f"From the root of the package: {', '.join(rest)}."] if rest else [])]


def _one_of_each(tasks: Sequence[Task]) -> tuple[Task, ...]:
    chosen: dict[str, Task] = {}
    for task in tasks:
        taken = chosen.get(task.id)
        if taken is None or (
            constraints.is_constrained(taken.attributes) and not constraints.is_constrained(task.attributes)
        ):
            chosen[task.id] = task
    return tuple(task for task in tasks if chosen[task.id] is task)


@dataclass(slots=True)
class _Choices:
    """Takes, of records with version constraints, those that fit a release best; `why` has a sentence for each."""

    version: str
    why: list[str] = field(default_factory=list)

    def of_contents(self, contents: Contents) -> Contents:
        if not is_constrained(contents):
            return contents
        roles = {name: role for name, role in contents.roles.items() if self._best("role", name, [role]) is not None}
        left_out = contents.roles.keys() - roles.keys()
        carried = {tag for role in roles.values() for tag in _tags(role)}
        orphans = {tag for name in left_out for tag in _tags(contents.roles[name])} - carried
        return replace(
            contents,
            graphs={kind: self._graph(graph) for kind, graph in contents.graphs.items()},
            roles={name: _freed(role) for name, role in roles.items()},
            tags={name: tag for name, tag in contents.tags.items() if name not in orphans},
            volumes=_without_roles(contents.volumes, left_out),
            network_roles=self._network_roles(contents.network_roles),
        )

    def _graph(self, graph: GraphDocument) -> GraphDocument:
        groups: dict[str, list[Task]] = {}
        for task in graph.tasks:
            groups.setdefault(task.id, []).append(task)
        chosen: dict[str, Task] = {}
        for name, group in groups.items():
            places = [str(task.source.place()) for task in group]
            index = self._best("task", name, [task.attributes for task in group], places)
            if index is not None:
                chosen[name] = group[index]
        tasks = (task for task in graph.tasks if chosen.get(task.id) is task)
        return replace(graph, tasks=tuple(replace(task, attributes=_freed(task.attributes)) for task in tasks))

    def _network_roles(self, records: Sequence[Any]) -> tuple[Any, ...]:
        groups: dict[str, list[Any]] = {}
        for record in records:
            groups.setdefault(str(record.get("id")), []).append(record)
        chosen = ((group, self._best("network role", name, group)) for name, group in groups.items())
        return tuple(_freed(group[index]) for group, index in chosen if index is not None)

    def _best(
        self, noun: str, name: str, records: Sequence[Mapping[str, Any]], places: Sequence[str] = ()
    ) -> int | None:
        """The place in its group of the record that is used, or None; what was chosen is told."""
        if not any(map(constraints.is_constrained, records)):
            return 0
        choice = constraints.best(records, self.version)
        if choice.index is None:
            self.why.append(f"{noun.capitalize()} {name} is left out: it is not meant for {self.version}.")
            return None
        told = [f" at {places[index]}" if places else "" for index in range(len(records))]
        said = ", ".join(_stated(records[choice.index])) or "no constraint"
        best = f", the best of {len(records)}" if len(records) > 1 else ""
        self.why.append(f"{noun.capitalize()} {name} is the one{told[choice.index]} with {said}{best}.")
        if len(choice.tied) > 1:
            equal = " and ".join(f"the one{told[index]}" for index in choice.tied)
            self.why.append(f"{noun.capitalize()} {name}: {equal} fit equally well; the first is used.")
        return choice.index


def _stated(record: Mapping[str, Any]) -> Iterator[str]:
    return (f"{key} {record[key]}" for key in constraints.KEYS if key in record)


def _freed(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record without version constraints, which mean nothing once it is chosen."""
    return {key: value for key, value in record.items() if key not in constraints.KEYS}


def _tags(role: Mapping[str, Any]) -> Sequence[str]:
    return role.get("tags") or ()


def _without_roles(volumes: Mapping[str, Any], names: set[str]) -> Mapping[str, Any]:
    """The volumes without the mapping of these roles."""
    if not names or not volumes:
        return volumes
    mapping = {name: mapped for name, mapped in volumes[_MAPPING].items() if name not in names}
    return {**volumes, _MAPPING: mapping}
