"""The server as a process: how it begins and ends, what it refuses, and many clients at once."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from command_line import CommandLine, fuel2
from executions import Executions, shell
from processes import eventually
from server_process import PATIENCE, Serving, serving

from fuelclient.server.wsgi_server import Limits


def test_it_answers_and_ends_on_a_signal(env: Executions) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with serving(env.directory) as server:
            assert _get(server, "clusters/")[0] == 200
            assert server.ended_by(number) == 0
            said = server.log.read_text()
        assert re.search(r"req-\S+ GET /api/v1/clusters/ 200 \d+ ms", said)
        assert "The server has ended." in said
        assert "Traceback" not in said


def test_it_ends_while_nobody_asks_anything(env: Executions) -> None:
    with serving(env.directory) as server:
        assert server.ended_by(signal.SIGTERM) == 0


REFUSED = [
    (b"nonsense\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", 431),
    (b"POST /api/v1/clusters HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n", 413),
    (b"POST /api/v1/clusters HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", 400),
    (b"POST /api/v1/clusters HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", 400),
]


def _answer_to(server: Serving, sent: bytes) -> tuple[http.client.HTTPResponse, Any]:
    """Send bytes on a connection of their own, and return the answer with its document."""
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
        connection.sendall(sent)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return answer, json.loads(answer.read())


def test_what_is_no_request_is_refused_in_json(env: Executions) -> None:
    with serving(env.directory) as server:
        for sent, status in REFUSED:
            answer, body = _answer_to(server, sent)
            assert answer.status == status, sent[:80]
            assert answer.getheader("Content-Type") == "application/json"
            assert body["errors"] == []


def test_who_sends_too_much_reads_why(env: Executions) -> None:
    """The whole body is sent before the answer is read, as clients do: a reset would take the answer from them."""
    most = Limits().body_bytes + 2**20
    with serving(env.directory) as server:
        for more in (1, 2**24):
            head = f"POST /api/v1/clusters HTTP/1.1\r\nHost: localhost\r\nContent-Length: {most + more}\r\n\r\n"
            answer, told = _answer_to(server, head.encode() + b" " * (most + more))
            assert answer.status == 413
            assert told["message"].startswith("Request Entity Too Large")
        assert _get(server, "clusters/")[0] == 200
        assert server.ended_by(signal.SIGTERM) == 0


LINGERS_ON = """\
from fuelclient.server.wsgi_server import Limits, Server
def app(environ, start):
    start("200 OK", [("Content-Length", "0")])
    return []
server = Server(app, "127.0.0.1", 0, Limits({limits}))
server.run(lambda: print(server.port, flush=True))
"""


@pytest.mark.parametrize("limits", ["linger_seconds=1", "discarded_bytes=1000"])
def test_a_refused_request_holds_its_connection_for_a_time_only(limits: str) -> None:
    code = LINGERS_ON.format(limits=limits)
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    with server, socket.create_connection(("127.0.0.1", int(server.stdout.readline() if server.stdout else 0))) as line:
        line.settimeout(60)
        line.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n")
        assert line.recv(9999).startswith(b"HTTP/1.1 413")
        with pytest.raises(ConnectionError):  # it was closed: what is sent meets nobody
            _sent_until(line, time.monotonic() + 60)
        server.terminate()


def test_refused_request_does_not_delay_the_servers_end() -> None:
    code = LINGERS_ON.format(limits="end_seconds=300")
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    with server, socket.create_connection(("127.0.0.1", int(server.stdout.readline() if server.stdout else 0))) as line:
        line.settimeout(60)
        line.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\nx")
        assert line.recv(9999).startswith(b"HTTP/1.1 413")
        server.terminate()
        assert server.wait(PATIENCE) == 0


def _sent_until(line: socket.socket, until: float) -> None:
    while time.monotonic() < until:
        line.sendall(b"x" * 100)


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (["--host", "0.0.0.0"], 2, "listens on this machine only, not on 0.0.0.0"),  # noqa: S104 (it is refused)
        (["--port", "65536"], 2, "not a port"),
        (["--auth", "keystone"], 2, "needs a service user"),
        (["--keystone-project", "admin"], 2, "--keystone-project needs --auth keystone."),
        (["--keystone-config", "x"], 2, "needs --auth keystone"),
        (["--auth", "keystone", "--keystone-config", "/nonexistent"], 5, "does not exist"),
        (["--host", "127.0.0.300"], 2, "this machine only"),
    ],
)
def test_what_cannot_be_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], code: int, told: str
) -> None:
    found = CommandLine(tmp_path / "engine.db")("server", "run", *options)
    assert found.code == code, found
    assert told in found.err + capsys.readouterr().err  # argparse knows no other stream
    assert found.out == ""


def test_the_server_of_another_is_not_served_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    found = fuel2("--server", "http://127.0.0.1:1", "server", "run", "--port", "0")
    assert (found.code, "use --local" in found.err) == (2, True)


def test_a_port_that_is_taken_is_one_error(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        found = CommandLine(tmp_path / "engine.db")("server", "run", "--port", taken.getsockname()[1])
    assert found.code == 3
    assert re.search(r"cannot listen on 127\.0\.0\.1 port \d+: Address already in use\. Choose", found.err)


DRIPPED_ON = """\
from fuelclient.server.wsgi_server import Limits, Server
def app(environ, start):
    start("200 OK", [("Content-Length", "0")])
    return []
