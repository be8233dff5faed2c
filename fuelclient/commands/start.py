"""`fuel2 start`: what a directory holds, and the commands that lead to a first preview of it."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuelclient import files
from fuelclient.commands.arguments import flag, option
from fuelclient.commands.base import Command, report
from fuelclient.commands.exits import Exit
from fuelclient.commands.fitting import terminal_width
from fuelclient.commands.graph.question import FORMAT, FORMAT_VERSION
from fuelclient.commands.parser import below_comment
from fuelclient.commands.shell import LOG, urgency
from fuelclient.errors import FuelError, NotFound, UsageError
from fuelclient.files.reading import metadata_file
from fuelclient.files.writing import permitted
from fuelclient.model.graph import DEFAULT_TYPE, GraphDocument, Level, OwnerRef
from fuelclient.model.package import Package
from fuelclient.model.release import Release
from fuelclient.model.task import Task
from fuelclient.plan.fleet import MASTER, PRIMARY
from fuelclient.plugins.archive import opened_package
from fuelclient.plugins.load import load_package
from fuelclient.printing import count, printable
from fuelclient.serializers.graph import documents_from, layer_to
from fuelclient.serializers.release import releases_from
from fuelclient.settings import CUSTOM_SETTINGS

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend

    Stored = Backend | None  # the engine file, if there is one

_KINDS = _RELEASE, _TASKS, _PLUGIN, _OTHER = "release file", "task file", "plugin", "other file"
_NOUN = dict.fromkeys(("openstack.yaml", "release.yaml", "releases.yaml"), _RELEASE) | {".fp": _PLUGIN, ".rpm": _PLUGIN}
_NOUN |= dict.fromkeys((".yaml", ".yml", ".json"), _OTHER) | {"tasks.yaml": _TASKS, "tasks.yml": _TASKS}
"""What files with these names and suffixes may be."""

_MOST_FOLDERS, _MOST_OTHERS, _MOST_PARTS = 10_000, 200, 12


@dataclass(frozen=True, slots=True)
class Step:
    """A command, and what it is for."""

    command: Sequence[str]
    reason: str


@dataclass(frozen=True, slots=True)
class Beginning:
    """What there is, and the steps to a first preview."""

    found: str
    steps: Sequence[Step]


class Start(Command):
    """Look at a directory and print the commands that lead to a first preview

    PATH can be a release (openstack.yaml), a graph, a plugin or its package file, or a directory with the tasks.yaml
    files of puppet modules, with or without a release. Without these, the commands lead to the Fuel master that
    settings name. What the engine file has already is left out, and of a directory with more than one preview holds
    the parts are named. Nothing is changed, and nothing is connected. If nothing is found, the exit code is 5.

    With --yes the commands are run one after another, until one fails; its exit code is that of 'start'.

      fuel2 start
      fuel2 start fuel-library/deployment/puppet
      fuel2 start my-plugin --yes
    """

    arguments = (
        option("path", nargs="?", default=".", metavar="PATH", help="a file or a directory (default: .)"),
        FORMAT,
        flag("-y", "--yes", help="run the commands"),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        if parsed_args.yes and parsed_args.format != "text":
            raise UsageError("--yes runs the commands, and --format prints them.", hint="Leave one of them out.")
        is_on_master = bool(self.shell.settings["SERVER_ADDRESS"].value)
        backend = None if is_on_master or not os.path.exists(self.shell.settings.engine) else self.backend
        beginning = found_at(Path(parsed_args.path), backend) or (_on_master() if is_on_master else None)
        if beginning is None:
            hint = "Name a release, a plugin or a directory with tasks; `fuel2 demo` loads examples to try commands on."
            if os.path.isfile(file := os.path.join(parsed_args.path, "fuel_client.yaml")):
                hint = f"It has settings; to use them: `{CUSTOM_SETTINGS}={shlex.quote(file)} fuel2 env list`."
            message = f"{parsed_args.path} has no release, plugin or tasks, and no settings name a Fuel master."
            raise NotFound("beginning", parsed_args.path, message=message, hint=hint)
        steps = [step for step in beginning.steps if not is_on_master or step.command[:2] != ("plugins", "install")]
        if len(steps) < len(beginning.steps):
            found = f"{beginning.found} Install it on the server's machine first."
            beginning = replace(beginning, found=found, steps=steps)
        if parsed_args.format != "text":
            document = {"format_version": FORMAT_VERSION, **asdict(beginning)}
            self.app.stdout.write(self.dumps(document, parsed_args.format))
            return
        LOG.info("%s", beginning.found)
        first = beginning.steps[0].command[0]
        if first == "start" and parsed_args.yes:
            raise UsageError("--yes runs the commands for one preview.", hint="Name a part of the directory.")
        if is_on_master and first not in ("doctor", "start"):
            if parsed_args.yes:
                hint = "Add --local to use an engine file, which needs no master."
                raise UsageError("These commands would change the Fuel master that settings name.", hint=hint)
            LOG.warning("Settings name a Fuel master, which these commands would change; --local uses an engine file.")
        for step in [] if parsed_args.yes else beginning.steps:
            self.say(below_comment(self._line(step), step.reason, terminal_width(self.app.stdout)))
        if parsed_args.yes:
            self._run_each(beginning.steps)

    def _line(self, step: Step) -> str:
        return f"{self.shell.called} {shlex.join(map(printable, step.command))}"

    def _run_each(self, steps: Sequence[Step]) -> None:
        """Run the commands of steps one after another, until one fails."""
        console, level = LOG.handlers[0], LOG.handlers[0].level
        for step in steps:
            LOG.info("# %s\n$ %s", step.reason, self._line(step))
            if self.shell.options.verbose_level == 1 and not (step is steps[-1] or "preview" in step.command):
                console.setLevel("WARNING")  # the next steps do what this one would propose
            self.exit_code = Exit(self.shell.run_subcommand([*step.command]))
            console.setLevel(level)
            if self.exit_code:
                break


def found_at(path: Path, stored: Stored) -> Beginning | None:
    """What a file or a directory holds, or None if it is nothing that `fuel2` knows.

    Steps that the engine file shows as done are left out. What cannot be read is reported; raise its error if there is
    nothing else, and `NotFound` for a path that does not exist.
    """
    with permitted(str(path), to="read"):
        if not path.exists():
            raise NotFound("file", str(path), hint="Check the path.")
        things = [*_below(path)] if path.is_dir() else [(_noun_of(path.name).replace(_TASKS, _OTHER), path)]
    # a FIFO may never end, and a device may have no end; what has vanished is reported when it is read
    things = [each for each in things if each[0] == _PLUGIN or os.path.isfile(each[1]) or not os.path.exists(each[1])]
    broken: list[FuelError] = []
    given, tasks, archives, others = ([path for noun, path in things if noun == each] for each in _KINDS)
    sources, errors = (given, broken) if given else (others[: path.is_file()], [])  # any file can be a graph
    releases = dict(_read(lambda file: releases_from(files.load(file)), sources, errors))
    packages = dict(_read(_package, archives, broken))
    named = [(noun, path) for noun, path in things if path in (*releases, *packages, *tasks)]
    apart = [file for file in tasks if file.parent != path and metadata_file(str(file.parent))]
    parts = [file for file in tasks if file not in apart] or tasks
    parts = parts if named else [file for file in others[:_MOST_OTHERS] if _graph([file], broken).tasks]
    named = named or [("graph", file) for file in parts]
    graph = _graph(parts, broken)
    if broken and not (releases or packages or graph.tasks or others[1:]):
        raise broken[0]
    for error in broken[:_MOST_PARTS]:
        LOG.error("%s", min(error.findings, key=urgency, default=error))
    root = Path(os.path.commonpath([each.parent for each in parts])) if apart else path if tasks else [*parts, path][0]
    is_mixed = "G005" in {each.code for each in graph.findings} or any(root in each.parents for each in apart)
    if named[1:] and (is_mixed or packages or len(releases) > 1 or not tasks):
        return _narrower(named, _supported_by_all(packages.values()))
    for folder, package in packages.items():
        return _plugin(folder, package, stored)
    report(finding for finding in graph.findings if finding.is_error)
    end = "".join(f" {file.parent} has a graph of another type." for file in apart if file not in parts)
    return _tasks(path, root, graph, end, stored, *releases.items()) if releases or graph.tasks else None


def _noun_of(name: str) -> str:
    """What a file with this name may be; empty for what is not looked at."""
    return _NOUN.get(name) or _NOUN.get(Path(name).suffix, "")


def _below(path: Path) -> Iterator[tuple[str, Path]]:
    """The files and plugins below a directory with what they may be, parents first, as far as a short search goes.
    Raise `OSError` if it cannot be read; directories in it that cannot be read are left out."""
    os.scandir(path).close()
    for folder, folders, names in islice(os.walk(path), _MOST_FOLDERS):
        is_plugin, here = _is_plugin(folder), Path(folder)
        is_closed = is_plugin or ("pyvenv.cfg" in names and here != path)  # an installed copy has examples
        own = {f"{name}{end}" for name in names if f"{name}.lock" in names for end in (".plugins", ".nodes")}
        folders[:] = sorted(
            name for name in {*folders} - own - {"site-packages"} if not name.startswith(".") and not is_closed
        )
        yield from [(_PLUGIN, here)] if is_plugin else [(_noun_of(name), here / name) for name in sorted(names)]


def _is_plugin(folder: str) -> bool:
    read = _read(files.load, map(Path, filter(os.path.isfile, [metadata_file(folder) or ""])), [])
    keys = {"package_version", "releases", "fuel_version"}
    return any(isinstance(document.data, dict) and document.data.keys() & keys for _, document in read)


def _read(read: Callable[[Path], Any], paths: Iterable[Path], broken: list[FuelError]) -> Iterator[tuple[Path, Any]]:
    """The paths with what they hold; the errors of those that cannot be read go to `broken`."""
    for path in paths:
        try:
            yield path, read(path)
        except FuelError as error:
            broken.append(error)


def _package(path: Path) -> Package:
    with opened_package(path) as (directory, shown):
        return load_package(directory, shown_as=shown)


def _graph(paths: Iterable[Path], broken: list[FuelError]) -> GraphDocument:
    return documents_from([*dict(_read(files.load, paths, broken)).values()], owner_label="release")


def _supported_by_all(packages: Iterable[Package]) -> str:
    """Name a release that all of several plugins support, in a sentence. Return an empty string if there is none."""
    supported = [{(record.version, record.os) for record in package.records} for package in packages]
    if not supported[1:] or not (shared := set.intersection(*supported)):
        return ""
    version, system = max(shared)
    words = ("fuel2", "release", "create", "lab", "--version", version, "--operating-system", system.capitalize())
    return f" All of its plugins support {system} {version}: `{shlex.join(words)}`."


def _narrower(things: Sequence[tuple[str, Path]], end: str) -> Beginning:
    """The parts of a directory that holds too much for one preview."""
    top = Path(os.path.commonpath([path for _, path in things]))
    parts = sorted({top / path.relative_to(top).parts[0] for _, path in things})
    held = [_counted(noun for noun, path in things if part in (path, *path.parents)) for part in parts]
    steps = [Step(("start", _argument(part)), each) for part, each in zip(parts, held, strict=True)]
    found = f"{_shown(top)} has {_counted(noun for noun, _ in things)}, too much for one preview.{end}"
    return Beginning(f"{found} Look at one of its {len(parts)} parts:", steps[:_MOST_PARTS])


def _counted(nouns: Iterable[str]) -> str:
    return ", ".join(count(number, noun) for noun, number in Counter(nouns).items())


def _shown(path: Path) -> str:
    return "this directory" if path == Path() else str(path)


def _argument(path: Path) -> str:
    """A path as a command takes it, which is no option."""
    return f"./{path}" if str(path).startswith("-") else str(path)


def _name(path: Path) -> str:
    """A name for what is made of a path, which no command takes for an id."""
    name = re.sub(r"[^\w-]+", "-", path.resolve().stem).strip("-")
    return name if name and not name.isdigit() else f"lab-{name}".rstrip("-")


def _every(stored: Stored, facet: str) -> Sequence[Any]:
    """All releases, clusters or plugins of the engine file; none without one."""
    return getattr(stored, facet).list() if stored else ()


def _called(release: Release) -> str:
    """A release as commands name it, whatever others of its name there are."""
    return f"{release.name} {release.version}"


def _id_of(release: Release, stored: Stored) -> int:
    """The id of the stored release with this name and version, or 0."""
    return next((each.id for each in _every(stored, "releases") if _called(each) == _called(release)), 0)


def _stored_tasks(release: Release, stored: Stored) -> Sequence[Task]:
    """The tasks of the default graph of the stored release with this name and version, if there are any."""
    with suppress(NotFound):
        if stored and (release_id := _id_of(release, stored)):
            return stored.graphs.get(OwnerRef(Level.RELEASE, release_id)).tasks
    return ()


def _tasks(path: Path, at: Path, graph: GraphDocument, end: str, stored: Stored, *given: tuple[Path, Any]) -> Beginning:
    """The steps for the graph in `at`, and for the release that it belongs to, if a file has one."""
    for file, releases in given:
        release = next((each for each in releases if each.state == "available"), releases[0])
        reason = f"create {count(len(releases), 'release')}, with roles and settings"
        create = Step(("release", "import", _argument(file)), reason)
        held = f"its tasks are in {_shown(at)}" if graph.tasks else "it has no tasks"
        found = f"{file} has the release {_called(release)}; {held}.{end}"
    if not given:
        release = Release(0, _name(path), "lab-1.0", "Ubuntu")
        while (old := _stored_tasks(release, stored)) and not old[0].source.file.startswith(os.path.abspath(path)):
            release = replace(release, name=f"{release.name}-2")  # that one has the tasks of another directory
        create = _created(release, graph.tasks, "a release for the tasks, with the roles they name")
        found = f"{_shown(at)} has a graph of {count(len(graph.tasks), 'task')}, but no release.{end}"
    steps = [] if _id_of(release, stored) else [create]
    if graph.tasks and layer_to(_stored_tasks(release, stored)) != layer_to(graph.tasks):
        source = ("--type", DEFAULT_TYPE, "--dir" if at.is_dir() else "--file", _argument(at), "--yes")
        steps.append(Step(("graph", "upload", "--release", _called(release), *source), "make the tasks its graph"))
    if graph.tasks or _stored_tasks(release, stored):
        return Beginning(found, [*steps, *_environment(release, _name(path) if given else release.name, stored)])
    found += f" Give it some: fuel2 graph upload --release {shlex.quote(_called(release))} --type default --dir DIR"
    return Beginning(found, steps or [Step(("release", "show", _called(release)), "what the release has")])


def _created(release: Release, tasks: Iterable[Task], reason: str, known: Iterable[str] = ()) -> Step:
    """The command that creates a release with the roles that tasks name, by no pattern, and that are not known."""
    named = dict.fromkeys(role for task in tasks for role in task.placement[1] if re.match(r"\w[ \w.,:+@-]*\Z", role))
    roles = [role for role in named if role.removeprefix(PRIMARY) not in (MASTER, *known)]
    words = ("release", "create", release.name, "--version", release.version, "--operating-system")
    return Step((*words, release.operating_system, *(["--roles", *roles] if roles else [])), reason)


def _environment(release: Release, name: str, stored: Stored, plugin: str = "") -> Iterator[Step]:
    owned = (name, _id_of(release, stored))
    env = next((each.id for each in _every(stored, "clusters") if (each.name, each.release_id) == owned), 0)
    if not env:
        yield Step(("env", "create", name, "--release", _called(release)), "an environment deploys a release")
    if plugin and not any(each.name == plugin and env in each.clusters for each in _every(stored, "plugins")):
        yield Step(("plugins", "enable", plugin, "--env", name), "an enabled plugin adds its tasks")
    yield Step(("graph", "preview", "--env", name), "what would run where, in order, on assumed nodes")


def _plugin(path: Path, package: Package, stored: Stored) -> Beginning:
    same = [each for each in _every(stored, "plugins") if (each.name, each.version) == (package.name, package.version)]
    steps = [] if same else [Step(("plugins", "install", _argument(path)), "load the plugin")]
    check = Step(("plugins", "check", _argument(path)), "what is wrong with the plugin by itself")
    found = f"{path} is the plugin {package.name} {package.version}"
    if not (package.releases or package.records):
        return Beginning(f"{found}, which supports no release.", [check])
    if package.releases:
        release, enabled = package.releases[0].release, ""
        found += f", which brings the release {_called(release)}."
    else:
        enabled, first = package.name, package.records[0]
        supported = {(record.version, record.os) for record in package.records}
        release = Release(0, f"for-{package.name}", first.version, first.os.capitalize())
        known = _every(stored, "releases")
        release = next((each for each in known if (each.version, each.operating_system.lower()) in supported), release)
        found += f" for {release.operating_system.lower()} {release.version}."
        tasks = [task for graph in package.contents.graphs.values() for task in graph.tasks]
        reason = "an empty release that the plugin supports; better is the real one: fuel2 release import FILE"
        steps = steps if _id_of(release, stored) else [_created(release, tasks, reason, package.contents.roles), *steps]
    return Beginning(found, [*steps, *_environment(release, package.name, stored, enabled), check])


def _on_master() -> Beginning:
    environments = Step(("env", "list"), "its environments; then: fuel2 graph preview --env ID")
    doctor = Step(("doctor",), "whether the master answers, and knows you")
    return Beginning("Settings name a Fuel master.", [doctor, environments])
