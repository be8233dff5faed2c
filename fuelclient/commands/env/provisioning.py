"""Facts for the provisioning of nodes by a Fuel master: upload, download, delete, and the defaults."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import YES, flag, id_of, nodes_option
from fuelclient.commands.base import Changing
from fuelclient.commands.documents import OVERWRITING, overwrites, require_mapping
from fuelclient.commands.env.fact_files import DIRECTORY, directory_of, names_in, write_parts
from fuelclient.commands.master_only import MasterOnly
from fuelclient.errors import InvalidDocument, NotFound
from fuelclient.serializers.answer import Answer

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend

_KIND, _ENGINE, _NODES = "provisioning", "engine", "nodes"
_OURS = re.compile(r"(engine|[0-9]+)\.(yaml|json)")
"""The files that a download writes, and therefore may replace."""


class _OfMaster(MasterOnly):
    """A command about provisioning facts."""

    reason = "Only a Fuel master has provisioning facts: here a graph provisions nodes, and sees the deployment facts."
    instead = "See `fuel2 env deployment-facts get-default`."


class _Download(_OfMaster):
    """Write facts to a directory. `name` says in the result which facts, `hint` what to do without any."""

    name, hint = "", ""
    default = False

    arguments = (
        *DIRECTORY,
        nodes_option(required=False, help="only the facts of these nodes: 1 2 or 1,2"),
        flag("--no-split", help="passed on to the master, which ignores it"),
        OVERWRITING,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        env = parsed_args.env
        facts = self.backend.services.provisioning_facts(
            env, default=self.default, nodes=parsed_args.nodes, split=not parsed_args.no_split
        )
        if _ENGINE not in facts:
            raise NotFound(
                "fact", f"of environment {env}", hint=self.hint,
                message=f"Environment {env} has no {self.name.lower()} provisioning facts.",
            )  # fmt: skip
        directory = directory_of(parsed_args, _KIND)
        write_parts(
            directory, _parts(facts), parsed_args.format, ours=_OURS, overwrites=partial(overwrites, self, parsed_args)
        )
        self.say(f"{self.name} provisioning facts for the environment {env} were downloaded to {directory}")


class ProvisioningDownload(_Download):
    """Write the uploaded provisioning facts of an environment to files

    The files are DIR/provisioning_ID/engine.FORMAT, for the service that provisions, and a file for each node. They
    replace the files of an earlier download; on a terminal the command asks first.

      fuel2 env provisioning-facts download --env 1 -f yaml
    """

    name, hint = "User-defined", "Start from 'fuel2 env provisioning-facts get-default'."


class ProvisioningDefault(_Download):
    """Write the computed provisioning facts of an environment to files

    The master computes them from settings, networks and disks. The files are named as by 'env provisioning-facts
    download'. They may contain passwords.

      fuel2 env provisioning-facts get-default --env 1 -f yaml
    """

    name, default = "Default", True
    hint = "See whether it has nodes with roles: 'fuel2 node list --env ID'."


class ProvisioningUpload(_OfMaster, Changing):
    """Set the provisioning facts of an environment from files

    The files are those that 'env provisioning-facts download' writes. They replace the computed facts: engine.FORMAT,
    and for each node the file with its uid. On a terminal the command asks first, unless you use --yes.

      fuel2 env provisioning-facts upload --env 1 -f yaml
    """

    arguments = (*DIRECTORY, YES)

    question = "Replace the provisioning facts of environment {env}?"
    done = "Provisioning facts for the environment {env} were uploaded successfully."

    def read(self, parsed_args: argparse.Namespace) -> None:
        """Read the facts in the files of a directory; a node without a file keeps its computed facts."""
        directory, form = directory_of(parsed_args, _KIND), parsed_args.format
        engine, nodes = None, []
        for name in names_in(directory, form):
            document = self.load(os.path.join(directory, name))
            part = require_mapping(document, "provisioning facts", "Remove the file, or write a mapping.")
            if name == f"{_ENGINE}.{form}":
                engine = part
            elif "uid" not in part:
                raise InvalidDocument(f"{document.file}: the facts of a node need its uid.", hint='Add `uid: "1"`.')
            else:
                nodes.append(part)
        parsed_args.facts = {_ENGINE: engine, _NODES: nodes}

    def change(self, backend: Backend, parsed_args: argparse.Namespace) -> None:
        backend.services.set_provisioning_facts(parsed_args.env, parsed_args.facts)


class ProvisioningDelete(_OfMaster, Changing):
    """Delete the uploaded provisioning facts of an environment

    On a terminal the command asks first, unless you use --yes.

      fuel2 env provisioning-facts delete 1
    """

    arguments = (id_of("environment"), YES)

    question = "Delete the uploaded provisioning facts of environment {id}?"
    done = "Provisioning facts for the environment {id} were deleted successfully."

    def change(self, backend: Backend, parsed_args: argparse.Namespace) -> None:
        backend.services.delete_provisioning_facts(parsed_args.id)


def _parts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts by the names of their files.

    What a master adds to them (`fault_tolerance`, `pre_provision`) is left out: it takes nothing of that back.
    """
    nodes = [Answer(node, "node's provisioning facts") for node in Answer(facts, "provisioning facts").items(_NODES)]
    return {_ENGINE: facts[_ENGINE], **{node.stated("uid"): node.data for node in nodes}}
