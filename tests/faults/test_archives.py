"""Hostile and broken archives: one clear error each, in time, in little memory, and nothing is left behind.

Each archive is unpacked in a process of its own, which measures itself: a fork of one that has imported what it takes.
"""

from __future__ import annotations

import gzip
import json
import lzma
import random
import stat
import struct
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import archive_samples as samples
import pytest
import zstandard
from archive_samples import Member, inside, tar, tar_file, tar_member

from fuelclient.plugins.pack import rpm as rpm_header

SECONDS = 5
MEGABYTES = 300
ROOT = Path(__file__).resolve().parents[2]

UNPACK = """
import json, os, pathlib, resource, sys, time
from fuelclient.errors import InvalidDocument
from fuelclient.plugins.archive import extract

def measured(path, target):
    before, told = time.process_time(), None  # not how busy the machine is
    try:
        extract(path, target)
    except InvalidDocument as error:
        told = [str(error), [[f.code, f.place.file, f.message] for f in error.findings]]
    seconds = time.process_time() - before
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):  # of this fork alone
            peak = int(line.split()[1])
    return {"told": told, "seconds": seconds, "megabytes": peak / 1024}

while line := sys.stdin.readline():
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
        print(json.dumps(measured(*map(pathlib.Path, json.loads(line)))), flush=True)
        break
    _, status = os.waitpid(child, 0)
    if status:
        print(json.dumps({"died": status}), flush=True)
"""

Build = Callable[[Path], Path]
Unpacked = Callable[[Path, Path], Any]
FP: dict[str, tuple[Build, str]] = {}
RPM: dict[str, tuple[Build, str]] = {}


def _tar(name: str, message: str, *members: tarfile.TarInfo | tuple[tarfile.TarInfo, bytes]) -> None:
    FP[name] = (lambda path: samples.fp(path / "bad.fp", tar([tar_file("p-1.0/metadata.yaml"), *members])), message)


def _raw(name: str, message: str, make: Callable[[], bytes]) -> None:
    FP[name] = (lambda path: samples.fp(path / "bad.fp", make()), message)


def _file(table: dict[str, tuple[Build, str]], name: str, file: str, message: str, make: Callable[[], bytes]) -> None:
    def build(path: Path) -> Path:
        (path / file).write_bytes(make())
        return path / file

    table[name] = (build, message)


def _cpio(name: str, message: str, *members: Member, compressor: str = "gzip", end: bool = True) -> None:
    def build(path: Path) -> Path:
        return samples.rpm(path / "bad.rpm", [inside("metadata.yaml"), *members], compressor, end=end)

    RPM[name] = (build, message)


