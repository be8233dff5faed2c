"""Tasks: the records of a deployment graph, as their authors wrote them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

from fuelclient.model.finding import Place


class TaskType(StrEnum):
    """The types that Nailgun stores, followed by those that only its orchestrator has."""

    PUPPET = "puppet"
    SHELL = "shell"
    SYNC = "sync"
    UPLOAD_FILE = "upload_file"
    GROUP = "group"
    STAGE = "stage"
    SKIPPED = "skipped"
    REBOOT = "reboot"
    COPY_FILES = "copy_files"
    ROLE = "role"
    MASTER_SHELL = "master_shell"
    MOVE_TO_BOOTSTRAP = "move_to_bootstrap"
    ERASE_NODE = "erase_node"
    UPLOAD_FILES = "upload_files"
    COBBLER_SYNC = "cobbler_sync"
    NOOP = "noop"


ORCHESTRATOR_TYPES = frozenset({TaskType.UPLOAD_FILES, TaskType.COBBLER_SYNC, TaskType.NOOP})
"""Types that only the orchestrator has: Nailgun stores no tasks of them."""

DEFAULT_VERSION = "1.0.0"
"""The version of a task that has none: the default of Nailgun's column."""

NAME_LISTS = ("groups", "tasks", "roles", "tags", "reexecute_on", "refresh_on", "required_for", "requires")
"""Attributes with a list of names; a string stands for a list of one."""

RELATION_LISTS = ("cross_depends", "cross_depended_by")
"""Attributes with dependencies on tasks of other nodes."""

DEPENDENCIES = ("requires", "required_for", *RELATION_LISTS)
"""Attributes with dependencies, which expressions can compute."""

NOT_OF_LEGACY = frozenset({*NAME_LISTS, *RELATION_LISTS} - {"roles"})
"""Attributes that name other tasks or nodes, and have no effect in a legacy entry. Source: Nailgun, which reads its
type, role, parameters, condition and stage."""

COLUMNS = (
    "version", "type", "condition", "groups", "tasks", "roles", "reexecute_on", "refresh_on", "required_for",
    "requires", "cross_depended_by", "cross_depends", "parameters",
)  # fmt: skip
"""Attributes that Nailgun's data model has by name; all others are custom and kept as they are."""

KNOWN = (*COLUMNS, "id", "stage", "tags", "fault_tolerance", "fail_on_error", "skipped", "test_pre", "test_post")
"""Attributes that Fuel uses; a key that merely looks like one of them is probably a typo."""


def tolerance_from(value: object) -> tuple[int, bool] | None:
    """The number in the fault tolerance of a group, and whether it is a percentage; None if it cannot be read.

    Source: Nailgun `lcm.transaction_serializer`.

    >>> tolerance_from(" -10% "), tolerance_from(2), tolerance_from("two")
    ((-10, True), (2, False), None)
    """
    text = value.strip() if isinstance(value, str) else value
    try:
        if isinstance(text, str) and text.endswith("%"):
            return int(text[:-1]), True
        return (int(text), False) if isinstance(text, str | int | float) else None
    except (ValueError, OverflowError):
        return None


@dataclass(frozen=True, slots=True)
class Source:
    """Where a task was written: its file, its first line, and the line of every attribute.

    The keys of `lines` are attributes, and dotted paths below mappings (`parameters.timeout`). Lines count from 1; a
    task that does not come from a file has an empty `file` and line 0. `lone` are the attributes that were written as
    one name instead of a list.
    """

    file: str = ""
    line: int = 0
    lines: Mapping[str, int] = field(default_factory=dict)
    lone: frozenset[str] = field(default=frozenset(), compare=False)

    def place(self, attribute: str = "") -> Place:
        """The place of `attribute`, or of the task if the line of the attribute is not known."""
        line = self.lines.get(attribute, 0) or self.lines.get(attribute.partition(".")[0], 0) or self.line
        return Place(self.file, line)


NOWHERE = Source()


@dataclass(frozen=True, slots=True)
class Expression:
    """A YAQL expression in place of a value (`{yaql_exp: ...}`)."""

    yaql: str


@dataclass(frozen=True, slots=True)
class Relation:
    """One entry of `cross_depends` or `cross_depended_by`.

    `roles` selects the other nodes: a tuple of names and patterns, `"self"` for the same node, None for the sync
    points, or an expression. The default is every node (`"*"`).
    """

    name: str | Expression
    roles: tuple[str, ...] | str | Expression | None = "*"
    policy: str = "all"


