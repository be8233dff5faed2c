"""Settings of environments: download and upload."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import add_id
from fuelclient.commands.base import Command
from fuelclient.commands.columns import plain
from fuelclient.commands.output import STDOUT, add_place, make_folder, place_of, put
from fuelclient.errors import InvalidDocument

if TYPE_CHECKING:
    from fuelclient.model.document import Document

_EDITABLE, _GENERATED = "editable", "generated"


class SettingsDownload(Command):
    """Write the settings of an environment to a file

    These are the defaults of its release and of its enabled plugins, overridden by what was set for the environment.
    Without --file the file is DIR/environment_ID/settings.FORMAT. An existing file is overwritten only with --force.
    '--file -' prints the document, and nothing else, on stdout.

      fuel2 env settings download 1 -f yaml
      fuel2 env settings download 1 --file - | less
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_id(parser, "environment")
        add_place(parser, "write")

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        path, form = _place(parsed_args)
        settings = plain(self.backend.clusters.settings(parsed_args.id))
        if not parsed_args.file:
            make_folder(path)
        put(self.app.stdout, {_EDITABLE: settings}, path, form, force=parsed_args.force)
        if path != STDOUT:
            self.say(f"Configuration of settings for the environment with id {parsed_args.id} was stored in {path}")


class SettingsUpload(Command):
    """Set the settings of an environment from a file

    The file contains settings by section, as 'env settings download' writes them: all settings, or only some. They
    replace everything that was set before; a setting that the file leaves out returns to its default. Without --file
    the file is DIR/environment_ID/settings.FORMAT; '--file -' reads stdin.

      fuel2 env settings upload 1 -f yaml
      fuel2 env settings download 1 --file - | sed s/false/true/ | fuel2 env settings upload 1 --file -
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_id(parser, "environment")
        add_place(parser, "read")
        parser.add_argument(
            "--force",
            action="store_true",
            help="accepted for scripts; has no effect, because settings are never locked",
        )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        path, _ = _place(parsed_args)
        document = self.load(path)
        settings = _sections(document)
        self.writable().clusters.set_settings(parsed_args.id, settings)
        shown = document.file if path == STDOUT else path
        self.say(f"Configuration of settings for the environment with id {parsed_args.id} was loaded from {shown}")


def _place(parsed_args: argparse.Namespace) -> tuple[str, str]:
    """Return the path of the file and its format."""
    return place_of(parsed_args, f"environment_{parsed_args.id}", "settings")


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
