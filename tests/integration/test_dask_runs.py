"""Whole runs on Dask workers: `fuel2 graph execute --executor dask` from plan to history, and a runner that dies."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from command_line import CommandLine
from executions import Executions, executions, shell
from integration.dask_cluster import Cluster, cluster
from valid_packages import write_package

from fuelclient.backends import connect
from fuelclient.model.node import Node
from fuelclient.settings import load
from fuelclient.store.runners import Runner

RELEASE = """
- {name: Meadow, version: mitaka-9.0, operating_system: Ubuntu, roles_metadata: {compute: {name: Compute}}}
"""
NODES = """
- {id: 1, name: node-1, executor: dask, roles: [compute]}
- {id: 2, name: node-2, executor: dask, roles: [compute]}
- {id: 3, name: node-3, executor: dask, roles: [compute], attributes: {worker: site-a}}
"""
GRAPH = """
- {{id: compute, type: group, roles: [compute], fault_tolerance: "100%"}}
- {{id: alone, type: shell, version: 2.0.0, roles: [compute], parameters: {{timeout: 60, retries: 0,
   strategy: {{type: one_by_one}},
   cmd: "mkdir {root}/alone && echo $WORKER >> {root}/order && sleep 0.2 && rmdir {root}/alone"}}}}
- {{id: again, type: shell, version: 2.0.0, roles: [compute], requires: [alone, fuel2-dask-test],
   parameters: {{timeout: 60, retries: 1, interval: 0.1,
   cmd: "[ -e {root}/$WORKER ] || {{{{ touch {root}/$WORKER; exit 1; }}}}"}}}}
- {{id: fails, type: shell, version: 2.0.0, roles: [compute], requires: [again],
   parameters: {{timeout: 60, retries: 0, cmd: "echo no >&2; [ $WORKER != node-2 ]"}}}}
- {{id: slow, type: shell, version: 2.0.0, roles: [compute], requires: [fails],
   parameters: {{timeout: 12, retries: 0, cmd: "[ $WORKER != site-a ] || sleep 1234.75"}}}}
- {{id: last, type: shell, version: 2.0.0, roles: [compute], requires: [slow],
   parameters: {{timeout: 60, cmd: "echo $WORKER is done"}}}}
"""
PLUGIN = """
- {id: fuel2-dask-test, type: shell, version: 2.0.0, roles: [compute], requires: [alone],
   parameters: {cmd: sh run.sh, timeout: 60, retries: 0}}
"""
NAME = f"fuel2-dask-test-{os.getpid()}"
SCRIPTS = Path(f"/etc/fuel/plugins/{NAME}-1.2")
"""Named after this process: the tests of another checkout may run at the same time, and the place is the machine's."""


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("dask"), "node-1", "node-2", "site-a") as made:
        yield made


@pytest.fixture
def env(tmp_path: Path, workers: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandLine]:
    """Environment 1 with three nodes of Dask workers."""
    monkeypatch.setenv("FUEL_DASK_SCHEDULER", workers.address)
    monkeypatch.setenv("FUEL_DASK_INSECURE", "true")
    fuel2 = CommandLine(tmp_path / "engine.db")
    fuel2.ok("release", "import", "-", stdin=RELEASE)
    fuel2.ok("env", "create", "prod", "--release", 1)
    fuel2.ok("node", "import", "-", "--env", 1, stdin=NODES)
    yield fuel2
    forget_spools(fuel2.engine)


def forget_spools(engine: Path) -> None:
    """The spools that runs have left on the machines of the workers, which are this one, are gone."""
    with closing(connect(load({"ENGINE": str(engine)}))) as backend:
        for one in backend.runs.list():
            shutil.rmtree(f"/var/tmp/fuel2-{one.uuid}", ignore_errors=True)  # noqa: S108


@pytest.fixture
def place_for_scripts() -> Iterator[Path]:
    """Where the scripts of the plugin belong. Skips for who may not write there."""
    there = [path for path in (SCRIPTS, *SCRIPTS.parents) if path.exists()]
    if not os.access(there[0], os.W_OK):
        pytest.skip(f"{SCRIPTS} cannot be made here")
    yield SCRIPTS
    for path in (SCRIPTS, *SCRIPTS.parents):
        if path == SCRIPTS:
            shutil.rmtree(path, ignore_errors=True)
        elif path not in there:
            with suppress(OSError):  # somebody else has put something there meanwhile
                path.rmdir()


