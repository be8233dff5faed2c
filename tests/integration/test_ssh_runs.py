"""Whole runs on nodes that are real: the commands, the detached runner, SSH, and what is left on the nodes."""

from __future__ import annotations

import shutil
from collections import Counter

import pytest
from integration.ssh_fleet import Fleet, task
from processes import eventually, living
from sshd import can_isolate
from valid_packages import RELEASE, write_package

PLUGIN_TASKS = """
- id: from_plugin
  type: shell
  version: 2.0.0
  roles: [every]
  requires: [one_by_one]
  parameters: {cmd: "sh hello.sh", timeout: 60, retries: 0}
"""


def graph(fleet: Fleet) -> None:
    """Everything that can go wrong goes wrong on one node of many."""
    root = fleet.site.root
    (root / "endless").write_text("while :; do sleep 0.1; done\n")
    (root / "tree" / "deep").mkdir(parents=True)
    (root / "tree" / "deep" / "leaf").write_text("green\n")
    alone = f"mkdir {root}/busy || echo two >> {root}/overlaps; echo x >> {root}/alone; rmdir {root}/busy"
    again = f"echo x >> {root}/flaky; echo try; [ $(wc -l < {root}/flaky) -ge 2 ]"
    endless = f"echo started; sh {root}/endless & timeout 99 sh {root}/endless"
    fleet.graph(
        task("prepare", cmd='echo "in $(pwd)"', cwd="/usr/bin"),
        task("one_by_one", cmd=alone, requires=["prepare"], strategy={"type": "one_by_one"}),
        task("again", roles="one", cmd=again, retries=1, interval=0.1, requires=["one_by_one"]),
        task("broken", roles="two", cmd="echo so far; echo too bad >&2; exit 7", requires=["one_by_one"]),
        task("after_broken", roles="two", cmd="true", requires=["broken"]),
        task(
            "upload",
            "upload_file",
            "four",
            requires=["one_by_one"],
            path=f"{root}/new/motd",
            data="grüße\n",
            permissions="0600",
        ),
        task(
            "copy",
            "copy_files",
            "four",
            requires=["upload"],
            files=[{"src": f"{root}/endless", "dst": f"{root}/copies/one"}],
        ),
        task("sync", "sync", "four", requires=["copy"], src=f"{root}/tree/", dst=f"{root}/made"),
        task("last", cmd="echo over", requires=["one_by_one", "again", "after_broken", "sync"], required_for=["done"]),
        {"id": "done", "type": "stage", "version": "2.0.0"},
        task("hang", roles="three", cmd=endless, timeout=5, requires=["done"]),
        task("after_hang", roles="three", cmd="true", requires=["hang"]),
        tolerated=1,
    )


@pytest.mark.slow
def test_ten_nodes_with_everything_that_can_go_wrong(fleet: Fleet) -> None:
    for roles in (("one",), ("two",), ("three",), ("four",), *[()] * 6):
        fleet.add(*roles)
    graph(fleet)
    done = fleet.execute()
    assert done.code == 8, done
    rows, root = fleet.rows(1), fleet.site.root
    failed = {name: row for name, row in rows.items() if row["status"] == "error"}
    assert set(failed) == {"broken/2", "hang/3"}, failed
    assert (failed["broken/2"]["return_code"], failed["broken/2"]["message"]) == (7, "exit code 7: too bad")
    assert failed["hang/3"]["message"].startswith("timed out: not done within 5 s")
    assert not eventually(lambda: living(f"sh {root}/endless"), 0.1)
    assert {name: (row["status"], row["reason"], row["because"]) for name, row in rows.items() if row["because"]} == {
        "after_broken/2": ("skipped", "dep_failed", "broken@2"),
        "last/2": ("skipped", "dep_failed", "broken@2"),
        "after_hang/3": ("skipped", "dep_failed", "hang@3"),
    }
    others = Counter(row["status"] for name, row in rows.items() if name not in failed)
    assert others == {"ready": 10 + 10 + 1 + 3 + 9, "skipped": 3 + 1}
    assert fleet.noted("flaky") == ["x"] * 2
    assert (fleet.noted("alone"), fleet.noted("overlaps")) == (["x"] * 10, [])
    assert (root / "new" / "motd").read_text() == "grüße\n"
    assert (root / "new" / "motd").stat().st_mode & 0o777 == 0o600
    assert (root / "copies" / "one").read_bytes() == (root / "endless").read_bytes()
    assert (root / "made" / "deep" / "leaf").read_text() == "green\n"
    assert fleet.logs(1, "prepare/7") == "in /usr/bin\n"
    assert fleet.logs(1, "again/1") == "try\ntry\n"
    assert fleet.logs(1, "hang/3") == "started\n"
    shown = fleet.fuel2.ok("task", "logs", 1, "broken/2")
    assert (shown.out, shown.err.splitlines()[0]) == ("so far\n", "too bad")
    assert "7" in shown.err.splitlines()[1]


