"""What a master says of itself, in the words of Fuel's API."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FuelVersion:
    """Which API is spoken, whether it asks for a token, and of which Fuel and OpenStack it is."""

    api: str
    auth_required: bool
    feature_groups: tuple[str, ...]
    openstack_version: str
    release: str


SPOKEN = FuelVersion("1.0", False, ("experimental",), "mitaka-9.0", "9.0")
"""What the embedded engine speaks: the API of Fuel 9, the last one whose version clients know."""
