"""Parse YAQL to a tree that has Fuel's functions and remembers values. Importing this imports the library.

The value of every part of an expression that depends on nothing but facts is kept by `View.once`: for all nodes if it
read nothing that differs between nodes, otherwise for one node. An expression such as
`$.uid in added($.network_metadata.nodes.values()).uid` costs each node one search in a list that is computed once.
"""

from __future__ import annotations

import copy
import functools
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence  # the library needs this imported before itself
from typing import Any

import yaql  # type: ignore[import-untyped]
from yaql.language import exceptions, expressions, specs, utils  # type: ignore[import-untyped]

from fuelclient.expressions import budget, functions, library
from fuelclient.expressions.errors import ExpressionError, quoted
from fuelclient.expressions.facts import Union, View
from fuelclient.expressions.functions import UNDEFINED, plain
from fuelclient.expressions.yaql_calls import ON_FACTS, SEVERAL, VIEW, OnFacts

_FREE = {"$", "$1", "$node", "$common"}
_BINDING = {"let", "with", "def", "unpack", "call"}
"""Functions that bind names; parts of an expression with one of them may depend on more than facts."""
_ENDLESS = {"sequence", "repeat", "cycle", "range", "generate", "generateMany", "accumulate"}
"""Functions whose results may be endless; expressions with one of them are evaluated as lazily as the library does."""
_IMPURE = {"now", "localtz", "random"}


@functools.cache
def _engine() -> Any:
    """The library's parser with our limits, which is made once per process."""
    engine = yaql.YaqlFactory().create()
    engine._options = budget.Counting()  # the factory would copy them, and copies do not count
    return engine


@functools.cache
def _functions() -> Any:
    """The library's functions and ours."""
    context = library.bounded_context().create_child_context()
    context.register_function(specs.method(lambda receiver: receiver is UNDEFINED), name="isUndef")
    context.register_function(_writing(functions.to_yaml), name="toYaml")
    context.register_function(_writing(json.dumps), name="toJson")
    return context


def _writing(written: Callable[[Any], str]) -> Any:
    """A method of YAQL that writes plain data as a text."""

    @specs.method  # type: ignore[untyped-decorator]
    def method(receiver: Any) -> str:
        text = written(plain(receiver))
        budget.spend_text(len(text))
        return text

    return method


class Tree:
    """A parsed expression. If it `is_counted`, counts bound its work."""

    __slots__ = ("_root", "is_counted")

    def __init__(self, root: Any, is_counted: bool) -> None:
        self._root, self.is_counted = root, is_counted

    def evaluate(self, view: View) -> Any:
        """The value as the library does, possibly a lazy sequence. Raise what its functions raise."""
        if view.context is None:
            view.context = context = _functions().create_child_context()
            context["$"], context["$node"], context["$common"] = view.new, view.node, view.common
            context[VIEW] = view
        budget.begin()
        try:
            return self._root(utils.NO_VALUE, view.context, _engine())
        except exceptions.WrappedException as error:
            raise error.wrapped from None


def parse_tree(text: str) -> Tree:
    """The tree of `text`. Raise the library's parsing errors, and `ExpressionError` for wrong uses of Fuel's functions
    and for functions that depend on the clock or on chance."""
    rewriting = _Rewriting(text, _engine()(text).expression)
    return Tree(rewriting.root, rewriting.is_counted)


