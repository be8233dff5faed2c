"""How plugins are named on the command line: by id, or by name."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from fuelclient.commands.arguments import stated
from fuelclient.errors import NotFound

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.plugin import Plugin


def add_plugin(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """`plugin`: an id or a name, or a list of them."""
    parser.add_argument(
        "plugins" if several else "plugin", nargs="+" if several else None, type=stated, metavar="ID|NAME",
        help="id of the plugin, or its name where only one version of it is installed",
    )  # fmt: skip


def plugin_of(backend: Backend, word: str, version: str = "") -> Plugin:
    """The plugin that `word` means: its id or, with or without a version, its name.

    A number is an id; where no plugin has it, it may still be a name. Raises `NotFound`, and `UsageError` for a name
    that several versions have.
    """
    if version or not (word.isascii() and word.isdigit()):
        return backend.plugins.named(word, version)
    try:
        return backend.plugins.get(int(word))
    except NotFound:
        if any(plugin.name == word for plugin in backend.plugins.list()):
            return backend.plugins.named(word)
        raise


def enabled_plugin_of(backend: Backend, word: str, env: int) -> Plugin:
    """The plugin that `word` means; of several versions of one name, the one that is enabled on the environment."""
    enabled = [one for one in backend.plugins.list() if one.name == word and env in one.clusters]
    return enabled[0] if len(enabled) == 1 else plugin_of(backend, word)
