"""`complete`: completion of command lines in bash."""

from __future__ import annotations

import argparse
from importlib.metadata import EntryPoint
from typing import Any

from cliff.complete import CompleteBash, CompleteCommand, CompleteNoCode, CompleteShellBase
from stevedore.extension import Extension, ExtensionManager

from fuelclient.commands.base import Command

_WORDS = "  _get_comp_words_by_ref -n : cur prev words\n"
"""The line of cliff's script that needs the package bash-completion."""

_WORDS_OF_BASH = f"""  if declare -F _get_comp_words_by_ref >/dev/null; then
  {_WORDS}  else
    words=("${{COMP_WORDS[@]}}") cur=${{COMP_WORDS[COMP_CWORD]}}
  fi
"""


class _Bash(CompleteBash):
    """The script of cliff, made to work without the package bash-completion as well."""

    def get_header(self) -> str:
        return super().get_header().replace(_WORDS, _WORDS_OF_BASH)


def _extension(name: str, shell: type[CompleteShellBase]) -> Extension[CompleteShellBase]:
    point = EntryPoint(name, f"{shell.__module__}:{shell.__name__}", "cliff.formatter.completion")
    return Extension(name, point, shell, None)


class Complete(Command, CompleteCommand):
    """Print a bash script that completes command lines

    It completes nouns, verbs and options, and file names after options that take one.

      source <(fuel2 complete)
      fuel2 complete > ~/.local/share/bash-completion/completions/fuel2
    """

    def __init__(self, app: Any, app_args: argparse.Namespace, cmd_name: str | None = None) -> None:
        Command.__init__(self, app, app_args, cmd_name)
        self._formatters = ExtensionManager.make_test_instance(
            [_extension("bash", _Bash), _extension("none", CompleteNoCode)]
        )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--name", metavar="NAME", help="the command to complete (default: fuel2)")
        parser.add_argument("--shell", choices=("bash", "none"), default="bash", help="with none, print only the data")

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        return CompleteCommand.take_action(self, parsed_args)
