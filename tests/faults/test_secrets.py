"""Passwords of a run: they reach the commands that need them, and nobody who looks at the run from outside."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from command_line import CommandLine
from executions import TOLERANT, Executions, executions, shell

from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.task import Task
from fuelclient.store.database import Database

ROOT = Path(__file__).resolve().parents[2]

OF_ALL, OF_NODE, PRINTED = "all-Zu7ka9Wq", "node-Xe4bi2Lm", "told-Qo8ne5Rt"
"""Passwords in the facts: of the environment, of one node, and one that a task prints itself."""

STATED, IN_SCRIPT = "stated-Vy3fo6Hd", "script-Ba5mu1Kc"
"""Passwords that somebody wrote into the graph: as a parameter, and within a script."""

OPERATORS = "operator-Ju2pi7Sx"
"""A password for another system, in the environment of who starts the run."""

SECRETS = (OF_ALL, OF_NODE, PRINTED, STATED, IN_SCRIPT, OPERATORS)

WHERE_STORED = {
    "cluster_facts.body": {OF_ALL, OF_NODE, PRINTED},  # what a user uploaded, to be downloaded again
    "fact_parts.body": {OF_ALL, OF_NODE, PRINTED},  # what a run saw: it renders, resumes and compares with that
    "deployment_graph_tasks.parameters": {STATED, IN_SCRIPT},  # the graph, as it was uploaded
}
"""The columns of the engine file that have to hold secrets, which is why only its owner can read it."""


def graph(env: Executions) -> list[Task]:
    """Tasks that use passwords: quietly, in files, failing, tried again, and one that prints what it was given."""
    rendered = {"yaql_exp": "concat('echo token=$(printenv TOKEN); P=', $.db.password, '; sleep 0.4; test $P')"}
    of_node = {"yaql_exp": "concat('A=', $.get(admin_token, none), '; sleep 0.3; exit 4')"}
    chatty = {"yaql_exp": "concat('echo told ', $.chatty.secret_key, '; exit 3')"}
    data = {"yaql_exp": "concat('password=', $.db.password)"}
    literal = {"cmd": f"DB_PASSWORD={IN_SCRIPT}; sleep 0.3", "db_password": STATED, "retries": 0, "timeout": 60}
    tried = {"cmd": of_node, "retries": 2, "interval": 0, "timeout": 60}
    nowhere = {"path": f"{env.directory}/none/there/conf", "data": data, "parents": False, "retries": 1, "interval": 0}
    there = {"path": f"{env.directory}/conf", "data": data, "permissions": "0600"}
    files = {"type": "upload_file", "version": "2.0.0", "roles": ["compute"], "fail_on_error": False}
    return [
        TOLERANT,
        shell("quiet", rendered),
        shell("literal", parameters=literal, requires=["quiet"]),
        shell("retried", parameters=tried, requires=["quiet"], fail_on_error=False),
        Task("file", {**files, "parameters": there, "requires": ["quiet"]}),
        Task("nofile", {**files, "parameters": nowhere, "requires": ["quiet"]}),
        shell("chatty", chatty, requires=["file", "nofile", "literal", "retried"]),
    ]


_GIVEN = "fuelclient.main"
"""What the command line of the process says that was given the operator's password."""


def _text(path: Path) -> str:
    return path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()


