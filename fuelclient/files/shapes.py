"""Check documents against JSON schemas, and report violations in plain words.

The schemas are the files of a folder. Additional keywords: `x-is` names the expected value, `x-hint` is the hint for
others, and those that end with `Word` call functions of the caller. `jsonschema` finds the violations; its own messages
are not shown, because they change.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from fuelclient.errors import did_you_mean
from fuelclient.model.document import Document, Marked, MarkedList
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.serializers.values import in_words as description
from fuelclient.serializers.values import key_text, line_of

MAX_VALUES = 100_000
"""The most values of a document that is checked. A whole release of Fuel has 10 000. The limit for reading files is
ten times as high, but comparing so much with a schema takes minutes."""
MAX_VIOLATIONS = 200
"""The most violations that are reported for one document."""

KeywordChecks = Mapping[str, Callable[[str], str | None]]
"""For each keyword, a function that returns None for a valid text, and otherwise the reason, which may be empty."""

_TYPES = {
    "string": ("a string", "Write it in quotes."),
    "integer": ("a whole number", "Write a whole number without quotes."),
    "boolean": ("true or false", "Write true or false, without quotes."),
    "array": ("a list", "Write [a, b], or lines that begin with `- `."),
    "object": ("a mapping", "Write its keys below it, indented."),
    "null": ("empty", "Correct it."),
}
"""For each JSON type, its name in messages, and the hint for a value of another type."""
_PROBLEMS = {"required": "lacks {}", "additionalProperties": "is not a known key", "uniqueItems": "repeats {}"}
_PLAIN = re.compile(r"[\w*:/-]+")
_MAX_STEP_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Data from a file, the name of the file in messages, and the path to the data if it is only a part of the file, as
    in `metadata.yaml:releases[0].roles`."""

    document: Document
    name: str
    path: Sequence[str | int] = ()


class Shapes:
    """The JSON schemas in a folder, by file name."""

    def __init__(self, folder: Traversable, checks: KeywordChecks) -> None:
        files = [path for path in folder.iterdir() if path.name.endswith(".json")]
        self.schemas: Mapping[str, dict[str, Any]] = {
            path.name: json.loads(path.read_text(encoding="utf-8")) for path in files
        }
        # In a schema with `$schema`, the library would switch to its own class, which lacks our keywords.
        for schema in self.schemas.values():
            schema.pop("$schema", None)
        self._registry: Registry[Any] = Registry().with_resources(
            (file, DRAFT202012.create_resource(schema)) for file, schema in self.schemas.items()
        )
        more = {keyword: functools.partial(_check_text, check) for keyword, check in checks.items()}
        self._validator = extend(Draft202012Validator, {**_KEYWORDS, **more})  # type: ignore[no-untyped-call]  # the library's stubs leave it untyped

    def violations(self, name: str, whole: Any, origins: Sequence[Excerpt]) -> Iterator[Finding]:
        """Yield an error (P003) for everything in `whole` that the schema `name` forbids.

        `whole` was merged from `origins`, of which earlier ones override later ones. Each error is reported in the
        first of them with the value in question, or with most of the path to it. An empty document is valid. No content
        raises an error.
        """
        if whole is None:
            return
        document, shown = origins[0].document, _where(origins[0].name, origins[0].path)
        values: list[int] = [0]
        data = comparable(whole, {}, values)
        if values[0] > MAX_VALUES:
            message = f"{shown} contains more than {MAX_VALUES} values, which is too many to check"
            yield _finding(document, 1, message, "Split it, or use fewer aliases.")
            return
        reported: set[tuple[str, int]] = set()
        validator: Validator = self._validator(self.schemas[name], registry=self._registry)
        for error in itertools.islice(validator.iter_errors(data), MAX_VIOLATIONS + 1):
            if len(reported) == MAX_VIOLATIONS:
                message = f"{shown} has more errors than are listed here"
                yield _finding(document, 1, message, "Correct the listed ones, and check again.")
                return
            steps = list(error.absolute_path)
            origin = max(origins, key=lambda excerpt: len(_walk(excerpt.document.data, steps)))
            message = _sentence(error, _where(origin.name, [*origin.path, *steps]))
            line = line_at(origin.document.data, steps)
            if (message, line) not in reported:
                reported.add((message, line))
                yield _finding(origin.document, line, message, _hint(error))


def line_at(data: Any, path: Sequence[str | int]) -> int:
    """Find the line of the value at `path` in `data`, or of the nearest enclosing value whose line is known.

    >>> line_at(Marked({"a": MarkedList([1, 2], [4, 5])}, 3, {"a": 3}), ["a", 1])
    5
    """
    line = line_of(data) or 1
    for holder, step in _walk(data, path):
        if isinstance(holder, Marked):
            line = holder.lines.get(str(step), line)
        elif isinstance(holder, MarkedList) and step < len(holder.lines):
            line = holder.lines[step]
    return line


def _walk(data: Any, path: Sequence[str | int]) -> list[tuple[Any, Any]]:
    """Follow `path` in `data` as far as it exists. Each step is a container, and the key or index in it.

    >>> [len(_walk({"a": [5]}, path)) for path in (["a", 0], ["a", 1], ["b"])]
    [2, 1, 0]
    """
    steps: list[tuple[Any, Any]] = []
    for step in path:
        if isinstance(data, Mapping):
            keys = [key for key in data if key_text(key) == step]
        else:
            keys = [step] if isinstance(data, list | tuple) and isinstance(step, int) and step < len(data) else []
        if not keys:
            break
        steps.append((data, keys[0]))
        data = data[keys[0]]
    return steps


