"""What every kind of executor does with jobs that come to their end."""

from __future__ import annotations

import os
import stat
from dataclasses import replace

from contract.executors.conftest import Place
from processes import living

from fuelclient.executors import registry


def test_command_runs_in_its_directory_and_fills_its_spool(place: Place) -> None:
    job = place.job("shell", cmd="pwd; umask; echo ünï", cwd="/usr")
    (outcome,) = place.run(job)
    assert (outcome.status, outcome.rc, outcome.message) == ("ready", 0, ""), outcome
    assert outcome.summary == {"tries": 1, "out": "/usr\n0022\nünï"}
    assert (place.spool(job) / "rc").read_text() == "1.1 0 exit\n"


def test_only_the_owner_can_read_a_spool(place: Place) -> None:
    job = place.job("shell", cmd="echo x; echo y >&2")
    place.run(job)
    spool = place.spool(job)
    assert {"cmd", "out", "err", "rc", "pid", "claim.1.1"} <= {path.name for path in spool.iterdir()}
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in spool.iterdir())
    assert not any(path.stat().st_mode & 0o077 for path in (spool, spool.parent, place.spools))


def test_only_spools_of_this_machine_are_here(place: Place) -> None:
    place.run(place.job("shell", "on-node", cmd="true"), place.job("master_shell", "on-master", cmd="true"))
    here = {path.name for path in place.root.glob("spool/1/1/*")}
    there = {path.name for path in place.spools.glob("1/1/*")}
    assert "on-master" in here
    assert "on-node" in there
    assert here.isdisjoint(there) or place.target.kind == "local"


def test_failure_is_retried_and_told_by_the_last_try(place: Place) -> None:
    cmd = f"echo x >> {place.root}/log; echo bad $(wc -l < {place.root}/log) >&2; exit 7"
    (outcome,) = place.run(place.job("shell", cmd=cmd, retries=2, interval=0.1))
    assert (outcome.status, outcome.rc, outcome.summary["tries"]) == ("error", 7, 3)
    assert outcome.message.endswith("bad 3")
    assert (place.root / "log").read_text() == "x\n" * 3
    assert len(place.lines) == 2


def test_a_retry_may_succeed(place: Place) -> None:
    cmd = f"echo x >> {place.root}/log; [ $(wc -l < {place.root}/log) = 2 ]"
    (outcome,) = place.run(place.job("shell", cmd=cmd, interval=0.1))
    assert (outcome.status, outcome.summary["tries"]) == ("ready", 2)


def test_a_timeout_ends_every_process_of_the_command(place: Place) -> None:
    """Also those that ignore the polite signal, and those in process groups of their own."""
    stubborn = place.root / "stubborn"
    stubborn.write_text("trap '' TERM\nwhile :; do sleep 0.1; done\n")
    cmd = f"bash {stubborn} one & timeout 500 bash {stubborn} two & bash {stubborn} three"
    (outcome,) = place.run(place.job("shell", cmd=cmd, timeout=2, retries=5))
    assert outcome.status == "error"
    assert outcome.message.startswith("timed out: not done within 2 s")
    assert outcome.summary["tries"] == 1
    assert not living(f"bash {stubborn}")


def test_no_time_at_all_starts_nothing(place: Place) -> None:
    (outcome,) = place.run(place.job("shell", cmd=f"touch {place.root}/ran", timeout=0))
    assert (outcome.status, outcome.summary) == ("error", {"tries": 0})
    assert not (place.root / "ran").exists()


def test_many_commands_run_at_once(place: Place) -> None:
    """Each waits for all others to have begun, so that none ends if one has to wait for another."""
    count = 6
    (place.root / "begun").mkdir()
    wait = f"until [ $(ls {place.root}/begun | wc -l) = {count} ]; do sleep 0.05; done"
    jobs = [
        replace(place.job("shell", cmd=f"touch {place.root}/begun/{number}; {wait}", timeout=60), node=str(number))
        for number in range(count)
    ]
    assert [outcome.status for outcome in place.run(*jobs)] == ["ready"] * count


def test_output_is_read_in_parts(place: Place) -> None:
    job = place.job("shell", cmd="echo one; echo two >&2")
    place.run(job)
    parts = [
        place.with_executor(lambda executor, wanted=wanted: executor.read(job, *wanted))  # type: ignore[misc]
        for wanted in (("out",), ("out", 1, 2), ("err",))
    ]
    assert parts == [b"one\n", b"ne", b"two\n"]


def test_an_upload(place: Place) -> None:
    data, path = "grüße\n" * 100_000, place.root / "new" / "file"
    (outcome,) = place.run(place.job("upload_file", path=str(path), data=data, permissions="0640"))
    assert outcome.status == "ready", outcome
    assert path.read_text() == data
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_copies_come_from_this_machine(place: Place) -> None:
    (place.root / "source").write_bytes(os.urandom(3_000_000))
    files = [{"src": f"{place.root}/source", "dst": f"{place.root}/deep/copy"}]
    gone = [{"src": f"{place.root}/gone", "dst": f"{place.root}/other"}]
    copied, missing = place.run(
        place.job("copy_files", files=files), place.job("copy_files", "gone", files=gone)
    )  # fmt: skip
    assert copied.status == "ready", copied
    assert (place.root / "deep" / "copy").read_bytes() == (place.root / "source").read_bytes()
    assert missing.message == f"{place.root}/gone does not exist on this machine."


