"""The version of a Fuel master, in the terms of its API."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FuelVersion:
    """The version of the API, whether it requires a token, and the versions of Fuel and OpenStack."""

    api: str
    auth_required: bool
    feature_groups: tuple[str, ...]
    openstack_version: str
    release: str


SPOKEN = FuelVersion("1.0", False, ("experimental",), "mitaka-9.0", "9.0")
"""The version of the embedded engine: that of Fuel 9, the last one that clients know."""
