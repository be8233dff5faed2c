"""`plugins watch`: check a package, and preview it in an environment, each time it is saved."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path

from fuelclient.commands.arguments import env_option, option, stated_path, type_option
from fuelclient.commands.base import Command, tally
from fuelclient.commands.findings import grouped, others
from fuelclient.commands.graph.diff import comparison_lines
from fuelclient.commands.graph.sides import package_addition, package_at
from fuelclient.commands.plugins.check import findings_of
from fuelclient.commands.shell import LOG
from fuelclient.errors import FuelError
from fuelclient.printing import printable

_EVERY = 0.5
"""Seconds between two looks at the files."""


class PluginsWatch(Command):
    """Check a plugin each time one of its files is saved

    Prints the findings, one line for each code, as 'plugins check' does, and what the package would change in the graph
    of an environment with --env. Nothing is installed or enabled. Ctrl-C ends it.

      fuel2 plugins watch ./my-plugin
      fuel2 plugins watch ./my-plugin --env 1
    """

    arguments = (
        option("directory", type=stated_path, metavar="DIR", help="the directory of the plugin"),
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
                now = _state(directory)
                if now != seen:
                    seen = now
                    self._show(directory, parsed_args.env, parsed_args.graph_type)
                time.sleep(_EVERY)
        except KeyboardInterrupt:
            LOG.info("")

    def _show(self, directory: Path, env: int | None, graph_type: str) -> None:
        """Print what is to be said about the package now; what cannot be read is said, too."""
        self.say(time.strftime("-- %H:%M:%S"))
        try:
            found = findings_of(directory)
            for group in grouped(sorted(found, key=lambda finding: list("ewi").index(finding.severity[0]))):
                self.say(printable(f"{group[0]}{others(group)}"))
            self.say(f"{directory}: {tally(found)}.")
            for line in self._changes(directory, env, graph_type) if env is not None else ():
                self.say(printable(line))
        except FuelError as error:
            LOG.error("%s", error)
        self.app.stdout.flush()

    def _changes(self, directory: Path, env: int, graph_type: str) -> Iterator[str]:
        from fuelclient.backends.studies import study_of
        from fuelclient.environment.what_if import changed
        from fuelclient.insight.comparison import compare

        environment = self.backend.clusters.environment(env)
        known = self.backend.graphs.snapshot(env, graph_type)
        added = package_addition(package_at(directory), environment, known)
        after = study_of(self.backend, changed(environment, known, added=[added]))
        compared = compare(study_of(self.backend, known), after)
        yield from comparison_lines(compared, after.expansion)
        yield from map(str, compared.findings)


def _state(directory: Path) -> frozenset[tuple[str, int, int]]:
    """Return what changes when a file is saved: the paths of all files with their times and sizes. Hidden ones are
    left out, because editors and version control write them all the time."""
    state = set()
    for place, directories, names in os.walk(directory):
        directories[:] = [name for name in directories if not name.startswith(".")]
        for name in names:
            path = os.path.join(place, name)
            try:
                status = os.stat(path)
            except OSError:
                continue  # it went while we looked
            if not name.startswith("."):
                state.add((path, status.st_mtime_ns, status.st_size))
    return frozenset(state)
