"""`plugins matrix`: which packages can be enabled together on which releases."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import nonempty_path, option, release_option
from fuelclient.commands.formatters import Shown
from fuelclient.commands.graph.question import AnswerList
from fuelclient.commands.graph.sides import package_at
from fuelclient.commands.plugins.check import Context, release_contexts, with_tasks
from fuelclient.errors import NotFound

if TYPE_CHECKING:
    from fuelclient.model.finding import Finding
    from fuelclient.model.package import Package


class PluginsMatrix(AnswerList):
    """Show which plugin packages can be enabled together on which releases

    Prints a row for each release and package, and for each pair of packages that support the release: whether it works,
    and if not, why; -f json has all reasons. Roles are placed on assumed nodes. A package is the directory of a plugin,
    or an .rpm or .fp file; nothing is installed. Packages that define releases are left out, because nothing enables
    them.

      fuel2 plugins matrix lma_collector-0 my-plugin
      fuel2 plugins matrix lma_collector-0 my-plugin --release 1 -f json
    """

    columns = ("release", "package", "with", "works", "why")
    by_weight = ("release", "package", "works", "why")
    sort_by = ""
    key = "combinations"

    arguments = (
        option("paths", nargs="+", type=nonempty_path, metavar="DIR|FILE", help="packages"),
        release_option(required=False, help="only this release"),
    )

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        packages = [package_at(path) for path in parsed_args.paths]
        if not (contexts := list(release_contexts(self.backend, parsed_args.release))):
            raise NotFound("release", "to try them on", hint="Import one: fuel2 release import FILE.")
        if parsed_args.release is None:
            contexts = with_tasks(contexts)
        return [row for context in contexts for row in _rows(packages, context)]


def _rows(packages: Sequence[Package], context: Context) -> Iterator[Sequence[Any]]:
    from fuelclient.plugins.checks.in_environment import check_enabled, with_enabled
    from fuelclient.plugins.select import is_compatible

    release = context.environment.release
    packages = [package for package in packages if package.records or not package.releases]
    label = f"{release.id} ({release.name} {release.version})"
    for package in packages:
        yield _row(label, package, None, check_enabled(package, context.environment, context.layers))
    for one, other in combinations([package for package in packages if is_compatible(package, release)], 2):
        if one.name != other.name:
            environment, layers = with_enabled(one, context.environment, context.layers)
            yield _row(label, other, one, check_enabled(other, environment, layers))


def _row(label: str, package: Package, other: Package | None, findings: Iterable[Finding]) -> Sequence[Any]:
    errors = [f"{finding.message} [{finding.code}]" for finding in findings if finding.is_error]
    return label, package.name, other.name if other else "", not errors, _reasons(list(dict.fromkeys(errors)))


def _reasons(reasons: list[str]) -> Shown:
    """Reasons; as text the first one, and how many more there are.

    >>> _reasons(["it does not fit", "nor does that"]).human_readable()
    'it does not fit (1 more)'
    """
    more = f" ({len(reasons) - 1} more)" if len(reasons) > 1 else ""
    return Shown(reasons, f"{reasons[0]}{more}" if reasons else "")
