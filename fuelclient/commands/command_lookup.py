"""Find a command: first in the table, then among the commands of other packages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from importlib.metadata import EntryPoint, entry_points

from cliff.command import Command
from cliff.commandmanager import CommandManager

from fuelclient.commands.table import ALIASES, COMMANDS, EXTENSIONS, PLURALS
from fuelclient.errors import UsageError, nearest

_NAMESPACE = "fuelclient.cli"


class TableManager(CommandManager):
    """cliff's lookup (whole names, or unambiguous beginnings of each word) over the command table.

    The class of a command is imported only when that command runs.
    """

    def __init__(self) -> None:
        super().__init__(_NAMESPACE)
        self._extended = False

    def _load_commands(self) -> None:
        """Use the table instead of scanning and importing everything."""
        for name, (target, _) in COMMANDS.items():
            self.commands[name] = EntryPoint(name, target, _NAMESPACE)

    def add_command(self, name: str, command_class: type[Command]) -> None:
        """Add a command unless the table has it: cliff would replace our `help` by its own."""
        if name not in COMMANDS:
            super().add_command(name, command_class)

    def extend(self) -> None:
        """Add the commands of other packages, once; they cannot replace ours."""
        if not self._extended:
            self._extended = True
            for point in entry_points(group=EXTENSIONS):
                self.commands.setdefault(point.name.replace("_", " "), point)

    def find_command(self, argv: list[str]) -> tuple[type[Command], str, list[str]]:
        """Return the class, its name, and the rest of the line. Raise `UsageError` if there is no such command."""
        argv = singular(argv)
        try:
            return self._whole(super().find_command(argv))
        except ValueError:
            self.extend()
        try:
            return self._whole(super().find_command(argv))
        except ValueError:
            words = argv[: self._get_last_possible_command_index(argv)]
            raise unknown(words or argv[:1], self.commands) from None

    def _whole(self, found: tuple[type[Command], str, list[str]]) -> tuple[type[Command], str, list[str]]:
        """Return what was found with the whole name of the command, of which the line may have only beginnings."""
        factory, typed, rest = found
        words = typed.split()
        names = (name for name in self.commands if len(name.split()) == len(words))
        begun = [name for name in names if all(map(str.startswith, name.split(), words))]
        return factory, typed if typed in self.commands or len(begun) != 1 else begun[0], rest


def singular(argv: list[str]) -> list[str]:
    """Return a command line with the noun that the table has; a plural without a verb lists.

    >>> singular(["nodes", "list"]), singular(["releases"]), singular(["releases", "-f", "json"])
    (['node', 'list'], ['release', 'list'], ['release', 'list', '-f', 'json'])
    >>> singular(["plugin", "list"]), singular(["env"])
    (['plugins', 'list'], ['env'])
    """
    noun, rest = (argv[0], argv[1:]) if argv else ("", [])
    if noun in PLURALS:
        return [PLURALS[noun], *([] if rest and not rest[0].startswith("-") else ["list"]), *rest]
    return [ALIASES[noun], *rest] if noun in ALIASES else argv


class Incomplete(UsageError):
    """A noun without a verb. `commands` are the commands of the noun with their one-line helps."""

    def __init__(self, noun: str, commands: Sequence[tuple[str, str]]) -> None:
        super().__init__(f"'{noun}' is not a complete fuel2 command.", hint="Continue it with one of these:")
        self.commands = commands


def unknown(words: list[str], commands: Iterable[str]) -> UsageError:
    """Return the error for words that are not a command, with suggestions from the same noun only.

    >>> str(unknown(["graph", "lst"], ["graph list", "env list"]))
    "'graph lst' is not a fuel2 command. Did you mean 'graph list'?"
    >>> str(unknown(["role"], ["role list", "role show", "env list"]))
    "'role' is not a complete fuel2 command. Continue it with one of these:"
    """
    names = sorted(commands)
    noun = words[0]
    nouns = {name.split()[0] for name in names}
    if noun.startswith("-"):
        return UsageError(f"'{noun}' is not a global option of fuel2.", hint="Put it after the command it belongs to.")
    if noun not in nouns:
        close = nearest(noun, nouns)
        hint = f"Did you mean '{close}'?" if close else "'fuel2 help' lists all commands."
        return UsageError(f"'{' '.join(words)}' is not a fuel2 command.", hint=hint)
    siblings = [name for name in names if name.split()[0] == noun]
    rests = [name.partition(" ")[2] for name in siblings]
    if len(words) == 1:
        return Incomplete(noun, [(name, COMMANDS.get(name, ("", ""))[1]) for name in siblings])
    close = " or ".join(f"'{noun} {rest}'" for rest in _suggestions(words[1:], rests))
    known = f"Did you mean {close}?" if close else f"Continue '{noun}' with: {', '.join(rests)}."
    return UsageError(f"'{' '.join(words)}' is not a fuel2 command.", hint=known)


_DESTRUCTIVE = ("delete", "remove")
_LIKE, _ALMOST = 0.6, 0.8
"""How similar words must be to a command to suggest it: if the first letter is the same, and if it differs."""


def _suggestions(words: list[str], rests: list[str]) -> list[str]:
    """Return which of `rests` the words `words` probably meant.

    These are the ones that begin with the first word, or else the most similar one. A destructive command is never
    suggested for another verb.

    >>> _suggestions(["deploy", "1"], ["delete", "list"]), _suggestions(["delte", "1"], ["delete", "list"])
    ([], ['delete'])
    >>> _suggestions(["settngs", "upload"], ["show", "settings download", "settings upload"])
    ['settings upload']
    """
    begun = [rest for rest in rests if rest.startswith(words[0]) and not rest.startswith(_DESTRUCTIVE)]
    if begun:
        return begun
    close = []
    for rest in rests:
        typed = " ".join(words[: len(rest.split())])
        begins = rest[0] == typed[0] and not rest.startswith(_DESTRUCTIVE)
        alike = SequenceMatcher(None, typed, rest).ratio()
        if alike >= (_LIKE if begins else _ALMOST):
            close.append((begins, alike, rest))
    return [max(close)[2]] if close else []
