"""The prompt of `env facts eval --interactive`: lines with completion and history, and answers to them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from fuelclient.errors import FuelError
from fuelclient.facts.paths import completions
from fuelclient.printing import printable

if TYPE_CHECKING:
    from fuelclient.backends.consoles import ConsoleFacts
    from fuelclient.commands.base import Command

_NODE, _QUIT, _HELP = ":node", ":quit", ":help"
_HELP_TEXT = (
    "Type an expression: $.roles, changed($.roles), or settings:storage.images_ceph.value == true.",
    ":node 2 goes to node 2, :node to the facts that all nodes share. :quit ends.",
)
_DELIMITERS = " \t\n\"'()[]{},=<>!+*/"
"""What ends a word that is completed; a path with its dots and its $ is one word."""
_MOST_LINES = 1000


def converse(command: Command, facts: ConsoleFacts, node: str = "", *, language: str = "") -> None:
    """Answer lines of stdin until it ends. Errors are answers too."""
    conversation = Conversation(facts, node, language)
    stdin, stdout = command.app.stdin, command.app.stdout
    lines = _typed(conversation, stdout) if stdin.isatty() else iter(stdin)
    for line in lines:
        if line.strip() == _QUIT:
            break
        for told in conversation.answer(line.strip()):
            stdout.write(f"{told}\n")
        stdout.flush()


class Conversation:
    """The node that expressions are evaluated on, and answers to lines."""

    def __init__(self, facts: ConsoleFacts, node: str, language: str) -> None:
        self._facts, self._language = facts, language
        self._console = facts.at(node)
        self.node = node

    @property
    def prompt(self) -> str:
        return f"node {self.node}> " if self.node else "common> "

    def answer(self, line: str) -> Iterator[str]:
        """Yield the lines of the answer to a line: the value, and the old one if it has changed."""
        try:
            if line == _HELP:
                yield from _HELP_TEXT
            elif line.split()[:1] == [_NODE]:
                wanted = line.removeprefix(_NODE).strip()
                self._console, self.node = self._facts.at(wanted), wanted
            elif line:
                told = self._console.evaluated(line, self._language)
                yield _shown(self._console.masked(line, told.value))
                if told.changed and self._facts.run_id:
                    yield f"changed; in run {self._facts.run_id}: {_shown(self._console.masked(line, told.old))}"
        except FuelError as error:
            yield printable(str(error))

    def completed(self, text: str) -> list[str]:
        """Return what a word can become."""
        if text.startswith(":"):
            return [word for word in (_NODE, _QUIT, _HELP) if word.startswith(text)]
        model, colon, path = text.rpartition(":")
        found = completions(self._facts.seen_by(self.node), path)
        return [f"{model}{colon}{name}" for name in found]


def _shown(value: Any) -> str:
    """Return a value as JSON, which is also YAML."""
    return printable(json.dumps(value, ensure_ascii=False, indent=2, default=str), keep="\n")


def _typed(conversation: Conversation, stdout: TextIO) -> Iterator[str]:
    """Yield the lines that somebody types on a terminal."""
    with _line_editing(conversation):
        while True:
            try:
                yield input(conversation.prompt)
            except EOFError:
                stdout.write("\n")
                return
            except KeyboardInterrupt:  # as in a shell: the line is dropped
                stdout.write("\n")


@contextmanager
def _line_editing(conversation: Conversation) -> Iterator[None]:
    """Let `input` complete words and recall lines, in this session and in later ones."""
    try:
        import readline
    except ImportError:  # some builds of Python have none; lines can be typed all the same
        yield
        return
    found: list[str] = []

    def complete(text: str, state: int) -> str | None:
        if state == 0:
            found[:] = conversation.completed(text)
        return found[state] if state < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims(_DELIMITERS)
    readline.parse_and_bind("tab: complete")
    path = _history_file()
    with suppress(OSError):  # there may be none yet
        readline.read_history_file(path)
    try:
        yield
    finally:
        readline.set_completer(None)
        readline.set_history_length(_MOST_LINES)
        with suppress(OSError):  # an expression that is forgotten harms nobody
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(mode=0o600)
            readline.write_history_file(path)


def _history_file() -> Path:
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".local/state") / "fuel" / "expressions"
