"""What is installed: Python, libraries, extras, settings, and the program that the shell finds."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec

from fuelclient import __version__, installed
from fuelclient.model.diagnosis import Diagnosis, Health
from fuelclient.settings import Settings

_AREA = "installation"
_MIN_PYTHON = (3, 11, 2)
_EXTRAS = {
    "ssh": ("asyncssh", "tasks over SSH"),
    "dask": ("distributed", "tasks on Dask workers"),
    "server": ("waitress", "the HTTP server"),
}
_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?([^;]*)(;.*)?$")


def examine() -> Iterator[Diagnosis]:
    yield _python()
    yield from _libraries()
    yield from _extras()
    yield from _intruders()
    yield _program()


def sources(settings: Settings) -> Iterator[Diagnosis]:
    """Yield the origins of the settings, and unknown names among them."""
    for text in settings.warnings:
        yield Diagnosis("settings", "names", Health.WARNING, text, "Rename it.")
    origins = sorted({setting.origin for setting in settings.values.values() if setting.origin != "default"})
    yield Diagnosis("settings", "sources", Health.OK, ", ".join(origins) or "all are defaults")


def _python() -> Diagnosis:
    program = f"Python {platform.python_version()} ({sys.executable})"
    if sys.version_info[:3] >= _MIN_PYTHON:
        return Diagnosis(_AREA, "python", Health.OK, f"fuelclient {__version__} on {program}")
    minimum = ".".join(map(str, _MIN_PYTHON))
    return Diagnosis(
        _AREA, "python", Health.ERROR, f"{program} is older than {minimum}", f"Install Python {minimum} or later."
    )


def _libraries() -> Iterator[Diagnosis]:
    """Yield the libraries that are missing or too old, and the number of the others."""
    try:
        requirements = requires("fuelclient") or []
    except PackageNotFoundError:
        message = "fuelclient runs from files and is not installed"
        yield Diagnosis(_AREA, "libraries", Health.WARNING, message, installed.adding(str(installed.CHECKOUT)))
        return
    usable = 0
    for text in requirements:
        match = _REQUIREMENT.match(text)
        if match is None or "extra ==" in text:
            continue
        if problem := _problem(match[1], match[2]):
            yield Diagnosis(_AREA, match[1], Health.ERROR, problem, installed.adding(f"{match[1]}{match[2].strip()}"))
        else:
            usable += 1
    yield Diagnosis(_AREA, "libraries", Health.OK, f"{usable} libraries are installed")


def _problem(name: str, requirement: str) -> str:
    """Describe why a library cannot be used, or return an empty string. Only minimum versions are checked."""
    try:
        installed = version(name)
    except PackageNotFoundError:
        return f"{name} is not installed"
    if (minimum := re.search(r">=\s*([0-9.]+)", requirement)) and _numbers(installed) < _numbers(minimum[1]):
        return f"{name} {installed} is older than {minimum[1]}"
    return ""


def _numbers(text: str) -> tuple[int, ...]:
    """The numbers of a version, for comparisons.

    >>> _numbers("2.31.0") < _numbers("2.4")
    False
    """
    return tuple(map(int, re.findall(r"\d+", text.partition("+")[0])))


def _extras() -> Iterator[Diagnosis]:
    missing = [extra for extra, (module, _) in _EXTRAS.items() if find_spec(module) is None]
    for extra, (module, purpose) in _EXTRAS.items():
        if extra not in missing:
            yield Diagnosis(_AREA, f"extra {extra}", Health.OK, f"{purpose}: {module} is installed")
        else:
            message = f"{module} is not installed; it is only needed for {purpose}"
            yield Diagnosis(_AREA, f"extra {extra}", Health.OK, message, installed.extra_line(extra, *missing))


def _intruders() -> Iterator[Diagnosis]:
    """Yield an error if other packages own files of ours: installing or removing one of them breaks fuel2."""
    if others := installed.intruders():
        message = f"{' and '.join(others)} also has files in the package fuelclient of this environment"
        yield Diagnosis(_AREA, "package", Health.ERROR, message, installed.reinstalling(*others))


def _program() -> Diagnosis:
    """Compare the `fuel2` that the shell finds with this one: after an upgrade, an older one may come first."""
    ours = str(installed.program())
    if (theirs := shutil.which("fuel2")) is None:
        return Diagnosis(
            "paths", "fuel2", Health.WARNING, "the shell does not find fuel2: it is not in PATH",
            f"export PATH={shlex.quote(os.path.dirname(ours))}:$PATH",
        )  # fmt: skip
    if os.path.exists(ours) and os.path.realpath(theirs) != os.path.realpath(ours):
        return Diagnosis(
            "paths", "fuel2", Health.WARNING, f"the shell runs {theirs}, not {ours}", "Change the order of PATH."
        )
    return Diagnosis("paths", "fuel2", Health.OK, theirs)
