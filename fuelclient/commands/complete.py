"""`complete`: command line completion for bash."""

from __future__ import annotations

import argparse
from importlib.metadata import EntryPoint
from typing import Any

from cliff.complete import CompleteBash, CompleteCommand, CompleteNoCode, CompleteShellBase
from stevedore.extension import Extension, ExtensionManager

from fuelclient.commands.base import Command

_WORDS = "  _get_comp_words_by_ref -n : cur prev words\n"
"""How cliff's script asks that package for the words of a line."""

_WORDS_OF_BASH = f"""  if declare -F _get_comp_words_by_ref >/dev/null; then
  {_WORDS}  else
    words=("${{COMP_WORDS[@]}}") cur=${{COMP_WORDS[COMP_CWORD]}}
  fi
"""


class _Bash(CompleteBash):
    """The script for a bash that has not loaded the package bash-completion, too."""

    def get_header(self) -> str:
        found = super().get_header()
        return found.replace(_WORDS, _WORDS_OF_BASH) if _WORDS in found else found


def _extension(name: str, kind: type[CompleteShellBase]) -> Extension[CompleteShellBase]:
    point = EntryPoint(name, f"{kind.__module__}:{kind.__name__}", "cliff.formatter.completion")
    return Extension(name, point, kind, None)


class Complete(Command, CompleteCommand):
    """Print a script for bash that completes command lines

    Commands, their verbs and their options are completed; file names where an option takes one.

      source <(fuel2 complete)
      fuel2 complete > ~/.local/share/bash-completion/completions/fuel2
    """

    def __init__(self, app: Any, app_args: argparse.Namespace, cmd_name: str | None = None) -> None:
        Command.__init__(self, app, app_args, cmd_name)
        self._formatters = ExtensionManager.make_test_instance(
            [_extension("bash", _Bash), _extension("none", CompleteNoCode)]
        )

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = Command.get_parser(self, prog_name)
        parser.add_argument("--name", metavar="NAME", help="complete the command of this name (default: fuel2)")
        parser.add_argument("--shell", choices=("bash", "none"), default="bash", help="none: the data only")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        return CompleteCommand.take_action(self, parsed_args)
