"""Print what starting, listing and previewing cost, beside a bare cliff application; then what plans and runs do."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import bare, plugins
from benchmarks.processes import Cost, measure
from fuelclient.commands.table import COMMANDS

CORPUS = Path(os.environ.get("FUEL_CORPUS", Path(__file__).resolve().parents[2] / "shared" / "corpus"))
FUEL2 = [str(Path(sys.executable).with_name("fuel2"))]


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="fuel2-bench-", dir=Path.home()) as directory:
        _run(Path(directory))
    if CORPUS.is_dir():
        from benchmarks import planning, scheduling

        print()
        planning.table()
        print()
        scheduling.table()
        from benchmarks import round_trips

        print()
        round_trips.table()
    from benchmarks import clients, dispatch, large_graphs, server

    print()
    large_graphs.table()
    print()
    clients.table(fill)
    print()
    server.table()
    print()
    dispatch.table()


def _run(directory: Path) -> None:
    engine = directory / "engine.db"
    environ = {**os.environ, "FUEL_ENGINE": str(engine), "PYTHONPATH": str(directory)}
    application = [sys.executable, str(bare.write(directory, list(COMMANDS)))]
    fill(environ, directory)
    fast = {
        "bare cliff --help": [*application, "--help"],
        "fuel2 --help": [*FUEL2, "--help"],
        "bare cliff graph list": [*application, "graph", "list"],
        "fuel2 graph list (50 graphs)": [*FUEL2, "graph", "list"],
        "fuel2 complete --words (nodes)": [
            *FUEL2,
            "complete",
            "--words",
            "graph",
            "execute",
            "--env",
            "1",
            "--nodes",
            "",
        ],
        "fuel2 graph preview (example)": [*FUEL2, "graph", "preview", "--env", "1"],
    }
    costs = measure(fast, environ, runs=15)
    costs |= measure(plugins.ring_commands(FUEL2, directory), environ, runs=5)
    if CORPUS.is_dir():
        _load_newton(environ)
        preview = [*FUEL2, "graph", "preview", "--env", "2", "--assume"]
        slow = {
            "fuel2 graph preview (newton, 14 nodes)": [*preview, "controller=3,compute=8,cinder=3"],
            "fuel2 graph preview (newton, 1000 nodes)": [*preview, "controller=3,compute=900,cinder=97"],
        }
        slow |= plugins.commands(FUEL2, CORPUS, directory / "plugins.db")
        costs |= measure(slow, environ, runs=5)
    _print(costs)


def _fuel2(environ: dict[str, str], *arguments: str) -> str:
    done = subprocess.run([*FUEL2, *arguments], env=environ, check=True, capture_output=True, text=True)
    return done.stdout


def fill(environ: dict[str, str], directory: Path) -> None:
    """The packaged examples, and graphs of more types until there are 50."""
    _fuel2(environ, "demo")
    graph = directory / "graph.yaml"
    graph.write_text("".join(f"- {{id: task-{n}, type: shell, parameters: {{cmd: 'true'}}}}\n" for n in range(40)))
    have = len(_fuel2(environ, "graph", "list", "-f", "value", "-c", "id").split())
    for number in range(50 - have):
        _fuel2(environ, "graph", "upload", "--env", "1", "--type", f"bench-{number}", "--file", str(graph), "--yes")


def _load_newton(environ: dict[str, str]) -> None:
    fixture = CORPUS / "fuel-web/newton/nailgun/nailgun/fixtures/openstack.yaml"
    created = _fuel2(environ, "release", "import", str(fixture), "-f", "value", "-c", "id")
    release = created.split()[0]
    puppet = str(CORPUS / "fuel-library/newton/deployment/puppet")
    _fuel2(environ, "graph", "upload", "--release", release, "--type", "default", "--dir", puppet)
    _fuel2(environ, "env", "create", "newton", "--release", release)


def _print(costs: dict[str, Cost]) -> None:
    print(f"{'command':<44}{'wall ms':>9}{'cpu ms':>9}{'MB':>7}  cpu beside bare cliff")
    for name, cost in costs.items():
        beside = {"fuel2 --help": "bare cliff --help", "fuel2 graph list (50 graphs)": "bare cliff graph list"}.get(
            name
        )
        ratio = f"{cost.cpu / costs[beside].cpu:.2f}x" if beside else ""
        print(f"{name:<44}{cost.wall * 1000:>9.0f}{cost.cpu * 1000:>9.0f}{cost.memory:>7.0f}  {ratio}")


if __name__ == "__main__":
    main()
