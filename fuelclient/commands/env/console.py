"""`env facts ...`: evaluate expressions on facts, also at a prompt, show facts, and compare the facts of runs."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from fuelclient.commands.arguments import ID_NAME, OF_ENV, flag, identifier, node_words, nodes_option, option
from fuelclient.commands.base import Command, Comparing, Lister, ShowOne
from fuelclient.commands.exits import Exit
from fuelclient.commands.formatters import Fields
from fuelclient.commands.graph.question import AnswerList
from fuelclient.commands.shell import LOG
from fuelclient.errors import FuelError, NotFound, UsageError
from fuelclient.expressions.errors import MissingFact
from fuelclient.facts.paths import COMMON, completions, names_of, origins, values_at
from fuelclient.printing import ids_text, printable

if TYPE_CHECKING:
    from fuelclient.backends.consoles import ConsoleFacts

_NODE, _QUIT, _HELP = ":node", ":quit", ":help"
_HELP_TEXT = (
    "Type an expression: $.roles, changed($.roles), or settings:storage.images_ceph.value == true.",
    ":node 2 goes to node 2, :node to the facts that all nodes share. :quit ends.",
)
_DELIMITERS = " \t\n\"'()[]{},=<>!+*/"
"""Characters that separate words for completion. A path with its dots and its $ is one word."""
_HISTORY_LINES = 1000


def converse(command: Command, facts: ConsoleFacts, node: str = "", *, language: str = "") -> None:
    """Evaluate the lines of stdin until it ends, and print each value or error."""
    conversation = Conversation(facts, node, language)
    stdin, stdout = command.app.stdin, command.app.stdout
    lines = _typed_lines(conversation, stdout) if stdin.isatty() else iter(stdin)
    for line in lines:
        if line.strip() == _QUIT:
            break
        for shown in conversation.answer(line.strip()):
            stdout.write(f"{shown}\n")
        stdout.flush()


class Conversation:
    """A session at the prompt. It remembers the node whose facts expressions see, and evaluates lines."""

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
                result = self._console.evaluated(line, self._language)
                yield _value_text(self._console.masked(line, result.value))
                if result.changed and self._facts.run_id:
                    yield f"changed; in run {self._facts.run_id}: {_value_text(self._console.masked(line, result.old))}"
        except FuelError as error:
            yield printable(str(error))

    def candidates(self, text: str) -> list[str]:
        if text.startswith(":"):
            return [word for word in (_NODE, _QUIT, _HELP) if word.startswith(text)]
        model, colon, path = text.rpartition(":")
        return [f"{model}{colon}{name}" for name in completions(self._facts.seen_by(self.node), path)]


def _value_text(value: Any) -> str:
    return printable(json.dumps(value, ensure_ascii=False, indent=2, default=str), keep="\n")


def _typed_lines(conversation: Conversation, stdout: TextIO) -> Iterator[str]:
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
    except ImportError:  # some builds of Python lack it; typing lines works without it
        yield
        return
    found: list[str] = []

    def complete(text: str, state: int) -> str | None:
        if state == 0:
            found[:] = conversation.candidates(text)
        return found[state] if state < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims(_DELIMITERS)
    readline.parse_and_bind("tab: complete")
    base = os.environ.get("XDG_STATE_HOME", "")
    path = (Path(base) if os.path.isabs(base) else Path.home() / ".local/state") / "fuel" / "expressions"
    with suppress(OSError):  # the file may not exist yet
        readline.read_history_file(path)
    try:
        yield
    finally:
        readline.set_completer(None)
        readline.set_history_length(_HISTORY_LINES)
        with suppress(OSError):  # without the file, only the history of this prompt is lost
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(mode=0o600)
            readline.write_history_file(path)


class EnvFactsEval(ShowOne):
    """Evaluate an expression on the facts of an environment

    The expression is in YAQL or in Fuel's own language, like the conditions of tasks. It counts as Fuel's own if it has
    a path such as 'settings:storage.images_ceph.value'; --language overrides that. $ is what a task sees on the node
    that --node names; without --node, the facts that all nodes share.

    changed(), old() and the like compare with what the last successful run saw; the columns 'old' and 'changed' do so
    for the whole expression. With --before, the new facts are those that this run saw, and the old ones those of the
    last successful run before it. Values that seem to be secrets are masked.

      fuel2 env facts eval '$.deployment_mode' --env 1
      fuel2 env facts eval 'changed($.roles)' --env 1 --node 2 --before 12
      fuel2 env facts eval "settings:storage.images_ceph.value == true" --env 1 -f json

    --interactive reads expressions line by line. On a terminal, Tab completes paths of facts, and the arrow keys recall
    earlier expressions, also those of earlier sessions. ':node 2' goes to another node, ':quit' or Ctrl-D ends.

      echo '$.deployment_id' | fuel2 env facts eval --env 1 --interactive
    """

    columns = ("expression", "language", "node", "value", "old", "changed")

    arguments = (
        option("expression", nargs="?", metavar="EXPR", help="the expression"),
        OF_ENV,
        option(
            "-n", "--node", type=node_words, default=[], metavar=ID_NAME, help="the facts of this node: 2, or master"
        ),
        option("--before", type=identifier, metavar="RUN", help="the facts as this run found them"),
        option("--language", choices=("yaql", "legacy"), default="", help="(default: as the expression looks)"),
        flag("-i", "--interactive", help="read expressions line by line"),
    )

    def run(self, parsed_args: argparse.Namespace) -> int:
        if bool(parsed_args.expression) == parsed_args.interactive:
            raise UsageError("An expression or --interactive is needed.", hint="Give one of them.")
        if len(parsed_args.node) > 1:
            raise UsageError("--node takes one node.", hint="An expression has one value on each node.")
        if not parsed_args.interactive:
            return super().run(parsed_args)
        converse(self, self._facts(parsed_args), *parsed_args.node, language=parsed_args.language)
        return Exit.OK

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        [node] = parsed_args.node or [""]
        console = self._facts(parsed_args).at(node)
        text = parsed_args.expression
        try:
            result = console.evaluated(text, parsed_args.language)
        except MissingFact as error:
            error.hint += "" if node else " Facts of one node need --node."
            raise
        value, old = (Fields(console.masked(text, value)) for value in (result.value, result.old))
        return text, result.language, node or "common", value, old, result.changed

    def _facts(self, parsed_args: argparse.Namespace) -> ConsoleFacts:
        from fuelclient.backends.consoles import console_facts

        facts = console_facts(self.backend, parsed_args.env, parsed_args.before)
        if facts.run_id:
            LOG.info("Old facts are those of run %d.", facts.run_id)
        elif facts.uncounted:
            LOG.info("Only dry and noop runs succeeded, which do not count: everything counts as changed.")
        else:
            LOG.info("No earlier run succeeded, so everything counts as changed, as in a first run.")
        return facts


class EnvFactsShow(Lister):
    """Show a fact of an environment, and where it comes from

    PATH names a value, or everything below a name, with or without '$.' before it. Prints a row for each part that
    states the fact: 'common' is what all nodes share, the others are nodes. Values that seem to be secrets are masked;
    'env deployment-facts get-default' writes them to files.

      fuel2 env facts show roles --env 1
      fuel2 env facts show network_metadata --env 1 --nodes 2 -f yaml
    """

    columns = ("part", "path", "value", "origin")
    by_weight = ("path", "value", "part")
    sort_by = ""

    arguments = (
        option("path", metavar="PATH", help="the path of a fact: storage.pg_num"),
        OF_ENV,
        nodes_option(required=False, help="only what these nodes add: 1 2 or 1,2"),
    )

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        from fuelclient.environment.differences import masked_value
        from fuelclient.facts.given import effective_facts

        env, path = parsed_args.env, ".".join(names_of(parsed_args.path))
        default, uploaded = self.backend.facts.default(env), self.backend.facts.get(env)
        found = origins(self.backend.clusters.environment(env), default, uploaded, path)
        texts = {origin.part: origin.text for origin in found}
        wanted = None if parsed_args.nodes is None else {COMMON, *map(str, parsed_args.nodes)}
        facts = effective_facts(default, uploaded)
        if wanted is not None and (unknown := wanted - {COMMON, *facts.nodes}):
            hint = f"Nodes with facts: {ids_text(facts.nodes)}."
            raise NotFound("fact", f"of node {ids_text(sorted(unknown, key=int))}", hint=hint)
        return [
            (part, path, Fields(masked_value(path, value)), texts.get(part, ""))
            for part, value in values_at(facts, names_of(path), COMMON)
            if wanted is None or part in wanted
        ]


class EnvFactsDiff(Comparing, AnswerList):
    """Compare the facts that two runs saw

    With one run, its facts are compared with those of its environment now. 'part' is 'common' for what all nodes share,
    or a node; a value that one side does not have is empty. Values that seem to be secrets are masked. With --exit-code
    the exit code is 10 if there are differences.

      fuel2 env facts diff 6 12
      fuel2 env facts diff 12
    """

    columns = ("part", "path", "old", "new")
    by_weight = ("path", "old", "new")
    sort_by = ""
    key = "differences"

    arguments = (
        option("old", type=identifier, metavar="RUN", help="id of the earlier run"),
        option("new", nargs="?", type=identifier, metavar="RUN", help="id of the later run (default: now)"),
        flag("--exit-code", help="exit with 10 if they differ"),
    )

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        from fuelclient.environment.differences import facts_differences

        runs, facts = self.backend.runs, self.backend.facts
        old = runs.deployment_info(parsed_args.old)
        if parsed_args.new is None:
            new = facts.effective(runs.get(parsed_args.old).cluster_id)
        else:
            new = runs.deployment_info(parsed_args.new)
        found = list(facts_differences(old, new))
        self.differs = bool(found)
        self.subject = {"old_run": parsed_args.old, "new_run": parsed_args.new}
        if not found:
            LOG.info("The facts are equal.")
        return [(difference.place, difference.path, *map(Fields, difference.masked)) for difference in found]
