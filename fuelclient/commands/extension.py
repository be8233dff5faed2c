"""Extensions of a Fuel master: the parts of Nailgun that handle disks and networks."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from cliff.columns import FormattableColumn

from fuelclient.commands.arguments import id_of, names, option
from fuelclient.commands.base import Lister, ShowOne
from fuelclient.commands.columns import Names
from fuelclient.commands.master_only import MasterOnly


class Quoted(FormattableColumn[list[str]]):
    """A list of names; as text, in the notation of the original client.

    >>> Quoted(["get_node_volumes"]).human_readable(), Quoted([]).human_readable()
    ("['get_node_volumes']", '[]')
    """

    def human_readable(self) -> str:
        return str(self._value)


class _OfMaster(MasterOnly):
    """A command about extensions."""

    reason = "Only a Fuel master has extensions: the engine handles disks and networks itself."
    instead = "To extend an environment, enable a plugin: `fuel2 plugins enable`."


class ExtensionList(_OfMaster, Lister):
    """List the extensions of the master

    fuel2 extension list
    """

    columns = ("name", "version", "description", "provides")
    sort_by = "name"

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:  # noqa: ARG002 (no options)
        return [
            (extension.name, extension.version, extension.description, Quoted(list(extension.provides)))
            for extension in self.services.extensions()
        ]


class ExtensionShow(_OfMaster, ShowOne):
    """Show the extensions that are enabled in an environment

    fuel2 env extension show 1
    """

    columns = ("extensions",)

    arguments = (id_of("environment"),)

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        return [Names(self.services.extensions_of(parsed_args.id))]


class _Switch(_OfMaster):
    """Enable or disable extensions."""

    done = ""

    arguments = (
        id_of("environment"),
        option(
            "-E", "--extensions", nargs="+", type=names, required=True, metavar="NAME",
            help="names of the extensions: a b or a,b",
        ),
    )  # fmt: skip

    def switch(self, env: int, chosen: Sequence[str]) -> None:
        """Change the environment."""
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        chosen = list(dict.fromkeys(name for part in parsed_args.extensions for name in part))
        self.switch(parsed_args.id, chosen)
        self.say(
            f"The following extensions: {', '.join(chosen)} have been {self.done} "
            f"for the environment with id {parsed_args.id}."
        )


class ExtensionEnable(_Switch):
    """Enable extensions in an environment

    fuel2 env extension enable 1 --extensions volume_manager
    """

    done = "enabled"

    def switch(self, env: int, chosen: Sequence[str]) -> None:
        self.writable_services().enable_extensions(env, chosen)


class ExtensionDisable(_Switch):
    """Disable extensions in an environment

    fuel2 env extension disable 1 --extensions volume_manager
    """

    done = "disabled"

    def switch(self, env: int, chosen: Sequence[str]) -> None:
        self.writable_services().disable_extensions(env, chosen)
