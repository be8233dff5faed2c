"""What holds for every test: properties are judged by their answers, not by how busy the machine is."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("fuelclient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fuelclient")
