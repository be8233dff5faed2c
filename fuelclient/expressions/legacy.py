"""Parse and evaluate Fuel's own expression language: conditions such as `settings:storage.images_ceph.value == true`.

Restrictions of roles and settings, limits, and conditions of tasks are written in it. Values are compared as Python
compares them, because Nailgun does so: numbers never equal texts, but 1 equals true.

Precedence, from weakest: `or`; `and`; `==` and `!=`; `in` and `not`. So `not a == b` means `(not a) == b`, and
`not x in l` means `(not x) in l`. The language lacks `<`, `>`, arithmetic and `not in`. Texts are in single or double
quotes, without escapes, and keywords are lower case. Source: the lexer and parser of Nailgun's `expression` package.
It skips characters that it does not know; here they are errors.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from fuelclient.expressions.errors import ExpressionError, UndefinedValue, quoted

Models: TypeAlias = Mapping[str, Mapping[str, Any]]
Tree: TypeAlias = tuple[Any, ...]
"""`("value", value)` for a literal, `("path", text)`, or an operator with the trees of its operands: two, any number
for `and` and `or`, one for `not`."""

MAX_LENGTH = 10_000
"""The longest expression of Fuel's releases and plugins has a few hundred characters."""
MAX_DEPTH = 100
"""Nested operators; deeper expressions would come near Python's own limit of recursion."""


class Expression(NamedTuple):
    """A parsed expression, which can be evaluated on many models."""

    text: str
    root: Tree

    def evaluate(self, models: Models, *, strict: bool = True, as_master: bool = False) -> Any:
        """The value on `models` (`settings`, `cluster`, `version`, `networking_parameters`).

        `and` and `or` return the value of the operand that decides, and evaluate nothing after it. A missing path
        raises `UndefinedValue` if `strict`, and is None otherwise. Raise `ExpressionError` for an unknown model, and
        for an `in` on something that contains nothing; as on a master, what is missing may be that something.

        >>> parse("cluster:mode == 'ha_compact' and not settings:debug").evaluate(
        ...     {"cluster": {"mode": "ha_compact"}, "settings": {"debug": False}}
        ... )
        True
        """
        return _value(self.root, _Scope(models, strict, self.text, strict or as_master))

    def paths(self) -> frozenset[str]:
        """The model paths that the expression can read.

        >>> sorted(parse("settings:a.b == 1 or 'x' in settings:c").paths())
        ['settings:a.b', 'settings:c']
        """
        return frozenset(tree[1] for level in _levels(self.root) for tree in level if tree[0] == "path")


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Expression:
    """The parsed expression, from a cache if the same text was parsed before.

    Raise `ExpressionError` if the text is not an expression (an empty one is not), is longer than `MAX_LENGTH`, or
    nests deeper than `MAX_DEPTH`.

    >>> parse("not 'x' in settings:list") is parse("not 'x' in settings:list")
    True
    """
    if len(text) > MAX_LENGTH:
        message = f"Expression {quoted(text)} has {len(text)} characters."
        raise ExpressionError(message, text, position=MAX_LENGTH, hint=f"At most {MAX_LENGTH} are allowed.")
    root = _tree(text)
    if len(_levels(root)) > MAX_DEPTH:
        message = f"Expression {quoted(text)} is nested more than {MAX_DEPTH} operators deep."
        raise ExpressionError(message, text, position=0, hint="Join conditions with and, or.")
    return Expression(text, root)


def _levels(root: Tree) -> list[list[Tree]]:
    """The trees by their distance from the root, without recursion."""
    levels = [[root]]
    while below := [operand for tree in levels[-1] if tree[0] not in _LEAVES for operand in tree[1:]]:
        levels.append(below)
    return levels


def parse_condition(condition: str) -> Expression:
    """The condition of a task, parsed as it reads the facts of a node. Its messages show what its author wrote.

    Raise what `parse` raises.
    """
    return Expression(condition, parse(rewrite(parse(condition).text)).root)


def value_of_condition(text: str, facts: Mapping[Any, Any], *, as_master: bool = False) -> Any:
    """The value of the condition of a task on facts. Raise `ExpressionError` if it has none."""
    models = {"settings": facts, "cluster": facts.get("cluster") or {}}
    return parse_condition(text).evaluate(models, strict=False, as_master=as_master)


_TEXT_OR_PATH = re.compile(r"""("[^"]*"|'[^']*'|(?<!\w)\w*+:[\w.\-]+)""")


