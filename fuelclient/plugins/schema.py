"""Check the files of a package against JSON schemas, and report violations in plain words.

There is one schema per type of file and package version that changed it (`schemas/<type>-<version>.json`); versions in
between use the previous one. The schemas follow Fuel Plugin Builder's, with its mistakes corrected (dots in a task's
version, the alias `operating_system`, components that require one of several others). Additional keywords: `x-is` names
what belongs at a place, `x-hint` says what to write there, and `roleWord` and `taskWord` accept names and regular
expressions. In documents that are not valid, `jsonschema` finds the violations, but its own messages are not shown,
because they change.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from fuelclient.errors import nearest
from fuelclient.graph.match import is_pattern, pattern_error
from fuelclient.model.document import Document, Marked, MarkedList
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.plugins.schema_compiled import compiled
from fuelclient.serializers.values import in_words as description
from fuelclient.serializers.values import key_text

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

MAX_VALUES = 100_000
"""The most values of a document that is checked. A whole release of Fuel has 10 000. The limits for reading files
allow a hundred times more, but comparing that with a schema takes minutes."""
MAX_VIOLATIONS = 200
"""The most violations that are reported for one document."""

_NAME = re.compile(r"[0-9a-zA-Z_-]+")
_TYPES = {
    "string": "a string",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "empty",
}
_WRITE = {
    "string": "Write it in quotes.",
    "integer": "Write a whole number without quotes.",
    "boolean": "Write true or false, without quotes.",
    "array": "Write [a, b], or lines that begin with `- `.",
    "object": "Write its keys below it, indented.",
}
_PLAIN = re.compile(r"[\w*:/-]+")
_LONG = 200


def file_types() -> Mapping[str, tuple[int, ...]]:
    """Return the types of files that have schemas, with the package versions that introduced or changed them.

    >>> file_types()["deployment_tasks"]
    (3, 4, 5)
    """
    known: dict[str, list[int]] = {}
    for name in _schemas():
        file_type, _, version = name.removesuffix(".json").rpartition("-")
        if file_type:
            known.setdefault(file_type, []).append(int(version))
    return {file_type: tuple(sorted(versions)) for file_type, versions in known.items()}


def is_known(file_type: str, major: int) -> bool:
    """Return whether packages of version `major` have files of this type.

    >>> is_known("components", 3), is_known("components", 4)
    (False, True)
    """
    return any(version <= major for version in file_types().get(file_type, ()))


@dataclass(frozen=True, slots=True)
class Written:
    """Data as it is written: the document, what messages call it, and the path to the data if that is only a part of
    the file, as in `metadata.yaml:releases[0].roles`."""

    document: Document
    name: str
    path: Sequence[str | int] = ()


def violations(
    file_type: str, major: int, document: Document, *, name: str, path: Sequence[str | int] = ()
) -> Iterator[Finding]:
    """Yield an error (P003) for everything that the schema for this type of file and package version forbids.

    `name` and `path` are those of `Written`. An empty document is valid. Nothing is raised for any content.
    """
    yield from violations_of_whole(file_type, major, document.data, [Written(document, name, path)])


def violations_of_whole(file_type: str, major: int, whole: Any, origins: Sequence[Written]) -> Iterator[Finding]:
    """Yield what `violations` yields, for data that was merged from `origins`, of which the first ones win.

    Each error is reported in the first origin that has the value in question, or most of the path to it.
    """
    if whole is None:
        return
    document, name, path = origins[0].document, origins[0].name, origins[0].path
    values: list[int] = [0]
    data = _comparable(whole, {}, values)
    if values[0] > MAX_VALUES:
        message = f"{_where(name, path)} contains more than {MAX_VALUES} values, which is too many to check"
        yield _finding(document, 1, message, "Split it, or use fewer aliases.")
        return
    if _is_valid(file_type, major)(data):
        return
    reported: set[tuple[str, int]] = set()
    for error in itertools.islice(_validator(file_type, major).iter_errors(data), MAX_VIOLATIONS + 1):
        if len(reported) == MAX_VIOLATIONS:
            message = f"{_where(name, path)} has more errors than are listed here"
            yield _finding(document, 1, message, "Correct the listed ones, and check again.")
            return
        steps = list(error.absolute_path)
        origin = max(origins, key=lambda written: _depth(written.document.data, steps))
        message = _sentence(error, _where(origin.name, [*origin.path, *steps]))
        line = line_at(origin.document.data, steps)
        if (message, line) not in reported:
            reported.add((message, line))
            yield _finding(origin.document, line, message, _hint(error))


def line_at(data: Any, path: Sequence[str | int]) -> int:
    """Return the line of what `path` leads to in `data`, or of the nearest enclosing value that has one.

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


