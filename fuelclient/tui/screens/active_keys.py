"""The keys that work now, for the bar below a screen and for help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from textual.actions import parse
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen

Group = tuple[str, str, Sequence[tuple[str, str]]]
"""A widget or screen with keys: its name, its help text, and its keys with what they do."""

_SHOWN = {"left_square_bracket": "[", "right_square_bracket": "]", "exclamation_mark": "!", "question_mark": "?",
          "slash": "/", "at": "@", "colon": ":", "pagedown": "PgDn", "pageup": "PgUp", "enter": "Enter",
          "escape": "Esc", "tab": "Tab", "shift+tab": "shift+Tab"}  # fmt: skip

_LAST = ("help", "quit")


def key_name(key: str) -> str:
    """Return a key as people read it.

    >>> key_name("question_mark"), key_name("ctrl+r")
    ('?', 'ctrl+r')
    """
    return _SHOWN.get(key, key)


def active_keys(screen: Screen[Any], *, armed: bool = False) -> list[tuple[str, str]]:
    """Return the keys to show: first those that change something, if the UI is armed; help and quit last."""
    keys: dict[str, str] = {}
    ranks: dict[str, int] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        acts = (binding.id or "").startswith("act.")
        if binding.show and active.enabled and (armed or not acts) and binding.description not in keys:
            keys[binding.description] = binding.key_display or key_name(binding.key)
            ranks[binding.description] = 0 if acts else 2 if binding.description in _LAST else 1
    return [(keys[what], "disarm" if armed and what == "arm" else what) for what in sorted(keys, key=ranks.__getitem__)]


def help_groups(screen: Screen[Any]) -> Iterator[Group]:
    """Return what the focused widget, the screen and the app are for, and their keys."""
    nodes: tuple[DOMNode | None, ...] = (screen.focused, screen, screen.app)
    for node in filter(None, nodes):
        keys: dict[str, list[str]] = {}
        for cls in type(node).__mro__:
            for binding in cls.__dict__.get("BINDINGS", ()):
                if isinstance(binding, Binding) and binding.id:
                    _, action, parameters = parse(binding.action)
                    if node.check_action(action, parameters) is True:  # it would do something now
                        keys.setdefault(binding.description, []).extend(map(key_name, binding.key.split(",")))
        name = getattr(node, "BINDING_GROUP_TITLE", None) or type(node).__name__.removesuffix("Screen").lower()
        yield str(name), str(node.HELP or ""), [(" ".join(names), what) for what, names in keys.items()]
