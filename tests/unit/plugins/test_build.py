"""Packages are built completely or not at all, with the same bytes everywhere."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from archive_samples import scripts, tree, unpacked
from hash_seeds import same_answer
from refusals import refused

from fuelclient.errors import Conflict, InvalidDocument, NotFound, UsageError
from fuelclient.model.finding import Finding
from fuelclient.plugins.pack import build_fp, build_rpm, run_pre_build_hook

METADATA: Mapping[str, Any] = {
    "name": "plugin_name",
    "title": "A title\nof two lines",
    "version": "1.2.3",
    "package_version": "4.0.0",
    "description": "What it does, größer",
    "licenses": ["Apache", "BSD"],
    "authors": ["a", "b"],
    "homepage": "https://example.org",
}
BUILDERS = [pytest.param(build_fp, id="fp"), pytest.param(build_rpm, id="rpm")]
Builder = Callable[..., Path]


def plugin(directory: Path) -> Path:
    """A package with everything that matters: programs, links, empty and hidden files, directories."""
    (directory / "scripts" / "deep").mkdir(parents=True)
    (directory / "empty").mkdir()
    (directory / "metadata.yaml").write_text("name: plugin_name\n")
    (directory / "scripts" / "deploy.sh").write_text("#!/bin/sh\n")
    (directory / "scripts" / "deploy.sh").chmod(0o755)
    (directory / "scripts" / "deep" / ".gitkeep").touch()
    (directory / "scripts" / "mit Leerzeichen, ü").write_text("x")
    (directory / "scripts" / "link").symlink_to("../metadata.yaml")
    return directory


def rpm(*arguments: str) -> str:
    """What Debian's `rpm` says; the test is skipped where there is none."""
    if shutil.which("rpm") is None:
        pytest.skip("rpm is not installed (Debian: apt-get install rpm)")
    with tempfile.TemporaryDirectory() as database:
        command = ["rpm", "--dbpath", database, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_packages_are_named_after_name_version_and_release(tmp_path: Path) -> None:
    directory = plugin(tmp_path / "p")
    assert build_fp(directory, tmp_path, METADATA) == tmp_path / "plugin_name-1.2.3.fp"
    assert build_rpm(directory, tmp_path, METADATA) == tmp_path / "plugin_name-1.2-1.2.3-1.noarch.rpm"
    later = build_rpm(directory, tmp_path, {**METADATA, "build_version": 34})
    assert later.name == "plugin_name-1.2-1.2.3-34.noarch.rpm"


def test_an_fp_has_one_top_directory_with_everything_below(tmp_path: Path) -> None:
    archive = build_fp(plugin(tmp_path / "p"), tmp_path, METADATA)
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
    assert members[0].name == "plugin_name-1.2.3"
    assert [member.name for member in members] == sorted(member.name for member in members)
    assert all(member.name.startswith("plugin_name-1.2.3") for member in members)
    assert {(member.uid, member.gid, member.uname, member.gname) for member in members} == {(0, 0, "root", "root")}
    assert {member.mode for member in members} == {0o755, 0o644, 0o777}


@pytest.mark.parametrize("build", BUILDERS)
def test_what_was_built_unpacks_into_what_was_packed(tmp_path: Path, build: Builder) -> None:
    directory = plugin(tmp_path / "p")
    for hidden in (".gitignore", "checksums.sha1", "plugin_name-1.2.2.fp", "plugin_name-1.2-1.2.2-1.noarch.rpm"):
        (directory / hidden).write_text("stays out")
    (directory / ".git").mkdir()
    os.mkfifo(directory / ".git" / "fifo")
    found = unpacked(build(directory, tmp_path, METADATA), tmp_path / "target")
    sums = found.pop("checksums.sha1")[2].decode()
    assert found == tree(plugin(tmp_path / "again"))
    expected = {name: content for name, (kind, _, content) in found.items() if kind == "file"}
    assert sums == "".join(
        f"{hashlib.sha1(expected[name], usedforsecurity=False).hexdigest()} {name}\n" for name in sorted(expected)
    )


@pytest.mark.parametrize("build", BUILDERS)
def test_the_bytes_do_not_depend_on_place_time_owner_or_umask(
    tmp_path: Path, build: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = plugin(tmp_path / "first")
    before = os.umask(0o077)
    try:
        second = plugin(tmp_path / "elsewhere" / "second")
        for number, path in enumerate(sorted(second.rglob("*"))):
            os.utime(path, (number, number * 1000), follow_symlinks=False)
            if os.geteuid() == 0:
                os.chown(path, 1000 + number, 1000, follow_symlinks=False)
        (tmp_path / "out").mkdir()
        one = build(second, tmp_path / "out", METADATA).read_bytes()
    finally:
        os.umask(before)
    assert build(first, tmp_path, METADATA).read_bytes() == one
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    assert build(first, tmp_path, METADATA, force=True).read_bytes() != one


@pytest.mark.parametrize("build", BUILDERS)
def test_the_bytes_do_not_depend_on_the_order_of_hashes(tmp_path: Path, build: Builder) -> None:
    directory = plugin(tmp_path / "p")
    code = (
        "import pathlib, sys, hashlib, fuelclient.plugins.pack as b\n"
        "directory, output = map(pathlib.Path, sys.argv[1:])\n"
        f"path = b.{build.__name__}(directory, output, {dict(METADATA)!r}, force=True)\n"
        "print(hashlib.sha256(path.read_bytes()).hexdigest())"
    )
    assert len(same_answer(code, str(directory), str(tmp_path), seeds=2).strip()) == 64


def test_a_date_that_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = plugin(tmp_path / "p")
    for wrong in ("yesterday", "-1", "99999999999", "1e9"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", wrong)
        with refused(UsageError, "SOURCE_DATE_EPOCH", repr(wrong)):
            build_fp(directory, tmp_path, METADATA)


@pytest.mark.parametrize("build", BUILDERS)
def test_a_package_is_only_overwritten_by_force(tmp_path: Path, build: Builder) -> None:
    directory = plugin(tmp_path / "p")
    archive = build(directory, tmp_path, METADATA)
    archive.write_bytes(b"precious")
    with refused(Conflict, archive, "--force"):
        build(directory, tmp_path, METADATA)
    assert archive.read_bytes() == b"precious"
    build(directory, tmp_path, METADATA, force=True)
    assert archive.read_bytes() != b"precious"
    with pytest.raises(NotFound):
        build(directory, tmp_path / "missing", METADATA)
    with pytest.raises(NotFound):
        build(tmp_path / "missing", tmp_path, METADATA)


@pytest.mark.parametrize("build", BUILDERS)
def test_a_package_that_is_overwritten_keeps_its_mode_and_link(tmp_path: Path, build: Builder) -> None:
    """As for every other file that is overwritten by force."""
    archive = build(plugin(tmp_path / "p"), tmp_path, METADATA)
    real = archive.rename(tmp_path / "real")
    real.chmod(0o640)
    content = real.read_bytes()
    archive.symlink_to("real")
    real.write_bytes(b"old")
    build(tmp_path / "p", tmp_path, METADATA, force=True)
    assert archive.is_symlink()
    assert (real.read_bytes(), real.stat().st_mode & 0o777) == (content, 0o640)
    assert {one.name for one in tmp_path.iterdir()} == {"p", "real", archive.name}


@pytest.mark.parametrize("build", BUILDERS)
def test_a_build_that_is_killed_leaves_no_package(tmp_path: Path, build: Builder) -> None:
    directory = plugin(tmp_path / "p")
    for number in range(50):
        (directory / f"noise{number}").write_bytes(os.urandom(2**20))
    out = tmp_path / "out"
    out.mkdir()
    code = (
        "import pathlib, sys, fuelclient.plugins.pack as b\n"
        f"b.{build.__name__}(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), {dict(METADATA)!r})"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(directory), str(out)])
    deadline = time.monotonic() + 30
    while not any(out.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.001)
    process.kill()
    process.wait()
    assert process.returncode == -9, "it ended before it could be killed"
    assert not [path for path in out.iterdir() if not path.name.startswith(".")]


REFUSED: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "link out": (lambda path: (path / "l").symlink_to("../evil"), ["'l'", "../evil"]),
    "absolute link": (lambda path: (path / "l").symlink_to("/etc/passwd"), ["'l'", "/etc/passwd"]),
    "fifo": (lambda path: os.mkfifo(path / "f"), ["'f'", "file", "directory", "link"]),
    "control characters": (lambda path: (path / "a\nb").touch(), ["control characters"]),
    "not text": (lambda path: Path(os.fsdecode(bytes(path) + b"/\xff")).touch(), ["UTF-8"]),
    "large": (lambda path: os.truncate(_touched(path / "big"), 2**26 + 1), ["'big'", "64 MiB"]),
}


def _touched(path: Path) -> Path:
    path.touch()
    return path


@pytest.mark.parametrize("build", BUILDERS)
@pytest.mark.parametrize("what", REFUSED)
def test_what_could_not_be_read_back_is_not_packed(tmp_path: Path, build: Builder, what: str) -> None:
    directory = plugin(tmp_path / "p")
    spoil, named = REFUSED[what]
    spoil(directory)
    with refused(InvalidDocument, *named, codes=["P001"]) as caught:
        build(directory, tmp_path, METADATA)
    (finding,) = caught.value.findings
    assert isinstance(finding, Finding)
    assert (finding.code, finding.place.file) == ("P001", str(directory))
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("name", "A b"), ("name", "../x"), ("version", "1"), ("version", "1.2-3"), ("version", "x/1.2")],
)
@pytest.mark.parametrize("build", BUILDERS)
def test_names_that_no_file_can_have_are_refused(tmp_path: Path, build: Builder, field: str, value: str) -> None:
    with refused(InvalidDocument, field, repr(value)):
        build(plugin(tmp_path / "p"), tmp_path, {**METADATA, field: value})


