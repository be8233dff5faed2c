"""One meaning per option: what a spelling means is the same in all commands. The exceptions are mostly those of the
original client, whose spellings stay."""

from __future__ import annotations

import argparse
from collections import defaultdict

from failures import failures

from fuelclient.commands.parser import Parser
from fuelclient.commands.shell import FuelShell
from fuelclient.commands.table import COMMANDS

SAME = {
    "directory": "dir", "graph_types": "graph_type", "node": "nodes", "role": "roles", "by_option": "env",
    "output": "file",
    "sort_keys": "sort_columns",
}  # fmt: skip
"""Names under which commands keep the value of an option, and the meaning that these share with another name."""

LEVELS = "the original's 'graph download' takes the level to download: --release, --plugins, --cluster or --all"
ORIGINAL = "a spelling of the original client, on which scripts rely"

EXCEPTIONS = {
    ("--all", "level"): LEVELS, ("--cluster", "level"): LEVELS, ("--plugins", "level"): LEVELS,
    ("--release", "level"): LEVELS, ("-a", "level"): LEVELS, ("-c", "level"): LEVELS, ("-p", "level"): LEVELS,
    ("-r", "level"): LEVELS,
    ("-N", "group_id"): ORIGINAL, ("-N", "name"): ORIGINAL, ("-a", "address"): ORIGINAL, ("-a", "vip_id"): ORIGINAL,
    ("-c", "config"): ORIGINAL, ("-d", "dry_run"): ORIGINAL, ("-d", "tasks"): ORIGINAL, ("-f", "file"): ORIGINAL,
    ("-f", "force"): ORIGINAL, ("-n", "name"): ORIGINAL, ("-n", "names"): ORIGINAL, ("-n", "network"): ORIGINAL,
    ("-p", "show_parameters"): ORIGINAL, ("-r", "network_role"): ORIGINAL, ("-r", "roles"): ORIGINAL,
    ("-t", "statuses"): ORIGINAL, ("-t", "tests"): ORIGINAL,
    ("--release", "release, a flag"): "'plugins create --release' writes a package with a release of its own",
}  # fmt: skip
"""A spelling and a further meaning of it, with the reason."""

FORCED = {
    "env delete", "env nodes deploy", "env nodes provision", "env remove nodes", "env reset", "node undiscover",
    "openstack-config execute", "task delete",
}  # fmt: skip
"""The commands of the original client whose -f is --force."""


def options() -> dict[str, dict[str, set[str]]]:
    """Spelling -> meaning -> commands, for all options that help shows."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name in COMMANDS:
        for action in parser_of(name)._actions:
            for spelling in action.option_strings if action.help != argparse.SUPPRESS else ():
                meaning = action.dest
                if action.dest == "by_option" and "--output" in action.option_strings:
                    meaning = "file"
                if spelling in ("-f", "--format") and action.dest == "formatter":
                    meaning = "format"
                meaning = SAME.get(meaning, meaning)
                is_flag = action.nargs == 0 and meaning in ("dir", "env", "file", "nodes", "plugin", "release", "roles")
                found[spelling][f"{meaning}, a flag" if is_flag else meaning].add(name)
    return found


def parser_of(name: str) -> Parser:
    shell = FuelShell()
    factory, _, _ = shell.command_manager.find_command(name.split())
    parser = factory(shell, argparse.Namespace(), cmd_name=name).get_parser(name)
    assert isinstance(parser, Parser)
    return parser


def test_a_spelling_has_one_meaning() -> None:
    several = {}
    for spelling, meanings in options().items():
        plain = {meaning for meaning in meanings if (spelling, meaning) not in EXCEPTIONS}
        if len(plain) > 1:
            several[spelling] = {meaning: sorted(meanings[meaning]) for meaning in plain}
    assert several == {}


def test_every_exception_is_needed() -> None:
    found = options()
    assert [key for key in EXCEPTIONS if key[1] not in found[key[0]]] == []


def test_the_short_format_means_something_else_only_in_commands_of_the_original() -> None:
    assert options()["-f"]["force"] == FORCED
    assert "follow" not in options()["-f"]


def test_results_are_written_to_an_output() -> None:
    def check(name: str) -> None:
        parser = parser_of(name)
        if any(str(action.help).startswith("the file to write") for action in parser._actions):
            assert "--output" in parser._option_string_actions

    assert failures(COMMANDS, check) == {}
