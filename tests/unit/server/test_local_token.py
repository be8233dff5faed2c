"""The server's own user is let in by a token in a file, and nobody else; half-open connections keep nobody out."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from command_line import CommandLine
from executions import Executions
from faulty_master import serving as scripted
from processes import eventually
from server_process import Serving, serving

from fuelclient.backends.connected import connected
from fuelclient.errors import Unauthorised
from fuelclient.server.wsgi_server import Limits
from fuelclient.settings.master import Credentials, Master

TOKEN = ("--auth", "token")


@pytest.fixture
def home(env: Executions, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of the server, which is now that of this process, too."""
    monkeypatch.setenv("HOME", str(env.directory))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    return env.directory


def base(server: Serving) -> str:
    return server.url.removesuffix("/api/v1/")


def files(home: Path) -> list[Path]:
    return sorted((home / ".local/share/fuel/servers").iterdir())


def status(server: Serving, path: str, **headers: str) -> int:
    stated = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(server.url + path, headers=stated)  # noqa: S310 (it is our server)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_only_who_reads_the_file_is_let_in(env: Executions, home: Path) -> None:
    with serving(env.directory, *TOKEN) as server:
        (path,) = files(home)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        stated = json.loads(path.read_text())
        assert stated["url"] == base(server)
        assert stated["pid"] == server.process.pid
        assert [status(server, "version"), status(server, "clusters/")] == [200, 401]
        assert status(server, "clusters/", X_Auth_Token=stated["token"] + "x") == 401
        assert status(server, "clusters/", **{"X-Auth-Token": "\u00e9"}) == 401
        assert status(server, "clusters/", X_Auth_Token=stated["token"]) == 200
        assert status(server, "clusters/", X_Auth_Token=stated["token"], Origin="http://example.org") == 403
        assert status(server, "clusters/", X_Auth_Token=stated["token"], Host="example.org") == 403
        assert stated["token"] not in server.log.read_text()
        assert server.ended_by(signal.SIGTERM) == 0
        assert not files(home)


BODY = 1 << 24


def temporary_files(server: Serving) -> list[str]:
    """Files without a name that the server has open: waitress keeps long bodies in them."""
    found = []
    for link in Path(f"/proc/{server.process.pid}/fd").iterdir():
        with suppress(OSError):
            found.append(os.readlink(link))
    return [name for name in found if name.endswith("(deleted)")]


