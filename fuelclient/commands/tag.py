"""Tags: list, create, update, delete, download."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import add_holder
from fuelclient.commands.base import Lister
from fuelclient.commands.descriptions import Delete, Download, Upload, holder_of
from fuelclient.commands.role import conflicts
from fuelclient.errors import NotFound

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend, OwnerRef
    from fuelclient.model.document import Document
    from fuelclient.model.release import Tag


def _tags(backend: Backend, owner: OwnerRef) -> Mapping[str, Tag]:
    from fuelclient.model.graph import Level

    return backend.tags.of_cluster(owner.id) if owner.level is Level.CLUSTER else backend.tags.of_release(owner.id)


class TagList(Lister):
    """List the tags of a release or an environment

    Tasks are placed by tags, which nodes have by their roles. The tags of an environment are those of its release, of
    the plugins enabled on it, and its own. A role without tags carries one of its own name.

      fuel2 tag list --release 1
    """

    columns = ("name", "group", "conflicts", "description", "has_primary", "owner")
    sort_by = "name"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_holder(parser)
        return parser

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        return [
            (
                tag.name, tag.metadata.get("group") or "", conflicts(tag.metadata),
                tag.metadata.get("description") or "", bool(tag.metadata.get("has_primary")), tag.owner,
            )
            for tag in _tags(self.backend, holder_of(parsed_args)).values()
        ]  # fmt: skip


class TagCreate(Upload):
    """Create a tag of a release or an environment from a file

    The file is DIR/releases_ID/NAME.FORMAT, or DIR/clusters_ID/NAME.FORMAT with --env, and has what 'tag download'
    writes: meta, of which has_primary says whether one of the nodes with the tag is the primary one. A tag of an
    environment takes the place of one of the same name that its release or a plugin has.

      fuel2 tag create --release 1 --name database -f yaml
      echo 'meta: {has_primary: true}' | fuel2 tag create --env 1 --name database --file -
    """

    noun, done = "tag", "created"

    def put(self, owner: OwnerRef, document: Document, name: str) -> None:
        from fuelclient.serializers.description import tag_from_document

        tag = tag_from_document(document, name)
        self.writable().tags.create(owner, tag)


class TagUpdate(Upload):
    """Update a tag of a release or an environment from a file

    The tag is what the file describes, and nothing of what it was. The files are those of 'tag create'.
    """

    noun, done = "tag", "updated"

    def put(self, owner: OwnerRef, document: Document, name: str) -> None:
        from fuelclient.serializers.description import tag_from_document

        tag = tag_from_document(document, name)
        self.writable().tags.update(owner, tag)


class TagDelete(Delete):
    """Delete a tag of a release or an environment

    A tag that a role carries stays, and so does one of a plugin or, with --env, of the release; the exit code is 6.
    """

    noun = "tag"

    def remove(self, owner: OwnerRef, name: str) -> None:
        self.writable().tags.delete(owner, name)


class TagDownload(Download):
    """Write the description of a tag to a file

    The file is DIR/releases_ID/NAME.FORMAT, or DIR/clusters_ID/NAME.FORMAT with --env; one that exists is overwritten
    with --force only. '--file -' prints the description, and nothing else, on stdout.
    """

    noun = "tag"

    def description(self, owner: OwnerRef, name: str) -> Any:
        from fuelclient.serializers.description import tag_document_to

        tags = _tags(self.backend, owner)
        if name not in tags:
            raise NotFound("tag", name, known=tuple(tags))
        return tag_document_to(tags[name])