server = Server(app, "127.0.0.1", 0, Limits(request_seconds=1))
server.run(lambda: print(server.port, flush=True))
"""


@pytest.mark.parametrize("begun", [b"GET / HTTP/1.1\r\nX: ", b"POST / HTTP/1.1\r\nContent-Length: 9999\r\n\r\n"])
def test_a_request_that_drips_is_ended(begun: bytes) -> None:
    """A whole request before it is answered: the time of each counts for itself."""
    server = subprocess.Popen([sys.executable, "-c", DRIPPED_ON], stdout=subprocess.PIPE, text=True)
    with server, socket.create_connection(("127.0.0.1", int(server.stdout.readline() if server.stdout else 0))) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        line.settimeout(60)
        assert line.recv(9999).startswith(b"HTTP/1.1 200")
        line.sendall(begun)
        line.settimeout(0.1)
        assert _dripped(line) < 300  # some ten are enough where the machine is idle
        server.terminate()


def _dripped(line: socket.socket) -> int:
    """How many bytes were sent, one each tenth of a second, until the connection was closed."""
    for count in range(300):
        try:
            line.sendall(b"x")
            if not line.recv(9999):
                return count
        except TimeoutError:
            continue
        except OSError:
            return count
    return 300


ENDED_ON = """\
import os, sys, threading
from fuelclient.server.wsgi_server import Limits, Server
go_on = threading.Event()
def app(environ, start):
    environ["wsgi.input"].read()
    os.write(1, b"in\\n")
    go_on.wait()
    start("200 OK", [("Content-Length", "2000000")])
    return [b"x" * 2000000]
def listen():
    sys.stdin.readline()
    go_on.set()