def rewrite(condition: str) -> str:
    """A task's condition, which is written for the settings of a master, as it reads the facts of a node.

    Facts have no section `common`, no section of components (each component is a section with `enabled`), and no
    `value` at the end of a path. Quoted texts and other models stay as they are. Source: Nailgun `lcm.task_serializer`,
    which rewrites quoted texts as well.

    >>> rewrite("settings:additional_components.ceilometer.value == true")
    'settings:ceilometer.enabled == true'
    >>> rewrite("settings:common.debug.value == settings:storage.volumes_ceph.value")
    'settings:debug == settings:storage.volumes_ceph'
    """
    return _TEXT_OR_PATH.sub(lambda match: _rewritten(match[0]), condition)


def _rewritten(part: str) -> str:
    model, _, path = part.partition(":")
    if model != "settings":
        return part
    section, _, rest = path.partition(".")
    name = rest.removesuffix(".value")
    if section == "additional_components" and name:
        return f"settings:{name}.enabled"
    if section == "common" and name:
        return f"settings:{name}"
    return "settings:" + path.removesuffix(".value")


class _Scope(NamedTuple):
    """The models of one evaluation by name, whether undefined values are errors, the expression for messages, and
    whether searching in null is an error."""

    models: Models
    strict: bool
    text: str
    searches_strictly: bool


def _value(tree: Tree, scope: _Scope) -> Any:
    kind, *operands = tree
    if kind in _LEAVES:
        return operands[0] if kind == "value" else _read(operands[0], scope)
    if kind == "not":
        return not _value(operands[0], scope)
    if kind in ("and", "or"):
        value: Any = None
        for operand in operands:
            value = _value(operand, scope)
            if bool(value) is (kind == "or"):
                break
        return value
    left, right = (_value(operand, scope) for operand in operands)
    return _is_within(left, right, scope) if kind == "in" else bool(left == right) is (kind == "==")


def _read(full_path: str, scope: _Scope) -> Any:
    """The value of a model at a path, or None for an undefined one if the scope is not strict.

    Always raise `ExpressionError` for an unknown model; raise `UndefinedValue` if strict. Anything below a null, a
    number or a text is undefined too; Nailgun fails there with an internal error.
    """
    model, _, path = full_path.partition(":")
    if model not in scope.models:
        known = ", ".join(sorted(scope.models))
        hint = f"The expression {quoted(scope.text)} can read: {known}."
        raise ExpressionError(f'No model with name "{model}" defined.', scope.text, hint=hint)
    value: Any = scope.models[model]
    for key in path.split("."):
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif scope.strict:
            raise UndefinedValue(full_path, scope.text)
        else:
            return None
    return value


def _is_within(part: Any, whole: Any, scope: _Scope) -> bool:
    """Whether a list has an element, a mapping a key, or a string a part. Null contains nothing if the scope does not
    search strictly.

    Raise `ExpressionError` if `whole` cannot contain anything (a number, or null if strict), or if anything but a text
    is looked for in a text. Nailgun fails there with an internal error.
    """
    if whole is None and not scope.searches_strictly:
        return False
    if not (isinstance(part, str) if isinstance(whole, str) else isinstance(whole, _COLLECTIONS)):
        message = f"Expression {quoted(scope.text)} looks for {_described(part)} in {_described(whole)}."
        raise ExpressionError(message, scope.text, hint='"in" needs a list or a mapping, or two strings.')
    try:
        return part in whole
    except TypeError:  # a list or a mapping is never the key of a mapping
        return False


_COLLECTIONS = (Mapping, list, tuple, set, frozenset)


def _described(value: object) -> str:
    """What `value` is, in the words of a YAML document."""
    if value is None or isinstance(value, bool):
        return _WORD_OF[value]
    for types, words in ((str, "a string"), (int | float, "a number"), (Mapping, "a mapping")):
        if isinstance(value, types):
            return words
    return "a list"


