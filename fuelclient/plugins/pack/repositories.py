"""Write the indexes of the repositories in a package: package managers refuse a repository without an index, even if it
is empty.

Only `createrepo` can write the index of a CentOS repository that has packages; without an index, the package is not
built.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.plugins.archive.decompress import CHUNK, Stream, decompressed
from fuelclient.plugins.archive.limits import Unusable
from fuelclient.plugins.pack.entries import Entry, EntryType, generated
from fuelclient.serializers.values import mappings

_DEB = b"!<arch>\n"
_HEADER_BYTES = 60
_MAX_ARCHIVE_BYTES = 16 * 2**20
"""The most bytes of a control archive; its largest part is a list of checksums."""

_MAX_CONTROL_BYTES = 2**20
_REPOMD = "repodata/repomd.xml"
_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_LISTS = (("primary", "metadata", "common"), ("filelists", "filelists", "filelists"), ("other", "otherdata", "other"))
_COMPRESSORS = {".gz": "gzip", ".xz": "xz", ".zst": "zstd", "": ""}


def indexes(entries: Iterable[Entry], metadata: Mapping[str, Any], series: str) -> Iterator[Entry]:
    """Yield the indexes of the repositories that the package has: `Packages.gz` and `Release` of every Ubuntu one, and
    `repodata` of every CentOS one without packages.

    Nodes get each repository of a plugin as a source. A source without an index makes `apt-get update` fail. As with
    `dpkg-scanpackages -m`, the index lists all versions of all packages, by file name, with the fields in the order of
    their control files. Raise `Unusable` for a package that cannot be read.
    """
    listed = list(entries)
    files = [entry for entry in listed if entry.type is EntryType.FILE]
    present = {f"{entry.path}/" for entry in listed if entry.type is EntryType.DIRECTORY}
    for root in _roots(metadata, "ubuntu"):
        if root in present:
            packages = [entry for entry in files if entry.path.startswith(root) and entry.path.endswith(".deb")]
            text = "".join(f"{_stanza(entry, root)}\n\n" for entry in packages)
            yield generated(f"{root}Packages.gz", gzip.compress(text.encode(), 9, mtime=0))
            yield generated(f"{root}Release", f"Label: {metadata['name']}\nVersion: {series}\n".encode())
    for root in _roots(metadata, "centos"):
        paths = [entry.path for entry in files if entry.path.startswith(root)]
        if root in present and not any(path.endswith((".rpm", _REPOMD)) for path in paths):
            yield Entry(f"{root}repodata", EntryType.DIRECTORY)
            yield from _empty_repodata(f"{root}repodata/")


def unlistable_packages(entries: Iterable[Entry], metadata: Mapping[str, Any]) -> Iterator[Unusable]:
    """Yield an error for each package in an Ubuntu repository that the index could not list."""
    roots = tuple(_roots(metadata, "ubuntu"))
    for entry in entries:
        if entry.type is EntryType.FILE and entry.path.endswith(".deb") and entry.path.startswith(roots):
            try:
                _control(entry)
            except Unusable as error:
                yield error


def _empty_repodata(directory: str) -> Iterator[Entry]:
    """Yield what `createrepo` writes for a directory without packages."""
    described = []
    for name, tag, namespace in _LISTS:
        text = f'{_XML}<{tag} xmlns="http://linux.duke.edu/metadata/{namespace}" packages="0">\n</{tag}>\n'.encode()
        packed = gzip.compress(text, 9, mtime=0)
        yield generated(f"{directory}{name}.xml.gz", packed)
        described.append(
            f'<data type="{name}">\n'
            f'  <checksum type="sha256">{hashlib.sha256(packed).hexdigest()}</checksum>\n'
            f'  <open-checksum type="sha256">{hashlib.sha256(text).hexdigest()}</open-checksum>\n'
            f'  <location href="repodata/{name}.xml.gz"/>\n'
            f"  <timestamp>0</timestamp>\n  <size>{len(packed)}</size>\n  <open-size>{len(text)}</open-size>\n</data>\n"
        )
    repomd = f'{_XML}<repomd xmlns="http://linux.duke.edu/metadata/repo">\n{"".join(described)}</repomd>\n'
    yield generated(f"{directory}repomd.xml", repomd.encode())


def repository_findings(directory: Path, metadata: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Find the CentOS repositories that have `.rpm` packages but no index (P065).

    Only `createrepo` can write the index, so the build cannot. Without it, yum refuses the repository on every node.
    """
    return tuple(
        Finding(
            Severity.ERROR,
            "P065",
            f"the repository {root} has .rpm packages but no repodata, which the build cannot write",
            Place(str(directory / "metadata.yaml")),
            hint=f"Run createrepo_c {directory / root} before building.",
        )
        for root in _roots(metadata, "centos")
        if any((directory / root).rglob("*.rpm")) and not (directory / root / "repodata" / "repomd.xml").exists()
    )


