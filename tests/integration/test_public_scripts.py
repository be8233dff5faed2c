"""Command lines of public scripts, in the order of one story on an environment of newton, as their scripts expect.

The lines are those of `cases/scripts/lines.json` beside the corpus. A line that ends in another way is in EXCEPTIONS,
and docs/scripting.md tells the author of a script about it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from corpus import corpus

ROOT = Path(__file__).resolve().parents[2]
SCRIPTING = ROOT / "docs/scripting.md"

CODES = "test for failure instead of for 1"
EXTENSIONS = "What only a master has, or an extension of its client"
EXCEPTIONS: Mapping[str, tuple[int, str]] = {
    "fuel2 --debug env clone -f json 1 seed 3": (2, EXTENSIONS),
    "fuel2 --debug env move node 2 3 5": (2, EXTENSIONS),
    "fuel2 --debug env copy vips 2": (2, EXTENSIONS),
    "fuel2 release clone 1 2 -f value -c id": (2, EXTENSIONS),
    "fuel2 env add nodes -e 2 -n 6 -r controller compute": (6, CODES),
    "fuel2 role create -n $PWD/T/create_role -r 2 -f yaml": (2, "**Names of roles** are no paths"),
    "fuel2 role delete -r 2 -n controller": (6, CODES),
    "fuel2 role list -r 2 | grep controller | wc -l": (0, "**Lists of roles** name a role in the row of every role"),
    "fuel2 env nodes provision -n 5 -e 2": (2, "**Provisioning** needs a graph"),
    'fuel2 sequence show -f json 1 | python3 -c "import json,sys; '
    "print(json.load(sys.stdin)['graphs'].split(', '))\"": (1, "**Lists** are lists in JSON and YAML"),
    "fuel2 graph upload -r2 -t nope -d /nonexistent/; test $? -eq 1 && echo noticed": (1, CODES),
    "fuel2 graph download -e 1 -r 2 -t default --file T3/y.yaml": (2, "**`graph download -r`** selects"),
    "fuel2 env extension show 1": (2, EXTENSIONS),
    """fuel2 node create-vms-conf 3 --conf '{"id":1, "mem": 2, "cpu": 4}'""": (2, EXTENSIONS),
    "fuel2 env spawn-vms 1": (2, EXTENSIONS),
    "fuel2 env extension enable 1 -E fuel_external_git": (2, EXTENSIONS),
    "fuel2 gitrepo list": (2, EXTENSIONS),
    "fuel2 audit noop --env 1": (2, EXTENSIONS),
    "fuel2 update --env 1 install --repos mos9.2": (2, EXTENSIONS),
    "fuel2 report 3": (2, EXTENSIONS),
    "fuel2 network-template upload -f ./nt 1": (2, EXTENSIONS),
    "fuel2 network-group create -N 1 -C 10.109.5.0/24 monitoring": (2, EXTENSIONS),
    "fuel2 network-group list": (2, EXTENSIONS),
    "fuel2 network-group update -g 10.88.12.1 5": (2, EXTENSIONS),
}
"""The lines that end in another way: with which exit code, and what docs/scripting.md says of it."""

GRAPH = """
- {id: FIRST, type: shell, version: 2.1.0, roles: ['*'], parameters: {cmd: echo one, timeout: 20}}
- {id: SECOND, type: shell, version: 2.1.0, roles: ['*'], requires: [FIRST], parameters: {cmd: echo two, timeout: 20}}
"""
NODES = {1: ("controller", "provisioned"), 2: ("controller", "provisioned"), 3: ("compute", "provisioned")} | {
    4: ("cinder", "provisioned"),
    5: ("", "discover"),
    6: ("", "discover"),
}
SETUP = """
set -e
fuel2 release import {fixture}
fuel2 graph upload -r 2 -t default -d {library}
fuel2 env create EnvOne -r 2
fuel2 node import nodes.yaml --env 1
fuel2 node import free.yaml
fuel2 graph upload -e 1 -t upd -f work/g.yaml
fuel2 graph execute -e 1 -t upd --wait
"""


@pytest.mark.slow
def test_lines_of_public_scripts(tmp_path: Path) -> None:
    lines = json.loads((corpus().parent / "cases/scripts/lines.json").read_text(encoding="utf-8"))
    _prepare(tmp_path)
    newton = corpus("fuel-web/newton/nailgun/nailgun/fixtures/openstack.yaml")
    prepared = _run(SETUP.format(fixture=newton, library=corpus("fuel-library/newton/deployment/puppet")), tmp_path)
    assert prepared.returncode == 0, prepared.stderr
    page = " ".join(SCRIPTING.read_text(encoding="utf-8").split())
    wrong = []
    for line in lines:
        command = line["command"]
        done = _run(command.replace("@DIR@", "$PWD/work"), tmp_path)
        said = done.stdout + done.stderr
        right = done.returncode == line["exit"] and re.search(line["stdout"] or "", said, re.MULTILINE)
        code, sentence = EXCEPTIONS.get(command, (None, ""))
        if "Traceback" in done.stderr and "fuelclient" in done.stderr and "--debug" not in command:
            wrong.append((command, said))
        elif code is None and not right:
            wrong.append((command, f"exit code {done.returncode}: {said}"))
        elif code is not None and (right or done.returncode != code or sentence not in page):
            wrong.append((command, f"not the exception in the table: exit code {done.returncode}: {said}"))
    assert not wrong
    assert len(lines) == 89


def _prepare(directory: Path) -> None:
    """Make the files that the lines name."""
    for name in ("home", "work", "T", "T2", "T3", "nt"):
        (directory / name).mkdir()
    graph = GRAPH.replace("FIRST", "test_1").replace("SECOND", "test_2")
    for path in ("g.yaml", "work/g.yaml", "work/tasks.yaml"):
        (directory / path).write_text(graph, encoding="utf-8")
    extra = GRAPH.replace("FIRST", "extra-install").replace("SECOND", "extra-configure")
    (directory / "extra.yaml").write_text(extra, encoding="utf-8")
    for name, wanted in (("nodes.yaml", "provisioned"), ("free.yaml", "discover")):
        nodes = [
            f"- {{id: {uid}, name: node-{uid}, roles: [{role}], ip: 127.0.0.1{uid}, status: {status}, executor: local}}"
            for uid, (role, status) in NODES.items()
            if status == wanted
        ]
        (directory / name).write_text("\n".join(nodes) + "\n", encoding="utf-8")


def _run(command: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Run a line as a script does, on an engine file of its own."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(directory / "home"),
        "FUEL_ENGINE": str(directory / "engine.db"),
        "LC_ALL": "C.UTF-8",
    }
    return subprocess.run(
        ["bash", "-c", command],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
