"""Which methods of the protocols only read: a reader may call them, and a client may send them again."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


def reads(method: Method) -> Method:
    """Mark a method of a protocol that changes nothing."""
    method._reads = True  # type: ignore[attr-defined]
    return method


def only_reads(method: Any) -> bool:
    """Return whether a method of a protocol is marked with `reads`."""
    return bool(inspect.unwrap(method).__dict__.get("_reads"))
