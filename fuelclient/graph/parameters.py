"""The parameters of each type of task, and the values that they can have.

Handlers read parameters according to these tables, and checks before a run use the same tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from fuelclient.errors import nearest
from fuelclient.model.task import TaskType

Reader = Callable[[Mapping[str, Any], str], Any]
"""Reads one parameter in the shape that a handler needs, or raises `ValueError` with one clear sentence."""
Shape = Mapping[str, Reader]

MODE, DIRECTORY_MODE, OWNER, MODULES = "0644", "0755", "root", "/etc/puppet/modules"

_MODE = re.compile(r"[0-7]{3,4}")
_PLACEHOLDER = re.compile(r"\{[A-Z][^{}]*\}")
_TRUE = {"true", "yes", "on", "1"}
_FALSE = {"false", "no", "off", "0", ""}


class _Computed:
    """A stand-in for what only a run can compute: an expression, or a text with a placeholder such as {CLUSTER_ID}."""

    def __repr__(self) -> str:
        return "a computed value"


_COMPUTED = _Computed()


class Missing(ValueError):
    """A parameter that the type requires is missing."""


def text(parameters: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """A string, or `default`; numbers count as strings."""
    value = parameters.get(name)
    if value is None or value == "":
        if default is None:
            raise Missing(f"the parameter {name} is missing")
        return default
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        message = f"the parameter {name} must be a string, not {_kind(value)}"
        raise ValueError(message)  # noqa: TRY004 - what a handler refuses is a ValueError
    if "\0" in str(value):
        raise ValueError(f"the parameter {name} has a zero byte")
    return str(value)


def path(parameters: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = text(parameters, name, default)
    if "\n" in value:
        raise ValueError(f"the parameter {name} is a path and must be one line")
    return value


def absolute(parameters: Mapping[str, Any], name: str) -> str:
    value = path(parameters, name)
    if not value.startswith("/") or not value.strip("/."):
        raise ValueError(f"the parameter {name} must be an absolute path below /, not {value!r}")
    return value


def flag(parameters: Mapping[str, Any], name: str, default: bool) -> bool:
    if (value := parameters.get(name)) is None:
        return default
    if (word := str(value).strip().lower()) not in _TRUE | _FALSE:
        raise ValueError(f"the parameter {name} must be true or false, not {_kind(value)}")
    return word in _TRUE


def mode(parameters: Mapping[str, Any], name: str, default: str) -> str:
    """Permissions as octal digits, or `default`. A number comes from YAML, which reads `0644` as octal.

    >>> mode({"permissions": "0640"}, "permissions", "0644"), mode({"permissions": 0o600}, "permissions", "0644")
    ('0640', '0600')
    """
    value = parameters.get(name)
    if value is None or value == "":
        return default
    digits = f"{value:04o}" if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else str(value)
    if not _MODE.fullmatch(digits):
        raise ValueError(f"the parameter {name} must be octal permissions such as '0644', not {value!r}")
    return digits


def number(parameters: Mapping[str, Any], name: str) -> float | None:
    """A number of at least 0, which may be written as a string; None if it is absent."""
    if (value := parameters.get(name)) is None:
        return None
    try:
        parsed = float(value) if not isinstance(value, bool) else -1.0
    except (TypeError, ValueError):
        parsed = -1.0
    if not 0 <= parsed < float("inf"):
        raise ValueError(f"{name} must be a number of at least 0, not {value!r}")
    return int(parsed) if parsed.is_integer() else parsed


def is_remote(location: object) -> bool:
    return isinstance(location, str) and location.startswith("rsync://")


def _path_or_url(parameters: Mapping[str, Any], name: str) -> str:
    location = path(parameters, name)
    if is_remote(location):
        return location
    if "://" in location:
        raise ValueError(f"the parameter {name} must be a path or an rsync:// address, not {location!r}")
    return absolute(parameters, name)


def _sync_target(parameters: Mapping[str, Any], name: str) -> str:
    location = _path_or_url(parameters, name)
    if is_remote(location) and is_remote(parameters.get("src")):
        raise ValueError("src and dst are both rsync:// addresses, and rsync cannot copy from one to another")
    return location


def _data(parameters: Mapping[str, Any], name: str) -> bytes:
    if (value := parameters.get(name)) is None:
        raise Missing(f"the parameter {name} is missing")
    if isinstance(value, bytes):
        return value
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(  # noqa: TRY004 - what a handler refuses is a ValueError
            f"the parameter {name} must be a string; convert a mapping to a string with toYaml() or toJson()"
        )
    return str(value).encode("utf-8", "surrogateescape")


class Entries:
    """Reads a list of one or more mappings that all have one shape."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    def __call__(self, parameters: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
        value = parameters.get(name)
        if (
            not isinstance(value, list | tuple)
            or not value
            or not all(item is _COMPUTED or isinstance(item, Mapping) for item in value)
        ):
            raise ValueError(f"the parameter {name} must be a list of mappings")
        return [_read(self.shape, item) for item in value if item is not _COMPUTED]


