"""Read YAML text into a `Document` with line marks, in safe mode.

The C library composes the tree of nodes, and values are made from it here: that is faster than PyYAML's own
constructor, keeps every line, and notices repeated keys. Composing recurses in C without any limit and crashes the
process at about ten thousand levels, so text that could be deep or huge is first read as a flat stream of events.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Hashable
from typing import Any

import yaml

from fuelclient.errors import InvalidDocument
from fuelclient.files.limits import (
    DOCUMENT,
    MAX_NUMBER_LENGTH,
    Limits,
    limit_findings,
    repeated_key,
    too_deep,
    too_many,
    unreadable,
)
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
"""A long run of white space and block indicators; without one, block nesting stays below 1000 levels."""

_MAX_DIRECTIVES = 1000

_LEADING_EVENTS = 2
"""The events before the first value: the starts of the stream and of the document."""

_PROBLEMS = (
    ("scanning an alias", "a `*` that is not quoted begins an alias, and no name follows it",
     "Write '*' in quotes."),
    ("scanning an anchor", "a `&` that is not quoted begins an anchor, and no name follows it",
     "Write the text in quotes."),
    ("undefined alias", "this alias names an anchor that does not exist", "Quote the text if no alias was meant."),
    ("duplicate anchor", "this anchor is defined twice in the file", "Rename one of the two."),
    ("single document", "a second document begins here, and only one is allowed in a file",
     "Keep each document in a file of its own, and remove the `---`."),
    ("mapping values are not allowed", "a `:` stands where no key can be",
     "Check the indentation of the line, and quote text that contains `: `."),
    ("could not find expected ':'", "a line that should be a `key: value` has no `:`",
     "Check the line for text that belongs to a comment, or to the value above it."),
    ("cannot start any token", "a tab, or one of @ ` %, stands where a value should begin",
     "Indent with spaces, and quote the text."),
    ("parsing a block mapping", "this line does not fit into the mapping above it",
     "Indent it like the other keys of that mapping."),
    ("parsing a block collection", "this line does not fit into the list above it",
     "Indent it like the other items of that list, each beginning with `- `."),
    ("parsing a flow sequence", "a list in [ ] is not closed, or lacks a comma",
     "Close it with ], and quote text that contains one of [ ] { } , : ( | )."),
    ("parsing a flow mapping", "a mapping in { } is not closed, or lacks a comma",
     "Close it with }, and quote text that contains one of [ ] { } , :."),
    ("quoted scalar", "a quoted string is not closed, or has a wrong escape", "Check the quotes and backslashes."),
)  # fmt: skip
"""(part of the library's message, our message, hint); the first match is used."""

_NOTICED_LATE = ("could not find expected ':'", "quoted scalar found unexpected end of stream")
"""Problems that the library notices only after the wrong line. The wrong line is the one where their context begins."""

_YAML_HINT = "Check the indentation and the quotes of this line and the one above it."


def parse(text: str, file: str, limits: Limits = DOCUMENT) -> Document:
    """Read a document. Raise `InvalidDocument` if it is not YAML, is unsafe, or exceeds a limit."""
    if match := _UNPRINTABLE.search(text):
        line = text.count("\n", 0, match.start()) + 1
        message = f"YAML does not allow the character U+{ord(match[0]):04X}"
        raise unreadable(file, line, message, "This may be a binary file. Name a YAML or JSON file.")
    if text.count("%TAG") > _MAX_DIRECTIVES:  # the library compares each with all before it
        message = f"there are more than {_MAX_DIRECTIVES} %TAG directives"
        raise unreadable(file, 0, message, "Write plain data, without tags.")
    enabled = gc.isenabled()
    gc.disable()  # a document is one large tree without cycles, so collecting while it grows only costs time
    try:
        if _may_be_deep_or_huge(text, limits):
            _check_events(text, file, limits)
        if (node := yaml.compose(text, Loader=yaml.CSafeLoader)) is None:
            return Document(None, file)
        if not isinstance(node, yaml.ScalarNode):
            _Measure(file, limits).walk(node, 1)
        constructor = _Constructor(file)
        data = constructor.value(node)
    except yaml.YAMLError as error:
        raise _translated(error, file) from error
    finally:
        if enabled:
            gc.enable()
    return Document(data, file, tuple(constructor.findings))


def _translated(error: yaml.YAMLError, file: str) -> InvalidDocument:
    context = str(getattr(error, "context", None) or "")
    problem = str(getattr(error, "problem", None) or "")
    cause = " ".join(f"{context} {problem}".split())
    marks = [getattr(error, "problem_mark", None), getattr(error, "context_mark", None)]
    mark = marks[1] if any(part in cause for part in _NOTICED_LATE) else marks[0] or marks[1]
    line = int(mark.line) + 1 if mark else 0
    for part, message, hint in _PROBLEMS:
        if part in cause:
            return unreadable(file, line, message, hint)
    detail = cause or " ".join(str(error).split())
    return unreadable(file, line, f"this is not YAML: {detail}", _YAML_HINT)


def _may_be_deep_or_huge(text: str, limits: Limits) -> bool:
    """Whether a text could exceed a limit. Every value takes at least two characters."""
    return len(text) > 2 * limits.values or text.count("[") + text.count("{") > 1000 or _WIDE.search(text) is not None


def _check_events(text: str, file: str, limits: Limits) -> None:
    depth = values = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            continue
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > limits.depth:
                raise too_deep(file, _line(event), limits)
        values += 1
        if values > limits.values + _LEADING_EVENTS:
            raise too_many(file, _line(event), limits)


def _line(marked: Any) -> int:
    return int(marked.start_mark.line) + 1


def _children(node: yaml.Node) -> list[yaml.Node]:
    return [child for pair in node.value for child in pair] if isinstance(node, yaml.MappingNode) else node.value


class _Measure:
    """Measures how deep a tree is, and how many values it has with aliases written out."""

    def __init__(self, file: str, limits: Limits) -> None:
        self.file, self.limits = file, limits
        self.measured: dict[int, tuple[int, int]] = {}
        self.ancestors: set[int] = set()

    def walk(self, node: yaml.Node, level: int) -> tuple[int, int]:
        """Count the values and levels of the tree under `node`. A node counts once for every path to it.

        Raise `InvalidDocument` if the tree is too deep, too large, or contains itself.
        """
        size = self.measured.get(id(node))
        if size is None:
            if id(node) in self.ancestors:
                message = "an alias is used inside the value that it names"
                raise unreadable(self.file, _line(node), message, "Write the value out.")
            if level > self.limits.depth:
                raise too_deep(self.file, _line(node), self.limits)
            self.ancestors.add(id(node))
            values, height = 1, 0
            for child in _children(node):
                is_scalar = isinstance(child, yaml.ScalarNode)
                child_values, child_height = (1, 0) if is_scalar else self.walk(child, level + 1)
                values += child_values
                height = max(height, child_height)
            if values > self.limits.values:
                raise too_many(self.file, _line(node), self.limits)
            size = self.measured[id(node)] = values, height + 1
            self.ancestors.remove(id(node))
        if size[1] + level - 1 > self.limits.depth:
            raise too_deep(self.file, _line(node), self.limits)
        return size


class _Constructor:
    """Makes values from nodes. Every node is constructed once, so that all its aliases share one value."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.findings: list[Finding] = []
        self._memo: dict[int, Any] = {}
        self._safe = yaml.constructor.SafeConstructor()

    def value(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return node.value if node.tag in (_STR, _MERGE, _VALUE) else self._delegate(node)
        value = self._memo.get(id(node))
        if value is None:
            if isinstance(node, yaml.CollectionNode) and node.flow_style:
                self._check_flow(node)
            if isinstance(node, yaml.MappingNode) and node.tag == _MAP:
                value = self._mapping(node)
            elif isinstance(node, yaml.SequenceNode) and node.tag == _SEQ:
                value = MarkedList(map(self.value, node.value), map(_line, node.value))
            else:
                value = self._delegate(node)
            self._memo[id(node)] = value
        return value

    def _check_flow(self, node: yaml.CollectionNode) -> None:
        """Refuse `[/(primary-)?x/]`: the C library reads it, but the YAML reader of a Fuel master does not."""
        for child in _children(node):
            if isinstance(child, yaml.ScalarNode) and not child.style and "?" in child.value[1:]:
                message = "a `?` inside [ ] or { } has to be quoted"
                raise unreadable(self.file, _line(child), message, "Write the text in quotes.")

    def _mapping(self, node: yaml.MappingNode) -> Marked:
        """Make a mapping. Merged keys (`<<`) come first, and the mapping's own override them, as in PyYAML."""
        key_lines: dict[Any, int] = {}
        first_lines: dict[Any, int] = {}
        data = Marked(line=_line(node))
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:
                continue
            key, line = self._key(key_node), _line(key_node)
            if key in first_lines:
                self.findings.append(repeated_key(self.file, line, key, first_lines[key]))
                limit_findings(self.file, line, self.findings)
            first_lines.setdefault(key, line)
            key_lines[key] = line
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                self._merge(data, value_node)
        for key_node, value_node in node.value:
            if key_node.tag != _MERGE:
                data[self._key(key_node)] = self.value(value_node)
        data.lines.update((str(key), line) for key, line in key_lines.items())
        return data

    def _merge(self, data: Marked, node: yaml.Node) -> None:
        """Add merged keys. If several mappings have a key, the value of the first mapping is used."""
        for source in reversed(node.value) if isinstance(node, yaml.SequenceNode) else (node,):
            merged = self.value(source) if isinstance(source, yaml.MappingNode) else None
            if not isinstance(merged, Marked):
                message = "`<<` merges a mapping or a list of mappings, and this is neither"
                raise unreadable(self.file, _line(source), message, "Use the anchor of a mapping.")
            data.update(merged)
            data.lines.update(merged.lines)

    def _key(self, node: yaml.Node) -> Any:
        key = self.value(node)
        if isinstance(key, Hashable):
            return key
        message = "a list or mapping cannot be the key of a mapping"
        raise unreadable(self.file, _line(node), message, "Quote it if it is text.")

    def _delegate(self, node: yaml.Node) -> Any:
        if node.tag not in _STANDARD:
            tag = node.tag.replace(_TAG, "!!")
            message = f"the tag {tag[:80]} is not allowed"
            raise unreadable(self.file, _line(node), message, "Write plain data, without the tag.")
        if node.tag in _NUMBERS and len(node.value) > MAX_NUMBER_LENGTH:
            raise unreadable(self.file, _line(node), "this number is too long", "Quote it if it is text.")
        build: Callable[[yaml.Node], Any] = self._safe.construct_document
        try:
            return build(node)  # its checks raise all of these
        except (ValueError, LookupError, OverflowError, TypeError, AttributeError) as error:
            shown = repr(node.value[:40]) if isinstance(node.value, str) else "this"
            message = f"{shown} cannot be read as {node.tag.removeprefix(_TAG)}"
            raise unreadable(self.file, _line(node), message, "Quote it if it is text.") from error
