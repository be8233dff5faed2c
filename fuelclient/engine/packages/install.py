"""Install, synchronise and remove packages: their files, and the plugins that refer to them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fuelclient.engine.packages import register
from fuelclient.engine.packages.register import Candidate
from fuelclient.engine.reading import lookup
from fuelclient.engine.reading.unpacked_packages import Trees, digest, digest_in
from fuelclient.errors import Conflict, FuelError, InvalidDocument, NotFound
from fuelclient.model.finding import Finding, Place, Severity, errors_in, require_no_errors
from fuelclient.model.package import Package
from fuelclient.model.plugin import InstallAction, Installed, Plugin, Synced
from fuelclient.model.status import RunStatus
from fuelclient.plugins.checks import check_and_read, for_install
from fuelclient.plugins.load import plugin_of, require_linkable, require_usable
from fuelclient.plugins.pack.entries import is_built
from fuelclient.plugins.select import needs_release
from fuelclient.store import plugins, runs
from fuelclient.store.database import Database


def install(database: Database, path: str, *, force: bool, link: bool = False) -> Installed:
    """Register the package in `path`; see `backends.base.Plugins`.

    The files are complete and in their final directory before the transaction that refers to them commits. After an
    earlier failure, nothing refers to them, and the next installation deletes them.
    """
    trees = Trees(database.path)
    source = Path(path)
    with database.alone():
        _sweep(database, trees)
        provided = _linked(source) if link else _copied(trees, source)
        with provided as candidate, database.write() as connection:
            return register.register(connection, candidate, force=force)


def remove(database: Database, plugin_id: int) -> None:
    """Remove a plugin, and then its files; see `backends.base.Plugins`."""
    with database.alone():
        with database.write() as connection:
            register.remove(connection, lookup.plugin(connection, plugin_id))
        _sweep(database, Trees(database.path))


def sync(database: Database, plugin_ids: Sequence[int]) -> Synced:
    """Read the unpacked packages again, and apply changes; see `backends.base.Plugins`."""
    trees = Trees(database.path)
    work = _Synchronisation(database, trees)
    with database.alone():
        with database.read() as connection:
            known = plugins.every(connection)
            chosen = [lookup.plugin(connection, plugin_id) for plugin_id in dict.fromkeys(plugin_ids)] or known
        for plugin in chosen:
            with work.errors_about(plugin.label):
                work.update(plugin, even_if_unchanged=bool(plugin_ids))
        for directory in () if plugin_ids else trees.foreign():
            with work.errors_about(directory.name):
                work.adopt(directory)
        _sweep(database, trees)
    return Synced(tuple(work.created), tuple(work.updated), tuple(work.removed), tuple(work.findings))


@dataclass(slots=True)
class _Synchronisation:
    """Synchronises plugins one by one, and collects the results. A plugin that fails is not changed."""

    database: Database
    trees: Trees
    created: list[Plugin] = field(default_factory=list)
    updated: list[Plugin] = field(default_factory=list)
    removed: list[Plugin] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @contextmanager
    def errors_about(self, plugin: str) -> Iterator[None]:
        """Turn an exception into findings: the errors in the plugin's files that it lists, or else its message."""
        try:
            yield
        except FuelError as error:
            listed = error.findings if isinstance(error, InvalidDocument) else ()
            errors_in_files = errors_in(finding for finding in listed if isinstance(finding, Finding))
            place, text = Place(layer=f"plugin {plugin}"), f"not synchronised: {error.message}"
            self.findings += errors_in_files or [Finding(Severity.ERROR, "P082", text, place, hint=error.hint)]

    def update(self, plugin: Plugin, *, even_if_unchanged: bool) -> None:
        """Read a plugin again if its files have changed, or remove it if they are gone.

        A changed plugin gets a new directory, because directories are named after their content.
        """
        if plugin.is_linked:
            with _linked(Path(plugin.unpacked)) as candidate:
                self._register(plugin, candidate, plugin.unpacked)
            return
        if not self.trees.has(plugin.unpacked):
            with self.database.write() as connection:
                register.remove(connection, plugin)
            self.removed.append(plugin)
            return
        directory = self.trees.path(plugin.unpacked)
        if not even_if_unchanged and digest(directory) == digest_in(plugin.unpacked):
            return
        with _copied(self.trees, directory) as candidate:
            self._register(plugin, candidate, directory)

    def _register(self, plugin: Plugin, candidate: Candidate, directory: str | Path) -> None:
        if (name := candidate.plugin.name) != plugin.name:
            raise InvalidDocument(
                f"Plugin can't be renamed. Trying to change name of the plugin {plugin.name} to {name}.",
                hint=f"Change the name back in {Path(directory) / 'metadata.yaml'}.",
            )
        # Keep the path that the plugin was installed from, which need not be this directory.
        wanted = replace(candidate, plugin=replace(candidate.plugin, origin=plugin.origin))
        with self.database.write() as connection:
            registered = register.register(connection, wanted, force=True, target=plugin)
        self.updated.append(registered.plugin)
        self.findings += registered.findings

    def adopt(self, directory: Path) -> None:
        """Register a package that a user put next to the others, unless it is registered already."""
        with _copied(self.trees, directory) as candidate, self.database.write() as connection:
            wanted = candidate.plugin
            known = {(plugin.name, plugin.version, digest_in(plugin.unpacked)) for plugin in plugins.every(connection)}
            if (wanted.name, wanted.version, digest_in(wanted.unpacked)) in known:
                return
            registered = register.register(connection, candidate, force=False)
        is_new = registered.action is InstallAction.CREATED
        (self.created if is_new else self.updated).append(registered.plugin)
        self.findings += registered.findings


