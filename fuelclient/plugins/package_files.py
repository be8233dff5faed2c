"""Read the files of an unpacked package by name or pattern, never outside the package, and resolve `*_path` keys.

Source: the specification "release-as-a-plugin", section Fuel Plugin Builder. Differences from Nailgun's loader: nothing
outside the package is read, `**` matches directories at any depth, `.json` and `.yml` files are read too, and mixing
lists with mappings is an error (Nailgun appends the mappings to the list).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from fuelclient import files
from fuelclient.errors import FuelError, InvalidDocument, NotFound, Unavailable, UsageError
from fuelclient.model.document import Document, Marked, MarkedList
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import GraphDocument
from fuelclient.plugins.parts import Part, lines_of
from fuelclient.serializers.values import line_of

SUFFIX = "_path"

CONF_PATH = "conf_path"
"""The key by which a release record names the directory of its data files."""

_REPOSITORY = "repository_path"

DIRECTORIES = frozenset({"deployment_scripts_path", _REPOSITORY, CONF_PATH})
"""Keys that name a directory. They are kept as they are, not replaced by its content."""

_DATA = frozenset({".yaml", ".yml", ".json"})
_MAGIC = frozenset("*?[")
_T = TypeVar("_T")


def require_directory(directory: Path) -> None:
    """Raise unless `directory` is a readable directory.

    Raise `NotFound` if it does not exist, `UsageError` if it is not a directory, and `Unavailable` if permissions
    forbid reading it.
    """
    hint = "Name the directory that holds metadata.yaml."
    if not os.path.lexists(directory):
        raise NotFound("package directory", str(directory), hint=hint)
    if not os.path.isdir(directory):
        raise UsageError(f"{directory} is not a directory.", hint=hint)
    if not os.access(directory, os.R_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        message = f"Package directory {directory} cannot be read: permission denied."
        raise Unavailable(message, hint="Check its permissions.")


class PackageFiles:
    """Reads the files of one package, and collects their `parts` as they are written, their `graphs`, and `findings`.

    Nothing is raised for the content of a package: what cannot be read is left out and becomes a finding. Data of
    an unexpected shape is left out, too; `misshapen` has its places, and `plugins.shapes` finds the reasons. Messages
    show the directory as `shown_as`, if given: for an archive, the directory is a temporary one. Each file is opened
    once, however often it is named. Once it is read, `metadata` has the content of `metadata.yaml`, and
    `version` is the package version whose rules apply.
    """

    def __init__(self, directory: Path, *, shown_as: str = "") -> None:
        self.directory = directory
        self.metadata: Mapping[str, Any] = {}
        self.version = 0
        self.parts: dict[tuple[object, ...], Part] = {}
        self.graphs: list[GraphDocument] = []
        self.misshapen: dict[Place, None] = {}
        self.label = shown_as or str(directory)
        self._shown_as = shown_as.rstrip("/")
        self._noted: dict[Finding, None] = {}
        self._cache: dict[Path, Document | None] = {}
        self._claimed: frozenset[Path] = frozenset()
        self.manifest = self.shown("metadata.yaml")
        self._root = directory.resolve()

    @property
    def name(self) -> str:
        """The name of the plugin in its metadata, or an empty string."""
        return str(self.metadata.get("name") or "")

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(self._noted)

    def shown(self, name: str) -> str:
        return f"{self._shown_as}/{name}" if self._shown_as else str(self.directory / name)

    def read(self, name: str) -> Document | None:
        """Read the file `name` of the package; None if it does not exist or cannot be read."""
        path = self.directory / name
        place = Place(self.shown(name))
        if not path.is_symlink() and not path.exists():
            return None
        return self._read(path, place) if self._check_inside(self._is_within(path), name, place) else None

    def read_own(self, name: str) -> Document | None:
        """Read the file `name` at the root, unless a release that the package defines uses it."""
        return None if self.directory / name in self._claimed else self.read(name)

    def claim_read_files(self) -> None:
        """Reserve all files that were read so far for the releases that the package defines: `read_own` skips them."""
        self._claimed = frozenset(self._cache)

    def add_part(self, part: Part) -> Part:
        key = (part.type, part.path, *(document.file for each in (part, *part.bases) for document in each.documents))
        return self.parts.setdefault(key, part)

    def documents(self, name: str, place: Place) -> list[Document]:
        """Read the documents for the file or pattern `name`, which is written at `place`, in the order of names."""
        if not self._check_inside(stays_below(name), name, place):
            return []
        paths = [self.directory / name]
        if _MAGIC & set(name):
            paths = self._matching(name, place)
        elif not os.path.isfile(paths[0]):
            message = f"the file {name} does not exist in the package"
            self.reject("P004", message, place, "Create it, or correct the path.")
            return []
        within = (path for path in paths if self._check_inside(self._is_within(path), name, place))
        documents = (self._read(path, place) for path in within)
        return [document for document in documents if document is not None]

    def files_in(self, name: str) -> Iterator[str]:
        """Yield the files below the directory `name`, relative to the package, and nothing if it is not a directory.

        Directories behind symbolic links are not entered. No finding is added.
        """
        start = self.directory / name
        if not stays_below(name) or not os.path.isdir(start) or not self._is_within(start):
            return
        for folder, _, names in os.walk(start):
            for path in (Path(folder, name) for name in names):
                if os.path.isfile(path) and (not path.is_symlink() or self._is_within(path)):
                    yield path.relative_to(self.directory).as_posix()

    def directory_at(self, data: Mapping[str, Any], key: str) -> str:
        """The directory that `key` names, or "" (with a finding) if the package has no such directory."""
        name = self.shaped(data, key, str)
        return name if name is not None and self._names_directory(key, name, self.place(data, key)) else ""

    def shaped(self, data: Mapping[str, Any], key: str, shape: type[_T], *, file: str = "") -> _T | None:
        """The value under `key` if it is of this type, or None. The place of another value is added to `misshapen`."""
        value = data.get(key)
        if isinstance(value, shape):
            return value
        if value is not None:
            self.misshapen[self.place(data, key, file=file)] = None
        return None

    def place(self, data: Mapping[str, Any], key: str = "", *, file: str = "") -> Place:
        """The place of `key` in `data`, or of `data` itself, in `file` (by default `metadata.yaml`)."""
        return Place(file or self.manifest, line_of(data, key))

    def resolved(self, data: Any, *, file: str = "", deep: bool = True) -> Any:
        """Replace every `*_path` key of `data` (unless `deep`, only at the top) by the data that it names.

        Keys that name a directory are kept. The named files are not searched for further keys. `data` is in `file`, by
        default `metadata.yaml`.
        """
        if isinstance(data, Mapping):
            pairs = dict(self._resolved_pair(data, str(key), value, file, deep=deep) for key, value in data.items())
            return Marked(pairs, line_of(data), lines_of(data))
        if isinstance(data, list):
            items = [self.resolved(item, file=file) for item in data]
            return MarkedList(items, data.lines) if isinstance(data, MarkedList) else items
        return data

    def merged(self, documents: Sequence[Document], name: str, place: Place) -> Any:
        """Join all lists into one list, or all mappings into one, where later files override earlier ones.

        Empty files are ignored. The result is None without data, and, with a finding, if lists and mappings are mixed
        or a file has neither.
        """
        non_empty = [document for document in documents if document.data is not None]
        lists = [document for document in non_empty if isinstance(document.data, list)]
        mappings = [document for document in non_empty if isinstance(document.data, Mapping)]
        for document in non_empty:
            if not isinstance(document.data, list | Mapping):
                message = f"{document.file} contains neither a list nor a mapping"
                self.reject("P037", message, place, f"Make {name} name files with data.")
                return None
        if lists and mappings:
            kinds = f"{lists[0].file} is a list, {mappings[0].file} is a mapping"
            message = f"the files of {name} do not fit together: {kinds}"
            self.reject("P037", message, place, "Make all of them lists, or all of them mappings.")
            return None
        if not mappings:
            return [item for document in lists for item in document.data] if lists else None
        joined = Marked(line=line_of(mappings[0].data))
        for document in mappings:
            joined.update(document.data)
            joined.lines.update(lines_of(document.data))
        return joined

    def reject(self, code: str, message: str, place: Place, hint: str) -> None:
        self.note([Finding(Severity.ERROR, code, message, place, hint=hint)])

    def note(self, findings: Iterable[Finding]) -> None:
        self._noted.update(dict.fromkeys(findings))

    def _resolved_pair(
        self, data: Mapping[str, Any], key: str, value: Any, file: str, *, deep: bool
    ) -> tuple[str, Any]:
        if not (key.endswith(SUFFIX) and isinstance(value, str)):
            return key, self.resolved(value, file=file) if deep or key.endswith(SUFFIX) else value
        place = self.place(data, key, file=file)
        if key in DIRECTORIES:
            self._names_directory(key, value, place)
            return key, value
        if not _MAGIC & set(value) and self._is_directory(value, place):
            return key, value
        return key.removesuffix(SUFFIX), self.merged(self.documents(value, place), value, place)

    def _is_directory(self, name: str, place: Place) -> bool:
        """Whether `name` is a directory of the package. Add a finding if it is outside."""
        path = self.directory / name
        is_below = self._check_inside(stays_below(name), name, place)
        return is_below and os.path.isdir(path) and self._check_inside(self._is_within(path), name, place)

    def _matching(self, pattern: str, place: Place) -> list[Path]:
        try:
            # Directory by directory, as `files.task_files` walks: `cluster/` comes before `cluster-haproxy/`.
            matches = sorted(self.directory.glob(pattern), key=lambda path: path.relative_to(self.directory).parts)
        except (ValueError, OSError) as error:
            message = f"the pattern {pattern} cannot be read: {error}"
            self.reject("P037", message, place, "Write it like graphs/**/*.yaml.")
            return []
        paths = [path for path in matches if path.suffix.lower() in _DATA and os.path.isfile(path)]
        if not paths:
            self.reject("P037", f"no YAML or JSON file matches {pattern}", place, "Correct the pattern.")
        return paths

    def _is_within(self, path: Path) -> bool:
        try:
            return path.resolve().is_relative_to(self._root)
        except (OSError, RuntimeError):  # a loop of symbolic links
            return False

    def _names_directory(self, key: str, name: str, place: Place) -> bool:
        """Whether `name`, the value of `key`, is a directory of the package; add a finding if not."""
        exists = self._is_directory(name, place)
        if not exists and stays_below(name):
            code, message = "P067" if key == _REPOSITORY else "P004", f"{key}: the directory {name} does not exist"
            self.reject(code, message, place, "Create it, or correct the path.")
        return exists

    def _check_inside(self, is_inside: bool, name: str, place: Place) -> bool:
        """Return `is_inside`. If it is false, add a finding: `name` leads out of the package."""
        if not is_inside:
            hint = "Name a file below the root of the package, without '..'."
            self.reject("P004", f"{name!r} leads out of the package", place, hint)
        return is_inside

    def _read(self, path: Path, place: Place) -> Document | None:
        """Read a file, or return None if that is impossible. Add its findings, under the name that messages use."""
        if path in self._cache:
            return self._cache[path]
        shown = self.shown(path.relative_to(self.directory).as_posix())
        code = "P001" if shown == self.manifest else "P037"
        document = None
        try:
            if path.is_fifo() or path.is_char_device():  # reading could wait for ever
                raise UsageError(f"{path} is not a regular file.", hint="A package contains files and directories.")
            loaded = files.load(path)
            document = Document(loaded.data, shown, tuple(_in_file(finding, shown) for finding in loaded.findings))
            self.note(document.findings)
        except FuelError as error:  # not a document, or not a file, or not readable
            listed = error.findings if isinstance(error, InvalidDocument) else ()
            causes = [_in_file(finding, shown, code) for finding in listed if isinstance(finding, Finding)]
            message = error.message.replace(str(path), shown).rstrip(".")
            self.note(causes or [Finding(Severity.ERROR, code, message, place, hint=error.hint)])
        self._cache[path] = document
        return document


def _in_file(finding: Finding, file: str, code: str = "") -> Finding:
    """Move a finding to the file that messages call `file`, with another `code` if given."""
    return replace(finding, code=code or finding.code, place=replace(finding.place, file=file))


def stays_below(name: str) -> bool:
    """Whether a path stays below the directory that it is relative to, judging by its text alone."""
    path = PurePosixPath(name)
    return bool(name) and "\0" not in name and not path.is_absolute() and ".." not in path.parts
