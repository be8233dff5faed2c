"""`complete`: completion of command lines in bash, zsh and fish."""

from __future__ import annotations

import argparse
import os
import shlex
from importlib.metadata import EntryPoint
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from cliff.complete import CompleteCommand, CompleteNoCode
from stevedore.extension import Extension, ExtensionManager

from fuelclient.commands.arguments import flag, option
from fuelclient.commands.base import Command
from fuelclient.commands.global_options import PROGRAM
from fuelclient.errors import UsageError
from fuelclient.files.writing import refused

SHELLS = ("bash", "zsh", "fish")

_BASH_LOADER = "/usr/share/bash-completion/bash_completion"
"""The file of the package bash-completion that loads the scripts in the directories of completions."""


class Complete(Command, CompleteCommand):
    """Print a script that completes command lines in bash, zsh or fish

    It completes commands, options and their values: environments, releases, nodes, plugins, graph types, tasks, roles
    and runs as they are in the engine file or on the Fuel master, and file names where files belong. With --install,
    the script is put where the shell finds it, and --uninstall takes everything away that --install has put somewhere;
    without them, the script is printed.

      fuel2 complete --install
      fuel2 complete --uninstall
      fuel2 complete zsh
      fuel2 complete --words graph preview --env ''
    """

    def __init__(self, app: Any, app_args: argparse.Namespace, cmd_name: str | None = None) -> None:
        Command.__init__(self, app, app_args, cmd_name)
        point = EntryPoint("none", f"{CompleteNoCode.__module__}:CompleteNoCode", "cliff.formatter.completion")
        self._formatters = ExtensionManager.make_test_instance([Extension("none", point, CompleteNoCode, None)])

    arguments = (
        option("--name", type=str, metavar="NAME", help=f"the command to complete (default: {PROGRAM})"),
        option("shell", nargs="?", choices=(*SHELLS, "none"), metavar="SHELL", help="the same as --shell"),
        option(
            "--shell", dest="named", choices=(*SHELLS, "none"),
            help="the shell (default: that of $SHELL with --install, otherwise bash); none prints only the commands",
        ),
        flag(
            "--install",
            help="put the script where the shell finds it, and load it from the shell's startup file if that is needed",
        ),
        flag("--uninstall", help="remove what --install has written, for all shells or that of --shell"),
        option(
            "--words", type=str, nargs=argparse.REMAINDER, metavar="WORD",
            help="print completions for the last of these words; for the completion scripts",
        ),
    )  # fmt: skip

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        one, other = parsed_args.shell, parsed_args.named
        if one and other and one != other:
            raise UsageError(f"{one} and --shell {other} contradict each other.", hint="Leave one out.")
        parsed_args.shell = one or other
        if parsed_args.words is not None:
            from fuelclient.commands.completion import answer

            self.app.stdout.write(answer(parsed_args.words))
        elif parsed_args.install:
            shell = parsed_args.shell or _shell_of_user()
            if shell not in SHELLS:
                raise UsageError("--install needs a shell.", hint=f"Name one with --shell: {', '.join(SHELLS)}.")
            for line in install(shell, parsed_args.name or PROGRAM):
                self.say(line)
        elif parsed_args.uninstall:
            shells = [parsed_args.shell] if parsed_args.shell in SHELLS else SHELLS
            done = [line for shell in shells for line in uninstall(shell, parsed_args.name or PROGRAM)]
            for line in done or ["There is no completion to remove."]:
                self.say(line)
        elif parsed_args.shell == "none":
            return CompleteCommand.take_action(self, parsed_args)
        else:
            self.app.stdout.write(script(parsed_args.shell or "bash", parsed_args.name or PROGRAM))
        return 0


def _shell_of_user() -> str:
    if (shell := os.path.basename(os.environ.get("SHELL", ""))) in SHELLS:
        return shell
    problem = f"There is no completion for the shell {shell}." if shell else "The variable SHELL names no shell."
    raise UsageError(problem, hint=f"Name one with --shell: {', '.join(SHELLS)}.")


def script(shell: str, name: str) -> str:
    text = (resources("fuelclient.commands") / "completion" / f"{PROGRAM}.{shell}").read_text(encoding="utf-8")
    registrations = "complete -F _fuel2 fuel2", "#compdef fuel2", "compdef _fuel2 fuel2", "complete -c fuel2 "
    for line in registrations if name != PROGRAM else ():
        text = text.replace(line, line.replace(f" {PROGRAM}", f" {shlex.quote(name)}"))
    return text


def install(shell: str, name: str) -> list[str]:
    """Put the script where the shell finds it and return what was done, a line for each file.

    zsh, and bash without the package bash-completion, do not search any directory in the user's home. A line that loads
    the script is added to their startup file, unless it is there already. Raise `Unavailable` if a file cannot be
    written.
    """
    path, startup_file = _places(shell, name)
    is_found = shell == "bash" and os.path.exists(_BASH_LOADER)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script(shell, name), encoding="utf-8")
        done = [f"{path} was written."]
        if startup_file is not None and not is_found and _append(startup_file, _loading(path)):
            done.append(f"{startup_file} has a new line that loads it.")
    except OSError as error:
        hint = f"'{PROGRAM} complete --shell {shell}' prints it."
        raise refused(str(error.filename), "written", error, hint) from error
    return [*done, f"Completion works in every {shell} that you start from now on."]


def uninstall(shell: str, name: str) -> list[str]:
    """Remove what `install` has written, and return what was removed, a line for each file."""
    path, startup_file = _places(shell, name)
    done = []
    if path.exists():
        path.unlink()
        done.append(f"{path} was removed.")
    before = startup_file.read_text("utf-8", "surrogateescape") if startup_file and startup_file.exists() else ""
    after = before.replace(f"{_loading(path)}\n", "")
    if startup_file and after != before:
        startup_file.write_text(after, "utf-8", "surrogateescape")
        if not after and not startup_file.is_symlink():  # it was made for this line
            startup_file.unlink()
        done.append(f"{startup_file} no longer loads it.")
    return done


def _places(shell: str, name: str) -> tuple[Path, Path | None]:
    """The file of the script, and the startup file that may have to load it."""
    home = Path(os.environ.get("HOME") or os.path.expanduser("~"))
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
    configuration = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return {
        "bash": (data / "bash-completion/completions" / name, home / ".bashrc"),
        "zsh": (data / "zsh/site-functions" / f"_{name}", Path(os.environ.get("ZDOTDIR") or home) / ".zshrc"),
        "fish": (configuration / "fish/completions" / f"{name}.fish", None),
    }[shell]


def _loading(path: Path) -> str:
    return f"[ -f {shlex.quote(str(path))} ] && . {shlex.quote(str(path))}"


def _append(path: Path, line: str) -> bool:
    """Add a line to a file unless it has it; return whether it was added."""
    before = path.read_text(encoding="utf-8", errors="surrogateescape") if path.exists() else ""
    if line in before.splitlines():
        return False
    with path.open("a", encoding="utf-8") as file:
        file.write(("" if not before or before.endswith("\n") else "\n") + line + "\n")
    return True