LEAVES = "leaves the package"
_tar("parent", LEAVES, tar_file("p-1.0/../../evil"))
_tar("absolute", "absolute path", tar_file("/tmp/evil"))  # noqa: S108 - it is refused
_tar("link out", LEAVES, tar_member("p-1.0/l", tarfile.SYMTYPE, "../../evil"))
_tar("link beside", LEAVES, tar_member("p-1.0/l", tarfile.SYMTYPE, "../evil"))
_tar("absolute link", LEAVES, tar_member("p-1.0/l", tarfile.SYMTYPE, "/etc/passwd"))
_tar(
    "link over a link",
    LEAVES,
    tar_member("p-1.0/a/b/up", tarfile.SYMTYPE, "../.."),
    tar_member("p-1.0/x", tarfile.SYMTYPE, "a/b/up/.."),
)
_tar("circle", "circle", tar_member("p-1.0/l", tarfile.SYMTYPE, "l"))
_tar(
    "through a link",
    "'l', which is a symbolic link",
    tar_member("p-1.0/l", tarfile.SYMTYPE, "d"),
    tar_file("p-1.0/l/evil"),
)
_tar("below a file", "'metadata.yaml', which is a file", tar_file("p-1.0/metadata.yaml/x"))
_tar("hard link out", LEAVES, tar_member("p-1.0/l", tarfile.LNKTYPE, "../../etc/passwd"))
_tar("absolute hard link", "absolute path", tar_member("p-1.0/l", tarfile.LNKTYPE, "/etc/passwd"))
_tar("hard link to nothing", "not an earlier file", tar_member("p-1.0/l", tarfile.LNKTYPE, "p-1.0/later"))
_tar(
    "hard link to a link",
    "not an earlier file",
    tar_member("p-1.0/s", tarfile.SYMTYPE, "x"),
    tar_member("p-1.0/l", tarfile.LNKTYPE, "p-1.0/s"),
)
_tar("device", "is a device", tar_member("p-1.0/null", tarfile.CHRTYPE))
_tar("block device", "is a device", tar_member("p-1.0/disk", tarfile.BLKTYPE))
_tar("fifo", "is a named pipe", tar_member("p-1.0/fifo", tarfile.FIFOTYPE))
_tar("unknown kind", "of an unknown type", tar_member("p-1.0/odd", b"Z"))
_tar("duplicate", "'p-1.0/./metadata.yaml' appears twice", tar_file("p-1.0/./metadata.yaml"))
_tar("two tops", "outside 'p-1.0'", tar_file("q-1.0/metadata.yaml"))
_tar("file at the top", "outside", tar_file("README"))
_tar("not text", "is not UTF-8", tar_file("p-1.0/\udcff"))
_tar("control characters", "control characters", tar_file("p-1.0/a\x1b[2J"))
_tar("long name", "too long", tar_file("p-1.0/" + "a" * 300))
_tar("deep", "too long", tar_file("p-1.0/" + "a/" * 100 + "a"))
_tar("deep and many", "20000 members", *(tar_file(f"p-1.0/{n}/" + "a/" * 60 + "a") for n in range(400)))
_raw("many members", "20000 members", lambda: tar(tar_file(f"p-1.0/{n}", b"") for n in range(20_001)))
_raw("nothing in it", "no package", lambda: tar([]))
_raw("large member", "larger than 64 MiB", lambda: samples.raw_header("p-1.0/a", 2**33, tarfile.REGTYPE))
_raw("lying size", "truncated", lambda: samples.raw_header("p-1.0/a", 2**20, tarfile.REGTYPE) + bytes(512))
_raw("no end mark", "truncated", lambda: samples.raw_header("p-1.0/a", 0, tarfile.REGTYPE))
_raw(
    "damaged header",
    "damaged",
    lambda: samples.raw_header("p-1.0/a", 0, tarfile.REGTYPE) + b"\xaa" * 512 + tar([tar_file("p-1.0/b")]),
)
_raw("negative size", "damaged|larger|impossible", lambda: samples.raw_header("p-1.0/a", -(2**20), tarfile.REGTYPE))
_raw(
    "negative size of something unknown",
    "of an unknown type",
    lambda: samples.raw_header("p-1.0/a", -(2**20), b"Z"),
)


def _pax(records: bytes, kind: bytes = tarfile.XHDTYPE) -> bytes:
    return samples.raw_header("pax", len(records), kind) + samples.padded(records)


def _record(key: str, value: str) -> bytes:
    body = f" {key}={value}\n".encode()
    return str(len(body) + 4).rjust(4, "0").encode() + body


FILE = samples.padded(samples.raw_header("p-1.0/a", 1, tarfile.REGTYPE)) + samples.padded(b"x")
_raw("huge extended header", "too long", lambda: _pax(b"1" * 100_000_000))
_raw("huge long name", "too long", lambda: samples.raw_header("x", 2**27, tarfile.GNUTYPE_LONGNAME) + bytes(2**27))
SLOW = _pax(b"1" * 8000)
_raw(
    "slow extended headers",
    "too long|damaged",  # newer Pythons, and Debian's 3.11.2, refuse the first one instead of searching slowly
    lambda: b"".join(SLOW + tar([tar_file(f"p-1.0/{n}")])[:1024] for n in range(999)),
)
_raw("chain of extended headers", "too long|damaged", lambda: _pax(_record("a", "b")) * 5000 + FILE)
_raw(
    "shared headers", "too long", lambda: b"".join(_pax(_record(f"k{n}", "v" * 50), tarfile.XGLTYPE) for n in range(99))
)
_raw("sparse", "is sparse", lambda: samples.raw_header("p-1.0/a", 0, tarfile.GNUTYPE_SPARSE) + bytes(1024))
SPARSE_1 = _record("GNU.sparse.major", "1") + _record("GNU.sparse.minor", "0") + _record("GNU.sparse.realsize", "9" * 9)
_raw(
    "sparse in an extended header",
    "too long|sparse|damaged",
    lambda: _pax(SPARSE_1) + samples.raw_header("p-1.0/a", 2**25, tarfile.REGTYPE) + b"9" * 2**25,
)
_raw("size in an extended header", "larger than", lambda: _pax(_record("size", "9" * 15)) + FILE)


