"""Print one table: the whole plan of newton's default graph on generated facts, evaluated memoised and plainly, and on
facts that are computed from its release and its nodes, which counts.

`python -m benchmarks.planning [NODES ...] [--plain-up-to NODES]`; each measurement is a process of its own. A plan
has everything: merge, placement, edges, conditions, parameters of every instance, order, checks, digest. The budget
for 1000 nodes is 20 s and 1 GB; computed facts may take 1.3 times as long as generated ones, and 250 MB.
"""

from __future__ import annotations

import argparse
import gc
import resource
import subprocess
import sys
import time
from collections.abc import Sequence

from benchmarks import facts as generated
from benchmarks.__main__ import CORPUS
from benchmarks.conditions import newton, read
from fuelclient import files
from fuelclient.expressions.evaluation import Expressions
from fuelclient.facts.compute import computed
from fuelclient.facts.given import Given
from fuelclient.main import COLLECTION_THRESHOLD
from fuelclient.model.cluster import Cluster
from fuelclient.model.environment import Environment
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.graph import Layer, Level, Owner
from fuelclient.model.node import Node
from fuelclient.model.release import Release, Role
from fuelclient.model.run import RunRequest
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.fleet import PRIMARY, Fleet
from fuelclient.plan.plan import Plan, plan
from fuelclient.serializers.release import releases_from

SIZES = (10, 100, 1000)
PLAIN_UP_TO = 100
"""Evaluated plainly, the time grows with the square of the nodes: what is common tells of all of them."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nodes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--plain-up-to", type=int, default=PLAIN_UP_TO)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(_measured(options.nodes[0], options.one))
        return
    table(options.nodes, options.plain_up_to)


def table(sizes: Sequence[int] = SIZES, plain_up_to: int = PLAIN_UP_TO) -> None:
    """Print what a plan costs on so many nodes."""
    print(
        f"{'nodes':>6} {'evaluated':<10}{'instances':>10}{'run':>8}{'edges':>9}{'plan s':>9}{'cpu s':>9}{'peak MB':>9}"
    )
    for count in sizes:
        for how in ("memoised", "computed", *(("plain",) if count <= plain_up_to else ())):
            command = [sys.executable, "-m", "benchmarks.planning", str(count), "--one", how]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            print(f"{count:>6} {how:<10}{done.stdout.rstrip()}", flush=True)


def planned(count: int, *, memoise: bool = True) -> Plan:
    """The plan of newton on `count` nodes."""
    places = generated.fleet(count)
    common, parts = read(generated.facts(places))
    facts = DeploymentFacts(common, parts)
    return plan(snapshot(places), RunRequest(1), Expressions(facts, memoise=memoise))


def snapshot(places: Fleet) -> Snapshot:
    """An environment of provisioned nodes with the tags of a fleet; nothing on them is ever run."""
    nodes = []
    for place in places.nodes:
        if isinstance(place.uid, int):
            primary = tuple(tag.removeprefix(PRIMARY) for tag in place.tags if tag.startswith(PRIMARY))
            roles = ("controller",) if len(place.tags) > 1 else place.tags
            node = Node(place.uid, f"node-{place.uid}", 1, roles=roles, primary_tags=primary, executor="noop")
            nodes.append(node)
    layer = Layer(Owner(Level.RELEASE, 1), tuple(task.task for task in newton()))
    tags = generated.CONTROLLER_TAGS
    return Snapshot(
        Cluster(1, "bench", 1), (layer,), tuple(nodes), {"controller": Role("controller", tags)}, frozenset(tags)
    )


def release() -> Release:
    """The release newton for Ubuntu, from the corpus."""
    path = CORPUS / "fuel-web/newton/nailgun/nailgun/fixtures/openstack.yaml"
    return releases_from(files.load(str(path)))[1]


def _measured(count: int, how: str) -> str:
    places = generated.fleet(count)
    taken = snapshot(places)
    target = Environment(taken.cluster, release(), (), taken.nodes) if how == "computed" else None
    common, parts = read(generated.facts(places)) if target is None else ({}, {})
    gc.set_threshold(COLLECTION_THRESHOLD)
    started, worked = time.perf_counter(), time.process_time()
    facts = DeploymentFacts(common, parts) if target is None else computed(target, Given()).facts
    made = plan(taken, RunRequest(1), Expressions(facts, memoise=how != "plain"))
    wall, cpu = time.perf_counter() - started, time.process_time() - worked
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (f"{made.work.size:>10}{len(made.rendered):>8}{len(made.expansion.edges):>9}{wall:>9.2f}{cpu:>9.2f}"
            f"{memory:>9.0f}")  # fmt: skip


if __name__ == "__main__":
    main()
