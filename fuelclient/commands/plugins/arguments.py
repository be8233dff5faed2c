"""The argument that names a plugin, by id or by name."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fuelclient.commands.arguments import stated
from fuelclient.errors import NotFound

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.plugin import Plugin


def add_plugin(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add the argument `plugin`, or with `several` `plugins`."""
    parser.add_argument(
        "plugins" if several else "plugin", nargs="+" if several else None, type=stated, metavar="ID|NAME",
        help="id of the plugin, or its name if only one version is installed",
    )  # fmt: skip


def plugin_of(backend: Backend, word: str, version: str = "") -> Plugin:
    """Return the plugin with this id or, with or without a version, with this name.

    A number is an id, or a name if no plugin has that id. Raise `NotFound`, or `UsageError` if several versions have
    the name.
    """
    if version or not (word.isascii() and word.isdigit()):
        return backend.plugins.named(word, version)
    try:
        return backend.plugins.get(int(word))
    except NotFound:
        if any(plugin.name == word for plugin in backend.plugins.list()):
            return backend.plugins.named(word)
        raise


def enabled_plugin_of(backend: Backend, word: str, enabled: Sequence[Plugin]) -> Plugin:
    """Return the plugin with this id or name. Of several versions, prefer the enabled one."""
    named = [plugin for plugin in enabled if plugin.name == word]
    return named[0] if len(named) == 1 else plugin_of(backend, word)
