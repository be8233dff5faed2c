"""`fuel-version`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from fuelclient.commands.base import ShowOne
from fuelclient.commands.columns import Names


class FuelVersion(ShowOne):
    """Show which Fuel answers, and which API it speaks

    The embedded engine speaks the API of the Fuel whose paths 'server run' has. 'fuel2 --version' is this program's
    own.
    """

    columns = ("api", "auth_required", "feature_groups", "openstack_version", "release")

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:  # noqa: ARG002 (no options)
        found = self.backend.version()
        return (
            found.api, found.auth_required, Names(found.feature_groups), found.openstack_version, found.release,
        )  # fmt: skip