def _zeros() -> bytes:
    """60 MiB of zeros as a member of a gzip file, which may have any number of them."""
    return gzip.compress(bytes(60 * 2**20), 1, mtime=0)


def _bomb() -> bytes:
    zeros = _zeros()
    heads = [samples.raw_header(f"p-1.0/{n}", 60 * 2**20, tarfile.REGTYPE) for n in range(5000)]
    return b"".join(gzip.compress(head, 1, mtime=0) + zeros for head in heads[:50])


_file(FP, "bomb", "bad.fp", "more than 256 MiB", _bomb)
_file(
    FP,
    "bomb behind the end",
    "bad.fp",
    "unpacks to more",
    lambda: gzip.compress(tar([tar_file("p-1.0/a")])) + 50 * _zeros(),
)
NOISE = random.Random(1).randbytes(10**6)  # noqa: S311 - it only has to be hard to compress
GOOD = gzip.compress(tar([tar_file("p-1.0/a", NOISE)]), mtime=0)
_file(FP, "truncated", "bad.fp", "truncated", lambda: GOOD[: len(GOOD) // 2])
_file(FP, "truncated at the checksum", "bad.fp", "truncated", lambda: GOOD[:-6])
_file(FP, "wrong checksum", "bad.fp", "damaged", lambda: GOOD[:-8] + bytes(8))
_file(FP, "damaged", "bad.fp", "damaged", lambda: GOOD[:2000] + b"\xff" * 200 + GOOD[2200:])
_file(FP, "text", "bad.fp", "not an .fp package", lambda: b"name: plugin\n")
_file(FP, "empty", "bad.fp", "not an .fp package", lambda: b"")
_file(FP, "gzip of text", "bad.fp", "damaged|truncated", lambda: gzip.compress(b"name: plugin\n"))

DIRECTORY = stat.S_IFDIR | 0o755
LINK = stat.S_IFLNK | 0o777
_cpio("parent", LEAVES, inside("../../evil"))
_cpio("absolute", "absolute path", Member(b"/tmp/evil", b"x"))
_cpio("elsewhere", "outside /var/www/nailgun/plugins", Member(b"./etc/cron.d/evil", b"x"))
_cpio("beside the plugins", "outside", Member(b"./var/www/nailgun/plugins", b"x"))
_cpio("two tops", "outside 'plug-1.2'", Member(b"./var/www/nailgun/plugins/other-1.0/a", b"x"))
_cpio("link out", LEAVES, inside("l", b"../evil", LINK))
_cpio("absolute link", LEAVES, inside("l", b"/etc/passwd", LINK))
_cpio("empty link", "impossible size", inside("l", b"", LINK))
_cpio("huge link", "impossible size", inside("l", bytes(2**20), LINK))
_cpio("through a link", "which is a symbolic link", inside("l", b"d", LINK), inside("l/evil"))
_cpio("device", "is a device", inside("null", b"", stat.S_IFCHR | 0o666))
_cpio("block device", "is a device", inside("disk", b"", stat.S_IFBLK | 0o666))
_cpio("fifo", "is a named pipe", inside("fifo", b"", stat.S_IFIFO | 0o666))
_cpio("socket", "of an unknown type", inside("socket", b"", stat.S_IFSOCK | 0o666))
_cpio("duplicate", "appears twice", inside("metadata.yaml"))
_cpio("directory with data", "impossible size", inside("d", b"x", DIRECTORY))
_cpio("not text", "is not UTF-8", inside("x", b"x"), Member(f"{samples.TREE}/".encode() + b"\xff", b"x"))
_cpio("no end mark", "truncated", end=False)
_cpio("lying size", "truncated", Member(f"{samples.TREE}/a".encode(), b"x", size=2**20))
_cpio("large member", "larger than 64 MiB", Member(f"{samples.TREE}/a".encode(), b"x", size=2**32 - 1))
_cpio("long name", "empty or too long", Member(f"{samples.TREE}/a".encode(), b"x", length=2**31))
_cpio("no name", "empty or too long", Member(b"", b"x", length=0))
_cpio("size too small", "does not begin", Member(f"{samples.TREE}/a".encode(), bytes(4000), size=4))
_cpio("many members", "20000 members", *(inside(str(n), b"") for n in range(20_000)))
_cpio("many outside", "20000 members", *(Member(b"./var", mode=DIRECTORY) for _ in range(20_001)))
TWO = Member(f"{samples.TREE}/a".encode(), b"1", inode=9, names=2)
_cpio(
    "hard link with data of its own",
    "both have data",
    TWO,
    Member(f"{samples.TREE}/b".encode(), b"2", inode=9, names=2),
)


def _package(payload: bytes, compressor: str = "gzip") -> Callable[[], bytes]:
    return lambda: samples.rpm_bytes(payload, compressor)


def _payload_bomb(compressor: str) -> bytes:
    members = [inside(str(n), bytes(50 * 2**20)) for n in range(7)]
    return samples.rpm_bytes(samples.compressed(samples.cpio(members), compressor), compressor)


for name in ("gzip", "xz", "zstd"):
    _file(RPM, f"bomb of {name}", "bad.rpm", "more than", lambda name=name: _payload_bomb(name))  # type: ignore[misc]
    whole = samples.compressed(samples.cpio([inside("a", bytes(range(256)) * 500)]), name)
    _file(RPM, f"truncated {name}", "bad.rpm", "truncated|damaged", _package(whole[: len(whole) // 2], name))
    _file(
        RPM,
        f"damaged {name}",
        "bad.rpm",
        "damaged|truncated|control characters",
        _package(whole[:40] + bytes(90) + whole[130:], name),
    )
    _file(RPM, f"no {name} at all", "bad.rpm", "damaged", _package(b"name: plugin\n" * 9, name))

SOUND = samples.rpm_bytes(samples.compressed(samples.cpio([inside("a", b"x" * 1000)]), "gzip"), "gzip")


LARGE = ("rpm: bomb of gzip", "rpm: bomb of zstd")
"""Cases that take a second each; the one of xz stays with the quick tests."""


def _greedy_xz() -> bytes:
    """An xz stream that wants a dictionary of 1.5 GiB: the size stands in one byte of its block header."""
    raw = bytearray(lzma.compress(b"x" * 100, filters=[{"id": lzma.FILTER_LZMA2, "preset": 0}]))
    at = 12  # after the stream header
    length = (raw[at] + 1) * 4
    raw[at + 4] = 39
    raw[at + length - 4 : at + length] = struct.pack("<I", zlib.crc32(bytes(raw[at : at + length - 4])))
    return samples.rpm_bytes(bytes(raw), "xz")


def _greedy_zstd() -> bytes:
    parameters = zstandard.ZstdCompressionParameters(window_log=30, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    data = packer.compress(b"x" * 1000) + packer.flush()
    return samples.rpm_bytes(data, "zstd")


_file(RPM, "greedy xz", "bad.rpm", "memory", _greedy_xz)
_file(RPM, "greedy zstd", "bad.rpm", "memory", _greedy_zstd)
_file(RPM, "bzip2", "bad.rpm", "bzip2", _package(b"BZh9", "bzip2"))
_file(RPM, "text", "bad.rpm", "not an .rpm package", lambda: b"name: plugin\n" * 100)
_file(RPM, "empty", "bad.rpm", "not an .rpm package", lambda: b"")
_file(RPM, "lead only", "bad.rpm", "a header is missing", lambda: rpm_header.lead("x") + bytes(10_000_000))
_file(RPM, "truncated header", "bad.rpm", "truncated", lambda: SOUND[:250])
_file(RPM, "other payload", "bad.rpm", "contents and its checksums differ", lambda: SOUND[:-20] + bytes(20))
SUM = [rpm_header.texts(5092, ["0" * 64]), rpm_header.numbers(5093, [8])]
_file(
    RPM,
    "wrong sum",
    "bad.rpm",
    "contents and its",
    lambda: samples.rpm_bytes(samples.compressed(b"", "gzip"), "gzip", SUM),
)


def _with_header(count: int, size: int, body: bytes) -> Callable[[], bytes]:
    intro = b"\x8e\xad\xe8\x01" + bytes(4) + struct.pack(">II", count, size)
    signature = rpm_header.encode(rpm_header.SIGNATURE, [])
    return lambda: rpm_header.lead("x") + signature + bytes(-len(signature) % 8) + intro + body


def _entries(kind: int, count: int, offsets: list[int], store: bytes) -> Callable[[], bytes]:
    index = b"".join(struct.pack(">IIII", 1000 + n, kind, offset, count) for n, offset in enumerate(offsets))
    return _with_header(len(offsets), len(store), index + store)


_file(RPM, "endless index", "bad.rpm", "too large", _with_header(2**32 - 1, 16, b""))
_file(RPM, "endless store", "bad.rpm", "too large", _with_header(1, 2**32 - 1, b""))
_file(RPM, "entries that share", "bad.rpm", "beyond its data", _entries(6, 1, [0] * 200, b"x" * 8_000_000 + b"\0"))
_file(RPM, "texts without an end", "bad.rpm", "beyond its data", _entries(8, 9, [0], b"x\0" * 5))
_file(RPM, "numbers beyond the end", "bad.rpm", "beyond its data", _entries(4, 1000, [0], bytes(100)))
_file(RPM, "numbers without an end", "bad.rpm", "too large", _entries(4, 2**32 - 1, [0], bytes(100)))
_file(RPM, "offset beyond the end", "bad.rpm", "beyond its data", _entries(7, 1, [2**31 + 5], bytes(100)))
_file(RPM, "no values", "bad.rpm", "beyond its data", _entries(4, 0, [0], bytes(100)))
_file(RPM, "unknown type", "bad.rpm", "beyond its data", _entries(77, 1, [0], bytes(100)))

CASES = {**{f"fp: {name}": case for name, case in FP.items()}, **{f"rpm: {name}": case for name, case in RPM.items()}}


def everything(directory: Path) -> Iterator[tuple[str, int, int]]:
    for path in sorted(directory.rglob("*")):
        status = path.lstat()
        yield str(path), status.st_mode, 0 if path.is_dir() else status.st_size


@pytest.fixture(scope="module")
def unpacked() -> Iterator[Unpacked]:
    """What unpacking a file into a directory said and took."""
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", UNPACK],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, answers = process.stdin, process.stdout

        def unpacked(path: Path, target: Path) -> Any:
            print(json.dumps([str(path), str(target)]), file=asked, flush=True)
            return json.loads(answers.readline())

        yield unpacked


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LARGE else ()) for name in CASES]
)
def test_unusable_archive_leaves_one_error_and_no_files(name: str, tmp_path: Path, unpacked: Unpacked) -> None:
    build, message = CASES[name]
    box = tmp_path / "box"
    (box / "target").mkdir(parents=True)
    path = build(box)
    before = list(everything(tmp_path))
    report = unpacked(path, box / "target")
    assert report.get("told") is not None, f"it was unpacked, or died: {report}"
    text, findings = report["told"]
    ((code, file, said),) = findings
    assert (code, file) == ("P001", str(path))
    assert text.startswith(f"{path}: {said}.")
    assert "\n" not in text
    assert "\x1b" not in text
    assert any(part in said for part in message.split("|")), said
    assert list(everything(tmp_path)) == before
    assert report["seconds"] < SECONDS
    assert report["megabytes"] < MEGABYTES
