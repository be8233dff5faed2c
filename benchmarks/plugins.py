"""What plugins cost: the preview of two environments of one release, with real plugins and without, questions about
the graph of the first release with them, and the check of a package beside that release; and that of long chains."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

VERSIONS = ("newton", "9.0")
QUESTIONS = (
    ("blame", "rabbitmq"),
    ("why", "keystone", "globals"),
    ("why", "heat", "horizon"),
    ("order",),
    ("impact", "netconfig"),
    ("stats",),
    ("query", "1+keystone+1"),
    ("diff", "env:{plain}", "env:{full}"),
)
"""Each is answered by a process of its own in less than half a second."""

CHECKED = "fuel-plugin-kubernetes"
"""A real package, which is checked beside the first release in less than 0.6 s of processor time."""

_NODES = "controller=3,compute=8,cinder=3"


def commands(fuel2: Sequence[str], corpus: Path, engine: Path) -> dict[str, list[str]]:
    """The previews to measure, by the names of their rows.

    Every plugin of the corpus is installed in the engine file `engine`; in the second environment of each release
    all are enabled that can be, one after another: they support the release, and clash with none before them.
    """
    program = [*fuel2, "--engine", str(engine)]
    for path in sorted(corpus.glob("plugins/*/metadata.yaml")):
        _ran(program, "plugins", "install", str(path.parent))
    plugins = _ran(program, "plugins", "list", "-f", "value", "-c", "id").split()
    result: dict[str, list[str]] = {}
    for version in VERSIONS:
        release = _release(program, corpus, version)
        plain, full = (_environment(program, f"{version}-{word}", release) for word in ("plain", "full"))
        enabled = sum(_is_enabled(program, plugin, full) for plugin in plugins)
        for env, what in ((plain, "no plugin"), (full, f"{enabled} plugins")):
            name = f"fuel2 graph preview ({version}, {what})"
            result[name] = [*program, "graph", "preview", "--env", env, "--assume", _NODES]
        if version == VERSIONS[0]:
            package = str(corpus / "plugins" / CHECKED)
            check = [*program, "plugins", "check", package, "--release", release]
            result[f"fuel2 plugins check ({version})"] = check
        for words in QUESTIONS if version == VERSIONS[0] else ():
            filled = [word.format(plain=plain, full=full) for word in words]
            asked = " ".join(words).translate({ord("{"): None, ord("}"): None})
            result[f"fuel2 graph {asked} ({version})"] = [*program, "graph", *filled, "--env", full]
    return result


def ring_commands(fuel2: Sequence[str], directory: Path, tasks: int = 1000) -> dict[str, list[str]]:
    """The checks of a package whose tasks follow one another, and of one whose first task also waits for the last."""
    result: dict[str, list[str]] = {}
    for word, first in (("chain", None), ("cycle", tasks - 1)):
        package = directory / word
        subprocess.run([*fuel2, "plugins", "create", str(package)], check=True, capture_output=True)
        records = [_after(number, number - 1 if number else first) for number in range(tasks)]
        (package / "deployment_tasks.yaml").write_text(json.dumps(records))
        result[f"fuel2 plugins check ({word} of {tasks})"] = [
            *fuel2,
            "plugins",
            "check",
            str(package),
            "--ignore",
            "G050",
        ]
    return result


def _after(number: int, other: int | None) -> dict[str, Any]:
    return {
        "id": f"task-{number}", "type": "shell", "version": "2.1.0", "roles": ["*"],
        "requires": [] if other is None else [f"task-{other}"], "parameters": {"cmd": "true", "timeout": 60},
    }  # fmt: skip


def _release(program: Sequence[str], corpus: Path, version: str) -> str:
    """The id of the Ubuntu release of a version, with its graph."""
    fixture = corpus / "fuel-web" / version / "nailgun/nailgun/fixtures/openstack.yaml"
    listed = _ran(program, "release", "import", str(fixture), "-f", "value", "-c", "id", "-c", "operating_system")
    release = next(line.split()[0] for line in listed.splitlines() if line.endswith(" Ubuntu"))
    puppet = str(corpus / "fuel-library" / version / "deployment/puppet")
    _ran(program, "graph", "upload", "--release", release, "--type", "default", "--dir", puppet)
    return release


def _environment(program: Sequence[str], name: str, release: str) -> str:
    return _ran(program, "env", "create", name, "--release", release, "-f", "value", "-c", "id").strip()


def _is_enabled(program: Sequence[str], plugin: str, env: str) -> bool:
    """Return whether the plugin is enabled in the environment now: one that clashes is not."""
    line = [*program, "plugins", "enable", plugin, "--env", env]
    return subprocess.run(line, check=False, capture_output=True).returncode == 0


def _ran(program: Sequence[str], *arguments: str) -> str:
    return subprocess.run([*program, *arguments], check=True, capture_output=True, text=True).stdout
