"""Configurations of OpenStack services that a Fuel master deploys: list, upload, download, execute, delete."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import OF_ENV, YES, Arguments, flag, identifier, nodes_option, option
from fuelclient.commands.base import Lister
from fuelclient.commands.columns import plain
from fuelclient.commands.master_only import MasterOnly
from fuelclient.commands.output import OVERWRITING, STDOUT, format_of, put

if TYPE_CHECKING:
    from fuelclient.model.services import OpenstackConfig

_COLUMNS = ("id", "is_active", "config_type", "cluster_id", "node_id", "node_role")
_KEY = "configuration"
_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")


_CONFIG = option("config", type=identifier, help="id of the configuration")


class _OfMaster(MasterOnly):
    """A command about OpenStack configurations."""

    reason = "Only a Fuel master keeps and deploys OpenStack configurations."
    instead = "Write a graph that applies them, and run it with `fuel2 graph execute --type TYPE`."


def _whose(verb: str) -> Arguments:
    """Return the environment, and the nodes or the role: `env`, `nodes` and `role`."""
    return (
        OF_ENV,
        nodes_option(required=False, help=f"{verb} only for these nodes: 1 2 or 1,2"),
        option("-r", "--role", metavar="ROLE", help=f"{verb} only for nodes of this role"),
    )


def _truth(word: str) -> bool:
    """Return the truth that a word means.

    >>> _truth("True"), _truth("no")
    (True, False)
    """
    if word.lower() not in (*_TRUE, *_FALSE):
        raise argparse.ArgumentTypeError(f"'{word}' is neither true nor false")
    return word.lower() in _TRUE


def _row(config: OpenstackConfig) -> Sequence[Any]:
    return (
        config.id, config.is_active, config.config_type, config.cluster_id, config.node_id, config.node_role,
    )  # fmt: skip


class ConfigList(_OfMaster, Lister):
    """List the OpenStack configurations of an environment

    With --deleted, those that were deleted or replaced are listed instead.

      fuel2 openstack-config list --env 1
    """

    columns = _COLUMNS

    arguments = (
        *_whose("list those that are"),
        option(
            "-D", "--deleted", type=_truth, nargs="?", const=True, default=False, metavar="true|false",
            help="list deleted ones (default: false)",
        ),
    )  # fmt: skip

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        configs = self.services.openstack_configs(
            parsed_args.env, node_ids=parsed_args.nodes, role=parsed_args.role, active=not parsed_args.deleted
        )
        return map(_row, configs)


class ConfigUpload(_OfMaster, Lister):
    """Store an OpenStack configuration from a file

    The file has the configuration below the key 'configuration', as 'openstack-config download' writes it. It is for
    the whole environment, for some nodes, or for the nodes of a role, and replaces an active one for the same.

      fuel2 openstack-config upload --env 1 --role compute --file nova.yaml
    """

    columns = _COLUMNS

    arguments = (
        *_whose("store it"),
        option("--file", required=True, metavar="FILE", help="YAML or JSON; - is stdin"),
    )

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        from fuelclient.errors import InvalidDocument

        services = self.services
        document = self.load(parsed_args.file)
        data = document.data
        if not isinstance(data, Mapping) or not isinstance(data.get(_KEY), Mapping):
            raise InvalidDocument(
                f"{document.file}: an OpenStack configuration is a mapping below the key '{_KEY}'.",
                hint="Write it as configuration: {nova_config: {DEFAULT/debug: {value: true}}}.",
            )
        self.writable()
        configs = services.create_openstack_config(
            parsed_args.env, plain(data[_KEY]), node_ids=parsed_args.nodes, role=parsed_args.role
        )
        return map(_row, configs)


class ConfigDownload(_OfMaster):
    """Write an OpenStack configuration to a file

    An existing file is overwritten; on a terminal the command asks first. '--file -' prints the document, and
    nothing else, on stdout.

      fuel2 openstack-config download 2 --file nova.yaml
    """

    arguments = (
        _CONFIG,
        option("--file", required=True, metavar="FILE", help="the file to write; - is stdout"),
        OVERWRITING,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        form = format_of(parsed_args.file, None)
        config = self.services.openstack_config(parsed_args.config)
        put(self, parsed_args, {_KEY: plain(config.configuration)}, parsed_args.file, form)
        if parsed_args.file != STDOUT:
            self.say(f"OpenStack configuration with id={parsed_args.config} downloaded to {parsed_args.file}.")


class ConfigExecute(_OfMaster):
    """Deploy the OpenStack configurations of an environment

    The environment must be deployed. Follow the task with 'fuel2 task show'.

      fuel2 openstack-config execute --env 1 --role compute
    """

    arguments = (*_whose("deploy them"), flag("-f", "--force", help="also deploy what has not changed"))

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        task = self.writable_services().execute_openstack_configs(
            parsed_args.env, node_ids=parsed_args.nodes, role=parsed_args.role, force=parsed_args.force
        )
        self.say(f"Deployment of the OpenStack configuration was started within task with id {task}.")


class ConfigDelete(_OfMaster):
    """Delete an OpenStack configuration

    The master keeps it as inactive; what it configured stays on the nodes. On a terminal the command asks first, unless
    you use --yes.

      fuel2 openstack-config delete 2
    """

    arguments = (_CONFIG, YES)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        services = self.services
        self.ask(parsed_args, lambda: f"Delete the OpenStack configuration {parsed_args.config}?")
        self.writable()
        services.delete_openstack_config(parsed_args.config)
        self.say(f"Openstack configuration with id {parsed_args.config} was deleted.")
