"""A built package unpacks to what was packed, for real packages and for generated trees."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from archive_samples import tree, unpacked
from corpus import corpus
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from fuelclient.errors import InvalidDocument
from fuelclient.plugins.pack import build_fp, build_rpm

METADATA: Mapping[str, Any] = {"name": "plug", "version": "1.2.3", "package_version": "4.0.0", "title": "Plug"}
BUILDERS = [pytest.param(build_fp, id="fp"), pytest.param(build_rpm, id="rpm")]
Builder = Callable[..., Path]


@pytest.mark.corpus
@pytest.mark.parametrize("build", BUILDERS)
def test_corpus_packages_survive_an_archive(tmp_path: Path, build: Builder) -> None:
    found = sorted(corpus("plugins").glob("*/metadata.yaml")) + sorted(corpus("fpb-examples").glob("*/metadata.yaml"))
    assert len(found) > 20
    for number, manifest in enumerate(found):
        metadata = yaml.safe_load(manifest.read_text(encoding="utf-8"))
        archive = build(manifest.parent, tmp_path, metadata)
        expected = {
            name: value
            for name, value in tree(manifest.parent).items()
            if not name.startswith(".") and name != "checksums.sha1"
        }
        result = unpacked(archive, tmp_path / f"target{number}")
        result.pop("checksums.sha1")
        written = {name for name in result if name not in expected}
        assert {name.rpartition("repositories/")[2].partition("/")[2] for name in written} <= INDEXES, manifest
        assert {name: value for name, value in result.items() if name not in written} == expected, manifest


INDEXES = {
    "Packages.gz", "Release", "repodata", "repodata/repomd.xml", "repodata/primary.xml.gz",
    "repodata/filelists.xml.gz", "repodata/other.xml.gz",
}  # fmt: skip
"""What a build adds to repositories."""

PART = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="/"), min_size=1, max_size=12).filter(
    lambda part: part not in (".", "..") and not part.startswith(".")
)
PATH = st.lists(PART, min_size=1, max_size=4).map(tuple)
ENTRY = st.one_of(
    st.tuples(st.just("file"), st.booleans(), st.binary(max_size=2000)),
    st.tuples(st.just("directory"), st.just(False), st.just(b"")),
    st.tuples(st.just("link"), st.just(False), PATH.map(lambda parts: "/".join(parts).encode())),
)


@given(entries=st.dictionaries(PATH, ENTRY, max_size=12), build=st.sampled_from([build_fp, build_rpm]))
@settings(max_examples=60, deadline=None)
def test_building_and_unpacking_is_the_identity(
    entries: dict[tuple[str, ...], tuple[str, bool, bytes]], build: Builder
) -> None:
    with tempfile.TemporaryDirectory() as box:
        directory, target = Path(box, "p"), Path(box, "t")
        directory.mkdir()
        for parts, (kind, executable, content) in sorted(entries.items()):
            path = directory.joinpath(*parts)
            if (
                path.exists()
                or path.is_symlink()
                or any(above.is_symlink() or above.is_file() for above in _up(path, directory))
            ):
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if kind == "file":
                path.write_bytes(content)
                path.chmod(0o755 if executable else 0o644)
            elif kind == "link":
                path.symlink_to("../" * (len(parts) - 1) + content.decode())
            else:
                path.mkdir()
        expected = tree(directory)
        try:
            archive = build(directory, Path(box), METADATA)
        except InvalidDocument as error:
            # Links that meet by chance may turn in a circle; nothing else may be wrong with these trees.
            if "circle" in str(error):
                reject()
            raise
        result = unpacked(archive, target)
        result.pop("checksums.sha1")
        expected.pop("checksums.sha1", None)
        assert result == expected


def _up(path: Path, top: Path) -> list[Path]:
    return [above for above in path.parents if above != top and top in above.parents]
