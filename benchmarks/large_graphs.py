"""Print one table: what answers about a graph of 20 000 tasks cost, each given by a process of its own.

`python -m benchmarks.large_graphs [TASKS] [--runs N]`. The graph is generated. A release has most of the tasks, two
plugins have an eighth each, and both the plugins and the environment override tasks of the release. As in Fuel's
graphs, a task has one role or two and depends on a few tasks that are defined shortly before it; every tenth waits for
all nodes. The environment has 14 nodes. The goals are seconds of processor time on a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.processes import measure

TASKS = 20_000
QUESTIONS = {
    "graph blame task-{middle} --env 1": 0.9,
    "graph why task-{late} task-{early} --env 1": 0.9,
    "graph order --env 1": 0.9,
    "graph impact task-{middle} --env 1": 0.9,
    "graph stats --env 1": 0.9,
    "graph query 1+task-{middle}+1 --env 1": 0.9,
    "graph diff env:1 --without plugin:plugin-0": 2.5,
    "graph diff release:1 env:1": 2.5,
    "graph preview --env 1": 0.9,
    "graph validate --env 1": 0.9,
    "graph render 3+task-{middle}+3 --env 1 --output {directory}/near.html --force": 1.5,
    "graph render --env 1 --output {directory}/whole.dot --force": 1.5,
    "graph render --env 1 --output {directory}/whole.html --force": 5.0,
    "env changes 1": 1.5,
    "plan create {directory}/plan.json --env 1 --force": 2.5,
}
"""The command lines, each with its goal."""
_FUEL2 = str(Path(sys.executable).with_name("fuel2"))
_TESTS = Path(__file__).resolve().parents[1] / "tests" / "support"
_ROLES = ("controller", "compute", "cinder")
_NODES = {"controller": 3, "compute": 8, "cinder": 3}
_SEED = 16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="?", type=int, default=TASKS)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    table(options.tasks, options.runs)


def table(tasks: int = TASKS, runs: int = 3) -> None:
    """Print medians of so many runs."""
    with tempfile.TemporaryDirectory(prefix="fuel2-bench-", dir=Path.home()) as directory:
        environ = {**os.environ, "FUEL_ENGINE": f"{directory}/engine.db"}
        fill(environ, Path(directory), tasks)
        words = {"early": tasks // 10, "middle": tasks // 4, "late": tasks // 2, "directory": directory}
        commands = {question: [_FUEL2, *question.format(**words).split()] for question in QUESTIONS}
        costs = measure(commands, environ, runs)
    print(f"{f'{tasks} tasks on 14 nodes':<78}{'wall ms':>9}{'cpu ms':>9}{'goal':>7}{'MB':>7}")
    for question, cost in costs.items():
        figures = f"{cost.wall * 1000:>9.0f}{cost.cpu * 1000:>9.0f}{QUESTIONS[question] * 1000:>7.0f}"
        print(f"{question:<78}{figures}{cost.memory:>7.0f}")


def fill(environ: Mapping[str, str], directory: Path, tasks: int) -> None:
    """Make the engine file that `environ` names, with environment 1 and so many tasks in its graph."""
    sys.path.append(str(_TESTS))  # the tests know how to write a package
    from package_trees import write_package

    chance = random.Random(_SEED)  # noqa: S311 (a graph, no secret)
    own = tasks // 4 * 3
    records = [_task(number, chance) for number in range(tasks)]
    groups = [{"id": role, "type": "group", "roles": [role]} for role in _ROLES]
    fields = {"roles_metadata": {role: {"name": role, "description": role} for role in _ROLES}}
    release = ("release", "create", "large", "--version", "ocata-11.0", "--operating-system", "Ubuntu")
    _ran(environ, *release, "--file", _written(directory / "release.json", fields))
    graph = _written(directory / "graph.json", [*groups, *records[:own]])
    _ran(environ, "graph", "upload", "--release", "1", "--type", "default", "--file", graph)
    _ran(environ, "env", "create", "large", "--release", "1")
    for number in range(2):
        more = records[own + number :: 2]
        replaced = [{**record, "parameters": {"cmd": "other"}} for record in records[number:own:16]]
        files = {"deployment_tasks.yaml": [*more, *replaced]}
        extends = ({"os": "ubuntu", "version": "ocata-11.0", "mode": ["ha"]},)
        package = write_package(directory / f"plugin-{number}", f"plugin-{number}", releases=extends, files=files)
        _ran(environ, "plugins", "install", package)
        _ran(environ, "plugins", "enable", f"plugin-{number}", "--env", "1")
    overrides = [{"id": record["id"], "parameters": {"timeout": 600}} for record in records[2:own:16]]
    _ran(
        environ,
        "graph",
        "upload",
        "--env",
        "1",
        "--type",
        "default",
        "--file",
        _written(directory / "own.json", overrides),
    )
    names = (f"{role}-{number}" for role, count in _NODES.items() for number in range(count))
    for name in names:
        role = name.rpartition("-")[0]
        _ran(environ, "node", "create", name, "--executor", "noop", "--env", "1", "--roles", role)


def _task(number: int, chance: random.Random) -> dict[str, Any]:
    """Return a task that depends on up to three of the fifty before it."""
    nearest = range(max(0, number - 50), number)
    before = [f"task-{other}" for other in chance.sample(nearest, min(number, chance.randrange(1, 4)))]
    waits = {"cross_depends": [{"name": before[0], "role": "*"}]} if before and number % 10 == 0 else {}
    return {
        "id": f"task-{number}",
        "type": "shell",
        "version": "2.1.0",
        "roles": chance.sample(_ROLES, chance.randrange(1, 3)),
        "requires": before,
        **waits,
        "parameters": {"cmd": f"run {number}", "timeout": 300},
    }


def _written(path: Path, document: Any) -> str:
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def _ran(environ: Mapping[str, str], *arguments: str) -> None:
    done = subprocess.run([_FUEL2, *arguments], env=environ, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"fuel2 {' '.join(arguments)} failed: {done.stderr[:2000]}")


if __name__ == "__main__":
    main()
