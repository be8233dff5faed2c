"""Base classes of all commands: parse the line, call the backend once, return columns and rows."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import cliff.command
import cliff.lister
import cliff.show
from cliff.display import DisplayCommandBase
from stevedore.extension import ExtensionManager

from fuelclient.commands.arguments import Arguments
from fuelclient.commands.exits import Exit
from fuelclient.commands.fitting import Columns, answer_lines, fitted_message, terminal_width
from fuelclient.commands.formatters import Csv, Shell, cells, check_columns, encoding_of, formatters, text
from fuelclient.commands.parser import HelpFormatter, Parser
from fuelclient.commands.shell import LOG, OMITTING, FuelShell, as_spelled, count, for_target, log_findings, urgency
from fuelclient.errors import Declined, FuelError, Unsupported
from fuelclient.printing import printable
from fuelclient.support import possible, supports

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.backends.nailgun.services import Services
    from fuelclient.files.limits import Limits
    from fuelclient.model.diagnosis import Diagnosis
    from fuelclient.model.document import Document
    from fuelclient.model.finding import Finding

STRUCTURED = ("json", "yaml")
"""The formats for programs; they keep nested data."""


class Command(cliff.command.Command):
    """A command. Unlike cliff's, it looks up no hooks or distributions when it starts."""

    arguments: Arguments = ()
    """The arguments and options of the command, in the order of its help."""
    reads_once = False
    """Whether everything that the command reads before it writes comes from one moment; not for commands that poll."""
    exit_code = Exit.OK
    """The exit code of a command that ends without an error."""
    _target_shown = False
    loaded: Document | None = None
    """The document that was loaded last; the findings of a refusal belong to it."""

    def _load_hooks(self) -> None:
        self._hooks = []

    def get_epilog(self) -> str:
        return self._epilog or ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = Parser(
            prog=prog_name, description=self.get_description(), epilog=self.get_epilog(), formatter_class=HelpFormatter
        )
        if not isinstance(self, DisplayCommandBase):  # which adds its own options first
            self.add_arguments(parser)
        return parser

    def all_arguments(self) -> Arguments:
        """`arguments`; subclasses override this to add arguments that depend on the object."""
        return self.arguments

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        for add in self.all_arguments():
            add(parser)

    @property
    def shell(self) -> FuelShell:
        return cast("FuelShell", self.app)

    @property
    def backend(self) -> Backend:
        return self.shell.backend

    def writable(self) -> Backend:
        """Return the backend for a write, and print its target on stderr, once.

        Call this right before the write, or before asking whether to write: a command that only reads, or that fails
        before it writes, prints no target.
        """
        if not self._target_shown:
            self._target_shown = self.shell.has_written = True
            LOG.info("Target: %s", self.backend.target)
        return self.backend

    def load(self, path: str, limits: Limits | None = None) -> Document:
        """Load the document in a file, or on stdin if the path is `-`, and print its findings."""
        from fuelclient import files
        from fuelclient.files.limits import DOCUMENT

        self.loaded = files.load(path, stdin=self.app.stdin, limits=limits or DOCUMENT)
        report(self.loaded.findings)
        return self.loaded

    def dumps(self, data: Any, form: str, path: str = "-") -> str:
        """Serialize data as a document in the format `form`, for a file or for stdout, which may lack characters."""
        from fuelclient import files

        return files.dumps(data, form, encoding=encoding_of(self.app.stdout) if path == "-" else "utf-8")

    def is_for_terminal(self, parsed_args: argparse.Namespace) -> bool:
        return parsed_args.formatter == "table" and self.app.stdout.isatty()

    @cached_property
    def _node_names(self) -> dict[str, str]:
        from fuelclient.commands.task.follow import spelled_nodes

        return spelled_nodes(self.backend) if self.app.stdout.isatty() else {}

    def named(self, text: str) -> str:
        """`text` with the names of nodes in place of their ids (`node 7`, `task/7`), if stdout is a terminal."""
        return as_spelled(text, self._node_names)

    def node_name(self, key: int | str | None) -> str:
        """The node of a task instance: by its name if stdout is a terminal, or else by its id."""
        return self._node_names.get(f"node {key}", str(key))

    def say(self, line: str) -> None:
        """Print a line on stdout: a message that is this command's result."""
        self.app.stdout.write(f"{line}\n")

    def tell(self, line: str | Columns) -> None:
        """Print a line or a table of an answer on stdout, with control characters escaped, fitted to a terminal."""
        for part in answer_lines(line, terminal_width(self.app.stdout)):
            self.say(printable(part))

    def ask(self, parsed_args: argparse.Namespace, question: Callable[[], str]) -> bool:
        """Ask before something is destroyed or replaced, unless `--yes` is given or `FuelShell.asks` is false.

        `question` is called only then, and returns the question; if that is empty, nothing is asked. Return whether the
        user was asked and said yes. Raise `Declined` for any other answer.
        """
        prompt = question() if self.shell.asks and not parsed_args.yes else ""
        if prompt:
            self.writable()
            self.confirm(prompt)
        return bool(prompt)

    def confirm(self, question: str) -> None:
        """Ask on the terminal; raise `Declined` for anything but yes."""
        asked = printable(as_spelled(question, self.shell.spelled))
        self.app.stderr.write(f"{fitted_message(f'{asked} [y/N]', self.app.stderr)} ")
        self.app.stderr.flush()
        try:
            answer = self.app.stdin.readline()
        except KeyboardInterrupt:
            self.app.stderr.write("\nNothing was changed.\n")  # not behind the question
            raise
        if answer.strip().lower() not in ("y", "yes"):
            raise Declined("Nothing was changed.")


