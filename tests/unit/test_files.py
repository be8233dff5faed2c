"""Documents in and out: what is read, how broken text is reported, what is written and what is never touched."""

from __future__ import annotations

import gc
import io
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
from refusals import missing, refused

from fuelclient import files
from fuelclient.errors import Conflict, FuelError, InvalidDocument, NotFound, Unavailable, UsageError
from fuelclient.files.writing import whole_file
from fuelclient.files.yaml_text import parse
from fuelclient.model.document import Marked, MarkedList
from fuelclient.model.finding import Finding


def broken(text: str, name: str = "f.yaml", tmp_path: Path | None = None) -> str:
    """The one finding about `text`, as a line."""
    with pytest.raises(InvalidDocument) as raised:
        parse(text, name) if tmp_path is None else files.load(_file(tmp_path, name, text))
    [finding] = raised.value.findings
    assert isinstance(finding, Finding)
    assert finding.code == "G001"
    assert finding.hint == raised.value.hint != ""
    assert "\n" not in str(raised.value)
    return str(finding)


def _file(directory: Path, name: str, text: str) -> str:
    path = directory / name
    path.write_text(text, newline="")
    return str(path)


# --- reading -------------------------------------------------------------------------------------------------


def test_mappings_and_lists_know_their_lines() -> None:
    data = parse("# c\n- id: a\n  parameters:\n    timeout: 5\n- b\n", "f").data
    assert isinstance(data, MarkedList)
    assert data == [{"id": "a", "parameters": {"timeout": 5}}, "b"]
    assert data.lines == [2, 5]
    assert (data[0].line, data[0].lines) == (2, {"id": 2, "parameters": 3})
    assert data[0]["parameters"].lines == {"timeout": 4}


def test_json_has_lines_too(tmp_path: Path) -> None:
    text = '{\n "a": [{"x": "}"},\n  {"y": 1e5}],\n "\\ud83d\\ude00": "\\\\",\n "a": 2}'
    document = files.load(_file(tmp_path, "f.json", text))
    assert document.data == {"a": 2, "\U0001f600": "\\"}
    assert document.data.line == 1
    assert sorted(document.data.lines.values()) == [4, 5]
    assert [(finding.code, finding.place.line) for finding in document.findings] == [("G008", 5)]


def test_json_values_are_those_of_json(tmp_path: Path) -> None:
    text = '[1e5, {"b": null,\n"c": [true, {"d": 1}]}]'
    data = files.load(_file(tmp_path, "F.JSON", text)).data
    assert data == [100000.0, {"b": None, "c": [True, {"d": 1}]}]
    assert data[1].lines == {"b": 1, "c": 2}
    assert data[1]["c"][1].line == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[{"a": 1e5}]', [{"a": 1e5}]),
        ("[a, b]", ["a", "b"]),
        ("- a: on\n", [{"a": True}]),
        ("\ufeffa: 1\r\nb: 2\r\n", {"a": 1, "b": 2}),
    ],
)
def test_standard_input_is_yaml_or_json(text: str, expected: Any) -> None:
    document = files.load("-", stdin=io.StringIO(text))
    assert (document.data, document.file) == (expected, "<stdin>")
    stream = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="ascii")
    assert files.load("-", stdin=stream).data == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("b: &b {x: 1, y: 2}\nc: {y: 3, <<: *b}", {"x": 1, "y": 3}),
        ("a: &a {x: 1}\nb: &b {x: 2, z: 3}\nc:\n  <<: [*a, *b]\n  w: 4", {"x": 1, "z": 3, "w": 4}),
        ("a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b}", {"x": 1, "y": 2}),
        ("c: {'<<': 1}", {"<<": 1}),
    ],
)
def test_merge_keys(text: str, expected: dict[str, int]) -> None:
    merged = parse(text, "f").data["c"]
    assert merged == expected
    assert sorted(merged) == sorted(expected)


def test_merged_keys_keep_the_line_where_they_are_written() -> None:
    data = parse("b: &b\n  x: 1\nc:\n  <<: *b\n  y: 2\n", "f").data
    assert data["c"].lines == {"x": 2, "y": 5}


def test_aliases_share_one_value() -> None:
    data = parse("a: &a [1]\nb: *a\n", "f").data
    assert data["a"] is data["b"]


