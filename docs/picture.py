"""Draw docs/preview.svg, a terminal with the merged graph of the packaged example.

Run `.venv/bin/python docs/picture.py`, or `make renew`.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS = ("order", "generation", "stage", "priority", "task", "nodes", "layer", "overrides")


def main() -> None:
    fuel2 = str(Path(sys.executable).with_name("fuel2"))
    arguments = ["graph", "preview", "--env", "1"]
    with tempfile.TemporaryDirectory() as directory:
        environ = {"HOME": directory, "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}  # without the user's settings
        subprocess.run([fuel2, "demo"], env=environ, check=True, capture_output=True)
        columns = [word for column in COLUMNS for word in ("-c", column)]
        preview = subprocess.run(
            [fuel2, *arguments, *columns], env=environ, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    lines = preview.stdout.decode().splitlines()
    kept = [*lines[:28], "  ..."]
    console = Console(record=True, width=max(map(len, kept)) + 1, file=io.StringIO())
    console.print(Text(f"$ fuel2 {' '.join(arguments)}", style="bold"))
    for line in kept:
        style = "cyan" if "| plugin" in line else "yellow" if "| cluster " in line else ""
        console.print(Text(line, style=style), soft_wrap=True)
    console.save_svg(str(Path(__file__).with_name("preview.svg")), title="fuel2")


if __name__ == "__main__":
    main()
