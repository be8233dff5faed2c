"""Capabilities of a backend: what not every backend can do."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One field for each thing that not every backend can do.

    `events`: keep the events of runs. `kill`: end running tasks. `resume`: resume a run whose runner was killed.
    `logs`: return what tasks printed. `new_nodes`: take nodes that were not discovered. `partial_records`: store
    records without type. `inputs`: return an environment, and what plans are computed from, as a whole. `batches`:
    store several releases, all or none. `leftovers`: report what a deletion leaves behind. `refusals`: say why a plugin
    cannot be enabled. `executors`: reach each node by an executor that the node, or a run, names.
    `unavailable_releases`: create environments of releases that are marked as unavailable. `services`: what only a
    Fuel master does, such as verify networks or collect snapshots. `decides`: decide by itself what a deployment or
    reset does to which nodes, and what a dry run would run; without it, the environment's graphs define that, and dry
    runs are computed from `inputs`. `places`: keep where each uploaded task is written. `dry_changes`: move an
    environment to another version of its release, and say what that, or a plugin, would change. `packages`: install
    plugin packages from files of this machine.
    """

    events: bool = False
    kill: bool = False
    resume: bool = False
    logs: bool = False
    new_nodes: bool = False
    partial_records: bool = False
    inputs: bool = False
    batches: bool = False
    leftovers: bool = False
    refusals: bool = False
    executors: bool = False
    unavailable_releases: bool = False
    services: bool = False
    decides: bool = False
    places: bool = False
    dry_changes: bool = False
    packages: bool = False


FUEL_MASTER = Capabilities(services=True, decides=True)
"""What every Fuel master can do."""

SERVER_REVISION = 4
"""The revision of what our server answers beyond Nailgun. It grows with each change that clients have to know of."""

_WITH_INPUTS, _WITH_PLACES, _WITH_DRY_CHANGES = 2, 3, 4
"""The revisions since which servers have the capabilities `inputs`, `places` and `dry_changes`."""

OWN_ENGINE = Capabilities(
    events=True, kill=True, resume=True, logs=True, new_nodes=True, partial_records=True, inputs=True, batches=True,
    leftovers=True, refusals=True, executors=True, unavailable_releases=True, places=True, dry_changes=True,
    packages=True,
)  # fmt: skip
"""What the engine of this package can do. Its server installs no packages of its clients."""


def of_server(revision: object) -> Capabilities:
    """Return what a server of ours can do whose version states `revision`; the oldest ones stated none.

    Before revision 2 they may lack the paths that return an environment as a whole, so it is then read as from a Fuel
    master. Before revision 3 they may refuse uploads that state where tasks are written.
    """
    known = revision if isinstance(revision, int) else 0
    return replace(
        OWN_ENGINE,
        inputs=known >= _WITH_INPUTS,
        places=known >= _WITH_PLACES,
        dry_changes=known >= _WITH_DRY_CHANGES,
        packages=False,
    )
