"""Base classes of all commands: parse, one backend call, return columns and rows."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast

import cliff.command
import cliff.lister
import cliff.show
from cliff._argparse import ArgumentParser, SmartHelpFormatter
from stevedore.extension import ExtensionManager

from fuelclient.commands.formatters import Csv, Shell, formatters, text
from fuelclient.commands.shell import LOG, count, urgency
from fuelclient.errors import Declined, UsageError, nearest

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.commands.shell import FuelShell
    from fuelclient.model.finding import Finding


STRUCTURED = ("json", "yaml")
"""The formats that programs read, which keep nested data as it is."""


class _HelpFormatter(SmartHelpFormatter):
    """Fills the paragraphs of a docstring, and leaves its indented ones (examples) as they are written."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = text.strip().split("\n\n")
        return "\n\n".join(
            paragraph if paragraph.startswith(" ") else super(_HelpFormatter, self)._fill_text(paragraph, width, indent)
            for paragraph in paragraphs
        )


class Parser(ArgumentParser):
    """A command's parser. What it cannot understand it says in one line; the usage is in the help."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}. See '{self.prog} --help'.\n")

    def _get_option_tuples(self, option_string: str) -> list[Any]:
        """What an abbreviated option can stand for; two spellings of one option (`--env`, `--environment`) are one."""
        found: dict[int, Any] = {}
        for one in super()._get_option_tuples(option_string):
            found.setdefault(id(one[0]), one)
        return list(found.values())


class Command(cliff.command.Command):
    """A command of ours: no look-ups of hooks or distributions at start, and ways to speak."""

    _target_told = False

    def _load_hooks(self) -> None:
        self._hooks = []

    def get_epilog(self) -> str:
        return self._epilog or ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        return Parser(
            prog=prog_name,
            description=self.get_description(),
            epilog=self.get_epilog(),
            formatter_class=_HelpFormatter,
        )

    @property
    def backend(self) -> Backend:
        """Where the data lives."""
        return cast("FuelShell", self.app).backend

    def writable(self) -> Backend:
        """The backend, after having said on stderr, once, which place is about to change.

        Ask for it right before the write, or before the question whether to write: what only reads, or fails before,
        has no target.
        """
        if not self._target_told:
            self._target_told = True
            LOG.info("Target: %s", self.backend.target)
        return self.backend

    def say(self, line: str) -> None:
        """Print a line of data: the message that is this command's result."""
        self.app.stdout.write(f"{line}\n")

    def confirm(self, question: str) -> None:
        """Ask on the terminal; raise `Declined` for anything but yes."""
        self.app.stderr.write(f"{question} [y/N] ")
        self.app.stderr.flush()
        if self.app.stdin.readline().strip().lower() not in ("y", "yes"):
            raise Declined("Nothing was changed.")


def report(findings: Iterable[Finding]) -> None:
    """Print findings on stderr, each on a line of its own, the worst first; those of level info are counted, and
    printed with `-v`."""
    levels = {"error": LOG.error, "warning": LOG.warning, "info": LOG.debug}
    told = sorted(findings, key=urgency)
    for finding in told:
        levels[finding.severity]("%s", finding)
    notes = sum(finding.severity == "info" for finding in told)
    if notes:
        LOG.info("%s of level info; -v shows them.", count(notes, "finding"))


def tally(findings: Iterable[Finding]) -> str:
    """How many of each severity there are, the worst first.

    >>> from fuelclient.model.finding import Finding, Severity
    >>> tally([Finding(Severity.INFO, "P011", "x"), Finding(Severity.ERROR, "P001", "y")])
    '1 error, 1 notice'
    >>> tally([])
    'nothing found'
    """
    nouns = {"error": "error", "warning": "warning", "info": "notice"}
    severities = [str(one.severity) for one in findings]
    counted = [count(severities.count(word), noun) for word, noun in nouns.items() if word in severities]
    return ", ".join(counted) or "nothing found"


def check_columns(asked: Sequence[str], columns: Sequence[str]) -> None:
    """Raise `UsageError` for a `-c` that is no column; cliff would leave it out without a word."""
    for column in asked:
        wanted = column.lower().strip().replace(" ", "_")
        if wanted not in columns:
            close = nearest(wanted, columns)
            hint = f"Did you mean '{close}'?" if close else f"Columns: {', '.join(columns)}."
            raise UsageError(f"There is no column '{column}'.", hint=hint)


def _place(cell: Any) -> tuple[int, float, str]:
    """Where a cell sorts: numbers, then texts, then nothing; cells of any types can be compared."""
    if cell is None:
        return 2, 0, ""
    if isinstance(cell, int | float):
        return 0, cell, ""
    return 1, 0, str(text(cell))


def sorted_by(rows: Iterable[Sequence[Any]], columns: Sequence[str], keys: Sequence[str]) -> list[Sequence[Any]]:
    """`rows` sorted by the columns named `keys`, the first one first; equal rows keep their order."""
    indexes = [columns.index(key) for key in keys]
    return sorted(rows, key=lambda row: [_place(row[index]) for index in indexes])


class Lister(cliff.lister.Lister, Command):
    """A command that lists rows of `columns`, sorted by the columns of `-s`, by default `sort_by`."""

    columns: tuple[str, ...] = ()
    sort_by = "id"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        self._formatter_group.add_argument(
            "-s",
            "--sort-columns",
            nargs="+",
            choices=self.columns,
            metavar="COLUMN",
            dest="sort_keys",
            help=f"sort by these columns, each ascending (default: {self.sort_by or 'the order of the answer'})",
        )
        parser.set_defaults(print_empty=True)  # an empty list is a table without rows, not an empty line
        return parser

    def _load_formatter_plugins(self) -> ExtensionManager[Any]:
        return formatters({"csv": Csv})

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        """The rows, in any order."""
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        check_columns(parsed_args.columns, self.columns)
        keys = parsed_args.sort_keys or ([self.sort_by] if self.sort_by else [])
        return self.columns, sorted_by(self.rows(parsed_args), self.columns, keys)


class ShowOne(cliff.show.ShowOne, Command):
    """A command that shows one object as `columns` and their values."""

    columns: tuple[str, ...] = ()

    def _load_formatter_plugins(self) -> ExtensionManager[Any]:
        return formatters({"shell": Shell})

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        """The values of `columns`."""
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        check_columns(parsed_args.columns, self.columns)
        return self.columns, self.values(parsed_args)