def test_standard_tags_and_keys_that_are_no_texts() -> None:
    data = parse("7: 2016-01-02\ntrue: !!str 5\n~: !!binary aGk=\nx: 0x10\ny: =\n", "f").data
    assert dict(data) == {7: date(2016, 1, 2), True: "5", None: b"hi", "x": 16, "y": "="}
    assert data.lines == {"7": 1, "True": 2, "None": 3, "x": 4, "y": 5}


def test_duplicate_keys_are_a_warning_and_the_last_one_counts() -> None:
    document = parse("a: 1\nb: 2\na: 3\na: 4\n", "f.yaml")
    assert list(document.data.items()) == [("a", 4), ("b", 2)]
    assert [str(finding.place) for finding in document.findings] == ["f.yaml:3", "f.yaml:4"]
    assert all(
        finding.code == "G008" and "`a`" in finding.message and "line 1;" in finding.message
        for finding in document.findings
    )
    assert not any(finding.is_error for finding in document.findings)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("- a\n- groups: [*]\n", 2, "`*`"),
        ("a: & b\n", 1, "`&`"),
        ("a: 1\n  b: 2\n", 2, "`:`"),
        ("a:\n  b: 1\n c: 2\n", 3, "mapping above"),
        ("- a\nb: c\n", 2, "list above"),
        ("a: [b, c\nd: e\n", 2, "[ ]"),
        ("a: {b: c\nd: e\n", 2, "{ }"),
        ("a: 'b\n", 1, "quoted string"),
        ('a: 1\nb: "c\nd: e\n', 2, "quoted string"),
        ('a: 1\nb: "c\n\\y"\n', 3, "quoted string"),
        ("a: b\n\tc: d\n", 2, "tab"),
        ("a: @b\n", 1, "@"),
        ("a: 1\njust text\nb: 2\n", 2, "no `:`"),
        ("- id: a\n  type shell\n\n# more\n  role: b\n", 2, "no `:`"),
        ("a: 1\ntext\n  over lines\nb: 2\n", 2, "no `:`"),
        ("a: *b\n", 1, "anchor"),
        ("a: &x 1\nb: &x 2\n", 2, "defined twice"),
        ("a: 1\n---\nb: 2\n", 2, "second document"),
        ("a: 1\nb: !!python/object:os.system {}\n", 2, "!!python/object:os.system"),
        ("a: !mine b\n", 1, "!mine"),
        ("a:\n- &a [*a]\n", 2, "inside the value"),
        ("a: 1\nb: &b {<<: *b}\n", 2, "inside the value"),
        ("a:\n  <<: 5\n", 2, "merges a mapping"),
        ("{[a]: b}\n", 1, "key of a mapping"),
        ("a: 2016-99-99\n", 1, "timestamp"),
        ("a: !!bool maybe\n", 1, "bool"),
        ("a: " + "1" * 2000, 1, "too long"),
        ("a: [/(primary-)?controller/]\n", 1, "`?`"),
        ("a: 1\nb: \x00\n", 2, "U+0000"),
        ("]\n", 1, ""),
    ],
)
def test_broken_yaml_is_one_finding_at_its_line(text: str, line: int, words: str) -> None:
    found = broken(text)
    assert found.startswith(f"f.yaml:{line}: error: ")
    assert words in found


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{"a": 1,}\n', 1, "not JSON"),
        ('{\n"a" 1}', 2, "not JSON"),
        ("[NaN]", 0, "NaN"),
        ('["\\ud800"]', 0, "half"),
        ("", 1, "not JSON"),
        ('{"a": "unclosed', 1, "not JSON"),
        ("[" + "1" * 5000 + "]", 0, "too many digits"),
        ("}]{", 1, "not JSON"),
    ],
)
def test_broken_json_is_one_finding(text: str, line: int, words: str, tmp_path: Path) -> None:
    found = broken(text, "f.json", tmp_path)
    assert found.startswith(f"{tmp_path}/f.json:{line}: error: " if line else f"{tmp_path}/f.json: error: ")
    assert words in found


