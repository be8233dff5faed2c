"""Settings of the whole test suite, made at import: every test, and every process that a test starts, finds the same
environment, whatever the user who runs the tests has configured."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest
from forked.sitecustomize import ADDRESS
from forked.zygote import zygote
from hypothesis import HealthCheck, settings
from opened import close_all
from shared import sharing

KEPT = {"FUEL_CORPUS"}
"""Variables that are meant for the tests themselves."""

PREFIXES = (
    # read by fuelclient.settings, or by the libraries it uses
    "DASK_", "FUEL", "HANDLER_COMMANDS", "KEYSTONE_", "LISTEN_PORT", "OS_", "SERVER_", "SOURCE_DATE_EPOCH", "XDG_",
    # proxies
    "ALL_PROXY", "FTP_PROXY", "HTTP_", "HTTPS_PROXY", "NO_PROXY",
    # what output and terminals depend on
    "CLICOLOR", "COLORTERM", "COLUMNS", "FORCE_COLOR", "LANG", "LC_", "LINES", "NO_COLOR", "PAGER", "TERM", "TEXTUAL",
    "TMUX", "TZ",
    # what the shells, Pythons, editors and SSH clients that tests start would obey
    "BASH_ENV", "CDPATH", "ENV", "GIT_", "GREP_", "IFS", "POSIXLY_CORRECT", "PROMPT_COMMAND", "PYTHONASYNCIODEBUG",
    "PYTHONDEVMODE", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONINSPECT", "PYTHONIOENCODING", "PYTHONOPTIMIZE",
    "PYTHONSTARTUP", "PYTHONUTF8", "PYTHONWARNINGS", "SSH_", "TMOUT",
)  # fmt: skip
"""How the names of all other variables begin that change what is tested, in capitals or small letters."""

FIXED = {"LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "TZ": "UTC"}


def isolate() -> None:
    """Take away what the user has configured: variables, files in the home directory, time zone, locale and umask."""
    home = Path(os.environ.get("HOME", "/nonexistent"))
    _keep_pip_working(home, dict(os.environ))
    for name in set(os.environ) - KEPT:
        if name.upper().startswith(PREFIXES):
            del os.environ[name]
    _work_in_memory()
    empty = tempfile.mkdtemp(prefix="fuelclient-home-")
    atexit.register(shutil.rmtree, empty, ignore_errors=True)
    os.environ.update(FIXED, HOME=empty)
    time.tzset()
    os.umask(0o022)
    sys.dont_write_bytecode = False  # or each of hundreds of processes would compile the whole package


def _work_in_memory(room: int = 4 << 30) -> None:
    """Put the files of tests into memory, if it has room for them: a sixth of the processor time went into waiting for
    disks, and engine files are made by the thousand. Whoever sets TMPDIR wants them there."""
    memory = Path("/dev/shm")  # noqa: S108 (pytest makes a directory of its own there)
    if "TMPDIR" not in os.environ and memory.is_dir() and os.access(memory, os.W_OK):
        found = os.statvfs(memory)
        if found.f_bavail * found.f_frsize >= room and not found.f_flag & os.ST_NOEXEC:
            os.environ["TMPDIR"] = tempfile.tempdir = str(memory)


def _keep_pip_working(home: Path, environ: dict[str, str]) -> None:
    """Tell pip by its own variables where the user's index, proxy and cache are: the integration tests install other
    programs, and pip would look for all of these in the home directory and in variables that are taken away."""
    configured = [home / ".pip/pip.conf", Path(environ.get("XDG_CONFIG_HOME", home / ".config")) / "pip/pip.conf"]
    for path in filter(os.path.exists, configured):
        os.environ.setdefault("PIP_CONFIG_FILE", str(path))
    proxy = environ.get("HTTPS_PROXY") or environ.get("https_proxy")
    if proxy:
        os.environ.setdefault("PIP_PROXY", proxy)
    cache = Path(environ.get("XDG_CACHE_HOME", home / ".cache")) / "pip"
    os.environ.setdefault("PIP_CACHE_DIR", str(cache))


isolate()

# Properties are judged by their answers, not by how busy the machine is.
settings.register_profile("fuelclient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("fuelclient"), max_examples=30)
settings.load_profile("fuelclient")

# A shell that puts a job into the background lets it ignore interrupts, and so would everything that the job starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# nohup does the same with hangups, and then a closed terminal would end nothing.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Any:
    """The data of a case file (`case_files`)."""
    return request.param.load()


@pytest.fixture(autouse=True)
def close_what_was_opened() -> Iterator[None]:
    """Close the engine files that a test opened."""
    yield
    close_all()


def pytest_configure(config: pytest.Config) -> None:
    """Try properties with fewer examples where the slow tests are left out."""
    if "not slow" in config.option.markexpr:
        settings.load_profile("quick")
    if not (hasattr(config, "workerinput") or config.option.collectonly):
        config.add_cleanup(_started(sharing()))
        config.add_cleanup(_started(zygote()))


def _started(context: AbstractContextManager[None]) -> Callable[[], None]:
    """Enter a context, and return what leaves it."""
    with ExitStack() as stack:
        stack.enter_context(context)
        return stack.pop_all().close


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collecting makes hardly any garbage: to look for it took a fifth of the time, in each worker."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """What is imported and collected by now lives to the end. To look through it for garbage again and again took a
    fifth of the processor time of tests of the terminal UI."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--renew", action="store_true", help="write golden files and pictures anew instead of comparing with them"
    )


@pytest.fixture
def real_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runners as users have them, each a Python that imports for itself."""
    monkeypatch.delenv(ADDRESS, raising=False)


@pytest.fixture(scope="session")
def renew(request: pytest.FixtureRequest) -> bool:
    """Whether golden files and pictures are written anew."""
    return bool(request.config.getoption("--renew"))
