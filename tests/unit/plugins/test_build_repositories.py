"""The Debian repositories in a package get an index; so do empty CentOS ones."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import zstandard

from fuelclient.errors import InvalidDocument
from fuelclient.plugins.archive import extract
from fuelclient.plugins.pack import build_fp, repository_findings

METADATA: Mapping[str, Any] = {
    "name": "plug",
    "version": "1.2.3",
    "package_version": "4.0.0",
    "releases": [
        {"os": "ubuntu", "version": "mitaka-9.0", "repository_path": "repositories/ubuntu"},
        {"os": "ubuntu", "version": "newton-10.0", "repository_path": "./repositories/ubuntu/"},
        {"operating_system": "CentOS", "version": "mitaka-9.0", "repository_path": "repositories/centos"},
    ],
}


def deb(path: Path, control: str, compressor: str = "gz") -> Path:
    """A Debian package with nothing but its description."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        member = tarfile.TarInfo("./control")
        member.size = len(control.encode())
        tar.addfile(member, io.BytesIO(control.encode()))
    packers: dict[str, Callable[[bytes], bytes]] = {
        "gz": gzip.compress,
        "xz": lzma.compress,
        "zst": zstandard.ZstdCompressor().compress,
    }
    parts = {
        "debian-binary": b"2.0\n",
        f"control.tar.{compressor}": packers[compressor](raw.getvalue()),
        "data.tar": bytes(10240),
    }
    whole = b"!<arch>\n"
    for name, content in parts.items():
        whole += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode() + content
        whole += b"\n" * (len(content) % 2)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(whole)
    return path


def described(name: str, version: str) -> str:
    return (
        f"Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: M <m@example.org>\n"
        "Description: short\n a longer one\n .\n with ü\n"
    )


def packed(directory: Path, target: Path) -> Path:
    target.mkdir()
    extract(build_fp(directory, directory.parent, METADATA, force=True), target)
    return target / "repositories" / "ubuntu"


def stanzas(text: str) -> list[dict[str, str]]:
    """The records of an index, as fields by name."""
    records = []
    for block in text.strip().split("\n\n"):
        record: dict[str, str] = {}
        for line in block.splitlines():
            if line.startswith(" "):
                record[list(record)[-1]] += f"\n{line}"
            else:
                name, _, value = line.partition(":")
                record[name] = value.strip()
        records.append(record)
    return records


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    directory = tmp_path / "p"
    directory.mkdir()
    (directory / "metadata.yaml").write_text("name: plug\n")
    return directory


def test_a_repository_with_packages_gets_an_index_and_a_release(directory: Path, tmp_path: Path) -> None:
    repository = directory / "repositories" / "ubuntu"
    deb(repository / "a_1.0_all.deb", described("a", "1.0"))
    deb(repository / "a_1.1_all.deb", described("a", "1.1"), "xz")
    deb(repository / "pool" / "b_2.0_all.deb", described("b", "2.0"), "zst")
    (repository / "Packages.gz").write_bytes(b"old")
    found = packed(directory, tmp_path / "target")
    records = stanzas(gzip.decompress((found / "Packages.gz").read_bytes()).decode())
    assert [(record["Package"], record["Version"], record["Filename"]) for record in records] == [
        ("a", "1.0", "./a_1.0_all.deb"),
        ("a", "1.1", "./a_1.1_all.deb"),
        ("b", "2.0", "./pool/b_2.0_all.deb"),
    ]
    assert (found / "Release").read_text() == "Label: plug\nVersion: 1.2\n"
    assert "repositories/ubuntu/Packages.gz" in (tmp_path / "target" / "checksums.sha1").read_text()
    assert (repository / "Packages.gz").read_bytes() == b"old", "the sources are not touched"


def test_the_index_says_what_dpkg_scanpackages_says(directory: Path, tmp_path: Path) -> None:
    if shutil.which("dpkg-scanpackages") is None or shutil.which("dpkg-deb") is None:
        pytest.skip("dpkg-scanpackages is not installed (Debian: apt-get install dpkg-dev)")
    repository = directory / "repositories" / "ubuntu"
    repository.mkdir(parents=True)
    for version in ("1.0", "1.1"):
        source = tmp_path / version
        (source / "DEBIAN").mkdir(parents=True)
        (source / "DEBIAN" / "control").write_text(described("a", version))
        (source / "DEBIAN").chmod(0o755)
        subprocess.run(["dpkg-deb", "--build", str(source), str(repository)], check=True, capture_output=True)
    said = subprocess.run(["dpkg-scanpackages", "-m", "."], cwd=repository, capture_output=True, text=True, check=True)
    found = packed(directory, tmp_path / "target")
    ours = stanzas(gzip.decompress((found / "Packages.gz").read_bytes()).decode())
    theirs = stanzas(said.stdout)
    assert sorted(ours, key=lambda record: record["Version"]) == sorted(theirs, key=lambda record: record["Version"])


