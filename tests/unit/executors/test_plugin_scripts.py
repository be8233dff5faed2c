"""Plugin scripts are on a machine before the first task that needs them, and sent once."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from executor_bench import Bench, job_of, together

from fuelclient.executors.job import Target
from fuelclient.executors.machines import Connections, PluginScripts, digest_of


@pytest.fixture
def source(tmp_path: Path) -> Path:
    directory = tmp_path / "deployment_scripts"
    (directory / "puppet").mkdir(parents=True)
    (directory / "hello.sh").write_text("echo hello from the plugin\n")
    (directory / "hello.sh").chmod(0o755)
    (directory / "puppet" / "site.pp").write_text("notice('x')\n")
    return directory


def test_a_task_finds_its_scripts(bench: Bench, source: Path) -> None:
    place = bench.root / "etc" / "plugin"
    target = Target(scripts=((str(source), f"{place}/"),))
    executor = bench.executor()
    job = replace(job_of("shell", cmd="./hello.sh", cwd=str(place)), target=target)
    outcome = bench.run(job, executor)
    assert outcome.summary["out"] == "hello from the plugin"
    assert bench.lines == [f"task/1: plugin scripts sent to {place}/"]
    assert stat.S_IMODE((place / "hello.sh").stat().st_mode) == 0o755
    assert bench.run(replace(job, task="second"), executor).status == "ready"
    assert len(bench.lines) == 1
    assert not list((bench.root / "spool" / "scripts").iterdir())


def test_they_are_sent_again_only_when_they_changed(bench: Bench, source: Path) -> None:
    place = str(bench.root / "plugin")
    pairs = ((str(source), place),)
    assert together(PluginScripts(Connections(bench.options)).send(Target(), pairs)) == [[place]]
    (Path(place) / "made-by-a-task").write_text("x")
    assert together(PluginScripts(Connections(bench.options)).send(Target(), pairs)) == [[]]
    (source / "hello.sh").write_text("echo new\n")
    assert together(PluginScripts(Connections(bench.options)).send(Target(), pairs)) == [[place]]
    assert (Path(place) / "hello.sh").read_text() == "echo new\n"
    assert (Path(place) / "made-by-a-task").exists()
    assert (Path(place) / ".fuel2-scripts").exists()


def test_many_tasks_at_once_send_them_once(bench: Bench, source: Path) -> None:
    target = Target(scripts=((str(source), f"{bench.root}/plugin"),))
    executor = bench.executor()
    jobs = [
        replace(job_of("shell", f"t{number}", cmd="./hello.sh", cwd=f"{bench.root}/plugin"), target=target)
        for number in range(10)
    ]
    outcomes = together(*(executor.run(job, bench.lines.append) for job in jobs))
    assert {outcome.status.value for outcome in outcomes} == {"ready"}
    assert len(bench.lines) == 1


def test_what_cannot_be_prepared_fails_the_task(bench: Bench, source: Path) -> None:
    gone = Target(scripts=((f"{bench.root}/gone", f"{bench.root}/plugin"),))
    outcome = bench.run(replace(job_of("shell", cmd="true"), target=gone))
    assert outcome.status == "error"
    assert "are gone. Install the plugin again." in outcome.message
    for nowhere in ("/", "relative", "//"):
        outcome = bench.run(replace(job_of("shell", cmd="true"), target=Target(scripts=((str(source), nowhere),))))
        assert outcome.status == "error"
        assert "name a directory" in outcome.message
    (bench.root / "file").write_text("x")
    blocked = Target(scripts=((str(source), f"{bench.root}/file/plugin"),))
    outcome = bench.run(replace(job_of("shell", cmd="true"), target=blocked))
    assert "cannot be put into" in outcome.message


def test_content_is_names_permissions_and_bytes(source: Path) -> None:
    seen = {digest_of(str(source))}
    (source / "hello.sh").chmod(0o700)
    seen.add(digest_of(str(source)))
    (source / "hello.sh").rename(source / "hallo.sh")
    seen.add(digest_of(str(source)))
    (source / "link").symlink_to("hallo.sh")
    seen.add(digest_of(str(source)))
    (source / "empty").mkdir()
    seen.add(digest_of(str(source)))
    assert len(seen) == 5
    os.utime(source / "hallo.sh", (1, 1))
    assert digest_of(str(source)) in seen
