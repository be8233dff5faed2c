"""Write constraints.txt: the version of every library that `make` installs, the same on every Python.

`make constraints` runs this. Each Python of this machine resolves what the package and its tests need, the oldest one
first, and later ones keep what the earlier ones chose, so that one file fits all. Nothing is installed but a virtual
environment for each Python, which is removed again.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pythons import pythons

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "constraints.txt"
_EXTRAS = "test,docs"
_TOOLS = ("pip", "setuptools", "wheel")
_HEAD = "# The version of every library that make installs. Written by `make constraints`; do not edit.\n"


def main() -> None:
    chosen: dict[str, str] = {}
    for interpreter in (sys.executable, *pythons().values()):
        for name, version in _resolved(interpreter, chosen):
            chosen.setdefault(name, version)
    lines = [f"{name}=={version}\n" for name, version in sorted(chosen.items())]
    FILE.write_text(_HEAD + "".join(lines), encoding="utf-8")


def _resolved(interpreter: str, chosen: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the libraries that a Python would install, with their versions, without installing them."""
    with tempfile.TemporaryDirectory(prefix="fuel2-constraints-") as directory:
        subprocess.run([interpreter, "-m", "venv", f"{directory}/venv"], check=True)
        pip = [f"{directory}/venv/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--upgrade", "pip"], check=True)
        so_far = Path(directory, "constraints.txt")
        so_far.write_text("".join(f"{name}=={version}\n" for name, version in chosen.items()), encoding="utf-8")
        report = Path(directory, "report.json")
        resolve = ["install", "--dry-run", "--ignore-installed", "--prefer-binary", "--report", str(report)]
        wanted = [*_TOOLS, f"{ROOT}[{_EXTRAS}]"]
        subprocess.run([*pip, *resolve, "--constraint", str(so_far), *wanted], check=True)
        for item in json.loads(report.read_text(encoding="utf-8"))["install"]:
            name = str(item["metadata"]["name"]).lower().replace("_", "-").replace(".", "-")
            if name != "fuelclient":
                yield name, str(item["metadata"]["version"])


if __name__ == "__main__":
    main()
