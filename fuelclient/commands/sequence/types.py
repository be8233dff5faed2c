"""Graph types of a sequence that nothing has yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from fuelclient.commands.base import report
from fuelclient.commands.shell import LOG
from fuelclient.errors import FuelError, nearest

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.finding import Finding

_MOST_NAMED = 8


def report_unknown(backend: Backend, release_id: int, graph_types: Iterable[str]) -> None:
    """It is said on stderr which of these types no graph has that an environment of the release could run.

    That is no error, since graphs may be uploaded later; but a type that was mistyped would be found only by a run,
    after the graphs before it. Which plugins an environment will enable is not known: those of all count. Where the
    graphs cannot be listed, the sequence is none the worse for it.
    """
    wanted = list(dict.fromkeys(graph_types))
    try:
        known = _known(backend, release_id)
    except FuelError as error:
        LOG.info("Whether there are graphs of all its types could not be found out: %s", error)
        return
    if not known.issuperset(wanted):
        report(_unknown(release_id, [one for one in wanted if one not in known], sorted(known)))


def _known(backend: Backend, release_id: int) -> set[str]:
    """The types that the release, its environments, and plugins have graphs of."""
    from fuelclient.model.graph import Level

    its = {(Level.CLUSTER, one.id) for one in backend.clusters.list() if one.release_id == release_id}
    its.add((Level.RELEASE, release_id))
    return {
        one.type
        for one in backend.graphs.list()
        if one.owner.level is Level.PLUGIN or (one.owner.level, one.owner.id) in its
    }


def _unknown(release_id: int, types: Iterable[str], known: Sequence[str]) -> Iterator[Finding]:
    from fuelclient.model.finding import Finding, Severity

    for graph_type in types:
        close = nearest(graph_type, known)
        named = ", ".join(known[:_MOST_NAMED]) + (", ..." if len(known) > _MOST_NAMED else "")
        there = f"Did you mean {close}?" if close else f"There are: {named}." if known else "There is no graph at all."
        owners = f"neither release {release_id}, nor an environment of it, nor a plugin"
        message = f"{owners} has a graph of type {graph_type} yet"
        yield Finding(Severity.WARNING, "G051", message, hint=f"{there} Upload it before the sequence is executed.")
