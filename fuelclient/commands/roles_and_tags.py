"""Roles and tags of a release or an environment: list, show, create, update, delete, download.

Both are described by files, under the paths that the original client uses: DIR/releases_ID/NAME.FORMAT and
DIR/clusters_ID/NAME.FORMAT. Only roles can be shown.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import SCOPE, YES, Arguments, option, owner_of, owner_text
from fuelclient.commands.base import Changing, Command, Lister, ShowOne
from fuelclient.commands.documents import Download, Upload, file_of, file_options
from fuelclient.commands.formatters import Fields, Names, Shown, plain
from fuelclient.commands.shell import LOG
from fuelclient.errors import NotFound
from fuelclient.model.release import Role, Tag
from fuelclient.serializers.release import role_document_to, role_from_document, tag_document_to, tag_from_document

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.backends.inventory import Descriptions
    from fuelclient.model.document import Document
    from fuelclient.model.graph import OwnerRef


@dataclass(frozen=True, slots=True)
class Noun:
    """Roles or tags: the noun in messages, the facet of a backend, and how to read and write their documents.

    `read` takes a document and the expected name, and raises `InvalidDocument`.
    """

    word: str
    facet: Callable[[Backend], Descriptions[Any]]
    read: Callable[[Document, str], Role | Tag]
    write: Callable[[Any], Any]

    def all_of(self, backend: Backend, owner: OwnerRef) -> Mapping[str, Any]:
        """The roles or tags that an owner has or inherits, by name. Raise `NotFound` if the owner does not exist."""
        from fuelclient.model.graph import Level

        facet = self.facet(backend)
        return facet.of_cluster(owner.id) if owner.level is Level.CLUSTER else facet.of_release(owner.id)

    def get(self, backend: Backend, owner: OwnerRef, name: str) -> Any:
        """The role or tag of this name. Raise `NotFound`, with the known names, if it does not exist."""
        known = self.all_of(backend, owner)
        if name not in known:
            raise NotFound(self.word, name, known=tuple(known))
        return known[name]


ROLE = Noun("role", lambda backend: backend.roles, role_from_document, role_document_to)
TAG = Noun("tag", lambda backend: backend.tags, tag_from_document, tag_document_to)


class _List(Lister):
    noun: Noun
    sort_by = "name"

    arguments = (SCOPE,)

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        for value in self.noun.all_of(self.backend, owner_of(parsed_args)).values():
            meta = value.metadata
            texts = meta.get("group") or "", _conflicts(meta), meta.get("description") or ""
            yield (value.name, *texts, bool(meta.get("has_primary")), value.owner)


class _NamedCommand(Command):
    """A command about the role or tag `--name` of an owner."""

    noun: Noun

    def all_arguments(self) -> Arguments:
        name = option("-n", "--name", required=True, metavar="NAME", help=f"name of the {self.noun.word}")
        return (SCOPE, name, *self.arguments)

    def run(self, parsed_args: argparse.Namespace) -> int:
        parsed_args.owner = owner_of(parsed_args)
        parsed_args.whose = owner_text(parsed_args.owner)
        parsed_args.owners = f"{parsed_args.owner.level}s"
        return super().run(parsed_args)

    def file_for(self, parsed_args: argparse.Namespace) -> tuple[str, str]:
        return file_of(parsed_args, f"{parsed_args.owners}_{parsed_args.owner.id}", parsed_args.name)


class _Upload(_NamedCommand, Upload):
    """Create or update a role or tag from a file. `verb` is the participle in the message."""

    verb = ""
    arguments = file_options("read")
    done = "Description of {command.noun.word} '{name}' for {owners} with id {owner.id} was {command.verb} from {path}"

    def content(self, document: Document, parsed_args: argparse.Namespace) -> Any:
        value = self.noun.read(document, parsed_args.name)
        warn_of_tasks({value.name: value.metadata})
        return value

    def change(self, parsed_args: argparse.Namespace) -> None:
        facet = self.noun.facet(self.backend)
        store = facet.create if self.verb == "created" else facet.update
        effective = store(parsed_args.owner, parsed_args.content)
        if effective.owner.startswith("plugin "):
            LOG.warning("It has no effect: %s has the %s %s, too.", effective.owner, self.noun.word, effective.name)


class _Create(_Upload):
    verb = "created"

    def read(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.serializers.release import require_name

        require_name(self.noun.word, parsed_args.name)  # first, or an invalid name would be reported as a missing file
        super().read(parsed_args)


class _Update(_Upload):
    verb = "updated"
    arguments = (*_Upload.arguments, YES)
    question = "Replace the {command.noun.word} '{name}' of {whose}?"

    def judge(self, parsed_args: argparse.Namespace) -> None:
        self.noun.get(self.backend, parsed_args.owner, parsed_args.name)


class _Download(_NamedCommand, Download):
    arguments = file_options("write")
    makes_folder = True
    done = "Description data of {command.noun.word} '{name}' within {owners} id {owner.id} was stored in {path}"

    def document(self, parsed_args: argparse.Namespace) -> Any:
        return self.noun.write(self.noun.get(self.backend, parsed_args.owner, parsed_args.name))


class _Delete(_NamedCommand, Changing):
    arguments = (YES,)
    question = "Delete the {command.noun.word} '{name}' of {whose}?"
    done = "{result} '{name}' was deleted from {owners} with id {owner.id}"

    def change(self, parsed_args: argparse.Namespace) -> str:
        self.noun.facet(self.backend).delete(parsed_args.owner, parsed_args.name)
        return self.noun.word.capitalize()


def warn_of_tasks(roles: Mapping[str, Any]) -> None:
    """Warn about roles of a release or environment that list tasks: only tasks of roles in packages become groups."""
    if names := sorted(name for name, role in roles.items() if isinstance(role, Mapping) and role.get("tasks")):
        LOG.warning(
            "Tasks of roles have no effect outside a plugin package, as in Fuel (%s). Write a task of type group with"
            " these tasks into the graph.",
            ", ".join(names),
        )


def _conflicts(metadata: Mapping[str, Any]) -> Any:
    """The cell with the roles or tags that cannot be on the same node; `*` stands for all others."""
    conflicts = plain(metadata.get("conflicts"))
    return Names(conflicts) if isinstance(conflicts, list) else conflicts or ""


def _volumes(volumes: list[Any]) -> Shown:
    """The volumes of a role in full; as text, their names and sizes.

    >>> _volumes([{"id": "os", "allocate_size": "min", "type": "vg"}]).human_readable()
    'os (min)'
    """
    names = (
        f"{volume.get('id')} ({volume.get('allocate_size')})" if isinstance(volume, Mapping) else str(volume)
        for volume in volumes
    )
    return Shown(volumes, ", ".join(names))


class RoleList(_List):
    """List the roles of a release or an environment

    The roles of an environment are those of its release and of the plugins enabled on it.

      fuel2 role list --release 1
      fuel2 role list --env 1 -s group name
    """

    noun = ROLE
    columns = ("name", "group", "conflicts", "description")


class RoleShow(ShowOne):
    """Show one role of a release or an environment

    The volumes are those that nodes with this role get, with the space they take. With -f json or -f yaml, limits,
    restrictions and volumes are structured and complete, as the release or plugin states them.

      fuel2 role show controller --release 1
    """

    columns = (
        "name", "title", "owner", "group", "tags", "has_primary", "public_ip_required", "weight", "conflicts",
        "limits", "restrictions", "volumes", "description",
    )  # fmt: skip

    arguments = (option("name", help="name of the role"), SCOPE)

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        role = ROLE.get(self.backend, owner_of(parsed_args), parsed_args.name)
        metadata: Mapping[str, Any] = plain(role.metadata)
        return (
            role.name, metadata.get("name") or "", role.owner, metadata.get("group") or "", Names(role.tags),
            metadata.get("has_primary", ""), metadata.get("public_ip_required", ""), metadata.get("weight", ""),
            _conflicts(metadata), Fields(metadata.get("limits") or {}), Fields(metadata.get("restrictions") or []),
            _volumes(plain(role.volumes)), metadata.get("description") or "",
        )  # fmt: skip


class RoleCreate(_Create):
    """Create a role of a release or an environment from a file

    Without --file the file is DIR/releases_ID/NAME.FORMAT, or with --env DIR/clusters_ID/NAME.FORMAT. It holds what
    'role download' writes: meta (name, description, tags, conflicts, limits, restrictions ...) and
    volumes_roles_mapping. A role of an environment overrides the role of the same name in its release; one of a
    plugin overrides both.

      fuel2 role create --release 1 --name watcher -f yaml
      fuel2 role create --env 1 --name watcher --file watcher.yaml
    """

    noun = ROLE


class RoleUpdate(_Update):
    """Update a role of a release or an environment from a file

    The file replaces the whole role. See 'role create' for the file. On a terminal the command asks first, unless you
    use --yes.

      fuel2 role download --release 1 --name compute --file - | sed s/Compute/Hypervisor/ |
          fuel2 role update --release 1 --name compute --file -
    """

    noun = ROLE


class RoleDelete(_Delete):
    """Delete a role of a release or an environment

    A role that a node has cannot be deleted. Neither can a role of a plugin or, with --env, of the release. The exit
    code is then 6. On a terminal the command asks first, unless you use --yes.

      fuel2 role delete --release 1 --name watcher
    """

    noun = ROLE


class RoleDownload(_Download):
    """Write the description of a role to a file

    Without --file the file is DIR/releases_ID/NAME.FORMAT, or with --env DIR/clusters_ID/NAME.FORMAT. An existing
    file is overwritten; on a terminal the command asks first. '--file -' prints the description, and nothing else,
    on stdout.

      fuel2 role download --release 1 --name controller -f yaml
    """

    noun = ROLE


class TagList(_List):
    """List the tags of a release or an environment

    Nodes get tags from their roles, and tags decide where tasks run. The tags of an environment are its own, and those
    of its release and of the plugins enabled on it. A role without tags carries one with its own name.

      fuel2 tag list --release 1
    """

    noun = TAG
    columns = ("name", "group", "conflicts", "description", "has_primary", "owner")


class TagCreate(_Create):
    """Create a tag of a release or an environment from a file

    Without --file the file is DIR/releases_ID/NAME.FORMAT, or with --env DIR/clusters_ID/NAME.FORMAT. It holds what
    'tag download' writes: meta, in which has_primary says whether one of the nodes with this tag is the primary. A tag
    of an environment overrides the tag of the same name in its release or a plugin.

      fuel2 tag create --release 1 --name database -f yaml
      echo 'meta: {has_primary: true}' | fuel2 tag create --env 1 --name database --file -
    """

    noun = TAG


class TagUpdate(_Update):
    """Update a tag of a release or an environment from a file

    The file replaces the whole tag. See 'tag create' for the file. On a terminal the command asks first, unless you use
    --yes.

      fuel2 tag download --release 1 --name database --file - | sed s/false/true/ |
          fuel2 tag update --release 1 --name database --file -
    """

    noun = TAG


class TagDelete(_Delete):
    """Delete a tag of a release or an environment

    A tag that a role carries cannot be deleted. Neither can a tag of a plugin or, with --env, of the release. The exit
    code is then 6. On a terminal the command asks first, unless you use --yes.

      fuel2 tag delete --release 1 --name database
    """

    noun = TAG


class TagDownload(_Download):
    """Write the description of a tag to a file

    Without --file the file is DIR/releases_ID/NAME.FORMAT, or with --env DIR/clusters_ID/NAME.FORMAT. An existing
    file is overwritten; on a terminal the command asks first. '--file -' prints the description, and nothing else,
    on stdout.

      fuel2 tag download --release 1 --name controller -f yaml
    """

    noun = TAG
