"""The methods of a backend as messages: what `backends.remote` sends, and the server of this package answers.

A message names a method of the protocols of `backends.base` and has its arguments; the answer is what the method
returns. Both are MessagePack, written and read by the annotations of the protocols, so that a new method needs no
code here. Only methods of the protocols can be named, and every value is checked against its type when it is read.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from fuelclient import errors
from fuelclient.backends import base
from fuelclient.errors import FuelError, InvalidDocument, UsageError
from fuelclient.files.limits import DOCUMENT, MAX_NUMBER_LENGTH, Limits
from fuelclient.model.finding import Finding

REVISION = 5
"""The revision of messages. It grows with each change of a protocol or of its values (tests/golden/messages.txt)."""

NOT_SENT = frozenset(
    {("plugins", "install"), *(("runs", name) for name in ("act", "checker", "column", "decided", "outline", "page"))}
)
"""Methods without messages: they only work on the machine of the engine file, or on a Fuel master."""

_LIMITS = Limits(DOCUMENT.bytes, DOCUMENT.values + 10_000, DOCUMENT.depth + 10)
"""The limits of a document, with room for what surrounds it: the call, its arguments, the fields of values."""

_MESSAGE = msgspec.msgpack.Decoder(tuple[int, str, str, dict[str, msgspec.Raw]])


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a method of a facet, such as `runs.stop`, with its arguments by name. `reads` marks a
    call that changes nothing."""

    facet: str
    method: str
    arguments: Mapping[str, Any]
    reads: bool

    def on(self, backend: base.Backend) -> Any:
        signature = inspect.Signature(list(_parameters(self.facet, self.method).values()))
        bound_arguments = inspect.BoundArguments(signature, OrderedDict(self.arguments))
        return getattr(getattr(backend, self.facet), self.method)(*bound_arguments.args, **bound_arguments.kwargs)


def make_call(facet: str, method: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Call:
    """Make a call with its arguments by name. Raise `TypeError` as the method would."""
    function = _method(facet, method)
    arguments = inspect.signature(function).bind(None, *args, **named).arguments
    arguments.pop("self", None)
    return Call(facet, method, arguments, only_reads(function))


def encode_call(call: Call) -> bytes:
    """Encode a call. Raise `InvalidDocument` for a value that cannot be encoded."""
    return encode((REVISION, call.facet, call.method, call.arguments))


def decode_call(data: bytes) -> Call:
    """Decode a call, whose values have the types of the protocol.

    Raise `UsageError`, with the problem and its position, for anything else.
    """
    try:
        revision, facet, method, raw = _MESSAGE.decode(data)
        if revision != REVISION:
            raise UsageError(f"This server reads messages of revision {REVISION}, not {revision}.")
        function = _method(facet, method)
        _require_bounded(msgspec.msgpack.decode(data), _LIMITS)
        types = types_of(facet, method)
        if unknown := sorted(raw.keys() - _parameters(facet, method).keys()):
            raise UsageError(f"{facet}.{method} has no argument {unknown[0]}.")
        arguments = {
            name: msgspec.msgpack.decode(value, type=types[name], ext_hook=_large) for name, value in raw.items()
        }
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError, OverflowError) as error:
        raise UsageError(f"The message cannot be read: {error}.") from error
    for parameter in _parameters(facet, method).values():
        is_needed = parameter.default is parameter.empty and parameter.kind is not parameter.VAR_POSITIONAL
        if is_needed and parameter.name not in arguments:
            raise UsageError(f"{facet}.{method} needs the argument {parameter.name}.")
    return Call(facet, method, arguments, only_reads(function))


def _require_bounded(value: Any, limits: Limits) -> None:
    """Raise `UsageError` for more levels or values than a document may have."""
    level, depth, values = [value], 0, 0
    while level:
        depth, values = depth + 1, values + len(level)
        if depth > limits.depth:
            raise UsageError(f"The message is nested deeper than {limits.depth} levels.", hint="Flatten it.")
        if values > limits.values:
            raise UsageError(f"The message holds more than {limits.values} values.", hint="Split it.")
        inner = [item for item in level if isinstance(item, list | dict)]
        level = [child for item in inner for child in (item.values() if isinstance(item, dict) else item)]


def encode_error(error: FuelError) -> bytes:
    """Encode an error: its class, its message, and its data."""
    name = next(cls.__name__ for cls in type(error).__mro__ if vars(errors).get(cls.__name__) is cls)
    data = {key: value for key, value in vars(error).items() if key in _Refusal.__dataclass_fields__}
    data |= {key: tuple(map(str, data[key])) for key in ("cycle", "known", "drawings") if key in data}
    findings, key = tuple(each for each in data.get("findings", ()) if isinstance(each, Finding)), data.get("key")
    plain_key = key if isinstance(key, int) or key is None else str(key)
    return encode({**data, "kind": name, "key": plain_key, "findings": findings})


def decode_error(data: bytes) -> FuelError:
    """Decode an error. Raise `UsageError` if the data is something else."""
    try:
        sent = msgspec.msgpack.decode(data, type=_Refusal)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"The refusal cannot be read: {error}.") from error
    cls = vars(errors).get(sent.kind)
    if not (isinstance(cls, type) and issubclass(cls, FuelError)):
        cls = FuelError
    received = cls.__new__(cls, sent.message)
    received.__dict__.update({name: getattr(sent, name) for name in _Refusal.__dataclass_fields__ if name != "kind"})
    return received


