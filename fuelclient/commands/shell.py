"""The application: find the command of a command line, run it, and turn errors into a message and an exit code."""

from __future__ import annotations

import argparse
import copy
import logging
import os
import re
import shlex
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from itertools import takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TextIO, cast

from cliff.app import App
from cliff.command import Command
from cliff.commandmanager import CommandManager

from fuelclient import __version__
from fuelclient.commands import global_options
from fuelclient.commands.arguments import resolve
from fuelclient.commands.exits import Exit, exit_of
from fuelclient.commands.fitting import fitted_message
from fuelclient.commands.formatters import RED, YELLOW, painted
from fuelclient.commands.table import ALIASES, COMMANDS, EXTENSIONS, ORIGINAL, PLURALS
from fuelclient.errors import CycleDetected, FuelError, NotFound, Unavailable, UsageError, sentences
from fuelclient.printing import count as count
from fuelclient.printing import printable
from fuelclient.support import possible

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.document import Document
    from fuelclient.model.finding import Finding
    from fuelclient.settings import Settings

_NAMESPACE = "fuelclient.cli"


class TableManager(CommandManager):
    """cliff's lookup (whole names, or unambiguous beginnings of each word) over the command table.

    The class of a command is imported only when that command runs.
    """

    def __init__(self) -> None:
        super().__init__(_NAMESPACE)

    def _load_commands(self) -> None:
        """Use the table instead of scanning and importing everything."""
        for name, (target, _) in COMMANDS.items():
            self.commands[name] = EntryPoint(name, target, _NAMESPACE)

    def add_command(self, name: str, command_class: type[Command]) -> None:
        """Add a command unless the table has it: cliff would replace our `help` by its own."""
        if name not in COMMANDS:
            super().add_command(name, command_class)

    def extend(self) -> None:
        """Add the commands of other packages, which cannot replace ours."""
        for point in entry_points(group=EXTENSIONS):
            self.commands.setdefault(point.name.replace("_", " "), point)

    def find_command(self, argv: list[str]) -> tuple[type[Command], str, list[str]]:
        """Raise `UsageError` if there is no such command."""
        argv = singular(argv)
        with suppress(ValueError):
            return self._with_whole_name(super().find_command(argv))
        self.extend()
        with suppress(ValueError):
            return self._with_whole_name(super().find_command(argv))
        for point in entry_points(group=ORIGINAL):
            words = point.name.replace("_", " ").split()
            if argv[: len(words)] == words and point.dist:
                raise UsageError(
                    f"'{' '.join(words)}' comes from the package {point.dist.name}, which extends python-fuelclient; "
                    "fuel2 does not run it.",
                    hint="Install both in a separate environment, and run the fuel2 there.",
                )
        from fuelclient.commands.guesses import unknown_command  # only a misspelt command needs it

        raise unknown_command(argv[: self._get_last_possible_command_index(argv)] or argv[:1], self.commands)

    def _with_whole_name(self, found: tuple[type[Command], str, list[str]]) -> tuple[type[Command], str, list[str]]:
        factory, typed, rest = found
        words = typed.split()
        names = (name for name in self.commands if len(name.split()) == len(words))
        candidates = [name for name in names if all(map(str.startswith, name.split(), words))]
        return factory, typed if typed in self.commands or len(candidates) != 1 else candidates[0], rest


def singular(argv: list[str]) -> list[str]:
    """Replace an alias or a plural by the noun in the table, and add `list` to a plural without a verb.

    >>> singular(["nodes", "list"]), singular(["releases"]), singular(["releases", "-f", "json"])
    (['node', 'list'], ['release', 'list'], ['release', 'list', '-f', 'json'])
    >>> singular(["plugin", "list"]), singular(["env"])
    (['plugins', 'list'], ['env'])
    """
    noun, rest = (argv[0], argv[1:]) if argv else ("", [])
    if noun in PLURALS:
        return [PLURALS[noun], *([] if rest and not rest[0].startswith("-") else ["list"]), *rest]
    return [ALIASES[noun], *rest] if noun in ALIASES else argv


LOG = logging.getLogger("fuelclient")
"""The logger of everything on stderr that is not data; it also goes to `--log-file`."""

OMITTING = {"omitting": True}
"""The `extra` of a message about messages that are left out without `-v`. Where they are printed, it is not."""

_LEVELS = {0: logging.WARNING, 1: logging.INFO}


_COLOURS = {logging.ERROR: RED, logging.WARNING: YELLOW}


