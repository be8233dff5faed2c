"""Package archives unpack to what was packed, without the directories around it."""

from __future__ import annotations

import shutil
import stat
import subprocess
import tarfile
from pathlib import Path

import archive_samples as samples
import pytest
from refusals import refused

from fuelclient.errors import Conflict, InvalidDocument, NotFound, UsageError
from fuelclient.plugins.archive import extract
from fuelclient.plugins.archive.limits import Limits
from fuelclient.plugins.pack import rpm as rpm_header


@pytest.fixture
def target(tmp_path: Path) -> Path:
    target = tmp_path / "target"
    target.mkdir()
    return target


def tree(directory: Path) -> dict[str, str]:
    """Every entry below `directory`: mode and content, or where a link leads."""
    found = {}
    for path in sorted(directory.rglob("*")):
        mode = stat.S_IMODE(path.lstat().st_mode)
        name = str(path.relative_to(directory))
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        else:
            found[name] = f"{mode:o} {'directory' if path.is_dir() else path.read_text(encoding='utf-8')}"
    return found


def test_an_fp_is_unpacked_without_its_top_directory(tmp_path: Path, target: Path) -> None:
    archive = samples.fp(
        tmp_path / "plug-1.2.3.fp",
        samples.tar(
            [
                samples.tar_member("plug-1.2.3", tarfile.DIRTYPE, mode=0o2777),
                samples.tar_file("./plug-1.2.3/metadata.yaml", b"name: plug\n", 0o666),
                samples.tar_file("plug-1.2.3/scripts/d.sh", b"#!/bin/sh\n", 0o6755),
                samples.tar_member("plug-1.2.3/scripts/link", tarfile.SYMTYPE, "../metadata.yaml"),
                samples.tar_member("plug-1.2.3/scripts/same", tarfile.LNKTYPE, "plug-1.2.3/scripts/d.sh"),
                samples.tar_member("plug-1.2.3/dangling", tarfile.SYMTYPE, "not/there"),
                samples.tar_file("plug-1.2.3/mit Leerzeichen und ü", b""),
            ]
        ),
    )
    extract(archive, target)
    assert tree(target) == {
        "metadata.yaml": "644 name: plug\n",
        "scripts": "755 directory",
        "scripts/d.sh": "755 #!/bin/sh\n",
        "scripts/link": "-> ../metadata.yaml",
        "scripts/same": "755 #!/bin/sh\n",
        "dangling": "-> not/there",
        "mit Leerzeichen und ü": "644 ",
    }


@pytest.mark.parametrize("compressor", ["gzip", "xz", "zstd"])
def test_an_rpm_is_unpacked_without_the_plugins_tree(tmp_path: Path, target: Path, compressor: str) -> None:
    archive = samples.rpm(
        tmp_path / "plug.rpm",
        [
            samples.Member(b"./var/www", mode=stat.S_IFDIR | 0o755),
            samples.Member(samples.TREE.encode(), mode=stat.S_IFDIR | 0o700),
            samples.inside("metadata.yaml", b"name: plug\n"),
            samples.inside("scripts", b"", stat.S_IFDIR | 0o755),
            samples.inside("scripts/d.sh", b"#!/bin/sh\n", stat.S_IFREG | 0o4751),
            samples.inside("scripts/link", b"../metadata.yaml", stat.S_IFLNK | 0o777),
        ],
        compressor,
    )
    extract(archive, target)
    assert tree(target) == {
        "metadata.yaml": "644 name: plug\n",
        "scripts": "755 directory",
        "scripts/d.sh": "755 #!/bin/sh\n",
        "scripts/link": "-> ../metadata.yaml",
    }


def test_hard_links_of_an_rpm_share_the_data_of_the_last(tmp_path: Path, target: Path) -> None:
    first, second = (f"{samples.TREE}/{name}".encode() for name in ("a", "b"))
    empty = [samples.Member(f"{samples.TREE}/{name}".encode(), inode=9, names=2) for name in ("e", "f")]
    archive = samples.rpm(
        tmp_path / "plug.rpm",
        [samples.Member(first, inode=7, names=2), samples.Member(second, b"data", inode=7, names=2), *empty],
    )
    extract(archive, target)
    assert tree(target) == {"a": "644 data", "b": "644 data", "e": "644 ", "f": "644 "}


def test_an_fp_has_no_scripts(tmp_path: Path) -> None:
    archive = samples.fp(tmp_path / "x.fp", samples.tar([samples.tar_file("a-plugin-1.2.3/metadata.yaml")]))
    assert samples.scripts(archive) == {}