_PERMISSIONS: Shape = {
    "permissions": partial(mode, default=MODE),
    "dir_permissions": partial(mode, default=DIRECTORY_MODE),
}
_OWN_PERMISSIONS: Shape = {"permissions": partial(mode, default=""), "dir_permissions": partial(mode, default="")}
_COMMAND: Shape = {"cmd": text, "cwd": partial(path, default="/")}

LIMITS: Shape = dict.fromkeys(("timeout", "retries", "interval", "succeed_retries"), number)
"""Parameters that every type can have."""

SHAPES: Mapping[str, Shape] = MappingProxyType(
    {
        TaskType.SHELL: _COMMAND,
        TaskType.MASTER_SHELL: _COMMAND,
        TaskType.PUPPET: {
            "puppet_manifest": path,
            "puppet_modules": partial(path, default=MODULES),
            "cwd": partial(path, default="/"),
            "debug": partial(flag, default=False),
            "command_prefix": partial(text, default=""),
        },
        TaskType.SYNC: {"src": _path_or_url, "dst": _sync_target},
        TaskType.UPLOAD_FILE: {
            "path": absolute,
            "data": _data,
            **_PERMISSIONS,
            "user_owner": partial(text, default=OWNER),
            "group_owner": partial(text, default=OWNER),
            "parents": partial(flag, default=True),
            "overwrite": partial(flag, default=True),
        },
        TaskType.UPLOAD_FILES: {
            "nodes": Entries(
                {"uid": text, "files": Entries({"dst": absolute, "data": _data, **_PERMISSIONS})}
            )
        },
        TaskType.COPY_FILES: {
            "files": Entries({"src": path, "dst": absolute, **_OWN_PERMISSIONS}),
            **_PERMISSIONS,
        },
    }
)  # fmt: skip
"""The parameters by type. A type that is absent has none, or those of the command that is configured for it."""

_EVERYWHERE = (
    *LIMITS, "strategy", "undefined_retries", "puppet_start_timeout", "puppet_start_interval", "raw_report",
)  # fmt: skip
"""Parameters of every type; some are read elsewhere, or by Astute alone."""


def read(type: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Read the parameters of a task by name, with defaults. Raise `ValueError` for the first that cannot be read.

    >>> read("shell", {"cmd": "true"})
    {'cmd': 'true', 'cwd': '/'}
    """
    return _read(SHAPES[type], parameters)


def names_of(type: str) -> Sequence[str]:
    """The names of the parameters of a type; empty for a type that accepts any."""
    return (*SHAPES.get(type, ()), *_EVERYWHERE) if type in SHAPES or type == TaskType.REBOOT else ()


def parameter_problems(type: str, parameters: Any) -> Iterator[tuple[str, ValueError]]:
    """Yield the name of each parameter that a run would refuse, with the error.

    Expressions, and texts with placeholders, are not checked.

    >>> list(parameter_problems("shell", {"command": "true"}))
    [('cmd', Missing('the parameter cmd is missing; there is command instead'))]
    """
    if (given := _mark_computed(parameters if isinstance(parameters, Mapping) else {})) is _COMPUTED:
        return
    shape = {**SHAPES.get(type, {}), **LIMITS}
    for name in shape:
        if name in LIMITS and name not in given:
            continue
        try:
            _read_one(shape, given, name)
        except ValueError as error:
            yield name, error


def _read(shape: Shape, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _read_one(shape, parameters, name) for name in shape}


def _read_one(shape: Shape, parameters: Mapping[str, Any], name: str) -> Any:
    if parameters.get(name) is _COMPUTED:
        return _COMPUTED
    try:
        return shape[name](parameters, name)
    except ValueError as error:
        unknown = [key for key in parameters if isinstance(key, str) and key not in shape and key not in _EVERYWHERE]
        close = nearest(name, unknown) if name not in parameters else ""
        if not close:
            raise
        raise type(error)(f"{error}; there is {close} instead") from None


def _mark_computed(value: Any) -> Any:
    """Replace expressions, and texts with placeholders, by `_COMPUTED`."""
    if isinstance(value, str):
        return _COMPUTED if "{" in value and _PLACEHOLDER.search(value) else value
    if isinstance(value, Mapping):
        return _COMPUTED if "yaql_exp" in value else {key: _mark_computed(item) for key, item in value.items()}
    return [_mark_computed(item) for item in value] if isinstance(value, list | tuple) else value


def _kind(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    return "a list" if isinstance(value, list | tuple) else repr(value)[:40]
