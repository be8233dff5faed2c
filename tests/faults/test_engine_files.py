"""The engine file as a whole: checked, copied while it is written, put back, exported, upgraded with a copy."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from command_line import CommandLine, tiny_engine
from executions import Executions, shell
from processes import start

from fuelclient.files.limits import MAX_BYTES, MAX_DEPTH, Limits
from fuelclient.store.database import Database
from fuelclient.store.health import _DOCUMENTS
from fuelclient.store.migrations import LATEST

OLD = sorted((Path(__file__).parents[1] / "data/engines").glob("schema-*.sql"), key=lambda path: int(path.stem[7:]))
"""What earlier versions wrote: a release, an environment with a graph and two nodes, from schema 4 on also a run."""


PLAIN = {
    "releases": "name version operating_system state description", "clusters": "name status net_segment_type",
    "nodes": "name status ip mac executor error_type", "runners": "boot_id start_time heartbeat",
    "plugins": "name version title package_version directory origin", "deployment_graphs": "name",
    "release_deployment_graphs": "type", "plugin_deployment_graphs": "type", "cluster_deployment_graphs": "type",
    "deployment_graph_tasks": "task_name source_file",
    "transactions": "uuid name graph_type status message time_start time_end stop digest",
    "history": "task node type status reason message time_start time_end",
    "events": "time kind node status reason message", "cluster_facts": "uid", "fact_parts": "digest",
    "transaction_facts": "uid", "sequences": "name", "vips": "name ip_addr network namespace", "node_parts": "part",
    "leftovers": "due",
}  # fmt: skip
"""The columns with text that is no document, by table."""

OTHER_FILE = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("CREATE TABLE other (text)")
connection.executemany("INSERT INTO other VALUES (?)", [("x" * 500,)] * 200)
connection.commit()
os._exit(0)
"""
"""Makes a file of another program, and leaves its log beside it."""


