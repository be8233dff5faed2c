"""The language of queries: it selects tasks of a graph, and rows of tables in the terminal UI.

docs/understand.md has its grammar. In a filter box, the columns of its table are further fields, a blank means "and", a
word that is not an id means `*word*`, globs ignore case, and an unfinished term keeps every row.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from fnmatch import fnmatchcase
from functools import partial
from glob import escape
from typing import Literal, NoReturn

from fuelclient.errors import UsageError, did_you_mean
from fuelclient.graph.dag import distances, reachable, search
from fuelclient.graph.match import matcher, pattern_error
from fuelclient.graph.stage import parse_stage
from fuelclient.grouping import grouped
from fuelclient.insight.stats import tasks_of_roles
from fuelclient.model.graph import Level, MergedTask
from fuelclient.model.status import InstanceStatus
from fuelclient.plan.study import Study
from fuelclient.printing import one_line

Selected = Mapping[int, tuple[str, ...]]
"""The selected merged tasks, by index, each with the reasons."""

Results = Mapping[str, Collection[str]]
"""The statuses that the instances of each task (by id) had at the end of a run."""


class BadQuery(UsageError):
    """A query cannot be parsed, or names something unknown at position `at`."""

    def __init__(self, message: str, query: str, at: int, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.query, self.at = query, at

    def picture(self) -> tuple[str, str]:
        """The query, and a caret below the mistake.

        >>> print("\\n".join(BadQuery("wrong", "a,,b", 2).picture()))
          a,,b
            ^
        """
        return f"  {one_line(self.query)}", f"  {' ' * self.at}^"


class Rows(Enum):
    """The kind of rows in a table. Words match the ids of tasks in `TASKS`, and the columns in other tables."""

    TASKS = auto()
    ABOUT_TASKS = auto()
    """Rows such as findings: words match the columns, other terms select tasks."""
    OTHERS = auto()


Kind = Literal["id", "glob", "pattern", "range", "property", "text", "part", "whole"]
"""What a term matches: tasks (the first five), a glob on any column, a part of a column, or a whole value."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a query, with signs such as `2+` and `+1` for the neighbours that it adds. `name` is the property or
    column, `tasks` the indices of the selected tasks in a study."""

    kind: Kind
    base: str
    values: tuple[str, ...]
    name: str = ""
    up: str = ""
    down: str = ""
    tasks: frozenset[int] | None = None
    at: int = field(default=0, compare=False)

    @property
    def source(self) -> str:
        return f"{self.up}{self.base}{self.down}"

    def test(self) -> Callable[[str], bool]:
        """A predicate for terms about columns. It takes text in lower case: the value of the term's column, or all
        columns of a row, one on each line."""
        words = [value.lower() for value in self.values]
        if self.kind == "text":
            return _glob(words[0])
        if self.kind == "part":
            return lambda text: any(word in text for word in words)
        wanted = [_values(word) for word in words]
        return lambda text: any(values <= _values(text) for values in wanted)


@dataclass(frozen=True, slots=True)
class Group:
    """`sign` joins the parts: `or`, a comma, or `!` with one part. `source` is the text of the query."""

    sign: str
    parts: tuple[Node, ...]
    source: str = field(default="", compare=False)


Node = Term | Group
_KEEP_ALL = Group(",", ())


@dataclass(frozen=True, slots=True)
class Query:
    """An empty query keeps every row."""

    text: str = field(default="", compare=False)
    tree: Node = _KEEP_ALL
    any_case: bool = False

    @property
    def is_empty(self) -> bool:
        return self.tree == _KEEP_ALL

    @property
    def written(self) -> str:
        """The query with all its operators. Without columns, it means the same in a filter box and in a command.

        >>> parse("host !probe layer=x", ["layer"]).written
        '*host*,!*probe*,layer=x'
        """
        return _written(self.tree)

    def inverted(self) -> Query:
        return self if self.is_empty else replace(self, tree=Group("!", (self.tree,)))

    def on(self, study: Study, results: Callable[[], Results]) -> Query:
        """Bind the terms of the query to the tasks that they select in a study. Raise `BadQuery` for unknown names."""
        selection = _Selection(study, self, results)

        def bound(node: Node) -> Node:
            if isinstance(node, Group):
                return replace(node, parts=tuple(map(bound, node.parts)))
            is_of_columns = node.kind in ("text", "part", "whole")
            return node if is_of_columns else replace(node, tasks=frozenset(selection.term(node)))

        return replace(self, tree=bound(self.tree))

    def keep(self, rows: Sequence[int], by_term: Callable[[Term, Sequence[int]], list[int]]) -> list[int]:
        """Filter rows by the query, in their order; `by_term` filters them by one term."""

        def filtered(node: Node, rows: Sequence[int]) -> Sequence[int]:
            if isinstance(node, Term):
                return by_term(node, rows)
            if node.sign == ",":
                for part in node.parts:
                    rows = filtered(part, rows)
                return rows
            found = {row for part in node.parts for row in filtered(part, rows)}
            return [row for row in rows if (row in found) is (node.sign == "or")]

        return list(filtered(self.tree, rows))


def _written(node: Node, *, is_inside: bool = False) -> str:
    if isinstance(node, Term):
        return node.source
    parts = [_written(part, is_inside=True) for part in node.parts]
    if node.sign == "!":
        return f"!{parts[0]}"
    text = ("," if node.sign == "," else " or ").join(parts)
    return f"({text})" if is_inside else text


# reading

FIELDS = ("role", "layer", "stage", "type", "state", "result")
STATES = ("added", "overridden", "unchanged", "unplaced")
_MAX_DEPTH = 50

_QUOTED = r'"[^"]*"?'
_NAME = rf'(?:[^\s(),!+/"]|{_QUOTED})(?:[^\s(),+"]|{_QUOTED})*'
_TOKEN = re.compile(rf"([(),!]|(?P<up>\d*\+)?(?P<base>/(?:\\.|[^/\\])*/|{_NAME})(?P<down>\+\d*)?)\s*", re.DOTALL)
_TEXT = re.compile(rf'([(),!]|(?P<up>)(?P<base>(?:[^\s(),!"]|{_QUOTED})(?:[^\s(),"]|{_QUOTED})*)(?P<down>))\s*')
"""The tokens for rows that are not about tasks: a `+` or a slash has no meaning there."""
_FIELD = re.compile(r"(?P<name>[a-z_]+)(?P<sign>[:=])(?P<values>.*)", re.IGNORECASE | re.DOTALL)
_RANGE = re.compile(r'("[^"]*"|[^"]*?)\.\.(.*)', re.DOTALL)
_WILD = re.compile(r"[*?[]")
_RESERVED = re.compile(rf'(?:and|or|not)|(?:{"|".join(FIELDS)}):.*|.*(?:\.\.|[*?["]).*', re.DOTALL)


def parse(
    text: str, columns: Collection[str] | None = None, rows: Rows = Rows.OTHERS, ids: Collection[str] = ()
) -> Query:
    """Parse a query: with `columns` from a filter box over such rows, otherwise from a command. In a box, a word in
    `ids` does not become `*word*`.

    Raise `BadQuery` for a text that cannot be parsed. A filter over rows that are not tasks accepts every text.
    """
    is_box = columns is not None
    tree = _Parser(text, columns or (), rows if is_box else Rows.TASKS, ids, is_box=is_box).parse()
    return Query(text, tree, any_case=is_box)


def named(task: str) -> str:
    """The query that selects the task with this id.

    >>> named("db"), named("rack:pre"), named("two words"), named("role:db"), named('a"b')
    ('db', 'rack:pre', '"two words"', '"role:db"', '/^a\\\\"b$/')
    """
    if '"' in task or not task:
        return "/^" + re.sub(r"([^\w-])", r"\\\1", task) + "$/"
    is_bare = re.fullmatch(_NAME, task) and not _RESERVED.fullmatch(task)
    return task if is_bare else f'"{task}"'


def condition(name: str, value: str, sign: str = "=") -> str:
    """The query that selects a whole value of a field.

    >>> condition("role", "compute"), condition("role", "two words", ":")
    ('role=compute', 'role:"two words"')
    """
    return f'{name}{sign}"{value}"' if re.search(r"[\s(),+|]", value) else f"{name}{sign}{value}"


class _Parser:
    """A recursive-descent parser: `or` binds weakest, then commas (or blanks, or `and`), then single terms."""

    def __init__(self, text: str, columns: Collection[str], rows: Rows, ids: Collection[str], *, is_box: bool) -> None:
        self.text, self.columns, self.rows, self.ids, self.is_box = text, columns, rows, ids, is_box
        self._wrong = partial(_wrong, text)
        self.tokens = list(self._tokens())
        self.next = self.depth = 0

    def _tokens(self) -> Iterator[re.Match[str]]:
        pattern = _TEXT if self.rows is Rows.OTHERS else _TOKEN
        at = len(self.text) - len(self.text.lstrip())
        while at < len(self.text):
            if (match := pattern.match(self.text, at)) is None:
                raise self._wrong(at, "cannot be read from here on")
            yield match
            at = match.end()

    def parse(self) -> Node:
        if not self.tokens and not self.is_box:
            raise self._wrong(0, "is empty", "Name a task, or write a property such as role:compute.")
        parts = [self._disjunction()]
        while self._ahead():
            if not self.is_box:
                raise self._wrong(self._at(), "has a bracket too many")
            self.next += 1
            parts.append(self._disjunction())
        return _group(",", parts)

    def _ahead(self) -> str:
        """The next token, or an empty text after the last one."""
        return self.tokens[self.next][1] if self.next < len(self.tokens) else ""

    def _at(self) -> int:
        return self.tokens[self.next].start() if self.next < len(self.tokens) else len(self.text)

    def _accept(self, *signs: str) -> bool:
        is_ahead = self._ahead() in signs
        self.next += is_ahead
        return is_ahead

    def _since(self, at: int) -> str:
        """The text from a position up to the last token that was read."""
        return self.text[at : self.tokens[self.next - 1].end(1)]

    def _disjunction(self) -> Node:
        parts = [self._conjunction()]
        while self._accept("or"):
            parts.append(self._conjunction())
        return _group("or", parts)

    def _conjunction(self) -> Node:
        at, parts = self._at(), [self._term()]
        while self._ahead() not in ("", ")", "or"):
            if not self._accept(",", "and") and not self.is_box:
                self._refuse_blank(self._since(at))
            at = self._at()
            parts.append(self._term())
        return _group(",", parts)

    def _refuse_blank(self, first: str) -> NoReturn:
        at = self._at()
        hint = "Write '+x' for x and all before it, 'x+' for x and all after it: see `fuel2 help queries`."
        if self._ahead() == "(" and not self.text[at - 1].isspace():
            raise self._wrong(at, "has a function, and there are none", hint)
        self._term()
        second = self._since(at)
        hint = f"Write '{first} or {second}' (either) or '{first},{second}' (both)."
        raise self._wrong(at, f"does not say whether it means either or both of {first} and {second}", hint)

    def _term(self) -> Node:
        at, sign = self._at(), self._ahead()
        if sign in ("", ")", ",") or (sign in ("and", "or") and not self.is_box):
            if self.is_box:
                return _KEEP_ALL
            if not sign:
                raise self._wrong(at, "ends too early", "A task or a property is missing.")
            raise self._wrong(at, f"has {sign!r} where a task or a property should be")
        self.next += 1
        if sign not in ("(", "!", "not") or (sign == "not" and self.is_box and not self._ahead()):
            return self._word(self.tokens[self.next - 1])
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise self._wrong(at, "has too many brackets and negations inside one another")
        inner = self._disjunction() if sign == "(" else self._term()
        self.depth -= 1
        if sign != "(":
            return inner if inner == _KEEP_ALL else Group("!", (inner,), self._since(at))
        if not self._accept(")") and not self.is_box:
            raise self._wrong(at, "has a bracket that does not end")
        return inner

    def _word(self, token: re.Match[str]) -> Node:
        """Make a term of a word that is not a sign or keyword."""
        base, knows_tasks = token["base"], self.rows is not Rows.OTHERS
        term = partial(Term, up=token["up"] or "", down=token["down"] or "", at=token.start())
        is_alone = not (token["up"] or token["down"])
        if knows_tasks and base.startswith("/"):
            if problem := pattern_error(base):
                raise self._wrong(token.start("base"), f"has a pattern that cannot be used ({problem})")
            return term("pattern", base, (base,))
        if base.count('"') % 2:
            if not self.is_box:
                raise self._wrong(token.start(), "has a quote that does not end")
            if base.startswith('"'):
                return _KEEP_ALL
            base += '"'
        if (match := _FIELD.fullmatch(base)) and (kind := self._field_kind(match["name"], match["sign"], is_alone)):
            values = tuple(quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|([^|"]+)', match["values"]))
            return term(kind, base, values or ("",), match["name"].lower()) if values or not self.is_box else _KEEP_ALL
        if match and match["sign"] == "=" and match["name"] in FIELDS and not self.is_box:
            hint = f"Write {match['name']}:{match['values']}, or the id of a task in double quotes."
            raise self._wrong(token.start(), f"compares {match['name']} with a sign of filters", hint)
        if knows_tasks and (ends := _RANGE.fullmatch(base)):
            return term("range", base, tuple(end.strip('"') for end in ends.groups()))
        if match and match["sign"] == "=" and self.is_box and self.rows is Rows.TASKS:
            problem = f"asks for {base}, and there is no column {match['name']} here"
            raise self._wrong(token.start(), problem, f"There are {', '.join(self.columns)}.")
        wildcard_kind: Kind = "glob" if self.rows is Rows.TASKS or not is_alone else "text"
        if base.startswith('"') or (is_alone and base in self.ids):
            name = base.strip('"')
            return term("id", base, (name,)) if wildcard_kind == "glob" else term("text", base, (escape(name),))
        if self.is_box and is_alone and not _WILD.search(base):
            base = f"*{base}*"
        return term(wildcard_kind if _WILD.search(base) else "id", base, (base,))

    def _field_kind(self, name: str, sign: str, is_alone: bool) -> Kind | None:
        """The kind of a word that begins with a name and a sign; None if they are part of a plain word."""
        if sign == ":" and name in FIELDS and self.rows is not Rows.OTHERS:
            return "property"
        if name.lower() in self.columns and is_alone:
            return "part" if sign == ":" else "whole"
        return None


def _wrong(text: str, at: int, problem: str, hint: str = "") -> BadQuery:
    return BadQuery(f"The query {problem}.", text, at, hint=hint)


def _group(sign: str, parts: Iterable[Node]) -> Node:
    conditions = tuple(part for part in parts if part != _KEEP_ALL)
    return conditions[0] if len(conditions) == 1 else Group(sign, conditions) if conditions else _KEEP_ALL


def _glob(pattern: str) -> Callable[[str], bool]:
    """A predicate for a glob. It takes a name, or several lines, one of which has to match."""
    part = pattern[1:-1]
    if pattern == f"*{part}*" and not _WILD.search(part):
        return lambda text: part in text
    return lambda text: any(fnmatchcase(line, pattern) for line in text.split("\n"))


def _values(text: str) -> set[str]:
    return {value for part in text.split(",") if (value := part.strip())}


# selecting

_COMPARED = re.compile(r"(?P<name>[^/]+)/(?P<sign><=|>=|<|>|=)?(?P<number>[-+]?[0-9.]+)")
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq,
}  # fmt: skip


def select(study: Study, query: str, results: Callable[[], Results] | None = None) -> Selected:
    """Select tasks by a query, each with its reasons, in any order. A `result:` term calls `results`.

    Raise `BadQuery` for a query that cannot be parsed, and for unknown names.
    """
    parsed = parse(query)
    return _Selection(study, parsed, results).of(parsed.tree)


class _Selection:
    def __init__(self, study: Study, query: Query, results: Callable[[], Results] | None) -> None:
        self.study, self.query, self.results = study, query, results
        self.tasks = study.merged.tasks

    def of(self, node: Node) -> Selected:
        if isinstance(node, Term):
            return self.term(node)
        parts, all_indices = [self.of(part) for part in node.parts], range(len(self.tasks))
        if node.sign == "!":
            return {index: (node.source,) for index in all_indices if index not in parts[0]}
        combine = any if node.sign == "or" else all
        return {
            index: tuple(dict.fromkeys(reason for part in parts for reason in part.get(index, ())))
            for index in all_indices
            if combine(index in part for part in parts)
        }

    def term(self, term: Term) -> Selected:
        """The tasks of a term, with neighbours up to the distances of its signs (`2+x+1`)."""
        selected = self._without_neighbours(term)
        reasons: dict[int, list[str]] = {index: [reason] for index, reason in selected.items()}
        for sign, direction in ((term.up, "before"), (term.down, "after")):
            if sign:
                edges = self.study.before if direction == "before" else self.study.after
                most = int(sign.strip("+")[:9] or len(self.tasks))
                for index, distance in distances(search(edges, selected, most=most)).items():
                    if distance:
                        reasons.setdefault(index, []).append(f"{distance} {direction} {term.base}")
        return {index: tuple(texts) for index, texts in reasons.items()}

    def _without_neighbours(self, term: Term) -> dict[int, str]:
        """The tasks of a term without its neighbours, each with the reason."""
        first, last = term.values[0], term.values[-1]
        if term.kind == "property":
            return dict.fromkeys(self._property(term), term.base)
        if term.kind == "range":
            after = reachable(self.study.after, self._named(first, term))
            before = reachable(self.study.before, self._named(last, term))
            return dict.fromkeys(after & before, f"between {first} and {last}")
        if term.kind == "id":
            return dict.fromkeys(self._named(first, term), f"named {first}")
        fold_case = str.lower if self.query.any_case and term.kind == "glob" else str
        holds = matcher(first) if term.kind == "pattern" else _glob(fold_case(first))
        return {index: f"matches {first}" for index, task in enumerate(self.tasks) if holds(fold_case(task.id))}

    def _named(self, name: str, term: Term) -> list[int]:
        if not (indices := [index for index, task in enumerate(self.tasks) if task.id == name]):
            raise self._unknown("task", name, [task.id for task in self.tasks], term)
        return indices

    def _unknown(self, noun: str, name: str, names: Sequence[str], term: Term) -> BadQuery:
        hint = did_you_mean(name, names, f"Known: {', '.join(names[:12])}.")
        if noun == "task" and "|" in name:
            hint = f"Write '{' or '.join(name.split('|'))}'."
        at = term.source.index(name, len(term.up)) if name else len(term.up) + len(term.base)
        return _wrong(self.query.text, term.at + at, f"names the {noun} {name!r}, which does not exist", hint)

    def _property(self, term: Term) -> set[int]:
        if term.name == "stage":
            return {index for value in term.values for index in self._in_stage(value, term)}
        by_value: dict[str, set[int]] = {}
        if term.name == "role":
            by_value |= {role: {*tasks} for role, tasks in tasks_of_roles(self.tasks, self.study.snapshot).items()}
        always: dict[str, Iterable[str]] = {"state": STATES, "layer": Level, "result": InstanceStatus}
        by_value |= {str(value): set() for value in always.get(term.name, ())}
        results = self._results(term) if term.name == "result" else {}
        for index, task in enumerate(self.tasks):
            for word in (*results.get(task.id, ()), *self._words(term.name, index, task)):
                by_value.setdefault(word, set()).add(index)
        return {index for value in term.values for index in self._known(by_value, value, term)}

    def _known(self, by_value: Mapping[str, Iterable[int]], value: str, term: Term) -> Iterable[int]:
        if value not in by_value:
            raise self._unknown(term.name, value, sorted(by_value), term)
        return by_value[value]

    def _results(self, term: Term) -> Results:
        if self.results is None:
            problem = "asks for the results of a run, and none is read"
            raise _wrong(self.query.text, term.at, problem, "Leave it out, or use `fuel2 graph query`.")
        return self.results()

    def _words(self, name: str, index: int, task: MergedTask) -> Collection[str]:
        if name == "type":
            return (task.task.type,)
        if name == "layer":
            return {str(task.owner.level), task.owner.label, *([task.owner.name] if task.owner.name else [])}
        if name == "state":
            change = "overridden" if task.overrides else "unchanged" if task.owner.level is Level.RELEASE else "added"
            return (change,) if self.study.expansion.placement.nodes[index] else (change, "unplaced")
        return ()

    def _in_stage(self, value: str, term: Term) -> Iterable[int]:
        """All tasks between the sync points of a stage or, for `x/>0`, those that name it with such a priority."""
        if (compared := _COMPARED.fullmatch(value)) is None:
            if self.study.cycles:
                problem = "asks for a stage, which follows from an order, and the graph has a cycle"
                hint = f"stage:{value}/>-1000 needs none: it has the tasks that state it."
                raise _wrong(self.query.text, term.at, problem, hint)
            rows = zip(self.study.indices, self.study.rows, strict=True)
            return self._known(grouped((row.stage, index) for index, row in rows if row.stage), value, term)
        holds, number = _SIGNS[compared["sign"] or "="], parse_stage(f"x/{compared['number']}").priority
        staged = [(index, parse_stage(task.task.stage)) for index, task in enumerate(self.tasks) if task.task.stage]
        names = {stage.name for _, stage in staged}
        if compared["name"] not in names:
            raise self._unknown("stage", compared["name"], sorted(names), term)
        return {index for index, stage in staged if stage.name == compared["name"] and holds(stage.priority, number)}


# queries for commands

MOST_NAMES = 12
"""The most tasks that are named one by one in a query that replaces a filter."""


def query_for_command(query: Query, study: Study, shown: Set[int], known: Set[int]) -> str:
    """A query for the command line that selects, of the `known` merged tasks, those that a filter shows (`shown`).

    Empty if the filter keeps all of them, or if no short query selects exactly them: a filter may use columns that
    commands do not have.
    """
    if query.is_empty or not shown or len(shown) == len(known):
        return ""
    texts = [query.written]
    for indices, form in ((shown, "{}"), ({*study.indices} - shown, "!({})")):
        names = dict.fromkeys(study.merged.tasks[index].id for index in study.indices if index in indices)
        if len(names) <= MOST_NAMES:
            texts.append(form.format(" or ".join(map(named, names))))
    for text in texts:
        try:
            selected = select(study, text)
        except BadQuery:
            continue
        if selected.keys() & known == shown:
            return text
    return ""
