"""The facts of an environment and its nodes that expressions read, as they are now and as they were in earlier runs.

The common part is stored once, and each node's part separately. An expression sees their union through a view, which
copies nothing and records whether anything was read that can differ between nodes. If nothing was, the value is
computed once for all nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from fuelclient.errors import InvalidDocument
from fuelclient.grouping import grouped
from fuelclient.model.run import uid_of

Shape: TypeAlias = "Mapping[Any, Shape | None]"
Path: TypeAlias = tuple[Any, ...]
"""A key and those above it, after the name of the view's mapping: `("new", "roles")`."""
T = TypeVar("T")

_EVERYWHERE: Mapping[Any, Any] = {}
_MISSING = object()


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """The facts of one moment: a common part and, by uid ("1", "master", "null"), what each node adds or overrides.

    The parts must not change while anything refers to the facts. Raise `InvalidDocument` if a part is not a mapping.
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
        raise InvalidDocument(f"{name} are not a mapping.", hint="Write names with values, in YAML or JSON.")


def _shape(common: Mapping[Any, Any], parts: Iterable[Mapping[Any, Any]]) -> Shape:
    """The keys that differ between nodes: those that at least one node has. Every other key is the same, or missing,
    for all nodes. Below keys that are mappings in all nodes and the common part, the same holds again."""
    shape: dict[Any, Shape | None] = {}
    for key, stated in grouped(item for part in parts for item in part.items()).items():
        merged = isinstance(common.get(key), Mapping) and all(isinstance(value, Mapping) for value in stated)
        shape[key] = _shape(common[key], stated) if merged else None
    return shape


def _containers(value: Any, depth: int) -> Iterator[Any]:
    """Yield the mappings and lists of stored facts down to a depth. They are plain data and need no conversion."""
    if isinstance(value, dict | list):
        yield value
        for below in (value.values() if isinstance(value, dict) else value) if depth else ():
            yield from _containers(below, depth - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Past:
    """The facts that each task saw when it last succeeded on each node.

    `last` maps (task id, uid) to a key of `moments`. `forgotten` are the uids of nodes that are deployed anew and have
    no old facts. Source: Nailgun `TransactionsManager`, which leaves out nodes that wait for addition, have an error,
    or are discovered, provisioned or stopped.
    """

    moments: Mapping[Hashable, Facts]
    last: Mapping[tuple[str, str], Hashable]
    forgotten: Container[str] = ()

    def moment(self, task: str, uid: str) -> Hashable | None:
        """The moment of the last success; None if the task never succeeded, or the node had no facts then."""
        moment = self.last.get((task, uid))
        if moment is None or uid in self.forgotten or not self.moments[moment].nodes.get(uid):
            return None
        return moment


NO_PAST = Past({}, {})


class Reads:
    """What was read that can differ between nodes, since this was last reset.

    `node` says whether anything was. `seen` has each value that was read, by the path of its key, as long as those are
    all: `is_traced` is false once a whole mapping, or a large value, was read.
    """

    __slots__ = ("_same", "is_traced", "node", "seen")

    def __init__(self) -> None:
        self._same: dict[tuple[int, int], bool] = {}
        self.reset()

    def reset(self) -> None:
        """Forget what was read."""
        self.node, self.is_traced, self.seen = False, True, dict[Path, Hashable]()

    def mark(self) -> None:
        """Note that something was read that no value represents, so that other nodes cannot be compared by it."""
        self.node, self.is_traced = True, False

    def note(self, path: Path, value: object) -> None:
        """Note that the part of a node was read at a path, and had this value there."""
        self.node = True
        if self.is_traced:
            if (known := _comparable(value)) is None:
                self.is_traced = False
            else:
                self.seen[path] = known

    def equal(self, left: Mapping[Any, Any], right: Mapping[Any, Any]) -> bool:
        """Whether two stored common parts are equal. They are large, so each pair is compared only once."""
        pair = (id(left), id(right))
        if pair not in self._same:
            self._same[pair] = left is right or left == right
        return self._same[pair]


_FEW = 32
"""How many items of a list are compared to find nodes that are alike."""


def _comparable(value: object) -> Hashable | None:
    """What equals only what is the same for every expression; None for a value that is too large.

    >>> _comparable(1) == _comparable(True), _comparable(["a"]) == _comparable(["a"]), _comparable({})
    (False, True, None)
    """
    if isinstance(value, float):
        return float, repr(value)  # 0.0 and -0.0 are equal, but not the same
    if value is None or isinstance(value, str | int) or value is _MISSING:
        return type(value), value
    if isinstance(value, list | tuple) and len(value) <= _FEW:
        items = tuple(map(_comparable, value))
        return None if None in items else (type(value), items)
    return None


class Union(Mapping[Any, Any]):
    """The common part overridden by one node's: mappings merge, everything else replaces.

    It records in `reads` whether a key was read that some node has (see `_shape`). It equals a mapping with the same
    items.
    """

    __slots__ = ("_common", "_node", "_path", "_reads", "_shape")

    def __init__(
        self, common: Mapping[Any, Any], node: Mapping[Any, Any], shape: Shape | None, reads: Reads, path: Path = ()
    ) -> None:
        self._common, self._node, self._shape, self._reads, self._path = common, node, shape, reads, path

    def __getitem__(self, key: Any) -> Any:
        shape = self._shape
        below: Shape | None = None
        if shape is not None:
            if key not in shape:
                return self._common[key]
            below = shape[key]
            if below is None:
                self._reads.note((*self._path, key), self._node.get(key, _MISSING))
        if key not in self._node:
            value = self._common[key]
            return value if below is None else Union(value, _EVERYWHERE, below, self._reads, (*self._path, key))
        value, base = self._node[key], self._common.get(key)
        if isinstance(value, Mapping) and isinstance(base, Mapping):
            return Union(base, value, below, self._reads, (*self._path, key))
        return value

    def __contains__(self, key: object) -> bool:
        if key in self._common:
            return True
        if self._shape is None or key in self._shape:
            self._reads.mark()
        return key in self._node

    def __iter__(self) -> Iterator[Any]:
        self._reads.mark()
        yield from self._common
        yield from (key for key in self._node if key not in self._common)

    def __len__(self) -> int:
        self._reads.mark()
        return len(self._common) + sum(key not in self._common for key in self._node)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Union):
            self._reads.mark()
            if self._reads.equal(self._common, other._common) and self._node == other._node:
                return True
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # as that of a dictionary

    def stated(self, keys: Path) -> object:
        """What the node's part has at a path, without recording that it was read."""
        part: Any = self._node
        for key in keys:
            part = part.get(key, _MISSING) if isinstance(part, Mapping) else _MISSING
        return part

    def parts(self) -> Iterable[Mapping[Any, Any]]:
        """What this is made of, without recording that it was read."""
        return (self._common, self._node)

    def __repr__(self) -> str:
        """No values: libraries put this into messages, and facts contain passwords."""
        return "<facts>"


