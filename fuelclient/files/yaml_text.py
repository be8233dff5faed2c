"""YAML text to a `Document` with line marks, in safe mode.

The C library composes the tree of nodes; values are made from it here, which is faster than PyYAML's own
constructor, knows every line, and sees keys that are stated twice. Composing recurses in C without any limit
and takes the whole process down at some ten thousand levels, so text that could be deep or huge is first read
as a flat stream of events.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Hashable
from typing import Any

import yaml

from fuelclient.files.limits import (
    MAX_DEPTH,
    MAX_NUMBER,
    MAX_VALUES,
    repeated_key,
    too_deep,
    too_many,
    unreadable,
)
from fuelclient.files.yaml_errors import translate
from fuelclient.model.document import Document, Marked, MarkedList
from fuelclient.model.finding import Finding

_TAG = "tag:yaml.org,2002:"
_STR, _MERGE, _VALUE = _TAG + "str", _TAG + "merge", _TAG + "value"
_MAP, _SEQ = _TAG + "map", _TAG + "seq"
_NUMBERS = frozenset(_TAG + word for word in ("int", "float", "timestamp"))
_STANDARD = frozenset(
    _TAG + word
    for word in ("null", "bool", "int", "float", "binary", "timestamp", "omap", "pairs", "set", "str", "seq", "map")
)

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ufeff\ue000-\ufffd\U00010000-\U0010ffff]")
_WIDE = re.compile(r"(?<![ \t?:-])[ \t?:-]{500}")
"""White space and block indicators in one run: without such a run, block nesting stays below 1000 levels."""

_MAX_DIRECTIVES = 1000

_LONG = 2 * MAX_VALUES
"""Characters that the limit of values needs at least."""


def parse(text: str, file: str) -> Document:
    """The document that `text` is. Raises `InvalidDocument` for what is no YAML, unsafe, or beyond the limits."""
    found = _UNPRINTABLE.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        message = f"the character U+{ord(found[0]):04X} cannot stand in YAML"
        raise unreadable(file, line, message, "This may be a binary file; name a YAML or JSON file.")
    if text.count("%TAG") > _MAX_DIRECTIVES:  # each is compared with all before it
        message = f"there are more than {_MAX_DIRECTIVES} %TAG directives"
        raise unreadable(file, 0, message, "Write plain data without tags.")
    enabled = gc.isenabled()
    gc.disable()  # a document is one large acyclic tree: collecting while it grows only costs time
    try:
        if _may_be_deep_or_huge(text):
            _check_events(text, file)
        node = yaml.compose(text, Loader=yaml.CSafeLoader)
        if node is None:
            return Document(None, file)
        _Measure(file).check(node)
        constructor = _Constructor(file)
        data = constructor.value(node)
    except yaml.YAMLError as error:
        raise translate(error, file) from error
    finally:
        if enabled:
            gc.enable()
    return Document(data, file, tuple(constructor.findings))


def _may_be_deep_or_huge(text: str) -> bool:
    return len(text) > _LONG or text.count("[") + text.count("{") > 1000 or _WIDE.search(text) is not None


def _check_events(text: str, file: str) -> None:
    depth = 0
    for values, event in enumerate(yaml.parse(text, Loader=yaml.CSafeLoader)):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise too_deep(file, _line(event))
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if values > 2 * MAX_VALUES:  # the end of a collection is an event, too
            raise too_many(file, _line(event))


def _line(marked: Any) -> int:
    """The line, from 1, where a node or an event begins."""
    return int(marked.start_mark.line) + 1


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return list(node.value)


class _Measure:
    """Checks the height of a tree, and the size it would have without aliases."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.done: dict[int, tuple[int, int]] = {}
        self.open: set[int] = set()

    def check(self, root: yaml.Node) -> None:
        """Raises `InvalidDocument` for what is too deep, too large, or contains itself."""
        if not isinstance(root, yaml.ScalarNode):
            self._walk(root, 1)

    def _walk(self, node: yaml.Node, level: int) -> tuple[int, int]:
        """Values and levels below and with `node`, each node counted once for every way to it."""
        known = self.done.get(id(node))
        if known is None:
            if id(node) in self.open:
                message = "an alias stands inside the very value that it names"
                raise unreadable(self.file, _line(node), message, "Write the value out.")
            if level > MAX_DEPTH:
                raise too_deep(self.file, _line(node))
            self.open.add(id(node))
            known = self.done[id(node)] = self._below(node, level)
            self.open.remove(id(node))
        if known[1] + level - 1 > MAX_DEPTH:
            raise too_deep(self.file, _line(node))
        return known

    def _below(self, node: yaml.Node, level: int) -> tuple[int, int]:
        values, height = 1, 0
        for child in _children(node):
            if isinstance(child, yaml.ScalarNode):
                values += 1
                continue
            more, higher = self._walk(child, level + 1)
            values += more
            height = max(height, higher)
        if values > MAX_VALUES:
            raise too_many(self.file, _line(node))
        return values, height + 1


