"""Find keys of a task that mean nothing where they stand, at every depth (G009)."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fuelclient.errors import nearest
from fuelclient.graph.parameters import SHAPES, Entries, Shape, impossible, names_of
from fuelclient.model.task import KNOWN, RELATION_LISTS, Task, TaskType

_SPELLINGS = (*KNOWN, "role", "cross-depends", "cross-depended-by")
_EXPRESSION = "yaql_exp"
_RELATION = ("name", "role", "tags", "policy")
_STRATEGY = ("type", "amount")
_SHORTEST = 4
"""Shorter keys are too easily like another one."""

_Unknown = tuple[str, str, str, Sequence[str]]
"""The dotted path of what holds a key, what that is in words, the key, and the keys that it can have."""


def unknown_keys(task: Task) -> Iterator[tuple[str, str, str]]:
    """Yield the keys of a task that look like others or stand in a wrong place, and all that a relation, a strategy, an
    expression or a file does not have: the dotted path of each, what is wrong with it, and what to do."""
    yield from _of_task(task)
    found: dict[tuple[str, str], _Unknown] = {}
    for unknown in (*_of_relations(task), *_of_parameters(task), *_of_expressions(task)):
        found.setdefault((unknown[0], unknown[2]), unknown)
    for path, holder, key, known in found.values():
        close = nearest(key, known)
        hint = f"Did you mean {close}?" if close else f"Keys: {', '.join(known)}."
        yield f"{path}.{key}", f"{holder} has no key {key!r}; it is kept, but does nothing", hint


def mappings_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the mappings at any depth of an attribute. YAML aliases may make a value contain itself."""
    waiting, seen = [value], set[int]()
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):  # as most are, and what follows takes ten times as long
            continue
        if isinstance(item, Mapping | list) and id(item) not in seen:
            seen.add(id(item))
            if isinstance(item, Mapping):
                yield item
            waiting.extend(item.values() if isinstance(item, Mapping) else item)


def _of_task(task: Task) -> Iterator[tuple[str, str, str]]:
    for key in task.attributes:
        if key == "fault_tolerance" and task.type not in ("", TaskType.GROUP):
            yield key, "fault_tolerance does nothing in a task that is no group", "State it in the group of the role."
        elif key in KNOWN:
            continue
        elif key == "strategy" or key in names_of(task.type):
            yield key, f"{key} does nothing beside the parameters", f"Move it into them: parameters: {{{key}: ...}}."
        elif len(key) >= _SHORTEST and (close := _spelling(key)) and _is_typo(key, close):
            yield key, f"Fuel has no key {key!r}; it is kept, but does nothing", f"Did you mean {close}?"


def _of_relations(task: Task) -> Iterator[_Unknown]:
    for attribute in RELATION_LISTS:
        stated = task.attributes.get(attribute)
        for entry in stated if isinstance(stated, list) else ():
            if isinstance(entry, Mapping) and _EXPRESSION not in entry:
                yield from _closed(attribute, f"an entry of {attribute.replace('_', '-')}", entry, _RELATION)


def _of_parameters(task: Task) -> Iterator[_Unknown]:
    """Yield what strategies and files do not have, and what looks like a parameter of the task's type, unless it is
    impossible without that one, which is an error of its own."""
    parameters = task.attributes.get("parameters")
    if not isinstance(parameters, Mapping) or _EXPRESSION in parameters:
        return
    strategy, known = parameters.get("strategy"), names_of(task.type)
    if isinstance(strategy, Mapping) and _EXPRESSION not in strategy:
        yield from _closed("parameters.strategy", "a strategy", strategy, _STRATEGY)
    missing = {name for name, _ in impossible(task.type, parameters)}
    for key in parameters:
        if key not in known and len(key) >= _SHORTEST and (close := nearest(key, known)) and close not in missing:
            yield "parameters", f"a task of type {task.type}", key, known
    yield from _of_entries("parameters", SHAPES.get(task.type, {}), parameters)


def _of_entries(path: str, shape: Shape, holder: Mapping[str, Any]) -> Iterator[_Unknown]:
    for name, reader in shape.items():
        stated = holder.get(name) if isinstance(reader, Entries) else None
        for entry in stated if isinstance(stated, list) else ():
            if isinstance(reader, Entries) and isinstance(entry, Mapping) and _EXPRESSION not in entry:
                yield from _closed(f"{path}.{name}", f"an entry of {name}", entry, tuple(reader.shape))
                yield from _of_entries(f"{path}.{name}", reader.shape, entry)


def _of_expressions(task: Task) -> Iterator[_Unknown]:
    """Yield what stands beside an expression, and keys that were meant to be one. A mapping as a condition is always
    meant to be one."""
    for attribute, value in task.attributes.items():
        for mapping in mappings_in(value):
            if _EXPRESSION in mapping or (attribute == "condition" and mapping is value):
                yield from _closed(attribute, f"an expression in {attribute}", mapping, (_EXPRESSION,))
            else:
                for key in mapping:
                    if key.lower().startswith("yaql"):
                        yield attribute, attribute, key, (_EXPRESSION,)


def _closed(path: str, holder: str, stated: Mapping[str, Any], known: Sequence[str]) -> Iterator[_Unknown]:
    for key in stated:
        if key not in known:
            yield path, holder, key, known


@functools.lru_cache(maxsize=1024)
def _spelling(key: str) -> str:
    return nearest(key, _SPELLINGS)


def _is_typo(key: str, word: str) -> bool:
    """Return whether `key` is `word` with a letter or two wrong, and not a different word such as `test_case`.

    >>> _is_typo("required_form", "required_for"), _is_typo("test_case", "test_post")
    (True, False)
    """
    ours, theirs = (Counter(text.replace("-", "_")) for text in (key, word))
    return max((ours - theirs).total(), (theirs - ours).total()) <= 2