class Changing(Command):
    """A command that changes something: it reads, asks, changes, and reports what it did.

    `question` and `done` are formats. Their fields are the arguments and the `command`; `done` also has `result`, which
    `change` returned. A command asks if it has `arguments.YES`.
    """

    question = ""
    done = ""

    def read(self, parsed_args: argparse.Namespace) -> None:
        """Read what the change needs into `parsed_args`."""

    def question_for(self, parsed_args: argparse.Namespace) -> str:
        """The question, which names what would be lost; empty if nothing would be."""
        return self.question.format(**vars(parsed_args), command=self)

    def change(self, parsed_args: argparse.Namespace, /) -> Any:
        """Make the change in the backend; its target has been printed."""
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self.read(parsed_args)
        if "yes" in parsed_args:
            self.ask(parsed_args, lambda: self.question_for(parsed_args))
        self.writable()
        result = self.change(parsed_args)
        if self.done:
            self.tell(self.done.format(**vars(parsed_args), result=result, command=self))


class MasterOnly(Command):
    """A command that needs the services of a Fuel master; elsewhere it ends with exit code 2.

    `reason` says in one sentence why the embedded engine and its server cannot do this, `instead` what to do.
    """

    reason = ""
    instead = ""

    def require_master(self) -> None:
        if not supports(self.backend.services):
            raise Unsupported(self.reason, hint=self.instead)

    @property
    def services(self) -> Services:
        """Raise `Unsupported` without a Fuel master."""
        self.require_master()
        return cast("Services", self.backend.services)

    def writable(self) -> Backend:
        self.require_master()
        return super().writable()


class MasterChange(MasterOnly, Changing):
    """A change that only a Fuel master can make. Elsewhere it is refused before anything is read or asked."""

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self.require_master()
        super().take_action(parsed_args)


def on_backend(request: Callable[[Backend, argparse.Namespace], Any]) -> Callable[[Any, argparse.Namespace], Any]:
    """Make a method of a command, such as `document`, `rows`, `values` or `change`, from one request to the backend."""
    return lambda command, parsed_args: request(command.backend, parsed_args)


def on_master(request: Callable[[Services, argparse.Namespace], Any]) -> Callable[[Any, argparse.Namespace], Any]:
    """Make a method of a `MasterOnly` command from one request to the master."""
    return lambda command, parsed_args: request(command.services, parsed_args)


class Comparing(Command):
    """A command whose exit code is 10 if `--exit-code` is given and it has set `differs`."""

    differs = False

    def run(self, parsed_args: argparse.Namespace) -> int:
        code = super().run(parsed_args)
        return Exit.DIFFERENT if self.differs and parsed_args.exit_code else code


