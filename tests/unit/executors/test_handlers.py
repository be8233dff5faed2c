"""What handlers make of jobs, and what they refuse before anything starts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from executor_bench import job_of

from fuelclient.executors import handlers
from fuelclient.executors.examination import programs_of
from fuelclient.executors.executor import MachineExecutor
from fuelclient.executors.handlers import sync
from fuelclient.executors.job import MASTER, File, Job, Nothing, Reboot, Recipe, Sync, Target
from fuelclient.executors.ssh import over_ssh
from fuelclient.executors.transport import Limits, Options, Ssh, limits_of
from fuelclient.model.task import TaskType

NODE = Target("ssh", "10.0.0.5", Ssh("fuel", 2222, "/keys/id", "jump@10.0.0.1"))


def refusal(job: Job, **commands: str) -> str:
    """Why a job can never run, where these handler commands are configured."""
    return MachineExecutor(Options("/nowhere", commands=commands)).check(job)


def only(job: Job) -> Recipe:
    (step,) = handlers.steps_of(job, {})
    assert isinstance(step, Recipe)
    return step


def test_defaults_are_those_of_astute() -> None:
    assert limits_of("puppet", {}) == Limits(5400, 2)
    assert limits_of("shell", {}) == limits_of("master_shell", {}) == Limits(300, 2, interval=2)
    assert limits_of("sync", {}) == Limits(300, 10)
    assert limits_of("upload_file", {}) == Limits(60, 3)
    assert limits_of("reboot", {}).timeout == 900


def test_stated_limits_hold_also_as_texts() -> None:
    stated = {"timeout": "7.5", "retries": 0, "interval": "1", "succeed_retries": 2}
    assert limits_of("puppet", stated) == Limits(7.5, 0, 1, 2)
    assert limits_of("shell", stated).repeats == 0


@pytest.mark.parametrize(
    ("type", "parameters", "said"),
    [
        ("shell", {}, "cmd is missing"),
        ("shell", {"command": "true"}, "cmd is missing; there is command instead"),
        ("copy_files", {"files": [{"source": "/a", "dst": "/b"}]}, "src is missing; there is source instead"),
        ("shell", {"cmd": {"a": 1}}, "cmd must be a string, not a mapping"),
        ("shell", {"cmd": "true", "timeout": "soon"}, "timeout must be a number of at least 0, not 'soon'"),
        ("shell", {"cmd": "true", "retries": -1}, "retries must be a number"),
        ("shell", {"cmd": "true", "cwd": "a\nb"}, "must be one line"),
        ("shell", {"cmd": "true\0"}, "zero byte"),
        ("puppet", {"puppet_modules": "/m"}, "puppet_manifest is missing"),
        ("upload_file", {"data": "x"}, "path is missing"),
        ("upload_file", {"path": "/x"}, "data is missing"),
        ("upload_file", {"path": "/x", "data": {"a": 1}}, "toYaml()"),
        ("upload_file", {"path": "x", "data": ""}, "absolute path"),
        ("upload_file", {"path": "/x", "data": "", "permissions": "rw"}, "octal permissions"),
        ("upload_file", {"path": "/x", "data": "", "overwrite": "perhaps"}, "true or false"),
        ("copy_files", {}, "files must be a list"),
        ("copy_files", {"files": [{"src": "/a"}]}, "dst is missing"),
        ("upload_files", {"nodes": [{"uid": "9", "files": [{"dst": "/a", "data": ""}]}]}, "lists the node 9"),
        ("upload_files", {"nodes": [{"uid": "1", "files": []}]}, "files must be a list"),
        ("sync", {"src": "/a", "dst": "/"}, "dst must be an absolute path below /"),
        ("sync", {"src": "http://a", "dst": "/b"}, "rsync:// address"),
        ("sync", {"src": "/b", "dst": "http://a"}, "dst must be a path or an rsync:// address"),
        ("sync", {"src": "rsync://a/b", "dst": "rsync://a/c"}, "both rsync:// addresses"),
        ("erase_node", {}, "no handler command for tasks of type erase_node"),
        ("cobbler_sync", {}, "no handler command"),
        ("group", {}, "never executed"),
        ("shel", {}, "nearest is shell"),
    ],
)
def test_a_plan_can_ask_before_anything_starts(type: str, parameters: dict[str, Any], said: str) -> None:
    reason = refusal(job_of(type, **parameters))
    assert said in reason
    assert reason.startswith("Task task/1 cannot run: ")


def test_every_type_is_run_or_refused_with_a_reason() -> None:
    for kind in TaskType:
        assert kind in handlers.HANDLERS or "handler" in (why := refusal(job_of(kind))) or "never" in why


def test_nothing_is_done_for_stages() -> None:
    for kind in ("stage", "skipped", "noop"):
        (step,) = handlers.steps_of(job_of(kind), {})
        assert isinstance(step, Nothing)


def test_a_shell_command_runs_in_its_directory() -> None:
    script = only(job_of("shell", cmd="echo 'a b'\nmake", cwd="/etc/it's here")).script
    assert "cd -- '/etc/it'\"'\"'s here' || exit\necho 'a b'\nmake\n" in script
    assert only(job_of("master_shell", cmd="true")).where == MASTER


def test_puppet_is_foreground_and_tells_by_its_exit_code() -> None:
    recipe = only(
        job_of("puppet", puppet_manifest="site.pp", puppet_modules="/m:/n", command_prefix="nice -n 5", debug=True)
    )
    command = recipe.script.splitlines()[-1]
    assert command.startswith("nice -n 5 puppet apply site.pp --modulepath /m:/n --basemodulepath /m:/n ")
    assert "--detailed-exitcodes" in command
    assert "--debug --evaltrace" in command
    assert "daemonize" not in recipe.script
    assert recipe.ok == {0, 2}
    assert "--debug" not in only(job_of("puppet", puppet_manifest="a")).script
    assert "--debug" in only(replace(job_of("puppet", puppet_manifest="a"), debug=True)).script


def test_files_are_one_recipe_for_each_machine() -> None:
    nodes = [{"uid": uid, "files": [{"dst": f"/d{uid}", "data": f"x{uid}"}]} for uid in ("1", "2", "1")]
    job = replace(job_of("upload_files", nodes=nodes), peers={"2": NODE})
    first, second = handlers.steps_of(job, {})
    assert isinstance(first, Recipe)
    assert isinstance(second, Recipe)
    assert [attachment.content for attachment in first.attachments] == [b"x1", b"x1"]
    assert (second.where, [attachment.content for attachment in second.attachments]) == ("2", [b"x2"])


def test_data_is_in_no_script() -> None:
    recipe = only(job_of("upload_file", path="/x", data="top-secret", permissions=0o600))
    assert "top-secret" not in recipe.script
    assert "0600" in recipe.script
    assert "top-secret" not in repr(recipe)


def test_permissions_of_a_file_go_over_those_of_the_task() -> None:
    files = [{"src": "/a", "dst": "/b"}, {"src": "/c", "dst": "/d", "permissions": "0640"}]
    recipe = only(job_of("copy_files", files=files, permissions="0600", dir_permissions="0700"))
    assert [attachment.content for attachment in recipe.attachments] == [File("/a"), File("/c")]
    assert "place file.0 1 1 /b 0600 0700 root root" in recipe.script
    assert "place file.1 1 1 /d 0640 0700 root root" in recipe.script


def test_an_rsync_address_is_read_by_the_target() -> None:
    (step,) = handlers.steps_of(job_of("sync", src="rsync://10.0.0.1:/puppet/", dst="/etc/puppet"), {})
    assert step == Sync("rsync://10.0.0.1:/puppet/", "/etc/puppet")
    assert "rsync -c -r --delete -l -- rsync://10.0.0.1:/puppet/ /etc/puppet" in sync.on_target(step).script


def test_an_rsync_address_is_written_by_the_target() -> None:
    """As by Astute; a directory there is the server's affair."""
    (step,) = handlers.steps_of(job_of("sync", src="/var/dbs.gz", dst="rsync://10.0.0.1:/octane_data/"), {})
    assert isinstance(step, Sync)
    assert step.by_target
    for dry, options in ((False, "-l"), (True, "-l -n -i")):
        script = sync.on_target(step, dry=dry).script
        assert f"rsync -c -r --delete {options} -- /var/dbs.gz rsync://10.0.0.1:/octane_data/\n" in script
        assert "mkdir" not in script
    assert programs_of("sync", {"src": step.src, "dst": step.dst}) == {"rsync"}


