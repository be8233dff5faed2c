"""How the line of one command is parsed, what its help looks like, and which option an unknown one means."""

from __future__ import annotations

import argparse
import os
import shlex
import textwrap
from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from typing import Any, NoReturn

from cliff._argparse import ArgumentParser, SmartHelpFormatter

from fuelclient.commands.arguments import BY_OPTION
from fuelclient.commands.fitting import wrapped
from fuelclient.commands.global_options import PROGRAM, Layout, OneLineParser, columns, global_parser
from fuelclient.commands.table import COMMANDS
from fuelclient.similar import close, is_id

_EVERYWHERE = f"Global options, such as --engine, --server, -q and -v, stand anywhere: '{PROGRAM} help'."
_TIED = "\0"
_TABLES = 2
"""From this group on, the groups of options of a parser are those that cliff gives to lists and single objects."""

_COMMAND_PREFIXES = tuple(f"{PROGRAM} {name.split()[0]} " for name in COMMANDS)


def is_example(paragraph: str) -> bool:
    """Whether a paragraph is an example: indented, or a command line.

    Python removes the indentation of a docstring if only an example follows its first line.

    >>> is_example("  fuel2 env list"), is_example("fuel2 env list"), is_example("fuel2 and others use it.")
    (True, True, False)
    """
    return paragraph.startswith(" ") or f"{paragraph} ".startswith(_COMMAND_PREFIXES)


def examples(paragraph: str) -> list[str]:
    """The lines of a paragraph of command lines, or nothing for any other paragraph."""
    lines = textwrap.dedent(paragraph).strip().splitlines()
    return lines if is_example(paragraph) and lines and lines[0].startswith(f"{PROGRAM} ") else []


def folded(line: str, width: int) -> list[str]:
    """A command line on as many lines as it needs, which can be pasted as they are.

    >>> folded("fuel2 env list -f json", 20)
    ['fuel2 env list \\\\', '    -f json']
    """
    if len(line) <= width:
        return [line]
    blanks = [at for at, letter in enumerate(line) if letter == " " and line[:at].strip() and _is_whole(line[:at])]
    cuts = [at for at in blanks if at < width - 1] or blanks[:1]
    if not cuts:
        return [line]
    cut = next((at for at in reversed(cuts) if line[at + 1] in "-|"), cuts[-1])
    return [f"{line[:cut]} \\", *folded(f"    {line[cut + 1 :]}", width)]


def below_comment(line: str, comment: str, width: int) -> str:
    """A command line below a comment, both on as many lines as a terminal of `width` columns needs; 0: one each."""
    shown = wrapped(f"# {comment}", width, "# ") if width else [f"# {comment}"]
    return "\n".join([*shown, *folded(line, width or len(line))])


def _is_whole(words: str) -> bool:
    """Whether no quote is open at the end."""
    try:
        shlex.split(words)
    except ValueError:
        return False
    return not words.endswith(" ")


