"""Every module, file and directory that ARCHITECTURE.md names exists."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from failures import failures

from fuelclient.backends.base import Backend

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "fuelclient"
DOCUMENT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
TOP = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
"""What a dotted name of the package begins with; the document leaves out `fuelclient`."""

OF_PLUGINS = {"tasks.yaml"}
"""Files that the document mentions and that are not in the repository, but in plugins."""

_FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
_DOTTED = re.compile(r"(?<![\w./:])([a-z_]+(?:\.\w+)+)(?!\w)")
_PATH = re.compile(r"[\w.<>/-]*/[\w.<>/-]*|[\w.-]+\.(?:py|md|yaml|json|cfg|toml)")
_QUESTIONS = re.compile(r"^\| question \| module of `([\w/]+)/` \|\n\|---\|---\|\n((?:\| .*\n)+)", re.M)
"""A table that says which module of a folder answers which question: the folder, and the rows."""

_NAME_IN_FILE = re.compile(r"`([\w/]+\.py)` \(`(\w+)`\)")


def section(title: str) -> str:
    """Return the text below a heading."""
    return DOCUMENT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def quoted() -> list[str]:
    """Return everything that stands between backticks, outside the traces."""
    return sorted(set(re.findall(r"`([^`\n]+)`", _FENCED.sub("", DOCUMENT))))


def dotted_names() -> list[str]:
    """Return the names of modules, functions and classes in traces and text; file names are none of them."""
    text = " ".join([*_FENCED.findall(DOCUMENT), *quoted()])
    names = {name for name in _DOTTED.findall(text) if not _PATH.fullmatch(name)}
    return sorted(name for name in names if name.partition(".")[0] in TOP | {"backend"})


def paths() -> list[str]:
    """Return the quoted files and directories; `<noun>` stands for any name, and `...` for anything."""
    links = re.findall(r"\]\(([^)#:]+)\)", DOCUMENT)
    return sorted({name for name in (*quoted(), *links) if _PATH.fullmatch(name) and "..." not in name} - OF_PLUGINS)


def homes(name: str) -> Iterator[object]:
    """Yield the module that the longest prefix of a dotted name is, and then its attributes one by one."""
    parts = name.split(".")
    module: ModuleType = import_module("fuelclient")
    while parts:
        try:
            module = import_module(f"{module.__name__}.{parts[0]}")
        except ModuleNotFoundError:
            break
        del parts[0]
    yield module
    place: object = module
    for part in parts:
        classes = [own for _, own in inspect.getmembers(place, inspect.isclass) if own.__module__ == module.__name__]
        owner = next((candidate for candidate in (place, *classes) if hasattr(candidate, part)), None)
        assert owner is not None, f"{place} has no {part}, and neither has a class in it"
        place = getattr(owner, part)
        yield place


def test_a_dotted_name_exists() -> None:
    def check(name: str) -> None:
        first, *rest = name.split(".")
        if first == "backend":  # any object of the boundary
            facet = typing.get_type_hints(getattr(Backend, rest[0]).fget)["return"]
            assert all(hasattr(facet, method) for method in rest[1:])
        else:
            assert list(homes(name))

    assert failures(dotted_names(), check) == {}


def test_a_path_exists() -> None:
    def check(name: str) -> None:
        pattern = re.sub(r"<\w+>", "*", name).rstrip("/")
        bases = [ROOT, PACKAGE, *(PACKAGE / top for top in TOP if "/" not in pattern and (PACKAGE / top).is_dir())]
        assert any(next(base.glob(pattern), None) for base in bases), f"nothing is called {name}"

    assert failures(paths(), check) == {}


@pytest.mark.parametrize(("path", "name"), _NAME_IN_FILE.findall(DOCUMENT))
def test_a_file_has_the_name_that_stands_beside_it(path: str, name: str) -> None:
    module = import_module(f"fuelclient.{path.removesuffix('.py').replace('/', '.')}")
    assert list(homes(f"{module.__name__.removeprefix('fuelclient.')}.{name}"))


def test_every_package_is_on_a_floor() -> None:
    cells = [line.split("|")[1] for line in section("Floors").splitlines() if line.startswith("| ")]
    names = {name.rstrip("/") for cell in cells[1:] for name in re.findall(r"`(\w+/?)`", cell)}

    assert names == {name for name in TOP if not name.startswith("_")}


@pytest.mark.parametrize(
    ("folder", "table"), [pytest.param(*found, id=found[0]) for found in _QUESTIONS.findall(DOCUMENT)]
)
def test_a_table_of_questions_names_every_module_of_its_folder(folder: str, table: str) -> None:
    answers = [line.split("|")[2] for line in table.splitlines()]
    names = {name for answer in answers for name in re.findall(r"`(\w+)/?`", answer)}
    modules = {path.stem for path in (PACKAGE / folder).iterdir() if path.suffix == ".py" or path.is_dir()}

    assert names == {name for name in modules if not name.startswith("_")}


def test_the_table_of_new_things_names_where_each_goes() -> None:
    lines = [line for line in section("Where does a new X go?").splitlines() if line.startswith("| ")]
    assert {line.count("|") for line in lines} == {4}, "each row has a thing, its place and its tests"
    rows = [line.split("|")[1:3] for line in lines]

    assert len(rows) > 10
    assert not [new for new, home in rows[1:] if not any(map(_PATH.fullmatch, re.findall(r"`([^`]+)`", home)))]
