"""`fuel2 start`: what a directory holds, and the commands that lead to a first preview of it."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from fuelclient import files
from fuelclient.commands.arguments import flag, option
from fuelclient.commands.base import Command
from fuelclient.commands.exits import Exit
from fuelclient.commands.graph.question import FORMAT, FORMAT_VERSION
from fuelclient.commands.shell import LOG
from fuelclient.errors import InvalidDocument, NotFound, UsageError
from fuelclient.files.reading import metadata_file, task_files
from fuelclient.graph.match import is_pattern
from fuelclient.model.package import Package
from fuelclient.model.release import Release
from fuelclient.model.task import Task
from fuelclient.plan.fleet import MASTER, PRIMARY
from fuelclient.plan.place import EVERY
from fuelclient.plugins.archive import opened_package
from fuelclient.plugins.load import load_package
from fuelclient.printing import count
from fuelclient.serializers.graph import document_from, documents_from
from fuelclient.serializers.release import releases_from

_YAML, _PACKAGES = (".yaml", ".yml", ".json"), (".fp", ".rpm")
_FIXTURES = ("openstack.yaml", "release.yaml", "releases.yaml")
_TASKS = ("tasks.yaml", "tasks.yml")
"""The names of files with releases and with tasks, which are looked for below a directory."""

_MOST_FOLDERS = 10_000


@dataclass(frozen=True, slots=True)
class Step:
    """A command, and what it is for."""

    command: Sequence[str]
    reason: str


@dataclass(frozen=True, slots=True)
class Beginning:
    """What there is, in one sentence, and the steps to a first preview."""

    found: str
    steps: Sequence[Step]


class Start(Command):
    """Look at a directory and print the commands that lead to a first preview

    PATH can be a release (openstack.yaml), a graph, a plugin or its package file, or a directory with the tasks.yaml
    files of puppet modules, with or without a release. Without these, the commands lead to the Fuel master that
    settings name. Nothing is changed, and nothing is connected. If nothing is found, the exit code is 5.

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
        beginning = found_at(Path(parsed_args.path)) or (_on_master() if is_on_master else None)
        if beginning is None:
            hint = "Name a release, a plugin or a directory with tasks; `fuel2 demo` loads examples to try commands on."
            message = f"{parsed_args.path} has no release, plugin or tasks, and no settings name a Fuel master."
            raise NotFound("beginning", parsed_args.path, message=message, hint=hint)
        if parsed_args.format != "text":
            document = {"format_version": FORMAT_VERSION, **asdict(beginning)}
            self.app.stdout.write(self.dumps(document, parsed_args.format))
            return
        LOG.info("%s", beginning.found)
        if is_on_master and beginning.steps[0].command[0] != "doctor":
            if parsed_args.yes:
                hint = "Add --local to use an engine file, which needs no master."
                raise UsageError("These commands would change the Fuel master that settings name.", hint=hint)
            LOG.warning("Settings name a Fuel master, which these commands would change; --local uses an engine file.")
        for step in beginning.steps:
            line = f"{self.shell.called} {shlex.join(step.command)}"
            if not parsed_args.yes:
                self.say(f"# {step.reason}\n{line}")
                continue
            LOG.info("# %s\n$ %s", step.reason, line)
            self.exit_code = Exit(self.shell.run_subcommand([*step.command]))
            if self.exit_code:
                break


def found_at(path: Path) -> Beginning | None:
    """What a file or a directory holds, or None if it is nothing that `fuel2` knows.

    Raise `NotFound` if it does not exist, and what reading a release or a plugin raises.
    """
    if not path.exists():
        raise NotFound("file", str(path), hint="Check the path.")
    name = _name(path)
    if path.is_file() and path.suffix in _YAML:
        releases = _releases(path)
        return _release(path, releases, None, name) if releases else _graph(path, name)
    if path.suffix in _PACKAGES or _is_plugin(path):
        with opened_package(path) as (directory, shown):
            return _plugin(path, load_package(directory, shown_as=shown))
    below = _files_below(path)  # none below a file
    has_tasks = any(file.name in _TASKS for file in below)
    for file in sorted((file for file in below if file.name in _FIXTURES), key=lambda file: _FIXTURES.index(file.name)):
        if releases := _releases(file):
            return _release(file, releases, path if has_tasks else None, name)
    return _graph(path, name) if has_tasks else None


def _files_below(path: Path) -> list[Path]:
    """The files with releases and tasks below a directory, parents first, as far as a short search finds them."""
    found: list[Path] = []
    for seen, (folder, folders, names) in enumerate(os.walk(path)):
        if seen >= _MOST_FOLDERS:
            break
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(folder, name) for name in sorted(names) if name in _FIXTURES or name in _TASKS]
    return found