def _roots(metadata: Mapping[str, Any], system: str) -> list[str]:
    """The repository directories of releases with this operating system, each once, with a slash at the end."""
    roots: dict[str, None] = {}
    for record in mappings(metadata.get("releases")):
        given = record.get("os", record.get("operating_system"))
        path = record.get("repository_path")
        if str(given).lower() == system and isinstance(path, str) and path:
            parts = [part for part in path.split("/") if part not in ("", ".")]
            roots["".join(f"{part}/" for part in parts)] = None
    return list(roots)


def _stanza(entry: Entry, root: str) -> str:
    """The entry of a package in the index: its control file, its path, its size and its checksums."""
    control = _control(entry)
    sums = {
        "MD5sum": hashlib.md5(usedforsecurity=False),
        "SHA1": hashlib.sha1(usedforsecurity=False),
        "SHA256": hashlib.sha256(),
    }
    for chunk in entry.chunks():
        for digest in sums.values():
            digest.update(chunk)
    lines = [control, f"Filename: ./{entry.path[len(root) :]}", f"Size: {entry.size}"]
    lines += [f"{name}: {digest.hexdigest()}" for name, digest in sums.items()]
    return "\n".join(lines)


def _control(entry: Entry) -> str:
    with entry.open() as source:
        control = _control_of(source, entry.path)
    if not control.startswith("Package:") and "\nPackage:" not in control:
        raise _not_listable(entry.path, "its control file does not name a package")
    return control


def _control_of(source: BinaryIO, name: str) -> str:
    """Read the file `control` of the `.deb` package `source`. Raise `Unusable`, naming `name`, if that is impossible.

    The standard library suffices: a `.deb` is an `ar` archive that contains a compressed `control.tar`.
    """
    if source.read(len(_DEB)) != _DEB:
        raise _not_listable(name, "it is not a .deb package")
    while header := source.read(_HEADER_BYTES):
        member = header[:16].decode("ascii", "replace").rstrip().rstrip("/")
        if len(header) < _HEADER_BYTES or header[58:] != b"`\n" or not header[48:58].strip().isdigit():
            raise _not_listable(name, "the header of a member is damaged")
        size = int(header[48:58])
        stem, _, suffix = member.partition(".tar")
        if stem == "control" and suffix in _COMPRESSORS:
            return _control_in(source.read(min(size, _MAX_ARCHIVE_BYTES)), _COMPRESSORS[suffix], name)
        source.seek(size + size % 2, io.SEEK_CUR)
    raise _not_listable(name, "it has no control.tar compressed with gzip, xz or zstd")


def _control_in(packed: bytes, compressor: str, name: str) -> str:
    stream = Stream(decompressed(io.BytesIO(packed), compressor), _MAX_ARCHIVE_BYTES)
    try:
        archive = io.BytesIO(b"".join(iter(lambda: stream.read(CHUNK), b"")))
        with tarfile.open(fileobj=archive, mode="r:") as tar:
            for member in tar:
                if member.name.removeprefix("./") == "control" and member.isreg() and member.size <= _MAX_CONTROL_BYTES:
                    file = tar.extractfile(member)
                    return file.read().decode().strip("\n") if file else ""
    except (tarfile.TarError, ValueError, Unusable) as error:
        raise _not_listable(name, str(error)) from None
    raise _not_listable(name, "it has no control file")


def _not_listable(name: str, reason: str) -> Unusable:
    return Unusable(f"{name} cannot be listed in a repository: {reason}", "Download the package again.")