@dataclass(frozen=True, slots=True)
class _Refusal:
    """The class of an error, and the data that errors of some class carry."""

    kind: str
    message: str
    hint: str = ""
    findings: tuple[Finding, ...] = ()
    noun: str = ""
    key: str | int | None = None
    known: tuple[str, ...] = ()
    path: str = ""
    cycle: tuple[str, ...] = ()
    drawings: tuple[str, ...] = ()


def decode_answer(call: Call, data: bytes) -> Any:
    """Decode the result of a call. Raise `UsageError` if it does not have the type that the method returns."""
    try:
        return _decoder(call.facet, call.method).decode(data)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"The answer of {call.facet}.{call.method} cannot be read: {error}.") from error


@cache
def facets() -> Mapping[str, type]:
    """The protocols of the facets that messages can name, by the name of the facet."""
    properties = inspect.getmembers(base.Backend, lambda member: isinstance(member, property))
    types = {name: vars(base).get(member.fget.__annotations__["return"]) for name, member in properties}
    return {name: found for name, found in types.items() if found is not None and name != "services"}


def methods(facet: str) -> Mapping[str, Callable[..., Any]]:
    """The methods of the protocol of a facet by name."""
    return {
        name: member
        for name, member in inspect.getmembers(facets()[facet], inspect.isfunction)
        if not name.startswith("_") and (facet, name) not in NOT_SENT
    }  # fmt: skip


def only_reads(method: Callable[..., Any]) -> bool:
    return bool(inspect.unwrap(method).__dict__.get("_reads"))


def _method(facet: str, method: str) -> Callable[..., Any]:
    function = methods(facet).get(method) if facet in facets() else None
    if function is None:
        raise UsageError(f"There is no method {facet}.{method} here.")
    return function


@cache
def _parameters(facet: str, method: str) -> Mapping[str, inspect.Parameter]:
    parameters = dict(inspect.signature(_method(facet, method)).parameters)
    del parameters["self"]
    return parameters


@cache
def types_of(facet: str, method: str) -> Mapping[str, Any]:
    """The types of a method's arguments, and of its result under `return`, as objects."""
    function = inspect.unwrap(_method(facet, method))
    module = sys.modules[function.__module__]
    types: dict[str, Any] = get_type_hints(function, vars(module), _Names(module.__name__, _generic(facets()[facet])))
    for parameter in _parameters(facet, method).values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            types[parameter.name] = tuple.__class_getitem__((types[parameter.name], ...))
    return types


@cache
def _decoder(facet: str, method: str) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(types_of(facet, method)["return"], ext_hook=_large)


def _generic(protocol: type) -> dict[str, Any]:
    """The type for each type variable of a generic protocol, such as `Role` in `Roles`."""
    return {
        variable.__name__: value
        for parent in getattr(protocol, "__orig_bases__", ())
        for variable, value in zip(
            getattr(get_origin(parent), "__parameters__", ()), get_args(parent), strict=True
        )
    }  # fmt: skip


class _Names(dict[str, Any]):
    """The names in the annotations of a module, with those that it imports for type checkers only."""

    def __init__(self, module: str, generic: Mapping[str, Any]) -> None:
        super().__init__(generic)
        self._sources = _imported_for_types(module)

    def __missing__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._sources[name]), name)


@cache
def _imported_for_types(module: str) -> Mapping[str, str]:
    """The modules of the names that a module imports for type checkers only."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    blocks = [statement.body for statement in tree.body if isinstance(statement, ast.If)]
    return {
        alias.name: statement.module or ""
        for block in blocks for statement in block if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }  # fmt: skip


def encode(value: Any) -> bytes:
    """Encode a value, such as a method's result. Raise `InvalidDocument` if it cannot be encoded."""
    try:
        return _ENCODER.encode(value)
    except OverflowError:
        return _ENCODER.encode(_with_large(msgspec.to_builtins(value, enc_hook=_plain)))
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise InvalidDocument(f"A value cannot be sent: {error}.") from error


_LARGE = 1
"""The extension type of integers beyond 64 bits, which MessagePack lacks. Its data are the decimal digits."""


def _with_large(value: Any) -> Any:
    """Replace each integer beyond 64 bits by an extension."""
    if isinstance(value, dict):
        return {_with_large(key): _with_large(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [_with_large(child) for child in value]
    is_large = isinstance(value, int) and not -(2**63) <= value < 2**64
    return msgspec.msgpack.Ext(_LARGE, str(value).encode()) if is_large else value


def _large(code: int, data: memoryview) -> Any:
    if code != _LARGE or len(data) > MAX_NUMBER_LENGTH:
        raise ValueError(f"an extension of type {code} or too many digits")
    return int(bytes(data))


def _plain(value: Any) -> Any:
    """Convert a value to a type that MessagePack has."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    raise TypeError(f"{type(value).__name__} has no form in a message")


_ENCODER = msgspec.msgpack.Encoder(enc_hook=_plain)