def test_the_hook_runs_only_when_it_is_asked_for(tmp_path: Path) -> None:
    directory = plugin(tmp_path / "p")
    hook = directory / "pre_build_hook"
    hook.write_text("#!/bin/sh\necho made > made-by-hook\n")
    hook.chmod(0o755)
    build_fp(directory, tmp_path, METADATA)
    assert not (directory / "made-by-hook").exists()
    run_pre_build_hook(directory)
    assert (directory / "made-by-hook").exists()


def test_a_hook_that_fails_is_an_error(tmp_path: Path) -> None:
    directory = plugin(tmp_path / "p")
    run_pre_build_hook(directory)  # there is none, which is fine
    hook = directory / "pre_build_hook"
    hook.write_text("#!/bin/sh\nexit 3\n")
    with refused(InvalidDocument, "pre_build_hook", "executable"):
        run_pre_build_hook(directory)
    hook.chmod(0o755)
    with refused(InvalidDocument, "pre_build_hook", "exit code 3"):
        run_pre_build_hook(directory)
    hook.write_text("#!/does/not/exist\n")
    with refused(InvalidDocument, "pre_build_hook", "no such file"):
        run_pre_build_hook(directory)
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


def test_scripts_of_the_package_become_scripts_of_the_rpm(tmp_path: Path) -> None:
    directory = plugin(tmp_path / "p")
    for name in ("pre_install.sh", "post_install.sh", "uninstall.sh"):
        (directory / name).write_text(f"echo {name}\n")
    archive = build_rpm(directory, tmp_path, METADATA)
    assert scripts(archive) == {
        "%pre": "echo pre_install.sh",
        "%post": "echo post_install.sh",
        "%preun": '[ "$1" -eq 0 ] || exit 0\necho uninstall.sh',
    }
    assert scripts(build_rpm(directory, tmp_path, {**METADATA, "package_version": "2.0.0"}, force=True)) == {}
    (directory / "pre_install.sh").write_bytes(b"echo \0")
    with refused(InvalidDocument, directory, "zero byte"):
        build_rpm(directory, tmp_path, METADATA, force=True)


