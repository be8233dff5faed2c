"""The base class of facets, and decorators that make a method one transaction."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Concatenate, ParamSpec, TypeVar

from fuelclient.store.database import Connection, Database

_Arguments = ParamSpec("_Arguments")
_Of = TypeVar("_Of", bound="Facet")
_Result = TypeVar("_Result")

_Inner = Callable[Concatenate[_Of, Connection, _Arguments], _Result]
_Outer = Callable[Concatenate[_Of, _Arguments], _Result]


class Facet:
    """The use cases of one noun over an engine file."""

    def __init__(self, database: Database) -> None:
        self._database = database


def reads(method: _Inner[_Of, _Arguments, _Result]) -> _Outer[_Of, _Arguments, _Result]:
    """Make a method one transaction that reads. The method takes its connection first; callers do not pass one."""
    return _transaction(method, Database.read)


def writes(method: _Inner[_Of, _Arguments, _Result]) -> _Outer[_Of, _Arguments, _Result]:
    """Make a method one transaction that writes, as `reads`. An exception undoes all of it."""
    return _transaction(method, Database.write)


def _transaction(
    method: _Inner[_Of, _Arguments, _Result], begin: Callable[[Database], AbstractContextManager[Connection]]
) -> _Outer[_Of, _Arguments, _Result]:
    @functools.wraps(method)
    def whole(facet: _Of, /, *args: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        with begin(facet._database) as connection:
            return method(facet, connection, *args, **named)

    signature = inspect.signature(method)
    first, _, *others = signature.parameters.values()
    whole.__signature__ = signature.replace(parameters=[first, *others])  # type: ignore[attr-defined]  # for `help`
    return whole