def test_rsync_over_ssh_uses_the_settings_of_the_node() -> None:
    recipe = over_ssh(Sync("/a/", "/b c"), NODE, ("-F", "/cfg"))
    assert recipe.where == MASTER
    for word in ("-p 2222", "-i /keys/id", "-l fuel", "-J jump@10.0.0.1", "-F /cfg", "StrictHostKeyChecking=yes"):
        assert word in recipe.script


def test_a_handler_command_names_the_node() -> None:
    job = replace(job_of("erase_node", slave="it's"), target=NODE, name="node; rm -rf /")
    (step,) = handlers.steps_of(job, {"erase_node": "erase {node.ip} {node.name} {parameters.slave} ${{HOME}} {x}"})
    assert isinstance(step, Recipe)
    assert step.where == MASTER
    assert "erase 10.0.0.5 'node; rm -rf /' 'it'\"'\"'s' ${{HOME}} {x}\n" in step.script
    assert "names {node.rack}" in refusal(job, erase_node="erase {node.rack}")


def test_node_without_address_is_refused_for_its_tasks() -> None:
    nowhere = replace(NODE, ip="")
    assert "no address" in refusal(replace(job_of("shell", cmd="true"), target=nowhere))
    assert refusal(replace(job_of("master_shell", cmd="true"), target=nowhere)) == ""
    nodes = [{"uid": "2", "files": [{"dst": "/d", "data": "x"}]}]
    assert "no address" in refusal(replace(job_of("upload_files", nodes=nodes), peers={"2": nowhere}))


def test_a_node_with_an_address_may_restart() -> None:
    (step,) = handlers.steps_of(replace(job_of("reboot"), target=NODE), {})
    assert isinstance(step, Reboot)
