"""Declare methods and arguments that a backend does not support.

A backend has an `unsupported` value in place of such a method, and names the arguments that a method refuses with
`refuses`; `supports` checks both.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from fuelclient.errors import FIRST_STEPS, ON_SERVER, Unsupported

Method = TypeVar("Method", bound=Callable[..., Any])


class unsupported:  # noqa: N801 (it replaces a method or a facet)
    """A method, or a facet, that a backend does not support: its use raises `Unsupported`.

    `{0}` in the message and the hint is the first argument of the call.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        self._message, self._hint = message, hint

    def __call__(self, *args: Any, **named: Any) -> NoReturn:
        given = (*args, *named.values())
        raise Unsupported(self._message.format(*given), hint=self._hint.format(*given))

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):  # a library may look for special methods
            raise AttributeError(name)
        raise Unsupported(self._message, hint=self._hint)


def refuses(argument: str, message: str, *, hint: str = "") -> Callable[[Method], Method]:
    """Let a method raise `Unsupported` whenever `argument` is given and not empty. `{0}` is the first argument."""

    def marked(method: Method) -> Method:
        @functools.wraps(method)
        def checked(self: Any, *args: Any, **named: Any) -> Any:
            if named.get(argument):
                raise Unsupported(message.format(*args), hint=hint)
            return method(self, *args, **named)

        checked._refused = {argument, *getattr(method, "_refused", ())}  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]

    return marked


def supports(method: Any, argument: str = "") -> bool:
    """Whether a backend supports a method, and this argument of it.

    >>> supports(unsupported("A Fuel master cannot resume run {0}."))
    False
    """
    if isinstance(method, unsupported):
        return False
    return argument not in getattr(method, "_refused", ())


def possible(hint: str, backend: Any) -> str:
    """A hint about first steps, with those that the backend in use takes; any other hint as it is."""
    if backend is None or hint not in ON_SERVER:
        return hint
    is_possible = supports(backend.nodes.create if hint == FIRST_STEPS["node"] else backend.plugins.install)
    return hint if is_possible else ON_SERVER[hint]
