"""fuelclient: a client, a merge preview and an engine for OpenStack Fuel deployment graphs."""

__version__ = "12.0.0"
