"""Wheel and sdist install in an empty home with the versions of constraints.txt, and stay small."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from checkouts import copy_of_the_checkout
from pythons import pythons

ROOT = Path(__file__).resolve().parents[2]
CONSTRAINTS = ROOT / "constraints.txt"
_MEGABYTE = 1_000_000
_WHEEL = 1_400_000
"""The most bytes of a wheel. The aim is 1 MB; a twelfth of a wheel is what a zip file says of each of its files."""

_TOOLS = ("pip", "setuptools", "wheel", "_distutils_hack")
_BUILD = "import sys, setuptools.build_meta as backend; print(getattr(backend, f'build_{sys.argv[1]}')(sys.argv[2]))"


def environment(directory: Path, interpreter: str = sys.executable) -> Path:
    """Return the directory `bin` of a new virtual environment."""
    subprocess.run([interpreter, "-m", "venv", str(directory)], check=True)
    return directory / "bin"


def install(programs: Path, *wanted: str) -> None:
    """Install packages in a virtual environment; byte code is left to the first start, which is quicker here."""
    options = ["--quiet", "--disable-pip-version-check", "--no-compile", "--constraint", str(CONSTRAINTS)]
    subprocess.run([str(programs / "python"), "-m", "pip", "install", *options, *wanted], check=True)


def built(directory: Path) -> tuple[Path, Path]:
    """Return the wheel and the sdist of what the repository has."""
    builder = environment(directory / "builder")
    install(builder, "setuptools", "wheel")
    copy = directory / "source"
    copy_of_the_checkout(copy)
    for kind in ("wheel", "sdist"):
        build = [str(builder / "python"), "-c", _BUILD, kind, str(directory)]
        subprocess.run(build, cwd=copy, check=True, capture_output=True)
    [wheel], [sdist] = directory.glob("*.whl"), directory.glob("*.tar.gz")
    return wheel, sdist


def size(directory: Path) -> int:
    """Return the bytes of what is installed, without byte code and without the tools of a new environment."""
    return sum(
        path.stat().st_size
        for path in directory.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
        and not path.relative_to(directory).parts[0].startswith(_TOOLS)
    )  # fmt: skip


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return built(tmp_path_factory.mktemp("built"))


@pytest.mark.slow
def test_the_wheel_is_small(packages: tuple[Path, Path]) -> None:
    assert packages[0].stat().st_size < _WHEEL


@pytest.mark.slow
def test_wheel_and_sdist_install_and_run(packages: tuple[Path, Path], tmp_path: Path) -> None:
    """With this Python, and one of each other version that is there."""
    for version, interpreter in {"this": sys.executable, **pythons()}.items():
        install_and_run(interpreter, *packages, tmp_path / version)


@pytest.mark.slow
def test_a_build_leaves_nothing_behind_and_takes_nothing_that_was_deleted(
    packages: tuple[Path, Path], tmp_path: Path
) -> None:
    builder, copy = packages[0].parent / "builder/bin/python", tmp_path / "source"
    copy_of_the_checkout(copy)
    before, deleted = set(copy.iterdir()), copy / "fuelclient/deleted.py"
    deleted.write_text('"""A module that the next version does not have."""\n')

    def names(directory: str) -> set[str]:
        build = [str(builder), "-c", _BUILD, "wheel", str(tmp_path / directory)]
        subprocess.run(build, cwd=copy, check=True, capture_output=True)
        [wheel] = (tmp_path / directory).glob("*.whl")
        return set(zipfile.ZipFile(wheel).namelist())

    assert "fuelclient/deleted.py" in names("first")
    deleted.unlink()
    assert "fuelclient/deleted.py" not in names("second")
    assert set(copy.iterdir()) == before


def install_and_run(interpreter: str, wheel: Path, sdist: Path, tmp_path: Path) -> None:
    programs = environment(tmp_path / "user", interpreter)
    install(programs, str(wheel))
    [site] = (tmp_path / "user/lib").glob("python*/site-packages")
    assert size(site) <= 80 * _MEGABYTE
    assert (site / "fuelclient/py.typed").is_file()
    assert (tmp_path / "user/share/man/man1/fuel2-graph.1").is_file()
    try_it(programs, tmp_path / "home")
    files = {path.relative_to(site) for path in (site / "fuelclient").rglob("*") if "__pycache__" not in path.parts}
    install(programs, "--force-reinstall", "--no-deps", str(sdist))
    assert {path for path in files if not (site / path).exists()} == set()
    try_it(programs, tmp_path / "home-of-sdist")


def try_it(programs: Path, home: Path) -> None:
    """Run the first commands of a new user in an empty home."""
    home.mkdir()
    for line in (["demo"], ["graph", "preview", "--env", "demo"], ["complete", "--shell", "fish"], ["doctor"]):
        environment = {"HOME": str(home), "PATH": f"{programs}:{os.environ['PATH']}"}
        done = subprocess.run(["fuel2", *line], cwd=home, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done
