"""The files of an unpacked package: found by name or pattern, never outside the package, and put in place of
the `*_path` keys that name them.

Source: the specification "release-as-a-plugin", section Fuel Plugin Builder. Chosen against Nailgun's loader:
nothing is followed out of the package, `**` goes through all directories, `.json` and `.yml` files are read, and
roots that do not fit together are an error (Nailgun appends the mappings to the list).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from fuelclient import files
from fuelclient.errors import FuelError, InvalidDocument
from fuelclient.model.document import Document, Marked, MarkedList
from fuelclient.model.finding import Finding, Place, Severity

SUFFIX = "_path"

CONF_PATH = "conf_path"
"""What a release record says to name the directory of its data files."""

DIRECTORIES = frozenset({"deployment_scripts_path", "repository_path", CONF_PATH})
"""Keys that name a directory; the key stays, whatever lies in it."""

_DATA = frozenset({".yaml", ".yml", ".json"})
_MAGIC = frozenset("*?[")


class PackageFiles:
    """Reads files of one package and collects, in `findings`, everything that is wrong with them.

    Nothing is raised for the package's content: what cannot be had is left out and stands in `findings`.
    `shown_as` is what messages call the directory, where it is only the unpacked form of something else.
    A file is read once, however often it is named.
    """

    def __init__(self, directory: Path, *, shown_as: str = "") -> None:
        self.directory = directory
        self._shown_as = shown_as.rstrip("/")
        self._noted: dict[Finding, None] = {}
        self._cache: dict[Path, Document | None] = {}
        self._claimed: set[Path] = set()
        self._claiming = False
        self.manifest = self.shown("metadata.yaml")
        self._root = directory.resolve()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that was found so far, in the order in which it was found."""
        return tuple(self._noted)

    def shown(self, name: str) -> str:
        """What messages call the file `name` of the package."""
        return f"{self._shown_as}/{name}" if self._shown_as else str(self.directory / name)

    def fixed(self, name: str) -> Document | None:
        """The file `name` of the package, or None where there is none or it cannot be read."""
        path = self.directory / name
        place = Place(self.shown(name))
        if not path.is_symlink() and not path.exists():
            return None
        return self._read(path, place) if self._inside(path, name, place) else None

    def own(self, name: str) -> Document | None:
        """The file `name` at the root, as `fixed`, unless it belongs to a release that the package defines."""
        return None if self.directory / name in self._claimed else self.fixed(name)

    @contextmanager
    def of_release(self) -> Iterator[None]:
        """The files that are named meanwhile are those of a release: none of them is the plugin's own, even where
        it has a name that a file of the plugin could have."""
        self._claiming = True
        try:
            yield
        finally:
            self._claiming = False

    def documents(self, name: str, place: Place) -> list[Document]:
        """What the file or the pattern `name`, written at `place`, stands for, in the order of file names."""
        if not self._may_name(name, place):
            return []
        paths = self._matching(name, place) if _MAGIC & set(name) else self._single(name, place)
        if self._claiming:
            self._claimed.update(paths)
        found = (self._read(path, place) for path in paths if self._inside(path, name, place))
        return [document for document in found if document is not None]

    def below(self, name: str) -> Iterator[str]:
        """The files in the directory `name` and deeper, as paths relative to the package; none where that is not
        a directory of the package. No directory behind a symbolic link is entered, and nothing is noted."""
        start = self.directory / name
        if not _stays_below(name) or not _is(start, "dir") or not self._is_within(start):
            return
        for folder, _, names in os.walk(start):
            for path in (Path(folder, one) for one in names):
                if _is(path, "file") and (not path.is_symlink() or self._is_within(path)):
                    yield path.relative_to(self.directory).as_posix()

    def directory_at(self, data: Mapping[str, Any], key: str) -> str:
        """The directory that `key` names, or an empty string after noting what is wrong with it."""
        name, place = data[key], self.place(data, key)
        if not isinstance(name, str):
            self.reject("P003", f"{key} is not a text", place, "Name a directory of the package.")
        elif self._may_name(name, place):
            if self._is_directory(name, place):
                return name
            self._reject_directory(key, name, place)
        return ""

    def place(self, data: Mapping[str, Any], key: str = "", *, file: str = "") -> Place:
        """Where `key` of `data`, or `data` itself, is written; by default in `metadata.yaml`."""
        return Place(file or self.manifest, _lines(data).get(key, 0) or getattr(data, "line", 0))

    def resolved(self, data: Any, *, file: str = "") -> Any:
        """`data`, by default of `metadata.yaml`, with every `*_path` key replaced by the data that it names.

        A key that names a directory stays as it is. What the named files hold is not searched for further keys.
        """
        if isinstance(data, Mapping):
            pairs = dict(self._resolved_pair(data, str(key), value, file) for key, value in data.items())
            return Marked(pairs, getattr(data, "line", 0), _lines(data))
        if isinstance(data, list):
            items = [self.resolved(item, file=file) for item in data]
            return MarkedList(items, data.lines) if isinstance(data, MarkedList) else items
        return data

    def resolved_keys(self, data: Mapping[str, Any], *, file: str) -> Marked:
        """`data` with its own `*_path` keys replaced; what lies deeper is data, whatever its keys are called."""
        pairs = (
            self._resolved_pair(data, str(key), value, file) if str(key).endswith(SUFFIX) else (str(key), value)
            for key, value in data.items()
        )
        return Marked(dict(pairs), getattr(data, "line", 0), _lines(data))

    def merged(self, documents: Sequence[Document], name: str, place: Place) -> Any:
        """One list of all lists, or one mapping of all mappings, the last file winning a key; None for nothing.

        Empty files count for nothing. Mixed roots, and a root that is neither, are a finding.
        """
        full = [document for document in documents if document.data is not None]
        if full and all(isinstance(document.data, list) for document in full):
            return [item for document in full for item in document.data]
        if full and all(isinstance(document.data, Mapping) for document in full):
            return _united([document.data for document in full])
        for document in full:
            if not isinstance(document.data, Mapping | list):
                message = f"{document.file} holds neither a list nor a mapping"
                self.reject("P037", message, place, f"{name} has to name data.")
                return None
        if full:
            lists, mappings = (_first(full, kind) for kind in (list, Mapping))
            message = f"the files of {name} do not fit together: {lists} is a list, {mappings} is a mapping"
            self.reject("P037", message, place, "Make all of them lists, or all of them mappings.")
        return None

    def reject(self, code: str, message: str, place: Place, hint: str) -> None:
        """Take note of an error."""
        self.note([Finding(Severity.ERROR, code, message, place, hint=hint)])

    def note(self, findings: Iterable[Finding]) -> None:
        """Take note of what others have found, each finding once."""
        self._noted.update(dict.fromkeys(findings))

    def _resolved_pair(self, data: Mapping[str, Any], key: str, value: Any, file: str) -> tuple[str, Any]:
        if not (key.endswith(SUFFIX) and isinstance(value, str)):
            return key, self.resolved(value, file=file)
        place = self.place(data, key, file=file)
        if key in DIRECTORIES:
            if self._may_name(value, place) and not self._is_directory(value, place):
                self._reject_directory(key, value, place)
            return key, value
        if not _MAGIC & set(value) and self._may_name(value, place) and self._is_directory(value, place):
            return key, value
        return key.removesuffix(SUFFIX), self.merged(self.documents(value, place), value, place)

    def _may_name(self, name: str, place: Place) -> bool:
        """Whether `name` can be a path below the package, by its words alone."""
        if _stays_below(name):
            return True
        self._reject_escape(name, place)
        return False

    def _is_directory(self, name: str, place: Place) -> bool:
        path = self.directory / name
        return _is(path, "dir") and self._inside(path, name, place)

    def _single(self, name: str, place: Place) -> list[Path]:
        path = self.directory / name
        if _is(path, "file"):
            return [path]
        self.reject("P004", f"there is no file {name} in the package", place, "Create it, or correct the path.")
        return []

    def _matching(self, pattern: str, place: Place) -> list[Path]:
        try:
            # Directory by directory, as `files.task_files` walks: `cluster/` comes before `cluster-haproxy/`.
            found = sorted(self.directory.glob(pattern), key=lambda path: path.relative_to(self.directory).parts)
        except (ValueError, OSError) as error:
            self.reject(
                "P037", f"the pattern {pattern} cannot be read: {error}", place, "Write it like graphs/**/*.yaml."
            )
            return []
        paths = [path for path in found if path.suffix.lower() in _DATA and _is(path, "file")]
        if not paths:
            self.reject("P037", f"no YAML or JSON file matches {pattern}", place, "Correct the pattern.")
        return paths

    def _inside(self, path: Path, name: str, place: Place) -> bool:
        """Whether `path`, with all symbolic links followed, lies in the package."""
        if self._is_within(path):
            return True
        self._reject_escape(name, place)
        return False

    def _is_within(self, path: Path) -> bool:
        try:
            return path.resolve().is_relative_to(self._root)
        except (OSError, RuntimeError):  # a loop of symbolic links
            return False

    def _reject_directory(self, key: str, name: str, place: Place) -> None:
        self.reject("P004", f"{key}: there is no directory {name}", place, "Create it, or correct the path.")

    def _reject_escape(self, name: str, place: Place) -> None:
        hint = "Name a file below the root of the package, without '..'."
        self.reject("P004", f"{name!r} leads out of the package", place, hint)

    def _read(self, path: Path, place: Place) -> Document | None:
        if path not in self._cache:
            self._cache[path] = self._loaded(path, place)
        return self._cache[path]

    def _loaded(self, path: Path, place: Place) -> Document | None:
        """What a file holds, its findings noted under the names that messages use."""
        shown = self.shown(path.relative_to(self.directory).as_posix())
        code = "P001" if shown == self.manifest else "P037"
        try:
            document = files.load(path)
        except FuelError as error:  # no document in it, or no file at all, or none that may be read
            listed = error.findings if isinstance(error, InvalidDocument) else ()
            found = [_moved(one, shown, code) for one in listed if isinstance(one, Finding)]
            message = error.message.replace(str(path), shown).rstrip(".")
            self.note(found or [Finding(Severity.ERROR, code, message, place, hint=error.hint)])
            return None
        self.note(noted := tuple(_moved(finding, shown) for finding in document.findings))
        return Document(document.data, shown, noted)