def test_plugin_scripts_reach_a_node_before_its_first_task(fleet: Fleet) -> None:
    if not can_isolate():
        pytest.skip("nodes need files of their own, for which one has to be root and may make mount namespaces")
    package = write_package(
        fleet.site.root / "package",
        metadata={"releases": [{**RELEASE, "version": "tiny-1.0"}]},
        files={
            "deployment_tasks.yaml": PLUGIN_TASKS,
            "deployment_scripts/hello.sh": "echo from the plugin in $(pwd)\n",
        },
    )
    fleet.fuel2.ok("plugins", "install", package)
    fleet.fuel2.ok("plugins", "enable", 1, "--env", 1)
    daemons = [fleet.add() for _ in range(2)]
    fleet.graph(task("one_by_one", cmd="ls /etc/fuel/plugins 2>&1; true"))
    assert fleet.execute().code == 0
    for number, daemon in enumerate(daemons, 1):
        assert fleet.logs(1, f"from_plugin/{number}") == "from the plugin in /etc/fuel/plugins/sample-1.2\n"
        assert "No such file" in fleet.logs(1, f"one_by_one/{number}")
        assert (daemon.files / "etc/fuel/plugins/sample-1.2/hello.sh").is_file()
    log = (fleet.site.root / "engine.db.runs" / "1.log").read_text()
    assert log.count("plugin scripts sent to /etc/fuel/plugins/sample-1.2/") == 2
    (package / "deployment_scripts" / "hello.sh").write_text("echo another text\n")
    fleet.fuel2.ok("plugins", "install", package, "--force")
    assert fleet.execute("--force", "--node", 2, "--task-names", "from_plugin").code == 0
    assert fleet.logs(3, "from_plugin/2") == "another text\n"


def test_puppet_on_a_node(fleet: Fleet) -> None:
    if not shutil.which("puppet"):
        pytest.skip("puppet is not installed (Debian: puppet)")
    root = fleet.site.root
    (root / "good.pp").write_text(f"file {{ '{root}/made': content => 'by puppet' }}\n")
    (root / "bad.pp").write_text("exec { '/bin/false': }\n")
    fleet.add("one", "two")
    fleet.graph(
        task("good", "puppet", "one", puppet_manifest=f"{root}/good.pp"),
        task("bad", "puppet", "two", puppet_manifest=f"{root}/bad.pp", requires=["good"]),
    )
    assert fleet.execute().code == 8
    rows = fleet.rows(1)
    assert (rows["good/1"]["status"], rows["good/1"]["return_code"]) == ("ready", 2)
    assert (root / "made").read_text() == "by puppet"
    assert "defined content as" in fleet.logs(1, "good/1")
    assert (rows["bad/1"]["status"], rows["bad/1"]["return_code"]) == ("error", 4)
    assert "/bin/false" in rows["bad/1"]["message"]


