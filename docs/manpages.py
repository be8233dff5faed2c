"""Man pages from docs/cli.md: one of the program, and one for each noun, such as `fuel2-graph`.

`docs/reference.py` writes them to docs/man/, from where setup.cfg installs them. What is converted is the Markdown that
docs/cli.md consists of: headings, paragraphs, blocks of text, and tables of two columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import wrap

from fuelclient import __version__
from fuelclient.commands.global_options import DESCRIPTION, PROGRAM

_COMMENT = re.compile(r"^<!--.*?-->\n\n?", re.M | re.S)
_BLOCK = re.compile(r"```\w*\n(.*?)\n```", re.S)
_MARKED = re.compile(r"`([^`]*)`|\*\*(.+?)\*\*|\[([^]]*)\]\([^)]*\)")
_CELLS = re.compile(r"(?<!\\) \| ")


def pages(reference: str) -> dict[str, str]:
    """The text of each man page by its file name; `reference` is the text of docs/cli.md."""
    introduction, *sections = re.split(r"^## ", _COMMENT.sub("", reference), flags=re.M)
    of_nouns = {part.partition("\n")[0]: part for part in sections if re.search(r"^### ", part, re.M)}
    others = [part for part in sections if part.partition("\n")[0] not in of_nouns]
    text = "".join(f"## {part}" for part in others)
    introduction = introduction.partition("\n")[2]
    nouns = ", ".join(f"{PROGRAM}-{noun}(1)" for noun in of_nouns)
    more = f"## See also\n\n{nouns}.\n\nThe pages of docs/ in the repository are the guides."
    made = {f"{PROGRAM}.1": _page(PROGRAM, DESCRIPTION, f"{introduction}\n{text}\n{more}")}
    for noun, part in of_nouns.items():
        told = f"commands of {PROGRAM}: {noun}"
        body = part.partition("\n")[2].replace("\n### ", "\n## ") + f"\n## See also\n\n{PROGRAM}(1)."
        made[f"{PROGRAM}-{noun}.1"] = _page(f"{PROGRAM}-{noun}", told, body)
    return made


def _page(name: str, told: str, body: str) -> str:
    head = f'.TH {name.upper()} 1 "" "fuelclient {__version__}"\n.SH NAME\n{_plain(name)} \\- {_plain(told)}\n'
    lines = [*_synopsis(name), *(line for part in _parts(body) for line in _roff(part))]
    return head + "\n".join(lines) + "\n"


def _synopsis(name: str) -> list[str]:
    noun = name.removeprefix(PROGRAM).removeprefix("-")
    usage = f"{noun} COMMAND ..." if noun else "[options] COMMAND ..."
    return [".SH SYNOPSIS", f"\\fB{PROGRAM}\\fR {_plain(usage)}", *([] if noun else [".SH DESCRIPTION"])]


def _parts(text: str) -> Iterator[str]:
    """Yield headings, paragraphs, tables and blocks, which may contain empty lines."""
    place = 0
    for block in _BLOCK.finditer(text):
        yield from filter(str.strip, text[place : block.start()].split("\n\n"))
        yield block[0]
        place = block.end()
    yield from filter(str.strip, text[place:].split("\n\n"))


def _roff(part: str) -> Iterator[str]:
    part = part.strip("\n")
    block = _BLOCK.fullmatch(part)
    if block:
        lines = (short for line in block[1].split("\n") for short in _shortened(line))
        yield from (".PP", ".nf", *(_line(_plain(line)) for line in lines), ".fi")
    elif part.startswith("#"):
        yield f'.SH "{_plain(part.lstrip("# ")).upper()}"'
    elif part.startswith("| "):
        for row in part.split("\n")[2:]:
            first, second = _CELLS.split(row.removeprefix("| ").removesuffix(" |"), maxsplit=1)
            yield from (".TP", _line(_marked(first)), _line(_marked(second)))
    else:
        yield from (".PP", _line(_marked(" ".join(part.split()))))


def _shortened(line: str) -> list[str]:
    """The lines of at most 72 characters, which fit a terminal of 80, that a line is cut into between its words."""
    indent = line[: len(line) - len(line.lstrip())] or "    "
    return wrap(line, 72, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]


def _marked(text: str) -> str:
    """A text with code and emphasis in bold, and links as what they show."""
    made, place = "", 0
    for found in _MARKED.finditer(text):
        bold = found[1] or found[2]
        made += _plain(text[place : found.start()]) + (f"\\fB{_plain(bold)}\\fR" if bold else _plain(found[3] or ""))
        place = found.end()
    return made + _plain(text[place:])


def _plain(text: str) -> str:
    """A text without what is special in roff.

    >>> _plain("--env")
    '\\\\-\\\\-env'
    """
    return text.replace("\\|", "|").replace("\\", "\\e").replace("-", "\\-")


def _line(text: str) -> str:
    """A line that does not begin like a request."""
    return f"\\&{text}" if text.startswith((".", "'")) else text
