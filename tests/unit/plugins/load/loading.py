"""Packages that are written for one test, and the findings with which they are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fuelclient.errors import InvalidDocument
from fuelclient.model.finding import Finding
from fuelclient.plugins.load import load_package

HEAD = "name: sample\nversion: 1.2.3\npackage_version: 5.0.0\n"

Build = Callable[..., Path]


def refused(root: Path) -> list[Finding]:
    """The error findings with which a package is refused."""
    with pytest.raises(InvalidDocument) as caught:
        load_package(root)
    return [one for one in caught.value.findings if isinstance(one, Finding) and one.is_error]


def only(root: Path) -> tuple[str, str, str]:
    """The file, with its line, the code and the message of the one error of a package."""
    [finding] = refused(root)
    return str(finding.place).removeprefix(f"{root}/"), finding.code, finding.message


def only_place(finding: Finding, root: Path) -> tuple[str, str]:
    """A finding's place below the package, and its code."""
    return str(finding.place).removeprefix(f"{root}/"), finding.code