def test_a_repository_without_packages_gets_an_empty_index(directory: Path, tmp_path: Path) -> None:
    repository = directory / "repositories" / "ubuntu"
    repository.mkdir(parents=True)
    (repository / "README").touch()
    found = packed(directory, tmp_path / "target")
    assert sorted(path.name for path in found.iterdir()) == ["Packages.gz", "README", "Release"]
    assert gzip.decompress((found / "Packages.gz").read_bytes()) == b""


def test_a_directory_that_is_not_there_gets_no_index(directory: Path, tmp_path: Path) -> None:
    assert not packed(directory, tmp_path / "target").exists()


def test_empty_centos_repository_gets_a_valid_index(directory: Path, tmp_path: Path) -> None:
    (directory / "repositories" / "centos").mkdir(parents=True)
    root = packed(directory, tmp_path / "target").parent / "centos"
    space = "{http://linux.duke.edu/metadata/repo}"
    listed = ElementTree.parse(root / "repodata" / "repomd.xml").getroot().findall(f"{space}data")  # noqa: S314 - ours
    assert [data.get("type") for data in listed] == ["primary", "filelists", "other"]
    for data in listed:
        location, checksum = data.find(f"{space}location"), data.find(f"{space}checksum")
        assert location is not None
        assert checksum is not None
        content = (root / str(location.get("href"))).read_bytes()
        assert hashlib.sha256(content).hexdigest() == checksum.text
        assert ElementTree.fromstring(gzip.decompress(content)).get("packages") == "0"  # noqa: S314 - ours


@pytest.mark.parametrize("with_packages", [False, True])
def test_apt_reads_what_is_built(directory: Path, tmp_path: Path, with_packages: bool) -> None:
    if shutil.which("apt-get") is None:
        pytest.skip("apt-get is not installed")
    repository = directory / "repositories" / "ubuntu"
    repository.mkdir(parents=True)
    if with_packages:
        deb(repository / "a_1.0_all.deb", described("a", "1.0"))
    root, found = tmp_path / "apt", packed(directory, tmp_path / "target")
    for name in ("state/lists/partial", "cache/archives/partial", "sources"):
        (root / name).mkdir(parents=True)
    (root / "sources.list").write_text(f"deb [trusted=yes] file:{found} /\n")
    options = {
        "Dir::State": root / "state", "Dir::State::status": "/dev/null", "Dir::Cache": root / "cache",
        "Dir::Etc::sourcelist": root / "sources.list", "Dir::Etc::sourceparts": root / "sources",
        "APT::Sandbox::User": "",
    }  # fmt: skip
    stated = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    done = subprocess.run(["apt-get", *stated, "update"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    assert not any(line.startswith("E:") for line in (done.stdout + done.stderr).splitlines()), done


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"text", "not a .deb package"),
        (b"!<arch>\n", "no control.tar"),
        (b"!<arch>\nshort", "header of a member"),
        (b"!<arch>\n" + f"{'control.tar.gz':<48}{9:<10}`\n".encode() + b"no gzip!!", "damaged"),
        (b"!<arch>\n" + f"{'control.tar':<48}{0:<10}`\n".encode(), "empty file|no control file"),
    ],
)
def test_a_file_that_is_no_package_is_named(directory: Path, content: bytes, message: str) -> None:
    repository = directory / "repositories" / "ubuntu"
    repository.mkdir(parents=True)
    (repository / "bad.deb").write_bytes(content)
    with pytest.raises(InvalidDocument, match=f"repositories/ubuntu/bad.deb .*{message}"):
        build_fp(directory, directory.parent, METADATA)


def test_a_centos_repository_with_packages_needs_an_index(directory: Path) -> None:
    repository = directory / "repositories" / "centos"
    repository.mkdir(parents=True)
    assert repository_findings(directory, METADATA) == ()
    (repository / "x.rpm").touch()
    (finding,) = repository_findings(directory, METADATA)
    assert (finding.severity, finding.code) == ("error", "P065")
    assert "repositories/centos/" in finding.message
    (repository / "repodata").mkdir()
    (repository / "repodata" / "repomd.xml").touch()
    assert repository_findings(directory, METADATA) == ()
