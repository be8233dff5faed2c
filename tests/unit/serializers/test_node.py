"""The nodes file: what it may say, what it means, and what is wrong with it."""

from __future__ import annotations

import pytest
from refusals import refused

from fuelclient.errors import InvalidDocument
from fuelclient.files.yaml_text import parse
from fuelclient.model.node import Node
from fuelclient.serializers.node import nodes_from

FULL = """\
- id: 7
  name: node-7
  roles: [controller, cinder, controller]
  ip: 10.20.0.7
  status: ready
  online: false
  executor: ssh
  ssh: {user: root, port: 2222, key: ~/.ssh/id, jump: master}
  attributes: {disks: [sda, sdb]}
- name: node-8
"""


def read(text: str) -> list[Node]:
    return nodes_from(parse(text, "nodes.yaml"), ("local", "ssh", "noop", "dask"))


def test_everything_and_the_defaults() -> None:
    assert read(FULL) == [
        Node(
            7,
            "node-7",
            status="ready",
            pending_roles=("controller", "cinder"),
            ip="10.20.0.7",
            online=False,
            executor="ssh",
            ssh={"user": "root", "port": 2222, "key": "~/.ssh/id", "jump": "master"},
            attributes={"disks": ["sda", "sdb"]},
        ),
        Node(0, "node-8", status="provisioned", online=True),
    ]


def test_an_empty_file_has_no_nodes() -> None:
    assert read("") == []


@pytest.mark.parametrize(
    ("text", "code", "line", "words"),
    [
        ("- {id: 1}", "G002", 1, "no name"),
        ("- name: a\n  role: x", "G010", 2, "no key 'role'"),
        ("- name: a\n  ssh:\n    host: x", "G010", 3, "no key 'host'"),
        ("- name: a\n  id: 0", "G006", 2, "whole number"),
        ("- name: a\n  id: true", "G006", 2, "whole number"),
        ("- name: 5", "G006", 1, "a string"),
        ("- name: ' '", "G006", 1, "a string"),
        ("- name: a\n  ip: 10.20.0.300", "G006", 2, "an address or a host name"),
        ("- name: a\n  ip: not an ip", "G006", 2, "an address or a host name"),
        ("- name: a\n  status: broken", "G006", 2, "one of ready, discover"),
        ("- name: a\n  online: maybe", "G006", 2, "true or false"),
        ("- name: a\n  executor: docker", "G006", 2, "one of local, ssh, noop, dask"),
        ("- name: a\n  ssh: root", "G006", 2, "a mapping"),
        ("- name: a\n  ssh:\n    port: 70000", "G006", 3, "a port"),
        ("- name: a\n  attributes: [b]", "G006", 2, "a mapping"),
        ("- name: a\n  roles: [{b: c}]", "G006", 2, "list of names"),
        ("- name: a\n  roles: 5", "G006", 2, "list of names"),
        ("- {name: a, id: 1}\n- {name: b, id: 1}", "G005", 2, "the id 1, the first on line 1"),
        ("- name: a\n- name: a", "G005", 2, "the name a"),
        ("[{name: a}, {name: a}]", "G005", 1, "the name a"),
        ("- name: a\n- b", "G006", 2, "a node is a mapping"),
        ("name: a", "G006", 1, "a list of nodes"),
    ],
)
def test_what_is_wrong_is_one_error_at_its_line(text: str, code: str, line: int, words: str) -> None:
    with pytest.raises(InvalidDocument) as raised:
        read(text)
    [finding] = raised.value.findings
    assert str(finding).startswith(f"nodes.yaml:{line}: error: ")
    assert f"[{code}]" in str(finding)
    assert words in str(finding)
    assert raised.value.hint


def test_the_nearest_key_is_named() -> None:
    with refused(InvalidDocument, "nodes.yaml:1", "role", "roles"):
        read("- {name: a, role: [b]}")
