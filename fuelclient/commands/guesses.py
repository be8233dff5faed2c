"""What a misspelt command was probably meant to be: words that are close, and verbs without their noun."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

from fuelclient.commands.global_options import global_parser, listing
from fuelclient.commands.table import ALIASES, PLURALS
from fuelclient.errors import UsageError
from fuelclient.similar import SIMILAR, VERY_SIMILAR, close

VERBS = {
    "apply": ("plan apply", "graph upload"),
    "deploy": ("env deploy", "graph execute"),
    "execute": ("graph execute",),
    "init": ("start", "plugins create"),
    "logs": ("task logs",),
    "run": ("graph execute", "env deploy"),
    "serve": ("server run",),
    "status": ("task list", "task show"),
    "stop": ("task stop",),
    "ui": ("tui",),
    "validate": ("graph validate", "plugins check"),
    "version": ("--version",),
}
"""What is meant by a verb that several commands share, or that is called otherwise here. Any other verb leads to the
commands that end with it."""

_SYNONYMS = {"ls": "list", "rm": "delete", "new": "create"}
"""Words of other programs for a verb of ours."""

_OPTIONS = ("--env", "--file", "--format", "--node", "--release", "--type")
"""Options of many commands."""

_EXTENSIONS = ("env move node", "env copy vips", "release clone", "gitrepo", "audit", "update", "report")
"""Commands that extensions of a Fuel master added to its client."""

_MAX_COMMANDS = 4
"""How many commands are named. Of more for a verb, the user has to say the noun."""

_DESTRUCTIVE = ("delete", "remove")


class Incomplete(UsageError):
    """A noun without a verb. `commands` are the lines about the commands of the noun."""

    def __init__(self, noun: str, names: Iterable[str]) -> None:
        super().__init__(f"'{noun}' is not a complete fuel2 command.", hint="Continue it with one of these:")
        self.commands = listing(names)


def unknown_command(words: list[str], commands: Iterable[str]) -> UsageError:
    """The error for words that are not a command. Suggestions have the same noun, if there is such a noun.

    >>> str(unknown_command(["graph", "lst"], ["graph list", "env list"]))
    "'graph lst' is not a fuel2 command. Did you mean 'graph list'?"
    >>> str(unknown_command(["role"], ["role list", "role show", "env list"]))
    "'role' is not a complete fuel2 command. Continue it with one of these:"
    >>> str(unknown_command(["preview", "1"], ["graph preview", "env list"]))
    "'preview' is not a fuel2 command. Did you mean 'graph preview'?"
    """
    noun, names = words[0], sorted(commands)
    if noun.startswith("-"):
        near = close(noun.partition("=")[0], [*global_parser()._option_string_actions, "--version", *_OPTIONS])
        hint = f"Did you mean {near}? " * bool(near and near != noun)
        hint += "Put it after the command it belongs to." * (not near or near in _OPTIONS)
        return UsageError(f"'{noun}' is not a global option of fuel2.", hint=hint)
    nouns = {name.split()[0] for name in names}
    same = (name for name in names if sorted(name.split()) == sorted(words[: name.count(" ") + 1]))
    if noun in nouns and (swapped := next(same, "")):
        return UsageError(f"'{' '.join(words)}' is not a fuel2 command.", hint=f"Did you mean '{swapped}'?")
    plain = [_SYNONYMS.get(word, word) for word in map(str.lower, words)]
    if extending := next((name for name in _EXTENSIONS if f"{' '.join(plain)} ".startswith(f"{name} ")), ""):
        return UsageError(f"'{extending}' is only in extensions of a Fuel master's client, not in fuel2.")
    if plain[0] not in (*nouns, *VERBS) and not close(plain[0], nouns):
        verbs = [name.split()[-1] for name in names if not name.split()[-1].startswith(_DESTRUCTIVE)]
        plain[0] = close(plain[0], verbs) or plain[0]
    if plain != words:
        whole = " ".join(plain)
        is_begun = any(f"{name} ".startswith(f"{whole} ") for name in names)
        hint = _question([whole]) if is_begun else unknown_command(plain, names).hint
        return UsageError(f"'{' '.join(words)}' is not a fuel2 command.", hint=hint)
    if noun not in nouns:
        return _unknown_noun(words, names, nouns)
    siblings = [name for name in names if name.split()[0] == noun]
    rests = [name.partition(" ")[2] for name in siblings]
    if len(words) == 1:
        return Incomplete(noun, siblings)
    suggested = [f"{noun} {rest}" for rest in _suggestions(words[1:], rests)]
    all_of = f" 'fuel2 help {noun}' lists all." * (len(suggested) > _MAX_COMMANDS)
    hint = f"{_question(suggested[:_MAX_COMMANDS])}{all_of}" or f"Continue '{noun}' with: {', '.join(rests)}."
    return UsageError(f"'{' '.join(words)}' is not a fuel2 command.", hint=hint)


def _unknown_noun(words: list[str], names: list[str], nouns: Iterable[str]) -> UsageError:
    """The error for a first word that is no noun: a verb that stands alone or before its noun, or a misspelt noun."""
    verb, noun = words[0], words[1] if len(words) > 1 else ""
    noun = {**ALIASES, **PLURALS}.get(noun, noun)
    ending = [name for name in names if name.split()[-1] == verb]
    with_noun = sorted((name for name in ending if noun and name.split()[0] == noun), key=len)[:1]
    if suggested := with_noun or VERBS.get(verb) or ending:
        many = len(suggested) > _MAX_COMMANDS
        example = next((name for name in (f"env {verb}", f"graph {verb}") if name in suggested), suggested[0])
        hint = f"Say what, such as '{example}'." if many else _question(suggested)
        return UsageError(f"'{verb}' is not a fuel2 command.", hint=hint)
    near = close(verb, nouns)
    whole = " ".join([near, *words[1:]])
    second = [name for name in names if name.partition(" ")[2] == " ".join(words[1:2])]  # the verb may say enough
    meant = [whole if whole in names else near] if near else second if len(second) == 1 else []
    hint = _question(meant) or "'fuel2 help' lists all commands and topics."
    return UsageError(f"'{' '.join(words)}' is not a fuel2 command.", hint=hint)


def _question(suggested: Iterable[str]) -> str:
    named = " or ".join(f"'{name}'" for name in suggested)
    return f"Did you mean {named}?" if named else ""


def _suggestions(words: list[str], rests: list[str]) -> list[str]:
    """Those of `rests` that the typed `words` probably mean.

    They are all that begin with the first word, or else the most similar one. A destructive command is never
    suggested for another verb.

    >>> _suggestions(["deploy", "1"], ["delete", "list"]), _suggestions(["delte", "1"], ["delete", "list"])
    ([], ['delete'])
    >>> _suggestions(["settngs", "upload"], ["show", "settings download", "settings upload"])
    ['settings upload']
    """
    beginning = [rest for rest in rests if rest.startswith(words[0]) and not rest.startswith(_DESTRUCTIVE)]
    if beginning and words[0]:
        return beginning
    found = []
    for rest in rests:
        typed = " ".join(words[: len(rest.split())])
        alike, destroys = rest[:1] == typed[:1], rest.startswith(_DESTRUCTIVE)
        similarity = SequenceMatcher(None, typed, rest).ratio()
        if (alike or not destroys) and similarity >= (SIMILAR if alike and not destroys else VERY_SIMILAR):
            found.append((alike and not destroys, similarity, rest))
    return [max(found)[2]] if found else []