def test_reading_leaves_the_garbage_collector_as_it_was() -> None:
    for enabled in (True, False):
        try:
            gc.enable() if enabled else gc.disable()
            parse("a: 1", "f")
            with pytest.raises(InvalidDocument):
                parse("a: [", "f")
            assert gc.isenabled() is enabled
        finally:
            gc.enable()


def test_what_cannot_be_opened_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, error in (
        (tmp_path / "none.yaml", NotFound),
        (tmp_path / "file" / "x", NotFound),
        (tmp_path, UsageError),
    ):
        with pytest.raises(error) as raised:
            files.load(path)
        assert str(path) in str(raised.value)
    with pytest.raises(UsageError):
        files.load("a\0b")
    with pytest.raises(Unavailable):
        files.load("x" * 5000)


# --- trees ---------------------------------------------------------------------------------------------------


def test_task_files_are_found_once_in_order_through_links(tmp_path: Path) -> None:
    for name in ("b/tasks.yaml", "a/x/tasks.yml", "a/tasks.yaml", "a/other.yaml", "tasks.yaml"):
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).touch()
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "tasks.yaml").touch()
    (tmp_path / "tree" / "c").symlink_to(tmp_path / "away")
    (tmp_path / "tree" / "a" / "loop").symlink_to(tmp_path / "tree")
    tree = str(tmp_path / "tree")
    found = [os.path.relpath(path, tree) for path in files.task_files(tree)]
    assert found == ["tasks.yaml", "a/tasks.yaml", "a/x/tasks.yml", "b/tasks.yaml", "c/tasks.yaml"]


