"""Print one table: how many requests the server answers, and how it fares while clients ask for what takes very long.

`python -m benchmarks.server [--seconds S]`. The server is a process; its clients are eight threads with one connection
each. A hostile request previews a graph whose condition never ends, so that its child runs until its limit of time.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.__main__ import CORPUS, fill
from fuelclient.files import load

_TESTS = Path(__file__).resolve().parents[1] / "tests" / "support"
_CLIENTS = 8
_LISTS = ("graphs/", "nodes/", "clusters/", "releases/", "transactions/")
_HOSTILE = "clusters/1/serialized_tasks/?graph_type=hostile"
_CONDITION = {"yaql_exp": r"regex('((a+)+)\\1$').matches('a' * 60 + $.uid + 'b')"}
_PUPPET = CORPUS / "fuel-library/newton/deployment/puppet"

Ask = Callable[..., float]
"""Asks for a path, with a method and a body if they are not those of a GET, and returns the milliseconds it took."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    table(parser.parse_args().seconds)


def table(seconds: float = 5.0) -> None:
    """Print each row as soon as it is measured, for so many seconds."""
    sys.path.append(str(_TESTS))  # the tests know how to start a server
    from server_process import serving

    with tempfile.TemporaryDirectory(prefix="fuel2-bench-", dir=Path.home()) as name:
        directory = Path(name)
        fill({**os.environ, "HOME": name, "FUEL_ENGINE": str(directory / "engine.db")}, directory)
        with serving(directory) as server:
            address = server.url.removeprefix("http://").partition("/")[0]
            before = _processor(server.process.pid)
            taken = _asked(address, _LISTS, seconds)
            each = (_processor(server.process.pid) - before) / len(taken)
            print(f"lists a second                      {len(taken) / seconds:>8.0f}   processor ms each {each:.2f}")
            if CORPUS.is_dir():
                print(f"upload of newton's graph ms         {_upload(address):>8.0f}")
            _connection(address)("clusters/1/deployment_graphs/hostile/", "POST", {"tasks": [_hostile_task()]})
            for number in range(_CLIENTS):
                threading.Thread(target=_asks_forever, args=(address, number), daemon=True).start()
            time.sleep(2)
            others = sorted(_asked(address, ("version/", *_LISTS), seconds, clients=2))
            print(f"p99 ms of others beside {_CLIENTS} hostile   {others[len(others) * 99 // 100]:>8.0f}")
            began = time.monotonic()
            server.ended_by(signal.SIGTERM)
            print(f"from SIGTERM to the end s           {time.monotonic() - began:>8.1f}")


def _hostile_task() -> Mapping[str, object]:
    return {"id": "hostile", "type": "shell", "version": "2.1.0", "roles": ["/.*/"], "condition": _CONDITION,
            "parameters": {"cmd": "true"}}  # fmt: skip


def _asked(address: str, paths: tuple[str, ...], seconds: float, clients: int = _CLIENTS) -> list[float]:
    """The milliseconds of each request of so many clients, which ask for one path after another."""
    taken: list[float] = []
    until = time.monotonic() + seconds

    def client(number: int) -> None:
        ask = _connection(address)
        while time.monotonic() < until:
            number += 1
            taken.append(ask(paths[number % len(paths)]))

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken


def _asks_forever(address: str, number: int) -> None:
    while True:
        try:
            _connection(address)(f"{_HOSTILE}&nodes={number % 3 + 1}", statuses=(200, 400, 503))
        except OSError:
            return


def _connection(address: str) -> Ask:
    connection = http.client.HTTPConnection(address)

    def ask(path: str, method: str = "GET", body: object = None, statuses: tuple[int, ...] = (200, 201)) -> float:
        started = time.perf_counter()
        headers = {"Content-Type": "application/json"} if body else {}
        connection.request(method, f"/api/v1/{path}", json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status not in statuses:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:200]!r}")
        return (time.perf_counter() - started) * 1000

    return ask


def _upload(address: str) -> float:
    """The milliseconds of the fastest of five uploads of newton's graph."""
    tasks = [task for path in sorted(_PUPPET.rglob("tasks.yaml")) for task in load(str(path)).data or ()]
    ask = _connection(address)
    kinds = ["POST", *["PUT"] * 4]
    return min(ask("clusters/1/deployment_graphs/newton/", kind, {"tasks": tasks}) for kind in kinds)


def _processor(process: int) -> float:
    """The milliseconds that a process has had of a processor so far, without its children."""
    ticks = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()[11:13]
    return sum(map(int, ticks)) * 1000 / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
