"""Write what a run was computed from to files: deployment info, settings, network configuration."""

from __future__ import annotations

import argparse
from typing import Any

from fuelclient.commands.arguments import id_of
from fuelclient.commands.base import on_backend
from fuelclient.commands.documents import OVERWRITING, Download, output_of, output_options


class _Download(Download):
    """Write one document of a run."""

    name, title = "", ""
    done = "{command.title} for task with id={id} downloaded to {path}"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        place = output_options("-f", "--file", default=f"./{self.name}_ID.FORMAT")
        for add in (id_of("run"), *place, OVERWRITING):
            add(parser)

    def place(self, parsed_args: argparse.Namespace) -> tuple[str, str]:
        return output_of(parsed_args, f"{self.name}_{parsed_args.id}")


class TaskDeploymentInfoDownload(_Download):
    """Write the facts that a run saw to a file

    The facts were recorded when the graph of the run was planned: the common facts, and those of each node. For a run
    of several graphs they are those of the graph that was planned last; each part has its own. They may contain
    passwords.

      fuel2 task deployment-info download 12 --file - | less
    """

    name, title = "deployment_info", "Deployment info"

    def document(self, parsed_args: argparse.Namespace) -> Any:
        from fuelclient.serializers.fact import info_to

        return info_to(self.backend.runs.deployment_info(parsed_args.id))


class TaskSettingsDownload(_Download):
    """Write the settings that a run began with to a file

    The settings were recorded when the graph of the run was planned. They may contain passwords. 'env settings upload'
    accepts the file.

      fuel2 task settings download 12 --file settings.yaml
    """

    name, title = "cluster_settings", "Cluster settings"
    document = on_backend(lambda backend, args: {"editable": backend.runs.settings(args.id)})


class TaskNetworkConfigurationDownload(_Download):
    """Write the networks that a run began with to a file

    The networks were recorded when the graph of the run was planned. 'env network upload' accepts the file.

      fuel2 task network-configuration download 12
    """

    name, title = "network_configuration", "Network configuration"
    document = on_backend(lambda backend, args: backend.runs.network_configuration(args.id))
