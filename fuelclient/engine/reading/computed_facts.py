"""Compute the facts of runs on an environment, and store the values that have to be the same in every run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fuelclient.engine.reading import environment
from fuelclient.environment.layers import snapshot
from fuelclient.environment.roles import network_roles, role_vips
from fuelclient.errors import Unavailable
from fuelclient.facts.compute import Computed, computed, kept_of
from fuelclient.facts.given import Given, Kept, effective_facts, since_copied
from fuelclient.model.environment import Environment
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.model.network import Vip
from fuelclient.plan.fleet import fleet_of
from fuelclient.plan.select import with_primaries
from fuelclient.store import facts as stored
from fuelclient.store.database import Connection, Database
from fuelclient.store.inventory import nodes, put_vip


def store_kept_values(database: Database, cluster_id: int) -> None:
    """Choose and store the values that every run has to share: secrets, node addresses and virtual addresses.

    Do nothing if all of them are stored. If the engine file cannot be written, facts are computed anyway, and stay the
    same until something changes. Callers that only read, in a block of `Database.reading`, do not call this.
    """
    from fuelclient.engine.reading import generated_settings  # few callers need it

    with database.read() as connection:
        target = environment.read(connection, cluster_id)
        given = given_of(connection, target)
        kept = kept_of(target, given)
        is_unchanged = kept.addresses == given.kept.addresses and kept.vips.items() <= given.kept.vips.items()
        if is_unchanged and not generated_settings.are_missing(target, given.kept):
            return
    try:
        with database.write() as connection:
            generated_settings.generate(connection, cluster_id)
            target = environment.read(connection, cluster_id)
            _keep(connection, target, kept_of(target, given_of(connection, target)))
    except Unavailable:
        return  # plans and previews need no write; a run does, and reports the error itself


def keep_primaries(connection: Connection, cluster_id: int) -> None:
    """Store which nodes are primary now, so that uploaded facts stay true in a run on other nodes."""
    target = environment.read(connection, cluster_id)
    if target.nodes:
        for node in with_primaries(target.nodes, fleet_of(snapshot(target, (), DEFAULT_TYPE, checked=False))):
            nodes.update(connection, node)


def _keep(connection: Connection, target: Environment, kept: Kept) -> None:
    """Store the chosen virtual addresses with those of users, all other values with the environment."""
    stored.put_kept(connection, target.cluster.id, kept)
    stored_vips = {vip.name: vip for vip in target.vips}
    requested = {vip["name"]: (role, vip) for role, vip in role_vips(network_roles(target))}
    for name, address in kept.vips.items():
        if name not in stored_vips or (not stored_vips[name].is_user_defined and stored_vips[name].ip_addr != address):
            role, vip = requested[name]
            network, namespace = str(role.get("default_mapping")), vip.get("namespace")
            put_vip(connection, target.cluster.id, Vip(0, name, address, network, namespace, is_user_defined=False))


def given_of(connection: Connection, target: Environment) -> Given:
    vips = {vip.name: vip.ip_addr for vip in target.vips}
    return Given(replace(stored.kept(connection, target.cluster.id), vips=vips))


def computed_now(connection: Connection, target: Environment, participants: Sequence[int] = ()) -> Computed:
    """Compute the facts of an environment for a run on `participants` (empty: all nodes).

    A copy has the facts of its original, except where changes since the copy was made affect them.
    """
    current = computed(target, given_of(connection, target), tuple(participants))
    original, then = stored.copied(connection, target.cluster.id)
    return current if original.is_empty else replace(current, facts=since_copied(original, then, current.facts))


def effective(connection: Connection, target: Environment, default: Computed) -> DeploymentFacts:
    """Override the computed facts of an environment with the uploaded ones."""
    return effective_facts(default.facts, stored.uploaded(connection, target.cluster.id))