def report(findings: Iterable[Finding]) -> None:
    """Print findings on stderr, the worst first, as `log_findings` does, and how many notices there are."""
    ordered = sorted(findings, key=urgency)
    log_findings(ordered)
    if notes := sum(finding.severity == "info" for finding in ordered):
        LOG.info("%s; -v shows %s.", count(notes, "notice"), "it" if notes == 1 else "them", extra=OMITTING)


def report_after(check: Callable[[], Iterable[Finding]], unchecked: str) -> None:
    """Print the findings of a check that follows a change. If the check fails, only warn with the sentence `unchecked`
    and the reason, because the change has been made."""
    try:
        report(check())
    except FuelError as error:
        LOG.warning("%s: %s", unchecked, error)


def tally(findings: Iterable[Finding]) -> str:
    """Count findings by severity, the worst first.

    >>> from fuelclient.model.finding import Finding, Severity
    >>> tally([Finding(Severity.INFO, "P011", "x"), Finding(Severity.ERROR, "P001", "y")])
    '1 error, 1 notice'
    >>> tally([])
    'nothing found'
    """
    nouns = {"error": "error", "warning": "warning", "info": "notice"}
    severities = [str(finding.severity) for finding in findings]
    counted = [count(severities.count(word), noun) for word, noun in nouns.items() if word in severities]
    return ", ".join(counted) or "nothing found"


_ADDRESS = re.compile(r"(\d+\.){3}\d+(/\d+)?|[\da-f]*:[\da-f:.]*(/\d+)?", re.IGNORECASE)


def _sort_key(cell: Any) -> tuple[int, float, str]:
    """A key by which cells of any types compare: numbers first, then texts, then addresses, then None.

    >>> sorted([None, "10.20.0.10", "10.20.0.9", "b", 7, "fe80::1"], key=_sort_key)
    [7, 'b', '10.20.0.9', '10.20.0.10', 'fe80::1', None]
    """
    if cell is None:
        return 2, 0, ""
    if isinstance(cell, int | float):
        return 0, cell, ""
    shown = str(text(cell))
    if _ADDRESS.fullmatch(shown):
        import ipaddress  # few lists are sorted by addresses

        with suppress(ValueError):
            return 1, int(ipaddress.ip_interface(shown).ip), shown
    return 1, 0, shown


def sorted_by(rows: Iterable[Sequence[Any]], columns: Sequence[str], keys: Sequence[str]) -> list[Sequence[Any]]:
    """`rows` sorted by the columns `keys`, the first one first; equal rows keep their order."""
    indexes = [columns.index(key) for key in keys]
    return sorted(rows, key=lambda row: [_sort_key(row[index]) for index in indexes])


class Lister(cliff.lister.Lister, Command):
    """A command that lists rows of `columns`, sorted by the columns of `-s`, by default `sort_by`. Without rows, it
    prints `empty` on stderr. Narrow terminals get the first columns of `by_weight`, then of `columns`."""

    columns: tuple[str, ...] = ()
    by_weight: tuple[str, ...] = ()
    sort_by = "id"
    empty = ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        self._formatter_group.add_argument(
            "-s", "--sort-columns", nargs="+", choices=self.columns, metavar="COLUMN", dest="sort_keys",
            help=f"sort by these columns, each ascending (default: {self.sort_by or 'as the rows come'})",
        )  # fmt: skip
        # an empty list is a table without rows, not an empty line
        parser.set_defaults(print_empty=True, by_weight=self.by_weight, named=self.named)
        self.add_arguments(parser)
        return parser

    def _load_formatter_plugins(self) -> ExtensionManager[Any]:
        return formatters({"csv": Csv})

    def rows(self, parsed_args: argparse.Namespace, /) -> Iterable[Any]:
        """The rows, in any order: sequences of cells, or objects whose attributes are the cells."""
        raise NotImplementedError

    def shown_columns(self, parsed_args: argparse.Namespace) -> Sequence[str]:  # noqa: ARG002 (for subclasses)
        """The columns to show: the first of `columns`, or more if rows have more cells."""
        return self.columns

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        columns = self.shown_columns(parsed_args)
        check_columns([*parsed_args.columns, *parsed_args.sort_columns], columns)
        keys = parsed_args.sort_keys or ([self.sort_by] if self.sort_by else [])
        rows = [cells(row, self.columns) for row in self.rows(parsed_args)]
        if self.empty and not rows:
            self.shell.warn_of_missing_engine()  # before a hint that its absence explains
            LOG.info(possible(self.empty, self.backend))
        return columns, [row[: len(columns)] for row in sorted_by(rows, self.columns, keys)]


