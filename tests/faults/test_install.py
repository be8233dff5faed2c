"""Installations that are killed at any moment, run at the same time, or meet changed files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from package_trees import definition, role, task, write_package
from refusals import refused

from fuelclient.engine import Engine
from fuelclient.engine.reading.unpacked_packages import Trees, digest, digest_in
from fuelclient.errors import Conflict, InvalidDocument
from fuelclient.model.graph import Level, OwnerRef

ROOT = Path(__file__).resolve().parents[2]

KILLED = """
    import os, signal, sys
    from fuelclient.engine import Engine
    from fuelclient.store import database
    path, package, last = sys.argv[1], sys.argv[2], int(sys.argv[3])
    seen = 0
    def step(*_):
        global seen
        seen += 1
        if seen == last:
            os.kill(os.getpid(), signal.SIGKILL)
    def on_disk(event, arguments):
        if event in FILES and any(path in str(one) for one in arguments):
            step()
    FILES = {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "shutil.rmtree"}
    connect = database._connect
    def watched(*arguments):
        connection = connect(*arguments)
        connection.set_trace_callback(step)
        return connection
    database._connect = watched
    sys.addaudithook(on_disk)
    Engine(path).plugins.install(package)
    print(seen)
"""


def run(path: Path, package: str, last: int) -> subprocess.CompletedProcess[str]:
    """An installation in a process of its own, which is killed at its step number `last`."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(path), package, str(last)],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def versions(tmp_path: Path) -> tuple[str, str]:
    """A plugin with a release, and another version of it in which everything is different."""
    packages = []
    for version, word in (("5.0.0", "old"), ("5.0.1", "new")):
        tasks = [task(f"{word}{number}", role=[word]) for number in range(20)]
        record = definition(roles={word: role()}, graphs=[{"type": "default", "tasks": [task(word, "stage"), *tasks]}])
        packages.append(write_package(tmp_path / version, "example", version, "5.0.0", releases=[record]))
    return packages[0], packages[1]


def state(path: Path) -> Any:
    """Return the content of the engine file, and check that the files it refers to are complete."""
    with closing(Engine(str(path))) as engine:
        found: list[Any] = []
        for plugin in engine.plugins.list():
            directory = Trees(str(path)).path(plugin.unpacked)
            assert digest(directory) == digest_in(plugin.unpacked)
            assert json.loads((directory / "metadata.yaml").read_text())["version"] == plugin.version
            found.append((plugin.id, plugin.version))
            assert plugin.releases == tuple(release.id for release in engine.releases.list())
        for release in engine.releases.list():
            graph = engine.graphs.get(OwnerRef(Level.RELEASE, release.id))
            found.append((release.id, list(release.metadata["roles_metadata"]), [one.id for one in graph.tasks]))
    return found


def is_swept(path: Path) -> bool:
    """Return whether the next installation leaves only the directories of registered plugins."""
    with closing(Engine(str(path))) as engine:
        engine.plugins.sync()
        kept = {plugin.unpacked for plugin in engine.plugins.list()}
    root = Path(f"{path}.plugins")
    return kept == ({one.name for one in root.iterdir()} if root.exists() else set())