def _depth(data: Any, path: Sequence[str | int]) -> int:
    """Return how many steps of `path` lead to something in `data`.

    >>> _depth({"a": [5]}, ["a", 0]), _depth({"a": [5]}, ["a", 1]), _depth({"a": [5]}, ["b"])
    (2, 1, 0)
    """
    for depth, step in enumerate(path):
        if isinstance(data, Mapping):
            key = next((key for key in data if key_text(key) == step), None)
            if key is None:
                return depth
            data = data[key]
        elif isinstance(data, list | tuple) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            return depth
    return len(path)


def _finding(document: Document, line: int, message: str, hint: str) -> Finding:
    return Finding(Severity.ERROR, "P003", message, Place(document.file, line), hint=hint)


def _comparable(value: Any, known: dict[int, tuple[Any, int]], count: list[int]) -> Any:
    """Return `value` as JSON would have it, with keys as strings. Add the number of its values to `count`.

    Values shared by YAML aliases are converted once, but counted as often as they appear.
    """
    count[0] += 1
    if not isinstance(value, Mapping | list | tuple):
        return value
    if id(value) not in known:
        before = count[0]
        converted: Any
        if isinstance(value, Mapping):
            converted = {key_text(key): _comparable(item, known, count) for key, item in value.items()}
        else:
            converted = [_comparable(item, known, count) for item in value]
        known[id(value)] = converted, count[0] - before
    else:
        count[0] += known[id(value)][1]
    return known[id(value)][0]


@functools.cache
def _schemas() -> dict[str, dict[str, Any]]:
    """Return all schemas by file name."""
    folder = resources.files("fuelclient.plugins").joinpath("schemas")
    files = sorted((path for path in folder.iterdir() if path.name.endswith(".json")), key=lambda path: path.name)
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in files}


@functools.cache
def _validator(file_type: str, major: int) -> Validator:
    """Return the validator for a type of file in packages of version `major`.

    Wherever a schema has `$schema`, the library switches to its own class, without our keywords. So that is removed.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    registry: Registry[Any] = Registry().with_resources(
        (name, DRAFT202012.create_resource(_plain(schema))) for name, schema in _schemas().items()
    )
    validator_class = extend(  # type: ignore[no-untyped-call]  # the library's stubs leave it untyped
        Draft202012Validator,
        {
            "required": _required,
            "additionalProperties": _additional,
            "propertyNames": _property_names,
            "pattern": _pattern,
            "uniqueItems": _unique,
            "roleWord": _word,
            "taskWord": _word,
        },
    )
    validator: Validator = validator_class(_plain(_schemas()[_file(file_type, major)]), registry=registry)
    return validator


@functools.cache
def _is_valid(file_type: str, major: int) -> Callable[[Any], bool]:
    """Return a function that says what `_validator` would, without finding out what is wrong."""
    words = {keyword: functools.partial(_is_word, keyword) for keyword in ("roleWord", "taskWord")}
    return compiled(_file(file_type, major), _schemas(), words)


def _is_word(keyword: str, word: str) -> bool:
    return not any(_word(None, True, word, {keyword: True}))


def _file(file_type: str, major: int) -> str:
    version = max(version for version in file_types()[file_type] if version <= major)
    return f"{file_type}-{version}.json"


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "$schema"}


# The keywords below replace the library's. They put what is wrong into the error as data (the library only has a
# sentence), match patterns to the very end, and avoid quadratic time.


def _error(message: str, *path: str | int) -> ValidationError:
    from jsonschema import ValidationError

    return ValidationError(message, path=path)


def _descend(validator: Validator, instance: Any, schema: Any, key: str) -> Iterator[ValidationError]:
    """Yield the errors of the value under `key`. The library's own keywords call the same, untyped method."""
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


