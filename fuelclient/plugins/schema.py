"""The shapes of a package's files: JSON schemas, kept as data, and what a file does against them in plain words.

One schema is kept per kind of file and per package version that changed it (`schemas/<kind>-<version>.json`); a
version in between means the one before. The schemas follow Fuel Plugin Builder's, corrected where it was wrong
(dots in a task's version, the alias `operating_system`, components that require one of several others). Words of
their own: `x-is` says what belongs at a place, `x-hint` what to write there, `roleWord` and `taskWord` are names
or regular expressions. `jsonschema` finds the violations; none of its sentences is shown, because they change.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from fuelclient.graph.match import is_pattern, pattern_error
from fuelclient.model.document import Document, Marked, MarkedList
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.plugins.schema_words import hint_for, sentence, where
from fuelclient.serializers.values import key_text

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

MAX_VALUES = 100_000
"""Values of one document that are looked at; a whole release of Fuel has 10 000. A document within the limits of
reading may have a hundred times more, which takes minutes to compare with a schema."""
MAX_VIOLATIONS = 200
"""Violations of one document that are told."""

_NAME = re.compile(r"[0-9a-zA-Z_-]+")


def kinds() -> Mapping[str, tuple[int, ...]]:
    """The kinds of files that have schemas, and the package versions that brought or changed them.

    >>> kinds()["deployment_tasks"]
    (3, 4, 5)
    """
    known: dict[str, list[int]] = {}
    for name in _schemas():
        kind, _, version = name.removesuffix(".json").rpartition("-")
        if kind:
            known.setdefault(kind, []).append(int(version))
    return {kind: tuple(sorted(versions)) for kind, versions in known.items()}


def is_known(kind: str, major: int) -> bool:
    """Whether packages of version `major` have files of this kind.

    >>> is_known("components", 3), is_known("components", 4)
    (False, True)
    """
    return any(version <= major for version in kinds().get(kind, ()))


def violations(
    kind: str, major: int, document: Document, *, name: str, path: Sequence[str | int] = ()
) -> Iterator[Finding]:
    """Everything in `document` that the schema of its kind and package version forbids, as errors P003.

    `name` is the file's name in messages, and `path` leads to the data where it is a part of the file:
    `metadata.yaml:releases[0].roles`. An empty document violates nothing. Nothing is raised for any content.
    """
    if document.data is None:
        return
    values: list[int] = [0]
    data = _comparable(document.data, {}, values)
    if values[0] > MAX_VALUES:
        message = f"{where(name, path)} holds more than {MAX_VALUES} values, too many to be checked"
        yield _finding(document, 1, message, "Split it, or use fewer aliases.")
        return
    told: set[tuple[str, int]] = set()
    for error in itertools.islice(_validator(kind, major).iter_errors(data), MAX_VIOLATIONS + 1):
        if len(told) == MAX_VIOLATIONS:
            yield _finding(document, 1, f"{where(name, path)} has more errors than are told here", "Correct these.")
            return
        message = sentence(error, where(name, [*path, *error.absolute_path]))
        line = line_at(document.data, list(error.absolute_path))
        if (message, line) not in told:
            told.add((message, line))
            yield _finding(document, line, message, hint_for(error))


def line_at(data: Any, path: Sequence[str | int]) -> int:
    """The line of what `path` leads to in `data`, or of the nearest thing around it that has one.

    >>> line_at(Marked({"a": MarkedList([1, 2], [4, 5])}, 3, {"a": 3}), ["a", 1])
    5
    """
    line = int(getattr(data, "line", 0)) or 1
    for step in path:
        if isinstance(data, Mapping):
            lines = data.lines if isinstance(data, Marked) else {}
            key = next((key for key in data if key_text(key) == step), step)
            line = lines.get(str(key), line)
            data = data.get(key)
        elif isinstance(data, list | tuple) and isinstance(step, int) and step < len(data):
            line = data.lines[step] if isinstance(data, MarkedList) and step < len(data.lines) else line
            data = data[step]
        else:
            break
    return line


def _finding(document: Document, line: int, message: str, hint: str) -> Finding:
    return Finding(Severity.ERROR, "P003", message, Place(document.file, line), hint=hint)


def _comparable(value: Any, known: dict[int, tuple[Any, int]], count: list[int]) -> Any:
    """`value` as JSON has it, keys as texts; `count` grows by its values, each counted as often as it is named."""
    count[0] += 1
    if not isinstance(value, Mapping | list | tuple):
        return value
    if id(value) not in known:
        before = count[0]
        made: Any
        if isinstance(value, Mapping):
            made = {key_text(key): _comparable(item, known, count) for key, item in value.items()}
        else:
            made = [_comparable(item, known, count) for item in value]
        known[id(value)] = made, count[0] - before
    else:
        count[0] += known[id(value)][1]
    return known[id(value)][0]


@functools.cache
def _schemas() -> dict[str, dict[str, Any]]:
    """All schemas by the name of their file."""
    folder = resources.files("fuelclient.plugins").joinpath("schemas")
    files = sorted((path for path in folder.iterdir() if path.name.endswith(".json")), key=lambda path: path.name)
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in files}


@functools.cache
def _validator(kind: str, major: int) -> Validator:
    """The validator of a kind of file in packages of version `major`; the library is imported here.

    The library changes to its own class, without our keywords, wherever a schema says `$schema`: so it sees none.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    version = max(version for version in kinds()[kind] if version <= major)
    registry: Registry[Any] = Registry().with_resources(
        (name, DRAFT202012.create_resource(_plain(schema))) for name, schema in _schemas().items()
    )
    made = extend(  # type: ignore[no-untyped-call]  # the library's stubs leave it untyped
        Draft202012Validator,
        {
            "required": _required,
            "additionalProperties": _additional,
            "propertyNames": _property_names,
            "pattern": _pattern,
            "uniqueItems": _unique,
            "roleWord": _role_word,
            "taskWord": _task_word,
        },
    )
    validator: Validator = made(_plain(_schemas()[f"{kind}-{version}.json"]), registry=registry)
    return validator


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "$schema"}


