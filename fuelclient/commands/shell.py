"""The application: from a command line to one command, and from an error to a line and an exit code."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any, TextIO, cast

from cliff.app import App

from fuelclient import __version__
from fuelclient.commands.exits import Exit, exit_of
from fuelclient.commands.manager import TableManager
from fuelclient.commands.overview import DESCRIPTION, PROGRAM, global_parser, overrides, overview, version
from fuelclient.errors import Conflict, CycleDetected, FuelError, InvalidDocument, UsageError
from fuelclient.printing import printable

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.settings import Settings

LOG = logging.getLogger("fuelclient")
"""All narration goes through here, and so to stderr and to `--log-file`."""

_LEVELS = {0: logging.WARNING, 1: logging.INFO}


class _Printable(logging.Formatter):
    """Lines in which names and messages of others cannot command the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record), keep="\n\t")


class _Out:
    """A stream for data that remembers why it took no more. Such an error names no file, and is told apart from those
    of other files, a full disk under a package for instance, by where it was raised only."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.failure: OSError | None = None

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
    """`fuel2`: global options, a backend that is connected when a command first asks for it, exit codes.

    stdout carries data only; everything said about it goes to stderr. A traceback is shown for `--debug` and
    never without.
    """

    NAME = PROGRAM
    LOG = LOG

    def __init__(self, stdin: TextIO | None = None, stdout: TextIO | None = None, stderr: TextIO | None = None) -> None:
        super().__init__(DESCRIPTION, __version__, TableManager(), stdin, stdout, stderr, deferred_help=True)
        self._out = _Out(self.stdout)
        self.stdout = cast("TextIO", self._out)
        self.options = argparse.Namespace()
        self._backend: Backend | None = None
        self._settings: Settings | None = None
        self._handlers: list[logging.Handler] = []

    def build_option_parser(
        self,
        description: str | None,  # noqa: ARG002 (cliff fixes these parameters)
        version: str | None,  # noqa: ARG002
        argparse_kwargs: dict[str, object] | None = None,  # noqa: ARG002
    ) -> argparse.ArgumentParser:
        """The global options of the overview, which alone describes them."""
        return global_parser()

    @property
    def backend(self) -> Backend:
        """Where the data lives, connected at first use; `settings` decide which backend that is."""
        if self._backend is None:
            from fuelclient import backends

            self._backend = backends.connect(self.settings)
        return self._backend

    @property
    def settings(self) -> Settings:
        """The settings of this line, read at first use; what there is to say about them is said then."""
        if self._settings is None:
            from fuelclient import settings

            if self.options.engine and self.options.server:
                raise UsageError("--engine and --server name two places.", hint="Leave one of them out.")
            self._settings = settings.load(overrides(self.options), local=self.options.local)
            for warning in self._settings.warnings:
                LOG.warning("%s", warning)
        return self._settings

    def run(self, argv: list[str]) -> int:
        """Run one command line and return its exit code. Nothing is raised but what ends the interpreter."""
        try:
            self.options, rest = self.parser.parse_known_args(argv)
            self.configure_logging()
            _require_text(argv)
            return self._dispatch(rest)
        except SystemExit as leaving:  # argparse, which has said what is wrong
            return leaving.code if isinstance(leaving.code, int) else Exit.USAGE
        except (Exception, KeyboardInterrupt) as error:
            return self._report(error)
        finally:
            self._close()

    def _dispatch(self, rest: list[str]) -> int:
        helping = self.options.deferred_help
        if rest[:1] == ["--version"]:
            self.stdout.write(version())
        elif not rest:
            self.stdout.write(overview())
        else:
            return self.run_subcommand(["help", *_words(rest)] if helping else rest)
        return Exit.OK

    def run_subcommand(self, argv: list[str]) -> int:
        """Run the command that `argv` begins with; its errors are the caller's."""
        factory, name, rest = self.command_manager.find_command(argv)
        command = factory(self, self.options, cmd_name=name)
        return command.run(command.get_parser(f"{self.NAME} {name}").parse_args(rest))

    def interact(self) -> None:
        """There is no interactive shell: a line without a command prints the overview."""
        self.stdout.write(overview())

    def configure_logging(self) -> None:
        """Send narration to stderr as loud as `-q` and `-v` say, and all of it to `--log-file`."""
        level = _LEVELS.get(self.options.verbose_level, logging.DEBUG)
        self._listen(logging.StreamHandler(self.stderr), level, self.CONSOLE_MESSAGE_FORMAT)
        if self.options.log_file:
            try:
                handler = logging.FileHandler(self.options.log_file, encoding="utf-8", errors="backslashreplace")
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
                raise UsageError(
                    f"The log file {self.options.log_file} cannot be written: {reason}.", hint="Name another one."
                ) from error
            self._listen(handler, logging.DEBUG, self.LOG_FILE_MESSAGE_FORMAT)
        LOG.setLevel(logging.DEBUG)

    def _listen(self, handler: logging.Handler, level: int, layout: str) -> None:
        handler.setLevel(level)
        handler.setFormatter(_Printable(layout))
        LOG.addHandler(handler)
        self._handlers.append(handler)

    def _report(self, error: BaseException) -> Exit:
        """Say what went wrong, in one line and its findings, and return the exit code for it."""
        code = exit_of(error)
        if code is Exit.BROKEN_PIPE or error is self._out.failure:
            raise error  # main() owns stdout, and knows how to leave it
        if code is Exit.INTERRUPTED:
            return code
        if getattr(self.options, "debug", False):
            traceback.print_exception(error, file=self.stderr)
        found = _findings(error)
        for finding in found:
            LOG.error("%s", finding)
        if found and _repeats(error, found):
            return code
        if isinstance(error, FuelError):
            LOG.error("%s", one_line(str(error)))
        else:
            text = one_line(str(error))
            LOG.error("unexpected error %s: %s (--debug shows the traceback)", type(error).__name__, text)
        return code

    def tell_absence(self) -> None:
        """Who named an engine file that is not there has been told so: what it was asked for may be a misspelt one's.
        The user's own file is not there before the first write, and that is nothing to speak of."""
        settings = self._settings
        if settings is None or settings["SERVER_ADDRESS"].value or settings["ENGINE"].origin == "default":
            return
        if _is_absent(settings.engine):
            LOG.warning("Engine file %s does not exist yet, and reads as an empty one.", settings.engine)

    def _close(self) -> None:
        if self._backend is not None:
            self.tell_absence()
            self._backend.close()
            self._backend = None
        self._settings = None
        for handler in self._handlers:
            LOG.removeHandler(handler)
            handler.close()
        self._handlers.clear()