@pytest.mark.slow
def test_a_whole_run(env: CommandLine, tmp_path: Path, place_for_scripts: Path) -> None:
    """One node at a time, a retry, a plugin's script, a failure that is tolerated, and a timeout."""
    release = {
        "os": "ubuntu",
        "version": "mitaka-9.0",
        "mode": ["ha"],
        "deployment_scripts_path": "deployment_scripts/",
    }
    package = write_package(
        tmp_path / "package",
        metadata={"name": NAME, "releases": [{**release, "repository_path": "repositories/ubuntu"}]},
        files={"deployment_scripts/run.sh": "echo from $WORKER\n", "deployment_tasks.yaml": PLUGIN},
    )
    env.ok("plugins", "install", package)
    env.ok("plugins", "enable", 1, "--env", 1)
    env.ok("graph", "upload", "--env", 1, "--file", "-", "--type", "default", stdin=GRAPH.format(root=tmp_path))

    done = env("graph", "execute", "--env", 1, "--wait")

    assert done.code == 0, done
    rows = env.ok("task", "history", "show", 1, "-f", "json").json
    statuses = {f"{row['task_name']}@{row['node_id']}": row["status"] for row in rows if row["node_id"]}
    assert [statuses[f"{name}@2"] for name in ("alone", "fuel2-dask-test", "again", "fails", "slow")] == [
        "ready", "ready", "ready", "error", "skipped",
    ]  # fmt: skip
    assert [statuses[f"{name}@3"] for name in ("fails", "slow", "last")] == ["ready", "error", "skipped"]
    assert Counter(statuses.values()) == {"ready": 13, "error": 2, "skipped": 3}
    assert statuses["last@1"] == "ready"
    assert sorted((tmp_path / "order").read_text().split()) == ["node-1", "node-2", "site-a"]
    assert "node-1 is done" in env.ok("task", "logs", 2, "last/1").out
    assert "from site-a" in env.ok("task", "logs", 2, "fuel2-dask-test/3").out
    assert sorted(path.name for path in tmp_path.glob("*-?")) == ["node-1", "node-2", "site-a"], "each was tried again"
    assert (place_for_scripts / "run.sh").exists()
    left = Path("/var/tmp", f"fuel2-{env.ok('task', 'show', 1, '-f', 'json').json['uuid']}")  # noqa: S108
    assert left.is_dir()
    assert "stay" not in env.ok("task", "delete", 1).err
    assert not left.exists(), "the workers share a machine, and the first of them has removed it"


def test_a_plan_with_a_node_that_has_no_worker_starts_nothing(env: CommandLine, tmp_path: Path) -> None:
    env.ok("node", "import", "-", "--env", 1, stdin="- {id: 4, name: node-4, executor: dask, roles: [compute]}\n")
    graph = [{"id": "t", "type": "shell", "version": "2.0.0", "roles": ["compute"], "parameters": {"cmd": "true"}}]
    env.ok("graph", "upload", "--env", 1, "--file", "-", "--type", "default", stdin=json.dumps(graph))

    done = env("graph", "execute", "--env", 1)

    assert done.code == 7, done
    assert "Task t/4 cannot run" in done.err
    assert "has no worker named node-4" in done.err
    assert "--name node-4" in done.err
    assert env.ok("task", "list", "-f", "json").json == []


def test_a_scheduler_elsewhere_without_tls_is_refused(env: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = [{"id": "t", "type": "shell", "version": "2.0.0", "roles": ["compute"], "parameters": {"cmd": "true"}}]
    env.ok("graph", "upload", "--env", 1, "--file", "-", "--type", "default", stdin=json.dumps(graph))
    monkeypatch.setenv("FUEL_DASK_SCHEDULER", "tcp://192.0.2.1:8786")

    done = env("graph", "execute", "--env", 1)

    assert done.code == 7, done
    assert "tcp://192.0.2.1:8786 is not on this machine and has no TLS" in done.err
    assert "DASK_TLS_CA_FILE" in done.err


@pytest.fixture
def disturbed(tmp_path: Path, workers: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Executions]:
    """An environment whose runner is going to be killed."""
    monkeypatch.setenv("FUEL_DASK_SCHEDULER", workers.address)
    monkeypatch.setenv("FUEL_DASK_INSECURE", "true")
    env = executions(tmp_path, 1)
    env.backend.nodes.create([Node(0, "node-2", cluster_id=1, pending_roles=("compute",), executor="dask")])
    yield env
    env.backend.close()
    forget_spools(env.engine)


@pytest.mark.slow
def test_a_run_whose_runner_was_killed_goes_on(disturbed: Executions) -> None:
    """What ran on the workers meanwhile is waited for, what had ended counts, and nothing runs twice."""
    env = disturbed
    wait = f"until [ -e {env.directory}/go ]; do sleep 0.05; done"
    env.graph(
        shell("one", env.note("one-$WORKER")),
        shell("two", f"{env.note('begin-$WORKER')}; {wait}; {env.note('end-$WORKER')}", requires=["one"]),
        shell("three", env.note("three-$WORKER"), requires=["two"]),
    )
    begun = env.begin(executor="dask")
    env.until(begun.id, lambda _: len([line for line in env.noted() if line.startswith("begin")]) == 2)
    runner = env.runner()
    assert isinstance(runner, Runner)
    os.kill(runner.pid, signal.SIGKILL)
    env.until(begun.id, lambda found: found.runner == "gone")
    env.backend.runs.resume(begun.id)
    (env.directory / "go").touch()

    found = env.ended(begun.id)

    assert str(found.status) == "ready", env.log(begun.id)
    names = ("one", "begin", "end", "three")
    assert Counter(env.noted()) == {f"{name}-{worker}": 1 for name in names for worker in ("node-1", "node-2")}
    assert {row.status for row in env.rows(begun.id)} == {"ready"}
