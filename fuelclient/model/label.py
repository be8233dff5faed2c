"""Labels: what people write on nodes to find them again, and how they name them on a command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Label:
    """A label as it is named: `name=value`, or `name` alone, which means it with any value where it is looked for.

    A value of None is that of a label without one.
    """

    name: str
    value: str | None = None
    is_exact: bool = False

    def is_on(self, labels: Mapping[str, str | None]) -> bool:
        """Whether this label is among those of a node."""
        return self.name in labels and (not self.is_exact or labels[self.name] == self.value)


def label_from(text: str) -> Label:
    """The label that a text names; one without a name has the name ''.

    >>> label_from("rack = b"), label_from("rack=").value is None
    (Label(name='rack', value='b', is_exact=True), True)
    """
    name, sign, value = text.partition("=")
    return Label(name.strip(), value.strip() or None, bool(sign))


def has_any(labels: Mapping[str, str | None], wanted: Iterable[Label]) -> bool:
    """Whether one of `wanted` is among the labels of a node. Source: the original client's `node list --labels`."""
    return any(one.is_on(labels) for one in wanted)


def without(labels: Mapping[str, str | None], gone: Iterable[Label] | None) -> dict[str, str | None]:
    """The labels of a node without those that `gone` names; without any where it is None.

    >>> without({"a": "1", "b": None}, [label_from("a=2"), label_from("b")])
    {'a': '1'}
    """
    if gone is None:
        return {}
    named = tuple(gone)
    return {name: value for name, value in labels.items() if not has_any({name: value}, named)}
