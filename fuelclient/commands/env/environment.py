"""Environments: list, show, create, update, delete."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import RELEASE, identifier
from fuelclient.commands.base import Command, Lister, ShowOne
from fuelclient.commands.shell import LOG

if TYPE_CHECKING:
    from fuelclient.model.cluster import Cluster

_SHOWN = ("id", "status", "fuel_version", "name", "release_id", "is_customized", "changes")
"""The columns of one environment; `fuel_version` is its release's, the last two are only known to a master."""


class EnvList(Lister):
    """List all environments"""

    columns = ("id", "status", "name", "release_id")

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:  # noqa: ARG002 (no options)
        clusters = self.backend.clusters.list()
        if not clusters:
            LOG.info("There is no environment yet: 'fuel2 env create NAME --release ID' makes one.")
        return [(one.id, one.status, one.name, one.release_id) for one in clusters]


class _ShowEnv(ShowOne):
    columns = _SHOWN

    def shown(self, cluster: Cluster) -> Sequence[Any]:
        version = self.backend.releases.get(cluster.release_id).version
        fuel_version = version.rpartition("-")[2]
        return (cluster.id, cluster.status, fuel_version, cluster.name, cluster.release_id, "", "")


class EnvShow(_ShowEnv):
    """Show one environment"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("id", type=identifier, help="id of the environment")
        return parser

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        return self.shown(self.backend.clusters.get(parsed_args.id))


class EnvCreate(_ShowEnv):
    """Create an environment from a release

    The environment starts with an empty graph of the type default; its tasks are those of its release until a
    plugin or a graph of its own overrides them.

      fuel2 env create prod --release 1
      fuel2 env create prod --release 1 -f value -c id
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("name", help="name of the new environment")
        parser.add_argument(*RELEASE, type=identifier, required=True, metavar="ID", help="id of its release")
        parser.add_argument(
            "-nst", "--net-segmentation-type", choices=("vlan", "gre", "tun"), default="vlan",
            help="network segmentation type (default: vlan); gre is deprecated since Fuel 7.0",
        )  # fmt: skip
        return parser

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        release = self.backend.releases.get(parsed_args.release)
        if release.state == "unavailable":
            LOG.warning("Release %s (%s) is marked unavailable; it is used all the same.", release.id, release.name)
        if parsed_args.net_segmentation_type == "gre":
            LOG.warning("WARNING: GRE network segmentation type is deprecated since 7.0 release.")
        created = self.writable().clusters.create(
            parsed_args.name, release.id, net_segment_type=parsed_args.net_segmentation_type
        )
        return self.shown(created)


class EnvUpdate(_ShowEnv):
    """Rename an environment"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("id", type=identifier, help="id of the environment")
        parser.add_argument("-n", "--name", required=True, help="its new name")
        return parser

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        return self.shown(self.writable().clusters.rename(parsed_args.id, parsed_args.name))


class EnvDelete(Command):
    """Delete an environment with its graphs

    Its nodes stay, without environment and without roles; its executions go with it, with their history and their
    files, those on nodes included; a node that keeps them is named, with the way to remove them. An operational
    environment is only deleted with --force; without it, or while an execution on it has not ended, nothing happens
    and the exit code is 6.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("id", type=identifier, help="id of the environment")
        parser.add_argument("-f", "--force", action="store_true", help="even if it is operational")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        for stays in self.writable().clusters.delete(parsed_args.id, force=parsed_args.force):
            LOG.warning("%s", stays)
        self.say(f"Environment with id {parsed_args.id} was deleted")
