"""Network configuration of environments: download, upload, and verification by a master."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import id_of
from fuelclient.commands.columns import plain
from fuelclient.commands.documents import DocumentDownload, DocumentUpload, require_mapping
from fuelclient.commands.master_only import MasterOnly

if TYPE_CHECKING:
    from fuelclient.model.document import Document


class NetworkDownload(DocumentDownload):
    """Write the network configuration of an environment to a file

    It has the networks, the networking parameters and the virtual addresses. Without --file the file is
    DIR/environment_ID/network.FORMAT. An existing file is overwritten; on a terminal the command asks first.
    '--file -' prints the document, and nothing else, on stdout.

      fuel2 env network download 1 -f yaml
    """

    part = "network"

    def document(self, owner_id: int) -> Any:
        return plain(self.backend.networks.configuration(owner_id))


class NetworkUpload(DocumentUpload):
    """Change the network configuration of an environment from a file

    The file is as 'env network download' writes it: networks and parameters that it leaves out stay as they are.
    Without --file the file is DIR/environment_ID/network.FORMAT; '--file -' reads stdin. The embedded engine keeps only
    what differs from the release, and takes further networks; on a master, 'network-group create' adds them.

      fuel2 env network upload 1 -f yaml
    """

    part = "network"

    def store(self, owner_id: int, document: Document) -> None:
        configuration = require_mapping(document, "a network configuration", "Start from 'fuel2 env network download'.")
        self.writable().networks.set_configuration(owner_id, configuration)


class NetworkVerify(MasterOnly):
    """Let the nodes of an environment check its networks

    The nodes send packets to each other in every network of the configuration. Follow the task with 'fuel2 task show'.

      fuel2 env network verify 1
    """

    reason = "Only a Fuel master can verify networks: its agent on each node sends the packets."
    instead = "'fuel2 env network download ENV' shows the configuration."

    arguments = (id_of("environment"),)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        task = self.writable_services().verify_networks(parsed_args.id)
        self.say(f"Network verification task with id {task} for the environment {parsed_args.id} has been started.")
