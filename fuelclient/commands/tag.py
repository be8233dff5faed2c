"""Tags: list, create, update, delete, download."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.commands.descriptions import Create, Delete, Download, Listing, Noun, Update, conflicts
from fuelclient.model.release import Tag

if TYPE_CHECKING:
    from fuelclient.model.document import Document


def _read(document: Document, name: str) -> Tag:
    from fuelclient.serializers.role import tag_from_document

    return tag_from_document(document, name)


def _written(tag: Tag) -> Any:
    from fuelclient.serializers.role import tag_document_to

    return tag_document_to(tag)


TAG: Noun[Tag] = Noun("tag", lambda backend: backend.tags, _read, _written)


class TagList(Listing[Tag]):
    """List the tags of a release or an environment

    Tasks are placed by tags, which nodes have by their roles. The tags of an environment are those of its release, of
    the plugins enabled on it, and its own. A role without tags carries one of its own name.

      fuel2 tag list --release 1
    """

    noun = TAG
    columns = ("name", "group", "conflicts", "description", "has_primary", "owner")

    def row(self, value: Tag) -> Sequence[Any]:
        stated = value.metadata
        return (
            value.name, stated.get("group") or "", conflicts(stated), stated.get("description") or "",
            bool(stated.get("has_primary")), value.owner,
        )  # fmt: skip


class TagCreate(Create[Tag]):
    """Create a tag of a release or an environment from a file

    The file is DIR/releases_ID/NAME.FORMAT, or DIR/clusters_ID/NAME.FORMAT with --env, and has what 'tag download'
    writes: meta, of which has_primary says whether one of the nodes with the tag is the primary one. A tag of an
    environment takes the place of one of the same name that its release or a plugin has.

      fuel2 tag create --release 1 --name database -f yaml
      echo 'meta: {has_primary: true}' | fuel2 tag create --env 1 --name database --file -
    """

    noun = TAG


class TagUpdate(Update[Tag]):
    """Update a tag of a release or an environment from a file

    The tag is what the file describes, and nothing of what it was. The files are those of 'tag create'.
    """

    noun = TAG


class TagDelete(Delete[Tag]):
    """Delete a tag of a release or an environment

    A tag that a role carries stays, and so does one of a plugin or, with --env, of the release; the exit code is 6.
    """

    noun = TAG


class TagDownload(Download[Tag]):
    """Write the description of a tag to a file

    The file is DIR/releases_ID/NAME.FORMAT, or DIR/clusters_ID/NAME.FORMAT with --env; one that exists is overwritten
    with --force only. '--file -' prints the description, and nothing else, on stdout.
    """

    noun = TAG
