"""Components and package repositories of releases."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cliff.columns import FormattableColumn

from fuelclient.commands.arguments import identifier, stated
from fuelclient.commands.base import Command, Lister, report
from fuelclient.commands.columns import plain

_PREDICATES = ("any_of", "all_of", "one_of", "none_of")


class Relations(FormattableColumn[list[Any]]):
    """The components that a component needs, goes with or does not go with; as text, their names, and a choice among
    several as its word and theirs.

    >>> Relations([{"name": "hypervisor:kvm"}, {"any_of": {"items": ["a", "b"]}}]).human_readable()
    'hypervisor:kvm, any_of (a, b)'
    """

    def human_readable(self) -> str:
        return ", ".join(map(_told, self._value))


def _told(one: Any) -> str:
    if not isinstance(one, Mapping) or "name" in one:
        return str(one["name"] if isinstance(one, Mapping) else one)
    for word in _PREDICATES:
        choice = one.get(word)
        if choice is not None:
            items = choice.get("items") if isinstance(choice, Mapping) else choice
            return f"{word} ({', '.join(map(str, items or ()))})"
    return ", ".join(map(str, one))


class ComponentList(Lister):
    """List the components of a release

    They are the release's own, and those of the plugins that extend it. Nothing known is shown as -.

      fuel2 release component list 1
    """

    columns = ("name", "requires", "compatible", "incompatible", "default")
    sort_by = "name"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("id", type=identifier, help="id of the release")
        return parser

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        found = self.backend.releases.components(parsed_args.id)
        return [[_cell(one.get(column, "-")) for column in self.columns] for one in found]


def _cell(value: Any) -> Any:
    return Relations(plain(value)) if isinstance(value, list | tuple) else value


class ReposList(Lister):
    """List the package repositories of a release

    They are the default of the environments that are made of it.

      fuel2 release repos list 1
    """

    columns = ("name", "priority", "uri", "section", "suite", "type")
    sort_by = "priority"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("id", type=identifier, help="id of the release")
        return parser

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        found = self.backend.releases.repositories(parsed_args.id)
        return [[one.get(column) for column in self.columns] for one in found]


class ReposUpdate(Command):
    """Set the package repositories of a release from a file

    The file is a YAML or JSON list of mappings: name and uri, and where they are known type, suite, section and
    priority. They take the place of all that the release had. Environments that set their own keep them.

      fuel2 release repos update 1 --file repos.yaml
      fuel2 release repos list 1 -f json | fuel2 release repos update 2 --file -
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("id", type=identifier, help="id of the release")
        parser.add_argument(
            "-f", "--file", required=True, type=stated, metavar="FILE", help="the list of repositories; - is stdin"
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient import files
        from fuelclient.serializers.release import repositories_from

        document = files.load(parsed_args.file, stdin=self.app.stdin)
        report(document.findings)
        repositories = repositories_from(document)
        self.writable().releases.set_repositories(parsed_args.id, repositories)
        self.say(f"Repositories for the release with id {parsed_args.id} were set from {parsed_args.file}.")
