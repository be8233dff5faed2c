"""The pages of the guide on a real release with a real plugin: their lines are executed on newton with
detach-rabbitmq, with tasks of that release in the place of those of the packaged example."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from command_line import CommandLine, Done
from corpus import corpus
from shared import shared

pytestmark = pytest.mark.corpus

GUIDE = (Path(__file__).parents[3] / "docs" / "understand.md").read_text(encoding="utf-8")
THERE = {
    "primary-database": "primary-rabbitmq",
    "host-network": "netconfig",
    "dashboard": "horizon",
    "image-service": "glance",
    "compute-api": "heat",
    "image-cache:post_deployment#2": "rabbitmq-firewall",
    "rack-monitoring:post_deployment#3": "rabbitmq-hiera-override",
    "plugin:image-cache": "plugin:detach-rabbitmq",
}
"""What stands in newton for a name of the packaged example."""


def lines(title: str) -> list[list[str]]:
    """Return the commands of a page, without pipes."""
    page = GUIDE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    commands = re.findall(r"^\$ (.+)$", page, re.MULTILINE)
    assert commands
    words = [shlex.split(command, comments=False) for command in commands]
    return [[THERE.get(word, word) for word in _unpiped(line)] for line in words]


def _unpiped(words: list[str]) -> list[str]:
    """Return a command without what follows a pipe, and without where its output goes; `echo` keeps that."""
    end = min((words.index(sign) for sign in ("|", ">") if sign in words and words[0] != "echo"), default=len(words))
    return words[:end]


@pytest.fixture(scope="module")
def newton(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Environment 1 of newton with the plugin, on a controller, a compute node and a node for RabbitMQ."""
    directory = tmp_path_factory.mktemp("newton")
    shared("newton-with-rabbitmq", _make, directory)
    return CommandLine(directory / "engine.db")


def _make(directory: Path) -> None:
    fuel2 = CommandLine(directory / "engine.db")
    fuel2.ok("release", "import", corpus("fuel-web", "newton", "nailgun", "nailgun", "fixtures", "openstack.yaml"))
    tree = corpus("fuel-library", "newton", "deployment", "puppet")
    fuel2.ok("graph", "upload", "--release", 2, "--type", "default", "--dir", tree)
    fuel2.ok("plugins", "install", corpus("plugins", "fuel-plugin-detach-rabbitmq"))
    fuel2.ok("env", "create", "newton", "--release", 2)
    fuel2.ok("plugins", "enable", "detach-rabbitmq", "--env", 1)
    for number, role in enumerate(("controller", "compute", "standalone-rabbitmq"), start=1):
        fuel2.ok("node", "create", f"node-{number}", "--executor", "noop", "--env", 1, "--roles", role)


def asked(newton: CommandLine, words: list[str], directory: Path) -> Done:
    """Execute a line of the guide in a directory."""
    if words[0] == "echo":
        text, _, name = words[1:]
        for here, there in THERE.items():
            text = text.replace(here, there)
        (directory / name).write_text(text, encoding="utf-8")
        return Done(0, "", "")
    assert words[0] == "fuel2"
    done = newton(*[str(directory / word) if word == "own.yaml" else word for word in words[1:]])
    assert done.code == 0, (words, done)
    return done


def test_who_set_this_timeout(newton: CommandLine, tmp_path: Path) -> None:
    timeout, requires, condition = (asked(newton, line, tmp_path).out for line in lines("Who set this timeout?"))
    assert "primary-rabbitmq: plugin detach-rabbitmq-" in timeout
    assert "over release" in timeout
    assert "deployment_tasks.yaml:" in timeout
    assert "does not have the task" in requires, "every layer is asked"
    assert "netconfig" in condition


def test_why_does_my_task_run_too_early(newton: CommandLine, tmp_path: Path) -> None:
    answers = [asked(newton, line, tmp_path).out for line in lines("Why does my task run too early?")]
    assert answers[0].startswith("horizon runs after netconfig")
    assert "rabbitmq-hiera-override" in answers[-1]


def test_what_changes_with_the_plugin(newton: CommandLine, tmp_path: Path) -> None:
    answers = [asked(newton, line, tmp_path).out for line in lines("What changes if I enable this plugin?")]
    without, _, own = answers
    assert "- rabbitmq-firewall" in without
    assert re.search(r"~ primary-rabbitmq", without)
    assert "Order: " in without
    assert "Order: " in own


def test_what_will_a_redeploy_do(newton: CommandLine, tmp_path: Path) -> None:
    """Up to the run: the tasks of newton cannot succeed on a machine that is no node."""
    before = asked(newton, lines("What will a redeploy do?")[0], tmp_path).out
    counted = re.match(r"(\d+) task instances would run, (\d+) would be skipped", before)
    assert counted
    assert int(counted[1]) > 100
    assert "run   ntp-client  on 2: it never succeeded there" in before
    assert newton("env", "drift", 1).code == 5
