"""Read and change the networks of environments and their virtual addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.engine.facet import Facet, reads, writes
from fuelclient.engine.reading import environment
from fuelclient.environment.network_changes import own_networks_from, vips_from, vips_of
from fuelclient.environment.networks import network_configuration, vip_records
from fuelclient.errors import Conflict, NotFound
from fuelclient.model.network import Vip
from fuelclient.store.database import Connection
from fuelclient.store.inventory import put_own_networks, put_vip


class Networks(Facet):
    """Networks and virtual addresses; see `base.Networks`."""

    @reads
    def configuration(self, connection: Connection, cluster_id: int) -> Mapping[str, Any]:
        return network_configuration(environment.read(connection, cluster_id))

    @writes
    def set_configuration(
        self, connection: Connection, cluster_id: int, configuration: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Store a network configuration and the addresses of its VIPs in one transaction."""
        with environment.checking_rules(connection, [cluster_id]) as (target,):
            put_own_networks(connection, cluster_id, own_networks_from(configuration, target))
            _put_vips(connection, cluster_id, vips_of(configuration, target))
            return network_configuration(environment.read(connection, cluster_id))

    def vips(
        self, cluster_id: int, *, vip_id: int | None = None, network_id: int | None = None, network_role: str = ""
    ) -> Sequence[Mapping[str, Any]]:
        with self._database.read() as connection:
            target = environment.read(connection, cluster_id)
        chosen = [record for record in vip_records(target) if vip_id in (None, record["id"])]
        if vip_id is not None and not chosen:
            raise NotFound("virtual address", vip_id, known=[str(vip.id) for vip in target.vips])
        vips_by_name = network_configuration(target)["vips"]
        return [
            record
            for record in chosen
            if network_id in (None, record["network"])
            and network_role in ("", vips_by_name.get(record["vip_name"], {}).get("network_role"))
        ]

    @writes
    def set_vips(self, connection: Connection, cluster_id: int, vips: Sequence[Mapping[str, Any]]) -> None:
        with environment.checking_rules(connection, [cluster_id]) as (target,):
            _put_vips(connection, cluster_id, vips_from(vips, target))

    def create_vip(
        self, cluster_id: int, name: str, address: str, *, network_id: int | None = None, namespace: str | None = None
    ) -> None:
        record = {"vip_name": name, "ip_addr": address, "network": network_id, "vip_namespace": namespace}
        with self._database.write() as connection, environment.checking_rules(connection, [cluster_id]) as (target,):
            names = {each["id"]: each["name"] for each in network_configuration(target)["networks"]}
            if network_id is not None and network_id not in names:
                raise NotFound("network", network_id, known=[f"{number} ({names[number]})" for number in sorted(names)])
            for vip in target.vips:
                if vip.name == name:
                    raise Conflict(
                        f"Environment {cluster_id} already has a virtual address {name}: {vip.ip_addr}.",
                        hint="Change it with `fuel2 vip download` and `fuel2 vip upload`.",
                    )
            _put_vips(connection, cluster_id, vips_from([record], target))


def _put_vips(connection: Connection, cluster_id: int, vips: Sequence[Vip]) -> None:
    for vip in vips:
        put_vip(connection, cluster_id, vip)
