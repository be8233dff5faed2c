"""Networks of a master's environments, and their virtual addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.backends.http.errors import About
from fuelclient.backends.nailgun.facet import Facet
from fuelclient.errors import InvalidDocument
from fuelclient.serializers.answer import Answer, objects
from fuelclient.serializers.values import plain

_VIPS = "network_configuration/ips/vips/"
NEUTRON = "network_configuration/neutron"
"""The path of the network configuration of an environment, below its own."""


class Networks(Facet):
    """Networks; see `base.Networks`."""

    invalid = InvalidDocument

    def configuration(self, cluster_id: int) -> Mapping[str, Any]:
        return Answer(self._at(cluster_id, NEUTRON).get(), "network configuration").rest()

    def set_configuration(self, cluster_id: int, configuration: Mapping[str, Any]) -> Mapping[str, Any]:
        return Answer(self._at(cluster_id, NEUTRON).put(plain(configuration)), "network configuration").rest()

    def vips(
        self, cluster_id: int, *, vip_id: int | None = None, network_id: int | None = None, network_role: str = ""
    ) -> Sequence[Mapping[str, Any]]:
        filters = {"network": network_id, "network-role": network_role or None}
        if vip_id is None:
            data = self._at(cluster_id, _VIPS).get(**filters)
        else:
            path = f"clusters/{cluster_id}/network_configuration/ips/{vip_id}/vips/"
            about = About("virtual address", vip_id, within=("environment", cluster_id))
            data = [self._session.get(path, about, **filters)]
        return [Answer(record, "virtual address").rest() for record in objects(data, "VIP")]

    def set_vips(self, cluster_id: int, vips: Sequence[Mapping[str, Any]]) -> None:
        self._at(cluster_id, _VIPS).put(plain(vips))

    def create_vip(
        self, cluster_id: int, name: str, address: str, *, network_id: int | None = None, namespace: str | None = None
    ) -> None:
        body = {"ip_addr": address, "network": network_id, "vip_name": name}
        if namespace is not None:
            body["vip_namespace"] = namespace
        self._at(cluster_id, _VIPS).post(body)