def test_scripts_are_shown_and_not_run(tmp_path: Path, target: Path) -> None:
    trace = tmp_path / "trace"
    fields = [
        rpm_header.text(1023, f"touch {trace}"),
        rpm_header.text(1085, "/bin/sh"),
        rpm_header.text(1024, "print('x')"),
        rpm_header.text(1086, "<lua>"),
        rpm_header.texts(1065, ["first", "second"]),
    ]
    archive = tmp_path / "plug.rpm"
    payload = samples.compressed(samples.cpio([samples.inside("metadata.yaml")]), "gzip")
    archive.write_bytes(samples.rpm_bytes(payload, "gzip", fields))
    assert samples.scripts(archive) == {
        "%pre": f"touch {trace}",
        "%post -p <lua>": "print('x')",
        "%trigger 1": "first",
        "%trigger 2": "second",
    }
    extract(archive, target)
    assert not trace.exists()


def test_unknown_extension_is_refused_like_the_original_does(tmp_path: Path, target: Path) -> None:
    path = tmp_path / "plugin.txt"
    path.write_text("text")
    with pytest.raises(InvalidDocument) as caught:
        extract(path, target)
    assert str(caught.value).startswith("Plugin plugin.txt has unsupported format .txt. ")
    (finding,) = caught.value.findings
    assert str(finding).startswith("plugin.txt: error: Plugin plugin.txt has unsupported format .txt [P001]")


def test_missing_files_and_occupied_targets_are_refused(tmp_path: Path, target: Path) -> None:
    archive = samples.fp(tmp_path / "plug.fp", samples.tar([samples.tar_file("plug-1.0/a")]))
    (tmp_path / "directory.fp").mkdir()
    with pytest.raises(NotFound):
        extract(tmp_path / "missing.fp", target)
    with pytest.raises(UsageError):
        extract(tmp_path / "directory.fp", target)
    with pytest.raises(NotFound):
        extract(archive, tmp_path / "missing")
    (target / "mine").write_text("kept")
    with pytest.raises(Conflict):
        extract(archive, target)
    assert tree(target) == {"mine": "644 kept"}


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (Limits(total=5), "more than 5 bytes"),
        (Limits(member=2), "'plug-1.0/d/a' is larger than 2 bytes"),
        (Limits(members=2), "more than 2 members"),
    ],
)
def test_limits_are_met_exactly(tmp_path: Path, target: Path, limits: Limits, message: str) -> None:
    members = [samples.tar_file("plug-1.0/d/a", b"123"), samples.tar_file("plug-1.0/d/b", b"456")]
    archive = samples.fp(tmp_path / "plug.fp", samples.tar(members))
    extract(archive, target, limits=Limits(total=6, members=3, member=3))
    assert set(tree(target)) == {"d", "d/a", "d/b"}
    shutil.rmtree(target / "d")
    with refused(InvalidDocument, message):
        extract(archive, target, limits=limits)
    assert tree(target) == {}


SPEC = """
Name: plug-1.2
Version: 1.2.3
Release: 1
Summary: s
License: Apache
BuildArch: noarch
AutoReq: no
%description
d
%install
mkdir -p %{buildroot}/var/www/nailgun/plugins
cp -a {source} %{buildroot}/var/www/nailgun/plugins/plug-1.2
%pre
echo before
%files
/var/www/nailgun/plugins/plug-1.2
"""


@pytest.mark.parametrize("payload", ["w9.gzdio", "w6.xzdio", "w19.zstdio"])
def test_packages_of_the_real_rpmbuild_are_read(tmp_path: Path, target: Path, payload: str) -> None:
    if shutil.which("rpmbuild") is None:
        pytest.skip("rpmbuild is not installed (Debian: apt-get install rpm)")
    source = tmp_path / "source"
    (source / "scripts").mkdir(parents=True)
    (source / "metadata.yaml").write_text("name: plug\n")
    (source / "scripts" / "d.sh").write_text("#!/bin/sh\n")
    (source / "scripts" / "d.sh").chmod(0o755)
    (source / "same").hardlink_to(source / "metadata.yaml")
    (source / "link").symlink_to("scripts/d.sh")
    spec = tmp_path / "plug.spec"
    spec.write_text(SPEC.replace("{source}", str(source)))
    defines = ["--define", f"_topdir {tmp_path}/top", "--define", f"_binary_payload {payload}"]
    subprocess.run(["rpmbuild", *defines, "-bb", str(spec)], check=True, capture_output=True)
    (archive,) = (tmp_path / "top").rglob("*.noarch.rpm")
    extract(archive, target)
    assert tree(target) == tree(source)
    assert samples.scripts(archive) == {"%pre": "echo before"}
