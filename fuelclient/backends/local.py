"""The embedded engine as a backend."""

from __future__ import annotations

from dataclasses import replace

from fuelclient.backends.base import SPOKEN, FuelVersion
from fuelclient.engine import Engine
from fuelclient.settings import load
from fuelclient.support import unsupported


class LocalBackend(Engine):
    """A backend over one engine file; see `base.Backend`. The facets are those of the engine."""

    @property
    def target(self) -> str:
        return self.path

    services = unsupported("Only a Fuel master has these services.", hint="Name one with --server.")

    def version(self) -> FuelVersion:
        """The versions of the engine's server, with the feature groups of the settings."""
        return replace(SPOKEN, feature_groups=load().feature_groups)
