"""Cells of plugins: what they extend, what they bring, and why something was chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cliff.columns import FormattableColumn

from fuelclient.commands.columns import plain


class Extended(FormattableColumn[list[dict[str, str]]]):
    """The releases that a plugin extends; as text in the words of the original client, one operating system after
    another.

    >>> Extended([("ubuntu", "liberty-8.0"), ("centos", "6.1"), ("ubuntu", "mitaka-9.0")]).human_readable()
    'ubuntu (liberty-8.0, mitaka-9.0), centos (6.1)'
    """

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        super().__init__([{"os": os, "version": version} for os, version in pairs])

    def human_readable(self) -> str:
        by_os: dict[str, list[str]] = {}
        for one in self._value:
            by_os.setdefault(one["os"], []).append(one["version"])
        return ", ".join(f"{os} ({', '.join(versions)})".lstrip() for os, versions in by_os.items())


class Graphs(FormattableColumn[list[dict[str, Any]]]):
    """Graph types with the number of their tasks.

    >>> Graphs({"default": 3, "custom": 1}).human_readable()
    'default (3 tasks), custom (1 task)'
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        super().__init__([{"type": kind, "tasks": size} for kind, size in sizes.items()])

    def human_readable(self) -> str:
        return ", ".join(f"{one['type']} ({one['tasks']} task{'s' * (one['tasks'] != 1)})" for one in self._value)


class One(FormattableColumn[dict[str, Any]]):
    """A thing with an id; as text, the id and what it is called.

    >>> One({"id": 1, "name": "Mitaka", "version": "mitaka-9.0"}).human_readable()
    '1 (Mitaka mitaka-9.0)'
    """

    def human_readable(self) -> str:
        return f"{self._value['id']} ({' '.join(str(self._value[key]) for key in self._value if key != 'id')})"


class Several(FormattableColumn[list[dict[str, Any]]]):
    """Things with an id, joined by commas.

    >>> Several([{"id": 1, "name": "prod"}, {"id": 2, "name": "test"}]).human_readable()
    '1 (prod), 2 (test)'
    """

    def human_readable(self) -> str:
        return ", ".join(One(one).human_readable() for one in self._value)


class Files(FormattableColumn[dict[str, str]]):
    """What stands in for a file at the root of a package, one pair to a line; a file that stands for itself is only
    named.

    >>> Files({"volumes.yaml": "volumes.yaml", "node_roles.yaml": "kilo/node_roles.yaml"}).human_readable()
    'volumes.yaml\\nnode_roles.yaml: kilo/node_roles.yaml'
    """

    def human_readable(self) -> str:
        return "\n".join(part if part == file else f"{part}: {file}" for part, file in self._value.items())


class Lines(FormattableColumn[list[str]]):
    """Sentences, one to a line."""

    def __init__(self, value: Sequence[str]) -> None:
        super().__init__(list(value))

    def human_readable(self) -> str:
        return "\n".join(self._value)


def extended(metadata: Mapping[str, Any]) -> Extended:
    """The releases that `releases` of a plugin's metadata names, in its order. Records may lack either part."""
    records = [one for one in plain(metadata.get("releases")) or [] if isinstance(one, Mapping)]
    return Extended(
        (str(one.get("os") or one.get("operating_system") or "").lower(), str(one.get("version") or ""))
        for one in records
        if not one.get("is_release")
    )
