"""What a noop run tells, and that it changes nothing."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from executor_bench import Bench, job_of

from fuelclient.executors.job import Job, Outcome, Target
from fuelclient.executors.noop import Content, difference


def told(bench: Bench, job: Job) -> Outcome:
    return bench.run(replace(job, noop=True))


def state(root: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"") for path in root.rglob("*")
    }


def test_an_upload_is_a_diff(bench: Bench) -> None:
    path = bench.root / "motd"
    path.write_text("one\ntwo\n")
    before = state(bench.root)
    outcome = told(bench, job_of("upload_file", path=str(path), data="one\nthree\n"))
    assert outcome.status == "skipped"
    assert outcome.message == f"would change: {path}"
    assert outcome.summary["diff"][str(path)].endswith("@@ -1,2 +1,2 @@\n one\n-two\n+three\n")
    assert state(bench.root) == before


def test_a_new_file_is_all_plus(bench: Bench) -> None:
    outcome = told(bench, job_of("upload_file", path=f"{bench.root}/new", data="a\n"))
    assert outcome.summary["diff"][f"{bench.root}/new"] == f"--- /dev/null\n+++ {bench.root}/new\n@@ -0,0 +1 @@\n+a\n"


def test_what_is_the_same_is_no_change(bench: Bench) -> None:
    (bench.root / "same").write_text("x")
    outcome = told(bench, job_of("copy_files", files=[{"src": f"{bench.root}/same", "dst": f"{bench.root}/same"}]))
    assert outcome.message == "would change nothing"


def test_passwords_are_not_in_a_diff(bench: Bench) -> None:
    path = bench.root / "astute.yaml"
    path.write_text("user: nova\nadmin_password: before1\n")
    job = job_of("upload_file", path=str(path), data="user: glance\nadmin_password: after22\nother: k3y-known\n")
    outcome = told(bench, replace(job, secrets=frozenset({"k3y-known"})))
    shown = str(outcome)
    assert "glance" in shown
    for secret in ("before1", "after22", "k3y-known"):
        assert secret not in shown
    outcome = told(bench, job_of("upload_file", path=str(path), data="user: nova\nadmin_password: after22\n"))
    assert "differ only in secrets" in outcome.summary["diff"][str(path)]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (Content(b"\xff\xfe"), Content(b"\xff"), "binary: 2 bytes become 1"),
        (Content(b"a\0b"), Content(b"c"), "binary"),
        (Content(readable=False), Content(b"c"), "what is there now cannot be read"),
        (Content(b""), Content(there=False), "its source cannot be read"),
        (Content(there=False), Content(b""), "an empty file"),
    ],
)
def test_what_is_no_text(before: Content, after: Content, said: str) -> None:
    assert said in difference("/x", before, after)


def test_scripts_are_parsed_and_not_run(bench: Bench) -> None:
    cmd = f"touch {bench.root}/ran; echo password=hidden"
    for kind in ("shell", "master_shell"):
        outcome = told(bench, job_of(kind, cmd=cmd, cwd="/"))
        assert outcome.status == "ready"
        assert f"touch {bench.root}/ran" in outcome.summary["script"]
        assert "hidden" not in outcome.summary["script"]
    outcome = told(bench, job_of("shell", cmd="if true; then"))
    assert outcome.status == "error"
    assert "syntax error" in outcome.message
    assert not list(bench.root.iterdir())


def test_rsync_tells_what_it_would_do(bench: Bench) -> None:
    if not shutil.which("rsync"):
        pytest.skip("rsync is not installed")
    (bench.root / "a").mkdir()
    (bench.root / "a" / "file").write_text("x")
    before = state(bench.root)
    outcome = told(bench, job_of("sync", src=f"{bench.root}/a/", dst=f"{bench.root}/b"))
    assert outcome.status == "skipped"
    assert "file" in outcome.summary["changes"]
    assert state(bench.root) == before


def test_puppet_noop(bench: Bench) -> None:
    manifest, path = bench.root / "site.pp", bench.root / "made"
    manifest.write_text(f"file {{ '{path}': content => 'x' }}\n")
    outcome = told(bench, job_of("puppet", puppet_manifest=str(manifest)))
    if not shutil.which("puppet"):
        assert outcome.status == "skipped"
        assert "puppet is not installed" in outcome.message
        return
    assert outcome.status == "ready", outcome
    assert str(path) in outcome.summary["report"]
    assert not path.exists()
    outcome = told(bench, job_of("puppet", puppet_manifest=f"{bench.root}/gone.pp"))
    assert outcome.status == "error"
    assert "gone.pp" in outcome.message


@pytest.mark.parametrize("type", ["stage", "skipped", "noop"])
def test_the_rest_is_left_out(bench: Bench, type: str) -> None:
    assert told(bench, job_of(type)).status == "skipped"


def test_a_restart_is_left_out(bench: Bench) -> None:
    bench.commands = {"reboot": "false", "erase_node": "false"}
    for kind in ("reboot", "erase_node"):
        assert told(bench, job_of(kind)).status == "skipped"


def test_a_pipe_is_not_waited_for(bench: Bench) -> None:
    pipe = bench.root / "pipe"
    os.mkfifo(pipe)
    outcome = told(bench, job_of("upload_file", path=str(pipe), data="x"))
    assert "cannot be read" in outcome.summary["diff"][str(pipe)]
    outcome = told(bench, replace(job_of("upload_files", nodes=[{"uid": "2", "files": [{"dst": "/x", "data": ""}]}]),
                                  peers={"2": Target()}))  # fmt: skip
    assert outcome.summary["diff"]["2:/x"] == "an empty file\n"


TOUCHING = ("subprocess.Popen", "os.posix_spawn", "os.fork", "socket.connect", "socket.getaddrinfo")
TASKS: Mapping[str, Mapping[str, Any]] = {
    "shell": {"cmd": "true"},
    "master_shell": {"cmd": "true"},
    "puppet": {"puppet_manifest": "/a.pp"},
    "upload_file": {"path": "/a/b", "data": "a"},
    "upload_files": {"nodes": [{"uid": "1", "files": [{"dst": "/a/b", "data": "a"}]}]},
    "copy_files": {"files": [{"src": "/etc/hostname", "dst": "/a/b"}]},
    "sync": {"src": "/etc/", "dst": "/a/b"},
    "reboot": {},
    "erase_node": {},
}
_watching: list[list[str]] = []


def _note(event: str, _arguments: Any) -> None:
    if event in TOUCHING:
        for seen in _watching:
            seen.append(event)


sys.addaudithook(_note)  # which cannot be removed


@contextmanager
def touched() -> Iterator[list[str]]:
    """Every process that is started and every connection that is tried meanwhile."""
    seen: list[str] = []
    _watching.append(seen)
    try:
        yield seen
    finally:
        _watching.remove(seen)


@pytest.mark.parametrize("type", TASKS)
@pytest.mark.parametrize("target", [Target("noop"), Target("noop", "127.0.0.1"), Target("noop", "127.0.0.1", "a")])
def test_the_kind_that_runs_nothing_touches_no_machine(tmp_path: Path, type: str, target: Target) -> None:
    """Neither in a run nor in a noop run, which looks at the machines of all other kinds."""
    bench = Bench(tmp_path, {"erase_node": "true", "reboot": "true"})
    job = replace(job_of(type, **TASKS[type]), target=target, peers={"1": target, "master": target})
    with touched() as seen:
        found = {bench.run(replace(job, noop=noop)).status for noop in (False, True)}
    assert found == {"ready" if type in ("shell", "master_shell", "puppet") else "skipped"}
    assert seen == []


@pytest.mark.parametrize("noop", [False, True])
def test_a_task_of_another_node_leaves_it_alone(bench: Bench, noop: bool) -> None:
    path = bench.root / "made"
    files = [{"uid": uid, "files": [{"dst": str(path / uid), "data": "a"}]} for uid in ("1", "2")]
    peers = {"1": Target(), "2": Target("noop", "127.0.0.1")}
    outcome = bench.run(replace(job_of("upload_files", nodes=files), peers=peers, noop=noop))
    assert [*path.iterdir()] == [path / "1"] if not noop else not path.exists()
    assert outcome.status == ("skipped" if noop else "ready")
    if noop:
        assert outcome.summary["diff"][f"2:{path}/2"] == "its executor runs nothing"
