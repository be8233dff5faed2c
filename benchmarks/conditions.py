"""Print one table: newton's conditions on generated facts, evaluated plainly and memoised.

`python -m benchmarks.conditions [NODES ...] [--plain-up-to NODES]`; each measurement is a process of its own. The
first run has no old facts; the second has those of a first one in which every task succeeded, and nothing changed,
so that every condition is evaluated to its end.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterable
from typing import Any

from benchmarks import facts as generated
from benchmarks.__main__ import CORPUS
from fuelclient import files
from fuelclient.expressions.evaluation import condition_of
from fuelclient.expressions.facts import NO_PAST, Facts, Past, Views
from fuelclient.expressions.render import Master, computed_relations
from fuelclient.model.graph import Level, MergedTask, Owner
from fuelclient.model.run import uid_of
from fuelclient.model.task import DEPENDENCIES, Relation
from fuelclient.plan.evaluate import evaluate
from fuelclient.plan.expand import expand
from fuelclient.serializers.graph import documents_from


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nodes", nargs="*", type=int, default=[10, 100, 1000])
    parser.add_argument("--plain-up-to", type=int, default=100)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(_measured(options.nodes[0], again=options.one[0] == "second", memoise=options.one[1] == "memoised"))
        return
    print(f"{'nodes':>6} {'run':<7}{'evaluated':<10}{'conditions':>11}{'skipped':>9}{'facts s':>9}{'expand s':>9}"
          f"{'conditions s':>13}{'peak MB':>9}")  # fmt: skip
    for count in options.nodes:
        for run in ("first", "second"):
            for how in ("memoised", "plain") if count <= options.plain_up_to else ("memoised",):
                command = [sys.executable, "-m", "benchmarks.conditions", str(count), "--one", run, how]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                print(f"{count:>6} {run:<7}{how:<10}{done.stdout.rstrip()}", flush=True)


def _measured(count: int, *, again: bool, memoise: bool) -> str:
    tasks = newton()
    fleet = generated.fleet(count)
    common, parts = read(generated.facts(fleet))
    started = time.perf_counter()
    now = Facts(common, parts)
    views = Views(now, _everything_succeeded(now, tasks) if again else NO_PAST, memoise=memoise)
    made = time.perf_counter()

    def computed(task: int, node: int) -> Iterable[tuple[str, Relation]]:
        view = views.at(tasks[task].id, fleet.nodes[node].uid)
        for name in DEPENDENCIES:
            yield from ((name, one) for one in computed_relations(tasks[task].task, name, view, Master()))

    def holds(task: int, node: int) -> bool:
        return condition_of(tasks[task].task, views.at(tasks[task].id, fleet.nodes[node].uid)).holds

    expansion = expand(tasks, fleet, computed=computed)
    expanded = time.perf_counter()
    reasons = evaluate(expansion, holds)
    ended = time.perf_counter()
    conditions = sum("condition" in tasks[task].task.attributes for task in expansion.task_of)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (f"{conditions:>11}{sum(why is not None for why in reasons):>9}{made - started:>9.2f}"
            f"{expanded - made:>9.2f}{ended - expanded:>13.2f}{memory:>9.0f}")  # fmt: skip


def newton() -> list[MergedTask]:
    """The default graph of newton, from the corpus."""
    paths = files.task_files(str(CORPUS / "fuel-library/newton/deployment/puppet"))
    graph = documents_from([files.load(path) for path in paths], owner_label="newton")
    return [MergedTask(task, Owner(Level.RELEASE, 1)) for task in graph.tasks]


def read(made: Any) -> Any:
    """Facts as they come from a store: no two of them share a text or a list."""
    return json.loads(json.dumps(made))


def _everything_succeeded(now: Facts, tasks: list[MergedTask]) -> Past:
    """A past in which every task saw equal facts, held in memory of their own as if read from the store."""
    common, parts = read((now.common, now.nodes))
    then = Facts(common, parts)
    return Past({1: then}, {(task.id, uid_of(uid)): 1 for task in tasks for uid in now.nodes})


if __name__ == "__main__":
    main()
