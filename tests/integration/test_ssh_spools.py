"""The spools that runs leave on real nodes, and how they are deleted with the runs."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from integration.ssh_fleet import Fleet, task
from processes import eventually
from sshd import Daemon, can_isolate

from fuelclient.engine.runs.sweep import sweep
from fuelclient.store.database import Database


def spools(daemon: Daemon) -> list[Path]:
    """What runs have left on a node that has files of its own."""
    return sorted((daemon.files / "var/tmp").glob("fuel2-*"))


@pytest.fixture
def own(fleet: Fleet) -> Fleet:
    """Nodes with files of their own can be added."""
    if not can_isolate():
        pytest.skip("nodes need files of their own, for which one has to be root and may make mount namespaces")
    return fleet


def test_a_deleted_run_leaves_nothing_on_its_nodes(own: Fleet) -> None:
    """Its output was there for as long as the run was, and that of other runs stays."""
    daemons = [own.add(), own.add()]
    own.graph(task("a", cmd="echo here"))
    assert own.execute().code == 0
    assert own.execute("--node", 1, "--force").code == 0
    assert [len(spools(one)) for one in daemons] == [2, 1]
    assert own.logs(1, "a/2") == "here\n"

    done = own.fuel2.ok("task", "delete", 1)

    assert (done.out, done.err.count("stay")) == ("Task with id 1 was deleted\n", 0)
    assert [len(spools(one)) for one in daemons] == [1, 0]
    assert own.logs(3, "a/1") == "here\n"


def test_files_that_a_task_put_on_another_node_are_found_there(own: Fleet) -> None:
    daemons = [own.add("one"), own.add()]
    files = [{"dst": f"{own.site.root}/put", "data": "x"}]
    own.graph(task("put", "upload_files", "one", nodes=[{"uid": "2", "files": files}]))
    assert own.execute().code == 0
    assert [len(spools(one)) for one in daemons] == [0, 1]

    own.fuel2.ok("task", "delete", 1)

    assert [len(spools(one)) for one in daemons] == [0, 0]


def test_unreachable_node_is_named_with_what_to_do(own: Fleet) -> None:
    daemons = [own.add(), own.add()]
    own.graph(task("a", cmd="true"))
    assert own.execute().code == 0
    (spool,) = spools(daemons[1])
    daemons[1].stop()

    done = own.fuel2.ok("task", "delete", 1)

    place = f"/var/tmp/{spool.name}"  # noqa: S108
    assert f"Node 2 (node-2): {place} stays: 127.0.0.1:{daemons[1].port} refuses connections." in done.err
    assert f"Remove it there: rm -rf {place}" in done.err
    assert spools(daemons[0]) == []
    assert own.fuel2.ok("task", "list", "-f", "json").json == []

    daemons[1].again()  # the node has lost its files, so it gets some
    assert eventually(lambda: not (daemons[1].files / "var/tmp").samefile("/var/tmp"))  # noqa: S108
    (daemons[1].files / place[1:]).mkdir(mode=0o700)
    with closing(Database(str(own.fuel2.engine))) as database:
        sweep(database)
        assert len(spools(daemons[1])) == 1, "not due yet"
        with database.write() as connection:
            connection.execute("UPDATE leftovers SET due = ''")
        sweep(database)
    assert spools(daemons[1]) == []


def test_what_still_runs_keeps_its_spool(own: Fleet) -> None:
    """The runner was killed and the run was not resumed; the command may still write its result."""
    daemon, root = own.add(), own.site.root
    waits = f"echo begun >> {root}/notes; until [ -e {root}/go ]; do sleep 0.05; done"
    own.graph(task("a", cmd=waits))
    number = own.begin()
    own.until_noted("begun")
    own.kill_runner(number)

    refused = own.fuel2("task", "delete", number)
    done = own.fuel2.ok("task", "delete", number, "--force")

    assert refused.code == 6
    (spool,) = spools(daemon)
    assert f"Node 1 (node-1): /var/tmp/{spool.name} stays: a command still runs there." in done.err
    (root / "go").touch()
    assert eventually(lambda: list(spool.glob("*/*/*/rc"))), "it could write its result"


def test_a_deleted_environment_takes_all_that_its_runs_left(own: Fleet) -> None:
    daemon = own.add()
    own.graph(task("a", cmd="true"))
    assert own.execute().code == own.execute("--force").code == 0
    assert len(spools(daemon)) == 2

    done = own.fuel2.ok("env", "delete", 1, "--force")

    assert "stay" not in done.err
    assert spools(daemon) == []


def test_a_directory_of_another_user_is_left_alone(own: Fleet) -> None:
    """Every user can write to /var/tmp, and could have put a link in the place of the spool."""
    daemon = own.add()
    own.graph(task("a", cmd="true"))
    assert own.execute().code == 0
    (spool,) = spools(daemon)
    kept = spool.parent / "kept"
    spool.rename(kept)
    spool.symlink_to("kept")

    done = own.fuel2.ok("task", "delete", 1)

    assert f"/var/tmp/{spool.name} stays: it belongs to another user." in done.err  # noqa: S108
    assert list(kept.iterdir())


def test_a_server_tells_its_clients_what_stays(own: Fleet) -> None:
    pytest.importorskip("flask", reason="the server comes with the extra [server]")
    from in_process_server import served

    from fuelclient.backends.local import LocalBackend

    daemon = own.add()
    own.graph(task("a", cmd="true"))
    first = json.loads(own.execute("--format", "json").out)["id"]
    assert own.execute("--force").code == 0
    daemon.stop()
    for client in served(lambda: LocalBackend(str(own.fuel2.engine))):
        (stays,) = client.runs.delete(first)
        assert "Node 1 (node-1): /var/tmp/fuel2-" in stays
        (stays,) = client.clusters.delete(1, force=True)
        assert "Node 1 (node-1): /var/tmp/fuel2-" in stays