# The keywords below replace the library's: they put what is wrong into the error as data, where the library has
# it only in a sentence, take patterns to their very end, and need no time that grows with the square.


def _error(message: str, *path: str | int) -> ValidationError:
    from jsonschema import ValidationError

    return ValidationError(message, path=path)


def _descend(validator: Validator, instance: Any, schema: Any, key: str) -> Iterator[ValidationError]:
    """The errors of what stands under `key`; the library's own keywords come here by a method without a type."""
    errors: Iterator[ValidationError] = validator.descend(instance, schema, path=key)  # type: ignore[attr-defined]  # only the class of the library states it
    return errors


def _required(_validator: Validator, keys: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        yield from (_error(key) for key in keys if key not in instance)


def _additional(validator: Validator, schema: Any, instance: Any, whole: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for key in instance:
        if key in whole.get("properties", {}):
            continue
        if schema is False:
            yield _error(key, key)
        else:
            yield from _descend(validator, instance[key], schema, key)


def _property_names(validator: Validator, schema: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    for key in instance if isinstance(instance, dict) else ():
        yield from _descend(validator, key, schema, key)


def _pattern(_validator: Validator, pattern: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not re.fullmatch(pattern.removesuffix("$"), instance):
        yield _error("")


def _unique(_validator: Validator, _wanted: bool, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    seen: set[str] = set()
    for index, item in enumerate(instance if isinstance(instance, list) else ()):
        if isinstance(item, str) and item in seen:
            yield _error(item, index)
        seen.add(str(item))


def _role_word(_validator: Validator, _wanted: bool, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and instance != "*":
        yield from _word(instance)


def _task_word(_validator: Validator, _wanted: bool, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str):
        yield from _word(instance)


def _word(word: str) -> Iterator[ValidationError]:
    if not is_pattern(word) or len(word) < 2:
        if not _NAME.fullmatch(word):
            yield _error("")
        return
    with warnings.catch_warnings():  # what Python may change one day in regular expressions is no news to users
        warnings.simplefilter("ignore")
        problem = pattern_error(word)
    if problem:
        yield _error(problem)
