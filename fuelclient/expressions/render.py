"""Render tasks as a node runs them: with the values of expressions, and of words in braces (`{CLUSTER_ID}`)."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fuelclient.expressions.errors import ExpressionError, quoted
from fuelclient.expressions.facts import View
from fuelclient.expressions.functions import UNDEFINED
from fuelclient.expressions.yaql_engine import YAQL, yaql_of
from fuelclient.model.task import DEPENDENCIES, RELATION_LISTS, Relation, Task

RENDERED = ("type", "parameters", "fail_on_error", *DEPENDENCIES)
"""The attributes of a task that a run needs; all others stay as they are written."""

VERBATIM = "regex"
"""A key whose value is never formatted, because braces mean something else in patterns."""

_FIELD = re.compile(r"([A-Za-z]\w*)((?:\.[A-Za-z]\w*|\[[A-Za-z0-9]\w*\])*)")
_LONGEST_SPEC = 4


@dataclass(frozen=True, slots=True)
class Master:
    """What words in braces can name of the master: its address, and settings that every task may know."""

    ip: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


def _address(facts: Mapping[Any, Any], master: Master) -> Any:
    return master.ip or facts["master_ip"]


_WORDS: Mapping[str, Callable[[Mapping[Any, Any], Master], Any]] = {
    "CLUSTER_ID": lambda facts, _: facts["cluster"]["id"],
    "OPENSTACK_VERSION": lambda facts, _: facts["openstack_version"],
    "MASTER_IP": _address,
    "CN_HOSTNAME": lambda facts, _: facts["public_ssl"]["hostname"],
    "SETTINGS": lambda facts, master: {"MASTER_IP": _address(facts, master), **master.settings},
}


class Words(Mapping[str, Any]):
    """The words that texts can use on one node. They are read from the facts on access, and missing if the facts lack
    them. Source: Nailgun `lcm.task_serializer`."""

    __slots__ = ("_master", "_view")

    def __init__(self, view: View, master: Master) -> None:
        self._view, self._master = view, master

    def __getitem__(self, name: str) -> Any:
        return _WORDS[name](self._view.new, self._master)

    def __iter__(self) -> Iterator[str]:
        return iter(_WORDS)

    def __len__(self) -> int:
        return len(_WORDS)


def formatted(text: str, words: Mapping[str, Any]) -> str:
    """`text` with every word in braces replaced, or unchanged if one of them is not a known word.

    If words are replaced, `{{` and `}}` become single braces. Below a word only keys of mappings can be reached
    (`{SETTINGS.MASTER_IP}`), never attributes of Python objects.

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
    if not (match := _FIELD.fullmatch(name)):
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

    Every `{yaql_exp: ...}` is replaced by its value and other texts are formatted. `parameters.cwd` defaults to `/`,
    and `fail_on_error` to true. Nodes on which everything is alike share one result, and a result may contain parts of
    the facts, so it must not be changed.

    Raise `ExpressionError` for an expression that cannot be read or has no value.
    """
    key = ("render", id(attributes), id(master))
    rendered, *_ = view.once(key, lambda: (_rendered(attributes, view, master), attributes, master))
    return rendered  # the kept tuple also holds `attributes` and `master`, so that their ids in the key stay theirs


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
    if (result := yaql.value(view)) is UNDEFINED:
        message = f"The YAQL expression {quoted(yaql.text)} has no value: the task has no old facts on this node."
        raise ExpressionError(message, yaql.text, hint="Test with .isUndef() first.")
    return result


def computed_relations(task: Task, attribute: str, view: View, master: Master) -> tuple[Relation, ...]:
    """The dependencies that expressions in an attribute state on the node of `view`.

    `Task.names` and `Task.relations` have those that need no facts. Raise `ExpressionError` if an expression fails, or
    returns anything but names, or entries with a name and roles.
    """
    words = Words(view, master)
    relations: list[Relation] = []
    read, is_computed = (_relations, _is_computed) if attribute in RELATION_LISTS else (_named_tasks, _is_yaql)
    for stated in filter(is_computed, _entries(task.attributes.get(attribute))):
        relations += read(traversed(stated, view, words), stated)
    return tuple(dict.fromkeys(relations))


def _entries(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_computed(entry: Any) -> bool:
    return _is_yaql(entry) or (isinstance(entry, Mapping) and any(map(_is_yaql, entry.values())))


def _is_yaql(value: Any) -> bool:
    return isinstance(value, Mapping) and YAQL in value


def _named_tasks(value: Any, stated: Mapping[str, Any]) -> Iterator[Relation]:
    for name in _entries(value):
        if name is None:
            continue
        if not isinstance(name, str):
            raise _unfit(stated, "It has to return names of tasks.")
        yield Relation(name)


def _relations(value: Any, stated: Mapping[str, Any]) -> Iterator[Relation]:
    for entry in _entries(value):
        if not entry:
            continue
        named = isinstance(entry, Mapping) and isinstance(entry.get("name"), str)
        roles = (entry.get("tags"), entry.get("role")) if named else ()
        if not named or not all(role is None or isinstance(role, str | list) for role in roles):
            raise _unfit(stated, "It has to return entries with a name and a role.")
        yield from Task("", {"cross_depends": [entry]}).relations("cross_depends")


def _unfit(stated: Mapping[str, Any], hint: str) -> ExpressionError:
    text = str(stated.get(YAQL) or stated)
    return ExpressionError(f"A dependency is computed by {quoted(text)}, which does not return one.", text, hint=hint)
