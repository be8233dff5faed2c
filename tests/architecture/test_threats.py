"""What docs/threats.md promises has a test or a reason, and the tests exist."""

from __future__ import annotations

import re
from pathlib import Path

from failures import failures

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/threats.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[^`]+)`", TEXT)))


def test_a_named_test_exists() -> None:
    def check(name: str) -> None:
        path, _, function = name.partition("::")
        source = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"^(async )?def {function or 'test_'}", source, re.MULTILINE)

    assert failures(NAMED, check) == {}


def test_every_paragraph_has_a_test_or_a_reason() -> None:
    paragraphs = [part for part in re.split(r"\n\n(?=\*\*)|\n## [^\n]*\n", TEXT)[2:] if part.strip()]
    assert len(paragraphs) > 10
    assert [part for part in paragraphs if "`tests/" not in part and "*Reason:*" not in part] == []


def test_each_exception_from_the_security_rules_has_its_reason() -> None:
    exceptions = [
        f"{path}:{line.strip()}"
        for path in (ROOT / "fuelclient").rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"# noqa: .*S\d{3}", line) and not re.search(r"# noqa: (?:[A-Z]+\d+,? ?)+\W*[a-z]", line)
    ]
    assert exceptions == []