def old_engine(dump: Path, path: Path) -> CommandLine:
    """Return an engine file as an earlier version left it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(dump.read_text(encoding="utf-8"))
    return CommandLine(path)


def content(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [*connection.iterdump()]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("dump", OLD, ids=lambda path: path.stem)
def test_files_of_earlier_schemas_are_upgraded_and_copied(dump: Path, tmp_path: Path) -> None:
    fuel2 = old_engine(dump, tmp_path / "engine.db")
    before, schema = content(fuel2.engine), int(dump.stem.rpartition("-")[2])

    fuel2.ok("env", "update", 1, "--name", "renamed")

    assert [row["name"] for row in fuel2.ok("release", "list", "-f", "json").json] == ["Old"]
    assert [row["name"] for row in fuel2.ok("node", "list", "-f", "json").json] == ["node-1", "node-2"]
    graph = fuel2.ok(
        "graph", "download", "--env", 1, "--all", "--type", "default", "--file", "-", "--format", "json"
    ).json
    assert [(task["id"], task.get("requires")) for task in graph] == [("said", ["other"]), ("other", None)]
    assert graph[0]["parameters"] == {"cmd": "echo here # é", "timeout": 60}
    assert [row["status"] for row in fuel2.ok("task", "list", "-f", "json").json] == ["ready"] * (2 * (schema >= 4))
    assert fuel2.ok("engine", "check", "-f", "json").code == 0
    copy = Path(f"{fuel2.engine}.schema-{schema}")
    assert (content(copy), mode(copy)) == (before, 0o600)


def test_every_schema_ever_written_has_a_fixture() -> None:
    assert [path.stem for path in OLD] == [f"schema-{number}" for number in range(2, LATEST)]


@pytest.mark.slow
def test_backup_during_writes_is_whole_and_restorable(env: Executions) -> None:
    env.run()
    fuel2, copy = CommandLine(env.engine), env.directory / "copy.db"
    writer = start(
        "import sys\n"
        "from fuelclient.store.inventory import releases\n"
        "from fuelclient.store.database import Database\n"
        "from fuelclient.model.release import Release\n"
        "database = Database(sys.argv[1])\n"
        "print(1, flush=True)\n"
        "for number in range(10**6):\n"
        "    with database.write() as connection:\n"
        "        releases.insert(connection, Release(0, 'a', str(number)))\n"
        "        releases.insert(connection, Release(0, 'b', str(number)))\n",
        env.engine,
    )
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline()
        for _ in range(5):
            fuel2.ok("engine", "backup", copy, "--force")
            names = [row["name"] for row in CommandLine(copy).ok("release", "list", "-f", "json").json]
            assert names.count("a") == names.count("b")
            assert CommandLine(copy).ok("engine", "check").code == 0
    finally:
        writer.kill()
        writer.communicate()
    assert mode(copy) == 0o600
    assert fuel2("engine", "backup", copy).code == 6

    before = content(copy)
    fuel2.ok("release", "list")
    fuel2.ok("env", "delete", 1, "--force")
    done = fuel2.ok("engine", "restore", copy, "--force")

    assert content(env.engine) == before
    kept = Path(done.out.split()[-1])
    assert mode(kept) == 0o600
    assert CommandLine(kept).ok("env", "list", "-f", "json").json == []
    assert [path.name for path in env.directory.glob("*.restoring*")] == []


def test_restore_is_refused_during_a_run_or_from_a_damaged_copy(env: Executions) -> None:
    fuel2, copy = CommandLine(env.engine), env.directory / "copy.db"
    fuel2.ok("engine", "backup", copy)
    env.graph(shell("slow", env.held("began")))
    run_id = env.begin().id
    env.until(run_id, lambda _: env.noted())
    try:
        assert fuel2("engine", "restore", copy).code == 6
        assert str(env.backend.runs.get(run_id).status) == "running"
    finally:
        env.let_go()
        env.ended(run_id)
    env.backend.close()
    with closing(sqlite3.connect(env.engine)) as other:
        other.execute("SELECT count(*) FROM nodes").fetchone()
        refused = fuel2("engine", "restore", copy)
    assert (refused.code, "has" in refused.err) == (6, True)

    with copy.open("r+b") as damaged:
        damaged.seek(4096)
        damaged.write(b"\xff" * 4096 * 4)
    before = content(env.engine)
    refused = fuel2("engine", "restore", copy, "--force")
    assert (refused.code, "damaged" in refused.err) == (3, True)
    assert content(env.engine) == before


def test_a_damaged_engine_file_is_moved_aside_by_a_restore(env: Executions) -> None:
    fuel2, copy = CommandLine(env.engine), env.directory / "copy.db"
    fuel2.ok("engine", "backup", copy)
    env.backend.close()
    with env.engine.open("r+b") as damaged:
        damaged.seek(100)
        damaged.write(b"\xff" * 4096 * 4)
    assert fuel2("engine", "check").code == 7

    fuel2.ok("engine", "restore", copy)

    assert content(env.engine) == content(copy)
    assert (env.directory / "engine.db.before-restore").exists()


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_an_export_makes_the_same_file_again(tmp_path: Path, form: str) -> None:
    fuel2, path = old_engine(OLD[-1], tmp_path / "engine.db"), tmp_path / f"export.{form}"
    fuel2.ok("env", "update", 1, "--name", "renamed")
    fuel2.ok("engine", "export", "--file", path)
    assert mode(path) == 0o600

    copy = CommandLine(tmp_path / "copy.db")
    copy.ok("engine", "import", path)

    assert content(copy.engine) == content(fuel2.engine)
    assert copy("engine", "import", path).code == 6


@pytest.mark.slow
@pytest.mark.parametrize("name", ["export.json", "export.yaml"])
def test_an_export_may_be_larger_and_deeper_than_a_document(tmp_path: Path, name: str) -> None:
    nested: object = 1
    for _ in range(MAX_DEPTH):
        nested = [nested]
    fuel2, path = old_engine(OLD[-1], tmp_path / "engine.db"), tmp_path / name
    fuel2.ok("env", "update", 1, "--name", "renamed")
    rows = [(str(number), json.dumps(nested) if number < 2 else "x" * MAX_BYTES) for number in range(3)]
    with closing(sqlite3.connect(fuel2.engine)) as connection, connection:
        connection.executemany("INSERT INTO fact_parts (digest, body) VALUES (?, ?)", rows)
    fuel2.ok("engine", "export", "--file", path)

    copy = CommandLine(tmp_path / "copy.db")
    copy.ok("engine", "import", path)

    assert content(copy.engine) == content(fuel2.engine)


@pytest.mark.parametrize(
    ("limits", "is_refused"),
    [(Limits(12_000), True), (Limits(25_000), True), (Limits(values=100), True), (Limits(values=100_000), False)],
    ids=["text", "bytes", "values", "none"],
)
def test_nothing_is_exported_that_could_not_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: Limits, is_refused: bool
) -> None:
    fuel2, path = tiny_engine(tmp_path), tmp_path / "export.json"
    with closing(sqlite3.connect(fuel2.engine)) as connection, connection:
        connection.execute("INSERT INTO fact_parts (digest, body) VALUES ('a', ?)", (json.dumps(["x"] * 3000),))
    # That which imports the other one comes first: it would import a changed limit, and keep it.
    for module in ("fuelclient.backends.engine_files", "fuelclient.files.limits"):
        monkeypatch.setattr(f"{module}.EXPORT", limits)

    done = fuel2("engine", "export", "--file", path)

    assert (done.code, path.exists()) == ((2, False) if is_refused else (0, True)), done
    assert ("engine backup" in done.err) is is_refused


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"}, {"schema": LATEST + 1}, {"schema": "1"}, {"tables": []}, {"tables": {"sqlite_master": []}},
        {"tables": {"nodes": {}}}, {"tables": {"nodes": [{"id": 1, "colour": "red"}]}},
        {"tables": {"nodes": [{"id": 1}]}},
        {"tables": {"sequences": [{"id": 1, "release_id": 7, "name": "a", "graph_types": []}]}},
        {"tables": {"nodes": [{"id": 2**70}]}},
    ],
)  # fmt: skip
def test_what_is_no_export_is_refused_and_leaves_nothing(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"format": "fuelclient-engine", "schema": LATEST, "tables": {}, **change}))
    refused = CommandLine(tmp_path / "new.db")("engine", "import", path)
    assert refused.code == 7, refused
    assert "cannot be imported" in refused.err
    assert [entry.name for entry in tmp_path.iterdir() if entry.name not in ("export.json",)] == []


def test_check_finds_unreadable_rows_and_compact_drops_orphans(env: Executions) -> None:
    env.run()
    fuel2, runs = CommandLine(env.engine), Path(f"{env.engine}.runs")
    (runs / "0-0" / "x").mkdir(parents=True)
    (runs / "999.log").touch()
    found = fuel2.ok("engine", "check", "-f", "json").json["checks"]
    assert sum(row["name"] == "files" for row in found) == 2
    kept = {path.name for path in runs.iterdir()} - {"0-0", "999.log"}

    with closing(sqlite3.connect(env.engine)) as connection, connection:
        rows = [(str(number), "x" * 4000) for number in range(200)]
        connection.executemany("INSERT INTO fact_parts (digest, body) VALUES (?, ?)", rows)
    with closing(sqlite3.connect(env.engine)) as connection, connection:
        connection.execute("DELETE FROM fact_parts WHERE length(body) = 4000")
    said = fuel2.ok("engine", "compact").out.split()
    assert int(said[-2]) < int(said[-4]) / 2
    assert {path.name for path in runs.iterdir()} == kept

    with closing(sqlite3.connect(env.engine)) as connection, connection:
        connection.execute("UPDATE nodes SET attributes = '{'")
    broken = fuel2("engine", "check", "-f", "json")
    assert (broken.code, [row["name"] for row in broken.json["checks"] if row["status"] == "error"]) == (
        7,
        ["documents"],
    )
    assert fuel2("--server", "http://127.0.0.1:9", "engine", "check").code == 2


def test_log_of_a_killed_process_does_not_overwrite_a_new_copy(env: Executions) -> None:
    fuel2, copy = CommandLine(env.engine), env.directory / "copy.db"
    start(OTHER_FILE, copy).communicate()
    assert Path(f"{copy}-wal").stat().st_size

    fuel2.ok("engine", "backup", copy, "--force")

    assert content(copy) == content(env.engine)


def test_log_of_a_deleted_file_does_not_overwrite_a_new_file(tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", CommandLine(tmp_path / "engine.db")
    start(OTHER_FILE, old).communicate()
    Path(f"{old}-wal").rename(f"{new.engine}-wal")

    new.ok("release", "import", "-", stdin="[{name: R, version: r-1, operating_system: U}]")

    assert [row["name"] for row in new.ok("release", "list", "-f", "json").json] == ["R"]
    assert not any("CREATE TABLE other" in line for line in content(new.engine))


def test_every_column_with_documents_is_checked(tmp_path: Path) -> None:
    """A new column of text is named in `store/health.py` if it holds documents, else here."""
    with closing(Database(str(tmp_path / "engine.db"))) as database, database.read() as connection:
        texts = {
            (table, column)
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for _, column, kind, *_ in connection.execute(f"PRAGMA table_info({table})").fetchall()
            if kind == "TEXT" and column not in PLAIN.get(table, "").split()
        }
    named = {(table, column.strip('"')) for table, columns in _DOCUMENTS.items() for column in columns}
    assert texts == named


def test_a_second_restore_keeps_what_the_first_one_kept(env: Executions) -> None:
    fuel2, copy = CommandLine(env.engine), env.directory / "copy.db"
    fuel2.ok("engine", "backup", copy)
    fuel2.ok("env", "update", 1, "--name", "first")

    kept = [Path(fuel2.ok("engine", "restore", copy, "--force").out.split()[-1]) for _ in range(2)]

    assert [CommandLine(path).ok("env", "list", "-f", "json").json[0]["name"] for path in kept] == ["first", "prod"]


def test_an_engine_file_is_no_backup_of_itself(env: Executions) -> None:
    link = env.directory / "link.db"
    link.symlink_to(env.engine)
    before = env.engine.stat().st_ino
    for target in (env.engine, link):
        assert CommandLine(env.engine)("engine", "backup", target, "--force").code == 2
    assert (env.engine.stat().st_ino, link.is_symlink()) == (before, True)


def test_a_backup_takes_the_place_of_regular_files_only(env: Executions) -> None:
    pipe, directory = env.directory / "pipe.db", env.directory / "directory.db"
    os.mkfifo(pipe)
    directory.mkdir()
    for target in (pipe, directory):
        refused = CommandLine(env.engine)("engine", "backup", target, "--force")
        assert (refused.code, str(target) in refused.err) == (3, True)
    assert (pipe.is_fifo(), directory.is_dir()) == (True, True)
    assert not list(env.directory.glob("*.db.plugins"))


def test_what_is_no_engine_file_is_not_copied(env: Executions) -> None:
    foreign, later, copy = (env.directory / f"{name}.db" for name in ("foreign", "later", "copy"))
    for path, statement in ((foreign, "CREATE TABLE other (text)"), (later, f"PRAGMA user_version = {LATEST + 1}")):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(statement)
        refused = CommandLine(path)("engine", "backup", copy)
        assert (refused.code, str(path) in refused.err, copy.exists()) == (3, True, False)


def test_a_backup_removes_no_file_of_a_similar_name(env: Executions) -> None:
    own = env.directory / "copy.db.new"
    own.write_text("mine", encoding="utf-8")
    CommandLine(env.engine).ok("engine", "backup", env.directory / "copy.db")
    assert own.read_text(encoding="utf-8") == "mine"


@pytest.mark.slow
def test_backups_to_the_same_file_at_once_are_each_whole(env: Executions) -> None:
    copy = env.directory / "copy.db"
    code = "import sys; from fuelclient.main import main; sys.exit(main(sys.argv[1:]))"
    words = ("--engine", env.engine, "engine", "backup", copy, "--force")
    done = [(one.communicate()[1], one.returncode) for one in [start(code, *words) for _ in range(6)]]
    assert done == [("", 0)] * 6
    assert CommandLine(copy).ok("engine", "check")
    assert not [name for name in os.listdir(env.directory) if name.startswith(".fuel-")]


def test_import_makes_directories_or_names_what_refuses(env: Executions) -> None:
    export = env.directory / "export.json"
    CommandLine(env.engine).ok("engine", "export", "--file", export)
    CommandLine(env.directory / "new" / "deep" / "engine.db").ok("engine", "import", export)
    (env.directory / "file").touch()
    refused = CommandLine(env.directory / "file" / "engine.db")("engine", "import", export)
    assert (refused.code, "file/engine.db" in refused.err) == (3, True)
