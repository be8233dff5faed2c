"""The result of reading a package once: its files as written, for checks, and the package that is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fuelclient.model.finding import Place
from fuelclient.model.package import Package
from fuelclient.plugins.package_files import PackageFiles
from fuelclient.plugins.parts import Part, Record
from fuelclient.plugins.releases import Definition, is_definition
from fuelclient.serializers.values import line_of, mapping


@dataclass(frozen=True, slots=True)
class Reading:
    """The content of a package.

    `metadata` is None if it cannot be read; the other files are read all the same. `major` is the package version whose
    rules apply. `package` is None if its metadata is too broken.
    """

    files: PackageFiles
    metadata: Mapping[str, Any] | None
    major: int
    parts: tuple[Part, ...]
    releases: tuple[Record, ...] = ()
    definitions: tuple[Definition, ...] = ()
    package: Package | None = None

    @property
    def name(self) -> str:
        return self.files.name

    @property
    def extensions(self) -> list[Record]:
        return [record for record in self.releases if not is_definition(record.data)]

    @property
    def legacy(self) -> tuple[str, ...]:
        return ("tasks",) if self.major < 5 else ()

    def place(self, key: str) -> Place:
        return Place(self.files.manifest, line_of(self.metadata, key) or 1)

    def of(self, *types: str) -> Iterator[Part]:
        return (part for part in self.parts if part.type in types)

    def records(self, *types: str) -> Iterator[Record]:
        """Yield the records in all parts of these types that are lists. Items that are not mappings are skipped."""
        return (record for part in self.of(*types) for record in part.records())

    def tasks(self) -> Iterator[Record]:
        return self.records("deployment_tasks")

    def roles(self) -> Iterator[tuple[Any, Mapping[str, Any], str]]:
        """Yield each role's name as written, its mapping (an empty one if it is something else), and its file."""
        found = (each for part in self.of("node_roles") for each in part.mappings())
        return ((name, mapping(role), file) for roles, file in found for name, role in roles.items())
