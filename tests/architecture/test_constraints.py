"""`make` installs the versions of constraints.txt, which has every requirement of the package, its extras and tests."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def requirements() -> list[str]:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    blocks = [setup["options"]["install_requires"], *setup["options.extras_require"].values()]
    return sorted({line for block in blocks for line in block.split("\n") if line})


def pinned() -> dict[str, tuple[int, ...]]:
    """Return the version of each library by its normal name."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line.split("==") for line in lines if not line.startswith("#")]
    return {name: numbers(version) for name, version in pins}


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


@pytest.mark.parametrize("requirement", requirements())
def test_every_requirement_has_a_version_that_fits(requirement: str) -> None:
    match = _NAME.match(requirement)
    assert match is not None
    version = pinned().get(re.sub(r"[._-]+", "-", match[0]).lower())
    assert version is not None, f"{requirement}: run make constraints"
    limits = dict(re.findall(r"(>=|<)\s*([0-9.]+)", requirement))
    assert version >= numbers(limits.get(">=", "0")), requirement
    assert "<" not in limits or version < numbers(limits["<"]), requirement
