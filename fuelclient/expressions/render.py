"""Tasks as a node runs them: expressions replaced by their values, words in braces by names of the environment."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fuelclient.expressions.conditions import YAQL, yaql_of
from fuelclient.expressions.facts import View
from fuelclient.expressions.failure import ExpressionError, quoted
from fuelclient.expressions.functions import UNDEFINED
from fuelclient.model.task import RELATION_LISTS, Relation, Task

RENDERED = ("type", "parameters", "fail_on_error", "requires", "required_for", *RELATION_LISTS)
"""The attributes that a run needs of a task instance; `id` and everything else stay as they are written."""

VERBATIM = "regex"
"""A key whose value is never formatted: braces mean something else in patterns."""

NAMES = ("CLUSTER_ID", "OPENSTACK_VERSION", "MASTER_IP", "CN_HOSTNAME", "SETTINGS")
_FIELD = re.compile(r"([A-Za-z]\w*)((?:\.[A-Za-z]\w*|\[[A-Za-z0-9]\w*\])*)")
_LONGEST_SPEC = 4


@dataclass(frozen=True, slots=True)
class Master:
    """What texts in braces can name of the master: its address, and settings that may be told to every task."""

    ip: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


class Words(Mapping[str, Any]):
    """The names that texts can use on one node, read from facts when they are asked for; one that the facts do not
    have is missing. Source: Nailgun `lcm.task_serializer`."""

    __slots__ = ("_master", "_view")

    def __init__(self, view: View, master: Master) -> None:
        self._view, self._master = view, master

    def __getitem__(self, name: str) -> Any:
        facts = self._view.new
        if name == "CLUSTER_ID":
            return facts["cluster"]["id"]
        if name == "OPENSTACK_VERSION":
            return facts["openstack_version"]
        if name == "CN_HOSTNAME":
            return facts["public_ssl"]["hostname"]
        if name == "MASTER_IP":
            return self._master.ip or facts["master_ip"]
        if name == "SETTINGS":
            return {"MASTER_IP": self["MASTER_IP"], **self._master.settings}
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


def formatted(text: str, words: Mapping[str, Any]) -> str:
    """`text` with every word in braces replaced, or as it is when one of them is no name that can be.

    `{{` and `}}` are single braces then. Below a name only keys of mappings can be reached (`{SETTINGS.MASTER_IP}`),
    never attributes of values.

    >>> formatted("/etc/{CLUSTER_ID}/astute.yaml", {"CLUSTER_ID": 1})
    '/etc/1/astute.yaml'
    >>> formatted("cat /etc/astute.yaml | awk '{ print $1 }'", {"CLUSTER_ID": 1})
    "cat /etc/astute.yaml | awk '{ print $1 }'"
    """
    if "{" not in text and "}" not in text:
        return text
    try:
        return "".join(_pieces(text, words))
    except (LookupError, ValueError, TypeError, OverflowError):
        return text


def _pieces(text: str, words: Mapping[str, Any]) -> Iterator[str]:
    for literal, name, spec, conversion in string.Formatter().parse(text):
        yield literal
        if name is None:
            continue
        if conversion not in (None, "s") or len(spec or "") > _LONGEST_SPEC:
            raise ValueError(name)
        value = _named(name, words)
        yield format(str(value) if conversion else value, spec or "")


def _named(name: str, words: Mapping[str, Any]) -> str | int | float:
    match = _FIELD.fullmatch(name)
    if not match:
        raise KeyError(name)
    value = words[match[1]]
    for key in re.findall(r"\w+", match[2]):
        if not isinstance(value, Mapping):
            raise KeyError(name)
        value = value[key]
    if not isinstance(value, str | int | float):
        raise TypeError(name)
    return value


def render(attributes: Mapping[str, Any], view: View, master: Master) -> dict[str, Any]:
    """The attributes of a task that a run needs (`RENDERED`), as they are on the node of `view`.

    `{yaql_exp: ...}` is replaced by its value wherever it stands, other texts are formatted; `parameters.cwd` is
    `/` and `fail_on_error` true where nothing else is stated. Nodes on which everything is alike share one result,
    and a result may contain parts of the facts: nobody may change it.

    Raises `ExpressionError` for an expression that cannot be read or has no value.
    """
    key = ("render", id(attributes), id(master))
    rendered, *_ = view.once(key, lambda: (_rendered(attributes, view, master), attributes, master))
    return rendered  # what is kept holds what its key names by id


def _rendered(attributes: Mapping[str, Any], view: View, master: Master) -> dict[str, Any]:
    words = Words(view, master)
    rendered = {name: traversed(attributes[name], view, words) for name in RENDERED if name in attributes}
    rendered["parameters"] = {**(rendered.get("parameters") or {})}
    rendered["parameters"].setdefault("cwd", "/")
    rendered.setdefault("fail_on_error", True)
    return rendered


def traversed(value: Any, view: View, words: Mapping[str, Any]) -> Any:
    """`value` with its expressions evaluated and its texts formatted."""
    if isinstance(value, str):
        return formatted(value, words)
    if isinstance(value, Mapping):
        if YAQL in value:
            return _defined(value, view)
        return {key: below if key == VERBATIM else traversed(below, view, words) for key, below in value.items()}
    if isinstance(value, list | tuple):
        return [traversed(below, view, words) for below in value]
    return value


def _defined(value: Mapping[str, Any], view: View) -> Any:
    yaql = yaql_of(value)
    found = yaql.value(view)
    if found is UNDEFINED:
        message = f"The YAQL expression {quoted(yaql.text)} has no value: there is nothing old to read."
        raise ExpressionError(message, yaql.text, hint="Ask with .isUndef() first.")
    return found


def computed_relations(task: Task, view: View, master: Master) -> tuple[tuple[str, Relation], ...]:
    """The dependencies that expressions state on the node of `view`, each with its attribute; those that need no
    facts are left out (`Task.names` and `Task.relations` have them).

    Raises `ExpressionError` when an expression fails or gives something else than names, or than entries with a
    name and roles.
    """
    words = Words(view, master)
    found: list[tuple[str, Relation]] = []
    for attribute in ("requires", "required_for"):
        for stated in _entries(task.attributes.get(attribute)):
            if isinstance(stated, Mapping) and YAQL in stated:
                found += ((attribute, Relation(name)) for name in _names(traversed(stated, view, words), stated))
    for attribute in RELATION_LISTS:
        for stated in _entries(task.attributes.get(attribute)):
            if _is_computed(stated):
                value = traversed(stated, view, words)
                found += ((attribute, relation) for relation in _relations(value, stated))
    return tuple(dict.fromkeys(found))


def _entries(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_computed(entry: Any) -> bool:
    return isinstance(entry, Mapping) and (
        YAQL in entry or any(isinstance(value, Mapping) and YAQL in value for value in entry.values())
    )


def _names(value: Any, stated: Mapping[str, Any]) -> Iterator[str]:
    for name in _entries(value):
        if name is None:
            continue
        if not isinstance(name, str):
            raise _unfit(stated, "names of tasks are needed")
        yield name


def _relations(value: Any, stated: Mapping[str, Any]) -> Iterator[Relation]:
    for entry in _entries(value):
        if not entry:
            continue
        named = isinstance(entry, Mapping) and isinstance(entry.get("name"), str)
        roles = (entry.get("tags"), entry.get("role")) if named else ()
        if not named or not all(role is None or isinstance(role, str | list) for role in roles):
            raise _unfit(stated, "entries with a name, and a role, are needed")
        yield from Task("", {"cross_depends": [entry]}).relations("cross_depends")


def _unfit(stated: Mapping[str, Any], needed: str) -> ExpressionError:
    text = str(stated.get(YAQL) or stated)
    return ExpressionError(
        f"A dependency is computed by {quoted(text)}, which gives something else.", text, hint=f"Here {needed}."
    )
