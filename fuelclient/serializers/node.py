"""Read nodes from nodes files (`node import`), and read and write Nailgun's records of nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from typing import Any

from fuelclient.model.document import Document
from fuelclient.model.node import Node, NodeStatus, is_address
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.report import Report
from fuelclient.serializers.values import line_of, plain

_KEYS = ("id", "name", "roles", "ip", "status", "online", "executor", "ssh", "attributes")
_SSH = ("user", "port", "key", "jump")
_OWN = ("executor", "ssh", "attributes")
_FIELDS = ("cluster" if field.name == "cluster_id" else field.name for field in fields(Node) if field.name not in _OWN)
_RECORD = tuple(dict.fromkeys(("id", "name", "status", *_FIELDS)))
"""The fields of a record of Nailgun's, in its order: those of `Node`, except what only exists here."""

_DEFAULTS: dict[str, Any] = {
    "meta": {}, "progress": 0, "kernel_params": None, "manufacturer": None, "platform_name": None,
    "os_platform": None, "network_data": [], "group_id": None,
}  # fmt: skip
"""Fields that clients expect, with their values if the attributes of the node do not have them."""


def nodes_from(document: Document, executors: Collection[str]) -> list[Node]:
    """Read a nodes file, whose nodes do not belong to an environment yet; `executors` are the existing kinds.

    Their roles become pending roles, because nothing is deployed before a run. A node without `id` has the id 0. Raise
    `InvalidDocument` with all findings: G002 for a missing name, G005 for an id or name that two nodes share, G006 for
    wrong shapes, G010 for unknown keys.
    """
    report = Report(document.file)
    nodes: list[Node] = []
    seen: dict[tuple[str, Any], int] = {}
    rule, hint = "a nodes file is a list of nodes", "Begin each node with `- name:`."
    for item, line in report.entries(document.data, rule, hint):
        if (node := _node(item, line, report, executors)) is not None:
            nodes.append(node)
            for word, value in (("id", node.id), ("name", node.name)):
                if value and (word, value) in seen:
                    message = f"two nodes have the {word} {value}, the first on line {seen[word, value]}"
                    report.error("G005", line, message, f"Give one of them another {word}.")
                seen.setdefault((word, value), line)
    report.raise_errors()
    return nodes


def node_record_to(node: Node) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for key in _RECORD:
        value = plain(getattr(node, "cluster_id" if key == "cluster" else key))
        record[key] = None if key in ("ip", "mac", "error_type") and not value else value
        if key == "mac":
            record |= {name: str(node.attributes.get(name) or node.name) for name in ("hostname", "fqdn")}
    return record | {key: plain(node.attributes.get(key, value)) for key, value in _DEFAULTS.items()}


def node_record_from(data: Any) -> Node:
    """Read a node. Raise `InvalidDocument` if it is not one.

    Other fields of a master become attributes, so that node filters can read them.
    """
    answer = Answer(data, "node")
    status, attributes = answer.text("status", NodeStatus.DISCOVER), answer.rest(*_RECORD)
    return answer.into(
        Node, "id", "name", optional=_RECORD, cluster_id=answer.optional("cluster"), status=status,
        attributes=attributes,
    )  # fmt: skip


def _node(item: Any, line: int, report: Report, executors: Collection[str]) -> Node | None:
    """The node of an entry; None after an error."""
    if not isinstance(item, Mapping):
        report.misshapen(line, "a node is a mapping", item, "Write {name: node-1, roles: [...]}.")
        return None
    before = len(report.findings)
    report.check_keys(item, _KEYS, "a node", line, mac="It belongs to an interface: `fuel2 node interfaces upload`.")
    if item.get("name") is None:
        report.error("G002", line, "the node has no name", "Add `name:`.")
    fields = _Fields(item, line, report)
    ssh = fields.get("ssh", "a mapping", {})
    line_of_ssh = line_of(item, "ssh") or line
    report.check_keys(ssh, _SSH, "ssh", line_of_ssh)
    for key, wanted in (("port", "a port (1 to 65535)"), *((word, "a string") for word in ("user", "key", "jump"))):
        _Fields(ssh, line_of_ssh, report).get(key, wanted, "")
    node = Node(
        id=fields.get("id", "a whole number from 1", 0),
        name=fields.get("name", "a string", ""),
        status=fields.word("status", tuple(NodeStatus), NodeStatus.PROVISIONED),
        pending_roles=_roles(item.get("roles"), line_of(item, "roles") or line, report),
        ip=fields.get("ip", "an address or a host name", ""),
        online=fields.get("online", "true or false", True),
        executor=fields.word("executor", executors, ""),
        ssh=plain(ssh),
        attributes=plain(fields.get("attributes", "a mapping", {})),
    )
    return node if len(report.findings) == before else None


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: Any, limit: float = math.inf) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= limit


_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "a mapping": lambda value: isinstance(value, Mapping),
    "a whole number from 1": _is_number,
    "a port (1 to 65535)": lambda value: _is_number(value, 65535),
    "a string": _is_name,
    "an address or a host name": lambda value: isinstance(value, str) and is_address(value),
    "true or false": lambda value: isinstance(value, bool),
}
"""Checks for the kinds of values, by their names in messages."""


class _Fields:
    def __init__(self, item: Mapping[str, Any], line: int, report: Report) -> None:
        self.item, self.line, self.report = item, line, report

    def get(self, key: str, wanted: str, default: Any) -> Any:
        """The value of `key`; `default` if it is absent or (with an error) of another kind."""
        if (value := self.item.get(key)) is None or _KINDS[wanted](value):
            return default if value is None else value
        return self._wrong(key, wanted, default)

    def word(self, key: str, words: Collection[str], default: str) -> Any:
        """The value of `key`, which is one of `words`. Only an error iterates over these, which may search packages."""
        if (value := self.item.get(key)) is None or (isinstance(value, str) and value in words):
            return default if value is None else value
        return self._wrong(key, f"one of {', '.join(words)}", default)

    def _wrong(self, key: str, wanted: str, default: Any) -> Any:
        line, value = line_of(self.item, key) or self.line, self.item[key]
        self.report.misshapen(line, f"{key} must be {wanted}", value, "Change it, or leave it out.")
        return default


def _roles(value: Any, line: int, report: Report) -> tuple[str, ...]:
    names = [] if value is None else [value] if isinstance(value, str) else value
    if isinstance(names, list | tuple) and all(_is_name(name) for name in names):
        return tuple(dict.fromkeys(names))
    report.error("G006", line, "roles must be a list of names", "Write roles: [controller].")
    return ()