def one_line(text: str) -> str:
    """`text` with every run of white space as one blank, so that it fills one line.

    >>> one_line("first\\n  second")
    'first second'
    """
    return " ".join(text.split())


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "node"), count(2, "node")
    ('1 node', '2 nodes')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


CYCLE = "G050"
"""The code of findings about the edges of a cycle, which are read in the order of the ring."""


def urgency(finding: object) -> tuple[bool, str, int]:
    """Errors first, then by file and line; findings without a place come first among their equals, and so do the edges
    of a cycle, in the order in which they are told."""
    if getattr(finding, "code", "") == CYCLE:
        return False, "", 0
    place = getattr(finding, "place", None)
    return not getattr(finding, "is_error", False), getattr(place, "file", ""), getattr(place, "line", 0)


def _findings(error: BaseException) -> list[object]:
    """What to print before the message of an error: its findings, unless the only one is the message in other words.
    The edges of a cycle stay in the order of the ring."""
    if not isinstance(error, InvalidDocument | Conflict):
        return []
    if len(error.findings) == 1 and getattr(error.findings[0], "message", "") in error.message:
        return []
    return list(error.findings) if isinstance(error, CycleDetected) else sorted(error.findings, key=urgency)


def _repeats(error: BaseException, found: list[object]) -> bool:
    """Whether the message only says the first of several findings once more, and how many others there are."""
    message = getattr(error, "message", "")
    return any(message.endswith(f"{getattr(one, 'message', '')} (and {len(found) - 1} more).") for one in found)


def _require_text(argv: list[str]) -> None:
    """Raise `UsageError` for an argument that is no text in the encoding of the locale; nothing could store it."""
    for word in argv:
        if not _is_text(word):
            shown = word.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
            encoding = sys.getfilesystemencoding().upper()
            hint = "A file of such a name can be given as standard input."
            raise UsageError(f"The argument '{shown}' is not text in the encoding {encoding}.", hint=hint)


def _is_text(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_absent(path: str) -> bool:
    """Whether nothing has that name; not where nobody may look."""
    try:
        os.stat(path)
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False


def _words(rest: list[str]) -> list[str]:
    """The words of a line before its first option: what help is asked for."""
    first = next((index for index, word in enumerate(rest) if word.startswith("-")), len(rest))
    return rest[:first]