@dataclass(frozen=True, slots=True)
class Task:
    """A task definition: an id and the attributes that its author wrote, in that order.

    `attributes` has canonical names (`roles` and `cross_depends`, never `role` or `cross-depends`) and values of plain
    JSON types. Attributes that were not written are absent, so falsy values keep their meaning. A record without `type`
    is a partial override. `legacy` marks an entry of a plugin's `tasks.yaml`; most get their id from their place.
    `joins` marks a group whose relations order the old tasks of its role, after the tasks of other groups.
    """

    id: str
    attributes: Mapping[str, Any]
    source: Source = NOWHERE
    legacy: bool = False
    joins: bool = field(default=False, compare=False)

    def place(self, attribute: str = "") -> Place:
        return self.source.place(attribute)

    @property
    def type(self) -> str:
        """The task's type, or an empty string for a partial override."""
        return str(self.attributes.get("type") or "")

    @property
    def is_partial(self) -> bool:
        return not self.attributes.get("type")

    @property
    def version(self) -> str:
        return str(self.attributes.get("version") or DEFAULT_VERSION)

    @property
    def stage(self) -> str:
        """The stage with its postfix; empty from version 2.0.0 on, when stages no longer order tasks."""
        stage = self.attributes.get("stage")
        return "" if stage is None or self.version_tuple >= (2, 0, 0) else str(stage)

    @property
    def version_tuple(self) -> tuple[int, ...]:
        """The version as numbers; a part that is not a number counts as 0."""
        return _numbers(self.version)

    @property
    def follows_stage(self) -> bool:
        """Whether the task is ordered by its stage alone, as a legacy entry below version 2.0.0 is."""
        return self.legacy and bool(self.stage)

    @property
    def ignored(self) -> tuple[str, ...]:
        """The attributes that name other tasks or nodes, and have no effect because the task follows its stage.

        >>> Task("a", {"stage": "post_deployment", "roles": ["x"], "requires": ["b"]}, legacy=True).ignored
        ('requires',)
        """
        return tuple(key for key in self.attributes if key in NOT_OF_LEGACY) if self.follows_stage else ()

    def _effective(self, attribute: str) -> Any:
        value = self.attributes.get(attribute)
        return None if self.legacy and attribute in NOT_OF_LEGACY and self.follows_stage else value

    @property
    def condition(self) -> Any:
        """The condition, or None. An empty text, list or mapping counts as no condition, unlike `false`.

        >>> [Task("a", {"condition": given}).condition for given in (" ", {}, False, "1")]
        [None, None, False, '1']
        """
        given = self.attributes.get("condition")
        if isinstance(given, str):
            return given if given.strip() else None
        return None if isinstance(given, list | Mapping) and not given else given

    def names(self, attribute: str) -> tuple[str, ...]:
        """The plain names in a list attribute, without expressions (see `has_expressions`)."""
        value = self._effective(attribute) if attribute in self.attributes else None  # most are absent
        if isinstance(value, list):
            return tuple([item for item in value if isinstance(item, str)])
        return (value,) if isinstance(value, str) else ()

    def has_expressions(self, attribute: str) -> bool:
        """Whether an attribute that names other tasks or nodes has YAQL expressions."""
        value = self._effective(attribute)
        return any(
            isinstance(item, dict) and "yaql_exp" in item for item in (value if isinstance(value, list) else [value])
        )

    @property
    def placement(self) -> tuple[str, tuple[str, ...]]:
        """The attribute that places the task, with its names: tags, or else roles, or else groups."""
        for attribute in filter(self.attributes.__contains__, ("tags", "roles", "groups")):
            if names := self.names(attribute):
                return attribute, names
        return "", ()

    @property
    def is_placed_by_star(self) -> bool:
        """Whether a lone `*` places the task, in an attribute in which that means no node.

        Storage unwraps a list of `*` in `roles` alone. Source: Nailgun `objects.deployment_graph`, `utils.resolvers`.

        >>> [Task("a", {key: ["*"]}).is_placed_by_star for key in ("roles", "groups", "tags")]
        [False, True, True]
        """
        attribute, names = self.placement
        return names == ("*",) and attribute != "roles" and self.attributes[attribute] != "*"

    def relations(self, attribute: str) -> Iterator[Relation]:
        """Yield the entries of `cross_depends` or `cross_depended_by`, except those that are expressions."""
        if attribute not in self.attributes:  # as most are
            return iter(())
        value = self._effective(attribute)
        given = (item for item in (value if isinstance(value, list) else []) if isinstance(item, dict) and item)
        return (_relation(item) for item in given if "yaql_exp" not in item)

    def computed_attributes(self) -> Iterator[str]:
        """Yield the attributes in which expressions compute dependencies.

        >>> task = Task("a", {"requires": [{"yaql_exp": "$.x"}], "cross_depends": [{"name": "b"}]})
        >>> list(task.computed_attributes())
        ['requires']
        """
        for attribute in filter(self.attributes.__contains__, DEPENDENCIES):
            relations = self.relations(attribute) if attribute in RELATION_LISTS else ()
            if self.has_expressions(attribute) or any(
                not isinstance(relation.name, str) or not isinstance(relation.roles, str | tuple | None)
                for relation in relations
            ):
                yield attribute


@lru_cache(maxsize=64)
def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))


def _relation(item: Mapping[str, Any]) -> Relation:
    roles = item.get("tags") or item.get("role", "*")
    if isinstance(roles, dict):
        roles = Expression(str(roles.get("yaql_exp", "")))
    elif isinstance(roles, list):
        roles = tuple(str(role) for role in roles)
    elif roles is not None:
        roles = str(roles)
    name = item.get("name")
    return Relation(
        name=Expression(str(name.get("yaql_exp", ""))) if isinstance(name, dict) else str(name),
        roles=roles,
        policy=str(item.get("policy") or "all"),
    )
