"""The base class of facets, and decorators that make a method one transaction."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Concatenate, ParamSpec, TypeVar

from fuelclient.store.database import Connection, Database

_Arguments = ParamSpec("_Arguments")
_Facet = TypeVar("_Facet", bound="Facet")
_Result = TypeVar("_Result")

_Inner = Callable[Concatenate[_Facet, Connection, _Arguments], _Result]
_Outer = Callable[Concatenate[_Facet, _Arguments], _Result]


class Facet:
    """The operations on one kind of object, such as nodes, in an engine file."""

    def __init__(self, database: Database) -> None:
        self._database = database


def reads(method: _Inner[_Facet, _Arguments, _Result]) -> _Outer[_Facet, _Arguments, _Result]:
    """Run a method in one read transaction. The method takes a connection first, which callers do not pass."""
    return _transaction(method, Database.read)


def writes(method: _Inner[_Facet, _Arguments, _Result]) -> _Outer[_Facet, _Arguments, _Result]:
    """Like `reads`, for a method that writes. An exception rolls the transaction back."""
    return _transaction(method, Database.write)


def _transaction(
    method: _Inner[_Facet, _Arguments, _Result], begin: Callable[[Database], AbstractContextManager[Connection]]
) -> _Outer[_Facet, _Arguments, _Result]:
    @functools.wraps(method)
    def wrapper(facet: _Facet, /, *args: _Arguments.args, **keywords: _Arguments.kwargs) -> _Result:
        with begin(facet._database) as connection:
            return method(facet, connection, *args, **keywords)

    signature = inspect.signature(method)
    first, _, *others = signature.parameters.values()
    wrapper.__signature__ = signature.replace(parameters=[first, *others])  # type: ignore[attr-defined]  # for `help`
    return wrapper
