"""What the YAML library says about broken text, in words that help to mend it."""

from __future__ import annotations

import yaml

from fuelclient.errors import InvalidDocument
from fuelclient.files.limits import unreadable

_KNOWN = (
    (
        "scanning an alias",
        "a `*` that is not quoted begins an alias, and no name follows it",
        "Write '*' in quotes.",
    ),
    (
        "scanning an anchor",
        "a `&` that is not quoted begins an anchor, and no name follows it",
        "Write the text in quotes.",
    ),
    ("undefined alias", "this alias names an anchor that does not exist", "Quote the text if no alias was meant."),
    ("duplicate anchor", "this anchor is defined twice in the file", "Rename one of the two."),
    (
        "single document",
        "a second document begins here, and only one is allowed in a file",
        "Keep each document in a file of its own, and remove the `---`.",
    ),
    (
        "mapping values are not allowed",
        "a `:` stands where no key can be",
        "Check the indentation of the line, and quote texts that contain `: `.",
    ),
    (
        "could not find expected ':'",
        "a line that should be a `key: value` has no `:`",
        "Check the line for text that belongs to a comment, or to the value above it.",
    ),
    (
        "cannot start any token",
        "a tab, or one of @ ` %, stands where a value should begin",
        "Indent with spaces, and quote the text.",
    ),
    (
        "parsing a block mapping",
        "this line does not fit into the mapping above it",
        "Indent it like the other keys of that mapping.",
    ),
    (
        "parsing a block collection",
        "this line does not fit into the list above it",
        "Indent it like the other items of that list, each beginning with `- `.",
    ),
    (
        "parsing a flow sequence",
        "a list in [ ] is not closed, or lacks a comma",
        "Close it with ], and quote texts that contain one of [ ] { } , : ( | ).",
    ),
    (
        "parsing a flow mapping",
        "a mapping in { } is not closed, or lacks a comma",
        "Close it with }, and quote texts that contain one of [ ] { } , :.",
    ),
    ("quoted scalar", "a quoted text is not closed, or has a wrong escape", "Check the quotes and backslashes."),
)
"""(part of what the library says, what is wrong, what to do); the first that fits is taken."""

_HINT = "Check the indentation and the quotes of this line and the one above it."


def translate(error: yaml.YAMLError, file: str) -> InvalidDocument:
    """The error of ours that says what `error` says, with its line."""
    context = str(getattr(error, "context", None) or "")
    problem = str(getattr(error, "problem", None) or "")
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line = int(mark.line) + 1 if mark else 0
    said = " ".join(f"{context} {problem}".split())
    for part, message, hint in _KNOWN:
        if part in said:
            return unreadable(file, line, message, hint)
    detail = said or " ".join(str(error).split())
    return unreadable(file, line, f"this is not YAML: {detail}", _HINT)
