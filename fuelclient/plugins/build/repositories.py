"""The repositories in a package: an index for those with `.deb` packages, a word about those with `.rpm`."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.plugins.archive.limits import Unusable
from fuelclient.plugins.build.deb import control_of
from fuelclient.plugins.build.files import Entry, Kind, generated

_INDEX, _RELEASE = "Packages.gz", "Release"


def indexes(entries: Iterable[Entry], metadata: Mapping[str, Any], series: str) -> Iterator[Entry]:
    """`Packages.gz` and `Release` of every Ubuntu repository of the package that has `.deb` packages.

    The index lists all of them, in all versions, as `dpkg-scanpackages -m` does, by file name and with the fields
    in the order of their authors. Raises `Unusable` for one that cannot be read.
    """
    known = list(entries)
    for root in _roots(metadata, "ubuntu"):
        packages = _packages(known, root, ".deb")
        if packages:
            text = "".join(f"{_stanza(entry, root)}\n\n" for entry in packages)
            yield generated(f"{root}{_INDEX}", gzip.compress(text.encode(), 9, mtime=0))
            release = f"Label: {metadata['name']}\nVersion: {series}\n"
            yield generated(f"{root}{_RELEASE}", release.encode())


def repository_findings(directory: Path, metadata: Mapping[str, Any]) -> tuple[Finding, ...]:
    """A warning (P065) for every CentOS repository whose index the build cannot make, and that has none.

    Its metadata takes `createrepo`; without it yum sees an empty repository.
    """
    return tuple(
        Finding(
            Severity.WARNING,
            "P065",
            f"the repository {root} has .rpm packages but no repodata, and the build makes none",
            Place(str(directory / "metadata.yaml")),
            hint=f"Run createrepo_c {directory / root} before building.",
        )
        for root in _roots(metadata, "centos")
        if any((directory / root).rglob("*.rpm")) and not (directory / root / "repodata" / "repomd.xml").exists()
    )


def _roots(metadata: Mapping[str, Any], system: str) -> list[str]:
    """The repository directories of the releases for one operating system, each once, with a slash at the end."""
    releases = metadata.get("releases")
    found: dict[str, None] = {}
    for record in releases if isinstance(releases, list) else ():
        if not isinstance(record, Mapping):
            continue
        stated = record.get("os", record.get("operating_system"))
        path = record.get("repository_path")
        if str(stated).lower() == system and isinstance(path, str) and path:
            parts = [part for part in path.split("/") if part not in ("", ".")]
            found["".join(f"{part}/" for part in parts)] = None
    return list(found)


def _packages(entries: Iterable[Entry], root: str, suffix: str) -> list[Entry]:
    return [
        entry
        for entry in entries
        if entry.kind is Kind.FILE and entry.path.startswith(root) and entry.path.endswith(suffix)
    ]


def _stanza(entry: Entry, root: str) -> str:
    with entry.open() as source:
        control = control_of(source, entry.path)
    if not control.startswith("Package:") and "\nPackage:" not in control:
        raise Unusable(f"{entry.path} cannot be listed in a repository: its control file names no package")
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
