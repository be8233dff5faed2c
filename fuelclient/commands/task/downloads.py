"""Write what a run was computed from to files: deployment info, settings, network configuration."""

from __future__ import annotations

import argparse
import os
from typing import Any

from fuelclient.commands.arguments import id_of
from fuelclient.commands.base import Command
from fuelclient.commands.output import OVERWRITING, STDOUT, format_of, output_options, put


class _Download(Command):
    """Write one document of a run."""

    name, title = "", ""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        place = output_options("-f", "--file", default=f"./{self.name}_ID.FORMAT")
        for add in (id_of("run"), *place, OVERWRITING):
            add(parser)

    def document(self, run_id: int) -> Any:
        """Return what to write."""
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        path = parsed_args.file or os.path.abspath(f"{self.name}_{parsed_args.id}.{parsed_args.format or 'yaml'}")
        form = format_of(path, parsed_args.format)
        put(self, parsed_args, self.document(parsed_args.id), path, form)
        if path != STDOUT:
            self.say(f"{self.title} for task with id={parsed_args.id} downloaded to {path}")


class DeploymentInfoDownload(_Download):
    """Write the facts that a run saw to a file

    The facts were recorded when the graph of the run was planned: the common facts, and those of each node. For a run
    of several graphs they are those of the graph that was planned last; each part has its own. They may contain
    passwords.

      fuel2 task deployment-info download 12 --file - | less
    """

    name, title = "deployment_info", "Deployment info"

    def document(self, run_id: int) -> Any:
        from fuelclient.serializers.fact import info_to

        return info_to(self.backend.runs.deployment_info(run_id))


class SettingsDownload(_Download):
    """Write the settings that a run began with to a file

    The settings were recorded when the graph of the run was planned. They may contain passwords. 'env settings upload'
    accepts the file.

      fuel2 task settings download 12 --file settings.yaml
    """

    name, title = "cluster_settings", "Cluster settings"

    def document(self, run_id: int) -> Any:
        from fuelclient.commands.columns import plain

        return {"editable": plain(self.backend.runs.settings(run_id))}


class NetworkConfigurationDownload(_Download):
    """Write the networks that a run began with to a file

    The networks were recorded when the graph of the run was planned. 'env network upload' accepts the file.

      fuel2 task network-configuration download 12
    """

    name, title = "network_configuration", "Network configuration"

    def document(self, run_id: int) -> Any:
        from fuelclient.commands.columns import plain

        return plain(self.backend.runs.network_configuration(run_id))
