"""`fuel2 demo`, killed at any moment: it leaves all of the examples or none of them, and can be repeated."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import CommandLine

COMMAND = (sys.executable, "-m", "fuelclient.main", "--engine")


def lists(fuel2: CommandLine) -> list[int]:
    """How many releases, plugins, environments, nodes and graphs there are."""
    nouns = ("release", "plugins", "env", "node", "graph")
    return [len(fuel2.ok(noun, "list", "-f", "json").json) for noun in nouns]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[int], float]:
    """What an undisturbed one leaves, and how many seconds it took."""
    fuel2 = CommandLine(tmp_path_factory.mktemp("whole") / "engine.db")
    began = time.monotonic()
    subprocess.run([*COMMAND, str(fuel2.engine), "demo"], check=True, capture_output=True)
    return lists(fuel2), time.monotonic() - began


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 40))])
def test_a_killed_demo_leaves_all_or_nothing(tmp_path: Path, whole: tuple[list[int], float], seed: int) -> None:
    fuel2 = CommandLine(tmp_path / "engine.db")
    every, took = whole
    killed = subprocess.Popen([*COMMAND, str(fuel2.engine), "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(random.Random(seed).uniform(0.3, 1.1) * took)  # noqa: S311 - no secret
    killed.kill()
    killed.communicate()

    assert lists(fuel2) in ([0] * 5, every)
    fuel2.ok("demo")
    assert lists(fuel2) == every
