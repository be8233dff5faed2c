"""`fuel2` on the engines that the tests of commands have."""

from __future__ import annotations

from unit.commands.conftest import fuel2, tiny

__all__ = ["fuel2", "tiny"]