def has_colours(choice: str, stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether a stream gets colours: `choice` is auto, always or never.

    >>> import io
    >>> has_colours("auto", io.StringIO(), {}), has_colours("always", io.StringIO(), {"NO_COLOR": "1"})
    (False, True)
    """
    if choice != "auto":
        return choice == "always"
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def coloured_message(text: str, level: int) -> str:
    """A message on stderr in the colour of its level.

    >>> coloured_message("No such file", logging.ERROR), coloured_message("Created.", logging.INFO)
    ('\\x1b[31mNo such file\\x1b[0m', 'Created.')
    """
    return painted(text, _COLOURS.get(level, ""))


def program(options: argparse.Namespace) -> str:
    """The program and its options, for command lines that act on the same target.

    Environment variables and settings files apply to these as well. Secrets are left out, because command lines are
    shown, logged and copied. Without them a command may be refused, but never acts on another target.

    >>> from fuelclient.commands.global_options import global_parser
    >>> program(global_parser().parse_args(["--server", "http://10.20.0.2:8000", "--os-password", "x", "--insecure"]))
    'fuel2 --server http://10.20.0.2:8000 --insecure'
    """
    from fuelclient.settings.registry import KNOWN

    words = [global_options.PROGRAM]
    for option, value in (("--engine", options.engine), ("--server", options.server)):
        words += [option, value] if value else []
    words += ["--local"] * options.local
    for name, spellings, metavar, _ in global_options.MASTER_OPTIONS:
        value = getattr(options, name)
        if value is not None and not KNOWN[name].secret:
            words += [spellings[0]] if metavar is None else [spellings[0], value]
    return shlex.join(words)


def for_target(text: str, called: str) -> str:
    """Replace the bare program in the commands of our own text by `called`, which `program` returns.

    >>> for_target("Run `fuel2 task resume 3`, or ask whoever started fuel2.", "fuel2 --engine 'my engine.db'")
    "Run `fuel2 --engine 'my engine.db' task resume 3`, or ask whoever started fuel2."
    """
    return text if called == global_options.PROGRAM else _command_pattern().sub(lambda _: called, text)


def value_for_target(value: Any, called: str) -> Any:
    """Apply `for_target` to the hint of a finding, or of an error, whose text is returned; leave other values alone."""
    from fuelclient.model.finding import Finding

    if isinstance(value, FuelError):
        return sentences(value.message, for_target(value.hint, called))
    return replace(value, hint=for_target(value.hint, called)) if isinstance(value, Finding) else value


_WITHOUT_TARGET = ("complete", "help", "plugins build", "plugins check", "plugins create")
"""The commands that act on files only."""


@cache
def _command_pattern() -> re.Pattern[str]:
    """The pattern of the program's name before a command that acts on a target."""
    nouns = sorted({re.escape(name.split()[0]) for name in COMMANDS}, reverse=True)
    return re.compile(rf"\b{global_options.PROGRAM}(?! (?:{'|'.join(_WITHOUT_TARGET)})\b)(?= (?:{'|'.join(nouns)})\b)")


_NODE = re.compile(
    r"""(?<![^\s(`'"])(?P<task>(?=[^\s/@,;()`'"]*[A-Za-z])[^\s/@,;()`'"]+)[/@](?P<uid>\d+|master)(?![\w/@]|[.:-]\w)"""
    r"""|\b(?P<noun>[Nn]ode |[Ee]nvironment )(?P<id>\d+)(?![\w/@]|[.:-]\w| \()"""
)
"""A node in a message: that of a task instance (`task/7`, `task@7`), or one by itself (`node 7`), or an environment,
unless its name follows in brackets."""


def as_spelled(text: str, names: Mapping[str, str]) -> str:
    """Replace the ids of nodes and environments in a message by their names, as the command line had them.

    >>> names = {"node 8": "db-1", "node master": "master"}
    >>> as_spelled("Failed: schema@8, facts@master. See netconfig/9, /run/8, node 8.", names)
    'Failed: schema/db-1, facts/master. See netconfig/9, /run/8, node db-1.'
    >>> as_spelled("Environment 1 has no node 1. Reset environment 1 (prod)?", {"environment 1": "prod"})
    'Environment prod has no node 1. Reset environment 1 (prod)?'
    """

    def named(found: re.Match[str]) -> str:
        key = f"node {found['uid']}" if found["uid"] else f"{found['noun']}{found['id']}".lower()
        name = names.get(key)
        return found[0] if name is None else f"{found['noun'] or found['task'] + '/'}{name}"

    return _NODE.sub(named, text)


class Printable(logging.Formatter):
    """Escapes control characters, which a terminal would obey, in messages and in what they quote, and adds colours.

    Commands that our own messages suggest begin with `called`. Quoted text is not changed. If the command line named
    nodes or environments, `spelled` has the names of all of them, and messages name them too. They are fitted to
    `stream` if it is a terminal.
    """

    def __init__(
        self,
        layout: str,
        *,
        coloured: bool,
        called: str = global_options.PROGRAM,
        spelled: Mapping[str, str] = MappingProxyType({}),
        stream: TextIO | None = None,
    ) -> None:
        super().__init__(layout)
        self.coloured, self.called, self.spelled, self.stream = coloured, called, spelled, stream

    def format(self, record: logging.LogRecord) -> str:
        if self.called != global_options.PROGRAM:
            record = _record_for_target(record, self.called)
        text = super().format(record)
        text = printable(as_spelled(text, self.spelled) if self.spelled else text, keep="\n\t")
        if hasattr(record, "plain"):
            return text
        text = fitted_message(text, self.stream) if self.stream else text
        return coloured_message(text, record.levelno) if self.coloured else text


def _record_for_target(record: logging.LogRecord, called: str) -> logging.LogRecord:
    """Apply `for_target` to the message and the arguments of a copy of a record, which other handlers format too."""
    record = copy.copy(record)
    record.msg = for_target(str(record.msg), called.replace("%", "%%") if record.args else called)
    if isinstance(record.args, tuple):
        record.args = tuple(value_for_target(value, called) for value in record.args)
    return record


class _Stdout:
    """A wrapper of stdout that remembers its last error, and whether it gets colours.

    The error names no file. Without the wrapper, an error of stdout would look like an error of another file, such as a
    full disk while a package is written.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.failure: OSError | None = None
        self.coloured = False

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            self.failure = error
            raise

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self.failure = error
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class FuelShell(App):
    """`fuel2`: global options, a backend that is connected when a command first uses it, exit codes.

    Only data goes to stdout, all else to stderr. Tracebacks are shown only with `--debug`.
    """

    NAME = global_options.PROGRAM
    LOG = LOG

    def __init__(self, stdin: TextIO | None = None, stdout: TextIO | None = None, stderr: TextIO | None = None) -> None:
        super().__init__(
            global_options.DESCRIPTION, __version__, TableManager(), stdin, stdout, stderr, deferred_help=True
        )
        self._out = _Stdout(self.stdout)
        self.stdout = cast("TextIO", self._out)
        self.options = argparse.Namespace()
        self._backend: Backend | None = None
        self._reading, self._reads_once = ExitStack(), False
        self._settings: Settings | None = None
        self.has_written = False
        self._handlers: list[logging.Handler] = []
        self.spelled: dict[str, str] = {}
        self._is_engine_explained = False

    def build_option_parser(self, *_: Any, **__: Any) -> argparse.ArgumentParser:
        return global_options.global_parser()

    @property
    def called(self) -> str:
        """The program and its options, for suggested commands, which act on the same target."""
        return program(self.options) if vars(self.options) else global_options.PROGRAM

    @property
    def is_quiet(self) -> bool:
        """Whether `-q` was given."""
        return getattr(self.options, "verbose_level", 1) == 0

    @property
    def asks(self) -> bool:
        """Whether commands ask before they change something: only on a terminal, and not with `-q`."""
        return self.stdin.isatty() and not self.is_quiet

    @property
    def backend(self) -> Backend:
        """The backend that the settings name, connected at first use."""
        if self._backend is None:
            from fuelclient import backends

            self._backend = backends.connect(self.settings)
            if self._reads_once:
                self._reading.enter_context(self._backend.reading())
        return self._backend

    @property
    def settings(self) -> Settings:
        """The settings of this command line. The first use reads them and prints their warnings."""
        if self._settings is None:
            self._settings = self.read_settings(chooses=True)
        return self._settings

    def read_settings(self, *, chooses: bool) -> Settings:
        """Read the settings and print their warnings; `chooses` as in `settings.load`."""
        from fuelclient import settings

        if self.options.engine and self.options.server:
            raise UsageError("--engine and --server cannot be combined.", hint="Leave one of them out.")
        loaded = settings.load(global_options.overrides(self.options), local=self.options.local, chooses=chooses)
        for warning in loaded.warnings:
            LOG.warning("%s", warning)
        return loaded

    def run(self, argv: list[str]) -> int:
        """Run one command line and return its exit code. Only exceptions that end the interpreter are raised."""
        try:
            self.options, rest = self.parser.parse_known_args(argv)
            self.configure_logging()
            _require_text(argv)
            return self._dispatch(rest)
        except SystemExit as error:  # from argparse, which has printed the error
            return error.code if isinstance(error.code, int) else Exit.USAGE
        except (Exception, KeyboardInterrupt) as error:
            return self._report(error)
        finally:
            self._close()

    def _dispatch(self, rest: list[str]) -> int:
        if rest[:1] == ["--version"]:
            self.stdout.write(global_options.version())
        elif not rest:
            global_options.show(global_options.overview(), self.stdout, quiet=self.is_quiet)
        else:
            if self.options.deferred_help:  # for the words before the first option
                rest = ["help", *self._command_words(rest)]
            return self.run_subcommand(rest)
        return Exit.OK

    def _command_words(self, rest: list[str]) -> list[str]:
        """The words before the first option that name a command, for its help.

        Arguments of the command are left out. If there is no such command, all words are returned, for the message.
        """
        words = [*takewhile(lambda word: not word.startswith("-"), rest)]
        try:
            _, name, _ = self.command_manager.find_command(words)
        except UsageError:
            return words
        return name.split()

    def run_subcommand(self, argv: list[str]) -> int:
        factory, name, rest = self.command_manager.find_command(argv)
        command = factory(self, self.options, cmd_name=name)
        parsed_args = command.get_parser(f"{self.NAME} {name}").parse_args(rest)
        self._reads_once = getattr(command, "reads_once", False)
        try:
            with self._reading:
                resolve(parsed_args, lambda: self.backend, self.spelled)
                code = command.run(parsed_args)
                return getattr(command, "exit_code", Exit.OK) or code
        except FuelError as error:
            document: Document | None = getattr(command, "loaded", None)
            if document is not None:
                document.place_findings(error)
            raise

    def configure_logging(self) -> None:
        """Send log messages to stderr at the level of `-q` and `-v`, and all of them to `--log-file`."""
        level = _LEVELS.get(self.options.verbose_level, logging.DEBUG)
        self._out.coloured = has_colours(self.options.color, self.stdout, os.environ)
        coloured = has_colours(self.options.color, self.stderr, os.environ)
        self._add_handler(logging.StreamHandler(self.stderr), level, self.CONSOLE_MESSAGE_FORMAT, coloured=coloured)
        if self.options.log_file:
            try:
                handler = logging.FileHandler(self.options.log_file, encoding="utf-8", errors="backslashreplace")
            except FileNotFoundError:
                from fuelclient.files.writing import no_directory  # only an error needs it

                raise no_directory(self.options.log_file) from None
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
                raise UsageError(
                    f"The log file {self.options.log_file} cannot be written: {reason}.", hint="Name another one."
                ) from error
            self._add_handler(handler, logging.DEBUG, self.LOG_FILE_MESSAGE_FORMAT)
        LOG.setLevel(logging.DEBUG)

    def _add_handler(self, handler: logging.Handler, level: int, layout: str, *, coloured: bool = False) -> None:
        handler.setLevel(level)
        handler.addFilter(lambda record: level > logging.DEBUG or "omitting" not in record.__dict__)
        stream = None if isinstance(handler, logging.FileHandler) else self.stderr
        printed = Printable(layout, coloured=coloured, called=self.called, spelled=self.spelled, stream=stream)
        handler.setFormatter(printed)
        LOG.addHandler(handler)
        self._handlers.append(handler)

    def _report(self, error: BaseException) -> Exit:
        code = exit_of(error)
        if code is Exit.BROKEN_PIPE or error is self._out.failure:
            raise error  # main() handles errors of stdout
        if code is Exit.INTERRUPTED:
            return code
        if getattr(self.options, "debug", False):
            traceback.print_exception(error, file=self.stderr)
        self._is_engine_explained |= isinstance(error, Unavailable)
        findings = _findings(error) if isinstance(error, FuelError) else []
        if isinstance(error, NotFound):
            error.hint = possible(error.hint, self._backend)
        text = " ".join(str(value_for_target(error, self.called)).split())
        log_findings(findings)
        for finding in findings:
            hint = for_target(finding.hint, self.called)
            text = text.replace(f": {finding.message}. {hint}".rstrip(), ".").replace(f"{finding.message} ", "")
            text = text.replace(f"{hint} ", "") if hint else text
        for drawing in error.drawings if isinstance(error, CycleDetected) else ():
            LOG.error("%s", drawing, extra={"plain": True})
        if isinstance(error, FuelError):
            if findings and _is_repeated(error, findings):
                return code
            LOG.error("%s", text)
            for line in getattr(error, "commands", ()):  # of `guesses.Incomplete`
                LOG.error("%s", line, extra={"plain": True})
        else:
            LOG.error("unexpected error %s: %s (--debug shows the traceback)", type(error).__name__, text)
        return code

    def warn_of_missing_engine(self) -> None:
        """Warn once if the engine file that the user named does not exist, because its name may be misspelt.

        The default file does not exist before the first write, which needs no warning.
        """
        settings = self._settings
        if settings is None or settings["SERVER_ADDRESS"].value or settings["ENGINE"].origin == "default":
            return
        if not self._is_engine_explained and _is_missing(settings.engine):
            hint = "If the name is right, 'fuel2 start' shows how to fill it."
            LOG.warning(f"Engine file %s does not exist yet; it is read as empty. {hint}", settings.engine)
        self._is_engine_explained = True

    def _close(self) -> None:
        if self._backend is not None:
            self.warn_of_missing_engine()
            if self.has_written:
                self._backend.sweep()
                self.has_written = False
            self._backend.close()
            self._backend = None
        self._settings = None
        for handler in self._handlers:
            LOG.removeHandler(handler)
            handler.close()
        self._handlers.clear()


CYCLE = "G050"
"""The code of findings about the edges of a cycle, which are printed in the order of the cycle."""


_MAX_ALIKE = 3
"""The number of warnings with the same code, or of errors with the same message, that are logged without `-v`."""


def log_findings(findings: Iterable[Finding]) -> None:
    """Log findings in their order. Without `-v`, those that are alike are counted after the third, and notices not
    logged."""
    alike: Counter[str] = Counter()
    for finding in findings:
        kind = f"of {finding.message!r}" if finding.is_error else finding.code
        alike[kind] += finding.severity != "info"
        level = logging.ERROR if finding.is_error else logging.WARNING
        is_shown = finding.severity != "info" and alike[kind] <= _MAX_ALIKE
        LOG.log(level if is_shown else logging.DEBUG, "%s", finding)
    omitted = [f"{number - _MAX_ALIKE} more {kind}" for kind, number in alike.items() if number > _MAX_ALIKE]
    if omitted:
        LOG.warning("Not shown: %s; -v shows all.", ", ".join(omitted), extra=OMITTING)


def urgency(finding: Finding) -> tuple[bool, str, int]:
    """The sort key of a finding: errors first, then by file and line. Findings without a place, and edges of a cycle in
    their order, come before others of the same severity."""
    if finding.code == CYCLE:
        return False, "", 0
    return not finding.is_error, finding.place.file, finding.place.line


def _findings(error: FuelError) -> list[Finding]:
    """The findings to print before the message of an error, unless the message repeats them all. The edges of a
    cycle stay in their order; those that are drawn are left out."""
    message = error.message.casefold()
    if all(text.casefold() in message for each in error.findings for text in (each.message, str(each.place))):
        return []
    if isinstance(error, CycleDetected):
        return [finding for finding in error.findings if not error.drawings or not finding.task]
    return sorted(error.findings, key=urgency)


def _is_repeated(error: FuelError, findings: list[Finding]) -> bool:
    """Whether an error repeats one of its findings, and may count the others."""
    message, others = error.message.rstrip(".").casefold(), f" (and {len(findings) - 1} more)"
    texts = (each.message.rstrip(".").casefold() for each in findings if error.hint in ("", each.hint))
    return any(message == text or message.endswith(text + others) for text in texts)


def _require_text(argv: list[str]) -> None:
    """Raise `UsageError` for an argument that is not text in the encoding of the locale: it cannot be stored."""
    for word in argv:
        try:
            word.encode()
        except UnicodeEncodeError:
            shown = word.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
            encoding = sys.getfilesystemencoding().upper()
            hint = "A file with such a name can be read from standard input."
            raise UsageError(f"The argument '{shown}' is not text in the encoding {encoding}.", hint=hint) from None


def _is_missing(path: str) -> bool:
    """Whether a file does not exist; false if permissions hide it."""
    try:
        os.stat(path)
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False
