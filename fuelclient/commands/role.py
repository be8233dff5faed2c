"""Roles: list, show, create, update, delete, download."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cliff.columns import FormattableColumn

from fuelclient.commands.arguments import add_holder, owner_of, stated
from fuelclient.commands.base import ShowOne
from fuelclient.commands.columns import Fields, Names, plain
from fuelclient.commands.descriptions import Create, Delete, Download, Listing, Noun, Update, conflicts
from fuelclient.model.release import Role

if TYPE_CHECKING:
    from fuelclient.model.document import Document


def _read(document: Document, name: str) -> Role:
    from fuelclient.serializers.role import role_from_document

    return role_from_document(document, name)


def _written(role: Role) -> Any:
    from fuelclient.serializers.role import role_document_to

    return role_document_to(role)


ROLE: Noun[Role] = Noun("role", lambda backend: backend.roles, _read, _written)


class Volumes(FormattableColumn[list[Any]]):
    """The volumes of a role with all that is known of them; as text, their names and how much they take.

    >>> Volumes([{"id": "os", "allocate_size": "min", "type": "vg"}]).human_readable()
    'os (min)'
    """

    def human_readable(self) -> str:
        return ", ".join(
            f"{one.get('id')} ({one.get('allocate_size')})" if isinstance(one, Mapping) else str(one)
            for one in self._value
        )


class RoleList(Listing[Role]):
    """List the roles of a release or an environment

    The roles of an environment are those of its release and of the plugins enabled on it.

      fuel2 role list --release 1
      fuel2 role list --env 1 -s group name
    """

    noun = ROLE
    columns = ("name", "group", "conflicts", "description")

    def row(self, value: Role) -> Sequence[Any]:
        stated = value.metadata
        return value.name, stated.get("group") or "", conflicts(stated), stated.get("description") or ""


class RoleShow(ShowOne):
    """Show one role of a release or an environment

    Its volumes are those that nodes of this role get, and how much of the disks they take. With -f json or -f yaml
    its limits and restrictions are structured, as the release or plugin states them, and the volumes complete.

      fuel2 role show controller --release 1
    """

    columns = (
        "name", "title", "owner", "group", "tags", "has_primary", "public_ip_required", "weight", "conflicts",
        "limits", "restrictions", "volumes", "description",
    )  # fmt: skip

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("name", type=stated, help="name of the role")
        add_holder(parser)
        return parser

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        role = ROLE.named(self.backend, owner_of(parsed_args), parsed_args.name)
        stated: Mapping[str, Any] = plain(role.metadata)
        return (
            role.name, stated.get("name") or "", role.owner, stated.get("group") or "", Names(role.tags),
            stated.get("has_primary", ""), stated.get("public_ip_required", ""), stated.get("weight", ""),
            conflicts(role.metadata), Fields(stated.get("limits") or {}), Fields(stated.get("restrictions") or []),
            Volumes(plain(role.volumes)), stated.get("description") or "",
        )  # fmt: skip


class RoleCreate(Create[Role]):
    """Create a role of a release or an environment from a file

    The file is DIR/releases_ID/NAME.FORMAT, or DIR/clusters_ID/NAME.FORMAT with --env, and has what 'role download'
    writes: meta (name, description, tags, conflicts, limits, restrictions ...) and volumes_roles_mapping. A role of an
    environment takes the place of one of the same name that its release or a plugin has.

      fuel2 role create --release 1 --name watcher -f yaml
      fuel2 role create --env 1 --name watcher --file watcher.yaml
    """

    noun = ROLE


class RoleUpdate(Update[Role]):
    """Update a role of a release or an environment from a file

    The role is what the file describes, and nothing of what it was. The files are those of 'role create'.

      fuel2 role download --release 1 --name compute --file - | sed s/Compute/Hypervisor/ |
          fuel2 role update --release 1 --name compute --file -
    """

    noun = ROLE


class RoleDelete(Delete[Role]):
    """Delete a role of a release or an environment

    A role that a node has stays, and so does one of a plugin or, with --env, of the release; the exit code is 6.
    """

    noun = ROLE


class RoleDownload(Download[Role]):
    """Write the description of a role to a file

    The file is DIR/releases_ID/NAME.FORMAT, or DIR/clusters_ID/NAME.FORMAT with --env; one that exists is overwritten
    with --force only. '--file -' prints the description, and nothing else, on stdout.

      fuel2 role download --release 1 --name controller -f yaml
    """

    noun = ROLE
