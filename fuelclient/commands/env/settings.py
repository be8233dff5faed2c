"""Settings of environments: download and upload."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import flag
from fuelclient.commands.columns import plain
from fuelclient.commands.documents import DocumentDownload, DocumentUpload
from fuelclient.errors import InvalidDocument

if TYPE_CHECKING:
    from fuelclient.model.document import Document

_EDITABLE, _GENERATED = "editable", "generated"


class SettingsDownload(DocumentDownload):
    """Write the settings of an environment to a file

    These are the defaults of its release and of its enabled plugins, overridden by what was set for the
    environment. Without --file the file is DIR/environment_ID/settings.FORMAT. An existing file is overwritten; on
    a terminal the command asks first. '--file -' prints the document, and nothing else, on stdout.

      fuel2 env settings download 1 -f yaml
      fuel2 env settings download 1 --file - | less
    """

    part = "settings"

    def document(self, owner_id: int) -> Any:
        return {_EDITABLE: plain(self.backend.clusters.settings(owner_id))}


class SettingsUpload(DocumentUpload):
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
        *DocumentUpload.arguments,
        flag(
            "--force",
            help="also change what a Fuel master locks in a deployed environment; the embedded engine locks nothing",
        ),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self._force: bool = parsed_args.force
        super().take_action(parsed_args)

    def store(self, owner_id: int, document: Document) -> None:
        settings = _sections(document)
        self.writable().clusters.set_settings(owner_id, settings, force=self._force)


def _sections(document: Document) -> Mapping[str, Any]:
    """Return the settings by section, which a master writes below `editable`."""
    from fuelclient.serializers.values import in_words, key_text

    data = document.data
    if isinstance(data, Mapping) and _EDITABLE in data and set(data) <= {_EDITABLE, _GENERATED}:
        data = data[_EDITABLE]
    if not isinstance(data, Mapping):
        raise InvalidDocument(
            f"{document.file}: settings must be a mapping of sections.",
            hint="Start from 'fuel2 env settings download'.",
        )
    for name, section in data.items():
        if not isinstance(section, Mapping):
            raise InvalidDocument(
                f"{document.file}: the section {key_text(name)} of the settings is {in_words(section)}, not a mapping.",
                hint="Start from 'fuel2 env settings download'.",
            )
    return data
