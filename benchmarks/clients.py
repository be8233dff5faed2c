"""Print one table: what listing graphs costs with our client and with the original one, against the same server.

`python -m benchmarks.clients [--runs N]`. The original client is python-fuelclient 11.0.0, in the environment that
the tests build for it from the package index; without a network there is none, and the table says so.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.processes import Cost, measure

_TESTS = Path(__file__).resolve().parents[1] / "tests" / "support"
_ORIGINAL = "original client, graph list"
_OURS = "fuel2 --server, graph list"
_LOCAL = "fuel2 --local, graph list"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    from benchmarks.__main__ import fill

    table(fill, parser.parse_args().runs)


def table(fill: Callable[[dict[str, str], Path], None], runs: int = 15) -> None:
    """Print medians of so many runs, over an engine that `fill` fills."""
    sys.path.append(str(_TESTS))  # the tests know how to get the original client, and how to start a server
    from integration.cached_environments import Absent, clean
    from integration.original_client import Original, installed
    from server_process import serving

    with tempfile.TemporaryDirectory(prefix="fuel2-bench-", dir=Path.home()) as name:
        directory = Path(name)
        environ = clean(HOME=name, FUEL_ENGINE=str(directory / "engine.db"))
        fill(environ, directory)
        fuel2 = str(Path(sys.executable).with_name("fuel2"))
        with serving(directory) as server:
            url = server.url.removesuffix("/api/v1/")
            commands = {
                _LOCAL: [fuel2, "--local", "graph", "list"],
                _OURS: [fuel2, "--server", url, "graph", "list"],
            }
            original = Original(server.url, directory)
            try:
                commands[_ORIGINAL] = [installed().script("fuel2"), "graph", "list"]
            except Absent as error:
                print(f"{_ORIGINAL}: not measured: {error}")
            _print(measure(commands, {**original.environ, "FUEL_ENGINE": environ["FUEL_ENGINE"]}, runs))


def _print(costs: dict[str, Cost]) -> None:
    print(f"{'50 graphs, no authentication':<32}{'wall ms':>9}{'cpu ms':>9}{'MB':>7}  wall, cpu beside the original")
    base = costs.get(_ORIGINAL)
    for name, cost in costs.items():
        ratio = f"{cost.wall / base.wall:.2f}x, {cost.cpu / base.cpu:.2f}x" if base else ""
        print(f"{name:<32}{cost.wall * 1000:>9.0f}{cost.cpu * 1000:>9.0f}{cost.memory:>7.0f}  {ratio}")


if __name__ == "__main__":
    main()
