"""Copies that pip, pipx and uv install: each hint works as it is printed, and nothing is left of them afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from checkouts import copy_of_the_checkout
from integration.cached_environments import Absent, environment
from pythons import pythons

pytestmark = pytest.mark.slow

PASSED_ON = ("PIP_", "UV_", "SSL_CERT_")
MINORS = tuple(sorted(("3.11", "3.12", "3.13"), key=lambda minor: minor != "{}.{}".format(*sys.version_info)))
"""The versions of Python that copies are tried on: that of the tests first."""
WAYS = {
    "pip": (
        "python3 -m venv $HOME/venv && $HOME/venv/bin/pip install -q --no-compile {}",
        "$HOME/venv/bin/pip uninstall -q -y fuelclient && rm -r $HOME/venv",
    ),
    "editable": (
        "python3 -m venv $HOME/venv && $HOME/venv/bin/pip install -q --no-compile -e {clone}",
        "$HOME/venv/bin/pip uninstall -q -y fuelclient && rm -r $HOME/venv",
    ),
    "pipx": ("pipx install -q {}", "pipx uninstall fuelclient"),
    "uv": ("uv tool install -q {}", "uv tool uninstall fuelclient"),
}
"""The lines that install and remove a copy."""


@dataclass
class Account:
    """A home, in which a shell runs command lines; it finds the installers, a Python and the programs of the system."""

    home: Path
    path: str
    python: str

    def sh(self, line: str) -> subprocess.CompletedProcess[str]:
        environ = {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}
        environ |= {"HOME": str(self.home), "PATH": self.path, "LC_ALL": "C.UTF-8"}
        environ |= {"PIPX_DEFAULT_PYTHON": self.python, "UV_PYTHON": self.python}
        return subprocess.run(["sh", "-c", line], cwd="/", env=environ, capture_output=True, text=True, check=False)

    def ok(self, line: str) -> str:
        done = self.sh(line)
        assert done.returncode == 0, (line, done)
        return done.stdout

    def fuel2(self, words: str) -> str:
        """The command line of the copy, wherever it is."""
        places = (self.home / "venv/bin/fuel2", self.home / ".local/bin/fuel2")
        return f"{next(path for path in places if path.exists())} {words}"

    def interpreter(self) -> str:
        """The Python that the copy runs with."""
        return str(Path(self.fuel2("").strip()).resolve().with_name("python"))

    def mends(self) -> dict[str, tuple[str, str]]:
        """What `doctor` says of each subject, and its mend."""
        rows = json.loads(self.sh(self.fuel2("doctor --no-nodes -f json")).stdout)
        return {row["name"]: (row["message"], row["fix"]) for row in rows}

    def files(self) -> set[str]:
        """Every file of the home, without what installers keep for all programs."""
        pipx = (".local/share/pipx/py", ".local/share/pipx/shared", ".local/share/pipx/venvs/.", ".local/state/pipx")
        theirs = (".cache", ".local/share/uv/tools/.", *pipx)
        names = {str(path.relative_to(self.home)) for path in self.home.rglob("*") if not path.is_dir()}
        return {name for name in names if not name.startswith(theirs)}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A clone, and a wheel of it, as the words of a line that installs them."""
    directory = tmp_path_factory.mktemp("built")
    copy_of_the_checkout(directory / "clone")
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(directory), str(directory / "clone")]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"pip finds no packages here: {done.stderr.strip().splitlines()[-1:]}")
    [wheel] = directory.glob("*.whl")
    return {"wheel": str(wheel), "clone": str(directory / "clone")}


@pytest.fixture
def minor() -> str:
    """The version of Python that a copy is installed with."""
    return MINORS[0]


@pytest.fixture
def account(tmp_path: Path, minor: str) -> Account:
    known = {version.rpartition(".")[0]: path for version, path in pythons().items()} | {MINORS[0]: sys.executable}
    if minor not in known:
        pytest.skip(f"this machine has no Python {minor}")
    try:
        installers = Path(environment("installers", ("pipx", "uv"), lambda _: None).python).parent
    except Absent as error:
        pytest.skip(str(error))
    (tmp_path / "home").mkdir()
    (tmp_path / "bin").mkdir()
    python = Path(known[minor]).resolve()
    (tmp_path / "bin/python3").symlink_to(python)
    return Account(tmp_path / "home", f"{tmp_path / 'bin'}:{installers}:/usr/bin:/bin", str(python))


@pytest.fixture
def install(account: Account, built: dict[str, str]) -> Callable[[str], str]:
    def made(way: str) -> str:
        account.ok(WAYS[way][0].format(built["wheel"], clone=built["clone"]))
        return WAYS[way][1]

    return made


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("way", WAYS)
def test_a_copy_runs_its_hint_for_an_extra_works_and_nothing_stays(
    way: str, minor: str, account: Account, install: Callable[[str], str], tmp_path: Path
) -> None:
    before = account.files()
    remove = install(way)
    interpreter, engine = account.interpreter(), f"--engine {tmp_path / 'engine.db'}"
    assert account.ok(f"{interpreter} -c 'import sys; print(sys.version)'").startswith(f"{minor}.")
    account.ok(account.fuel2(f"{engine} demo -q"))
    assert "host-network" in account.ok(account.fuel2(f"{engine} graph preview --env demo --only changed"))
    message, mend = account.mends()["extra ssh"]
    assert "not installed" in message

    account.ok(mend)

    mends = account.mends()
    assert "is installed" in mends["extra ssh"][0]
    directory = Path(account.fuel2("")).parent
    assert mends["fuel2"][1] == f"export PATH={directory}:$PATH"
    account.ok(account.fuel2("complete --install --shell zsh"))
    account.ok(account.fuel2("complete --uninstall"))
    account.ok(remove)
    assert account.files() == before


def original(directory: Path) -> Path:
    """A wheel that has what matters of python-fuelclient: files of ours, and a program of the same name."""
    path, info = directory / "python_fuelclient-11.0.0-py3-none-any.whl", "python_fuelclient-11.0.0.dist-info"
    files = {
        "fuelclient/__init__.py": "__version__ = '11'\n",
        "fuelclient/main.py": "import a_library_that_is_not_there\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: python-fuelclient\nVersion: 11.0.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\nfuel2 = fuelclient.main:main\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def test_the_first_command_after_the_original_was_installed_says_so(
    account: Account, install: Callable[[str], str], tmp_path: Path
) -> None:
    install("pip")
    account.ok(f"$HOME/venv/bin/pip install -q {original(tmp_path)}")

    done = account.sh(account.fuel2("--version"))

    assert (done.returncode, done.stdout) == (7, "")
    assert "overwritten by python-fuelclient" in done.stderr
    account.ok(done.stderr.splitlines()[-1])
    assert account.ok(account.fuel2("--version")).startswith("fuel2 ")
    assert "package" not in account.mends()
