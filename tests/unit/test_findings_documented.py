"""docs/findings.md has exactly the finding codes that the package uses."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_codes_in_code_and_documentation_agree() -> None:
    sources = (ROOT / "fuelclient").rglob("*.py")
    used = {code for path in sources for code in re.findall(r'"([GNP]\d{3})"', path.read_text(encoding="utf-8"))}
    documented = re.findall(r"^\| ([GNP]\d{3}) \|", (ROOT / "docs/findings.md").read_text(encoding="utf-8"), re.M)

    assert sorted(documented) == sorted(used)
