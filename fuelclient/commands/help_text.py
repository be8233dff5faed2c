"""The help of a command, which is the docstring of its class: paragraphs of prose and of examples."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from fuelclient.commands.global_options import PROGRAM
from fuelclient.commands.table import COMMANDS

_BEGINNINGS = tuple(f"{PROGRAM} {name.split()[0]} " for name in COMMANDS)


def is_example(paragraph: str) -> bool:
    """Return whether a paragraph is an example: indented, or a command line.

    Python takes the indentation of a docstring away if nothing but an example follows its first line.

    >>> is_example("  fuel2 env list"), is_example("fuel2 env list"), is_example("fuel2 and others use it.")
    (True, True, False)
    """
    return paragraph.startswith(" ") or f"{paragraph} ".startswith(_BEGINNINGS)


def examples(docstring: str) -> Iterator[str]:
    """Yield the command lines of a command's help, each with the lines that continue it.

    >>> list(examples("List all\\n\\n  fuel2 env list\\n  fuel2 env list |\\n      wc -l\\n\\n  name: x"))
    ['fuel2 env list', 'fuel2 env list |\\n    wc -l']
    """
    for paragraph in inspect.cleandoc(docstring).split("\n\n"):
        if not is_example(paragraph) or PROGRAM not in paragraph:
            continue
        lines: list[str] = []
        for line in inspect.cleandoc(paragraph).splitlines():
            if lines and lines[-1].endswith(("|", "\\")):
                lines[-1] += f"\n{line}"
            else:
                lines.append(line)
        yield from lines
