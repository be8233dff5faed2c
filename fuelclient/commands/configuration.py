"""Documents of environments, nodes and runs: settings, networks, disks, interfaces, attributes, and what a run saw."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fuelclient.commands import documents
from fuelclient.commands.arguments import YES, Arguments, flag, id_of, option
from fuelclient.commands.base import MasterChange, on_backend, on_master
from fuelclient.commands.shell import LOG
from fuelclient.errors import InvalidDocument
from fuelclient.serializers.values import mappings
from fuelclient.similar import close
from fuelclient.support import supports

if TYPE_CHECKING:
    from fuelclient.model.document import Document

_EDITABLE = "editable"


class EnvSettingsDownload(documents.DocumentDownload):
    """Write the settings of an environment to a file

    These are the defaults of its release and of its enabled plugins, overridden by what was set for the
    environment. Without --file the file is DIR/environment_ID/settings.FORMAT. An existing file is overwritten; on
    a terminal the command asks first. '--file -' prints the document, and nothing else, on stdout.

      fuel2 env settings download 1 -f yaml
      fuel2 env settings download 1 --file - | less
    """

    part = "settings"
    document = on_backend(lambda backend, args: {_EDITABLE: backend.clusters.settings(args.id)})


class EnvSettingsUpload(documents.DocumentUpload):
    """Set the settings of an environment from a file

    The file contains settings by section, as 'env settings download' writes them: all settings, or only some. They
    replace everything that was set before; a setting that the file leaves out returns to its default. metadata.enabled
    in the section of a plugin enables or disables it, as on a Fuel master. If a setting does not exist or cannot have
    its value, nothing is stored.

    Without --file the file is DIR/environment_ID/settings.FORMAT; '--file -' reads stdin. On a terminal the command
    asks first, unless you use --yes.

      fuel2 env settings upload 1 -f yaml
      fuel2 env settings download 1 --file - | sed s/false/true/ | fuel2 env settings upload 1 --file -
    """

    part = "settings"

    arguments = (
        *documents.DocumentUpload.arguments,
        flag(
            "--force",
            help="also change what a Fuel master locks in a deployed environment; the embedded engine locks nothing",
        ),
    )

    title, hint = "the settings of an environment", "Start from 'fuel2 env settings download'."

    def content(self, document: Document, parsed_args: argparse.Namespace) -> Mapping[str, Any]:
        from fuelclient.environment.settings import sections_from

        return sections_from(super().content(document, parsed_args))

    def judge(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.environment import rules, settings

        before = self.backend.clusters.environment(parsed_args.id)
        others = {plugin.name for plugin in self.backend.plugins.list()} - {plugin.name for plugin in before.plugins}
        own = {name: section for name, section in parsed_args.content.items() if name not in others}
        rules.require_no_new_breaks(before, replace(before, own_settings=settings.own_from(own, before)), ())

    change = on_backend(lambda backend, args: backend.clusters.set_settings(args.id, args.content, force=args.force))


class EnvNetworkDownload(documents.DocumentDownload):
    """Write the network configuration of an environment to a file

    It has the networks, the networking parameters and the virtual addresses. Without --file the file is
    DIR/environment_ID/network.FORMAT. An existing file is overwritten; on a terminal the command asks first.
    '--file -' prints the document, and nothing else, on stdout.

      fuel2 env network download 1 -f yaml
    """

    part = "network"
    document = on_backend(lambda backend, args: backend.networks.configuration(args.id))


class EnvNetworkUpload(documents.DocumentUpload):
    """Change the network configuration of an environment from a file

    The file is as 'env network download' writes it: networks and parameters that it leaves out stay as they are.
    Without --file the file is DIR/environment_ID/network.FORMAT; '--file -' reads stdin. The embedded engine keeps only
    what differs from the release, and takes further networks; on a master, 'network-group create' adds them.

      fuel2 env network upload 1 -f yaml
    """

    part = "network"
    title, hint = "a network configuration", "Start from 'fuel2 env network download'."

    def read(self, parsed_args: argparse.Namespace) -> None:
        super().read(parsed_args)
        if supports(self.backend.services):  # a master takes no new ones
            return
        known = [each["name"] for each in self.backend.networks.configuration(parsed_args.id)["networks"]]
        for name in (each.get("name") for each in mappings(parsed_args.content.get("networks"))):
            if isinstance(name, str) and name not in known:
                meant = close(name, known)
                LOG.info("The network %s is new.%s", name, f" Did you mean {meant}?" if meant else "")

    def judge(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.environment import network_changes, rules

        before = self.backend.clusters.environment(parsed_args.id)
        own = network_changes.own_networks_from(parsed_args.content, before)
        vips = {vip.name: vip for vip in (*before.vips, *network_changes.vips_of(parsed_args.content, before))}
        rules.require_no_new_breaks(before, replace(before, own_networks=own, vips=tuple(vips.values())), ())

    change = on_backend(lambda backend, args: backend.networks.set_configuration(args.id, args.content))


class EnvNetworkVerify(MasterChange):
    """Let the nodes of an environment check its networks

    The nodes send packets to each other in every network of the configuration. Follow the task with 'fuel2 task show'.

      fuel2 env network verify 1
    """

    reason = "Only a Fuel master can verify networks: its agent on each node sends the packets."
    instead = "'fuel2 env network download ENV' shows the configuration."

    arguments = (id_of("environment"),)
    done = "Network verification task with id {result} for the environment {id} has been started."
    change = on_master(lambda master, args: master.verify_networks(args.id))


class NodeDisksDownload(documents.DocumentDownload):
    """Write the disks of a node, with their volumes, to a file

    Without --file the file is DIR/node_ID/disks.FORMAT. An existing file is overwritten; on a terminal the command
    asks first. The embedded engine has the disks that were uploaded.

      fuel2 node disks download 1 -f yaml
    """

    noun, part = "node", "disks"
    document = on_backend(lambda backend, args: backend.nodes.disks(args.id))


class NodeDisksGetDefault(documents.DocumentDownload):
    """Write the disks of a node, divided into volumes as its roles require, to a file

    The file is named and written as by 'node disks download'. Only a Fuel master divides disks.

      fuel2 node disks get-default 1 -f yaml
    """

    noun, part = "node", "disks"
    document = on_backend(lambda backend, args: backend.nodes.default_disks(args.id))


class _NodePartUpload(documents.DocumentUpload):
    noun = "node"
    shape = list

    def judge(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.environment.network_changes import part_from
        from fuelclient.model.network import NodePart

        part_from(NodePart(self.part), parsed_args.content, self.backend.nodes.get(parsed_args.id))


class NodeDisksUpload(_NodePartUpload):
    """Set the disks of a node, with their volumes, from a file

    The file is as 'node disks download' writes it: a list of disks with id and size, each with a list of volumes.
    Deployment facts read the volumes.

      fuel2 node disks upload 1 -f yaml
    """

    part = "disks"
    title, hint = "the disks of a node", "Start from 'fuel2 node disks download'."
    change = on_backend(lambda backend, args: backend.nodes.set_disks(args.id, args.content))


class NodeInterfacesDownload(documents.DocumentDownload):
    """Write the interfaces of a node, with their networks, to a file

    Without --file the file is DIR/node_ID/interfaces.FORMAT. An existing file is overwritten; on a terminal the
    command asks first.

      fuel2 node interfaces download 1 -f yaml
    """

    noun, part = "node", "interfaces"
    document = on_backend(lambda backend, args: backend.nodes.interfaces(args.id))


class NodeInterfacesGetDefault(documents.DocumentDownload):
    """Write the interfaces of a node, with their default networks, to a file

    The file is named and written as by 'node interfaces download'. The embedded engine takes the interfaces from
    the node's attributes (meta.interfaces); a node without them has eth0, from which it boots, and eth1.

      fuel2 node interfaces get-default 1 -f yaml
    """

    noun, part = "node", "interfaces"
    document = on_backend(lambda backend, args: backend.nodes.default_interfaces(args.id))


class NodeInterfacesUpload(_NodePartUpload):
    """Set the interfaces of a node, with their networks, from a file

    The file is as 'node interfaces download' writes it: a list of interfaces with a name and assigned_networks.
    Deployment facts read which network is on which interface.

      fuel2 node interfaces upload 1 -f yaml
    """

    part = "interfaces"
    title, hint = "the interfaces of a node", "Start from 'fuel2 node interfaces download'."
    change = on_backend(lambda backend, args: backend.nodes.set_interfaces(args.id, args.content))


def _file_options(verb: str) -> Arguments:
    return (
        documents.directory_option(f"the file to {verb}"),
        option("-f", "--format", choices=("json", "yaml"), default="yaml", help="file format (default: yaml)"),
    )


class NodeAttributesDownload(documents.DocumentDownload):
    """Write the attributes of a node to a file

    Attributes are all that was stated about the node besides its name, roles and address; tasks see them among the
    facts of the node. The file is DIR/node_ID/attributes.FORMAT. An existing file is overwritten; on a terminal the
    command asks first.

      fuel2 node attributes-download 1
    """

    noun, part = "node", "attributes"
    arguments = (*_file_options("write"), documents.OVERWRITING)
    done = "Attributes for node {id} were written to {path}"
    document = on_backend(lambda backend, args: backend.nodes.attributes(args.id))


class NodeAttributesUpload(documents.DocumentUpload):
    """Set the attributes of a node from a file

    The file is DIR/node_ID/attributes.FORMAT, as 'node attributes-download' writes it. It replaces all attributes. On a
    terminal the command asks first, unless you use --yes.

      fuel2 node attributes-upload 1
    """

    noun, part = "node", "attributes"
    arguments = (*_file_options("read"), YES)
    question = "Replace all attributes of node {id} with those in {document.file}?"
    done = "Attributes for node {id} were uploaded."

    def content(self, document: Document, parsed_args: argparse.Namespace) -> Mapping[str, Any]:  # noqa: ARG002
        if not isinstance(document.data, Mapping):
            raise InvalidDocument(f"{document.file}: attributes must be a mapping.", hint="Write {} for no attributes.")
        return document.data

    def judge(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.environment import rules

        node = replace(self.backend.nodes.get(parsed_args.id), attributes=parsed_args.content)
        if node.cluster_id is not None:
            before = self.backend.clusters.environment(node.cluster_id)
            nodes = tuple(node if each.id == node.id else each for each in before.nodes)
            rules.require_no_new_breaks(before, replace(before, nodes=nodes), ())

    def question_for(self, parsed_args: argparse.Namespace) -> str:
        return super().question_for(parsed_args) if self.backend.nodes.attributes(parsed_args.id) else ""

    change = on_backend(lambda backend, args: backend.nodes.set_attributes(args.id, args.content))


class _RunDocument(documents.Download):
    name, title = "", ""
    stem = "{command.name}_{id}"
    done = "{command.title} for task with id={id} downloaded to {path}"

    def all_arguments(self) -> Arguments:
        output = documents.output_options("-f", "--file", default=f"./{self.name}_ID.FORMAT")
        return (id_of("run"), *output, documents.OVERWRITING)


class TaskDeploymentInfoDownload(_RunDocument):
    """Write the facts that a run saw to a file

    The facts were recorded when the graph of the run was planned: the common facts, and those of each node. For a run
    of several graphs they are those of the graph that was planned last; the run of each graph has its own. They may
    contain passwords.

      fuel2 task deployment-info download 12 --file - | less
    """

    name, title = "deployment_info", "Deployment info"

    def document(self, parsed_args: argparse.Namespace) -> Any:
        from fuelclient.serializers.fact import info_to

        return info_to(self.backend.runs.deployment_info(parsed_args.id))


class TaskSettingsDownload(_RunDocument):
    """Write the settings that a run began with to a file

    The settings were recorded when the graph of the run was planned. They may contain passwords. 'env settings upload'
    accepts the file.

      fuel2 task settings download 12 --file settings.yaml
    """

    name, title = "cluster_settings", "Cluster settings"
    document = on_backend(lambda backend, args: {_EDITABLE: backend.runs.settings(args.id)})


class TaskNetworkConfigurationDownload(_RunDocument):
    """Write the networks that a run began with to a file

    The networks were recorded when the graph of the run was planned. 'env network upload' accepts the file.

      fuel2 task network-configuration download 12
    """

    name, title = "network_configuration", "Network configuration"
    document = on_backend(lambda backend, args: backend.runs.network_configuration(args.id))
