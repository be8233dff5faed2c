"""Finding a command: the table first, other packages' commands only when it is not in there."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from importlib.metadata import EntryPoint, entry_points

from cliff.command import Command
from cliff.commandmanager import CommandManager

from fuelclient.commands.table import ALIASES, COMMANDS, EXTENSIONS
from fuelclient.errors import UsageError, nearest

_NAMESPACE = "fuelclient.cli"


class TableManager(CommandManager):
    """cliff's lookup (whole names, or unambiguous beginnings of each word) over the command table.

    A command's class is imported when that command runs, and only then.
    """

    def __init__(self) -> None:
        super().__init__(_NAMESPACE)
        self._extended = False

    def _load_commands(self) -> None:
        """Fill in the table instead of scanning and importing everything."""
        for name, (target, _) in COMMANDS.items():
            self.commands[name] = EntryPoint(name, target, _NAMESPACE)

    def add_command(self, name: str, command_class: type[Command]) -> None:
        """Add a command; one that the table names (cliff brings a `help` of its own) stays the table's."""
        if name not in COMMANDS:
            super().add_command(name, command_class)

    def extend(self) -> None:
        """Add the commands of other packages, once; none of them can take the place of ours."""
        if not self._extended:
            self._extended = True
            for point in entry_points(group=EXTENSIONS):
                self.commands.setdefault(point.name.replace("_", " "), point)

    def find_command(self, argv: list[str]) -> tuple[type[Command], str, list[str]]:
        """The class, the words that named it, and the rest of the line. Raises `UsageError` for no command."""
        if argv and argv[0] in ALIASES:
            argv = [ALIASES[argv[0]], *argv[1:]]
        try:
            return super().find_command(argv)
        except ValueError:
            self.extend()
        try:
            return super().find_command(argv)
        except ValueError:
            words = argv[: self._get_last_possible_command_index(argv)]
            raise unknown(words or argv[:1], self.commands) from None


def unknown(words: list[str], commands: Iterable[str]) -> UsageError:
    """The error for words that name no command, with suggestions from the same noun only.

    >>> str(unknown(["graph", "lst"], ["graph list", "env list"]))
    "'graph lst' is not a fuel2 command. Did you mean 'graph list'?"
    >>> str(unknown(["role"], ["role list", "role show", "env list"]))
    "'role' is not a whole fuel2 command. It goes on with: list, show."
    """
    names = sorted(commands)
    said = " ".join(words)
    noun = words[0]
    nouns = {name.split()[0] for name in names}
    if noun.startswith("-"):
        return UsageError(f"'{noun}' is not an option of fuel2 itself.", hint="Put it behind a command.")
    if noun not in nouns:
        close = nearest(noun, nouns)
        hint = f"Did you mean '{close}'?" if close else "'fuel2 help' lists all commands."
        return UsageError(f"'{said}' is not a fuel2 command.", hint=hint)
    siblings = [name for name in names if name.split()[0] == noun]
    rests = [name.partition(" ")[2] for name in siblings]
    if len(words) == 1:
        return UsageError(f"'{noun}' is not a whole fuel2 command.", hint=f"It goes on with: {', '.join(rests)}.")
    meant = " or ".join(f"'{noun} {rest}'" for rest in _meant(words[1:], rests))
    known = f"Did you mean {meant}?" if meant else f"'{noun}' goes on with: {', '.join(rests)}."
    return UsageError(f"'{said}' is not a fuel2 command.", hint=known)


_DESTRUCTIVE = ("delete", "remove")
_LIKE, _ALMOST = 0.6, 0.8
"""How much like a command words are that mean it: where they begin like it, and where they may be another verb."""


def _meant(words: list[str], rests: list[str]) -> list[str]:
    """What of `rests` somebody who typed `words` probably meant: those that begin with the first word, else the one
    that is most like the words. What destroys something is never offered for another verb.

    >>> _meant(["deploy", "1"], ["delete", "list"]), _meant(["delte", "1"], ["delete", "list"])
    ([], ['delete'])
    >>> _meant(["settngs", "upload"], ["show", "settings download", "settings upload"])
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