class View:
    """What expressions of one task see on one node: `$` as it is now (`new`) and as it was at the last success (`old`,
    empty if the task never succeeded), `$node`, and `$common`."""

    __slots__ = ("_known", "common", "moment", "new", "node", "old", "settled", "uid", "views")

    def __init__(self, views: Views, uid: str, moment: Hashable | None) -> None:
        facts, reads = views.facts, views.reads
        part = facts.nodes.get(uid, _EVERYWHERE)
        self.views, self.uid, self.moment = views, uid, moment
        self.common = facts.common
        self.node = Union(_EVERYWHERE, part, dict.fromkeys(facts.shape), reads, ("node",))
        self.new = Union(facts.common, part, facts.shape, reads, ("new",))
        self.old: Mapping[Any, Any] = {}
        self.settled: tuple[frozenset[int], ...] = (facts.settled,)
        self._known: dict[Path, Hashable | None] = {}
        if moment is not None:
            past = views.past.moments[moment]
            self.old = Union(past.common, past.nodes[uid], past.shape, reads, ("old",))
            self.settled = (facts.settled, past.settled)

    def is_settled(self, value: object) -> bool:
        """Whether `value` is a part of the stored facts, and so plain data throughout."""
        return any(id(value) in known for known in self.settled)

    def once(self, key: Hashable, compute: Callable[[], T], keep: Callable[[T], bool] | None = None) -> T:
        """The value of `compute`, which is called only if its value could differ from an earlier one.

        `key` has to identify the computation completely, except for what it reads through this view. If nothing was
        read that differs between nodes, the value is kept for all nodes with the same old moment; if all that was read
        is traced, for those of them on which it is the same; otherwise for this node only. It is not kept at all if
        `keep` returns false. Errors are not kept.
        """
        views = self.views
        if not views.memoise:
            return compute()
        everywhere = (key, self.moment)
        if (known := self._kept(everywhere)) is not _MISSING:
            return known  # type: ignore[no-any-return]  # what `compute` of the same key returned
        reads = views.reads
        before = reads.node, reads.is_traced, reads.seen
        reads.reset()
        try:
            value = compute()
        finally:
            touched, is_traced, seen = reads.node, reads.is_traced, reads.seen
            reads.node, reads.is_traced, reads.seen = before[0] or touched, before[1] and is_traced, before[2]
            reads.seen.update(seen)
        if keep is None or keep(value):
            if not touched:
                views.shared[everywhere] = value
            else:
                views.own[everywhere] = (is_traced, seen, value)
                if is_traced and (alike := views.alike.setdefault(everywhere, Alike())).is_worth_it:
                    alike.add(seen, value)
        return value

    def _kept(self, everywhere: tuple[Hashable, Hashable]) -> Any:
        """The value that was kept for all nodes, for this one, or for one on which all that was read is the same."""
        views = self.views
        if everywhere in views.shared:
            return views.shared[everywhere]
        if (own := views.own.get(everywhere)) is not None:
            is_traced, seen, value = own
        else:
            alike = views.alike.get(everywhere)
            found = alike.find(self.known) if alike is not None and alike.is_worth_it else None
            if found is None:
                return _MISSING
            is_traced, (seen, value) = True, found
        reads = views.reads
        reads.node, reads.is_traced = True, reads.is_traced and is_traced
        reads.seen.update(seen)
        return value

    def known(self, path: Path) -> Hashable | None:
        """The comparable value of the node's part at a path, as `Reads.seen` has it."""
        if path not in self._known:
            root, *keys = path
            union = {"new": self.new, "node": self.node, "old": self.old}[root]
            self._known[path] = _comparable(union.stated(tuple(keys))) if isinstance(union, Union) else None
        return self._known[path]