_WORD_OF: Mapping[bool | None, str] = {None: "null", True: "true", False: "false"}
_LITERALS = {word: value for value, word in _WORD_OF.items()}
_BINDS = {"or": 1, "and": 2, "==": 3, "!=": 3, "in": 4, "not": 5}
"""How tightly each operator binds."""
_WORDS = {*_LITERALS, "and", "or", "not", "in"}
_TOKEN = re.compile(
    r"""\s*(?:(?P<path>\w*:[\w.\-]+) | (?P<number>-?[0-9]{1,300}(?![0-9])) | (?P<string>"[^"]*"|'[^']*')
    | (?P<literal>(?:true|false|null)\b) | (?P<operator>(?:or|and|not|in)\b|==|!=|[()]) | (?P<end>\Z)
    | (?P<unknown>))""",
    re.VERBOSE,
)
_LEAF: Mapping[str, Callable[[str], Tree]] = {
    "path": lambda path: ("path", path),
    "number": lambda digits: ("value", int(digits)),
    "string": lambda text: ("value", text[1:-1]),
    "literal": lambda word: ("value", _LITERALS[word]),
}
_LEAVES = ("value", "path")
_VALUE = 'a value (a number, a quoted string, true, false, null or model:path), "not" or "("'
_OPERATOR = '"and", "or", "==", "!=", "in" or the end'
_HINTS = {
    "<": "Numbers cannot be ordered; only == and != exist.",
    ">": "Numbers cannot be ordered; only == and != exist.",
    "=": "Write == for equality.",
    "!": 'Write "not".',
    "&": 'Write "and".',
    "|": 'Write "or".',
    ":": "A path begins with the name of a model and a colon: settings:storage.images_ceph.value.",
}


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield the kind, the text and the offset of each part; the last one is the end. The kind of an operator or bracket
    is its text. Raise `ExpressionError` for characters that no part begins with."""
    kind, at = "", 0
    while kind != "end":
        match = _TOKEN.match(text, at)
        assert match, "the last alternative matches everything"  # noqa: S101 - for the type
        kind, at = str(match.lastgroup), match.end()
        if kind == "unknown":
            raise _unknown(text, at)
        yield match[kind] if kind == "operator" else kind, match[kind], match.start(kind)


def _tree(text: str) -> Tree:
    """The parsed `text`, with a stack in place of recursion. Raise `ExpressionError` with the position of the first
    mistake."""
    trees: list[Tree] = []
    waiting: list[str] = []  # operators and brackets before the next value
    wants_value = True
    for kind, part, at in _tokens(text):
        if wants_value:
            if kind in _LEAF:
                trees.append(_LEAF[kind](part))
            elif kind not in ("not", "("):
                raise _misplaced(text, kind, part, at, _VALUE)
            else:
                waiting.append(kind)
            wants_value = kind not in _LEAF
            continue
        if kind in _LEAF or kind in ("not", "("):
            raise _misplaced(text, kind, part, at, _OPERATOR)
        while waiting and _BINDS.get(waiting[-1], 0) >= _BINDS.get(kind, 1):
            _join(trees, waiting.pop())
        wants_value = kind in _BINDS
        if wants_value:
            waiting.append(kind)
        elif bool(waiting) is (kind == "end"):
            raise _misplaced(text, kind, part, at, 'a closing ")"' if waiting else _OPERATOR)
        elif waiting:
            waiting.pop()
    return trees.pop()


def _join(trees: list[Tree], operator: str) -> None:
    """Replace the operands of an operator by its tree. One tree has all the operands of a chain of `and` or `or`."""
    right = trees.pop()
    left: Tree = () if operator == "not" else (trees.pop(),)
    if operator in ("and", "or") and left[0][0] == operator:
        left = left[0][1:]
    trees.append((operator, *left, right))


def _unknown(text: str, position: int) -> ExpressionError:
    """The error for characters that no part of an expression begins with."""
    if text[position] in "\"'":
        return _syntax_error(text, position, "a quote that is never closed", "a quoted string")
    match = re.match(r"\w+", text[position:])
    word = match[0] if match else text[position]
    return _syntax_error(text, position, quoted(word), "a part of an expression", _hint(word, text, position))


def _hint(word: str, text: str, position: int) -> str:
    """A hint of what the author of the unknown `word` probably meant."""
    if word.lower() in _WORDS:
        return f"Write it in lower case: {word.lower()}."
    if word.isdigit():
        return "A number has at most 300 digits."
    if text.startswith(":", position + len(word)):
        return _HINTS[":"]
    if re.match(r"\w", word):
        return f"Put strings in quotes: {quoted(word)}."
    return _HINTS.get(word, "")


def _misplaced(text: str, kind: str, part: str, at: int, expected: str) -> ExpressionError:
    """The error for a part of an expression that is in the wrong place."""
    hint = 'Write "not (x in y)" instead of "x not in y".' if kind == "not" else ""
    if kind == "end":
        return _syntax_error(text, len(text.rstrip()), "the end", expected, hint)
    return _syntax_error(text, at, quoted(part), expected, hint)


def _syntax_error(text: str, position: int, actual: str, expected: str, hint: str = "") -> ExpressionError:
    """The error for `actual` at `position` of `text`, where `expected` should be.

    >>> print(_syntax_error("1 < 2", 2, '"<"', '"==" or the end', "There is no <."))
    Expression "1 < 2" cannot be read at character 3: found "<" where "==" or the end was expected. There is no <.
    """
    message = (
        f"Expression {quoted(text, position)} cannot be read at character {position + 1}:"
        f" found {actual} where {expected} was expected."
    )
    return ExpressionError(message, text, position=position, expected=expected, hint=hint)