@contextmanager
def _copied(trees: Trees, source: Path) -> Iterator[Candidate]:
    """Provide the package in `source`, a directory or an archive, as a copy in its final place next to the engine file.

    Raise `InvalidDocument` if the package cannot be used.
    """
    shown_as = str(source) if source.is_dir() else f"{source}!"
    with trees.staging() as staged:
        scripts = trees.fill(staged, source)
        package, findings, metadata = _usable(staged, shown_as, f"{shown_as.removesuffix('!')} cannot be installed")
        for path in staged.rglob(f"{package.name}-*"):
            if is_built(path.name, package.name) and path.is_file():
                path.unlink()  # an archive that was built in the source directory
        if source.is_dir():
            from fuelclient.plugins.pack import add_indexes

            add_indexes(staged, metadata)
        plugin = plugin_of(package)
        unpacked, origin = trees.place(staged, plugin.directory), os.path.realpath(source)
        plugin = replace(plugin, unpacked=unpacked, by_release=needs_release(package), origin=origin)
        yield Candidate(package, plugin, shown_as, findings, scripts)


@contextmanager
def _linked(source: Path) -> Iterator[Candidate]:
    """Provide the package in the directory `source`, which is read again at each use."""
    if source.is_file():
        raise Conflict(f"{source} is a file, and only a directory can be linked.", hint="Install it without --link.")
    directory = os.path.realpath(source)
    if not source.is_dir():
        raise NotFound("directory", str(source), hint="Check the path.")
    package, findings, _ = _usable(source, str(source), f"{source} cannot be linked")
    require_linkable(package, directory)
    plugin = replace(plugin_of(package), unpacked=directory, by_release=True, origin=directory)
    yield Candidate(package, plugin, str(source), findings)


def _usable(directory: Path, shown_as: str, refusal: str) -> tuple[Package, tuple[Finding, ...], Mapping[str, Any]]:
    """Read the package in `directory`, with its warnings and notices, and its metadata as written. If it has errors,
    raise `InvalidDocument` with the message `refusal`."""
    reports, reading = check_and_read(directory, shown_as=shown_as)
    findings = for_install(reports)
    require_no_errors(findings, refusal, InvalidDocument)
    return require_usable(reading), findings, reading.metadata or {}


def _sweep(database: Database, trees: Trees) -> None:
    """Delete the files that no plugin refers to, unless a run is active, which may still send them to a node."""
    with database.read() as connection:
        if not runs.every(connection, status=(RunStatus.PENDING, RunStatus.RUNNING)):
            trees.sweep({plugin.unpacked for plugin in plugins.every(connection)})
