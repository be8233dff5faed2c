"""The unpacked packages next to the engine file, in directories named after their plugin and their content.

::

    engine.db
    engine.db.plugins/
        lma-0.10@2f6c1d0b9a7e/    the files of a plugin that is registered
        .new-x8d2/                an installation in progress, or one that was killed
        my-plugin/                put there by a person, for `plugins sync`

The engine file contains the name of a plugin's directory, so an installation takes effect when the transaction that
stores this name commits. The next command that changes packages deletes directories that no plugin refers to.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported late: previews import this module, but pack and unpack nothing
    from fuelclient.plugins.pack.entries import Entry

_TEMPORARY = ".new-"
_MARK = "@"
_DIGITS = 12
"""Digits of the hash in the name of a directory: enough to distinguish the contents of one plugin."""


class Trees:
    """The directory of unpacked packages of one engine file. Writers must hold `Database.alone`."""

    def __init__(self, engine_file: str) -> None:
        self.root = Path(f"{os.path.realpath(engine_file)}.plugins")

    def path(self, unpacked: str) -> Path:
        return self.root / unpacked

    def has(self, unpacked: str) -> bool:
        return bool(unpacked) and self.path(unpacked).is_dir()

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """Provide an empty directory next to the final ones, and remove it afterwards; also the root if it is empty.

        Raise `Unavailable` for what the system refuses meanwhile, such as a copy or a change of the files in it.
        """
        with _os_errors_as_unavailable(self.root):
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            temporary = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=self.root))
            try:
                staged = temporary / "package"
                staged.mkdir()
                yield staged
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
                with suppress(OSError):  # it is not empty
                    self.root.rmdir()

    def fill(self, staged: Path, source: Path) -> tuple[str, ...]:
        """Copy or extract the package in `source`, a directory or an archive, to the directory `staged`.

        Return the names of the archive's scripts, which are not run. Hidden files at the root of a directory are left
        out, as in a built package. Raise `InvalidDocument` for forbidden content, `NotFound` if `source` does not
        exist, and `OSError` if it cannot be read.
        """
        if not source.is_dir():
            from fuelclient.plugins.archive import extract

            return tuple(extract(source, staged))
        for entry in _entries(source):
            _copy(entry, staged / entry.path)
        return ()

    def place(self, staged: Path, name: str) -> str:
        """Move `staged` to a directory named after `name` and its content, and return the name of that directory.

        If a directory with this content exists already, use that.
        """
        content = digest(staged)
        unpacked, number = f"{name}{_MARK}{content}", 1
        while self.path(unpacked).exists():
            if digest(self.path(unpacked)) == content:
                return unpacked
            number += 1  # its files were changed, and a plugin may refer to them
            unpacked = f"{name}{_MARK}{content}.{number}"
        staged.rename(self.path(unpacked))
        return unpacked

    def sweep(self, kept: Collection[str]) -> None:
        """Remove remains of killed installations, and all unpacked packages whose directory is not in `kept`.

        Directories that users put here, with names without `@`, stay.
        """
        for path in self._children():
            if path.name.startswith(_TEMPORARY) or (_MARK in path.name and path.name not in kept):
                shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):  # it is not empty, or not there
            self.root.rmdir()

    def foreign(self) -> list[Path]:
        """The directories that users put here, by name."""
        candidates = (path for path in self._children() if _MARK not in path.name and not path.name.startswith("."))
        return [path for path in candidates if path.is_dir()]

    def _children(self) -> list[Path]:
        try:
            return sorted(self.root.iterdir())
        except OSError:
            return []


def digest(directory: Path) -> str:
    """Hash the paths of a package, their content, and whether they are executable.

    Raise `InvalidDocument` for forbidden content.
    """
    hasher = hashlib.sha256()
    with _os_errors_as_unavailable(directory):
        for entry in _entries(directory):
            hasher.update(f"{entry.type}\0{entry.path}\0{entry.executable}\0{entry.target}\0{entry.size}\0".encode())
            if entry.source is not None:
                with entry.source.open("rb") as stream:
                    hasher.update(hashlib.file_digest(stream, "sha256").digest())
    return hasher.hexdigest()[:_DIGITS]


def digest_in(unpacked: str) -> str:
    """Extract the digest from the name of a directory.

    >>> digest_in("lma-0.10@2f6c1d0b9a7e.2")
    '2f6c1d0b9a7e'
    """
    return unpacked.partition(_MARK)[2].partition(".")[0]


def _entries(directory: Path) -> tuple[Entry, ...]:
    from fuelclient.plugins.archive import unusable
    from fuelclient.plugins.archive.limits import Unusable
    from fuelclient.plugins.pack.entries import collect

    try:
        return collect(directory, "")
    except Unusable as error:
        raise unusable(str(directory), error) from None


def _copy(entry: Entry, target: Path) -> None:
    from fuelclient.plugins.pack.entries import EntryType

    if entry.type is EntryType.DIRECTORY:
        target.mkdir(mode=0o755)
    elif entry.type is EntryType.SYMLINK:
        target.symlink_to(entry.target)
    elif entry.source is not None:
        shutil.copyfile(entry.source, target)
        target.chmod(entry.mode)


@contextmanager
def _os_errors_as_unavailable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        from fuelclient.files.writing import refused  # previews do not need it

        raise refused(str(error.filename or path), "read or written", error, "Check permissions and space.") from error
