"""`plugins list`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from fuelclient.commands.base import Lister
from fuelclient.commands.plugins.cells import extended
from fuelclient.commands.shell import LOG


class PluginsList(Lister):
    """List all plugins

    The releases are those that a plugin extends; one that defines releases of its own extends none, and
    'plugins show' has what it defines. -f json and -f yaml give the releases as mappings.

      fuel2 plugins list
      fuel2 plugins list -f value -c name -c version
    """

    columns = ("id", "name", "version", "package_version", "releases")

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:  # noqa: ARG002 (no options)
        plugins = self.backend.plugins.list()
        if not plugins:
            LOG.info(
                "There is no plugin yet: 'fuel2 plugins install FILE' brings one, 'fuel2 plugins create' makes one."
            )
        return [(one.id, one.name, one.version, one.package_version, extended(one.metadata)) for one in plugins]