def _word(_validator: Validator | None, _wanted: bool, word: Any, schema: Any) -> Iterator[ValidationError]:
    """Check a name or a regular expression. A role can also be `*`."""
    if not isinstance(word, str) or (word == "*" and "roleWord" in schema):
        return
    if not is_pattern(word) or len(word) < 2:
        if not _NAME.fullmatch(word):
            yield _error("")
        return
    if problem := pattern_error(word):
        yield _error(problem)


def _where(name: str, path: Sequence[str | int]) -> str:
    """Return the name of a place in a file, as messages show it.

    >>> _where("metadata.yaml", ["releases", 0, "os"]), _where("tasks.yaml", [2]), _where("a.yaml", [])
    ('metadata.yaml:releases[0].os', 'tasks.yaml:[2]', 'a.yaml')
    """
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            shown = step if _PLAIN.fullmatch(step) and len(step) <= _LONG else repr(step[:_LONG])
            text += f".{shown}" if text else shown
    return f"{name}:{text}" if text else name


def _sentence(error: ValidationError, place: str) -> str:
    """Return what is wrong at `place`: what is missing, or what belongs there and what is there instead.

    The message of our own keywords (see above) is data: the key that is missing or repeated.
    """
    keyword, schema = str(error.validator), _schema(error)
    if keyword == "required":
        return f"{place} lacks {error.message}"
    if keyword == "additionalProperties":
        return f"{place} is not a known key"
    if keyword == "uniqueItems":
        return f"{place} repeats {error.message}"
    if keyword in ("minItems", "minProperties") and not error.instance:
        return f"{place} must not be empty"
    types = schema.get("type", ())
    names = [_TYPES.get(name, name) for name in ([types] if isinstance(types, str) else types)]
    expected = schema.get("x-is") or " or ".join(names) or "something else"
    why = f": {error.message}" if keyword in ("roleWord", "taskWord") and error.message else ""
    return f"{place} must be {expected}, not {description(error.instance)}{why}"


def _hint(error: ValidationError) -> str:
    """Return what to do about a violation."""
    keyword, schema = str(error.validator), _schema(error)
    if keyword == "required":
        return f"Add the key {error.message}."
    if keyword == "additionalProperties":
        close = nearest(error.message, schema.get("properties", {}))
        return f"Did you mean {close}?" if close else "Remove it."
    if keyword == "uniqueItems":
        return "Remove one of the two."
    if schema.get("x-hint"):
        return str(schema["x-hint"])
    if keyword == "enum":
        known = [word for word in schema.get("enum", ()) if isinstance(word, str)]
        close = nearest(error.instance, known) if isinstance(error.instance, str) else ""
        shown = " or ".join("'*'" if word == "*" else word for word in known)
        return f"Did you mean {close}?" if close else f"Write {shown}."
    if keyword == "type":
        types = schema.get("type", "")
        return _WRITE.get(types if isinstance(types, str) else types[0], "Correct it.")
    return "List at least one, or remove the key." if keyword.startswith("min") else "Correct it."


def _schema(error: ValidationError) -> dict[str, Any]:
    return error.schema if isinstance(error.schema, dict) else {}