def test_a_tree_without_tasks_or_no_tree_at_all(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    looks: tuple[Callable[[str], object], ...] = (files.task_files, files.metadata_file)
    for look in looks:
        with pytest.raises(NotFound):
            look(str(tmp_path / "none"))
        with pytest.raises(UsageError):
            look(str(tmp_path / "file"))
    with missing("file", str(tmp_path)):
        files.task_files(str(tmp_path))
    assert files.metadata_file(str(tmp_path)) is None
    (tmp_path / "metadata.yaml").touch()
    assert files.metadata_file(str(tmp_path)) == str(tmp_path / "metadata.yaml")


# --- writing -------------------------------------------------------------------------------------------------


class Word(StrEnum):
    ONE = "one"


def test_yaml_is_block_style_without_aliases() -> None:
    shared = ["x"]
    data = Marked({"b": shared, "a": shared, "cmd": "one\ntwo\n", "ü": Word.ONE, "long": "word " * 60 + "end"})
    assert files.dumps([data], "yaml") == (
        f"- b:\n  - x\n  a:\n  - x\n  cmd: |\n    one\n    two\n  ü: one\n  long: {'word ' * 60}end\n"
    )
    assert files.dumps("a", "yaml") == "a\n"
    assert files.dumps([], "yaml") == "[]\n"


def test_json_is_indented_and_keeps_characters() -> None:
    assert files.dumps({"ü": [1], "a": date(2016, 1, 2)}, "json") == (
        '{\n  "ü": [\n    1\n  ],\n  "a": "2016-01-02"\n}\n'
    )
    with pytest.raises(UsageError):
        files.dumps([float("inf")], "json")
    with pytest.raises(UsageError):
        files.dumps([], "xml")


def _left(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@pytest.mark.parametrize("texts", [["a, b: c", "[{:}]", '\\"'], ["\u00fc\u2028"], ["\ud800"]])
def test_a_large_json_document_is_written_like_a_small_one(texts: list[str]) -> None:
    entry = {"a": texts, "e": [{}, []], "n": [None, True, -0.0, 1e300, 10**30], "d": date(2016, 1, 2), 1: ""}
    small = files.dumps([entry], "json").removeprefix("[\n").removesuffix("\n]\n")
    assert files.dumps([entry] * 2000, "json") == "[\n" + ",\n".join([small] * 2000) + "\n]\n"


@pytest.mark.parametrize("fmt", ["json", "yaml"])
def test_what_an_encoding_lacks_is_escaped_as_the_format_has_it(fmt: str) -> None:
    data = {"name": "pr\u00f8d \u4e2d", "cmd": "a\n\u00f8\n"}
    assert "pr\u00f8d \u4e2d" in files.dumps(data, fmt)
    for encoding in ("ascii", "latin-1"):
        text = files.dumps(data, fmt, encoding=encoding)
        assert parse(text.encode(encoding).decode(), "f").data == data


def test_hint_about_a_directory_names_no_option(tmp_path: Path) -> None:
    with refused(UsageError, tmp_path, "directory") as raised:
        files.load(tmp_path)
    assert raised.value.hint == "Name a file in it."


@pytest.mark.parametrize(("shared", "mode"), [(False, 0o600), (True, 0o640)])
def test_only_the_owner_can_read_a_new_file_unless_it_is_shared(tmp_path: Path, shared: bool, mode: int) -> None:
    mask = os.umask(0o027)
    try:
        files.write(str(tmp_path / "f"), "ü\n", shared=shared)
    finally:
        os.umask(mask)
    assert (tmp_path / "f").read_bytes() == "ü\n".encode()
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == mode
    assert _left(tmp_path) == ["f"]


def test_write_overwrites_only_by_force_and_keeps_mode_and_link(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    path.chmod(0o644)
    (tmp_path / "link").symlink_to(path)
    for name in ("f", "link"):
        with refused(Conflict, tmp_path / name, "--force"):
            files.write(str(tmp_path / name), "new")
    assert path.read_text() == "old"
    files.write(str(tmp_path / "link"), "new", force=True)
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o644)
    assert (tmp_path / "link").is_symlink()
    assert _left(tmp_path) == ["f", "link"]


def test_a_link_to_nowhere_is_not_written_through_without_force(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "none")
    with pytest.raises(Conflict):
        files.write(str(tmp_path / "link"), "x")
    assert _left(tmp_path) == ["link"]


def test_many_writers_without_force_make_one_file(tmp_path: Path) -> None:
    script = "import sys; from fuelclient import files; files.write(sys.argv[1], sys.argv[2] * 100000)"
    target = str(tmp_path / "f")
    writers = [
        subprocess.Popen([sys.executable, "-c", script, target, word], stderr=subprocess.PIPE) for word in "abcd"
    ]
    said = [writer.communicate()[1] for writer in writers]
    assert sorted(writer.returncode for writer in writers) == [0, 1, 1, 1]
    assert sum(b"Conflict" in text for text in said) == 3
    text = (tmp_path / "f").read_text()
    assert text == text[0] * 100000
    assert _left(tmp_path) == ["f"]


def test_what_a_killed_writer_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    abandoned, name = tmp_path / f".fuel-{'a' * 16}.tmp", str(tmp_path / "f.yaml")
    abandoned.write_text("password")
    (tmp_path / ".fuel-own.tmp").touch()
    (tmp_path / f".fuel-{'b' * 16}.tmp").symlink_to("f.yaml")

    with whole_file(name, force=True) as stream:
        working = {path.name for path in tmp_path.iterdir()}
        files.write(str(tmp_path / "other.yaml"), "x")
        stream.write(b"whole")

    assert not abandoned.exists()
    assert Path(name).read_text() == "whole"
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"f.yaml", "other.yaml", ".fuel-own.tmp", f".fuel-{'b' * 16}.tmp"}
    assert len(working) == 3, "what another one is writing stays"


def test_devices_and_pipes_are_written_and_stay(tmp_path: Path) -> None:
    files.write("/dev/null", "x", force=True)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        files.write(str(fifo), "hello")
        assert os.read(reader, 10) == b"hello"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(fifo.stat().st_mode)


@pytest.mark.parametrize(
    ("name", "error"),
    [("none/f", NotFound), ("file/f", Unavailable), ("", UsageError), ("x" * 300, Unavailable), ("a\0b", UsageError)],
)
def test_what_cannot_be_written_is_one_clear_error(name: str, error: type[FuelError], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for force in (False, True):
        with pytest.raises(error) as raised:
            files.write(os.path.join(tmp_path, name), "x", force=force)
        assert raised.value.hint or error is UsageError
        assert _left(tmp_path) == ["file"]


def test_a_full_disk_is_said() -> None:
    with refused(Unavailable, "/dev/full", "space"):
        files.write("/dev/full", "x")


def test_a_text_that_has_no_bytes_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        files.write(str(tmp_path / "f"), "fine\n" * 10000 + "\ud800")
    assert _left(tmp_path) == []