def root_names(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the names that an expression reads of `$`, and whether a missing one is null there.

    Arguments of methods are left out, because `$` may be something else in them.
    """
    stack = [_engine()(text).expression]
    while stack:
        node = stack.pop()
        if isinstance(node, expressions.BinaryOperator) and node.operator in (".", "?."):
            left, right = node.args
            if isinstance(left, expressions.GetContextValue) and left.path.value == "$":
                is_get = type(right) is expressions.Function and right.name == "get"
                named = right.args[0] if is_get and right.args else right
                if isinstance(named, expressions.Constant) and isinstance(named.value, str):
                    yield named.value, is_get
            stack.append(left)
        else:
            stack.extend(reversed(_operands(node)))


def _nodes(tree: Any) -> Iterator[Any]:
    """Yield the nodes of a tree, without recursion."""
    stack = [tree]
    while stack:
        yield (node := stack.pop())
        stack.extend(_operands(node))


def _operands(node: Any) -> tuple[Any, ...]:
    if isinstance(node, expressions.Function):
        return tuple(arg for arg in node.args if isinstance(arg, expressions.Expression))
    if isinstance(node, expressions.Wrap):
        return (node.expr,)
    if isinstance(node, expressions.MappingRuleExpression):
        return (node.source, node.destination)
    return ()


class _Rewriting:
    """The conversion of one tree from the library's form to ours."""

    def __init__(self, text: str, tree: Any) -> None:
        names = {node.name for node in _nodes(tree) if isinstance(node, expressions.Function)}
        self.text = text
        self.remembers = not names & _BINDING
        self.is_counted = not names & library.UNCOUNTED
        self.finishes = not names & _ENDLESS
        if impure := names & _IMPURE:
            name = min(impure)
            message = f"The YAQL expression {quoted(text)} asks for {name}(), whose value differs from run to run."
            raise ExpressionError(message, text, hint="Plans have to be repeatable, so compute it in the task itself.")
        self.root, _ = self.rewritten(tree)

    def rewritten(self, node: Any) -> tuple[Any, bool]:
        """The node with rewritten operands, and whether it depends on nothing but facts."""
        if isinstance(node, expressions.GetContextValue):
            return _Variable(node.path.value), node.path.value in _FREE
        if isinstance(node, expressions.Wrap):
            return self.rewritten(node.expr)
        if isinstance(node, expressions.MappingRuleExpression):
            source, key_is_closed = self.rewritten(node.source)
            destination, value_is_closed = self.rewritten(node.destination)
            return expressions.MappingRuleExpression(source, destination), key_is_closed and value_is_closed
        if not isinstance(node, expressions.Function):
            return node, True
        return self.function(node)

    def function(self, node: Any, *, receives: bool = False) -> tuple[Any, bool]:
        """Rewrite a function or an operator. A function on a receiver belongs to the dot before it and is not kept."""
        made = copy.copy(node)
        args, fitting = [], []
        dotted = isinstance(node, expressions.BinaryOperator) and node.operator in (".", "?.")
        for position, arg in enumerate(node.args):
            if dotted and position == 1 and type(arg) is expressions.Function:
                operand, fits = self.function(arg, receives=True)
            else:
                operand, fits = self.rewritten(arg)
            args.append(operand)
            fitting.append(fits)
        made.args, closed = tuple(args), all(fitting)
        if receives:
            return made, closed
        if type(node) is expressions.Function and node.name in ON_FACTS:
            made = self.on_facts(made, fitting)
        elif dotted and node.operator == "." and type(args[1]) is expressions.KeywordConstant:
            made = _Property(made)
        return self.kept(made, closed), closed

    def kept(self, part: Any, closed: bool) -> Any:
        return _Kept(part, self.finishes) if closed and self.remembers else part

    def on_facts(self, node: Any, fitting: Sequence[bool]) -> Any:
        least, most, action = ON_FACTS[node.name]
        count = len(node.args)
        good = all(
            isinstance(a, expressions.Expression) and not isinstance(a, expressions.MappingRuleExpression)
            for a in node.args
        )
        if not good or count < least or (most and count > most):
            takes = "one expression" if most else "at least one expression"
            message = f"The YAQL expression {quoted(self.text)} calls {node.name}() with {count} arguments."
            raise ExpressionError(message, self.text, hint=f"{node.name}() takes {takes}.")
        parts = node.args
        if node.name in SEVERAL:
            changed = [OnFacts("changed", ON_FACTS["changed"][2], (arg,)) for arg in node.args]
            parts = tuple(self.kept(part, fits) for part, fits in zip(changed, fitting, strict=True))
        return OnFacts(node.name, action, parts)


def _signature(node: Any) -> tuple[Any, ...]:
    """A key that is the same for equal parts of expressions."""
    if isinstance(node, _Kept):
        return ("kept", node.key)
    if isinstance(node, _Variable):
        return ("$", node.name)
    if isinstance(node, _Property):
        return (".", *(_signature(arg) for arg in node.whole.args))
    if isinstance(node, expressions.Constant):
        return (type(node).__name__, type(node.value).__name__, node.value)
    if isinstance(node, expressions.MappingRuleExpression):
        return ("=>", _signature(node.source), _signature(node.destination))
    if isinstance(node, expressions.Function):
        return (type(node).__name__, node.name, *(_signature(arg) for arg in node.args))
    return ("nothing",)  # an omitted argument


_keys: dict[tuple[Any, ...], int] = {}


class _Variable(expressions.Expression):  # type: ignore[misc]
    """`$`, `$node` and the like, faster than the library, which searches for a function that reads them."""

    def __init__(self, name: str) -> None:
        self.name, self.uses_receiver = name, False

    def __call__(self, _receiver: Any, context: Any, _engine: Any) -> Any:
        return context[self.name]


class _Property(expressions.Expression):  # type: ignore[misc]
    """`x.name`: keys of mappings are read directly, everything else is left to the library (`whole`)."""

    def __init__(self, whole: Any) -> None:
        self.whole, self.uses_receiver = whole, False
        self.left, self.name = whole.args[0], whole.args[1].value

    def __call__(self, receiver: Any, context: Any, engine: Any) -> Any:
        try:
            value = self.left(utils.NO_VALUE, context, engine)
        except MissingKey as error:
            if isinstance(getattr(self.left, "part", self.left), _Property):
                error.path += f".{self.name}"  # the whole path that is read says more than where the facts end
            raise
        if isinstance(value, Mapping):
            try:
                return value[self.name]
            except KeyError:
                raise MissingKey(self.name, f"{_path(self.left)}.{self.name}") from None
        whole = copy.copy(self.whole)
        whole.args = (expressions.Constant(value), self.whole.args[1])
        return whole(receiver, context, engine)


class MissingKey(KeyError):
    """A mapping has no such key. `path` is how the expression names it."""

    def __init__(self, name: str, path: str) -> None:
        super().__init__(name)
        self.path = path


def _path(node: Any) -> str:
    """How an expression names a value: `$.a.b`, or `...` for what it computes.

    Numbers and names of methods are not a part of it, since texts in expressions may be secret.
    """
    if isinstance(node, _Kept):
        return _path(node.part)
    if isinstance(node, _Property):
        return f"{_path(node.left)}.{node.name}"
    return node.name if isinstance(node, _Variable) else "..."


class _Kept(expressions.Expression):  # type: ignore[misc]
    """A part of an expression that depends on nothing but facts, so that the view keeps its value."""

    def __init__(self, part: Any, finishes: bool) -> None:
        self.part, self.finishes = part, finishes
        self.uses_receiver = False
        self.rooted = isinstance(part, OnFacts)
        self.key = _keys.setdefault((finishes, *_signature(part)), len(_keys))

    def __call__(self, receiver: Any, context: Any, engine: Any) -> Any:
        view: View = context[VIEW]
        root = None
        if not self.rooted:
            dollar = context["$"]
            if dollar is view.new:
                root = True
            elif dollar is view.old:
                root = False
            else:
                return self.part(receiver, context, engine)

        def compute() -> Any:
            value = self.part(receiver, context, engine)
            return _finished(value) if self.finishes else value

        return view.once((self.key, root), compute, lambda value: _can_be_kept(value, view))


def _finished(value: Any) -> Any:
    """A lazy sequence as a tuple; one that is too long, or fails on the way, remains lazy and fails later."""
    if not isinstance(value, Iterator):
        return value
    taken: list[Any] = []
    try:
        for item in itertools.islice(value, budget.MAX_ITEMS + 1):
            taken.append(item)  # noqa: PERF402 - the items before an error are needed
    except Exception as error:  # raised again when the sequence is read up to here
        return itertools.chain(taken, map(_raise, (error,)))
    return tuple(taken) if len(taken) <= budget.MAX_ITEMS else itertools.chain(taken, value)


def _raise(error: Exception) -> None:
    raise error


def _can_be_kept(value: Any, view: View) -> bool:
    """Whether a value is data that contains no view, which the next node must not see.

    Keys and values of a mapping are views too, hence the test for the concrete classes of sets.
    """
    if value is None or value is UNDEFINED or isinstance(value, str | int | float) or view.is_settled(value):
        return True
    if isinstance(value, Union):
        return False
    if isinstance(value, Mapping | tuple | list | set | frozenset):
        budget.spend(len(value))
    if isinstance(value, Mapping):
        return all(_can_be_kept(part, view) for pair in value.items() for part in pair)
    return isinstance(value, tuple | list | set | frozenset) and all(_can_be_kept(item, view) for item in value)


def place_of(error: Exception) -> tuple[bool, int | None, str]:
    """Whether an error is about the text of an expression, its position (None at the end), and its word."""
    if not isinstance(error, exceptions.YaqlParsingException):
        return False, None, ""
    return True, error.position, str(error.value)


def reason_of(error: Exception) -> str:
    """The reason in an error of the library, without the values that it quotes; empty for other errors."""
    if isinstance(error, exceptions.ResolutionError):
        return _unresolved(str(error).partition('"')[2].partition('"')[0], str(error).startswith("Unknown"))
    if isinstance(error, exceptions.CollectionTooLargeException):
        return f"a sequence has more than {budget.MAX_ITEMS} elements"
    if isinstance(error, exceptions.MemoryQuotaExceededException):
        return "it takes too much memory"
    return ""


def _unresolved(name: str, unknown: bool) -> str:
    """Why a function, a method, an operator or a property could not be used, by the library's name for it."""
    for mark, words in (
        ("#property#", "nothing named {} can be read there"),
        ("#unary_operator_", "the operator {} does not fit its operand"),
        ("#operator_", "the operator {} does not fit its operands"),
        ("#indexer", "[] does not fit the value before it"),
        ("*", "the operator {} does not fit its operands"),
    ):
        if name.startswith(mark):
            return words.format(name.removeprefix(mark))
    return f"YAQL has no function {name}" if unknown else f"the function {name} does not fit its arguments"
