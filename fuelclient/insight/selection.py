"""The language that selects tasks of a graph: names, patterns, neighbours, ranges and properties.

::

    keystone            the task with that id          /^db.*/      tasks whose id matches
    +keystone           it and all before it           keystone+2   it and two edges of what follows
    globals..keystone   all on paths between the two   !/^db/       all others
    role:compute layer:plugin type:puppet state:overridden stage:post_deployment stage:post_deployment/<0
    result:error        tasks with an instance that ended so in a run
    a b                 both: union                    a,b          those in both: intersection     ( )
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fuelclient.errors import UsageError, nearest
from fuelclient.graph.match import matches, pattern_error
from fuelclient.graph.stage import parse_stage
from fuelclient.insight.roles import tasks_of_roles
from fuelclient.model.graph import Level, MergedTask
from fuelclient.model.status import InstanceStatus
from fuelclient.plan.study import Study
from fuelclient.printing import one_line

Selected = Mapping[int, tuple[str, ...]]
"""The selected merged tasks, by index, each with the reasons."""


class BadQuery(UsageError):
    """A query cannot be read, or names what nothing has, from character `at` on."""

    def __init__(self, message: str, query: str, at: int, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.query, self.at = query, at

    def picture(self) -> tuple[str, str]:
        """Return the query, and a caret below the place.

        >>> print("\\n".join(BadQuery("wrong", "a,,b", 2).picture()))
          a,,b
            ^
        """
        return f"  {one_line(self.query)}", f"  {' ' * self.at}^"


FIELDS = ("role", "layer", "stage", "type", "state", "result")
STATES = ("added", "overridden", "unchanged", "unplaced")

_NAME = r"[^\s(),!+/][^\s(),+]*"
_TOKEN = re.compile(rf"\s*(?:(?P<sign>[(),!])|(?P<up>\d*\+)?(?P<base>/(?:\\.|[^/\\])*/|{_NAME})(?P<down>\+\d*)?)")
_COMPARED = re.compile(r"(?P<name>[^/]+)/(?P<sign><=|>=|<|>|=)?(?P<number>[-+]?[0-9.]+)")
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Token:
    sign: str
    base: str
    up: str
    down: str
    at: int


def is_name(word: str) -> bool:
    """Return whether a query can name what is called so.

    >>> is_name("db"), is_name("role:compute"), is_name("two words"), is_name("a..b")
    (True, True, False, False)
    """
    return re.fullmatch(_NAME, word) is not None and ".." not in word


Results = Mapping[str, Collection[str]]
"""The statuses that the instances of each task (by id) had at the end of a run."""


def select(study: Study, query: str, results: Results | None = None) -> Selected:
    """Return the tasks that a query selects, with the reasons, in any order. `result:` reads the `results`.

    Raise `BadQuery` for a query that cannot be read, and for names that nothing has.
    """
    return _Parser(study, query, results).parse()


class _Parser:
    """A parser by recursive descent that evaluates as it reads."""

    def __init__(self, study: Study, query: str, results: Results | None) -> None:
        self.study, self.query, self.results = study, query, results
        self.tasks = study.merged.tasks
        self.tokens = list(self._tokens())
        self.next = 0

    def _tokens(self) -> Iterable[_Token]:
        at = 0
        while self.query[at:].strip():
            match = _TOKEN.match(self.query, at)
            if match is None:
                blanks = len(self.query[at:]) - len(self.query[at:].lstrip())
                raise self._wrong(at + blanks, "cannot be read from here on")
            start = match.start("sign") if match["sign"] else match.start("up" if match["up"] else "base")
            yield _Token(match["sign"] or "", match["base"] or "", match["up"] or "", match["down"] or "", start)
            at = match.end()

    def _wrong(self, at: int, problem: str, hint: str = "") -> BadQuery:
        return BadQuery(f"The query {problem}.", self.query, at, hint=hint)

    def parse(self) -> Selected:
        if not self.tokens:
            raise self._wrong(0, "is empty", "Name a task, or write a property such as role:compute.")
        selected = self._union()
        if self.next < len(self.tokens):
            raise self._wrong(self.tokens[self.next].at, "has a bracket too many")
        return selected

    def _peek(self) -> _Token | None:
        return self.tokens[self.next] if self.next < len(self.tokens) else None

    def _union(self) -> Selected:
        selected = dict(self._intersection())
        while (token := self._peek()) is not None and token.sign not in (")", ","):
            for index, reasons in self._intersection().items():
                selected[index] = tuple(dict.fromkeys((*selected.get(index, ()), *reasons)))
        return selected

    def _intersection(self) -> Selected:
        selected = self._term()
        while (token := self._peek()) is not None and token.sign == ",":
            self.next += 1
            other = self._term()
            selected = {
                index: tuple(dict.fromkeys((*reasons, *other[index])))
                for index, reasons in selected.items()
                if index in other
            }
        return selected

    def _term(self) -> Selected:
        token = self._peek()
        if token is None:
            raise self._wrong(len(self.query), "ends too early", "A task or a property is missing.")
        self.next += 1
        if token.sign == "!":
            excluded, end = self._term(), self._peek()
            words = self.query[token.at : end.at if end else None].strip().rstrip(",) ")
            return {index: (words,) for index in range(len(self.tasks)) if index not in excluded}
        if token.sign == "(":
            selected, end = self._union(), self._peek()
            if end is None or end.sign != ")":
                raise self._wrong(token.at, "has a bracket that does not end")
            self.next += 1
            return selected
        if token.sign:
            raise self._wrong(token.at, f"has {token.sign!r} where a task or a property should be")
        return self._neighbours(token, self._base(token))

    def _neighbours(self, token: _Token, chosen: Mapping[int, str]) -> Selected:
        """Return what is chosen with its neighbours, as far as the numbers at the signs say."""
        reasons: dict[int, list[str]] = {index: [reason] for index, reason in chosen.items()}
        for sign, word, edges in ((token.up, "before", self.study.before), (token.down, "after", self.study.after)):
            if sign:
                most = int(sign.strip("+") or len(self.tasks))
                for index, distance in _distances(edges, chosen, most).items():
                    reasons.setdefault(index, []).append(f"{distance} {word} {token.base}")
        return {index: tuple(words) for index, words in reasons.items()}

    def _base(self, token: _Token) -> dict[int, str]:
        base = token.base
        first, dots, last = base.partition("..")
        if base.startswith("/"):
            problem = pattern_error(base)
            if problem:
                raise self._wrong(token.at + len(token.up), f"has a pattern that cannot be used ({problem})")
            return {index: f"matches {base}" for index, task in enumerate(self.tasks) if matches(base, task.id)}
        if dots:
            starts, ends = (self._named(word, token) for word in (first, last))
            after = {*starts, *_distances(self.study.after, starts, len(self.tasks))}
            before = {*ends, *_distances(self.study.before, ends, len(self.tasks))}
            return dict.fromkeys(after & before, f"between {first} and {last}")
        field, colon, value = base.partition(":")
        if colon and field in FIELDS:
            return dict.fromkeys(self._property(field, value, token), base)
        return dict.fromkeys(self._named(base, token), f"named {base}")

    def _named(self, name: str, token: _Token) -> list[int]:
        found = [index for index, task in enumerate(self.tasks) if task.id == name]
        if not found:
            raise self._unknown("task", name, [task.id for task in self.tasks], token)
        return found

    def _unknown(self, noun: str, name: str, known: Sequence[str], token: _Token) -> BadQuery:
        close = nearest(name, known)
        hint = f"Did you mean {close}?" if close else f"Known: {', '.join(known[:12])}."
        at = self.query.index(name, token.at) if name else token.at + len(token.up) + len(token.base)
        return self._wrong(at, f"names the {noun} {name!r}, which does not exist", hint)

    def _property(self, field: str, value: str, token: _Token) -> set[int]:
        if field == "role":
            by_role = tasks_of_roles(self.tasks, self.study.snapshot)
            return set(self._known(by_role, field, value, token))
        if field == "stage":
            return self._staged(value, token)
        by_value: dict[str, set[int]] = {}
        if field == "state":
            by_value = {state: set() for state in STATES}
        if field == "layer":
            by_value = {str(level): set() for level in Level}
        if field == "result":
            if self.results is None:
                raise self._wrong(
                    token.at,
                    "asks for the results of a run, and none is read",
                    "Leave it out, or use `fuel2 graph query`.",
                )
            by_value = {str(status): set() for status in InstanceStatus}
        for index, task in enumerate(self.tasks):
            for word in self._words(field, index, task):
                by_value.setdefault(word, set()).add(index)
        return self._known(by_value, field, value, token)

    def _known(self, by_value: Mapping[str, Iterable[int]], field: str, value: str, token: _Token) -> set[int]:
        if value not in by_value:
            raise self._unknown(field, value, sorted(by_value), token)
        return set(by_value[value])

    def _words(self, field: str, index: int, task: MergedTask) -> tuple[str, ...]:
        """Return the values of a property that a task has."""
        if field == "type":
            return (task.task.type,)
        if field == "result":
            return tuple((self.results or {}).get(task.id, ()))
        if field == "layer":
            return tuple({str(task.owner.level), task.owner.label, *([task.owner.name] if task.owner.name else [])})
        change = "overridden" if task.overrides else "unchanged" if task.owner.level is Level.RELEASE else "added"
        return (change,) if self.study.expansion.placement.nodes[index] else (change, "unplaced")

    def _staged(self, value: str, token: _Token) -> set[int]:
        """Return the tasks of a stage: those between its sync points, or those that state it with such a priority."""
        compared = _COMPARED.fullmatch(value)
        if compared is None:
            if self.study.cycles:
                problem = "asks for a stage, which follows from an order, and the graph has a cycle"
                raise self._wrong(
                    token.at, problem, f"stage:{value}/>-1000 needs none: it has the tasks that state it."
                )
            by_stage: dict[str, set[int]] = {}
            for index, row in zip(self.study.indices, self.study.rows, strict=True):
                if row.stage:
                    by_stage.setdefault(row.stage, set()).add(index)
            return self._known(by_stage, "stage", value, token)
        holds, number = _SIGNS[compared["sign"] or "="], parse_stage(f"x/{compared['number']}").priority
        staged = [(index, parse_stage(task.task.stage)) for index, task in enumerate(self.tasks) if task.task.stage]
        names = {stage.name for _, stage in staged}
        if compared["name"] not in names:
            raise self._unknown("stage", compared["name"], sorted(names), token)
        return {index for index, stage in staged if stage.name == compared["name"] and holds(stage.priority, number)}


def _distances(edges: Sequence[Iterable[int]], starts: Iterable[int], most: int) -> dict[int, int]:
    """Return the tasks that at most so many edges lead to from `starts`, without these, with their distance."""
    seen = dict.fromkeys(starts, 0)
    border, distance = list(seen), 0
    while border and distance < most:
        distance += 1
        border = [after for after in dict.fromkeys(n for vertex in border for n in edges[vertex]) if after not in seen]
        seen.update(dict.fromkeys(border, distance))
    return {vertex: far for vertex, far in seen.items() if far}
