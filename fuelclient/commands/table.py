"""The command table: every command with its class and its one-line help.

cliff would import the modules of all commands at every start. With this table, help imports nothing, and a command
imports only its own module. The entry points `fuelclient.cli` in setup.cfg serve other programs. Both are
generated from the classes of the commands by docs/reference.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

with open(os.path.join(os.path.dirname(__file__), "table.tsv"), encoding="utf-8") as _file:
    COMMANDS = {name: (target, text) for name, target, text in (line.rstrip("\n").split("\t") for line in _file)}
"""Command name -> (module and class, one-line help)."""

ALIASES = {"plugin": "plugins", "environment": "env"}
"""Other spellings of nouns, which the overview does not show."""

PLURALS = {
    "envs": "env", "environments": "env", "graphs": "graph", "nodes": "node", "releases": "release", "roles": "role",
    "sequences": "sequence", "tags": "tag", "tasks": "task",
}  # fmt: skip
"""Plurals of nouns. A plural without a verb lists."""

_GROUPS = """\
Start here: start, demo, doctor, tui, help, explain, complete
Look: env list, env show, graph list, graph preview, graph, env changes, env drift, env diff, env facts, release list,
 release show, release component, role list, role show, tag list, sequence list, sequence show
Change: release, env create, env add, env settings, env, graph upload, graph download, graph delete, role, tag, sequence
Run: env deploy, graph execute, env redeploy, env reset, env stop-deployment, env nodes, plan, sequence execute, task
Plugins: plugins create, plugins check, plugins build, plugins install, plugins
Nodes and networks: node, env network, vip
Engine and server: engine, server, config, fuel-version
Only with a Fuel master: env extension, env network verify, env provisioning-facts, env spawn-vms, extension, health,
 network-group, network-template, node create-vms-conf, node list-vms-conf, openstack-config, snapshot
"""

GROUPS = {
    title: tuple(words.split(", "))
    for title, words in (line.split(": ") for line in _GROUPS.replace("\n ", " ").splitlines())
}
"""What the overview shows, in its order: groups of commands, or of all commands that begin with these words. The
longest words decide. The first commands of a group are those that people need first."""

EXTENSIONS = "fuelclient.extensions"
"""The entry point group in which other packages offer commands.

It is read only for a command that is not in the table, and by `fuel2 help --all`: scanning the metadata of all
installed packages takes longer than most commands.
"""

ORIGINAL = "fuelclient"
"""The entry point group in which packages extend python-fuelclient. Their commands need its classes, so they are named
and not run."""


def verbs(noun: str) -> list[str]:
    """The commands of a noun or of its alias.

    >>> verbs("server")
    ['server run']
    """
    noun = {**ALIASES, **PLURALS}.get(noun, noun)
    return sorted(name for name in COMMANDS if name.split()[0] == noun)


def grouped(names: Iterable[str]) -> dict[str, list[str]]:
    """Commands by their groups, each in the order in which `GROUPS` names what they begin with. A command without a
    group, such as those of other packages, is in the group "Others".

    >>> grouped(["task list", "graph order", "graph list", "hello"])
    {'Look': ['graph list', 'graph order'], 'Run': ['task list'], 'Others': ['hello']}
    """
    places = {words: (title, place) for title, all_words in GROUPS.items() for place, words in enumerate(all_words)}
    found: dict[str, list[tuple[int, str]]] = {title: [] for title in (*GROUPS, "Others")}
    for name in names:
        parts = name.split()
        beginnings = (" ".join(parts[:length]) for length in range(len(parts), 0, -1))
        title, place = next((places[words] for words in beginnings if words in places), ("Others", 0))
        found[title].append((place, name))
    return {title: [name for _, name in sorted(rows)] for title, rows in found.items() if rows}
