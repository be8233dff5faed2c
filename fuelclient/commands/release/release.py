"""Releases: list, show, create, import, delete."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import identifier, stated
from fuelclient.commands.base import STRUCTURED, Command, Lister, ShowOne, check_columns, report
from fuelclient.commands.columns import Names
from fuelclient.commands.shell import LOG
from fuelclient.errors import InvalidDocument

if TYPE_CHECKING:
    from fuelclient.model.document import Marked
    from fuelclient.model.release import Release

_COLUMNS = ("id", "name", "state", "operating_system", "version")


def _row(release: Release) -> tuple[Any, ...]:
    return (release.id, release.name, release.state, release.operating_system, release.version)


class ReleaseList(Lister):
    """List all releases"""

    columns = _COLUMNS

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:  # noqa: ARG002 (no options)
        releases = self.backend.releases.list()
        if not releases:
            LOG.info(
                "There is no release yet: 'fuel2 plugins install FILE', 'fuel2 release import FILE' or 'fuel2 demo' "
                "brings some."
            )
        return [_row(release) for release in releases]


class ReleaseImport(Lister):
    """Create all releases of a file, or none

    The file is a Nailgun fixture (openstack.yaml of fuel-web, with its 'extend' inheritance), or a release or a
    list of releases as the REST API gives them, in YAML or JSON. A release of the same name and version that is
    there already keeps all of them out: the exit code is 6.

      fuel2 release import nailgun/fixtures/openstack.yaml
    """

    columns = _COLUMNS

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("file", metavar="FILE", help="the file; - is stdin")
        return parser

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        from fuelclient import files
        from fuelclient.serializers.release import releases_from

        document = files.load(parsed_args.file, stdin=self.app.stdin)
        report(document.findings)
        if not document.data:
            hint = "Write a list of releases, each with a name and a version."
            raise InvalidDocument(f"{document.file} holds no release.", hint=hint)
        releases = releases_from(document)
        return [_row(release) for release in self.writable().releases.create(releases)]


class _ShowRelease(ShowOne):
    """One release: a summary for people, all its fields for programs, which can be imported again."""

    columns = (*_COLUMNS, "description", "roles")

    def shown(self, parsed_args: argparse.Namespace, release: Release) -> tuple[Sequence[str], Sequence[Any]]:
        from fuelclient.serializers.release import release_to

        if parsed_args.formatter in STRUCTURED:
            fields = release_to(release)
            check_columns(parsed_args.columns, tuple(fields))
            return tuple(fields), tuple(fields.values())
        check_columns(parsed_args.columns, self.columns)
        roles = Names(list(release.metadata.get("roles_metadata") or {}))
        return self.columns, (*_row(release), release.description, roles)


class ReleaseShow(_ShowRelease):
    """Show one release

    With -f json or -f yaml all its fields are shown, in a form that 'release import' takes.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("id", type=identifier, help="id of the release")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        return self.shown(parsed_args, self.backend.releases.get(parsed_args.id))


class ReleaseCreate(_ShowRelease):
    """Create one release

    Everything that has no option (roles_metadata, tags_metadata, volumes_metadata ...) comes from a file with
    one release, whose name, version and operating system the command line overrides.

      fuel2 release create "My OpenStack" --version 1-1.0 --operating-system Ubuntu --file roles.yaml
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("name", type=stated, help="name of the new release")
        parser.add_argument("--version", type=stated, required=True, help="its version, such as newton-10.0")
        parser.add_argument("--operating-system", default="", metavar="OS", help="its operating system")
        parser.add_argument(
            "--file", type=stated, metavar="FILE", help="YAML or JSON mapping with further fields; - is stdin"
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        from fuelclient.model.document import Document, Marked
        from fuelclient.serializers.release import releases_from

        below, file = self._fields(parsed_args.file)
        stated = {"name": parsed_args.name, "version": parsed_args.version}
        if parsed_args.operating_system:
            stated["operating_system"] = parsed_args.operating_system
        fields = Marked({**below, **stated}, below.line, below.lines)
        releases = releases_from(Document(fields, file))
        [release] = self.writable().releases.create(releases)
        return self.shown(parsed_args, release)

    def _fields(self, path: str | None) -> tuple[Marked, str]:
        """The further fields of a file, and what to call the file in messages."""
        from fuelclient import files
        from fuelclient.model.document import Marked

        if path is None:
            return Marked(), ""
        document = files.load(path, stdin=self.app.stdin)
        report(document.findings)
        if not isinstance(document.data, Marked):
            raise InvalidDocument(
                f"{document.file}: the fields of a release are a mapping.", hint="'release import' takes lists."
            )
        return document.data, document.file


class ReleaseDelete(Command):
    """Delete a release with its graphs

    A release that an environment uses stays, and the exit code is 6.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("id", type=identifier, help="id of the release")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self.writable().releases.delete(parsed_args.id)
        self.say(f"Release with id {parsed_args.id} was deleted")
