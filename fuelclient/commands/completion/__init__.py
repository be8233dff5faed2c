"""Complete command lines in bash, zsh and fish: the words that fit at the cursor.

The scripts of the shells (`fuel2.bash`, `fuel2.zsh`, `fuel2.fish`) hand the words before the cursor to `fuel2 complete
--words`, which `main` answers without the command framework: loading it takes longer than a person waits for Tab.
`options.json` is generated from the parsers of the commands by `docs/reference.py`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from fuelclient import settings
from fuelclient.backends.names import Row, Scope
from fuelclient.backends.names import names as rows_of
from fuelclient.commands.table import ALIASES, COMMANDS
from fuelclient.errors import FuelError
from fuelclient.grouping import grouped
from fuelclient.similar import normal

FILE, DIRECTORY, COMMAND = "file", "directory", "command"

Candidate = tuple[str, str]
"""A completion, and its meaning."""

_ADD_NODES = "env add nodes"
"""The command that takes nodes which are not in its environment yet."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An option, or a positional argument, which has no spellings.

    `takes` is the kind of thing that its value names (a noun of `backends.names`, a file, a directory, a command), or
    empty. `named` is true if a name is accepted besides an id. A `flag` takes no value.
    """

    spellings: Sequence[str] = ()
    help: str = ""
    takes: str = ""
    choices: Sequence[str] = ()
    named: bool = False
    flag: bool = False
    several: bool = False


@cache
def arguments_by_command() -> Mapping[str, tuple[Argument, ...]]:
    """The arguments of each command by its name; the global options are under an empty name."""
    commands = json.loads(Path(__file__).with_name("options.json").read_text(encoding="utf-8"))
    return {name: tuple(Argument(**fields) for fields in arguments) for name, arguments in commands.items()}


@dataclass
class _Line:
    """The parsed words of a line before the cursor.

    `awaiting` is the option that takes the next word, `begun` is true if it has a value already, `closed` after `--`.
    """

    command: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    positionals: int = 0
    values: list[tuple[Argument, str]] = field(default_factory=list)
    awaiting: Argument | None = None
    begun: bool = False
    closed: bool = False

    @property
    def name(self) -> str:
        """The name of the command, or an empty string if it is not complete."""
        name = " ".join(self.command)
        return name if name in COMMANDS else ""

    def options(self) -> Iterator[Argument]:
        own = arguments_by_command().get(self.name, ()) if self.name else ()
        yield from (argument for argument in (*own, *arguments_by_command()[""]) if argument.spellings)

    def option(self, word: str) -> Argument | None:
        return next((option for option in self.options() if word in option.spellings), None)

    def positional(self) -> Argument | None:
        arguments = [argument for argument in arguments_by_command().get(self.name, ()) if not argument.spellings]
        if self.positionals < len(arguments):
            return arguments[self.positionals]
        return arguments[-1] if arguments and arguments[-1].several else None


def answer(words: Sequence[str]) -> str:
    """Complete the last of `words`, which the user is typing. The text is what the scripts of the shells read.

    Its first line is `files` or `directories`, which the shell completes by itself, or `words`; then each further line
    is a word, a tab and its meaning. If anything fails, there are no words, because no shell could show an error here.
    """
    before, current = list(words[:-1]), words[-1] if words else ""
    line = _read(before)
    option, equals, rest = current.partition("=")
    argument, prefix = line.awaiting, ""
    if equals and option.startswith("--") and line.option(option):
        argument, prefix, current = line.option(option), f"{option}=", rest
    elif argument is None or (line.begun and current.startswith("-")):
        argument = None
        if line.closed or not current.startswith("-"):
            argument = line.positional() if line.name else None
    if argument is not None and argument.takes in (FILE, DIRECTORY):
        return "files\n" if argument.takes == FILE else "directories\n"
    candidates = _values(line, argument, current) if argument is not None else _words(line, current)
    prefixed = ((prefix + word, meaning) for word, meaning in candidates)
    lines = [f"{word}\t{' '.join(meaning.split())}" for word, meaning in prefixed if word and word.isprintable()]
    return "\n".join(["words", *lines, ""])  # words with line breaks are left out


def _read(words: Iterable[str]) -> _Line:
    line = _Line()
    for word in words:
        if not line.closed and word == "--":
            line.closed, line.awaiting = True, None
        elif not line.closed and word.startswith("-") and (line.awaiting is None or line.begun):
            _read_option(line, word)
        elif line.awaiting is not None:
            line.values.append((line.awaiting, word))
            line.begun = True
            if not line.awaiting.several:
                line.awaiting = None
        elif not line.name or any(f"{name} ".startswith(f"{line.name} {word} ") for name in COMMANDS):
            line.command.append(ALIASES.get(word, word) if not line.command else word)
        else:
            argument = line.positional()
            line.positionals += 1
            if argument is not None:
                line.values.append((argument, word))
    return line


def _read_option(line: _Line, word: str) -> None:
    name, equals, value = word.partition("=")
    option = line.option(name)
    line.awaiting, line.begun = None, False
    if option is None:
        return
    line.used.update(option.spellings)
    if equals:
        line.values.append((option, value))
    elif not option.flag:
        line.awaiting = option


def _words(line: _Line, current: str) -> Iterator[Candidate]:
    if line.closed:
        return
    if not current.startswith("-"):
        yield from _next_words(line.command, current)
    if current.startswith("-") or line.name:
        yield from _options(line, current)


def _options(line: _Line, current: str) -> Iterator[Candidate]:
    """Yield each unused option by its first long spelling that fits, or else by its first short one."""
    seen = set(line.used)
    for option in line.options():
        if seen.intersection(option.spellings) and not option.several:
            continue
        seen.update(option.spellings)
        fitting = [name for name in option.spellings if name.startswith(current)]
        long = [name for name in fitting if name.startswith("--")]
        for name in long[:1] or fitting[:1]:
            yield name, option.help


def _next_words(command: Sequence[str], current: str) -> Iterator[Candidate]:
    """Yield the words that continue a command, with the help of the command if a word leads to only one."""
    prefix = "".join(f"{word} " for word in command)
    matching = [name for name in sorted(COMMANDS) if name.startswith(prefix) and name != prefix.strip()]
    for word, names in grouped((name[len(prefix) :].split()[0], name) for name in matching).items():
        if word.startswith(current):
            only = len(names) == 1
            yield word, COMMANDS[names[0]][1] if only else ", ".join(name[len(prefix + word) :] for name in names)


def _values(line: _Line, argument: Argument, current: str) -> list[Candidate]:
    """The values of an argument that begin with `current` or, in a list such as `1,2`, with its last part."""
    listed, comma, last = current.rpartition(",") if argument.several or argument.takes == "task" else ("", "", current)
    given = set(listed.split(","))
    if argument.takes == COMMAND:
        return list(_next_words([value for option, value in line.values if option.takes == COMMAND], current))
    rows = [(choice, "") for choice in argument.choices] or _candidates(line, argument, last)
    return [
        (f"{listed}{comma}{word}", meaning) for word, meaning in rows if word.startswith(last) and word not in given
    ]


def _candidates(line: _Line, argument: Argument, current: str) -> list[Candidate]:
    """Complete things by name if the argument accepts names, but by id once a digit is typed."""
    rows = _rows(line, argument.takes) if argument.takes else ()
    names = [name for _, name, _ in rows]
    by_id = current[:1].isdigit() or not argument.named
    candidates = []
    for key, name, detail in rows:
        if key and (by_id or not name or name.isdigit() or names.count(name) > 1):
            candidates.append((key, f"{name} {detail}"))
        else:
            candidates.append((name, f"{key} {detail}"))
    return candidates


def _rows(line: _Line, noun: str) -> Sequence[Row]:
    """Read all things of a noun from the backend of this line; empty if it cannot be reached."""
    given = {name: value for option, value in line.values for name in option.spellings}
    overrides = {
        "ENGINE": os.path.expanduser(given["--engine"]) if "--engine" in given else None,
        "SERVER_ADDRESS": given.get("--server"),
    }
    try:
        loaded = settings.load(overrides, local="--local" in line.used)
        return rows_of(loaded, noun, _scope(line, loaded))
    except (FuelError, OSError, ValueError):
        return ()


def _scope(line: _Line, loaded: settings.Settings) -> Scope:
    """The environment, run and graph types of the line, which narrow the next value. An environment that does not exist
    is ignored."""
    run = _value_on(line, "run")
    types = [name for argument, value in line.values if argument.takes == "type" for name in value.split(",")]
    scope = Scope(None, int(run) if run.isdecimal() else None, tuple(types))
    environment = _value_on(line, "environment")
    if not environment or line.name == _ADD_NODES:
        return scope
    if environment.isdecimal():
        return replace(scope, cluster=int(environment))
    matching = [
        int(key) for key, name, _ in rows_of(loaded, "environment", Scope()) if normal(name) == normal(environment)
    ]
    return replace(scope, cluster=matching[0]) if matching else scope


def _value_on(line: _Line, noun: str) -> str:
    return next((value for argument, value in line.values if argument.takes == noun), "")
