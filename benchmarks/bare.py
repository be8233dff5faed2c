"""A bare cliff application with as many commands as ours: what the framework alone costs."""

from __future__ import annotations

from pathlib import Path

_MAIN = """\
import sys
from cliff.app import App
from cliff.commandmanager import CommandManager

if __name__ == "__main__":
    app = App(description="bare", version="1", command_manager=CommandManager("bare.commands"))
    sys.exit(app.run(sys.argv[1:]))
"""

_COMMAND = """\
from cliff.lister import Lister


class Bare(Lister):
    "List things"

    def take_action(self, parsed_args):
        return ("id", "name"), [(number, "graph") for number in range(50)]
"""


def write(directory: Path, commands: list[str]) -> Path:
    """Write the application with one module for each command, registered through entry points; its main file."""
    package = directory / "bare_commands"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    lines = ["[bare.commands]"]
    for number, name in enumerate(commands):
        (package / f"c{number}.py").write_text(_COMMAND)
        lines.append(f"{name.replace(' ', '_')} = bare_commands.c{number}:Bare")
    info = directory / "bare-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bare\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    main = directory / "bare_main.py"
    main.write_text(_MAIN)
    return main
