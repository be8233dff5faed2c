"""Writing `.fp` packages (package version 1.0.0): a compressed tar with one top directory."""

from __future__ import annotations

import gzip
import os
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from fuelclient.plugins.archive.limits import Unusable
from fuelclient.plugins.archive.names import quoted
from fuelclient.plugins.build.files import Entry, Kind
from fuelclient.plugins.build.output import build_date, reported, require_free, written
from fuelclient.plugins.build.source import identity_of, packed, run_pre_build_hook
from fuelclient.plugins.directory import require_directory

_TYPES = {Kind.DIRECTORY: tarfile.DIRTYPE, Kind.FILE: tarfile.REGTYPE, Kind.SYMLINK: tarfile.SYMTYPE}


def build_fp(
    directory: Path, output_dir: Path, metadata: Mapping[str, Any], *, force: bool = False, run_hook: bool = False
) -> Path:
    """The package of `directory` as `output_dir/<name>-<version>.fp`; the path of it.

    Its one top directory is `<name>-<version>`. The bytes depend on names, contents and executable bits only (and
    on SOURCE_DATE_EPOCH). `metadata` is what metadata.yaml says, already checked. Raises `NotFound`, `Conflict` (it
    exists and `force` was not given), `Unavailable`, and `InvalidDocument` (P001) for a tree that cannot be packed.
    """
    require_directory(directory)
    date = build_date(os.environ)
    with reported(directory):
        identity = identity_of(metadata)
        top = f"{identity.name}-{identity.version}"
        target = output_dir / f"{top}.fp"
        require_free(target, force=force)
        if run_hook:
            run_pre_build_hook(directory)
        entries = packed(directory, metadata)
        with written(target, force=force) as stream:
            _write(stream, top, entries, date)
    return target


def _write(stream: BinaryIO, top: str, entries: Iterable[Entry], date: int) -> None:
    with (
        gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=stream, mtime=0) as packer,
        tarfile.open(fileobj=packer, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        tar.addfile(_member(top, Entry("", Kind.DIRECTORY), date))
        for entry in entries:
            member = _member(f"{top}/{entry.path}", entry, date)
            if entry.kind is not Kind.FILE:
                tar.addfile(member)
                continue
            with entry.open() as content:
                try:
                    tar.addfile(member, content)
                except OSError as error:
                    if error.errno is not None:
                        raise
                    # tarfile says so, without a number, when a file is shorter than it was
                    raise Unusable(f"{quoted(entry.path)} changed while it was packed", "Build again.") from None


def _member(name: str, entry: Entry, date: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type = _TYPES[entry.kind]
    member.mode = entry.mode
    member.size = entry.size
    member.linkname = entry.target
    member.mtime = date
    member.uname = member.gname = "root"
    return member
