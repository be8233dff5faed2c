"""Labels of nodes, and the texts that name them on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Label:
    """A label on the command line: `name=value`, or `name` alone, which matches any value in a search.

    A label without a value has the value None.
    """

    name: str
    value: str | None = None
    is_exact: bool = False

    def is_on(self, labels: Mapping[str, str | None]) -> bool:
        return self.name in labels and (not self.is_exact or labels[self.name] == self.value)


def label_from(text: str) -> Label:
    """Parse a label; its name may be empty.

    >>> label_from("rack = b"), label_from("rack=").value is None
    (Label(name='rack', value='b', is_exact=True), True)
    """
    name, sign, value = text.partition("=")
    return Label(name.strip(), value.strip() or None, bool(sign))


def has_any(labels: Mapping[str, str | None], wanted: Iterable[Label]) -> bool:
    """Whether a node has one of the `wanted` labels. Source: the original client's `node list --labels`."""
    return any(label.is_on(labels) for label in wanted)


def without(labels: Mapping[str, str | None], removed: Iterable[Label] | None) -> dict[str, str | None]:
    """The labels of a node except `removed`; no labels if that is None.

    >>> without({"a": "1", "b": None}, [label_from("a=2"), label_from("b")])
    {'a': '1'}
    """
    if removed is None:
        return {}
    matching = tuple(removed)
    return {name: value for name, value in labels.items() if not has_any({name: value}, matching)}
