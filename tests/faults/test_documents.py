"""Hostile documents: each is refused within seconds, with one finding, and takes nothing down with it."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from refusals import refused

from fuelclient import files
from fuelclient.errors import InvalidDocument
from fuelclient.files.limits import MAX_DEPTH
from fuelclient.files.yaml_text import parse
from fuelclient.model.finding import Finding
from fuelclient.serializers.graph import document_from

LEVELS = 100_000
SECONDS = 10.0


def _bomb(wrap: str) -> str:
    """Nine aliases of nine aliases of ...: a kilobyte that stands for 9 ** 12 values."""
    lines = ["a0: &a0 {x: y}"]
    lines += [f"a{level}: &a{level} " + wrap % ", ".join([f"*a{level - 1}"] * 9) for level in range(1, 12)]
    return "\n".join(lines)


def _deep_aliases() -> str:
    """Each list holds the one before it: flat to look at, deep to walk."""
    return "- &a0 []\n" + "".join(f"- &a{level} [*a{level - 1}]\n" for level in range(1, 5000))


HOSTILE: dict[str, tuple[str, Callable[[], str], str]] = {
    "flow lists, never closed": ("f.yaml", lambda: "[" * LEVELS, "nested deeper"),
    "flow lists": ("f.yaml", lambda: "[" * LEVELS + "]" * LEVELS, "nested deeper"),
    "flow mappings": ("f.yaml", lambda: "{a: " * LEVELS + "}" * LEVELS, "nested deeper"),
    "compact block lists": ("f.yaml", lambda: "- " * LEVELS + "a", "nested deeper"),
    "compact block keys": ("f.yaml", lambda: "? " * LEVELS + "a", "nested deeper"),
    "indented block mappings": ("f.yaml", lambda: "".join(f"{' ' * n}a:\n" for n in range(4000)), "nested deeper"),
    "deep below a wide list": ("f.yaml", lambda: "- a\n" * 1000 + "- " * LEVELS, "nested deeper"),
    "aliases of aliases": ("f.yaml", _deep_aliases, "nested deeper"),
    "json lists": ("f.json", lambda: "[" * LEVELS + "]" * LEVELS, "nested deeper"),
    "json objects": ("f.json", lambda: '{"a":' * LEVELS + "1" + "}" * LEVELS, "nested deeper"),
    "alias bomb": ("f.yaml", lambda: _bomb("[%s]"), "more than 1000000 values"),
    "merge bomb": ("f.yaml", lambda: _bomb("{<<: [%s]}"), "more than 1000000 values"),
    "more values than memory": ("f.yaml", lambda: "[" + "[]," * 5_000_000 + "]", "more than 1000000 values"),
    "more json values than memory": ("f.json", lambda: "[" + "{}," * 5_000_000 + "{}]", "more than 1000000 values"),
    "fifty megabytes": ("f.yaml", lambda: "- a: b\n" * 7_500_000, "larger than 16 MiB"),
    "fifty megabytes of json": ("f.json", lambda: "[" + "1," * 25_000_000 + "1]", "larger than 16 MiB"),
    "NUL": ("f.yaml", lambda: "a: b\n\0", "U+0000"),
    "NUL in json": ("f.json", lambda: '{"a": "\0"}', "not JSON"),
    "an object": ("f.yaml", lambda: "a: !!python/object/apply:os.system ['touch owned']", "!!python/object/apply"),
    "an object at the root": ("f.yaml", lambda: "!!python/object/new:os.system ['touch owned']", "!!python/object/new"),
    "a module": ("f.yaml", lambda: "!!python/module:os a", "!!python/module"),
    "one anchor twice": ("f.yaml", lambda: "a: &x 1\nb: &x 2\nc: *x", "defined twice"),
    "a list in itself": ("f.yaml", lambda: "&a [*a, *a]", "inside the value"),
    "a mapping in itself": ("f.yaml", lambda: "&a {x: {y: *a}}", "inside the value"),
    "a merge of itself": ("f.yaml", lambda: "&a {<<: *a}", "inside the value"),
    "many directives": ("f.yaml", lambda: "".join(f"%TAG !a{n}! x\n" for n in range(500_000)) + "--- a", "%TAG"),
    "a number in base 60": ("f.yaml", lambda: "a: " + "1:" * 1_000_000 + "1", "too long"),
    "a very long number": ("f.yaml", lambda: "a: " + "1" * 1_000_000, "too long"),
    "a very long json number": ("f.json", lambda: "[" + "1" * 1_000_000 + "]", "too many digits"),
    "backslashes": ("f.json", lambda: '{"a": "' + "\\" * 5_000_001, "not JSON"),
    "escaped quotes": ("f.json", lambda: '{"a": "' + '\\"' * 2_500_000, "not JSON"),
    "anchors of anchors": ("f.yaml", lambda: "&a " * 1_000_000, "not YAML"),
    "tabs": ("f.yaml", lambda: "\t" * 5_000_000 + "a", "tab"),
    "an open quote": ("f.yaml", lambda: "a: '" + "b\n" * 1_000_000, "quoted string"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_text_is_one_finding_within_seconds(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, build, words = HOSTILE[case]
    path = tmp_path / name
    path.write_text(build())
    monkeypatch.chdir(tmp_path)
    started = time.process_time()  # not how busy the machine is
    with pytest.raises(InvalidDocument) as raised:
        files.load(path)
    assert time.process_time() - started < SECONDS
    [finding] = raised.value.findings
    assert isinstance(finding, Finding)
    assert words in finding.message
    assert len(str(raised.value)) < 1000
    assert not (tmp_path / "owned").exists()


def test_hostile_text_on_stdin_does_not_end_the_process() -> None:
    script = (
        "import sys\nfrom fuelclient import errors, files\n"
        "try: files.load('-')\nexcept errors.InvalidDocument as error: print(len(error.findings))\n"
    )
    for text in ("[" * LEVELS, "- " * LEVELS, '{"a":' * LEVELS + "1" + "}" * LEVELS):
        done = subprocess.run(
            [sys.executable, "-c", script], input=text, capture_output=True, text=True, check=True, timeout=30
        )
        assert (done.stdout, done.stderr) == ("1\n", "")


PIECES = (
    "- ", "a: ", "[", "]", "{", "}", "&a ", "*a", "<<: ", "!!set ", "!!omap ", "!!int ", "!!binary ", "!!float ", "\n",
    "  ", "'", '"', "|\n", "? ", ": ", "1:2", "2001-1-1", "%", "#", "---\n", ",", "~", "\t", "=", "\\", "é",
)  # fmt: skip


def _findings(path: Path) -> int:
    """How many findings there are why the file cannot be read; whatever else is raised is a defect."""
    try:
        document_from(files.load(path), owner_label="release")
    except InvalidDocument as error:
        return len(error.findings)
    return 0


def test_garbage_is_read_or_refused_and_nothing_else_is_raised(tmp_path: Path) -> None:
    random_ = random.Random(7)  # noqa: S311 - the same garbage at every run
    refused = 0
    for number in range(1200):
        text = "".join(random_.choices(PIECES, k=random_.randint(1, 30))).encode()
        path = tmp_path / ("f.json" if number % 5 == 0 else "f.yaml")
        path.write_bytes(text if number % 10 else random_.randbytes(100))
        result = _findings(path)
        assert result in (0, 1), text
        refused += result
    assert 400 < refused < 1200


@pytest.mark.parametrize("raw", ["a: b".encode("utf-16"), b"a: \xff", b"\x7fELF\x01\x01", b"\x1f\x8b\x08\x00"])
def test_what_is_no_text(raw: bytes, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(raw)
    with pytest.raises(InvalidDocument, match=r"UTF-8|U\+00"):
        files.load(tmp_path / "f")


def test_an_endless_file_is_read_only_up_to_the_limit() -> None:
    with refused(InvalidDocument, "/dev/zero", "16 MiB"):
        files.load("/dev/zero")


def test_the_limits_are_not_too_tight() -> None:
    deep = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert parse(deep, "f").data
    with pytest.raises(InvalidDocument):
        parse(f"[{deep}]", "f")
    many = parse("[" + "a," * 300_000 + "]", "f").data
    assert len(many) == 300_000


def test_document_of_aliases_within_limits_is_read_and_written(tmp_path: Path) -> None:
    lines = ["a0: &a0 {x: y}"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 5)}]" for n in range(1, 7)]
    (tmp_path / "f.yaml").write_text("\n".join(lines))
    data = files.load(tmp_path / "f.yaml").data
    text = files.dumps(data, "yaml")
    assert "*" not in text
    assert parse(text, "g").data == data
    assert os.path.getsize(tmp_path / "f.yaml") < 1000 < len(text)