@pytest.mark.parametrize("chunked", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_body_without_a_token_is_not_read(env: Executions, home: Path, chunked: bool) -> None:
    """All but the last byte of 20 long bodies is sent; each has its answer, which none but a bad server would wait
    with, and no file."""
    length = f"Transfer-Encoding: chunked\r\n\r\n{BODY:x}" if chunked else f"Content-Length: {BODY}\r\n"
    with serving(env.directory, *TOKEN) as server, ExitStack() as opened:
        token = json.loads(files(home)[0].read_text())["token"]
        address = urlsplit(server.url)

        def begun(stated: str) -> socket.socket:
            line = socket.create_connection((address.hostname, address.port), timeout=60)
            head = f"POST /api/v1/clusters/ HTTP/1.1\r\nHost: {address.netloc}\r\n{stated}{length}\r\n"
            line.sendall(head.encode() + b" " * (BODY - 1))
            return opened.enter_context(line)

        lines = [begun(stated) for stated in ("", "X-Auth-Token: wrong\r\n") for _ in range(10)]
        answers = [line.recv(9999) for line in lines]
        assert {answer.split(b"\r\n")[0] for answer in answers} == {b"HTTP/1.1 401 UNAUTHORIZED"}
        assert all(b"serves only the user who started it" in answer for answer in answers)
        assert temporary_files(server) == []

        begun(f"X-Auth-Token: {token}\r\n")
        assert eventually(lambda: len(temporary_files(server)) == 1, 30), "whose body is read has one"
        assert status(server, "clusters/", X_Auth_Token=token) == 200


def test_fuel2_finds_the_token_by_itself(env: Executions, home: Path, tmp_path: Path) -> None:
    with serving(env.directory, *TOKEN) as server:
        fuel2 = [sys.executable, "-m", "fuelclient.main", "--server", base(server), "env", "list", "-f", "json"]
        done = subprocess.run(fuel2, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert [one["id"] for one in json.loads(done.stdout)] == [1]
        other = {**os.environ, "HOME": str(tmp_path / "other")}
        refused = subprocess.run(fuel2, capture_output=True, text=True, env=other, check=False)
        assert refused.returncode != 0
        assert "serves only the user who started it" in refused.stderr
        token = json.loads(files(home)[0].read_text())["token"]
        handed = subprocess.run(fuel2, capture_output=True, env={**other, "OS_TOKEN": token}, check=False)
        assert handed.returncode == 0
        wrong = subprocess.run(fuel2, capture_output=True, text=True, env={**os.environ, "OS_TOKEN": "x"}, check=False)
        assert (wrong.returncode, "OS_TOKEN was used; without it" in wrong.stderr) == (4, True)


def test_client_follows_a_killed_and_restarted_server(env: Executions, home: Path) -> None:
    with serving(env.directory, *TOKEN) as server:
        client = connected(Master(base(server)))
        assert [one.id for one in client.clusters.list()] == [1]
        server.process.kill()
        server.process.wait()
    (left,) = files(home)
    port = str(urlsplit(server.url).port)
    before = left.read_text()
    with serving(env.directory, *TOKEN, "--port", port) as again:
        assert left.read_text() != before
        assert [one.id for one in client.clusters.list()] == [1]
        assert again.ended_by(signal.SIGTERM) == 0
    client.close()


@pytest.mark.slow
def test_the_next_server_removes_files_of_killed_ones_only(env: Executions, home: Path) -> None:
    with serving(env.directory, *TOKEN) as living, serving(env.directory, *TOKEN) as killed:
        killed.process.kill()
        killed.process.wait()
        assert len(files(home)) == 2
        with serving(env.directory, *TOKEN) as third:
            urls = {json.loads(path.read_text())["url"] for path in files(home)}
            assert urls == {base(living), base(third)}


def test_no_other_address_gets_the_token(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that names another address, one that others can read, a name for the address, and a proxy."""
    version = {"auth_required": True, "auth": "token", "server": "fuelclient 1", "release": "9.0"}
    with scripted(lambda request: request.json(version)) as server, scripted(lambda request: request.json({})) as proxy:
        parts = urlsplit(server.url)
        directory = home / ".local/share/fuel/servers"
        directory.mkdir(parents=True)
        path = directory / f"127.0.0.1-{parts.port}.json"
        for url, mode in ((f"http://127.0.0.1:{parts.port}1", 0o600), (server.url, 0o644)):
            path.write_text(json.dumps({"url": url, "token": "secret-of-the-file"}))
            path.chmod(mode)
            with pytest.raises(Unauthorised):
                connected(Master(server.url)).clusters.list()
        path.chmod(0o600)
        with pytest.raises(Unauthorised):
            connected(Master(f"http://localhost:{parts.port}", Credentials(username="a"))).nodes.list()
        assert not any(seen.token for seen in server.asked)
        client: Any = connected(Master(server.url))
        client.session._authentication()
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        client.session.get("clusters/")
        assert not proxy.asked
        assert server.asked[-1].token.endswith("-of-the-file")


def test_everybody_is_let_in_only_if_asked_and_not_by_root(env: Executions) -> None:
    fuel2 = CommandLine(env.directory / "engine.db")
    if os.geteuid() == 0:
        assert fuel2("server", "run", "--no-auth").code == 2
    with serving(env.directory) as server:
        assert status(server, "clusters/") == 200
    assert "Every user of this machine" in server.log.read_text()


def test_half_open_connections_keep_nobody_out(env: Executions) -> None:
    """More silent and half-sent requests than the server holds connections; others are answered as before."""
    with serving(env.directory) as server:
        address = urlsplit(server.url)
        held = []
        try:
            for number in range(Limits().connections + 150):
                one = socket.create_connection((address.hostname, address.port), timeout=60)
                held.append(one)
                if number % 2:
                    one.sendall(b"POST /api/v1/clusters HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{")
            waits = []
            for _ in range(20):
                began = time.monotonic()
                assert status(server, "clusters/") == 200
                waits.append(time.monotonic() - began)
            assert max(waits) < Limits().idle_seconds / 2, waits  # before, they waited until connections idled out
        finally:
            for one in held:
                one.close()
    assert not re.search("Traceback", server.log.read_text())
