"""`fuel2 doctor`: what is wrong is named with its mend, and nothing is changed."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from email.utils import formatdate
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from command_line import CommandLine, fuel2
from faulty_master import Request, closed_port, serving

from fuelclient import installed
from fuelclient.backends.doctor import installation, reach
from fuelclient.model.diagnosis import Health

Row = dict[str, str]


def examined(line: CommandLine, *options: str, code: int) -> list[Row]:
    """Return the rows; each problem has a mend."""
    done = line("doctor", "-f", "json", *options)
    assert done.code == code, done
    rows: list[Row] = json.loads(done.out)
    assert all(row["fix"] for row in rows if row["status"] != "ok"), rows
    return rows


def problems(line: CommandLine, area: str, *options: str, code: int = 0) -> list[Row]:
    rows = examined(line, *(options or ("--no-nodes",)), code=code)
    return [row for row in rows if row["area"] == area and row["status"] != "ok"]


def change(line: CommandLine, *statements: str) -> None:
    with closing(sqlite3.connect(line.engine)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_a_sound_installation(tiny: CommandLine) -> None:
    rows = examined(tiny, "--no-nodes", code=0)
    assert {"installation", "settings", "engine"} <= {row["area"] for row in rows}
    assert not [row for row in rows if row["status"] != "ok" and row["area"] != "paths"]


def test_nothing_is_created(tmp_path: Path) -> None:
    line = CommandLine(tmp_path / "new" / "engine.db")
    assert problems(line, "engine") == []
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_created(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (problem,) = problems(CommandLine(tmp_path / "file" / "engine.db"), "engine", code=7)
    assert problem["name"] == "file"


def test_a_file_that_others_can_read(tiny: CommandLine) -> None:
    tiny.engine.chmod(0o644)
    (problem,) = problems(tiny, "engine")
    assert problem["fix"] == f"chmod 600 {tiny.engine}"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_is_read_only(tiny: CommandLine) -> None:
    tiny.engine.chmod(0o400)
    assert problems(tiny, "engine", code=7)[0]["name"] == "file"


def test_damage(tiny: CommandLine) -> None:
    with closing(sqlite3.connect(tiny.engine)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(tiny.engine.read_bytes())
    for page in range(2, len(content) // 4096 - 1):
        content[page * 4096 : page * 4096 + 8] = b"\xff" * 8
    tiny.engine.write_bytes(content)
    assert problems(tiny, "engine", code=7)


def test_rows_without_their_owner(tiny: CommandLine) -> None:
    change(tiny, "PRAGMA foreign_keys = OFF", "UPDATE clusters SET release_id = 99")
    (problem,) = problems(tiny, "engine", code=7)
    assert (problem["name"], "clusters" in problem["message"]) == ("integrity", True)


def test_another_program_and_another_version(tiny: CommandLine, tmp_path: Path) -> None:
    change(tiny, "PRAGMA user_version = 999")
    (problem,) = problems(tiny, "engine", code=7)
    assert "999" in problem["message"]
    other = CommandLine(tmp_path / "other.db")
    change(other, "CREATE TABLE theirs (id)")
    assert problems(other, "engine", code=7)[0]["name"] == "file"


def test_an_earlier_schema_is_not_upgraded(tiny: CommandLine) -> None:
    change(tiny, "PRAGMA user_version = 6")
    (problem,) = problems(tiny, "engine")
    assert problem["name"] == "schema"
    with closing(sqlite3.connect(tiny.engine)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (6,)


def test_files_of_plugins_that_are_gone(fuel2: CommandLine) -> None:
    fuel2.ok("demo")
    root = Path(f"{fuel2.engine}.plugins")
    next(path for path in root.iterdir() if "image-cache" in path.name).rename(root / "elsewhere")
    (problem,) = problems(fuel2, "engine", code=7)
    assert "image-cache" in problem["message"]


def test_a_run_whose_process_is_gone(tiny: CommandLine) -> None:
    tiny.ok("graph", "execute", "--env", 1, "--executor", "noop", "--wait")
    change(tiny, "UPDATE transactions SET status = 'running', time_end = NULL")
    (problem,) = problems(tiny, "engine")
    assert "task resume 1" in problem["fix"]


def test_settings_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("SERVER_PORT: [1]\n")
    monkeypatch.setenv("FUELCLIENT_CUSTOM_SETTINGS", str(path))
    (problem,) = problems(CommandLine(tmp_path / "engine.db"), "settings", code=7)
    assert f"{path}:1" in problem["message"]


def test_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "requires", lambda _: ["PyYAML>=999", "absent-library>=1", "gone; extra == 'x'"])
    found = {item.name: item for item in installation.examine()}
    assert found["PyYAML"].health is found["absent-library"].health is Health.ERROR
    assert "gone" not in found
    assert found["absent-library"].mend == f"{sys.executable} -m pip install 'absent-library>=1'"


def test_extras_that_are_missing_are_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "find_spec", lambda _: None)
    (extra,) = [item for item in installation.examine() if item.name == "extra ssh"]
    assert (extra.health, extra.mend) == (Health.OK, installed.extra_line("ssh"))


def test_another_fuel2_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fuel2").write_text("#!/bin/sh\n")
    (tmp_path / "fuel2").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    (found,) = [item for item in installation.examine() if item.area == "paths"]
    assert (found.health, str(tmp_path) in found.message) == (Health.WARNING, True)


def test_a_master_that_is_not_there() -> None:
    done = fuel2("--server", f"http://127.0.0.1:{closed_port()}", "doctor", "-f", "json")
    assert done.code == 7
    assert [row["status"] for row in done.json if row["area"] == "master"] == ["error"]


@pytest.mark.parametrize(("ahead", "status"), [(0, []), (3600, ["warning"]), (-3600, ["warning"])])
def test_a_master_with_another_time(ahead: int, status: list[str]) -> None:
    version: dict[str, Any] = {"api": "1.0", "release": "9.0", "auth_required": False, "feature_groups": []}

    def answer(request: Request) -> None:
        request.date_time_string = lambda timestamp=None: formatdate(time.time() + ahead, usegmt=True)  # type: ignore[method-assign]  # noqa: ARG005
        request.json({**version, "openstack_version": "mitaka-9.0"})

    with serving(answer) as server:
        done = fuel2("--server", server.url, "doctor", "-f", "json")
    rows = [row for row in done.json if row["area"] == "master"]
    assert (done.code, rows[0]["status"]) == (0, "ok"), rows
    assert [row["status"] for row in rows[1:]] == status


def test_dask(tiny: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "SECONDS", 0.5)
    for address in ("tcp://10.0.0.1:8786", f"tcp://127.0.0.1:{closed_port()}"):
        monkeypatch.setenv("FUEL_DASK_SCHEDULER", address)
        (problem,) = problems(tiny, "dask", code=7)
        assert problem["name"] == address


def test_nodes_that_do_not_answer(tiny: CommandLine) -> None:
    reach_nodes(tiny, closed_port())
    found = problems(tiny, "nodes", "-q", code=7)
    assert [row["name"] for row in found] == ["1 (node-1), 2 (node-2)"]


def reach_nodes(line: CommandLine, port: int) -> None:
    """Let the nodes be reached at a port of this machine."""
    with closing(sqlite3.connect(line.engine)) as connection, connection:
        connection.execute("UPDATE nodes SET ip = '127.0.0.1', ssh = ?", (json.dumps({"port": port, "user": "fuel"}),))


@contextmanager
def ssh_server(home: Path, tools: Path | None) -> Iterator[int]:
    """Serve SSH and SFTP on a port, whose host key is known in `home`. Commands find the programs in `tools` first;
    without these nothing is executed."""
    key = asyncssh.generate_private_key("ssh-ed25519")

    class Server(asyncssh.SSHServer):
        def begin_auth(self, username: str) -> bool:  # noqa: ARG002 (everybody may come in)
            return False

    def run(process: asyncssh.SSHServerProcess[str]) -> None:
        if tools is None:
            process.stdout.write("This account is closed.\n")
        else:
            command = ["sh", "-c", process.command or "true"]
            path = {"PATH": f"{tools}:{os.defpath}"}
            done = subprocess.run(
                command, env=path, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
            )
            process.stdout.write(done.stdout)
        process.exit(0)

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        listening = asyncssh.listen(
            "127.0.0.1", 0, server_factory=Server, server_host_keys=[key], process_factory=run, sftp_factory=True
        )
        server = asyncio.run_coroutine_threadsafe(_awaited(listening), loop).result(10)
        port = server.get_port()
        (home / ".ssh").mkdir(exist_ok=True)
        public = key.export_public_key().decode()
        (home / ".ssh/known_hosts").write_text(f"[127.0.0.1]:{port} {public}")
        yield port
        asyncio.run_coroutine_threadsafe(_ended(server), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _awaited(something: Any) -> Any:
    return await something


async def _ended(server: Any) -> None:
    server.close()  # in its own loop, whose connections close it at the same moment
    await server.wait_closed()


@pytest.mark.parametrize(
    ("ahead", "names"),
    [(0, ["connections"]), (-3600, ["1 (node-1), 2 (node-2)", "connections"])],
)
def test_nodes_that_answer(
    ahead: int, names: list[str], tiny: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, answer in (("date", f"{time.time() + ahead:.0f}"), ("id", "0")):
        (tools / name).write_text(f"#!/bin/sh\necho {answer}\n", encoding="utf-8")
        (tools / name).chmod(0o755)
    with ssh_server(tmp_path, tools) as port:
        reach_nodes(tiny, port)
        rows = [row for row in examined(tiny, code=0) if row["area"] == "nodes"]
    assert [row["name"] for row in rows] == names
    assert rows[-1]["message"].startswith("2 of 2 ")


def test_nodes_that_run_no_commands(tiny: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with ssh_server(tmp_path, None) as port:
        reach_nodes(tiny, port)
        (found,) = problems(tiny, "nodes", "-q", code=7)
    assert (found["name"], "This account is closed." in found["message"]) == ("1 (node-1), 2 (node-2)", True)
