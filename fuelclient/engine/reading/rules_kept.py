"""Refuse writes that would break a rule of an environment which it keeps so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from fuelclient.engine.reading import environment
from fuelclient.store import nodes
from fuelclient.store.database import Connection


@contextmanager
def kept(connection: Connection, cluster_ids: Iterable[int], *, gives_roles: bool = False) -> Iterator[None]:
    """Compare environments before and after a block that writes. Raise what `environment.rules` raises for what the
    block has broken; the transaction then undoes it. `gives_roles` as in `rules.require_no_more`."""
    from fuelclient.environment import rules

    present = nodes.ids(connection)
    before = [environment.read(connection, cluster_id) for cluster_id in dict.fromkeys(cluster_ids)]
    yield
    for was in before:
        rules.require_no_more(was, environment.read(connection, was.cluster.id), present, gives_roles=gives_roles)