def test_files_for_several_nodes_reach_each_of_them(place: Place) -> None:
    nodes = [{"uid": uid, "files": [{"dst": f"{place.root}/to{uid}", "data": uid}]} for uid in ("1", "2")]
    job = replace(place.job("upload_files", nodes=nodes), peers={"2": place.target})
    (outcome,) = place.run(job)
    assert outcome.status == "ready", outcome
    assert [(place.root / f"to{uid}").read_text() for uid in "12"] == ["1", "2"]
    assert {path.name for path in place.spool(job).parent.iterdir()} == {"task", "task@2"}


def test_a_sync_makes_a_directory_alike(place: Place) -> None:
    source, target = place.root / "source", place.root / "target"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "file").write_bytes(b"x" * 3_000_000)
    target.mkdir()
    (target / "stale").write_text("old")
    (outcome,) = place.run(place.job("sync", src=f"{source}/", dst=str(target), retries=0))
    assert outcome.status == "ready", outcome
    assert (target / "deep" / "file").stat().st_size == 3_000_000
    assert not (target / "stale").exists()


def test_plugin_scripts_are_there_first_and_sent_once(place: Place) -> None:
    scripts, there = place.root / "deployment_scripts", f"{place.root}/etc/plugin"
    scripts.mkdir()
    (scripts / "hello.sh").write_text("echo from the plugin\n")
    target = replace(place.target, scripts=((str(scripts), there),))
    jobs = [place.job("shell", f"t{number}", cmd="sh hello.sh", cwd=there) for number in range(5)]
    outcomes = place.run(*(replace(job, target=target) for job in jobs))
    assert {outcome.summary.get("out") for outcome in outcomes} == {"from the plugin"}
    assert len(place.lines) == 1
    assert "plugin scripts sent" in place.lines[0]


def test_scripts_and_files_are_emptied_when_a_try_has_ended(place: Place) -> None:
    """They may hold passwords, and a spool stays until its run is deleted."""
    script = place.job("shell", "script", cmd="echo s3cr3t-in-script > /dev/null")
    upload = place.job("upload_file", "upload", path=f"{place.root}/there", data="s3cr3t-in-file")
    assert [outcome.status for outcome in place.run(script, upload)] == ["ready", "ready"]
    assert (place.root / "there").read_text() == "s3cr3t-in-file"
    left = [path for path in place.spools.rglob("*") if path.is_file()]
    assert {"cmd", "file.0"} <= {path.name for path in left}
    assert not [path for path in left if b"s3cr3t" in path.read_bytes()]


def test_secrets_are_masked(place: Place) -> None:
    job = place.job("shell", cmd="echo hunter2hunter2; exit 3", password="hunter2hunter2", retries=1, interval=0)  # noqa: S106
    (outcome,) = place.run(job)
    assert (outcome.rc, outcome.summary["out"]) == (3, "***")
    assert "hunter2" not in repr(outcome) + "".join(place.lines)


def test_a_noop_job_looks_and_changes_nothing(place: Place) -> None:
    (place.root / "motd").write_text("old\n")
    jobs = [
        place.job("upload_file", "upload", path=f"{place.root}/motd", data="new\n"),
        place.job("shell", "shell", cmd=f"touch {place.root}/ran"),
        place.job("sync", "sync", src=f"{place.root}/", dst=f"{place.root}/ran"),
        place.job("reboot", "reboot"),
    ]
    upload, shell, sync, reboot = place.run(*(replace(job, noop=True) for job in jobs))
    assert "-old\n+new\n" in upload.summary["diff"][f"{place.root}/motd"]
    assert [outcome.status for outcome in (upload, shell, sync, reboot)] == ["skipped", "ready", "skipped", "skipped"]
    assert (place.root / "motd").read_text() == "old\n"
    assert not any((place.root / name).exists() for name in ("ran", "remote", "spool"))
    assert not place.spools.exists()


def test_a_machine_restarts_only_where_its_kind_lets_it(place: Place) -> None:
    refusal = place.with_executor(lambda executor: _checked(executor.check(place.job("reboot"))))
    may = not registry.connector(place.target.kind).no_reboot
    assert (refusal == "") == may == (place.target.kind == "ssh")
    if not may:
        (outcome,) = place.run(place.job("reboot"))
        assert (outcome.status, outcome.message) == ("error", refusal)


async def _checked(refusal: str) -> str:
    return refusal


def test_a_timeout_covers_all_tries(place: Place) -> None:
    """Two tries fail at once, the third one takes what is left: a fourth would have time of its own."""
    tries = place.root / "tries"
    cmd = f"echo x >> {tries}; [ $(wc -l < {tries}) -lt 3 ] || sleep 600; false"
    (outcome,) = place.run(place.job("shell", cmd=cmd, timeout=5, retries=50, interval=0.1))
    assert "timed out" in outcome.message
    assert 1 <= outcome.summary["tries"] <= 3
    assert tries.read_text() == "x\n" * outcome.summary["tries"]
