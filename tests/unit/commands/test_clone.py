"""`env clone` and `env diff`: a copy of an environment, what a change of it differs in, and how it goes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine

CHANGED = """
name: prod fixes
tasks:
- {id: keystone, parameters: {timeout: 7, admin_password: s3cr3t-value}}
- {id: banner, type: shell, version: 2.0.0, requires: [netconfig], roles: [/controller/], parameters: {cmd: "true"}}
"""


@pytest.fixture
def copy(tiny: CommandLine, tmp_path: Path) -> CommandLine:
    """A copy of the environment prod."""
    made = CommandLine(tmp_path / "copy.db")
    done = tiny.ok("env", "clone", 1, "--to-engine", made.engine, "-f", "json")
    assert {part["part"]: part["count"] for part in done.json}["nodes"] == 2
    assert "Not copied: " in done.err
    assert "disks" not in done.err
    return made


def upload(copy: CommandLine) -> None:
    copy.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", "--yes", stdin=CHANGED)


def timeout(engine: CommandLine) -> int:
    """Return the timeout that the environment's own graph gives to keystone."""
    done = engine.ok(
        "graph", "download", "--env", 1, "--cluster", "--type", "default", "--file", "-", "--format", "json"
    )
    tasks = done.json["tasks"] if isinstance(done.json, dict) else done.json
    return int(next(task["parameters"]["timeout"] for task in tasks if task["id"] == "keystone"))


def test_a_new_copy_has_no_differences(tiny: CommandLine, copy: CommandLine) -> None:
    done = tiny("env", "diff", 1, "--with-engine", copy.engine, "--exit-code", "-f", "json")
    assert (done.code, done.json) == (0, [])


def test_a_changed_graph_differs_and_secrets_are_masked(tiny: CommandLine, copy: CommandLine) -> None:
    upload(copy)
    words = ("env", "diff", 1, "--with-engine", copy.engine, "-f", "json")
    assert tiny(*words).code == 0
    done = tiny(*words, "--exit-code")
    assert done.code == 10
    assert done.json == [
        {"part": "graph", "place": "cluster, type default", "path": "keystone.parameters.timeout",
         "copy": 7, "original": 99},
        {"part": "graph", "place": "cluster, type default", "path": "keystone.parameters.admin_password",
         "copy": "***", "original": None},
    ]  # fmt: skip
    assert "s3cr3t-value" not in done.out + done.err


def test_a_graph_goes_back_after_yes(tiny: CommandLine, copy: CommandLine) -> None:
    upload(copy)
    words = ("env", "diff", 1, "--with-engine", copy.engine, "--apply")
    declined = tiny(*words, stdin="n\n", terminal=True)
    assert (declined.code, timeout(tiny)) == (11, 99)
    assert "environment 1" in declined.err
    agreed = tiny(*words, stdin="y\n", terminal=True)
    assert (agreed.code, timeout(tiny)) == (0, 7)
    assert tiny("env", "diff", 1, "--with-engine", copy.engine, "--exit-code").code == 0


def test_without_a_terminal_the_answer_is_an_option(tiny: CommandLine, copy: CommandLine) -> None:
    upload(copy)
    words = ("env", "diff", 1, "--with-engine", copy.engine, "--apply")
    refused = tiny(*words)
    assert (refused.code, timeout(tiny)) == (2, 99)
    assert "--yes" in refused.err
    assert tiny(*words, "--yes").code == 0
    assert timeout(tiny) == 7


def test_a_graph_that_only_the_original_has_stays(tiny: CommandLine, copy: CommandLine) -> None:
    copy.ok("graph", "delete", "--env", 1, "--type", "default", "--yes")
    done = tiny("env", "diff", 1, "--with-engine", copy.engine, "--apply", "--yes", "-f", "json")
    assert [difference["path"] for difference in done.json] == [""]
    assert "not uploaded" in done.err
    assert timeout(tiny) == 99


def test_the_copy_is_found_by_its_name_or_its_id(tiny: CommandLine, tmp_path: Path) -> None:
    trial = tmp_path / "trial.db"
    tiny.ok("env", "clone", 1, "--to-engine", trial, "--name", "trial")
    words = ("env", "diff", 1, "--with-engine", trial, "--exit-code")
    absent = tiny(*words)
    assert absent.code == 5
    assert "--copy" in absent.err
    assert tiny(*words, "--copy", "trial").code == 0
    assert tiny(*words, "--copy", "1").code == 0


def test_an_unknown_environment_creates_no_file(tiny: CommandLine, tmp_path: Path) -> None:
    assert tiny("env", "clone", 9, "--to-engine", tmp_path / "none.db").code == 5
    assert not (tmp_path / "none.db").exists()


def test_changed_original_is_replaced_only_by_force(tiny: CommandLine, copy: CommandLine) -> None:
    upload(copy)
    words = ("env", "diff", 1, "--with-engine", copy.engine)
    assert "changed in the copy." in tiny.ok(*words).err
    colleague = CHANGED.replace("timeout: 7", "timeout: 8")
    tiny.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", "--yes", stdin=colleague)
    assert "changed in the copy and the original" in tiny.ok(*words).err
    refused = tiny(*words, "--apply", "--yes")
    assert (refused.code, timeout(tiny)) == (6, 8)
    assert "cluster, type default" in refused.err
    assert tiny(*words, "--apply", "--yes", "--force").code == 0
    assert timeout(tiny) == 7


def test_a_graph_that_went_back_is_the_new_start_for_both(tiny: CommandLine, copy: CommandLine) -> None:
    words = ("env", "diff", 1, "--with-engine", copy.engine, "--apply", "--yes")
    upload(copy)
    tiny.ok(*words)
    again = CHANGED.replace("timeout: 7", "timeout: 5")
    copy.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", "--yes", stdin=again)
    tiny.ok(*words)
    assert timeout(tiny) == 5