def test_changed_host_key_stops_only_its_node(fleet: Fleet) -> None:
    daemons = [fleet.add(), fleet.add()]
    fleet.site.forget()
    fleet.site.know(daemons[0].port, "other_key")
    fleet.site.know(daemons[1].port)
    fleet.graph(task("a", cmd=f"echo $SSH_CONNECTION >> {fleet.site.root}/notes", retries=5))
    assert fleet.execute("--no-check").code == 8
    rows = fleet.rows(1)
    assert (rows["a/1"]["status"], rows["a/2"]["status"]) == ("error", "ready")
    message = rows["a/1"]["message"]
    assert f"The host key of 127.0.0.1:{daemons[0].port} has changed" in message
    assert f"ssh-keygen -R '[127.0.0.1]:{daemons[0].port}'" in message
    assert f"ssh-keyscan -p {daemons[0].port} 127.0.0.1 >> ~/.ssh/known_hosts" in message
    assert len(fleet.noted()) == 1


def test_a_stop_lets_end_what_runs(fleet: Fleet) -> None:
    fleet.add()
    fleet.add()
    root = fleet.site.root
    waits = f"echo begun >> {root}/notes; until [ -e {root}/go ]; do sleep 0.05; done"
    fleet.graph(task("a", cmd=waits), task("b", cmd=f"echo never >> {root}/notes", requires=["a"]))
    number = fleet.begin()
    assert eventually(lambda: fleet.noted().count("begun") == 2, 60)
    stopped = fleet.fuel2.ok("env", "stop-deployment", 1)
    assert "has been started" in stopped.out
    fleet.until_heard()
    (root / "go").touch()
    assert fleet.ended(number)["status"] == "error"
    rows = fleet.rows(number)
    assert {name: (row["status"], row["reason"]) for name, row in rows.items()} == {
        "a/1": ("ready", ""), "a/2": ("ready", ""), "b/1": ("skipped", "stopped"), "b/2": ("skipped", "stopped"),
    }  # fmt: skip
    assert "never" not in fleet.noted()


def test_a_kill_ends_the_processes_on_the_node(fleet: Fleet) -> None:
    fleet.add()
    root = fleet.site.root
    (root / "endless").write_text("while :; do sleep 0.1; done\n")
    fleet.graph(task("a", cmd=f"echo begun >> {root}/notes; sh {root}/endless & timeout 99 sh {root}/endless"))
    number = fleet.begin()
    fleet.until_noted("begun")
    fleet.fuel2.ok("task", "stop", number, "--kill")
    assert fleet.ended(number)["status"] == "error"
    assert fleet.rows(number)["a/1"]["message"].startswith("stopped: its processes were ended")
    assert not living(f"sh {root}/endless")


def test_nothing_runs_twice_after_the_runner_was_killed(fleet: Fleet) -> None:
    for _ in range(3):
        fleet.add()
    root = fleet.site.root
    note = f"echo {{}} $SSH_CONNECTION >> {root}/notes"
    waits = f"{note.format('b')}; until [ -e {root}/go ]; do sleep 0.05; done; echo late"
    fleet.graph(
        task("a", cmd=note.format("a")),
        task("b", cmd=waits, requires=["a"]),
        task("c", cmd=note.format("c"), requires=["b"]),
    )
    number = fleet.begin()
    assert eventually(lambda: len(fleet.noted()) == 6, 60), fleet.noted()
    fleet.kill_runner(number)
    (root / "go").touch()
    resumed = fleet.fuel2("task", "resume", number, "--wait")
    assert resumed.code == 0, resumed
    counted = Counter((line.split()[0], line.split()[-1]) for line in fleet.noted())
    assert counted == {(name, str(one.port)): 1 for name in "abc" for one in fleet.daemons}
    assert {row["status"] for row in fleet.rows(number).values()} == {"ready"}
    assert fleet.logs(number, "b/2") == "late\n"
