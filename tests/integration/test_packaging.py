"""Wheel and sdist install in an empty home with the versions of constraints.txt, and stay small."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pythons import pythons

ROOT = Path(__file__).resolve().parents[2]
CONSTRAINTS = ROOT / "constraints.txt"
_MEGABYTE = 1_000_000
_WHEEL = 1_150_000
"""The most bytes of a wheel. The aim is 1 MB; a tenth of a wheel is what a zip file says of each of its files."""

_TOOLS = ("pip", "setuptools", "wheel", "_distutils_hack")
_BUILD = "import sys, setuptools.build_meta as backend; print(getattr(backend, f'build_{sys.argv[1]}')(sys.argv[2]))"


INTERPRETERS = [sys.executable, *pythons().values()]
"""This Python, and one of each other version that is there."""


def installed(directory: Path, *wanted: str, interpreter: str = sys.executable) -> Path:
    """Return the directory `bin` of a new virtual environment with some packages."""
    subprocess.run([interpreter, "-m", "venv", str(directory)], check=True)
    python = str(directory / "bin/python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--constraint", str(CONSTRAINTS)]
    subprocess.run([*pip, *wanted], check=True)
    return directory / "bin"


def size(directory: Path) -> int:
    """Return the bytes of what is installed, without byte code and without the tools of a new environment."""
    return sum(
        path.stat().st_size
        for path in directory.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
        and not path.relative_to(directory).parts[0].startswith(_TOOLS)
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_a_package_installs_and_runs(kind: str, tmp_path: Path) -> None:
    builder = installed(tmp_path / "builder", "setuptools", "wheel")
    copy = tmp_path / "source"
    files = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], check=True, capture_output=True, text=True
    ).stdout
    for name in filter(None, files.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    build = [str(builder / "python"), "-c", _BUILD, kind, str(tmp_path)]
    built = subprocess.run(build, cwd=copy, check=True, capture_output=True, text=True).stdout.split()[-1]
    if kind == "wheel":
        assert (tmp_path / built).stat().st_size < _WHEEL
    for number, interpreter in enumerate(INTERPRETERS):
        user = tmp_path / f"user-{number}"
        programs = installed(user, str(tmp_path / built), interpreter=interpreter)
        (packages,) = (user / "lib").glob("python*/site-packages")
        assert size(packages) <= 80 * _MEGABYTE
        assert (packages / "fuelclient/py.typed").is_file()
        try_it(programs, tmp_path / f"home-{number}")


def try_it(programs: Path, home: Path) -> None:
    """Run the first commands of a new user in an empty home."""
    home.mkdir()
    for line in (["demo"], ["graph", "preview", "--env", "demo"], ["complete", "--shell", "fish"], ["doctor"]):
        environment = {"HOME": str(home), "PATH": f"{programs}:{os.environ['PATH']}"}
        done = subprocess.run(["fuel2", *line], cwd=home, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done