class DiagnosisCheck(Lister):
    """A check of machines and programs, with a row for each diagnosis."""

    columns = ("status", "area", "name", "message", "fix")
    by_weight = ("status", "name", "message")
    sort_by = ""

    def produce_output(self, parsed_args: argparse.Namespace, column_names: Any, data: Any) -> int:
        """Print the table; on a terminal with the fixes below it, because cells would break what is to be pasted."""
        rows, below = list(data), self.is_for_terminal(parsed_args) and not parsed_args.columns
        shown = len(column_names) - below
        code = super().produce_output(parsed_args, column_names[:shown], [row[:shown] for row in rows])
        for name, fix in ((row[2], row[4]) for row in rows if below and row[4]):
            self.tell(f"Fix for {name}: {fix}")
        return code

    def diagnosis_rows(self, diagnoses: Iterable[Diagnosis]) -> Iterable[Sequence[Any]]:
        """Yield a row for each diagnosis, with secrets masked. An error makes the exit code 7."""
        from fuelclient.redact import scrubbed

        for diagnosis in diagnoses:
            if diagnosis.health == "error":
                self.exit_code = Exit.INVALID
            fix = for_target(scrubbed(diagnosis.mend), self.shell.called)
            yield str(diagnosis.health), diagnosis.area, diagnosis.name, scrubbed(diagnosis.message), fix


class DocumentCheck(Lister):
    """A check of documents. It also has formats that print whole findings, those in `reported`."""

    columns = ("severity", "code", "place", "task", "message", "hint")
    by_weight = ("severity", "code", "message", "place", "task")
    sort_by = ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.set_defaults(formatter=None)
        return parser

    def _load_formatter_plugins(self) -> ExtensionManager[Any]:
        from fuelclient.commands.findings import Reported, finding_formats

        self.reported = Reported()
        return formatters({"csv": Csv, **finding_formats(self.reported)})

    def default_format(self, parsed_args: argparse.Namespace) -> str:
        """A table, except on a terminal, where it would lack most of a finding; there, texts, unless columns are
        named."""
        has_columns = parsed_args.columns or parsed_args.sort_keys or parsed_args.sort_columns
        return "text" if self.app.stdout.isatty() and not has_columns else "table"

    def run(self, parsed_args: argparse.Namespace) -> int:
        self.reported.verbose = self.shell.options.verbose_level > 1
        parsed_args.formatter = parsed_args.formatter or self.default_format(parsed_args)
        return super().run(parsed_args)

    def report_rows(self, findings: Iterable[Finding]) -> list[Sequence[Any]]:
        """Put the findings into `reported`, with hints for the target of this command, and return their rows."""
        called = self.shell.called
        self.reported.findings = [replace(each, hint=for_target(each.hint, called)) for each in findings]
        return [
            (str(each.severity), each.code, str(each.place), each.task, each.message, each.hint)
            for each in self.reported.findings
        ]


class ShowOne(cliff.show.ShowOne, Command):
    """A command that shows one object as `columns` and their values."""

    columns: tuple[str, ...] = ()

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        self.add_arguments(parser)
        return parser

    def _load_formatter_plugins(self) -> ExtensionManager[Any]:
        return formatters({"shell": Shell})

    def values(self, parsed_args: argparse.Namespace, /) -> Any:
        raise NotImplementedError

    def fields_of(self, value: Any) -> Any:
        """The values of `columns`, or an object that has them as attributes, made from what `values` returned."""
        return value

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        check_columns(parsed_args.columns, self.columns)
        return self.columns, cells(self.fields_of(self.values(parsed_args)), self.columns)
