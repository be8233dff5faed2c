"""Jobs that really run on this machine."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from executor_bench import Bench, job_of, together
from processes import eventually, living

from fuelclient.executors.attempts import MAX_OUTPUT_CHARACTERS
from fuelclient.executors.job import Target
from fuelclient.executors.local import LocalTransport
from fuelclient.executors.spool import KEPT_BYTES, Spool
from fuelclient.executors.transport import Ssh

NAMES = ["", "ünï-cødé ✓", "with 'quotes' and $(touch x)"]


def test_a_command_that_fails_is_tried_again(bench: Bench) -> None:
    job = job_of("shell", cmd="echo x >> runs; echo bad >&2; exit 3", cwd=str(bench.root), retries=2, interval=0.2)
    began = time.monotonic()
    outcome = bench.run(job)
    assert (outcome.status, outcome.rc, outcome.summary["tries"]) == ("error", 3, 3)
    assert outcome.message.startswith("exit code 3 after 3 tries: bad")
    assert (bench.root / "runs").read_text() == "x\n" * 3
    assert time.monotonic() - began >= 0.4
    assert bench.lines[0] == "task/1: try 1 of 3 failed (exit code 3); next one in 0.2 s"


def test_a_directory_that_is_missing_fails_the_command(bench: Bench) -> None:
    outcome = bench.run(job_of("shell", cmd=f"touch {bench.root}/ran", cwd="/no/such", retries=0))
    assert outcome.status == "error"
    assert "/no/such" in outcome.message
    assert not (bench.root / "ran").exists()


def test_timeout_between_tries_has_the_last_exit_code(bench: Bench) -> None:
    outcome = bench.run(job_of("shell", cmd="echo bad >&2; exit 3", timeout=5, retries=5, interval=60))
    assert outcome.message == "timed out: not done within 5 s; exit code 3 after 1 try: bad"
    assert (outcome.rc, outcome.summary["tries"]) == (3, 1)


def test_a_message_is_that_of_the_last_try(bench: Bench) -> None:
    cmd = "echo x >> runs; echo out $(wc -l < runs); echo bad $(wc -l < runs) >&2; exit 3"
    job = job_of("shell", cmd=cmd, cwd=str(bench.root), retries=2, interval=0)
    outcome = bench.run(job)
    assert outcome.message == "exit code 3 after 3 tries: bad 3"
    assert outcome.summary == {"tries": 3, "out": "out 3", "err": "bad 3"}
    assert (bench.spool(job) / "err").read_text() == "bad 1\nbad 2\nbad 3\n", "the spool has all of them"
    spool = Spool(LocalTransport(), f"{bench.root}/spool", str(bench.spool(job)))
    seen = asyncio.run(spool.look())
    assert (seen.out, seen.err) == ("out 3\n", "bad 3\n"), "the scripts see what this machine's spool sees"


@pytest.mark.parametrize("name", NAMES)
def test_any_text_comes_through(bench: Bench, name: str) -> None:
    path = bench.root / "out"
    job = replace(
        job_of("shell", cmd=f"cat > {path} <<'EOF'\n{name}\nEOF\necho '{name.replace(chr(39), '')}'"), task=f"t {name}"
    )
    outcome = bench.run(job)
    assert outcome.status == "ready", outcome
    assert path.read_text() == f"{name}\n"


def test_names_cannot_leave_the_spool(bench: Bench) -> None:
    for task in ("../../x", "..", "a/b", "x" * 300, ".hidden"):
        assert bench.run(job_of("shell", task, cmd="true")).status == "ready"
    assert [path.name for path in (bench.root / "spool").iterdir()] == ["1"]
    assert len(list((bench.root / "spool" / "1" / "1").iterdir())) == 5


def test_huge_output_is_cut_in_messages_and_whole_in_the_spool(bench: Bench) -> None:
    job = job_of("shell", cmd="seq 1 500000; seq 1 500000 >&2; echo END >&2; exit 1", retries=0)
    outcome = bench.run(job)
    whole = "".join(f"{number}\n" for number in range(1, 500001))
    assert len(outcome.message) <= MAX_OUTPUT_CHARACTERS + 100
    assert outcome.message.endswith("500000\nEND")
    assert (bench.spool(job) / "out").read_text() == whole
    assert (bench.spool(job) / "err").read_text() == f"{whole}END\n"
    (part,) = together(bench.executor().read(job, "out", len(whole) - 7, 100))
    assert part == b"500000\n"
    assert len(whole) > KEPT_BYTES


def test_the_master_runs_in_the_name_of_a_node(bench: Bench) -> None:
    target = Target("ssh", "192.0.2.1", Ssh())
    job = replace(job_of("master_shell", cmd="echo $0"), target=target)
    assert bench.executor().check(job) == ""
    assert bench.run(replace(job, parameters={"cmd": "hostname"})).summary["out"] == os.uname().nodename


def test_a_password_of_ours_is_not_in_the_environment(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OS_PASSWORD", "hidden")
    monkeypatch.setenv("PLAIN_THING", "seen")
    outcome = bench.run(job_of("shell", cmd="echo [$OS_PASSWORD][$PLAIN_THING]"))
    assert outcome.summary["out"] == "[][seen]"


def test_an_upload(bench: Bench) -> None:
    path = bench.root / "new" / "deep" / "file"
    parameters: dict[str, Any] = {
        "path": str(path),
        "data": "grüße\n",
        "permissions": "0640",
        "dir_permissions": "0750",
    }
    outcome = bench.run(job_of("upload_file", **parameters))
    assert outcome.status == "ready", outcome
    assert path.read_text() == "grüße\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o750
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_an_upload_to_another_owner_keeps_the_bit_setuid(bench: Bench) -> None:
    path = bench.root / "file"
    outcome = bench.run(
        job_of("upload_file", path=str(path), data="x", permissions="4755", user_owner="nobody", group_owner="daemon")
    )
    assert outcome.status == "ready", outcome
    assert (stat.S_IMODE(path.stat().st_mode), path.owner(), path.group()) == (0o4755, "nobody", "daemon")


def test_an_upload_leaves_directories_of_others_alone(bench: Bench) -> None:
    (bench.root / "open").mkdir()
    (bench.root / "open").chmod(0o777)
    bench.run(job_of("upload_file", path=str(bench.root / "open" / "file"), data="x"))
    assert stat.S_IMODE((bench.root / "open").stat().st_mode) == 0o777


def test_an_upload_that_may_not(bench: Bench) -> None:
    path = bench.root / "file"
    path.write_text("old")
    assert bench.run(job_of("upload_file", "keep", path=str(path), data="new", overwrite=False)).status == "ready"
    assert path.read_text() == "old"
    gone = str(bench.root / "no" / "file")
    outcome = bench.run(job_of("upload_file", "parents", path=gone, data="x", parents=False, retries=0))
    assert outcome.status == "error"
    assert "parents is false" in outcome.message
    outcome = bench.run(job_of("upload_file", "directory", path=str(bench.root), data="x", retries=0))
    assert "is a directory" in outcome.message


def test_an_upload_follows_a_link(bench: Bench) -> None:
    (bench.root / "link").symlink_to("real")
    bench.run(job_of("upload_file", path=str(bench.root / "link"), data="x"))
    assert (bench.root / "link").is_symlink()
    assert (bench.root / "real").read_text() == "x"


def test_owners_where_we_may(bench: Bench) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give files away")
    path = bench.root / "file"
    job = job_of("upload_file", path=str(path), data="x", user_owner="nobody", group_owner="nogroup")
    assert bench.run(job).status == "ready"
    assert (path.owner(), path.group()) == ("nobody", "nogroup")
    outcome = bench.run(job_of("upload_file", "who", path=str(path), data="y", user_owner="nobody-here", retries=0))
    assert outcome.status == "error"
    assert path.read_text() == "x"


def tree(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): f"-> {os.readlink(path)}" if path.is_symlink() else path.read_text()
        for path in sorted(root.rglob("*"))
        if not path.is_dir() or path.is_symlink()
    }


@pytest.mark.parametrize("with_rsync", [True, False])
def test_a_sync_makes_a_directory_alike(bench: Bench, with_rsync: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if with_rsync and not shutil.which("rsync"):
        pytest.skip("rsync is not installed")
    if not with_rsync:
        tools = bench.root / "tools"
        tools.mkdir()
        for name in ("bash", "cat", "mkdir", "mktemp", "mv", "rm", "tar", "sleep", "tail"):
            (tools / name).symlink_to(str(shutil.which(name)))
        monkeypatch.setenv("PATH", str(tools))
        monkeypatch.setattr("fuelclient.executors.handlers.sync.PATH", "")
    source, target = bench.root / "source", bench.root / "target"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "file").write_text("x")
    (source / ".hidden").write_text("h")
    (source / "link").symlink_to("deep/file")
    (target / "deep").mkdir(parents=True)
    (target / "deep" / "stale").write_text("old")
    (target / "stale").write_text("old")
    assert bench.run(job_of("sync", "whole", src=str(source), dst=str(target), retries=0)).status == "ready"
    assert tree(target / "source") == tree(source)
    assert (target / "stale").exists()
    outcome = bench.run(job_of("sync", "inside", src=f"{source}/", dst=str(target), retries=0))
    assert outcome.status == "ready", outcome
    assert tree(target) == tree(source)
    outcome = bench.run(job_of("sync", "gone", src=f"{source}-gone", dst=str(target), retries=0))
    assert outcome.status == "error"


def test_a_configured_command_erases(bench: Bench) -> None:
    bench.commands = {"erase_node": f"echo {{node.uid}} {{node.name}} > {bench.root}/erased"}
    assert bench.run(job_of("erase_node")).status == "ready"
    assert (bench.root / "erased").read_text() == "1 node-1\n"


@pytest.mark.parametrize("noop", [False, True])
@pytest.mark.parametrize("src", ["rsync://m:/x/", "/x"])
def test_rsync_itself_copies_from_and_to_a_server(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, src: str, noop: bool
) -> None:
    program = bench.root / "bin" / "rsync"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >> {bench.root}/asked\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    dst = f"{bench.root}/made/" if src != "/x" else "rsync://m:/y/"
    outcome = bench.run(replace(job_of("sync", src=src, dst=dst), noop=noop))
    assert outcome.status == ("skipped" if noop else "ready"), outcome
    assert (bench.root / "asked").read_text() == f"-c -r --delete -l {'-n -i ' if noop else ''}-- {src} {dst}\n"
    assert (bench.root / "made").exists() is (not noop and src != "/x")


@pytest.mark.parametrize("type", ["stage", "skipped", "noop"])
def test_nothing_to_do(bench: Bench, type: str) -> None:
    outcome = bench.run(job_of(type))
    assert outcome.status == "skipped"
    assert not (bench.root / "spool").exists()


@pytest.mark.parametrize("type", ["reboot", "erase_node", "move_to_bootstrap", "dance"])
def test_refused_job_is_an_error_if_run(bench: Bench, type: str) -> None:
    outcome = bench.run(job_of(type))
    assert (outcome.status, outcome.message) == ("error", bench.executor().check(job_of(type)))


def test_a_daemon_outlives_its_task(bench: Bench) -> None:
    sleep = f"sleep 4712.{os.getpid()}"  # of this test alone: the machine may run it twice at once
    outcome = bench.run(job_of("shell", cmd=f"setsid {sleep} > /dev/null 2>&1 &"))
    try:
        assert outcome.status == "ready"
        assert eventually(lambda: living(sleep))
    finally:
        for number in living(sleep):
            os.kill(number, 9)


@pytest.mark.slow
def test_a_hundred_at_once(bench: Bench) -> None:
    executor = bench.executor()
    jobs = [job_of("shell", f"t{number}", cmd=f"exit {number % 3}", retries=0) for number in range(100)]
    outcomes = together(*(executor.run(job, bench.lines.append) for job in jobs))
    assert [outcome.rc for outcome in outcomes] == [number % 3 for number in range(100)]


def puppet_or_skip() -> None:
    if not shutil.which("puppet"):
        pytest.skip("puppet is not installed")


def test_puppet(bench: Bench) -> None:
    puppet_or_skip()
    (bench.root / "site.pp").write_text(f"file {{ '{bench.root}/made': content => 'by puppet' }}\n")
    job = job_of("puppet", puppet_manifest="site.pp", puppet_modules=str(bench.root), cwd=str(bench.root), retries=0)
    outcome = bench.run(job)
    assert (outcome.status, outcome.rc) == ("ready", 2), outcome
    assert (bench.root / "made").read_text() == "by puppet"
    assert bench.run(replace(job, attempt=2)).rc == 0


def test_puppet_that_fails(bench: Bench) -> None:
    puppet_or_skip()
    (bench.root / "site.pp").write_text("exec { 'no': command => '/bin/false' }\n")
    outcome = bench.run(job_of("puppet", puppet_manifest=str(bench.root / "site.pp"), retries=0))
    assert (outcome.status, outcome.rc) == ("error", 4)
    assert "/bin/false" in outcome.message


def test_the_example_of_a_shell_is_parsed_by_bash(bench: Bench) -> None:
    """What a handler writes is bash for sure: the scripts of all types pass its parser."""
    from fuelclient.executors import handlers
    from fuelclient.executors import spool as spool_scripts
    from fuelclient.executors.handlers import sync
    from fuelclient.executors.job import Recipe, Sync

    jobs = [
        job_of("upload_file", path="/x", data="y"),
        job_of("puppet", puppet_manifest="a b"),
        job_of("copy_files", files=[{"src": "/a b", "dst": "/c d"}]),
    ]
    texts = [step.script for job in jobs for step in handlers.steps_of(job, {}) if isinstance(step, Recipe)]
    texts += [recipe(Sync("/a b/", "/c 'd")).script for recipe in (sync.on_target, sync.as_archive)]
    for text in texts:
        assert subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False).stderr == ""
    for text in (
        spool_scripts.WRAPPER,
        spool_scripts.LAUNCH,
        spool_scripts.LOOK,
        spool_scripts.KILL,
        spool_scripts.READ,
    ):
        assert subprocess.run(["sh", "-n"], input=text, text=True, capture_output=True, check=False).stderr == ""
