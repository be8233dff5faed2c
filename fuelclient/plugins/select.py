"""Select the content of a package that is meant for one release, and explain each choice.

Source: the specification "plugins-v5", multi-release packages. A file that the release record names comes first, then
one in the directory that it names, then the one at the root of the package. Version constraints are applied last, to
the content of the selected files.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fuelclient.grouping import grouped
from fuelclient.model.graph import DEFAULT_TYPE, GraphDocument
from fuelclient.model.package import Contents, Package, ReleaseRecord, Selection
from fuelclient.model.release import Release
from fuelclient.model.task import Task, TaskType
from fuelclient.plugins import constraints
from fuelclient.serializers.values import mappings

_MAPPING, _VOLUMES = "volumes_roles_mapping", "volumes"
_GRAPH_FILES = ("tasks.yaml", "deployment_tasks.yaml", "node_roles.yaml")
"""The files that make up the default graph of a plugin."""


def select(package: Package, release: Release) -> Selection:
    """Select what `package` adds to environments of `release`.

    A package without a matching release record (see `is_compatible`) yields its content for any release. Of several
    records, the most specific wins (in Nailgun, the first): an author who writes a record for 2014.2.2 next to one for
    2014.2 wants them to differ.
    """
    wanted = f"{release.operating_system} {release.version}"
    matching = [record for record in package.records if matches(record, release)]
    record, contents = _most_specific(matching), package.contents
    if record is None:
        known = ", ".join(dict.fromkeys(f"{record.os} {record.version}" for record in package.records))
        extends = f"it extends {known}" if known else "it extends no release"
        reasons = [f"No release record of {package.name} {package.version} matches {wanted}: {extends}."]
    else:
        others = f", the most specific of {len(matching)} that match" if len(matching) > 1 else ""
        reasons = [f"The release record {record.os} {record.version} matches {wanted}{others}."]
        if record.contents is not None:
            contents = record.contents
            reasons += _explain_files(record, contents, package.contents)
    choices = _Choices(release.version)
    return Selection(choices.of_contents(contents), record, (*reasons, *choices.reasons))


def is_compatible(package: Package, release: Release, mode: str = "") -> bool:
    """Whether the package extends the release, in environments of `mode` if given. A record without modes fits all."""
    return any(
        matches(record, release) and (not mode or not record.modes or mode.startswith(record.modes))
        for record in package.records
    )


def needs_release(package: Package) -> bool:
    """Whether the content of the package depends on the release at all."""
    return any(record.contents is not None for record in package.records) or is_constrained(package.contents)


def is_constrained(contents: Contents) -> bool:
    tasks = (task.attributes for graph in contents.graphs.values() for task in graph.tasks)
    listed = (*contents.network_roles, *contents.components, *contents.volumes.get(_VOLUMES, ()))
    mapped = (
        record for records in contents.volumes.get(_MAPPING, {}).values() if _is_list(records) for record in records
    )
    return any(map(constraints.is_constrained, (*tasks, *contents.roles.values(), *listed, *mapped)))


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, Mapping) for item in value)


def for_any_release(package: Package) -> Contents:
    """The content of the package while the release is not known.

    Of several tasks with one id, the one without a version constraint is used, or else the first. Constraints are kept.
    A graph that only some records have is taken from the first of these.
    """
    contents = package.contents
    of_records = (record.contents.graphs for record in package.records if record.contents is not None)
    first: dict[str, GraphDocument] = {}
    for graphs in (contents.graphs, *of_records):
        first = {**graphs, **first}
    graphs = {name: replace(graph, tasks=_one_per_id(graph.tasks)) for name, graph in first.items()}
    return replace(contents, graphs=graphs)


def matches(record: ReleaseRecord, release: Release) -> bool:
    """Whether a record matches the release: same operating system, and a version that begins with its own."""
    return record.os.lower() == release.operating_system.lower() and begins_with(release.version, record.version)


def record_for(records: object, release: Release) -> Mapping[str, Any]:
    """Find the record for the release among those in metadata, or return an empty one.

    >>> records = [{"os": "ubuntu", "version": "a-1"}, {"os": "ubuntu", "version": "a-1.2", "x": 5}]
    >>> record_for(records, Release(1, "A", "a-1.2", "Ubuntu")).get("x")
    5
    """
    known = (
        ReleaseRecord(
            str(record.get("os") or record.get("operating_system")), str(record.get("version")), metadata=record
        )
        for record in mappings(records)
    )
    best = _most_specific([record for record in known if matches(record, release)])
    return best.metadata if best is not None else {}


def _most_specific(records: Sequence[ReleaseRecord]) -> ReleaseRecord | None:
    return max(records, key=lambda record: len(record.version.replace("-", ".").split(".")), default=None)


def begins_with(version: str, prefix: str) -> bool:
    """Whether `version` begins with `prefix`, part by part: `2014.2` covers `2014.2.2`, but not `2014.20`.

    Nailgun compares character by character, so its 2014.2-6.0 covers 2014.20-6.01, and it only allows one dash.

    >>> begins_with("2014.2.2-6.0.1", "2014.2-6.0"), begins_with("2014.20-6.01", "2014.2-6.0")
    (True, False)
    """
    parts, wanted = version.lower().split("-"), prefix.lower().split("-")
    pairs = zip(parts, wanted, strict=False)
    return len(wanted) <= len(parts) and all(part == begin or part.startswith(f"{begin}.") for part, begin in pairs)


def _explain_files(record: ReleaseRecord, contents: Contents, general: Contents) -> list[str]:
    """Write a sentence about each file and graph that the record names, and one about all others."""
    sentences, rest = [], []
    for file, name in contents.files.items():
        if (key := f"{file.removesuffix('.yaml')}_path") in record.metadata:
            sentences.append(f"{file} is {name}, because of {key} in the record.")
        elif name != file:
            sentences.append(f"{file} is {name}, because of conf_path in the record.")
        else:
            rest.append(file)
    own_files = any(file not in rest for file in _GRAPH_FILES if file in contents.files)
    for graph_type, graph in contents.graphs.items():
        if graph != general.graphs.get(graph_type) and not (graph_type == DEFAULT_TYPE and own_files):
            sentences.append(f"The graph {graph_type} is the record's own.")
    return [*sentences, *([f"From the root of the package: {', '.join(rest)}."] if rest else [])]


def _one_per_id(tasks: Sequence[Task]) -> tuple[Task, ...]:
    chosen: dict[str, Task] = {}
    for task in tasks:
        if (taken := chosen.get(task.id)) is None or (
            constraints.is_constrained(taken.attributes) and not constraints.is_constrained(task.attributes)
        ):
            chosen[task.id] = task
    return tuple(task for task in tasks if chosen[task.id] is task)


@dataclass(slots=True)
class _Choices:
    """Chooses the records that fit a release best. `reasons` has a sentence for each choice."""

    version: str
    reasons: list[str] = field(default_factory=list)

    def of_contents(self, contents: Contents) -> Contents:
        if not is_constrained(contents):
            return contents
        roles = {name: role for name, role in contents.roles.items() if self._best("role", name, [role]) is not None}
        excluded = contents.roles.keys() - roles.keys()
        used_tags = {tag for role in roles.values() for tag in role.get("tags") or ()}
        unused_tags = {tag for name in excluded for tag in contents.roles[name].get("tags") or ()} - used_tags
        return replace(
            contents,
            graphs={graph_type: self._graph(graph) for graph_type, graph in contents.graphs.items()},
            roles={name: _unconstrained(role) for name, role in roles.items()},
            tags={name: tag for name, tag in contents.tags.items() if name not in unused_tags},
            volumes=self._volumes(contents.volumes, excluded),
            network_roles=self._fitting("network role", "id", contents.network_roles),
            components=self._fitting("component", "name", contents.components),
        )

    def _graph(self, graph: GraphDocument) -> GraphDocument:
        groups = grouped((task.id, task) for task in graph.tasks)
        chosen: dict[str, Task] = {}
        for name, group in groups.items():
            places = [str(task.source.place()) for task in group]
            if (index := self._best("task", name, [task.attributes for task in group], places)) is not None:
                chosen[name] = group[index]
        # Without a record that only overrides, the task of the release may remain, and groups may still list it.
        left_out = frozenset(name for name, group in groups.items() if name not in chosen and not group[0].is_partial)
        tasks = (_without_tasks(task, left_out) for task in graph.tasks if chosen.get(task.id) is task)
        return replace(graph, tasks=tuple(replace(task, attributes=_unconstrained(task.attributes)) for task in tasks))

    def _volumes(self, volumes: Mapping[str, Any], excluded: Collection[str]) -> Mapping[str, Any]:
        if not volumes:
            return volumes
        mapping = {
            name: list(self._fitting(f"volume of the role {name}", "id", mapped)) if _is_list(mapped) else mapped
            for name, mapped in volumes[_MAPPING].items()
            if name not in excluded
        }
        fitting = list(self._fitting("volume", "id", volumes.get(_VOLUMES, ())))
        return {**volumes, _MAPPING: mapping, _VOLUMES: fitting}

    def _fitting(self, noun: str, key: str, records: Sequence[Any]) -> tuple[Any, ...]:
        """For each name, keep the record that fits best, if one fits."""
        groups = grouped((str(record.get(key)), record) for record in records)
        chosen = ((group, self._best(noun, name, group)) for name, group in groups.items())
        return tuple(_unconstrained(group[index]) for group, index in chosen if index is not None)

    def _best(
        self, noun: str, name: str, records: Sequence[Mapping[str, Any]], places: Sequence[str] = ()
    ) -> int | None:
        """The index of the record that is used, or None. A sentence about the choice is added to `reasons`."""
        if not any(map(constraints.is_constrained, records)):
            return 0
        choice = constraints.best(records, self.version)
        subject = f"{noun.capitalize()} {name}"
        if choice.index is None:
            self.reasons.append(f"{subject} is left out: it is not meant for {self.version}.")
            return None
        record = records[choice.index]
        at = [f" at {places[index]}" if places else "" for index in range(len(records))]
        given = ", ".join(f"{key} {record[key]}" for key in constraints.KEYS if key in record) or "no constraint"
        best = f", the best of {len(records)}" if len(records) > 1 else ""
        self.reasons.append(f"{subject} is the one{at[choice.index]} with {given}{best}.")
        if len(choice.tied) > 1:
            equal = " and ".join(f"the one{at[index]}" for index in choice.tied)
            self.reasons.append(f"{subject}: {equal} fit equally well; the first is used.")
        return choice.index


def _without_tasks(task: Task, left_out: frozenset[str]) -> Task:
    """Remove the tasks that are not meant for the release from a group, because a run would not find them.

    >>> _without_tasks(Task("db", {"type": "group", "tasks": ["a", "b"]}), frozenset({"a"})).attributes["tasks"]
    ['b']
    """
    if task.type != TaskType.GROUP or left_out.isdisjoint(task.names("tasks")):
        return task
    return replace(
        task, attributes={**task.attributes, "tasks": [name for name in task.names("tasks") if name not in left_out]}
    )


def _unconstrained(record: Mapping[str, Any]) -> dict[str, Any]:
    """Drop version constraints, which have no meaning once a record is chosen."""
    return {key: value for key, value in record.items() if key not in constraints.KEYS}
