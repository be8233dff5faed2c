"""Check packages that are correct except for what the case file changes.

An expected finding is its severity, code and place, and optionally a part of its message behind them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from case_files import paths_of, read
from valid_packages import write_package

from fuelclient.plugins.checks import check

_KEYS = {"package", "metadata", "without", "files", "expected", "ignoring"}


def _variants() -> list[Any]:
    found = []
    for path in paths_of("plugins-check"):
        case = read(path)
        assert {"says", "recorded", "cases"} <= set(case) <= {"says", "recorded", "decision", "cases"}, path
        for number, variant in enumerate(case["cases"], 1):
            assert set(variant) <= _KEYS, (path, set(variant))
            packages = variant.get("package", [5])
            for major in packages if isinstance(packages, list) else [packages]:
                name = f"{path.stem}-{number}-v{major}"
                found.append(pytest.param(major, variant, f"{path.stem}: {case['says']}", id=name))
    return found


@pytest.mark.parametrize(("major", "variant", "says"), _variants())
def test_case(major: int, variant: dict[str, Any], says: str, tmp_path: Path) -> None:
    package = write_package(
        tmp_path / "sample",
        major,
        metadata=variant.get("metadata"),
        without=variant.get("without", ()),
        files=variant.get("files"),
    )

    findings = [one for one in check(package, shown_as="x") if one.code not in variant.get("ignoring", ())]

    stated = [f"{one.severity} {one.code} {one.place}".replace(" x/", " ") for one in findings]
    expected = [" ".join(line.split(" ", 3)[:3]) for line in variant["expected"]]
    assert stated == expected, (says, [str(one) for one in findings])
    for line, finding in zip(variant["expected"], findings, strict=True):
        part = " ".join(line.split(" ", 3)[3:])
        assert part in finding.message, (says, finding.message)
        assert finding.hint, finding
        assert finding.place.file, finding


def test_every_vector_has_a_case() -> None:
    stems = {path.stem for path in paths_of("plugins-check")}
    vectors = {f"{number:02d}" for number in range(1, 64)} | {f"S{number}" for number in range(1, 9)}
    assert vectors <= {stem.partition("-")[0] for stem in stems}
