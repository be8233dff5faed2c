"""The global options, and the overview that `--help` prints, without importing cliff."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import NoReturn

from fuelclient import __version__
from fuelclient.commands.table import COMMANDS, EXTENSIONS

PROGRAM = "fuel2"

DESCRIPTION = "Store, merge, order, preview and run OpenStack Fuel deployment graphs, with or without a Fuel master."

CLOSING = f"""\
'{PROGRAM} help COMMAND' or '{PROGRAM} COMMAND --help' shows the help of one command. '{PROGRAM} help --all' also lists
the commands of other packages. '{PROGRAM} demo' loads examples to try things on."""


class OneLineParser(argparse.ArgumentParser):
    """A parser that reports errors in one line; the usage is in the help."""

    def error(self, message: str) -> NoReturn:
        end = "" if message.endswith(("?", ".")) else "."
        self.exit(2, f"{self.prog}: {message}{end} See '{self.prog} --help'.\n")


def _file(word: str) -> str:
    """Read a path, but refuse an empty one, which would look like the default."""
    if not word.strip():
        raise argparse.ArgumentTypeError(f"'{word}' is not a path; leave the option out for the default")
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
    )
    verbosity = parser.add_mutually_exclusive_group()
    verbosity.add_argument(
        "-v", "--verbose", action="count", dest="verbose_level", default=1, help="print more on stderr; can be repeated"
    )
    verbosity.add_argument(
        "-q",
        "--quiet",
        action="store_const",
        dest="verbose_level",
        const=0,
        help="print only warnings and errors on stderr",
    )
    parser.add_argument(
        "--log-file", type=_file, metavar="FILE", help="also write what goes to stderr to FILE, with times"
    )
    parser.add_argument(
        "--engine", type=_file, metavar="PATH", help="the engine file, which holds everything (default: your own)"
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
    """The output of `--help`: usage, options and all commands; `everything` includes other packages."""
    parser = global_parser()
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    lines = [parser.format_help(), "Commands:"]
    lines += _columns((name, text) for name, (_, text) in sorted(COMMANDS.items()))
    if everything:
        lines += ["", "Commands of other packages:", *_columns(extensions())]
    return "\n".join([*lines, "", CLOSING, ""])


def extensions() -> list[tuple[str, str]]:
    """The commands of other packages with the name of the package, without importing them."""
    from importlib.metadata import entry_points

    return sorted(
        (point.name.replace("_", " "), f"from {point.dist.name}" if point.dist else "")
        for point in entry_points(group=EXTENSIONS)
    )


def _columns(rows: Iterable[tuple[str, str]]) -> list[str]:
    width = max(map(len, COMMANDS))
    return [f"  {name:<{width}}  {text}".rstrip() for name, text in rows] or ["  none"]
