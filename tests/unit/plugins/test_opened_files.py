"""Each command opens each file of a package once.

A process of its own counts what it opens for reading. Counted are the files of the package that the user names: those
below its directory, or its archive. What is below `deployment_scripts/` is left out, because `plugins check` looks into
each script that a task runs. An installation has a copy of the package beside the engine file: it opens each data file
there twice, once to read it and once for the digest of the copy.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fuelclient.plugins.pack import build_fp, build_rpm
from fuelclient.plugins.skeleton import Skeleton, create

_COUNTING = """
import json, os, sys
opened = []

def note(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)):
        if not arguments[2] & (os.O_WRONLY | os.O_DIRECTORY):
            opened.append(os.path.abspath(os.fsdecode(arguments[0])))

sys.addaudithook(note)
from fuelclient.main import main
code = main(sys.argv[2:])
with open(sys.argv[1], "w") as stream:
    json.dump([code, opened], stream)
"""


def _opened(engine: Path, words: Sequence[str], expected: int = 0) -> Counter[Path]:
    told = engine.with_suffix(".json")
    command = [sys.executable, "-c", _COUNTING, str(told), "plugins", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "FUEL_ENGINE": str(engine)}
    )
    assert told.exists(), done.stderr
    code, paths = json.loads(told.read_text("utf-8"))
    assert code == expected, done.stderr
    return Counter(map(Path, paths))


_KINDS = [("1.0.0", Skeleton.PLUGIN), ("4.0.0", Skeleton.PLUGIN), ("6.0.0", Skeleton.PLUGIN),
          ("5.0.0", Skeleton.MULTI_RELEASE), ("5.0.0", Skeleton.RELEASE)]  # fmt: skip


def _data(package: Path) -> set[Path]:
    return {path for path in package.rglob("*.yaml") if "deployment_scripts" not in path.parts}


_QUICK = [("6.0.0", Skeleton.PLUGIN), ("5.0.0", Skeleton.RELEASE)]
"""The kinds of packages that every command reads in the quick tests; the others are installed only."""


@pytest.mark.parametrize(
    ("words", "version", "kind"),
    [
        pytest.param(words, *kind, marks=() if words == ["install"] or kind in _QUICK else pytest.mark.slow)
        for words in (["check"], ["install"], ["install", "--link"])
        for kind in _KINDS
    ],
)
def test_a_directory(tmp_path: Path, words: list[str], version: str, kind: Skeleton) -> None:
    package = tmp_path / "sample"
    create(package, package_version=version, skeleton=kind)
    code = 6 if "--link" in words and kind is Skeleton.RELEASE else 0  # which cannot be linked

    opened = _opened(tmp_path / "e.db", [*words, str(package)], code)

    assert {path: opened[path] for path in _data(package)} == dict.fromkeys(_data(package), 1)
    if words == ["install"]:
        _require_read_twice(tmp_path, opened, package)


@pytest.mark.parametrize(("version", "build"), [("1.0.0", build_fp), ("5.0.0", build_rpm)])
def test_an_archive(tmp_path: Path, version: str, build: Callable[..., Path]) -> None:
    create(tmp_path / "sample", package_version=version)
    archive = build(tmp_path / "sample", tmp_path, {"name": "sample", "version": "1.0.0", "package_version": version})

    opened = _opened(tmp_path / "e.db", ["install", str(archive)])

    assert opened[archive] == 1
    _require_read_twice(tmp_path, opened, tmp_path / "sample")


def _require_read_twice(directory: Path, opened: Counter[Path], package: Path) -> None:
    """Require that each copy of a data file was opened twice: as a document, and for the digest."""
    [unpacked] = (directory / "e.db.plugins").iterdir()
    copies = {path.relative_to(unpacked) for path in _data(unpacked)}
    assert copies == {path.relative_to(package) for path in _data(package)}
    counts = Counter(path.name for path in opened.elements() if directory / "e.db.plugins" in path.parents)
    assert {name: counts[name] for name in {path.name for path in copies}} == {
        name: 2 * count for name, count in Counter(path.name for path in copies).items()
    }
