"""What the environment is: its cluster, its release, its plugins; and facts that are the same everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fuelclient.environment.settings import MODE
from fuelclient.facts.given import Master
from fuelclient.facts.names import Named
from fuelclient.facts.versions import environment_version
from fuelclient.model.environment import Environment

_CONTROLLER, _CINDER = "controller", "cinder"


def environment_facts(environment: Environment, named: Sequence[Named], master: Master) -> dict[str, Any]:
    """Return the facts of an environment that follow neither from settings nor from networks."""
    cluster, release = environment.cluster, environment.release
    version = environment_version(release)
    controllers = [node for node in named if node.carries((_CONTROLLER, f"primary-{_CONTROLLER}"))]
    facts: dict[str, Any] = {
        "cluster": {
            "id": cluster.id, "name": cluster.name, "mode": MODE, "status": str(cluster.status),
            "fuel_version": version,
        },
        "release": {"name": release.name, "version": release.version, "operating_system": release.operating_system},
        "openstack_version": release.version,
        "deployment_id": cluster.id,
        "deployment_mode": MODE,
        "fuel_version": version,
        "master_ip": master.ip,
        "last_controller": controllers[-1].hostname if controllers else None,
        "mp": [{"point": "1", "weight": "1"}, {"point": "2", "weight": "2"}],
        "plugins": _plugins(environment, master),
    }  # fmt: skip
    if any(node.carries((_CINDER,)) for node in named):
        facts["use_cinder"] = True
    return facts


def _plugins(environment: Environment, master: Master) -> list[dict[str, Any]]:
    return [
        {
            "name": plugin.name,
            "scripts": [
                {
                    "local_path": f"/etc/fuel/plugins/{plugin.directory}/",
                    "remote_url": f"rsync://{master.ip}:/plugins/{plugin.directory}/deployment_scripts/",
                }
            ],
        }
        for plugin in sorted(environment.plugins, key=lambda plugin: plugin.id)
    ]
