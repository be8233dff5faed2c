"""The shapes of the parts of a release that this package reads.

A release keeps whatever its author wrote. The parts that this package reads are checked when a release is read from a
document. When a stored release is used, malformed parts are left out, because engine files of earlier versions can hold
anything. `null` counts as absent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fuelclient.serializers.report import Report
from fuelclient.serializers.values import in_words, items_of, key_text, line_of

_MAPPING, _LIST, _NAME, _NAMES = "a mapping", "a list", "a name", "a name or a list of names"
_TYPES: Mapping[str, Any] = {_MAPPING: Mapping, _LIST: list | tuple, _NAME: str | int | float}
_HINTS = {
    _MAPPING: "Write its keys below it.",
    _LIST: "Write it as a list, each item after `- `.",
    _NAME: "Write one word.",
    _NAMES: "Write it as [controller, compute], or '*' for all.",
}


@dataclass(frozen=True, slots=True)
class _Shape:
    """The type of a value, the shapes of some of its keys, and the shape of all other values or items."""

    wanted: str
    keys: Mapping[str, _Shape] = field(default_factory=dict)
    each: _Shape | None = None

    def below(self, key: str) -> _Shape | None:
        return self.keys.get(key, self.each)

    def fits(self, value: Any) -> bool:
        """Whether a value has the right type, regardless of its contents."""
        if self.wanted == _NAMES:
            return isinstance(value, str) or (_ANY_LIST.fits(value) and all(map(_ANY_NAME.fits, value)))
        return isinstance(value, _TYPES[self.wanted])


_ANY_LIST, _ANY_NAME = _Shape(_LIST), _Shape(_NAME)


_RECORDS = _Shape(_LIST, each=_Shape(_MAPPING, {"id": _ANY_NAME, "name": _ANY_NAME}))
_LIMITS = _Shape(_MAPPING, {"overrides": _Shape(_LIST, each=_Shape(_MAPPING))})
_ROLE = _Shape(
    _MAPPING,
    {
        "tags": _Shape(_LIST, each=_ANY_NAME),
        "conflicts": _Shape(_NAMES),
        "restrictions": _Shape(_LIST),
        "limits": _LIMITS,
    },
)
_VOLUMES = _Shape(_MAPPING, {"volumes_roles_mapping": _Shape(_MAPPING, each=_RECORDS), "volumes": _RECORDS})
_METADATA = _Shape(
    _MAPPING,
    {
        "roles_metadata": _Shape(_MAPPING, each=_ROLE),
        "tags_metadata": _Shape(_MAPPING, each=_Shape(_MAPPING)),
        "volumes_metadata": _VOLUMES,
        "networks_metadata": _Shape(_MAPPING),
        "network_roles_metadata": _RECORDS,
        "components_metadata": _RECORDS,
        "attributes_metadata": _Shape(_MAPPING, {"editable": _Shape(_MAPPING, each=_Shape(_MAPPING))}),
    },
)


def check_part(name: str, value: Any, line: int, report: Report) -> None:
    """Report every malformed value in one part of a release (G006), each at its line."""
    shape = _METADATA.below(name)
    if shape is None or value is None:
        return
    for path, item, wanted, at in _malformed(value, shape, name, line):
        report.error("G006", at, f"{path} must be {wanted}, not {in_words(item)}", _HINTS[wanted])


def well_formed(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Leave out the malformed parts of a stored release's metadata.

    >>> well_formed({"tags_metadata": {"a": 1, "b": {}}, "roles_metadata": [], "else": 7})
    {'tags_metadata': {'b': {}}, 'else': 7}
    """
    kept: Mapping[str, Any] = _without_malformed(metadata, _METADATA)
    return kept


def _malformed(value: Any, shape: _Shape, path: str, line: int) -> Iterator[tuple[str, Any, str, int]]:
    """Yield path, value, wanted type and line of each value that does not have its shape."""
    if not shape.fits(value):
        yield path, value, shape.wanted, line
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if (below := shape.below(key_text(key))) is not None and item is not None:
                yield from _malformed(item, below, f"{path}.{key_text(key)}", line_of(value, str(key)) or line)
    elif isinstance(value, list | tuple) and shape.each is not None:
        for index, (item, at) in enumerate(items_of(value, line)):
            yield from _malformed(item, shape.each, f"{path}[{index}]", at)


def _without_malformed(value: Any, shape: _Shape) -> Any:
    if isinstance(value, Mapping):
        pairs = ((key, item, shape.below(str(key)) if item is not None else None) for key, item in value.items())
        return {
            key: item if below is None else _without_malformed(item, below)
            for key, item, below in pairs
            if below is None or below.fits(item)
        }
    if isinstance(value, list | tuple) and shape.each is not None:
        return [_without_malformed(item, shape.each) for item in value if shape.each.fits(item)]
    return value