def _shown(path: Path) -> str:
    return "this directory" if path == Path() else str(path)


def _argument(path: Path) -> str:
    """A path as a command takes it, which is no option."""
    return f"./{path}" if str(path).startswith("-") else str(path)


def _name(path: Path) -> str:
    """A name for what is made of a path, which no command takes for an id."""
    name = re.sub(r"[^\w-]+", "-", path.resolve().stem).strip("-")
    return name if name and not name.isdigit() else f"lab-{name}".rstrip("-")


def _is_plugin(path: Path) -> bool:
    metadata = metadata_file(str(path)) if path.is_dir() else None
    data = files.load(metadata).data if metadata else None
    return isinstance(data, dict) and not {"package_version", "releases", "fuel_version"}.isdisjoint(data)


def _releases(path: Path) -> list[Release]:
    """The releases of a file; empty if it has something else."""
    try:
        return releases_from(files.load(str(path)))
    except InvalidDocument:
        return []


def _release(file: Path, releases: Sequence[Release], tasks: Path | None, name: str) -> Beginning:
    release = next((each for each in releases if each.state == "available"), releases[0])
    more = f", and {count(len(releases) - 1, 'more release')}" if releases[1:] else ""
    reason = f"create {count(len(releases), 'release')}, with roles and settings"
    steps = [Step(("release", "import", _argument(file)), reason)]
    if tasks:
        steps.append(_upload(release.name, tasks))
        found = f"{file} has the release {release.name} {release.version}{more}; its tasks are in {_shown(tasks)}."
    else:
        found = (
            f"{file} has the release {release.name} {release.version}{more}, but no tasks. These are in the tasks.yaml "
            f"files of its puppet modules: fuel2 graph upload --release NAME --dir DIR"
        )
    return Beginning(found, (*steps, *_environment(release.name, name)))


def _upload(release: str, path: Path) -> Step:
    words = ("graph", "upload", "--release", release, "--type", "default", "--dir" if path.is_dir() else "--file")
    return Step((*words, _argument(path), "--yes"), "make the tasks its graph")


def _environment(release: str, name: str, plugin: str = "") -> Iterator[Step]:
    yield Step(("env", "create", name, "--release", release), "an environment deploys a release")
    if plugin:
        yield Step(("plugins", "enable", plugin, "--env", name), "an enabled plugin adds its tasks")
    yield Step(("graph", "preview", "--env", name), "what would run where, in order, on assumed nodes")


def _graph(path: Path, name: str) -> Beginning | None:
    if path.is_dir():
        graph = documents_from([files.load(file) for file in task_files(str(path))], owner_label="release")
    else:
        graph = document_from(files.load(str(path)), owner_label="release")
    if not graph.tasks:
        return None
    create = Step(_created(name, "lab-1.0", "Ubuntu", graph.tasks), "a release for the tasks, with the roles they name")
    found = f"{_shown(path)} has a graph of {count(len(graph.tasks), 'task')}, but no release."
    return Beginning(found, (create, _upload(name, path), *_environment(name, name)))


def _created(name: str, version: str, system: str, tasks: Iterable[Task], known: Iterable[str] = ()) -> tuple[str, ...]:
    """The command that creates a release with the roles that tasks name and that are not known."""
    named = dict.fromkeys(role for task in tasks for role in task.placement[1] if not is_pattern(role))
    roles = [role for role in named if role.removeprefix(PRIMARY) not in (MASTER, EVERY, *known)]
    words = ("release", "create", name, "--version", version, "--operating-system", system)
    return (*words, "--roles", *roles) if roles else words


def _plugin(path: Path, package: Package) -> Beginning:
    install = Step(("plugins", "install", _argument(path)), "load the plugin")
    check = Step(("plugins", "check", _argument(path)), "what is wrong with the plugin by itself")
    found = f"{path} is the plugin {package.name} {package.version}"
    if package.releases:
        release = package.releases[0].release
        steps = (install, *_environment(release.name, package.name), check)
        return Beginning(f"{found}, which brings the release {release.name} {release.version}.", steps)
    record = package.records[0]
    tasks = [task for graph in package.contents.graphs.values() for task in graph.tasks]
    name, system = f"for-{package.name}", record.os.capitalize()
    create = _created(name, record.version, system, tasks, package.contents.roles)
    steps = (
        Step(create, "an empty release that the plugin supports; better is the real one: fuel2 release import FILE"),
        install,
        *_environment(name, package.name, package.name),
        check,
    )
    return Beginning(f"{found} for {record.os} {record.version}.", steps)


def _on_master() -> Beginning:
    steps = (
        Step(("doctor",), "whether the master answers, and knows you"),
        Step(("env", "list"), "its environments; then: fuel2 graph preview --env ID"),
    )
    return Beginning("Settings name a Fuel master.", steps)
