"""What can go wrong while a task runs: runners that are killed, machines that restart, secrets that could be seen."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from executor_bench import Bench, job_of, together
from processes import command_lines, eventually, living
from secret_parts import parts_of

from fuelclient.engine.runs.processes import boot_id
from fuelclient.executors import attempts
from fuelclient.executors import spool as spool_scripts
from fuelclient.executors.job import Job, Recipe
from fuelclient.executors.local import LocalSpool, LocalTransport
from fuelclient.executors.spool import KEPT_BYTES, Spool
from fuelclient.executors.transport import Limits

ROOT = Path(__file__).resolve().parents[2]

RUNNER = """
    import asyncio, sys
    from executor_bench import Bench, job_of
    from pathlib import Path

    async def main(root, *commands):
        bench = Bench(Path(root))
        executor = bench.executor()
        jobs = [job_of("shell", f"t{n}", cmd=cmd, retries=2, interval=0.1) for n, cmd in enumerate(commands)]
        await asyncio.gather(*(executor.run(job, print) for job in jobs))

    asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def runner(bench: Bench, *commands: str) -> subprocess.Popen[bytes]:
    """A process that runs shell jobs, each as a task `t<number>`."""
    paths = os.pathsep.join((str(ROOT), str(ROOT / "tests" / "support")))
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(RUNNER), str(bench.root), *commands],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.DEVNULL,
    )


def shot(process: subprocess.Popen[bytes]) -> None:
    """The runner and everything in its process group that a terminal or an operator would hit is dead."""
    process.kill()
    process.wait(timeout=20)


def job(number: int, cmd: str) -> Job:
    return job_of("shell", f"t{number}", cmd=cmd, retries=2, interval=0.1)


def test_a_command_outlives_its_runner_and_is_waited_for(bench: Bench) -> None:
    waiting = f"until [ -e {bench.root}/go ]; do sleep 0.05; done"
    cmd = f"echo began >> {bench.root}/log; {waiting}; echo ended >> {bench.root}/log"
    process = runner(bench, cmd)
    assert eventually((bench.root / "log").exists)
    shot(process)
    threading.Timer(0.5, (bench.root / "go").touch).start()
    outcome = bench.recover(job(0, cmd))
    assert outcome is not None
    assert (outcome.status, outcome.rc) == ("ready", 0)
    assert (bench.root / "log").read_text() == "began\nended\n"


def test_a_result_in_the_spool_is_taken(bench: Bench) -> None:
    cmd = f"echo x >> {bench.root}/log"
    process = runner(bench, cmd, f"sleep 4713.{os.getpid()}")
    assert eventually(lambda: (bench.spool(job(0, cmd)) / "rc").exists() and living(f"sleep 4713.{os.getpid()}"))
    shot(process)
    outcome = bench.recover(job(0, cmd))
    assert outcome is not None
    assert outcome.status == "ready"
    assert (bench.root / "log").read_text() == "x\n"
    asyncio.run(bench.executor().kill(job(1, f"sleep 4713.{os.getpid()}")))
    assert not living(f"sleep 4713.{os.getpid()}")
    stopped = bench.recover(job(1, f"sleep 4713.{os.getpid()}"))
    assert stopped is not None
    assert stopped.message.startswith("stopped")


def test_retries_that_are_left_are_made(bench: Bench) -> None:
    cmd = f"echo x >> {bench.root}/log; sleep 0.3; exit 9"
    process = runner(bench, cmd)
    assert eventually((bench.root / "log").exists)
    shot(process)
    outcome = bench.recover(job(0, cmd))
    assert outcome is not None
    assert (outcome.rc, outcome.summary["tries"]) == (9, 3)
    assert (bench.root / "log").read_text() == "x\n" * 3


def test_command_killed_without_trace_has_unknown_end(bench: Bench) -> None:
    process = runner(bench, f"sleep 4714.{os.getpid()}")
    assert eventually(lambda: living(f"sleep 4714.{os.getpid()}"))
    shot(process)
    leader = int((bench.spool(job(0, "")) / "pid").read_text().split()[0])
    os.killpg(leader, signal.SIGKILL)
    assert bench.recover(job(0, f"sleep 4714.{os.getpid()}")) is None
    again = replace(job(0, "echo again"), attempt=2)
    assert bench.run(again).summary["out"] == "again"


