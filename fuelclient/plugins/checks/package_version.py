"""Check what each package version demands of metadata.yaml and tasks: versions of Fuel, releases, keys, stages, roles.

Sources: the specification "release-as-a-plugin"; the lists in the specification "plugins-v5", where "version 2.0.0"
means 2.0.0 or later, as in Fuel; and the specification "plugins-deployment-order" for the priorities that order the
tasks of unrelated plugins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fuelclient.graph.match import Names
from fuelclient.graph.stage import band_of, parse_stage
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.task import TaskType
from fuelclient.plan.fleet import PRIMARY
from fuelclient.plan.place import EVERY, matching_names
from fuelclient.plugins.constraints import version_of
from fuelclient.plugins.contents import PATHS, flat_role
from fuelclient.plugins.package_files import CONF_PATH
from fuelclient.plugins.parts import Record, strings_in
from fuelclient.plugins.reading import Reading
from fuelclient.plugins.releases import Definition, is_definition
from fuelclient.printing import count
from fuelclient.serializers.values import items_of, key_text

_FUEL = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})(?:\.[0-9]{1,4})?")
_OLDEST_FUEL = {1: (6, 0), 2: (6, 1), 3: (7, 0), 4: (8, 0), 5: (8, 0), 6: (8, 0)}
"""The oldest version of Fuel for each package version. Version 5 runs on 8.0 only with the experimental orchestrator
(the specification "plugins-v5"; Fuel Plugin Builder demands 9.0)."""

_TASK_GRAPHS_SINCE = (9, 0)
_RELEASES_SINCE = (9, 1)

_GRAPHS = ("default", "provisioning", "deletion", "network_verification")
_KNOWN_IN_EXTENSION = frozenset(
    {"os", "operating_system", "version", "mode", "modes", "is_release", "deployment_scripts_path", "repository_path",
     "graphs", CONF_PATH, *PATHS}
)  # fmt: skip


def check_metadata(package: Reading) -> Iterator[Finding]:
    given = package.files.metadata.get("fuel_version")
    for value, line in items_of(given, package.place("fuel_version").line) if isinstance(given, list) else ():
        if isinstance(value, str):  # anything else violates the schema
            yield from _fuel_version(package, value, Place(package.files.manifest, line))
    definitions = [record for record in package.releases if is_definition(record.data)]
    extensions = package.extensions
    for record, definition in zip(definitions, package.definitions, strict=True):
        yield from _definition(package, record, definition)
    if len(definitions) > 1:
        message = f"the package defines {len(definitions)} releases"
        hint = "Give each release a package of its own, which is easier to upgrade."
        yield Finding(Severity.WARNING, "P031", message, definitions[1].place("is_release"), hint=hint)
    if definitions and extensions:
        message = "the package defines a release here and extends another, but it must do only one of the two"
        hint = f"Move one to another package. The record on line {extensions[0].place().line} extends a release."
        yield Finding(Severity.ERROR, "P033", message, definitions[0].place("is_release"), hint=hint)
    if definitions:
        yield from _deprecated(package)
    if package.major >= 5:
        for record in extensions:
            yield from _extension(package, record)


def _fuel_version(package: Reading, value: str, place: Place) -> Iterator[Finding]:
    if not (match := _FUEL.fullmatch(value)):
        message = f"{value[:80]!r} in fuel_version is not a version of Fuel"
        yield Finding(Severity.ERROR, "P005", message, place, hint="Write numbers with a dot: '9.0'.")
        return
    version, oldest = (int(match[1]), int(match[2])), _OLDEST_FUEL[package.major]
    packages = f"packages of version {package.major}.0.0"
    if version < oldest:
        message = f"{packages} need Fuel {oldest[0]}.{oldest[1]} or later, but fuel_version contains {value}"
        hint = f"Remove {value} from fuel_version, or use an older package_version."
        yield Finding(Severity.ERROR, "P005", message, place, hint=hint)
    elif package.major >= 5 and version < _TASK_GRAPHS_SINCE:
        message = f"on Fuel {value}, {packages} need the experimental task-based orchestrator"
        hint = f"Enable it there, or remove {value} from fuel_version."
        yield Finding(Severity.WARNING, "P015", message, place, hint=hint)
    elif package.definitions and version < _RELEASES_SINCE:
        message = f"releases as plugins need Fuel 9.1 or later, but fuel_version contains {value}"
        yield Finding(Severity.WARNING, "P015", message, place, hint=f"Remove {value} from fuel_version.")


def _extension(package: Reading, record: Record) -> Iterator[Finding]:
    """Yield findings about ignored keys, and about versions of Fuel that the package version does not support.

    The latter are warnings, because the specification's own example of a package for several releases includes such a
    version, Fuel 7.
    """
    if unknown := [str(key) for key in record.data if key not in _KNOWN_IN_EXTENSION]:
        keys, are, them = ("key", "is", "it") if len(unknown) == 1 else ("keys", "are", "them")
        message = f"the {keys} {', '.join(unknown)} {are} ignored for a release that the plugin extends"
        hint = f"Remove {them}, or add is_release: true if the package should define the release."
        yield Finding(Severity.INFO, "P038", message, record.place(unknown[0]), hint=hint)
    fuel = version_of(str(record.data.get("version"))).fuel
    if _OLDEST_FUEL[1] <= fuel < _OLDEST_FUEL[package.major]:
        shown = ".".join(map(str, fuel))
        message = f"this release is of Fuel {shown}, which does not support packages of version {package.major}.0.0"
        hint = "Remove the release, or give it a package with an older package_version."
        yield Finding(Severity.WARNING, "P015", message, record.place("version"), hint=hint)


def _definition(package: Reading, record: Record, definition: Definition) -> Iterator[Finding]:
    if (name := definition.fields.get("name")) and isinstance(name, str) and package.name and name != package.name:
        message = f"the plugin is named {package.name}, but its release {name}"
        place = record.place("release_name", "name")
        yield Finding(Severity.WARNING, "P032", message, place, hint="Give both the same name.")
    if missing := [graph_type for graph_type in _GRAPHS if graph_type not in definition.graphs]:
        message = f"the release lacks the graph{'s' * (len(missing) > 1)} {', '.join(missing)}"
        hint = f"Add - {{type: {missing[0]}, tasks_path: ...}} to its graphs, unless it is not needed."
        yield Finding(Severity.WARNING, "P036", message, record.place("graphs"), hint=hint)
    for holder, file in definition.holders:
        for key in ("mode", "modes"):
            if key in holder:
                place = package.files.place(holder, key, file=file)
                yield Finding(Severity.WARNING, "P035", f"{key} is deprecated for releases", place, hint="Remove it.")


def _deprecated(package: Reading) -> Iterator[Finding]:
    if "is_hotpluggable" in package.files.metadata:
        message = "is_hotpluggable is ignored in a package that defines a release"
        yield Finding(Severity.INFO, "P034", message, package.place("is_hotpluggable"), hint="Remove it.")
    if "fuel_version" in package.files.metadata:
        message = "fuel_version is deprecated in packages that define a release"
        hint = "Remove it: the release states its version."
        yield Finding(Severity.WARNING, "P035", message, package.place("fuel_version"), hint=hint)
    for part in package.of("tasks"):
        if any(document.data for document in part.documents):
            message = "tasks.yaml is not supported in packages that define a release"
            hint = "Move its tasks to a graph of the release."
            yield Finding(Severity.WARNING, "P035", message, Place(part.place.file, 1), hint=hint)


CROSS = ("cross-depends", "cross_depends", "cross-depended-by", "cross_depended_by")
_INTERNAL = frozenset({TaskType.GROUP.value, TaskType.STAGE.value, TaskType.SKIPPED.value})
"""Types that run nothing. The specification's rule covers them too, but Fuel's validator and this one exclude them."""
_PLACING = ("roles", "role", "groups")

_Rule = tuple[str, Severity, str, str, str]
"""A key that a task should not have: the severity and the code of the finding, what is wrong, and what to do."""

_USE_ROLES = "Use roles: instead."
_STAGE: _Rule = (
    "stage", Severity.WARNING, "P063", "has a stage, which has no effect from version 2.0.0 on",
    "Write requires: and required_for: in its place.",
)  # fmt: skip
_MODERN_RULES: tuple[_Rule, ...] = (
    ("groups", Severity.WARNING, "P019", "of version 2.0.0 or later has groups", _USE_ROLES), _STAGE,
)  # fmt: skip
_LEGACY_RULES: tuple[_Rule, ...] = tuple(
    (key, Severity.ERROR, "P016", f"has {key}, which needs version 2.0.0", "Add version: 2.0.0 to the task.")
    for key in CROSS
)
_VERSION_5_RULES: tuple[_Rule, ...] = (
    ("groups", Severity.WARNING, "P019", "has groups, which are deprecated", _USE_ROLES),
    ("role", Severity.WARNING, "P021", "has role, which is called roles in packages of version 5.0.0", _USE_ROLES),
)
_RANGES = "0-999 hardware, 2000-2999 disks, 4000-4999 network, 6000-6999 software, 8000-8999 monitoring"


def check_tasks(package: Reading) -> Iterator[Finding]:
    if package.major >= 4:
        yield from _orchestrators(package)
        yield from _legacy_file(package)
    listing = [task.data for task in package.tasks() if task.type == TaskType.GROUP]
    listing += [role for _, role, _ in package.roles()] if package.major >= 5 else []
    placed = {name for each in listing if isinstance(each.get("tasks"), list) for name in strings_in(each["tasks"])}
    for task in package.tasks():
        rules: tuple[_Rule, ...] = ()
        if package.major == 4:
            rules = _MODERN_RULES if task.has_version_2 else _LEGACY_RULES
        elif package.major >= 5:
            rules = (*_VERSION_5_RULES, _STAGE) if task.has_version_2 else _VERSION_5_RULES
            if task.type and task.type not in _INTERNAL and not task.has_version_2:
                message = f"task {task.name} must have version 2.0.0 or later"
                hint = "Write version: 2.0.0."
                if "stage" in task.data:
                    hint += " The stage has no effect then: write requires: and required_for: in its place."
                yield task.finding(Severity.ERROR, "P012", message, hint, "version")
            if task.type == TaskType.GROUP:
                message = f"task {task.name} is a group, which packages of version 5.0.0 no longer support"
                hint = "Remove it, and list its tasks under tasks: of the role in node_roles.yaml."
                yield task.finding(Severity.ERROR, "P013", message, hint, "type")
        for key, severity, code, problem, hint in rules:
            if key in task.data:
                yield task.finding(severity, code, f"task {task.name} {problem}", hint, key)
        parameters = task.data.get("parameters")
        is_old = package.major == 4 and not task.has_version_2 and task.type != TaskType.GROUP
        if is_old and isinstance(parameters, dict) and "strategy" in parameters:
            message = f"task {task.name} has parameters.strategy, which needs version 2.0.0"
            hint = "Add version: 2.0.0 to the task."
            yield task.nested("parameters").finding(Severity.ERROR, "P017", message, hint, "strategy")
        # A task without a type overrides another one, which already has roles.
        is_placed = task.name in placed or any(task.data.get(key) not in (None, []) for key in (*_PLACING, "tags"))
        if task.type not in ("", TaskType.STAGE) and not is_placed:
            message = f"task {task.name} has no roles, so it might not run on any node"
            yield task.finding(Severity.WARNING, "P050", message, "Add roles: to the task.", *_PLACING, "tags")
    yield from check_priorities(package)
    yield from check_primaries(package)


def check_priorities(package: Reading) -> Iterator[Finding]:
    """P063: warn of priorities in a reserved range or outside all ranges. Only legacy tasks are ordered by stages; for
    others, see `_STAGE`."""
    if package.major < 2:
        return  # version 1 has no priorities, and they violate its schema
    for task in package.records("deployment_tasks", *package.legacy):
        text = task.data.get("stage")
        if isinstance(text, str) and "/" in text and not task.has_version_2:
            stage = parse_stage(text)
            band = band_of(stage.priority)
            if stage.is_valid and (band is None or band == "reserved"):
                where = "in a reserved range" if band else "outside the ranges"
                message = f"the priority in {text[:80]} is {where} that plugins have agreed on"
                yield Finding(Severity.WARNING, "P063", message, task.place("stage"), hint=f"The ranges are {_RANGES}.")


def _orchestrators(package: Reading) -> Iterator[Finding]:
    tasks = [*package.tasks(), *package.records("release_tasks")]
    if not (modern := [task for task in tasks if task.has_version_2]):
        if (first := next(iter((*tasks, *package.records(*package.legacy))), None)) is not None:
            message = "no task has version 2.0.0, which is recommended for Fuel 9.0 and later"
            hint = "Add version: 2.0.0 to the tasks." if tasks else "Write them as tasks in deployment_tasks.yaml."
            yield Finding(Severity.INFO, "P010", message, first.place(), hint=hint)
        return
    message = (
        f"{count(len(modern), 'task')} of {len(tasks)} in version 2.0.0 or later: Fuel 9.0 runs them in the order of"
        " the task graph, Fuel 8.0 only with its experimental orchestrator"
    )
    hint = "On Fuel 8.0, enable task-based deployment in the settings of the environment."
    yield Finding(Severity.INFO, "P011", message, modern[0].place("version"), hint=hint)
    if package.major == 4:
        message = "tasks of version 2.0.0 or later should be in a package of version 5.0.0"
        place = package.place("package_version")
        yield Finding(Severity.WARNING, "P020", message, place, hint="Consider package_version: '5.0.0'.")


def _legacy_file(package: Reading) -> Iterator[Finding]:
    severity, code = Severity.WARNING, "P018"
    message = "tasks.yaml is deprecated, and packages of version 5.0.0 do not have it"
    if package.major > 4:
        severity, code = Severity.ERROR, "P014"
        message = "tasks.yaml contains tasks, but packages of version 5.0.0 and later ignore them"
    hint = "Move its tasks to deployment_tasks.yaml, and remove the file."
    full = (document for part in package.of("tasks") for document in part.documents if document.data)
    yield from (Finding(severity, code, message, Place(document.file, 1), hint=hint) for document in full)


def check_primaries(package: Reading) -> Iterator[Finding]:
    """P066: warn about every task that is for a role with a primary node, but does not run on that node.

    That node carries `primary-ROLE` instead of the role. A task with `roles: [ROLE]` therefore runs on every node but
    the primary: on none, if only one node has the role. Nothing is reported about a role if another task is for its
    primary alone: its author distinguishes the two.
    """
    tasks = [(task, [word for key in _PLACING for word in strings_in(task.data.get(key))]) for task in package.tasks()]
    for role, own in _with_primary(package).items():
        primary = PRIMARY + role
        for_primary = [(task, words) for task, words in tasks if _match(words, primary)]
        if not all(_match(words, role) for _, words in for_primary):
            continue
        groups = [task for task, _ in for_primary if task.type == TaskType.GROUP]
        listed = {*own, *(name for group in groups for name in strings_in(group.data.get("tasks")))}
        for task, words in tasks:
            if role in words and task.name not in listed and not _match(words, primary):
                message = f"task {task.name} is for the role {role}, but not for its primary node, which is {primary}"
                yield task.finding(Severity.WARNING, "P066", message, f"Write roles: [{primary}, {role}].", *_PLACING)


def _with_primary(package: Reading) -> dict[str, set[str]]:
    """Map the roles with a primary node to the tasks that they list, which run on the primary since version 5.

    A role with tags of its own is left out, because its nodes are matched by its tags, not by its name.
    """
    roles = [(key_text(name), role) for name, role, _ in package.roles()]
    flat_roles = ((name, flat_role(role)) for name, role in roles)
    names = [name for name, role in flat_roles if role.get("has_primary") is True and role.get("tags") is None]
    listing = roles if package.major >= 5 else []
    return {
        name: {task for other, role in listing if other == name for task in strings_in(role.get("tasks"))}
        for name in names
    }


def _match(words: list[str], word: str) -> bool:
    """Whether a task with these words runs on nodes with `word`: by name, by a pattern, or because it is for all."""
    return words == [EVERY] or any(matching_names(given, Names([word])) for given in words)