class _Constructor:
    """Makes values from nodes. One node makes one value, so what aliases share stays shared."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.findings: list[Finding] = []
        self._memo: dict[int, Any] = {}
        self._safe = yaml.constructor.SafeConstructor()

    def value(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return node.value if node.tag in (_STR, _MERGE, _VALUE) else self._delegate(node)
        known = self._memo.get(id(node))
        if known is None:
            if isinstance(node, yaml.CollectionNode) and node.flow_style:
                self._check_flow(node)
            if isinstance(node, yaml.MappingNode) and node.tag == _MAP:
                known = self._mapping(node)
            elif isinstance(node, yaml.SequenceNode) and node.tag == _SEQ:
                known = MarkedList(map(self.value, node.value), map(_line, node.value))
            else:
                known = self._delegate(node)
            self._memo[id(node)] = known
        return known

    def _check_flow(self, node: yaml.CollectionNode) -> None:
        """The C library reads `[/(primary-)?x/]`, and the YAML reader of a Fuel master refuses it: so do we,
        here, where the line is known."""
        for child in _children(node):
            if isinstance(child, yaml.ScalarNode) and not child.style and "?" in child.value[1:]:
                message = "a `?` that is not quoted cannot stand in a list in [ ] or a mapping in { }"
                raise unreadable(self.file, _line(child), message, "Write the text in quotes.")

    def _mapping(self, node: yaml.MappingNode) -> Marked:
        """Merged keys (`<<`) come first and yield to the mapping's own, in the order that PyYAML gives them."""
        own: dict[Any, int] = {}
        first: dict[Any, int] = {}
        data = Marked(line=_line(node))
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:
                continue
            key, line = self._key(key_node), _line(key_node)
            if key in first:
                self.findings.append(repeated_key(self.file, line, key, first[key]))
            first.setdefault(key, line)
            own[key] = line
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                self._merge(data, value_node)
        for key_node, value_node in node.value:
            if key_node.tag != _MERGE:
                data[self._key(key_node)] = self.value(value_node)
        data.lines.update((str(key), line) for key, line in own.items())
        return data

    def _merge(self, data: Marked, node: yaml.Node) -> None:
        """Of several merged mappings the first one that states a key wins."""
        several = isinstance(node, yaml.SequenceNode)
        for source in reversed(node.value) if several else (node,):
            merged = self.value(source) if isinstance(source, yaml.MappingNode) else None
            if not isinstance(merged, Marked):
                message = "`<<` merges a mapping, or a list of mappings, and this is neither"
                raise unreadable(self.file, _line(source), message, "Let it name the anchor of a mapping.")
            data.update(merged)
            data.lines.update(merged.lines)

    def _key(self, node: yaml.Node) -> Any:
        key = self.value(node)
        if isinstance(key, Hashable):
            return key
        message = "a list or mapping cannot be the key of a mapping"
        raise unreadable(self.file, _line(node), message, "Quote it if it was meant as text.")

    def _delegate(self, node: yaml.Node) -> Any:
        """What PyYAML makes of a node with a standard tag. Its checks raise all kinds of errors."""
        if node.tag not in _STANDARD:
            tag = node.tag.replace(_TAG, "!!")
            raise unreadable(
                self.file, _line(node), f"the tag {tag[:80]} is not allowed here", "Write plain data without the tag."
            )
        if node.tag in _NUMBERS and len(node.value) > MAX_NUMBER:
            raise unreadable(self.file, _line(node), "this number is too long", "Quote it if it is text.")
        build: Callable[[yaml.Node], Any] = self._safe.construct_document
        try:
            return build(node)
        except (ValueError, LookupError, OverflowError, TypeError, AttributeError) as error:
            word = node.tag.removeprefix(_TAG)
            shown = f"{node.value[:40]!r} is" if isinstance(node.value, str) else "this is"
            raise unreadable(
                self.file, _line(node), f"{shown} no {word} that can be read", "Quote it if it is text."
            ) from error
