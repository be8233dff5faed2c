"""The command lines that fit how this copy was installed; another package over ours; imports of the original client."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from importlib import invalidate_caches
from importlib.metadata import distribution as installed_distribution
from importlib.metadata import requires
from pathlib import Path

import pytest
from command_line import fuel2

from fuelclient import installed
from fuelclient.backends.doctor import installation
from fuelclient.model.diagnosis import Health

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "fuelclient"


def read_by() -> type:
    """The class that reads what is installed: as soon as a library imports `importlib_metadata`, another one."""
    return type(installed_distribution("fuelclient"))


def test_an_extra_is_its_libraries_for_the_pip_of_this_python() -> None:
    python = f"{sys.executable} -m pip install"
    assert installed.extra_line("ssh") == f"{python} 'asyncssh>=2.14'"
    wanted = [text for text in requires("fuelclient") or () if text.endswith('extra == "server"')]
    assert len(wanted) >= 3
    assert all(f"'{text.partition(';')[0]}'" in installed.extra_line("server") for text in wanted)


def test_pipx_injects_where_it_has_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = tmp_path / "fuelclient-old"
    prefix.mkdir()
    (prefix / "pipx_metadata.json").touch()
    monkeypatch.setattr(sys, "prefix", str(prefix))
    assert installed.extra_line("ssh") == "pipx inject fuelclient-old 'asyncssh>=2.14'"
    assert installed.reinstalling("python-fuelclient").startswith("pipx uninstall fuelclient-old && pipx install ")


def test_uv_keeps_what_it_has_added_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "uv-receipt.toml").write_text(
        '[tool]\nrequirements = [{ name = "fuelclient", extras = ["dask"], directory = "/x" }, '
        '{ name = "waitress", specifier = ">=3.0" }]'
    )
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    both = installed.extra_line("ssh", "server", "ssh")  # one after the other, they would remove each other's
    assert both == installed.extra_line("server", "server", "ssh")
    assert "--with 'Flask>=3.0'" in both
    assert "--with 'asyncssh>=2.14'" in both
    line = installed.adding("asyncssh>=2.14")
    assert line.startswith("uv tool install --with 'waitress>=3.0' --with 'asyncssh>=2.14' ")
    assert line.endswith(f"'{ROOT}[dask]'")
    gone = json.dumps({"url": f"file://{tmp_path}/fuelclient.whl"})
    monkeypatch.setattr(read_by(), "read_text", lambda *_: gone)  # a wheel that was deleted
    assert "fuelclient.whl" not in installed.adding("asyncssh>=2.14")


def test_a_system_that_manages_its_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    assert "--break-system-packages" not in installed.adding("x")
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    assert installed.adding("x").endswith(" -m pip install --break-system-packages x")


def test_a_wheel_from_a_folder_is_not_asked_of_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_by(), "read_text", lambda *_: None)  # pip writes no direct_url.json then
    line = installed.reinstalling("python-fuelclient")
    assert "uninstall -y python-fuelclient fuelclient" in line
    assert " install " not in line.partition("then")[0]


def test_the_directory_for_the_path_is_the_one_with_the_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "tools/bin/python"))
    monkeypatch.setattr(installed, "_distribution", lambda: None)
    made, link = tmp_path / "tools/bin/fuel2", tmp_path / "links/fuel2"
    for path in (made, link):
        path.parent.mkdir(parents=True)
    made.touch()
    monkeypatch.setenv("UV_TOOL_BIN_DIR", str(link.parent))
    monkeypatch.setenv("PATH", "/nonexistent")
    assert installed.program() == made
    link.symlink_to(made)
    (found,) = [item for item in installation.examine() if item.area == "paths"]
    assert found.mend == f"export PATH={link.parent}:$PATH"


# Another package over ours


def distribution(site: Path, name: str, *files: str, points: str = "") -> None:
    """Make an installed distribution with these files, empty unless they are there; readers pass over absent ones."""
    for file in files:
        (site / file).parent.mkdir(parents=True, exist_ok=True)
        (site / file).touch()
    described = site / f"{name.replace('-', '_')}-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (described / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    (described / "entry_points.txt").write_text(points)


def test_doctor_names_another_owner_of_our_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    distribution(tmp_path, "other", "other/__init__.py", "fuelclient.py")
    assert not [item for item in installation.examine() if item.name == "package"]
    distribution(tmp_path, "python-fuelclient", "fuelclient/__init__.py", "fuelclient/client.py")
    invalidate_caches()  # the clock of a file system may be too coarse to show that the directory has changed
    (found,) = [item for item in installation.examine() if item.name == "package"]
    assert found.health is Health.ERROR
    assert "python-fuelclient" in found.message
    assert "python-fuelclient" in found.mend


def test_the_first_command_after_an_overwrite_says_so(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "fuelclient", ignore=shutil.ignore_patterns("__pycache__", "examples", "tui"))
    for name in ("__init__", "main"):  # as the original has them
        (tmp_path / f"fuelclient/{name}.py").write_text("__version__ = ''\n" if name == "__init__" else "import sixx\n")
    distribution(tmp_path, "python-fuelclient", "fuelclient/__init__.py")
    code = "from fuelclient.main import main; raise SystemExit(main())"
    for arguments in (["--version"], ["env", "list"]):
        line = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (7, ""), done
        assert "overwritten by python-fuelclient" in done.stderr
        assert "Traceback" not in done.stderr


def test_python_runs_the_package() -> None:
    for module in ("fuelclient", "fuelclient.main"):
        done = subprocess.run([sys.executable, "-m", module, "--version"], cwd=ROOT, capture_output=True, check=True)
        assert done.stdout.startswith(b"fuel2 ")


# Programs and extensions that were written for the original client


ORIGINAL = """
import fuelclient.client
from fuelclient import client, fuelclient_settings
from fuelclient import objects
from fuelclient.objects.environment import Environment
from fuelclient.cli.serializers import Serializer
from fuelclient.v1 import base_v1
from fuelclient import get_client
from fuelclient.commands import task_history
"""


@pytest.mark.parametrize("line", ORIGINAL.strip().splitlines())
def test_imports_of_the_original_name_the_page(line: str) -> None:
    with pytest.raises(ImportError, match=r"fuelclient\.api is the API here, and `python -m pydoc fuelclient\.api`"):
        exec(line)  # noqa: S102 (a line of this file)


def test_attributes_of_the_original_name_the_page() -> None:
    import fuelclient

    with pytest.raises(AttributeError, match=r"fuelclient\.api is the API here, and `python -m pydoc fuelclient\.api`"):
        fuelclient.get_client  # noqa: B018
    assert callable(fuelclient.connect)


def test_an_extension_of_the_original_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    points = "[fuelclient]\nfoo_bar = theirs:Bar\nenv_list = theirs:List\n"
    distribution(tmp_path, "fuel-foo", "theirs.py", points=points)
    done = fuel2("foo", "bar", "--all")
    assert (done.code, done.out) == (2, "")
    assert "'foo bar' comes from the package fuel-foo, which extends python-fuelclient" in done.err
    assert "Did you mean" in fuel2("env", "lst").err
    assert fuel2("env", "list", "--help").code == 0
    assert json.loads(fuel2("doctor", "--no-nodes", "-f", "json").out)
