"""`fuel-version`: which API the backend speaks."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from fuelclient.commands.base import ShowOne
from fuelclient.commands.columns import Names


class FuelVersion(ShowOne):
    """Show the version of Fuel and of its API

    For the embedded engine this is the version of Fuel whose API 'server run' offers. 'fuel2 --version' shows the
    version of this program.

      fuel2 fuel-version
    """

    columns = ("api", "auth_required", "feature_groups", "openstack_version", "release")

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:  # noqa: ARG002 (no options)
        version = self.backend.version()
        groups = Names(version.feature_groups)
        return version.api, version.auth_required, groups, version.openstack_version, version.release
