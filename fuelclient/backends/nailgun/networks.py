"""Networks of a master's environments, and their virtual addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.backends.http.errors import About
from fuelclient.backends.http.session import Session
from fuelclient.errors import InvalidDocument
from fuelclient.serializers.answer import Answer, objects
from fuelclient.serializers.values import plain


class Networks:
    """Networks; see `backends.networks.Networks`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def configuration(self, cluster_id: int) -> Mapping[str, Any]:
        return Answer(self._session.get(neutron_path(cluster_id), _about(cluster_id)), "network configuration").rest()

    def set_configuration(self, cluster_id: int, configuration: Mapping[str, Any]) -> Mapping[str, Any]:
        data = self._session.put(neutron_path(cluster_id), plain(configuration), _about(cluster_id))
        return Answer(data, "network configuration").rest()

    def vips(
        self, cluster_id: int, *, vip_id: int | None = None, network_id: int | None = None, network_role: str = ""
    ) -> Sequence[Mapping[str, Any]]:
        filters = {"network": network_id, "network-role": network_role or None}
        if vip_id is None:
            data = self._session.get(_ips(cluster_id), _about(cluster_id), **filters)
        else:
            about = About("virtual address", vip_id, within=("environment", cluster_id))
            data = [self._session.get(_ips(cluster_id, vip_id), about, **filters)]
        return [Answer(record, "virtual address").rest() for record in objects(data, "VIP")]

    def set_vips(self, cluster_id: int, vips: Sequence[Mapping[str, Any]]) -> None:
        self._session.put(_ips(cluster_id), plain(vips), _about(cluster_id))

    def create_vip(
        self, cluster_id: int, name: str, address: str, *, network_id: int | None = None, namespace: str | None = None
    ) -> None:
        body = {"ip_addr": address, "network": network_id, "vip_name": name}
        if namespace is not None:
            body["vip_namespace"] = namespace
        self._session.post(_ips(cluster_id), body, _about(cluster_id))


def neutron_path(cluster_id: int) -> str:
    """Return the path of the network configuration of an environment."""
    return f"clusters/{cluster_id}/network_configuration/neutron"


def _ips(cluster_id: int, vip_id: int | None = None) -> str:
    one = "" if vip_id is None else f"{vip_id}/"
    return f"clusters/{cluster_id}/network_configuration/ips/{one}vips/"


def _about(cluster_id: int) -> About:
    return About("environment", cluster_id, invalid=InvalidDocument)
