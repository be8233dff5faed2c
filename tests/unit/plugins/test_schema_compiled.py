"""The compiled schemas tell of every document what the schemas themselves do."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from corpus import corpus, public

from fuelclient.errors import UsageError
from fuelclient.files.shapes import Shapes, comparable
from fuelclient.plugins import skeleton
from fuelclient.plugins.load import read_package
from fuelclient.plugins.shapes import SHAPES, schema_of

_ANYWHERE: tuple[Any, ...] = (
    None, True, False, 0, 1, 1.0, 1.5, -1, "", "a", "a\n", "a b", "*", "/a/", "/(/", "/", "0644", "1.0.0", "1.0.0\n",
    [], [None], ["a", "a"], ["*"], {}, {"a": "b"}, {"yaql_exp": "$"}, {"yaql_exp": 1}, {"name": "a", "role": None},
    {"type": "parallel", "amount": 1}, {"condition": "a", "message": "b"}, {"a": True},
)  # fmt: skip


def _said(schema: Any) -> Iterator[Any]:
    """Yield the keys and the choices that a schema names anywhere."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        yield from schema.get("enum", ()) if isinstance(schema.get("enum"), list) else ()
        for part in schema.values():
            yield from _said(part)
    for part in schema if isinstance(schema, list) else ():
        yield from _said(part)


_WORDS = sorted({word for schema in SHAPES.schemas.values() for word in _said(schema) if isinstance(word, str)})


def _documents(directory: Path) -> Iterator[tuple[str, int, Any]]:
    """Yield the types of a package's files, its version, and what is in them."""
    package = read_package(directory)
    yield "metadata", package.major, package.metadata
    for part in package.parts:
        if _is_known(part.type, package.major):
            for document in part.documents:
                yield part.type, package.major, document.data


def _is_known(file_type: str, major: int) -> bool:
    return any(f"{file_type}-{version}.json" in SHAPES.schemas for version in range(1, major + 1))


def _skeletons(directory: Path) -> Iterator[Path]:
    for major in range(1, 7):
        for kind in skeleton.Skeleton:
            path = directory / f"{kind}-{major}"
            try:
                skeleton.create(path, package_version=f"{major}.0.0", skeleton=kind)
            except UsageError:  # this version has no such package
                continue
            yield path


def _changed(data: Any, chance: random.Random) -> Any:
    """Return data with one to three values replaced, removed or added somewhere."""
    whole: dict[str, Any] = {"": copy.deepcopy(data)}
    for _ in range(chance.randint(1, 3)):
        place: Any = whole
        key: Any = ""
        while isinstance(place[key], dict | list) and place[key] and chance.random() < 0.85:
            place = place[key]
            key = chance.choice(list(place) if isinstance(place, dict) else range(len(place)))
        new = copy.deepcopy(chance.choice((*_ANYWHERE, chance.choice(_WORDS), chance.choice(_WORDS))))
        if place is whole or not isinstance(place, dict) or chance.random() < 0.5:
            place[key] = new
        elif chance.random() < 0.5:
            place[chance.choice(_WORDS)] = new
        else:
            del place[key]
    return whole[""]


def _differ(file_type: str, major: int, data: Any) -> bool:
    name = schema_of(file_type, major)
    told = not any(SHAPES.validator(name).iter_errors(data))
    return SHAPES.is_valid(name)(data) != told


def test_packages_as_they_are_and_changed(tmp_path: Path) -> None:
    chance = random.Random(20261126)  # noqa: S311 - it only has to vary
    seen = dict.fromkeys((True, False), 0)
    for path in _skeletons(tmp_path):
        for file_type, major, data in _documents(path):
            whole = comparable(data, {}, [0])
            for tried in (whole, *(_changed(whole, chance) for _ in range(60))):
                assert not _differ(file_type, major, tried), (file_type, major, tried)
                seen[SHAPES.is_valid(schema_of(file_type, major))(tried)] += 1
    assert min(seen.values()) > 500


def test_a_set_of_yaml_is_left_to_the_schema(tmp_path: Path) -> None:
    assert SHAPES.is_valid("metadata-5.json")({"groups": [{"a", "b"}]}) is False
    assert not _compiled({"uniqueItems": True}, tmp_path)([{1}])


def _compiled(schema: dict[str, Any], folder: Path) -> Callable[[Any], bool]:
    (folder / "a.json").write_text(json.dumps(schema))
    return Shapes(folder, {}).is_valid("a.json")


def test_a_number_is_not_true(tmp_path: Path) -> None:
    is_valid = _compiled({"const": True}, tmp_path)
    assert [is_valid(data) for data in (True, 1, 1.0, "true")] == [True, False, False, False]


@pytest.mark.slow
def test_packages_of_others(tmp_path: Path) -> None:
    """Every file of every public package, checked also by the rules of all other versions that have such files."""
    chance = random.Random(20261127)  # noqa: S311 - it only has to vary
    folders = (corpus("plugins"), corpus("release-plugins"), corpus("fpb-examples"), public("plugins"))
    for manifest in (path for folder in folders for path in sorted(folder.rglob("metadata.yaml"))):
        for file_type, _, data in _documents(manifest.parent):
            whole = comparable(data, {}, [0])
            for tried in (whole, *(_changed(whole, chance) for _ in range(8))):
                for major in range(1, 7):
                    if _is_known(file_type, major):
                        assert not _differ(file_type, major, tried), (manifest, file_type, major, tried)
