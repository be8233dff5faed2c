"""Cases in files below `tests/cases`: each directory is read by one test, which names it here."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

CASES = Path(__file__).parents[1] / "cases"


def paths_of(*directories: str) -> Sequence[Path]:
    """The files of these directories, in order; a directory without any is an error."""
    found = {directory: sorted((CASES / directory).glob("*.yaml")) for directory in directories}
    assert all(found.values()), found
    return [path for paths in found.values() for path in paths]


def read(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)


def all_cases(*directories: str) -> Sequence[Any]:
    return [read(path) for path in paths_of(*directories)]


@dataclass(frozen=True)
class CaseFile:
    path: Path
    keys: Collection[str]

    def load(self) -> Any:
        """The data of a file, new for each test: some change it."""
        case = read(self.path)
        if self.keys:
            assert {"says", "recorded", *self.keys} == {*case} - {"decision"}, self.path
        return case


def case_files(*directories: str, keys: Collection[str] = ()) -> pytest.MarkDecorator:
    """Call a test with the data of each file as `case`, which is read when its test begins. With `keys`, each case has
    exactly these, says what it shows, where its answer was recorded, and maybe which decision it differs by."""
    paths = paths_of(*directories)
    ids = [f"{path.parent.name}-{path.stem}" if len(directories) > 1 else path.stem for path in paths]
    return pytest.mark.parametrize("case", [CaseFile(path, keys) for path in paths], ids=ids, indirect=True)
