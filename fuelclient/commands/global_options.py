"""The global options, and the overview that `--help` prints, without importing cliff."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterable
from textwrap import fill, wrap
from typing import Any, NoReturn, TextIO

from fuelclient import __version__
from fuelclient.commands.table import COMMANDS, EXTENSIONS, grouped

PROGRAM = "fuel2"

MAX_COLUMNS, _NAME_COLUMN = 80, 26
"""How wide help is at most, and how wide the names in a list of commands are."""

DESCRIPTION = "Store, merge, order, preview and run OpenStack Fuel deployment graphs, with or without a Fuel master."

HELP = (
    f"'{PROGRAM} help WORDS' shows the help of a command (as 'COMMAND --help' does), of a noun or of a topic: {{}}. "
    f"'{PROGRAM} explain CODE' explains a finding or an exit code. '{PROGRAM} help --all' also lists the commands of "
    "other packages. -q and PAGER=cat turn the pager off."
)
"""What leads further, with a place for the names of the topics."""


def columns() -> int:
    """How wide help is: as the terminal, but at most 80, because longer lines are hard to read."""
    return min(shutil.get_terminal_size().columns, MAX_COLUMNS)


def _has_many_choices(action: argparse.Action) -> bool:
    """Whether the choices of an option are too long to stand in the place of its value."""
    return action.metavar is None and len(",".join(map(str, action.choices or ()))) > columns() / 2


class Layout(argparse.HelpFormatter):
    """The layout of options in all help: at most 80 columns, and the value once after all spellings of an option."""

    def __init__(self, prog: str, **keywords: Any) -> None:
        super().__init__(prog, **{"width": columns() - 1, **keywords})

    def _get_default_metavar_for_positional(self, action: argparse.Action) -> str:
        return action.dest.upper()

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings:
            return super()._format_action_invocation(action)
        value = "" if action.nargs == 0 else f" {self._format_args(action, action.dest.upper())}"
        if _has_many_choices(action):
            value = f" {action.option_strings[-1].lstrip('-').upper()}"
        return "\n      ".join(wrap(", ".join(action.option_strings) + value, columns() - 6, break_on_hyphens=False))

    def _expand_help(self, action: argparse.Action) -> str:
        listed = ", ".join(map(str, action.choices or ())) if _has_many_choices(action) else ""
        return super()._expand_help(action) + (f": {listed}" if listed else "")

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        words = " ".join(text.split())
        return fill(words, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


class OneLineParser(argparse.ArgumentParser):
    """A parser that reports errors in one line; the usage is in the help."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            from fuelclient.similar import close  # only a misspelt value needs it

            near = close(str(value), map(str, action.choices or ()))
            error.message += f". Did you mean {near}?" if near else ""
            raise

    def error(self, message: str) -> NoReturn:
        from fuelclient.commands.fitting import fitted_message  # only an error needs it

        message = message.replace(": ignored explicit argument", " takes no value, but has")
        end = "" if message.endswith(("?", ".")) else "."
        told = f"{self.prog}: {message}{end} See '{self.prog} --help'."
        self.exit(2, f"{fitted_message(told, sys.stderr)}\n")


def file_path(word: str) -> str:
    """Read the path of a file that cannot be a stream; an empty one would look like the default."""
    if word.strip() in ("", "-"):
        raise argparse.ArgumentTypeError(f"'{word}' is not a path; this has to be a file with a name")
    return word


MASTER_OPTIONS: tuple[tuple[str, tuple[str, ...], str | None, str], ...] = (
    ("OS_AUTH_URL", ("--os-auth-url",), "URL", "Keystone, if it is not behind the master's own address"),
    ("OS_USERNAME", ("--os-username",), "NAME", "the user"),
    ("OS_PASSWORD", ("--os-password",), "PASSWORD", "the password; the variable OS_PASSWORD keeps it out of 'ps'"),
    ("OS_TENANT_NAME", ("--os-project-name", "--os-tenant-name"), "NAME", "the project (default: admin)"),
    ("OS_PROJECT_ID", ("--os-project-id", "--os-tenant-id"), "ID", "the id of the project"),
    ("OS_USER_DOMAIN_NAME", ("--os-user-domain-name",), "NAME", "the user's domain (default: Default)"),
    ("OS_PROJECT_DOMAIN_NAME", ("--os-project-domain-name",), "NAME", "the project's domain (default: Default)"),
    ("OS_IDENTITY_API_VERSION", ("--os-identity-api-version",), "VERSION", "Keystone's version: 2 or 3"),
    (
        "OS_APPLICATION_CREDENTIAL_ID",
        ("--os-application-credential-id",),
        "ID",
        "an application credential; its secret comes from the variable OS_APPLICATION_CREDENTIAL_SECRET",
    ),
    ("OS_CACERT", ("--os-cacert",), "FILE", "certificates of the authorities to trust"),
    ("OS_INSECURE", ("--insecure",), None, "accept any certificate"),
)
"""Options of a Fuel master: the setting, its spellings, the placeholder of its value (None for a flag), its help."""


