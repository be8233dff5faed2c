"""What facts are computed from, beside the environment: the master, and what is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Master:
    """What facts say of a Fuel master. Without one, they say what the installation of a master defaults to."""

    ip: str = "10.20.0.2"
    domain: str = "domain.tld"
    dns: tuple[str, ...] = ("8.8.8.8",)
    ntp: tuple[str, ...] = ("0.fuel.pool.ntp.org", "1.fuel.pool.ntp.org", "2.fuel.pool.ntp.org")


@dataclass(frozen=True, slots=True)
class Kept:
    """What was chosen once for an environment and stays: equal facts in every run need it.

    `generated` has the values of generators in the `generated` block of the release, nested as there. `addresses` are
    by network and node id, `vips` by name.
    """

    generated: Mapping[str, Any] = field(default_factory=dict)
    addresses: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    vips: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Given:
    """Everything beside the environment."""

    kept: Kept = field(default_factory=Kept)
    master: Master = field(default_factory=Master)
