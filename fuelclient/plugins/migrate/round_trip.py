"""Change values in the text of a YAML file, and keep its comments, its order and the layout of all other lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import cached_property
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import CommentMark, YAMLError
from ruamel.yaml.tokens import CommentToken

_WIDTH = 2**16
_ITEM = re.compile(
    r"^(?P<key> *)[^\s#-][^:]*:[ \t]*(?:#.*)?\n(?:[ \t]*(?:#.*)?\n)*(?P<item> *)-(?P<gap> +)", re.MULTILINE
)


class Editor:
    """A YAML text, as `written`, whose `data` may be changed in place; `text` is the text with these changes.

    Raise `ValueError` if the text cannot be read.
    """

    def __init__(self, text: str, empty: str = "") -> None:
        """`empty` stands for the data of a text without any."""
        self.written = self._before = text
        self.data: Any = self._loaded(text)
        if self.data is None and empty:
            self._before = f"{text}{empty}"
            self.data = self._loaded(self._before)
            self.data.fa.set_block_style()

    def text(self) -> str:
        """Write the changes of `data` into the text, with the layout of all other lines."""
        unchanged = self._loaded(self._before)
        if unchanged == self.data:
            return self._before
        after = self._dumped(self.data)
        kept = with_layout(self._before, self._dumped(unchanged), after) if unchanged else after
        return kept if _plain(kept) == _plain(after) else after

    def _loaded(self, text: str) -> Any:
        try:
            return self._yaml.load(text)
        except YAMLError as error:
            raise ValueError(str(error)) from error

    @cached_property
    def _yaml(self) -> YAML:
        """A reader and printer with the indentation of the text."""
        printer = YAML()
        printer.preserve_quotes = True
        printer.width = _WIDTH
        printer.allow_duplicate_keys = True
        printer.explicit_start = self._before.lstrip().startswith("---")
        item = _ITEM.search(self._before)
        offset = max(len(item["item"]) - len(item["key"]), 0) if item else 0
        printer.indent(mapping=2, sequence=offset + 2, offset=offset)
        return printer

    def _dumped(self, data: Any) -> str:
        stream = StringIO()
        self._yaml.dump(data, stream)
        dumped = stream.getvalue()
        if isinstance(data, list):  # whose items are never indented, unlike those of lists below keys
            margin = " " * self._yaml.sequence_dash_offset
            return "".join(line.removeprefix(margin) for line in dumped.splitlines(keepends=True))
        return dumped


def remove_item(items: Any, item: Any) -> None:
    """Remove an item from a list, and keep the comments between it and the next one."""
    index = next(number for number, other in enumerate(items) if other is item)
    last = max(_comments(item), key=lambda token: token.start_mark.line, default=None)
    between = last.value.partition("\n")[2] if last is not None else ""
    del items[index]
    if between.strip() and index < len(items):
        token = CommentToken(between, CommentMark(0), None)
        given = items.ca.items.setdefault(index, [None, None, None, None])
        given[1] = [token, *(given[1] or [])]


def _comments(data: Any) -> Iterator[Any]:
    """Yield all comments in a list or mapping that end a line."""
    if not isinstance(data, CommentedMap | CommentedSeq):
        return
    for tokens in data.ca.items.values():
        yield from (token for token in tokens if isinstance(token, CommentToken))
    for value in data.values() if isinstance(data, CommentedMap) else data:
        yield from _comments(value)


def with_layout(written: str, rendered: str, changed: str) -> str:
    """Take the lines of `changed` that it shares with `rendered` from `written`.

    `rendered` and `changed` come from one printer, before and after a change; `written` is what an author wrote.

    >>> with_layout("a:   1\\n\\nb: 2\\n", "a: 1\\nb: 2\\n", "a: 1\\nb: 3\\n")
    'a:   1\\n\\nb: 3\\n'
    """
    theirs, ours, after = (text.splitlines(keepends=True) for text in (written, rendered, changed))
    layout = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    lines: list[str] = []
    for tag, start, end, new_start, new_end in SequenceMatcher(None, ours, after, autojunk=False).get_opcodes():
        if tag != "equal":
            lines += after[new_start:new_end]
            continue
        for kind, first, last, their_first, their_last in layout:
            is_inside = start <= first and last <= end and (first < end or end == len(ours))
            is_theirs = is_inside and kind != "equal"
            lines += theirs[their_first:their_last] if is_theirs else ours[max(first, start) : min(last, end)]
    return "".join(lines)


def _plain(text: str) -> Any:
    """Read a text without comments and layout; None if that is impossible."""
    reader = YAML(typ="safe", pure=True)
    reader.allow_duplicate_keys = True
    try:
        return reader.load(text)
    except YAMLError:
        return None