threading.Thread(target=listen, daemon=True).start()
server = Server(app, "127.0.0.1", 0, Limits(end_seconds=int(sys.argv[1])))
server.run(lambda: print(server.port, flush=True))
"""


@contextmanager
def _ended_on(seconds: int) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server whose requests end when it is given a line, and its port."""
    command = [sys.executable, "-c", ENDED_ON, str(seconds)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as server:
        try:
            assert server.stdout is not None
            yield server, int(server.stdout.readline())
        finally:
            server.kill()


def _await_refusal(port: int) -> None:
    """Nobody listens on the port any more."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
        except OSError:
            return
        time.sleep(0.05)  # many connections at once would make the server close those of the test
    raise AssertionError(f"port {port} is still listened on")


def test_what_is_being_worked_at_is_answered_after_the_signal() -> None:
    """Six uploads whose answers are longer than what a socket holds: the socket loop has to go on for them."""
    with _ended_on(60) as (server, port), ThreadPoolExecutor(6) as pool:
        answers = [pool.submit(_upload, port) for _ in range(6)]
        assert server.stdout is not None
        assert [server.stdout.readline() for _ in answers] == ["in\n"] * 6
        server.terminate()
        _await_refusal(port)
        _, said = server.communicate("go on\n", PATIENCE)
        assert [one.result(PATIENCE) for one in answers] == [(200, 2_000_000)] * 6
    assert said == ""
    assert server.returncode == 0


def _upload(port: int) -> tuple[int, int]:
    """The status of an upload of 2 MB, and the length of its answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("PUT", "/", b"x" * 2_000_000)
    answer = connection.getresponse()
    found = answer.status, len(answer.read())
    connection.close()
    return found


@pytest.mark.parametrize("signals", [1, 2])
def test_endless_request_holds_the_server_for_a_time_only(signals: int) -> None:
    """And not at all when a second signal says so: an hour is far more than this test waits."""
    with _ended_on(1 if signals == 1 else 3600) as (server, port), socket.create_connection(("127.0.0.1", port)) as one:
        one.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert server.stdout is not None
        assert server.stdout.readline() == "in\n"
        server.terminate()
        _await_refusal(port)
        if signals == 2:
            server.terminate()
        server.wait(PATIENCE)
        assert server.returncode == 0
        assert server.stderr is not None
        assert "1 request is left without a response" in server.stderr.read()


def test_an_endless_expression_does_not_hold_the_servers_end(env: Executions) -> None:
    """It may take an hour, which is far more than this test waits. Of two seconds more than `end_seconds`, one is for
    the threads: by default, the end is within five."""
    settings = env.directory / "config" / "fuel" / "fuel_client.yaml"
    settings.parent.mkdir(parents=True)
    settings.write_text("EXPRESSION_SECONDS: 3600\n")
    endless = {"yaql_exp": r"regex('((a+)+)\\1$').matches('a' * 60 + 'b')"}
    env.graph(shell("endless", condition=endless))
    with serving(env.directory) as server:
        threading.Thread(target=_get_anyhow, args=(server, "clusters/1/serialized_tasks/?nodes=1"), daemon=True).start()
        children = Path(f"/proc/{server.process.pid}/task")
        assert eventually(lambda: any((one / "children").read_text() for one in children.iterdir()))
        assert server.ended_by(signal.SIGTERM) == 0
        assert "1 request is left without a response" in server.log.read_text()
    assert Limits().end_seconds + 2 <= 5


def _get_anyhow(server: Serving, path: str) -> None:
    with suppress(requests.RequestException):
        requests.get(server.url + path, timeout=PATIENCE)


def test_arriving_request_is_answered_after_the_signal(env: Executions) -> None:
    body = json.dumps([{"id": "x", "padding": "x" * 300_000}]).encode()
    with serving(env.directory) as server:
        address = urlsplit(server.url)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=PATIENCE)
        connection.putrequest("POST", f"{address.path}sequences/")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body[:1000])
        assert requests.get(f"{server.url}version", timeout=PATIENCE).ok  # it came later: ours is accepted by now
        server.process.terminate()
        _await_refusal(address.port or 0)
        connection.send(body[1000:])
        answer = connection.getresponse()
        assert answer.status == 400
        assert json.loads(answer.read())["message"]
        connection.close()
        assert server.process.wait(PATIENCE) == 0
        said = server.log.read_text()
    assert "Bad file descriptor" not in said
    assert "Traceback" not in said


def test_without_its_extra_it_says_what_to_install(tmp_path: Path) -> None:
    """A module that cannot be imported stands for one that is not installed."""
    text = (
        "import sys; sys.modules['waitress'] = None\n"
        "from fuelclient.main import main\n"
        f"sys.exit(main(['--engine', {str(tmp_path / 'e.db')!r}, 'server', 'run']))"
    )
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False)
    assert found.returncode == 2, found.stderr
    assert "Install it: " in found.stderr
    assert "'waitress>=3.0'" in found.stderr