def claimed_only(bench: Bench, boot: str) -> Path:
    """The spool of job 0, whose starter died between the claim and the beginning of the command."""
    spool = bench.spool(job(0, ""))
    spool.mkdir(parents=True, mode=0o700)
    (spool / "claim.1.1").write_text(f"{boot}\n")
    return spool


def test_what_was_claimed_and_never_began_is_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The claim counts for no try, and a leader that comes late finds that it must not run the command."""
    monkeypatch.setattr(attempts, "_START_SECONDS", 0.2)
    spool = claimed_only(bench, boot_id())
    cmd = f"echo x >> {bench.root}/log; exit 9"

    outcome = bench.recover(job(0, cmd))

    assert outcome is not None
    assert outcome.rc == 9
    assert (bench.root / "log").read_text() == "x\n" * 3, "retries: 2, and the claim was no try"
    assert (spool / "rc").read_text() == "1.1 0 never\n1.2 9 exit\n1.3 9 exit\n1.4 9 exit\n"
    (spool / "claim.1.1").unlink()
    (spool / "cmd").write_text(cmd)
    subprocess.run(["/bin/sh", "-c", spool_scripts.WRAPPER, "late", "1.1", "0", str(spool)], check=True)
    assert (bench.root / "log").read_text() == "x\n" * 3
    again = bench.recover(job(0, cmd))
    assert again is not None
    assert (again.rc, (bench.root / "log").read_text()) == (9, "x\n" * 3)


def test_claim_from_before_a_restart_has_unknown_end(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "_START_SECONDS", 0.2)
    claimed_only(bench, "11111111-0000-0000-0000-000000000000")

    assert bench.recover(job(0, "true")) is None


def test_what_ran_before_the_machine_restarted_has_no_known_end(bench: Bench) -> None:
    process = runner(bench, f"sleep 4715.{os.getpid()}")
    assert eventually(lambda: living(f"sleep 4715.{os.getpid()}"))
    shot(process)
    pid = bench.spool(job(0, "")) / "pid"
    words = pid.read_text().split()
    pid.write_text(" ".join([*words[:2], "11111111-0000-0000-0000-000000000000", *words[3:], "\n"]))
    try:
        assert bench.recover(job(0, f"sleep 4715.{os.getpid()}")) is None
        asyncio.run(bench.executor().kill(job(0, f"sleep 4715.{os.getpid()}")))
        assert living(f"sleep 4715.{os.getpid()}"), "a process of another boot is not ours to kill"
    finally:
        os.killpg(int(words[0]), signal.SIGKILL)


@pytest.mark.parametrize("kind", [LocalSpool, Spool])
def test_what_a_dead_leader_left_is_ended_before_the_next_try(bench: Bench, kind: type[LocalSpool]) -> None:
    """Nothing of one try runs beside the next one, however the leader of its session died."""
    sleep = f"sleep 4718.{os.getpid()}"
    log, path = bench.root / "log", bench.root / "spool" / "1" / "1" / "t0"
    again = f"pgrep -f '^{sleep}' > /dev/null && exit 7; exit 5"
    cmd = f"echo x >> {log}; if [ $(wc -l < {log}) = 1 ]; then {sleep}; else {again}; fi"
    spool = kind(LocalTransport(), f"{bench.root}/spool", str(path))

    async def nothing() -> None:
        pass

    async def watched() -> attempts.RecipeResult:
        tries = attempts.Attempts(
            spool, Recipe(cmd), Limits(60, 1, 0),
            attempt=1, stop=asyncio.Event(), grace=1, say=bench.lines.append, before=nothing,
        )  # fmt: skip
        doing = asyncio.ensure_future(tries.run())
        assert await asyncio.to_thread(eventually, lambda: living(sleep))
        os.kill(int((path / "pid").read_text().split()[0]), signal.SIGKILL)
        return await doing

    tried = asyncio.run(watched())
    assert (tried.ok, tried.code, tried.tries) == (False, 5, 2), (tried, bench.lines)
    assert bench.lines == ["try 1 of 2 failed (its process vanished); next one in 0 s"]
    assert log.read_text() == "x\nx\n"


def test_leftovers_of_a_dead_leader_end_before_the_next_run(bench: Bench) -> None:
    """A runner and the leader of its command died: the user asked for another go, and there is only that one."""
    sleep = f"sleep 4719.{os.getpid()}"
    process = runner(bench, sleep)
    assert eventually(lambda: living(sleep))
    shot(process)
    os.kill(int((bench.spool(job(0, "")) / "pid").read_text().split()[0]), signal.SIGKILL)
    assert bench.recover(job(0, sleep)) is None
    assert living(sleep), "only a kill ends it"
    again = replace(job(0, f"pgrep -f '^{sleep}' > /dev/null && exit 7; exit 0"), attempt=2)
    outcome = bench.run(again)
    assert (outcome.status, outcome.rc) == ("ready", 0)


def test_a_number_that_another_process_has_now_is_left_alone(bench: Bench) -> None:
    process = runner(bench, f"sleep 4716.{os.getpid()}")
    assert eventually(lambda: living(f"sleep 4716.{os.getpid()}"))
    shot(process)
    pid = bench.spool(job(0, "")) / "pid"
    words = pid.read_text().split()
    stranger = subprocess.Popen(["sleep", "4717"], start_new_session=True)
    try:
        pid.write_text(" ".join([str(stranger.pid), "1", *words[2:], "\n"]))
        assert bench.recover(job(0, f"sleep 4716.{os.getpid()}")) is None
        asyncio.run(bench.executor().kill(job(0, f"sleep 4716.{os.getpid()}")))
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()
        os.killpg(int(words[0]), signal.SIGKILL)


def test_killing_a_job_of_a_dead_runner_ends_its_session(bench: Bench) -> None:
    loop = f"{bench.root}/loop"
    Path(loop).write_text("trap '' TERM\nwhile :; do sleep 0.1; done\n")
    process = runner(bench, f"sh {loop} a & sh {loop} b")
    assert eventually(lambda: len(living(f"sh {loop}")) >= 2)
    shot(process)
    asyncio.run(bench.executor().kill(job(0, f"sh {loop} a & sh {loop} b")))
    assert not living(f"sh {loop}")


@pytest.mark.parametrize("seed", range(4))
def test_nothing_runs_twice_whenever_the_runner_dies(bench: Bench, seed: int) -> None:
    """Each command appends once per try; killed at random, then recovered, all have the result of a quiet run."""
    chance = random.Random(seed)  # noqa: S311 - a seed is what makes it repeatable
    logs = [bench.root / f"log{number}" for number in range(12)]
    commands = [f"echo x >> {log}; sleep 0.0{number % 5}; exit {number % 2}" for number, log in enumerate(logs)]
    process = runner(bench, *commands)
    assert eventually(logs[0].exists)
    time.sleep(chance.random() * 0.6)
    shot(process)
    executor = bench.executor()
    outcomes = together(*(executor.recover(job(number, cmd)) for number, cmd in enumerate(commands)))
    for number, outcome in enumerate(outcomes):
        assert outcome is not None
        assert outcome.rc == number % 2
        assert logs[number].read_text() == "x\n" * (3 if number % 2 else 1)


def test_several_starts_of_one_try_start_it_once(bench: Bench) -> None:
    recipe = Recipe(f"echo x >> {bench.root}/log; sleep 0.3; exit 5")
    directory = f"{bench.root}/spool/1/1/t"
    spools = [Spool(LocalTransport(), f"{bench.root}/spool", directory) for _ in range(5)]
    together(*(spool.launch(recipe, "1.1", 0) for spool in spools))
    seen = asyncio.run(spools[0].look())
    assert eventually(lambda: "1.1" in asyncio.run(spools[0].look()).ended)
    assert seen.claimed == {"1.1"}
    assert (bench.root / "log").read_text() == "x\n"


def test_a_script_that_arrives_in_part_is_not_started(bench: Bench) -> None:
    from fuelclient.executors import spool as spool_scripts

    directory = f"{bench.root}/spool/1/1/t"
    arguments = (directory, f"{bench.root}/spool", "1.1", "1000", "0", "100", spool_scripts.WRAPPER)
    text = f"touch {bench.root}/ran\n".encode()
    answer = asyncio.run(LocalTransport().call(spool_scripts.LAUNCH, arguments, text))
    assert (answer.rc, answer.error) == (121, "the script did not arrive as a whole")
    assert not (bench.root / "ran").exists()
    assert asyncio.run(Spool(LocalTransport(), f"{bench.root}/spool", directory).look()).claimed == frozenset()


def test_a_try_that_was_stopped_before_it_began_never_begins(bench: Bench) -> None:
    spool = Spool(LocalTransport(), f"{bench.root}/spool", f"{bench.root}/spool/1/1/t")
    asyncio.run(spool.kill("1.1", "stopped", 1))
    seen = asyncio.run(spool.launch(Recipe(f"touch {bench.root}/ran"), "1.1", 0))
    assert seen.ended["1.1"].why == "stopped"
    assert not (bench.root / "ran").exists()


SECRET = "s3cr3t-P4ss w0rd"  # noqa: S105 - it is one that has to disappear


@pytest.fixture
def watched() -> Iterator[set[str]]:
    """All command lines that any process had while a test ran."""
    seen: set[str] = set()
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            seen.update(line for _, line in command_lines())

    thread = threading.Thread(target=watch)
    thread.start()
    yield seen
    over.set()
    thread.join()


def test_secrets_are_seen_nowhere(bench: Bench, watched: set[str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("asyncio").setLevel(logging.DEBUG)
    parameters = {"db_password": SECRET, "nested": {"token": "t0ken-4711"}}
    cmd = f"read -r x <<< '{SECRET}'; sleep 0.2; echo \"given $x and t0ken-4711\" >&2; exit 1"
    jobs = [
        job_of("shell", "shell", cmd=cmd, retries=1, interval=0, **parameters),
        job_of("upload_file", "upload", path=f"{bench.root}/file", data=f"password: {SECRET}\n", **parameters),
        job_of("upload_file", "fails", path=f"{bench.root}", data=SECRET, retries=0, **parameters),
        job_of("master_shell", "late", cmd=f": {SECRET}; sleep 9", timeout=0.5, **parameters),
        replace(job_of("shell", "noop", cmd=cmd, **parameters), noop=True),
    ]
    outcomes = [bench.run(job) for job in jobs]
    assert [outcome.status.value for outcome in outcomes] == ["error", "ready", "error", "error", "ready"]
    assert "given *** and ***" in outcomes[0].message
    shown = "\n".join((*map(repr, outcomes), *map(repr, jobs), *bench.lines, caplog.text, *watched))
    for secret in (SECRET, "t0ken-4711"):
        assert secret not in shown
    assert any("fuel2-task" in line for line in watched), "the watcher saw the commands"
    assert (bench.root / "file").read_text() == f"password: {SECRET}\n"


@pytest.mark.parametrize("left", [1, 2, 3, 20, 39, 40])
def test_a_secret_that_is_cut_off_is_not_told_in_part(bench: Bench, left: int) -> None:
    """`left` of its 40 characters, all different, are in what is read of the output; the rest of it names it often."""
    letters = "AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpQqRrSsTt"
    secret, after = letters, f"{letters}-" * 90
    output = secret + after + "." * (KEPT_BYTES - left - len(after))
    outcome = bench.run(job_of("shell", cmd=f"printf %s '{output}' >&2; exit 1", password=secret, retries=0))
    assert "..." in outcome.message
    assert parts_of(secret, f"{outcome.message}{outcome.summary}") == []


def test_a_machine_that_cannot_start_anything_says_so(bench: Bench) -> None:
    outcome = bench.run(job_of("shell", cmd="true"))
    assert outcome.status == "ready"
    (bench.root / "spool" / "1" / "1" / "t0").write_text("a file where a directory has to be")
    outcome = bench.run(job(0, "true"))
    assert outcome.status == "error"
    assert "Nothing can be started" in outcome.message