@pytest.mark.slow
@pytest.mark.parametrize("fresh", [True, False])
def test_a_kill_at_any_moment_leaves_the_old_or_the_new_state(tmp_path: Path, fresh: bool) -> None:
    old, new = versions(tmp_path)
    template = tmp_path / "template"
    template.mkdir()
    with closing(Engine(str(template / "engine.db"))) as engine:
        engine.plugins.list()
        if not fresh:
            engine.plugins.install(old)
    before = state(template / "engine.db")

    def attempt(last: int) -> tuple[subprocess.CompletedProcess[str], Path]:
        directory = tmp_path / f"run-{last}"
        shutil.copytree(template, directory)
        return run(directory / "engine.db", new, last), directory / "engine.db"

    done, path = attempt(0)
    assert (done.returncode, done.stderr) == (0, "")
    after = state(path)
    assert after != before
    total = int(done.stdout)
    assert total > 60

    outcomes = []
    for last in sorted({*range(1, total, max(1, total // 16)), *range(total - 8, total + 1)}):
        done, path = attempt(last)
        assert (done.returncode, done.stderr) == (-9, ""), last
        found = state(path)
        assert found in (before, after), last
        outcomes.append(found == after)
        assert is_swept(path)
        with closing(Engine(str(path))) as engine:
            if found == before:
                engine.plugins.install(new)
            else:
                with pytest.raises(Conflict, match="Nothing to do"):
                    engine.plugins.install(new)
        assert state(path) == after
    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {True, False}


@pytest.mark.slow
def test_installations_at_once_wait_for_one_another(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    packages = [write_package(tmp_path / f"p{number}", f"p{number}", "1.0.0") for number in range(4)]
    code = textwrap.dedent(KILLED)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path), package, "0"], cwd=ROOT, stderr=subprocess.PIPE, text=True
        )
        for package in packages
    ]
    assert [(process.communicate(timeout=120)[1], process.returncode) for process in processes] == [("", 0)] * 4
    with closing(Engine(str(path))) as engine:
        assert [plugin.name for plugin in engine.plugins.list()] == ["p0", "p1", "p2", "p3"]
    assert is_swept(path)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where an engine file with one plugin is."""
    path = tmp_path / "engine" / "engine.db"
    with closing(Engine(str(path))) as engine:
        engine.plugins.install(write_package(tmp_path / "monitor", files={"deployment_tasks.yaml": [task("watch")]}))
    return path


def everything(directory: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in directory.rglob("*")}


@pytest.mark.parametrize(
    ("name", "content"),
    [("metadata.yaml", "[1]"), ("metadata.yaml", "{"), ("node_roles.yaml", "- x"), ("deployment_tasks.yaml", "x: 1")],
)
def test_a_package_that_is_refused_leaves_no_file(place: Path, tmp_path: Path, name: str, content: str) -> None:
    bad = write_package(tmp_path / "bad", "bad", files={name: content})
    known = everything(place.parent).keys()
    with closing(Engine(str(place))) as engine:
        before = engine.plugins.list()
        with pytest.raises(InvalidDocument):
            engine.plugins.install(bad)
        assert engine.plugins.list() == before
    assert everything(place.parent).keys() - {f"{place}-wal", f"{place}-shm"} == known


def test_links_that_leave_the_package_are_refused(place: Path, tmp_path: Path) -> None:
    path = write_package(tmp_path / "bad", "bad")
    (tmp_path / "bad" / "escape").symlink_to("../../../etc/passwd")
    with closing(Engine(str(place))) as engine, refused(InvalidDocument, "escape", codes=["P001"]):
        engine.plugins.install(path)
    assert is_swept(place)


def test_devices_are_refused_and_hidden_files_stay_out(place: Path, tmp_path: Path) -> None:
    path = write_package(tmp_path / "other", "other", files={".git/huge": "x", "deployment_scripts/.keep": ""})
    (tmp_path / "other" / "deployment_scripts" / "run.sh").chmod(0o700)
    with closing(Engine(str(place))) as engine:
        plugin = engine.plugins.install(path).plugin
        directory = Trees(str(place)).path(plugin.unpacked)
        assert not (directory / ".git").exists()
        assert (directory / "deployment_scripts" / ".keep").exists()
        assert os.access(directory / "deployment_scripts" / "run.sh", os.X_OK)
        os.mkfifo(tmp_path / "other" / "pipe")
        with refused(InvalidDocument, "pipe", codes=["P001"]):
            engine.plugins.install(path, force=True)


# Synchronising with what people do to the files


def unpacked(engine: Engine, place: Path) -> Path:
    (plugin,) = engine.plugins.list()
    return Trees(str(place)).path(plugin.unpacked)


def test_changed_files_are_read_again(place: Path) -> None:
    with closing(Engine(str(place))) as engine:
        (plugin,) = engine.plugins.list()
        directory = unpacked(engine, place)
        (directory / "deployment_tasks.yaml").write_text(json.dumps([task("changed")]))
        done = engine.plugins.sync()
        assert [one.id for one in done.updated] == [plugin.id]
        assert [one.id for one in engine.graphs.get(OwnerRef(Level.PLUGIN, plugin.id)).tasks] == ["changed"]
        assert not directory.exists()
        assert digest_in(engine.plugins.get(plugin.id).unpacked) == digest(unpacked(engine, place))
        assert engine.plugins.sync().updated == ()


def test_a_file_that_is_taken_away_takes_its_content_along(place: Path, tmp_path: Path) -> None:
    path = write_package(tmp_path / "more", version="1.2.4", files={"node_roles.yaml": {"watcher": role()}})
    with closing(Engine(str(place))) as engine:
        (plugin,) = (engine.plugins.install(path).plugin,)
        assert "watcher" in plugin.metadata["roles_metadata"]
        (unpacked(engine, place) / "node_roles.yaml").unlink()
        engine.plugins.sync()
        assert engine.plugins.get(plugin.id).metadata["roles_metadata"] == {}


def test_what_cannot_be_synchronised_is_told_and_stays(place: Path) -> None:
    with closing(Engine(str(place))) as engine:
        (plugin,) = engine.plugins.list()
        manifest = unpacked(engine, place) / "metadata.yaml"
        good = manifest.read_text()
        renamed = good.replace('"monitor"', '"other"')
        for text, code, told in (("[1]", "P001", "not a mapping"), (renamed, "P082", "can't be renamed")):
            manifest.write_text(text)
            done = engine.plugins.sync()
            assert (done.created, done.updated, done.removed) == ((), (), ())
            (finding,) = done.findings
            assert (finding.is_error, finding.code, told in finding.message) == (True, code, True)
            assert plugin.unpacked in str(finding) or plugin.label in str(finding)
            assert engine.plugins.get(plugin.id) == plugin
        manifest.write_text(good)
        assert engine.plugins.sync().findings == ()


def test_a_plugin_whose_files_are_gone_goes_unless_it_is_used(place: Path, tmp_path: Path) -> None:
    path = write_package(tmp_path / "r", "example", "1.0.0", "5.0.0", releases=[definition()])
    with closing(Engine(str(place))) as engine:
        release = engine.plugins.install(path).releases[0]
        engine.clusters.create("prod", release.id)
        shutil.rmtree(f"{place}.plugins")
        done = engine.plugins.sync()
        assert [one.name for one in done.removed] == ["monitor"]
        (finding,) = done.findings
        assert "is used by environment 1 (prod)" in finding.message
        assert [one.name for one in engine.plugins.list()] == ["example"]
        assert engine.plugins.install(path, force=True).releases[0].id == release.id
        assert engine.plugins.sync().findings == ()


def test_a_package_that_somebody_puts_there_is_registered(place: Path) -> None:
    directory = Path(f"{place}.plugins")
    write_package(directory / "mine", "mine", "0.1.0")
    write_package(directory / "broken", "broken", files={"metadata.yaml": "[1]"})
    with closing(Engine(str(place))) as engine:
        done = engine.plugins.sync()
        assert [one.name for one in done.created] == ["mine"]
        (error,) = (one for one in done.findings if one.is_error)
        assert error.place.file == str(directory / "broken" / "metadata.yaml")
        shutil.rmtree(directory / "broken")
        assert engine.plugins.sync().created == ()
        write_package(directory / "mine", "mine", "0.1.1")
        done = engine.plugins.sync()
        assert [(one.name, one.version) for one in done.updated] == [("mine", "0.1.1")]
        assert (directory / "mine").is_dir()