@dataclass
class Watch:
    """What anybody could see of the processes of this machine while a run went on."""

    lines: set[str] = field(default_factory=set)
    leaks: set[str] = field(default_factory=set)

    def look(self) -> None:
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    line, environ, after = (_text(entry / name) for name in ("cmdline", "environ", "cmdline"))
                except OSError:
                    continue  # it has ended, or belongs to somebody else
                if line != after:
                    continue  # it ended meanwhile, or became another program: whose environment it was is not known
                self.lines.add(line)
                seen = line if _GIVEN in line else f"{line} {environ}"
                self.leaks.update(f"{secret}: {line[:200]}" for secret in SECRETS if secret in seen)

    @contextmanager
    def ing(self) -> Iterator[None]:
        """Look all the time."""
        over = threading.Event()

        def whole() -> None:
            while not over.is_set():
                self.look()

        thread = threading.Thread(target=whole)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Executions, Watch, str]]:
    """An environment on which the graph was executed under everybody's eyes, and what the command printed."""
    env = executions(tmp_path_factory.mktemp("secrets"), 2)
    common = {"db": {"user": "nova", "password": OF_ALL}, "chatty": {"secret_key": PRINTED}}
    env.backend.facts.put(1, DeploymentFacts(common, {"2": {"admin_token": OF_NODE}}))
    env.graph(*graph(env))
    watch = Watch()
    line = [sys.executable, "-m", "fuelclient.main", "--debug", "--engine", str(env.engine), "graph", "execute"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "OS_PASSWORD": OPERATORS, "TOKEN": OPERATORS}
    with watch.ing():
        done = subprocess.run(
            [*line, "--env", "1", "--wait", "--format", "json"], check=False, env=environ, text=True, timeout=120,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
    yield env, watch, done.stdout
    env.backend.close()


def leaks(text: str, *but: str) -> list[str]:
    return [secret for secret in SECRETS if secret in text and secret not in but]


def test_the_run_is_what_it_seems(watched: tuple[Executions, Watch, str]) -> None:
    """The commands had their passwords; the run failed where it should; and somebody really looked."""
    env, watch, printed = watched
    outcomes = env.outcomes(1)

    assert outcomes["quiet@1"] == ("ready", ""), printed
    assert outcomes["literal@2"] == ("ready", "")
    assert outcomes["retried@2"] == ("skipped", "failure_ignored")
    assert outcomes["nofile@1"] == ("skipped", "failure_ignored")
    assert outcomes["chatty@1"] == ("error", "")
    assert (env.directory / "conf").read_text(encoding="utf-8") == f"password={OF_ALL}"
    assert any("fuelclient.engine.runs.runner" in line for line in watch.lines)
    assert "bash ./cmd" in watch.lines
    assert any("fuel2-task" in line for line in watch.lines)
    assert '"status": "ready"' in printed


def test_no_process_shows_a_password(watched: tuple[Executions, Watch, str]) -> None:
    """Neither in its words nor in its environment: not even the one for another system that we were given."""
    env, watch, _ = watched

    assert watch.leaks == set()
    assert env.backend.runs.logs(1, "quiet", "1").output == "token=\n"


def test_what_a_run_leaves_on_the_disk_has_no_password(watched: tuple[Executions, Watch, str]) -> None:
    """But for what a task has printed itself, which lies where only the owner can read it."""
    env, _, _ = watched
    left = [path for path in Path(f"{env.engine}.runs").rglob("*") if path.is_file()]
    found = {
        (path.parent.name, path.name, secret) for path in left for secret in leaks(path.read_text(encoding="utf-8"))
    }

    assert {"cmd", "out", "err", "rc", "file.0", "1.log"} <= {path.name for path in left}
    assert found == {("chatty", "out", PRINTED)}
    assert {stat.S_IMODE(path.stat().st_mode) for path in left} == {0o600}
    assert "retried/1: try 1 of 3 failed (exit code 4)" in env.log(1)


def test_engine_file_has_passwords_only_where_it_must(watched: tuple[Executions, Watch, str]) -> None:
    env, _, _ = watched
    with closing(Database(str(env.engine))) as database, database.read() as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found: dict[str, set[str]] = {}
        for table in tables:
            rows = connection.execute(f"SELECT * FROM {table}")  # noqa: S608 - the names come from the file
            names = [one[0] for one in rows.description]
            for row in rows:
                for name, value in zip(names, row, strict=True):
                    if leaks(str(value)):
                        found.setdefault(f"{table}.{name}", set()).update(leaks(str(value)))

    assert found == WHERE_STORED
    for path in env.directory.glob("engine.db*"):
        if path.is_file():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
            assert OPERATORS.encode() not in path.read_bytes()


COMMANDS = [
    ("task", "show", 1, "-f", "json"),
    ("task", "list", "-f", "json"),
    ("task", "history", "show", 1, "-f", "json", "--why"),
    ("task", "history", "show", 1, "--show-parameters"),
    ("task", "watch", 1),
    ("task", "logs", 1, "quiet/1"),
    ("task", "logs", 1, "retried/2"),
    ("task", "logs", 1, "chatty/1"),
    ("graph", "execute", "--env", 1, "--dry-run"),
    ("graph", "execute", "--env", 1, "--dry-run", "--format", "json"),
    ("graph", "simulate", "--env", 1, "-f", "json"),
    ("graph", "preview", "--env", 1, "-f", "json"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(map(str, words)))
def test_no_command_prints_a_password(watched: tuple[Executions, Watch, str], words: tuple[object, ...]) -> None:
    env, _, _ = watched
    done = CommandLine(env.engine)(*words)

    assert done.code in (0, 8), done
    assert done.out or done.err
    assert leaks(done.out + done.err) == []


def test_the_command_that_executed_printed_no_password(watched: tuple[Executions, Watch, str]) -> None:
    """It is told what went wrong, and a mask stands where the task printed its key."""
    _, _, printed = watched

    assert leaks(printed) == []
    assert "told ***" in printed


def test_a_noop_run_shows_no_password(watched: tuple[Executions, Watch, str]) -> None:
    env, _, _ = watched
    done = CommandLine(env.engine)(
        "graph", "execute", "--env", 1, "--node", 1, 2, "--noop", "--wait", "--format", "json"
    )
    shown = CommandLine(env.engine)("task", "history", "show", done.json["id"], "--include-summary", "-f", "json")

    assert done.code == 0, done
    assert "***" in shown.out
    assert leaks(done.out + done.err + shown.out + shown.err) == []


def test_an_error_shows_no_password(tmp_path: Path) -> None:
    """A parameter that makes no sense is told without its value where that is a password."""
    env = executions(tmp_path, 1)
    env.backend.facts.put(1, DeploymentFacts({"db": {"password": OF_ALL}}))
    secret = {"yaql_exp": "$.db.password"}
    env.graph(
        shell("wrong", parameters={"cmd": "true", "timeout": secret}),
        shell("worse", {"yaql_exp": "int($.db.password)"}),
    )
    for names in (("wrong",), ("worse",)):
        done = CommandLine(env.engine)("--debug", "graph", "execute", "--env", 1, "-T", *names)
        assert done.code == 7, done
        assert names[0] in done.err
        assert leaks(done.out + done.err) == []
    env.backend.close()


def test_the_history_of_a_task_hides_what_its_logs_hide(tmp_path: Path) -> None:
    """No fact and no parameter says that what the task prints is a password: only its name does."""
    env = executions(tmp_path, 1)
    lines = [f"db_password={IN_SCRIPT}", f"curl --token {STATED}", f"amqp://nova:{PRINTED}@10.0.0.1/"]
    printed = "; ".join(f"echo '{line}'; echo '{line}' >&2" for line in lines)
    env.graph(shell("told", parameters={"cmd": f"{printed}; exit 3", "retries": 0, "timeout": 60}))
    env.run()

    fuel2 = CommandLine(env.engine)
    logs = fuel2.ok("task", "logs", 1, "told/1").out
    history = fuel2.ok("task", "history", "show", 1, "--why", "--include-summary", "-f", "json")
    shown = fuel2.ok("task", "show", 1, "-f", "json").out
    assert leaks(logs + history.out + shown + env.log(1)) == []
    for line in logs.splitlines()[:3]:
        assert line in history.json[0]["summary"]["out"]
        assert line in history.json[0]["message"]
    env.backend.close()


def test_the_logs_of_a_task_hide_what_its_parameters_state(tmp_path: Path) -> None:
    """What the run remembers of the task is masked, so its graph has to say what is secret."""
    env = executions(tmp_path, 1)
    env.graph(shell("told", parameters={"cmd": f"echo {STATED}", "db_password": STATED, "timeout": 60}))
    env.run()

    assert CommandLine(env.engine).ok("task", "logs", 1, "told/1").out == "***\n"
    env.backend.close()
