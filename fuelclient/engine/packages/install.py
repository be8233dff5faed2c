"""Installing, synchronising and removing packages: files first, then one transaction that makes them count."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fuelclient.engine.packages import register
from fuelclient.engine.packages.register import Candidate, Registered
from fuelclient.engine.reading import lookup, unpacked
from fuelclient.engine.reading.unpacked import Trees
from fuelclient.errors import FuelError, InvalidDocument
from fuelclient.model.finding import Finding, Place, Severity, errors_in
from fuelclient.model.package import Package
from fuelclient.model.plugin import InstallAction, Installed, Plugin, Synced
from fuelclient.plugins.build.entries import is_built
from fuelclient.plugins.checks import check, for_install
from fuelclient.plugins.load import load_package
from fuelclient.plugins.select import needs_release
from fuelclient.store import plugins, releases
from fuelclient.store.database import Connection, Database


def install(database: Database, path: str, *, force: bool) -> Installed:
    """The package in `path` is registered; see `backends.base.Plugins`.

    The files are complete in their final place before the transaction that refers to them commits; whatever
    happens before that leaves files that nobody refers to, and the next installation sweeps them away.
    """
    places = Trees(database.path)
    source = Path(path)
    with database.alone():
        _sweep(database, places)
        with places.staging() as staged:
            places.fill(staged, source)
            wanted, found = _prepared(places, staged, source)
            with database.write() as connection:
                done = register.register(connection, wanted, force=force)
                defined = tuple(releases.of_plugin(connection, done.plugin.id))
    previous = done.previous.version if done.previous else ""
    findings = tuple(dict.fromkeys((*found, *done.findings)))
    return Installed(done.plugin, done.action, previous, defined, findings)


def remove(database: Database, plugin_id: int) -> None:
    """The plugin is gone, and then its files are; see `backends.base.Plugins`."""
    with database.alone():
        with database.write() as connection:
            register.remove(connection, lookup.plugin(connection, plugin_id))
        _sweep(database, Trees(database.path))


def sync(database: Database, plugin_ids: Sequence[int]) -> Synced:
    """Registered plugins are as their unpacked packages are; see `backends.base.Plugins`."""
    places = Trees(database.path)
    done = Synced()
    with database.alone():
        with database.read() as connection:
            known = plugins.every(connection)
            chosen = [lookup.plugin(connection, one) for one in dict.fromkeys(plugin_ids)] or known
        for plugin in chosen:
            done = _synced(done, database, places, plugin, again=bool(plugin_ids))
        for directory in () if plugin_ids else places.foreign():
            done = _adopted(done, database, places, directory)
        _sweep(database, places)
    return done


def _prepared(places: Trees, staged: Path, source: Path) -> tuple[Candidate, tuple[Finding, ...]]:
    """The package in `staged`, moved to its final place; and what its check found, none of which is an error."""
    shown_as = str(source) if source.is_dir() else f"{source}!"
    package, found = _loaded(staged, shown_as)
    for path in staged.rglob(f"{package.name}-*"):
        if is_built(path.name, package.name) and path.is_file():
            path.unlink()  # a package that was built in the directory of the plugin
    named = register.candidate(package, "", "", by_release=False).plugin
    unpacked = places.place(staged, named.directory)
    origin = os.path.realpath(source)
    by_release = needs_release(package)
    return register.candidate(package, unpacked, origin, by_release=by_release, shown_as=shown_as), found


def _loaded(directory: Path, shown_as: str) -> tuple[Package, tuple[Finding, ...]]:
    """The package in a directory, and everything that was found. Raises `InvalidDocument` when it cannot be used."""
    found = tuple(for_install(check(directory, shown_as=shown_as)))
    errors = errors_in(found)
    if errors:
        count = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
        raise InvalidDocument(f"{shown_as.removesuffix('!')} cannot be installed: {count}.", findings=found)
    return load_package(directory, shown_as=shown_as), found


def _synced(done: Synced, database: Database, places: Trees, plugin: Plugin, *, again: bool) -> Synced:
    """`done`, and one plugin read again; where that fails it stays as it was."""
    try:
        if not places.has(plugin.unpacked):
            return _without(done, database, plugin)
        directory = places.path(plugin.unpacked)
        if not again and unpacked.digest(directory) == unpacked.content_of(plugin.unpacked):
            return done
        registered, found = _read_again(database, places, plugin, directory)
    except FuelError as error:
        return replace(done, findings=(*done.findings, *_told(error, plugin.label)))
    return replace(done, updated=(*done.updated, registered.plugin), findings=(*done.findings, *found))


def _read_again(
    database: Database, places: Trees, plugin: Plugin, directory: Path
) -> tuple[Registered, tuple[Finding, ...]]:
    """A plugin whose files were changed where they are; it gets a directory that is named after its new content."""
    with places.staging() as staged:
        places.fill(staged, directory)
        wanted, found = _prepared(places, staged, directory)
        if wanted.plugin.name != plugin.name:
            raise InvalidDocument(
                f"Plugin can't be renamed. Trying to change name of the plugin {plugin.name} to {wanted.plugin.name}.",
                hint=f"Change the name back in {directory / 'metadata.yaml'}.",
            )
        kept = replace(wanted, plugin=replace(wanted.plugin, origin=plugin.origin))
        with database.write() as connection:
            done = register.register(connection, kept, force=True, target=plugin)
    return done, (*found, *done.findings)


def _without(done: Synced, database: Database, plugin: Plugin) -> Synced:
    """`done`, and a plugin removed whose files are gone. Raises `Conflict` while it is in use."""
    with database.write() as connection:
        register.remove(connection, plugin)
    return replace(done, removed=(*done.removed, plugin))


def _adopted(done: Synced, database: Database, places: Trees, directory: Path) -> Synced:
    """`done`, and the package registered that somebody put beside the others, unless it is already."""
    try:
        with places.staging() as staged:
            places.fill(staged, directory)
            wanted, found = _prepared(places, staged, directory)
            with database.write() as connection:
                if _is_registered(connection, wanted.plugin):
                    return done
                registered = register.register(connection, wanted, force=False)
    except FuelError as error:
        return replace(done, findings=(*done.findings, *_told(error, directory.name)))
    findings = (*done.findings, *found, *registered.findings)
    if registered.action is InstallAction.CREATED:
        return replace(done, created=(*done.created, registered.plugin), findings=findings)
    return replace(done, updated=(*done.updated, registered.plugin), findings=findings)


def _is_registered(connection: Connection, wanted: Plugin) -> bool:
    content = unpacked.content_of(wanted.unpacked)
    return any(
        (one.name, one.version, unpacked.content_of(one.unpacked)) == (wanted.name, wanted.version, content)
        for one in plugins.every(connection)
    )


def _told(error: FuelError, what: str) -> list[Finding]:
    """Why one plugin could not be synchronised: each mistake in its files where it is, or else the one reason."""
    listed = error.findings if isinstance(error, InvalidDocument) else ()
    causes = errors_in(one for one in listed if isinstance(one, Finding))
    place = Place(layer=f"plugin {what}")
    return causes or [Finding(Severity.ERROR, "P082", f"not synchronised: {error.message}", place, hint=error.hint)]


def _sweep(database: Database, places: Trees) -> None:
    with database.read() as connection:
        places.sweep({plugin.unpacked for plugin in plugins.every(connection)})
