"""Facts: what expressions read of an environment and its nodes, now and after earlier runs.

The common part is stored once, each node's part apart. An expression sees their union through a view that copies
nothing and remembers whether anything was read that can differ between nodes; what was not, is computed once for
all nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from fuelclient.errors import InvalidDocument

Shape: TypeAlias = "Mapping[Any, Shape | None]"
Found = TypeVar("Found")

_EVERYWHERE: Mapping[Any, Any] = {}
_MISSING = object()


def uid_of(node: int | str | None) -> str:
    """The key of a node in facts; the sync points, which are on no node, are "null".

    >>> uid_of(3), uid_of("master"), uid_of(None)
    ('3', 'master', 'null')
    """
    return "null" if node is None else str(node)


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """The facts of one moment: a common part, and by uid ("1", "master", "null") what each node adds or overrides.

    The parts must not change as long as anything refers to the facts. Raises `InvalidDocument` where the common
    part, or that of a node, is no mapping.
    """

    common: Mapping[str, Any]
    nodes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    shape: Shape = field(init=False, repr=False)
    settled: frozenset[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _mapping("The common facts", self.common)
        for uid, part in self.nodes.items():
            _mapping(f"The facts of node {uid}", part)
        object.__setattr__(self, "shape", _shape(self.common, self.nodes.values()))
        ids = {id(value) for value in _containers(self.common, depth=3)}
        for part in self.nodes.values():
            ids.update(id(value) for value in _containers(part, depth=1))
        object.__setattr__(self, "settled", frozenset(ids))


def _mapping(name: str, part: object) -> None:
    if not isinstance(part, Mapping):
        raise InvalidDocument(f"{name} are no mapping.", hint="Facts are names with values, in YAML or JSON.")


def _shape(common: Mapping[Any, Any], parts: Iterable[Mapping[Any, Any]]) -> Shape:
    """The keys that at least one node has, and below those that are mappings in all of them and in the common part,
    again the keys that a node has. Every other key is the same, or missing, for all nodes."""
    values: dict[Any, list[Any]] = {}
    for part in parts:
        for key, value in part.items():
            values.setdefault(key, []).append(value)
    shape: dict[Any, Shape | None] = {}
    for key, found in values.items():
        merged = isinstance(common.get(key), Mapping) and all(isinstance(value, Mapping) for value in found)
        shape[key] = _shape(common[key], found) if merged else None
    return shape


def _containers(value: Any, depth: int) -> Iterator[Any]:
    """The mappings and lists of stored facts, to a depth; they hold nothing that would have to be converted."""
    if isinstance(value, dict | list):
        yield value
        for below in (value.values() if isinstance(value, dict) else value) if depth else ():
            yield from _containers(below, depth - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Past:
    """What each task saw when it last succeeded on each node.

    `last` maps (task id, uid) to a key of `moments`. `forgotten` are the uids of nodes that are deployed anew:
    nothing is old there. Source: Nailgun `TransactionsManager`, which leaves out nodes that wait for addition,
    have an error, or are discovered, provisioned or stopped.
    """

    moments: Mapping[Hashable, Facts]
    last: Mapping[tuple[str, str], Hashable]
    forgotten: Container[str] = ()

    def moment(self, task: str, uid: str) -> Hashable | None:
        """The moment of the last success, or None where there is none or it knows nothing of the node."""
        moment = self.last.get((task, uid))
        if moment is None or uid in self.forgotten or not self.moments[moment].nodes.get(uid):
            return None
        return moment


NO_PAST = Past({}, {})


@dataclass(slots=True)
class Reads:
    """Whether anything that can differ between nodes was read since `node` was last reset."""

    node: bool = False
    same: dict[tuple[int, int], bool] = field(default_factory=dict)

    def equal(self, one: Mapping[Any, Any], other: Mapping[Any, Any]) -> bool:
        """Whether two stored common parts are equal; compared once, since it takes as long as they are large."""
        pair = (id(one), id(other))
        if pair not in self.same:
            self.same[pair] = one is other or one == other
        return self.same[pair]


class Union(Mapping[Any, Any]):
    """The common part overridden by one node's: mappings merge, everything else replaces.

    It says to `reads` when a key is read that some node has. Below a key that is a mapping everywhere the same
    rule holds for its keys. The view equals a mapping with the same items.
    """

    __slots__ = ("_common", "_node", "_reads", "_shape")

    def __init__(self, common: Mapping[Any, Any], node: Mapping[Any, Any], shape: Shape | None, reads: Reads) -> None:
        self._common, self._node, self._shape, self._reads = common, node, shape, reads

    def __getitem__(self, key: Any) -> Any:
        shape = self._shape
        below: Shape | None = None
        if shape is not None:
            if key not in shape:
                return self._common[key]
            below = shape[key]
            if below is None:
                self._reads.node = True
        if key not in self._node:
            value = self._common[key]
            return value if below is None else Union(value, _EVERYWHERE, below, self._reads)
        value, base = self._node[key], self._common.get(key)
        if isinstance(value, Mapping) and isinstance(base, Mapping):
            return Union(base, value, below, self._reads)
        return value

    def __contains__(self, key: object) -> bool:
        if key in self._common:
            return True
        if self._shape is None or key in self._shape:
            self._reads.node = True
        return key in self._node

    def __iter__(self) -> Iterator[Any]:
        self._reads.node = True
        yield from self._common
        yield from (key for key in self._node if key not in self._common)

    def __len__(self) -> int:
        self._reads.node = True
        return len(self._common) + sum(key not in self._common for key in self._node)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Union):
            self._reads.node = True
            if self._reads.equal(self._common, other._common) and self._node == other._node:
                return True
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # as that of a dictionary

    def __repr__(self) -> str:
        """Short and without values: libraries put it into messages, and facts hold passwords."""
        return "<facts>"


class View:
    """What expressions of one task see on one node: `$` now (`new`) and at the last success (`old`, empty when
    there is none), `$node`, `$common`. `context` is a place for what an engine prepares once for the view."""

    __slots__ = ("common", "context", "moment", "new", "node", "old", "settled", "uid", "views")

    def __init__(self, views: Views, uid: str, moment: Hashable | None) -> None:
        facts, reads = views.facts, views.reads
        part = facts.nodes.get(uid, _EVERYWHERE)
        self.views, self.uid, self.moment = views, uid, moment
        self.common = facts.common
        self.node = Union(_EVERYWHERE, part, dict.fromkeys(facts.shape), reads)
        self.new = Union(facts.common, part, facts.shape, reads)
        self.old: Mapping[Any, Any] = {}
        self.settled: tuple[frozenset[int], ...] = (facts.settled,)
        self.context: Any = None
        if moment is not None:
            past = views.past.moments[moment]
            self.old = Union(past.common, past.nodes[uid], past.shape, reads)
            self.settled = (facts.settled, past.settled)

    def is_settled(self, value: object) -> bool:
        """Whether `value` is a part of the facts as they are stored: plain data all through."""
        return any(id(value) in known for known in self.settled)

    def once(self, key: Hashable, compute: Callable[[], Found], keep: Callable[[Found], bool] | None = None) -> Found:
        """The value of `compute`, computed anew only where it could differ from what was computed before.

        `key` has to name the computation completely, but for what it reads through this view. A value is kept
        for all nodes with the same old moment when nothing of one node was read, else for this node only, and
        not at all when `keep` says so. An error is raised again each time.
        """
        views = self.views
        if not views.memoise:
            return compute()
        everywhere = (key, self.moment)
        found = views.shared.get(everywhere, _MISSING)
        if found is not _MISSING:
            return found  # type: ignore[no-any-return]  # what `compute` of the same key gave
        found = views.own.get(everywhere, _MISSING)
        if found is not _MISSING:
            views.reads.node = True
            return found  # type: ignore[no-any-return]  # what `compute` of the same key gave
        before, views.reads.node = views.reads.node, False
        try:
            value = compute()
        finally:
            touched = views.reads.node
            views.reads.node = before or touched
        if keep is None or keep(value):
            (views.own if touched else views.shared)[everywhere] = value
        return value


class Views:
    """The views of one run, with everything that its expressions gave so far.

    Ask for the views node by node: what is kept for one node is dropped when another one's view is asked for.
    With `memoise=False` everything is computed each time. Values are shared: nobody may change them. Not for
    several threads.
    """

    def __init__(self, facts: Facts, past: Past = NO_PAST, *, memoise: bool = True) -> None:
        self.facts, self.past, self.memoise = facts, past, memoise
        self.reads = Reads()
        self.shared: dict[Hashable, Any] = {}
        self.own: dict[Hashable, Any] = {}
        self._uid = ""
        self._views: dict[Hashable | None, View] = {}

    def at(self, task: str, node: int | str | None) -> View:
        """The view of a task (by id) on a node."""
        uid = uid_of(node)
        if uid != self._uid:
            self._uid, self._views, self.own = uid, {}, {}
        moment = self.past.moment(task, uid)
        if moment not in self._views:
            self._views[moment] = View(self, uid, moment)
        return self._views[moment]
