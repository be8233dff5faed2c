"""`plugins check`, and the commands that also check packages: `plugins build` and `plugins watch`."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from fuelclient.backends.base import Backend
from fuelclient.commands.arguments import (
    AS_MASTER,
    env_option,
    flag,
    former,
    nonempty_path,
    one_of,
    option,
    release_option,
    type_option,
)
from fuelclient.commands.base import Command, DocumentCheck, report, tally
from fuelclient.commands.exits import Exit
from fuelclient.commands.findings import FINDING_FILTERS, fails, filtered, grouped, others_note
from fuelclient.commands.plugins.author import WRITE, finish_killed, write_changes
from fuelclient.commands.shell import LOG, count
from fuelclient.errors import FuelError, InvalidDocument, UsageError
from fuelclient.model.cluster import Cluster
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding, Severity, errors_in
from fuelclient.model.graph import Layer, Level, OwnerRef

if TYPE_CHECKING:
    from fuelclient.model.snapshot import Snapshot
    from fuelclient.plan.evaluate import Evaluation

_MAX_TALLIES = 5
"""If more packages than this are checked, one line with their total is printed."""


class PluginsCheck(DocumentCheck):
    """Report everything wrong with plugin packages

    A package is the directory of a plugin, or an .rpm or .fp file. One run reports all findings, each with its file,
    line and a hint. The exit code is 7 if there is an error; --fail-on sets another severity. Some errors do not
    prevent installation here: they are about packages that Fuel itself would refuse. If you name a file inside a
    package, the whole package is checked; each package is checked only once.

    With --release, --env or --all-releases the package is also merged with the graphs of a release, and placed on its
    roles: this finds what otherwise only a preview shows.

    The findings of several packages are grouped: one line for each code, or all of them with -v. The formats text,
    github (annotations of a workflow), sarif and junit show whole findings. Findings that the author of a package
    accepts are listed, with reasons, in its .fuel2-check.yaml.

    --as-master adds what a Fuel master would refuse or do differently; see `graph validate`. With --env it also reports
    tasks that another plugin of the environment defines too.

      fuel2 plugins check .
      fuel2 plugins check . -f sarif
      fuel2 plugins check . --fix --yes
      fuel2 plugins check . --all-releases
      fuel2 plugins check . --env 1 --as-master
      fuel2 plugins check --fail-on warning --ignore P019,P02 -f json plugins/*
    """

    arguments = (
        option(
            "paths",
            nargs="+",
            type=nonempty_path,
            metavar="PATH",
            help="directory of a package, or an .rpm or .fp file",
        ),
        one_of(
            release_option(required=False, help="check it together with this release"),
            env_option(required=False, help="check it together with this environment and its plugins"),
            flag("--all-releases", help="check it together with every release that it supports"),
        ),
        AS_MASTER,
        flag("--fix", help="first change what findings P012, P013, P019 and P021 ask for; the diff goes to stderr"),
        WRITE,
        *FINDING_FILTERS,
        option("--strict", dest="fail_on", action="store_const", const="warning", help="the same as --fail-on warning"),
    )

    def run(self, parsed_args: argparse.Namespace) -> int:
        parsed_args.paths = list(dict.fromkeys(map(package_of, parsed_args.paths)))
        return super().run(parsed_args)

    def default_format(self, parsed_args: argparse.Namespace) -> str:
        is_plain = not parsed_args.columns and not parsed_args.sort_keys
        return "text" if is_plain and len(parsed_args.paths) > 1 else super().default_format(parsed_args)

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        from fuelclient.plugins.checks import UNUSABLE
        from fuelclient.plugins.checks.accepted import accept

        rows: list[Finding] = []
        failed: list[Path] = []
        contexts = list(self._contexts(parsed_args))
        for path in parsed_args.paths:
            if parsed_args.fix:
                self._fix(path, parsed_args)
            found = findings_of(path, contexts, as_master=parsed_args.as_master)
            remaining, accepted = accept(found, path, unusable=UNUSABLE, is_together=bool(contexts))
            findings = filtered(remaining, parsed_args)
            self.reported.accepted += accepted
            if fails(findings, parsed_args):
                failed.append(path)
            if len(parsed_args.paths) <= _MAX_TALLIES:
                LOG.info("%s: %s%s.", path, tally(findings), f", {len(accepted)} accepted" if accepted else "")
            rows += sorted(findings, key=lambda finding: (_severity(finding), finding.place.file, finding.place.line))
        if len(parsed_args.paths) > _MAX_TALLIES:
            LOG.info("%s: %s; %d failed.", count(len(parsed_args.paths), "package"), tally(rows), len(failed))
        if failed:
            self.exit_code = Exit.INVALID
        shown = self.report_rows(rows)
        self.reported.findings.sort(key=_severity)
        return shown

    def _fix(self, path: Path, parsed_args: argparse.Namespace) -> None:
        """Change the files of a package of version 5. Raise `UsageError` for an archive, or for another version."""
        from fuelclient.plugins.migrate import migration_of

        if not path.is_dir():
            raise UsageError(f"{path} is not a directory, so it cannot be fixed.", hint="Fix the plugin's source.")
        finish_killed(path)
        migration = migration_of(path, fix=True)
        self.app.stderr.write(migration.diff())
        write_changes(self, parsed_args, path, migration)

    def _contexts(self, parsed_args: argparse.Namespace) -> Iterator[Context]:
        if parsed_args.env is not None:
            from fuelclient.backends.assumed_nodes import evaluation_on_assumed_nodes
            from fuelclient.commands.env.change import snapshots_of

            environment = self.backend.clusters.environment(parsed_args.env)
            snapshots = snapshots_of(self.backend, parsed_args.env)
            layers = {name: snapshot.layers for name, snapshot in snapshots.items()}
            yield Context(environment, layers, evaluated=partial(evaluation_on_assumed_nodes, self.backend))
            return
        if parsed_args.all_releases:
            for context in with_tasks(release_contexts(self.backend)):
                yield replace(context, only_if_supported=True)
        elif parsed_args.release is not None:
            yield from release_contexts(self.backend, parsed_args.release)


def _severity(finding: Finding) -> int:
    return list(Severity).index(finding.severity)


@dataclass(frozen=True, slots=True)
class Context:
    """The context of a check: an environment, or a release alone, and its layers by graph type. `evaluated` evaluates
    the computed dependencies of a graph there."""

    environment: Environment
    layers: Mapping[str, Sequence[Layer]]
    only_if_supported: bool = False
    evaluated: Callable[[Environment, Snapshot], Evaluation | None] = lambda *_: None


def release_contexts(backend: Backend, release_id: int | None = None) -> Iterator[Context]:
    releases = backend.releases.list() if release_id is None else [backend.releases.get(release_id)]
    listed = backend.graphs.list() if releases else ()
    for release in releases:
        layers = {}
        for summary in listed:
            if (summary.owner.level, summary.owner.id) == (Level.RELEASE, release.id):
                graph = backend.graphs.get(OwnerRef(Level.RELEASE, release.id), summary.type)
                layers[summary.type] = (Layer(graph.owner, graph.tasks, graph.metadata),)
        yield Context(Environment(Cluster(0, "", release.id), release), layers)


def with_tasks(releases: Iterable[Context]) -> list[Context]:
    """The releases whose graphs have tasks; a warning names the others.

    In a release without tasks, everything that a package refers to would be reported as missing.
    """
    kept: list[Context] = []
    left_out: list[str] = []
    for context in releases:
        release = context.environment.release
        if any(layer.tasks for layers in context.layers.values() for layer in layers):
            kept.append(context)
        else:
            left_out.append(f"{release.id} ({release.name} {release.version})")
    if left_out:
        LOG.warning("Not checked together with releases whose graphs have no tasks: %s.", ", ".join(left_out))
    return kept


def package_of(path: Path) -> Path:
    """The nearest directory with metadata.yaml above a file, or `path` itself."""
    if path.is_file() and path.suffix not in (".rpm", ".fp"):
        return next((parent for parent in path.parents if (parent / "metadata.yaml").is_file()), path)
    return path


def findings_of(path: Path, contexts: Sequence[Context] = (), *, as_master: bool = False) -> Sequence[Finding]:
    """Check the package in `path`, a directory or an archive, by itself and in each of the `contexts`. With
    `as_master`, also report what a Fuel master refuses or does differently.

    An archive that cannot be unpacked is a finding. Raise `NotFound` if `path` does not exist.
    """
    from fuelclient.plugins.archive import opened_package

    try:
        with opened_package(path) as (directory, shown_as):
            return _checked(directory, shown_as, contexts, as_master=as_master)
    except InvalidDocument as error:
        if not error.findings:
            raise
        return cast("Sequence[Finding]", error.findings)


def _checked(directory: Path, shown_as: str, contexts: Sequence[Context], *, as_master: bool) -> Sequence[Finding]:
    from fuelclient.plugins.checks import check_and_read, graphs_of

    found, reading = check_and_read(directory, shown_as=shown_as)
    findings, package = dict.fromkeys(found), reading.package
    if package is None or not (contexts or as_master):
        return tuple(findings)
    if as_master:
        from fuelclient.environment.as_master import in_documents

        findings.update(dict.fromkeys(in_documents(graphs_of(package))))
    from fuelclient.plugins.checks.in_environment import check_enabled
    from fuelclient.plugins.select import is_compatible

    for context in contexts:
        if not context.only_if_supported or is_compatible(package, context.environment.release):
            target = context.environment, context.layers
            added = check_enabled(package, *target, as_master=as_master, evaluated=context.evaluated)
            findings.update(dict.fromkeys(added))
    return tuple(findings)


class PluginsBuild(Command):
    """Build the package of a plugin

    Checks the plugin first. If there is an error, nothing is built, and the exit code is 7. Packages of version 1
    become an .fp file, all others an .rpm file, which a Fuel master can install. The same directory always gives the
    same bytes. The package is written to the current directory, and its path to stdout. Earlier packages of the plugin
    are left out, so you can also build in the plugin's own directory.

      fuel2 plugins build my-plugin
      fuel2 plugins install "$(fuel2 plugins build my-plugin --output . --force)"
    """

    arguments = (
        option("directory", type=nonempty_path, metavar="DIR", help="the directory of the plugin"),
        option(
            "--output",
            type=nonempty_path,
            metavar="DIR",
            default=Path(),
            help="the directory to write the package to (default: the current directory)",
        ),
        former("-f", "force"),
        flag("--force", help="overwrite an existing package"),
        option("--format", choices=("fp", "rpm"), help="default: according to the package version"),
        flag("--run-hook", help="run the plugin's pre_build_hook first, with all your permissions"),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.plugins import pack
        from fuelclient.plugins.package_files import require_directory

        directory = parsed_args.directory
        require_directory(directory)
        if parsed_args.run_hook:
            pack.run_pre_build_hook(directory)
        elif (directory / pack.HOOK).exists():
            LOG.warning("%s was not run. Use --run-hook to run it.", directory / pack.HOOK)
        metadata = _checked_metadata(directory)
        archive = parsed_args.format or ("fp" if str(metadata.get("package_version")).startswith("1.") else "rpm")
        builder = pack.build_fp if archive == "fp" else pack.build_rpm
        self.say(str(builder(directory, parsed_args.output, metadata, force=parsed_args.force)))


def _checked_metadata(directory: Path) -> Mapping[str, Any]:
    """Check a package, report the findings, and return its metadata. Raise `InvalidDocument` for an error."""
    from fuelclient.plugins import pack
    from fuelclient.plugins.checks import check_and_read

    findings, reading = check_and_read(directory)
    metadata = reading.metadata or {}
    if not errors_in(findings):
        findings = (*findings, *pack.repository_findings(directory, metadata))
    errors = errors_in(findings)
    report(finding for finding in findings if not (errors and finding.is_error))
    if errors:
        message = f"{directory} was not built: {tally(findings)}."
        raise InvalidDocument(message, findings=errors, hint="Correct the errors first.")
    return metadata


_SCAN_SECONDS = 0.5
"""Seconds between two scans of the files."""


class PluginsWatch(Command):
    """Check a plugin each time one of its files is saved

    Prints the findings, one line for each code, as 'plugins check' does, and what the package would change in the graph
    of an environment with --env. Nothing is installed or enabled. Ctrl-C ends it.

      fuel2 plugins watch ./my-plugin
      fuel2 plugins watch ./my-plugin --env 1
    """

    arguments = (
        option("directory", type=nonempty_path, metavar="DIR", help="the directory of the plugin"),
        env_option(required=False, help="also show what changes in this environment"),
        type_option(default="default"),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.plugins.package_files import require_directory

        directory = parsed_args.directory
        require_directory(directory)
        LOG.info("Watching %s; Ctrl-C ends it.", directory)
        seen = None
        try:
            while True:
                if (now := _state(directory)) != seen:
                    seen = now
                    self._show(directory, parsed_args.env, parsed_args.graph_type)
                time.sleep(_SCAN_SECONDS)
        except KeyboardInterrupt:
            LOG.info("")

    def _show(self, directory: Path, env: int | None, graph_type: str) -> None:
        self.say(time.strftime("-- %H:%M:%S"))
        try:
            found = findings_of(directory)
            for group in grouped(sorted(found, key=_severity)):
                self.tell(f"{group[0]}{others_note(group)}")
            self.say(f"{directory}: {tally(found)}.")
            for line in self._changes(directory, env, graph_type) if env is not None else ():
                self.tell(line)
        except FuelError as error:
            LOG.error("%s", error)
        self.app.stdout.flush()

    def _changes(self, directory: Path, env: int, graph_type: str) -> Iterator[str]:
        from fuelclient.backends.studies import study_of
        from fuelclient.commands.graph.diff import comparison_lines
        from fuelclient.commands.graph.sides import package_addition, package_at
        from fuelclient.environment.layers import changed
        from fuelclient.insight.comparison import compare

        environment = self.backend.clusters.environment(env)
        snapshot = self.backend.graphs.snapshot(env, graph_type)
        added = package_addition(package_at(directory), environment, snapshot)
        after = study_of(self.backend, changed(environment, snapshot, added=[added]))
        compared = compare(study_of(self.backend, snapshot), after)
        yield from comparison_lines(compared, after.expansion)
        yield from map(str, compared.findings)


def _state(directory: Path) -> frozenset[tuple[str, int, int]]:
    """The paths of all files with their times and sizes. Hidden files are left out, because editors and version control
    write them all the time."""
    state = set()
    for folder, directories, names in os.walk(directory):
        directories[:] = [name for name in directories if not name.startswith(".")]
        for path in (os.path.join(folder, name) for name in names if not name.startswith(".")):
            with suppress(OSError):  # the file was deleted in the meantime
                status = os.stat(path)
                state.add((path, status.st_mtime_ns, status.st_size))
    return frozenset(state)