def test_rpm_finds_the_package_sound_and_lists_it(tmp_path: Path) -> None:
    directory = plugin(tmp_path / "p")
    (directory / "uninstall.sh").write_text("true\n")
    archive = str(build_rpm(directory, tmp_path, METADATA))
    assert rpm("-K", archive) == f"{archive}: digests OK\n"
    top = "/var/www/nailgun/plugins/plugin_name-1.2"
    listed = [top, *(f"{top}/{name}" for name in [*tree(directory), "checksums.sha1"])]
    assert rpm("-qpl", archive).splitlines() == sorted(listed)
    asked = "%{name}|%{version}|%{release}|%{arch}|%{summary}|%{description}|%{license}|%{vendor}|%{url}|%{group}"
    assert rpm("-qp", "--queryformat", asked, archive) == (
        "plugin_name-1.2|1.2.3|1|noarch|A title of two lines|What it does, größer|Apache and BSD|a, b|"
        "https://example.org|Development/Libraries"
    )
    assert "preuninstall scriptlet (using /bin/sh)" in rpm("-qp", "--scripts", archive)


def test_rpm_notices_a_change(tmp_path: Path) -> None:
    archive = build_rpm(plugin(tmp_path / "p"), tmp_path, METADATA)
    rpm("-K", str(archive))
    raw = bytearray(archive.read_bytes())
    raw[-30] ^= 1
    archive.write_bytes(raw)
    with pytest.raises(subprocess.CalledProcessError):
        rpm("-K", str(archive))
    with refused(InvalidDocument, archive.name, "checksums"):
        unpacked(archive, tmp_path / "target")


def test_rpm_installs_what_it_verifies(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can install into another root")
    archive = build_rpm(plugin(tmp_path / "p"), tmp_path, METADATA)
    root = tmp_path / "root"
    root.mkdir()
    at = ["--root", str(root)]
    rpm(*at, "-i", "--nodeps", str(archive))
    installed = root / "var" / "www" / "nailgun" / "plugins" / "plugin_name-1.2"
    assert tree(installed) == unpacked(archive, tmp_path / "target")


def test_the_compressed_part_has_neither_time_nor_name(tmp_path: Path) -> None:
    raw = build_fp(plugin(tmp_path / "p"), tmp_path, METADATA).read_bytes()
    assert raw[:4] == b"\x1f\x8b\x08\x00"  # no flags: no name, no comment
    assert raw[4:8] == bytes(4)
    assert gzip.decompress(raw)