def _finding(document: Document, line: int, message: str, hint: str) -> Finding:
    return Finding(Severity.ERROR, "P003", message, Place(document.file, line), hint=hint)


def comparable(value: Any, memo: dict[int, tuple[Any, int]], count: list[int]) -> Any:
    """Convert `value` to JSON types, with keys as strings. Add the number of its values to `count[0]`.

    Values shared by YAML aliases are converted once, but counted as often as they appear.
    """
    count[0] += 1
    if not isinstance(value, Mapping | list | tuple):
        return value
    if id(value) not in memo:
        before = count[0]
        converted: Any
        if isinstance(value, Mapping):
            converted = {key_text(key): comparable(item, memo, count) for key, item in value.items()}
        else:
            converted = [comparable(item, memo, count) for item in value]
        memo[id(value)] = converted, count[0] - before
    else:
        count[0] += memo[id(value)][1]
    return memo[id(value)][0]


# The functions below replace keywords of the library. Their errors carry data instead of a sentence, a pattern has to
# match up to the very end, and no check takes quadratic time.


def _descend(validator: Validator, instance: Any, schema: Any, key: str) -> Iterator[ValidationError]:
    """Yield the errors of the value under `key`. The library's own keywords call the same, untyped method."""
    errors: Iterator[ValidationError] = validator.descend(instance, schema, path=key)  # type: ignore[attr-defined]  # the protocol lacks it
    return errors


def _required(_validator: Validator, keys: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        yield from (ValidationError(key) for key in keys if key not in instance)


def _additional(validator: Validator, schema: Any, instance: Any, whole: Any) -> Iterator[ValidationError]:
    for key in instance if isinstance(instance, dict) else ():
        if key not in whole.get("properties", {}):
            error = [ValidationError(key, path=[key])]
            yield from error if schema is False else _descend(validator, instance[key], schema, key)


def _property_names(validator: Validator, schema: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    for key in instance if isinstance(instance, dict) else ():
        yield from _descend(validator, key, schema, key)


def _pattern(_validator: Validator, pattern: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not re.fullmatch(pattern.removesuffix("$"), instance):
        yield ValidationError("")


def _unique(_validator: Validator, _wanted: bool, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    seen: set[str] = set()
    for index, item in enumerate(instance if isinstance(instance, list) else ()):
        if isinstance(item, str) and item in seen:
            yield ValidationError(item, path=[index])
        seen.add(str(item))


def _check_text(
    check: Callable[[str], str | None], _validator: Validator, _wanted: bool, text: Any, _schema: Any
) -> Iterator[ValidationError]:
    if (problem := check(text) if isinstance(text, str) else None) is not None:
        yield ValidationError(problem)


_KEYWORDS = {
    "required": _required,
    "additionalProperties": _additional,
    "propertyNames": _property_names,
    "pattern": _pattern,
    "uniqueItems": _unique,
}


def _where(name: str, path: Sequence[str | int]) -> str:
    """Name a place in a file for messages.

    >>> _where("metadata.yaml", ["releases", 0, "os"]), _where("tasks.yaml", [2]), _where("a.yaml", [])
    ('metadata.yaml:releases[0].os', 'tasks.yaml:[2]', 'a.yaml')
    """
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            shown = step if _PLAIN.fullmatch(step) and len(step) <= _MAX_STEP_LENGTH else repr(step[:_MAX_STEP_LENGTH])
            text += f".{shown}" if text else shown
    return f"{name}:{text}" if text else name


def _sentence(error: ValidationError, place: str) -> str:
    """Write the message: what is missing at `place`, or what is expected there and what was found.

    For our own keywords (see above), `error.message` is data, such as the missing key.
    """
    keyword, schema = str(error.validator), _schema(error)
    if keyword in _PROBLEMS:
        return f"{place} {_PROBLEMS[keyword].format(error.message)}"
    if keyword in ("minItems", "minProperties") and not error.instance:
        return f"{place} must not be empty"
    names = [_TYPES.get(name, (name, ""))[0] for name in _types(schema)]
    expected = schema.get("x-is") or " or ".join(names) or "something else"
    reason = f": {error.message}" if keyword.endswith("Word") and error.message else ""
    return f"{place} must be {expected}, not {description(error.instance)}{reason}"


def _hint(error: ValidationError) -> str:
    keyword, schema = str(error.validator), _schema(error)
    if keyword == "required":
        return f"Add the key {error.message}."
    if keyword == "additionalProperties":
        return did_you_mean(error.message, schema.get("properties", {}), "Remove it.")
    if keyword == "uniqueItems":
        return "Remove one of the two."
    if schema.get("x-hint"):
        return str(schema["x-hint"])
    if keyword == "enum":
        known = [word for word in schema.get("enum", ()) if isinstance(word, str)]
        shown = " or ".join("'*'" if word == "*" else word for word in known)
        return did_you_mean(str(error.instance), known if isinstance(error.instance, str) else (), f"Write {shown}.")
    if keyword == "type":
        return _TYPES.get(_types(schema)[0], ("", "Correct it."))[1]
    return "List at least one, or remove the key." if keyword.startswith("min") else "Correct it."


def _schema(error: ValidationError) -> dict[str, Any]:
    return error.schema if isinstance(error.schema, dict) else {}


def _types(schema: Mapping[str, Any]) -> Sequence[str]:
    types = schema.get("type", ())
    return [types] if isinstance(types, str) else types