def global_parser() -> argparse.ArgumentParser:
    """The parser of the options that may stand anywhere on the line.

    It lacks `--version`, which is accepted only before a command, because some commands have their own (`release
    create`). It accepts no abbreviations, or `--d` of a command would turn on `--debug`.
    """
    parser = OneLineParser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [options] COMMAND ...",
        description=DESCRIPTION,
        add_help=False,
        allow_abbrev=False,
        formatter_class=Layout,
    )
    verbosity = parser.add_mutually_exclusive_group()
    verbosity.add_argument(
        "-v", "--verbose", action="count", dest="verbose_level", default=1, help="print more on stderr; can be repeated"
    )
    verbosity.add_argument(
        "-q", "--quiet", action="store_const", dest="verbose_level", const=0,
        help="print only warnings and errors on stderr, and ask nothing",
    )  # fmt: skip
    parser.add_argument(
        "--log-file", type=file_path, metavar="FILE", help="also write what goes to stderr to FILE, with times"
    )
    parser.add_argument(
        "--engine", type=file_path, metavar="PATH", help="the engine file, which holds everything (default: your own)"
    )
    _add_master_options(parser)
    parser.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", metavar="WHEN",
        help="colours: auto (on a terminal, unless NO_COLOR is set), always, never",
    )  # fmt: skip
    parser.add_argument("--debug", action="store_true", help="show tracebacks of errors")
    parser.add_argument("-h", "--help", dest="deferred_help", action="store_true", help="show help and exit")
    return parser


def _add_master_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a Fuel master and its user. Without them, and without settings that name a master,
    the embedded engine is used."""
    group = parser.add_argument_group("options of a Fuel master")
    choice = group.add_mutually_exclusive_group()
    choice.add_argument("--server", metavar="URL", help="use this master, such as http://10.20.0.2:8000")
    choice.add_argument("--local", action="store_true", help="use the engine file, even if settings name a master")
    for name, spellings, metavar, meaning in MASTER_OPTIONS:
        if metavar is None:
            group.add_argument(*spellings, dest=name, action="store_const", const=True, help=meaning)
        else:
            group.add_argument(*spellings, dest=name, metavar=metavar, help=meaning)


def overrides(options: argparse.Namespace) -> dict[str, object]:
    """The settings that the options give, by name; None for options that were not given."""
    chosen: dict[str, object] = {"ENGINE": options.engine, "SERVER_ADDRESS": options.server}
    return chosen | {name: getattr(options, name) for name, *_ in MASTER_OPTIONS}


def version() -> str:
    """The output of `--version`.

    >>> version().split()[0]
    'fuel2'
    """
    return f"{PROGRAM} {__version__}\n"


def overview(*, everything: bool = False) -> str:
    """The output of `--help`: what this is, usage, commands by group, topics and options; `everything` includes other
    packages."""
    parser = global_parser()
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    formatter = parser._get_formatter()
    for group in parser._action_groups:
        formatter.start_section(group.title)
        formatter.add_arguments(group._group_actions)
        formatter.end_section()
    help_line = _filled(HELP.format(", ".join(topics())))
    lines = [fill(DESCRIPTION, columns()), "", f"usage: {parser.usage}", "", help_line, "", *listing(COMMANDS)]
    if everything:
        lines += ["", "Commands of other packages:", *(_columns(extensions()) or ["  none"])]
    return "\n".join([*lines, "", formatter.format_help()])


def listing(names: Iterable[str]) -> list[str]:
    """The lines that list commands: by group, each with its one-line help, as the overview, the help of a noun and an
    incomplete command show them. One group alone has no title."""
    groups = grouped(names)
    lines: list[str] = []
    for title, members in groups.items():
        lines += ["", f"{title}:"] if len(groups) > 1 else []
        lines += _columns((name, COMMANDS.get(name, ("", ""))[1]) for name in members)
    return lines[1:] if len(groups) > 1 else lines


def show(text: str, stream: TextIO, *, quiet: bool = False) -> None:
    """Write a help text: on a terminal that it does not fit into in a pager, unless `quiet` or TERM=dumb."""
    is_plain = quiet or not stream.isatty() or os.environ.get("TERM", "dumb") == "dumb"
    if is_plain or text.count("\n") < shutil.get_terminal_size().lines:
        stream.write(text)
        return
    from autopage import AutoPager  # loads the processes of Python

    with AutoPager(stream, line_buffering=False) as pager:
        pager.write(text)


def _filled(text: str) -> str:
    return fill(text, columns(), break_on_hyphens=False)


def topics() -> dict[str, str]:
    """The texts about concepts by name, which are sections of the guides (see docs/reference.py), as wide as help."""
    import json  # the help of a command needs no topics

    with open(os.path.join(os.path.dirname(__file__), "topics.json"), encoding="utf-8") as file:
        read: dict[str, list[Any]] = json.load(file)
    return {topic: "\n\n".join(map(_part, parts)) + "\n" for topic, parts in read.items()}


def _part(part: Any) -> str:
    """A paragraph of a topic, or a table of names with texts."""
    return _filled(part) if isinstance(part, str) else "\n".join(_columns(part, columns() * 7 // 20))


def extensions() -> list[tuple[str, str]]:
    """The commands of other packages with the name of the package, without importing them."""
    from importlib.metadata import entry_points

    return sorted(
        (point.name.replace("_", " "), f"from {point.dist.name}" if point.dist else "")
        for point in entry_points(group=EXTENSIONS)
    )


def _columns(rows: Iterable[tuple[str, str]], most: int = _NAME_COLUMN) -> list[str]:
    """Names with texts beside them, in at most 80 columns; a name longer than `most` has its text below it."""
    rows = list(rows)
    indent = 4 + max((len(name) for name, _ in rows if len(name) <= most), default=most)
    lines = []
    for name, text in rows:
        beside = len(name) <= indent - 4
        texts = wrap(text, columns() - indent, break_on_hyphens=False) or [""]
        lines += [f"  {name:<{indent - 2}}{texts.pop(0)}".rstrip() if beside else f"  {name}"]
        lines += [" " * indent + line for line in texts if line]
    return lines