def _moved(finding: Finding, file: str, code: str = "") -> Finding:
    """`finding` in the file that messages call `file`, as a finding about a package where `code` says so."""
    return replace(finding, code=code or finding.code, place=replace(finding.place, file=file))


def _is(path: Path, kind: str) -> bool:
    """Whether `path` is a file or directory; a name that the system cannot even look up is neither."""
    try:
        return path.is_dir() if kind == "dir" else path.is_file()
    except OSError:
        return False


def _stays_below(name: str) -> bool:
    """Whether a path stays below the directory that it is relative to, as far as its words tell."""
    path = PurePosixPath(name)
    return bool(name) and "\0" not in name and not path.is_absolute() and ".." not in path.parts


def without(data: Mapping[str, Any], *keys: str) -> Marked:
    """`data` without `keys`; the lines of the others are kept.

    >>> without(Marked({"a": 1, "b": 2}, 1, {"a": 1, "b": 2}), "a")
    {'b': 2}
    """
    return Marked({key: data[key] for key in data if key not in keys}, getattr(data, "line", 0), _lines(data))


def _lines(data: Mapping[str, Any]) -> Mapping[str, int]:
    return data.lines if isinstance(data, Marked) else {}


def _united(mappings: Sequence[Mapping[str, Any]]) -> Marked:
    united = Marked(line=getattr(mappings[0], "line", 0))
    for mapping in mappings:
        united.update(mapping)
        united.lines.update(_lines(mapping))
    return united


def _first(documents: Sequence[Document], kind: Any) -> str:
    return next(document.file for document in documents if isinstance(document.data, kind))