class Alike:
    """Values of one computation, by all that they were computed from.

    It is given up once it has many values and few of them were used again: what differs on each node is only kept.
    """

    __slots__ = ("_size", "_used", "_values")

    def __init__(self) -> None:
        self._values: dict[tuple[Path, ...], dict[tuple[Hashable, ...], tuple[Mapping[Path, Hashable], Any]]] = {}
        self._size = self._used = 0

    @property
    def is_worth_it(self) -> bool:
        return self._size <= max(_FEW, self._used)

    def find(self, known: Callable[[Path], Hashable | None]) -> tuple[Mapping[Path, Hashable], Any] | None:
        """What was read, and the value, for a node whose facts `known` returns by their paths."""
        for paths, values in self._values.items():
            if (found := values.get(tuple(map(known, paths)))) is not None:
                self._used += 1
                return found
        return None

    def add(self, seen: Mapping[Path, Hashable], value: Any) -> None:
        self._size += 1
        self._values.setdefault(tuple(seen), {})[tuple(seen.values())] = (seen, value)
        if not self.is_worth_it:
            self._values.clear()


class Views:
    """The views of one run, with the values of its expressions so far.

    Go through the nodes one by one: values that belong to one node are dropped when the view of another node is taken.
    `alike` has values for those nodes on which all that they were computed from is the same.
    With `memoise=False` everything is computed each time. Values are shared and must not be changed. Not thread-safe.
    `computed` is how many seconds child processes have taken for expressions, and `waited` how many these had to wait.
    """

    def __init__(self, facts: Facts, past: Past = NO_PAST, *, memoise: bool = True) -> None:
        self.facts, self.past, self.memoise = facts, past, memoise
        self.reads = Reads()
        self.shared: dict[Hashable, Any] = {}
        self.own: dict[Hashable, tuple[bool, Mapping[Path, Hashable], Any]] = {}
        self.alike: dict[Hashable, Alike] = {}
        self.computed = self.waited = 0.0
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