CLIENTS, ROUNDS = 16, 9


@pytest.mark.slow
def test_many_clients_at_once_lose_nothing(env: Executions) -> None:
    """More than 1 000 requests of 16 clients on one file: every write is there afterwards, nothing fails."""
    with serving(env.directory) as server:
        barrier = threading.Barrier(CLIENTS)
        with ThreadPoolExecutor(CLIENTS) as pool:
            told = list(pool.map(lambda number: _client(server, number, barrier), range(CLIENTS)))
        statuses = [status for one in told for status in one]
        log = server.log.read_text()
        settings = _ask(server, "GET", "clusters/1/attributes")[1]["editable"]
        graphs = _ask(server, "GET", "clusters/1/deployment_graphs/")[1]
        sequences = _ask(server, "GET", "sequences/")[1]
        nodes = _ask(server, "GET", "nodes/")[1]
        shared = _ask(server, "GET", "clusters/1/deployment_graphs/shared")[1]

    assert len(statuses) >= 1000
    assert set(statuses) <= {200, 201, 204, 409}
    assert statuses.count(409) == ROUNDS * (CLIENTS - 1)  # of each graph that all create, one creation wins
    assert "locked" not in log
    assert {f"client{number}" for number in range(CLIENTS)} <= settings.keys()
    assert all(settings[f"client{number}"]["round"]["value"] == ROUNDS - 1 for number in range(CLIENTS))
    names = {one["relations"][0]["type"]: one["name"] for one in graphs}
    assert all(names[f"own{number}"] == f"round {ROUNDS - 1}" for number in range(CLIENTS))
    assert all(f"all{round_}" in names for round_ in range(ROUNDS))
    assert len(sequences) == len({one["name"] for one in sequences}) == CLIENTS * ROUNDS
    assert len(nodes) == 3 + CLIENTS
    assert shared["name"].startswith("by ")
    assert [task["id"] for task in shared["tasks"]] == ["t"]


def _client(server: Serving, number: int, barrier: threading.Barrier) -> list[int]:
    """The statuses of everything that one client asked."""
    address = urlsplit(server.url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=120)
    tasks = [{"id": "t", "type": "stage"}]
    own, shared = f"clusters/1/deployment_graphs/own{number}", "clusters/1/deployment_graphs/shared"
    found: list[int] = []

    def ask(method: str, path: str, body: Any = None) -> Any:
        status, answer = _ask(server, method, path, body, connection)
        found.append(status)
        return answer

    ask("POST", own, {"tasks": tasks})
    if number == 0:
        ask("POST", shared, {"tasks": tasks})
    barrier.wait(120)
    for round_ in range(ROUNDS):
        ask("PUT", own, {"name": f"round {round_}"})
        ask("PATCH", "clusters/1/attributes", {"editable": {f"client{number}": {"round": {"value": round_}}}})
        ask("POST", f"clusters/1/deployment_graphs/all{round_}", {"tasks": tasks})
        ask("POST", "sequences/", {"name": f"s{number}-{round_}", "release": 1, "graphs": [{"type": "default"}]})
        ask("PUT", shared, {"name": f"by {number}"})
        ask("GET", "clusters/1/deployment_tasks/?graph_type=shared")
        made = ask("POST", "nodes/", {"name": f"n{number}-{round_}"})
        if round_:
            ask("DELETE", f"nodes/{made['id']}")
    connection.close()
    return found


def _get(server: Serving, path: str) -> tuple[int, Any]:
    return _ask(server, "GET", path)


def _ask(
    server: Serving, method: str, path: str, body: Any = None, connection: http.client.HTTPConnection | None = None
) -> tuple[int, Any]:
    address = urlsplit(server.url)
    used = connection or http.client.HTTPConnection(address.hostname or "", address.port, timeout=120)
    content = None if body is None else json.dumps(body)
    used.request(method, f"{address.path}{path}", content, {"Content-Type": "application/json"})
    answer = used.getresponse()
    data = answer.read()
    if connection is None:
        used.close()
    return answer.status, json.loads(data) if data else None
