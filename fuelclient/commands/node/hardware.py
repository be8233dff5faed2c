"""Disks and interfaces of nodes: download, default, upload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fuelclient.commands.columns import plain
from fuelclient.commands.documents import DocumentDownload, DocumentUpload, require_list

if TYPE_CHECKING:
    from fuelclient.model.document import Document


class DisksDownload(DocumentDownload):
    """Write the disks of a node, with their volumes, to a file

    Without --file the file is DIR/node_ID/disks.FORMAT. An existing file is overwritten; on a terminal the command
    asks first. The embedded engine has the disks that were uploaded.

      fuel2 node disks download 1 -f yaml
    """

    noun, part = "node", "disks"

    def document(self, owner_id: int) -> Any:
        return plain(self.backend.nodes.disks(owner_id))


class DisksDefault(DocumentDownload):
    """Write the disks of a node, divided as its roles need it, to a file

    The file is that of 'node disks download'. Only a Fuel master divides disks.

      fuel2 node disks get-default 1 -f yaml
    """

    noun, part = "node", "disks"

    def document(self, owner_id: int) -> Any:
        return plain(self.backend.nodes.default_disks(owner_id))


class DisksUpload(DocumentUpload):
    """Set the disks of a node, with their volumes, from a file

    The file is as 'node disks download' writes it: a list of disks with id and size, each with a list of volumes.
    Deployment facts read the volumes.

      fuel2 node disks upload 1 -f yaml
    """

    noun, part = "node", "disks"

    def store(self, owner_id: int, document: Document) -> None:
        disks = require_list(document, "the disks of a node", "Start from 'fuel2 node disks download'.")
        self.writable().nodes.set_disks(owner_id, disks)


class InterfacesDownload(DocumentDownload):
    """Write the interfaces of a node, with their networks, to a file

    Without --file the file is DIR/node_ID/interfaces.FORMAT. An existing file is overwritten; on a terminal the
    command asks first.

      fuel2 node interfaces download 1 -f yaml
    """

    noun, part = "node", "interfaces"

    def document(self, owner_id: int) -> Any:
        return plain(self.backend.nodes.interfaces(owner_id))


class InterfacesDefault(DocumentDownload):
    """Write the interfaces of a node, with the networks they have at first, to a file

    The file is that of 'node interfaces download'. The embedded engine takes the interfaces from the node's attributes
    (meta.interfaces); a node without them has eth0, from which it boots, and eth1.

      fuel2 node interfaces get-default 1 -f yaml
    """

    noun, part = "node", "interfaces"

    def document(self, owner_id: int) -> Any:
        return plain(self.backend.nodes.default_interfaces(owner_id))


class InterfacesUpload(DocumentUpload):
    """Set the interfaces of a node, with their networks, from a file

    The file is as 'node interfaces download' writes it: a list of interfaces with a name and assigned_networks.
    Deployment facts read which network is on which interface.

      fuel2 node interfaces upload 1 -f yaml
    """

    noun, part = "node", "interfaces"

    def store(self, owner_id: int, document: Document) -> None:
        interfaces = require_list(document, "the interfaces of a node", "Start from 'fuel2 node interfaces download'.")
        self.writable().nodes.set_interfaces(owner_id, interfaces)
