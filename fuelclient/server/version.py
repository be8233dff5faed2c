"""What this server is: the first thing that every client asks, without a token."""

from __future__ import annotations

from typing import Any

from fuelclient import __version__
from fuelclient.server.routes import Call, Route
from fuelclient.server.schemas import TRUTH, opened

SERVER = f"fuelclient {__version__}"
_SPOKEN = {"api": "1.0", "feature_groups": ["experimental"], "openstack_version": "mitaka-9.0", "release": "9.0"}
"""The API whose paths this server has: that of Fuel 9."""


def version_route(auth_required: bool) -> Route:
    """The path of the version; `auth_required` tells clients to get a token first."""

    def version(_call: Call) -> Any:
        return {**_SPOKEN, "auth_required": auth_required, "server": SERVER}

    answer = opened(
        ("api", "auth_required", "feature_groups", "openstack_version", "release"),
        api={"type": "string"}, auth_required=TRUTH, feature_groups={"type": "array"},
        openstack_version={"type": "string"}, release={"type": "string"},
    )  # fmt: skip
    return Route("GET", "version", version, "What this server is", {200: answer}, is_open=True)