class HelpFormatter(Layout, SmartHelpFormatter):
    """Fills the paragraphs of a docstring, but not what is indented: grammars and tables."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(
            paragraph if paragraph.startswith(" ") else super(HelpFormatter, self)._fill_text(paragraph, width, indent)
            for paragraph in text.strip("\n").split("\n\n")
        )


class Parser(OneLineParser, ArgumentParser):
    """A command's parser. Its help begins with what people look for first, and it suggests an option in place of an
    unknown one."""

    _words: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the words; an option that stands for the first argument takes its place, and may repeat it."""
        self._words = words = tuple(args or ())
        twin = next((action for action in self._actions if action.dest == BY_OPTION), None)
        named = None
        if twin is not None:
            option = OneLineParser(prog=self.prog, add_help=False, allow_abbrev=False)
            option.add_argument(*twin.option_strings, dest=BY_OPTION)
            found, rest = option.parse_known_args(words)
            named = getattr(found, BY_OPTION)
        if twin is None or named is None:
            return super().parse_known_args(words, namespace)
        parsed, extra = super().parse_known_args((named, *rest), namespace)
        if extra and not extra[0].startswith("-"):
            if extra[0] != named:
                super().error(f"{extra[0]} and {twin.option_strings[1]} {named} contradict each other; leave one out")
            extra = extra[1:]
        return parsed, extra

    def error(self, message: str) -> NoReturn:
        super().error(f"{message}{self._greedy(message) or self._suggestion(message)}")

    def _greedy(self, message: str) -> str:
        """A sentence with the option of several values that has probably taken the argument that is missing."""
        missing = message.partition("arguments are required: ")[2]
        for number, word in enumerate(self._words if missing.isupper() else ()):
            action = self._option_string_actions.get(word)
            taken = [*takewhile(lambda each: not each.startswith("-"), self._words[number + 1 :])]
            if action and action.nargs == "+" and len(taken) > 1:
                return f". {word} takes all words up to the next option: put {missing} before {word}"
        return ""

    def _suggestion(self, message: str) -> str:
        """A sentence with the option that the first unknown one, or the first word too many, probably means; empty if
        none is similar."""
        options = self._option_string_actions
        known = [*options, *global_parser()._option_string_actions]
        words = [*takewhile(lambda word: word != "--", self._words)]
        for word, following in zip(words, (*words[1:], ""), strict=False):
            option = word.partition("=")[0]
            form = options.get("--format")
            if form and option in options and options[option].nargs == 0 and following == "json":
                meant = "json" if "json" in (form.choices or ()) else "jsonl"
                return f". {option} takes no value here. Did you mean --format {meant}?"
            opposite = f"--no-{option[2:]}"
            if word in (f"{option}=no", f"{option}=false") and opposite in options:
                return f". Did you mean {opposite}?"
            is_known = option in known or option[:2] in options or any(name.startswith(option) for name in options)
            if not option.startswith("-") or is_known:
                continue
            for value in (option.lstrip("-"), following):
                if form and value in (form.choices or ()):
                    return f". {option} does not exist. Did you mean {form.option_strings[0]} {value}?"
            for action in self._actions:
                if not action.option_strings and action.dest == option.lstrip("-"):
                    value = str(action.metavar or action.dest.upper())
                    return f". {value} needs no option here: {self.prog} {value}"
            near = close(option, [name for name in known if name.startswith("--")])
            return f". {option} does not exist. Did you mean {near}?" if near else ""
        return self._misplaced(message)

    def _misplaced(self, message: str) -> str:
        """A sentence with the option that takes the first word too many: a file, a directory or an environment."""
        words = [*takewhile(lambda word: not word.startswith("-"), self._words)]
        arguments = [action for action in self._actions if not action.option_strings]
        extra = message.partition("unrecognized arguments: ")[2]
        if not extra and (len(words) <= len(arguments) or any(action.nargs for action in arguments)):
            return ""
        word = next((each for each in self._words if f"{extra} ".startswith(f"{each} ")), extra)
        word = word or words[len(arguments)]
        is_file = word.endswith((".yaml", ".yml", ".json")) or os.path.isfile(word)
        number = next(filter(is_id, words), "")  # rather this than a word, which need not be an environment's name
        places = (
            ("--file", word, is_file), ("--dir", word, os.path.isdir(word)),
            ("--env", number or word, not {*"/."} & {*word}), ("--release", number, number),
        )  # fmt: skip
        given = {each.partition("=")[0] for each in self._words}
        free = {
            name
            for name, action in self._option_string_actions.items()
            if action.dest != BY_OPTION and not given & {*action.option_strings}
        }
        meant = [f"{name} {shlex.quote(value)}" for name, value, fits in places if fits and name in free]
        outputs = [f"{name} {shlex.quote(word)}" for name in ("--file", "--output", "--dir") if name in free]
        meant = meant or outputs[: bool(extra) and not is_id(word)]
        return f". Did you mean {' or '.join(meant)}?" if meant else ""

    def _get_option_tuples(self, option_string: str) -> list[Any]:
        """The options that an abbreviation may mean; spellings of one option (`--env`, `--environment`) count once."""
        options = super()._get_option_tuples(option_string)
        return [*{id(option[0]): option for option in reversed(options)}.values()][::-1]

    def format_usage(self) -> str:
        """The usage with what the command needs; all else is `[options]`."""
        word = partial(_word, HelpFormatter(self.prog))
        needed = [action for action in self._actions if action.required or not action.option_strings]
        choices = [group._group_actions for group in self._mutually_exclusive_groups if group.required]
        words = [word(action) for action in sorted(needed, key=lambda action: not action.option_strings)]
        words = [self.prog, "[options]", *(f"({' | '.join(map(word, choice))})" for choice in choices), *words]
        lines = textwrap.wrap(" ".join(words), columns() - 8, subsequent_indent="    ", break_on_hyphens=False)
        return "\n".join(lines).replace(_TIED, " ") + "\n"

    def format_help(self) -> str:
        """What the command does, its usage and examples, which fit on one screen; then all else.

        The options of the command itself are listed first, those that it needs before all others, then those of
        everything that prints a table.
        """
        title, *paragraphs = (self.description or "").strip().split("\n\n")
        lines = [line for paragraph in paragraphs for line in examples(paragraph)]
        formatter: Any = self._get_formatter()
        formatter.add_text(title)
        formatter.add_usage(self.format_usage().rstrip().replace("%", "%%"), (), ())
        if lines:
            shown = (part for line in lines for part in folded(line, columns() - 2))
            formatter.start_section("examples")
            formatter.add_text("\n".join(f"  {line}" for line in shown))
            formatter.end_section()
        formatter.add_text("\n\n".join(each for each in paragraphs if not examples(each)))
        own = [action for group in self._action_groups[:_TABLES] for action in group._group_actions]
        own.sort(key=lambda action: (bool(action.option_strings), not action.required))
        tables = [action for group in self._action_groups[_TABLES:] for action in group._group_actions]
        for title, actions in (("options", own), ("options of the output", tables)):
            formatter.start_section(title)
            formatter.add_arguments([action for action in actions if action.dest != "help"])
            formatter.end_section()
        formatter.add_text(_EVERYWHERE)
        return str(formatter.format_help())


def _word(formatter: Any, action: argparse.Action) -> str:
    """A required option with its value, or an argument, in a usage, with `_TIED` where no line may end."""
    long = next((name for name in action.option_strings if name.startswith("--")), "")
    value = "" if action.nargs == 0 else formatter._format_args(action, action.dest.upper())
    return f"{long} {value}".strip().replace(" ", _TIED)
