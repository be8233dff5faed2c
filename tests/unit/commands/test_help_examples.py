"""Every command has examples in its help, and each of them does what it promises.

They run in a shell, each in its own copy of a directory that has what they name: releases 1 and 2, environment 1 (prod)
with the nodes 1 to 3, a free node 4, the plugins 1 to 3, the runs up to 12, and the files.
"""

from __future__ import annotations

import inspect
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import fuel2
from failures import failures
from forked.zygote import forking
from package_trees import MITAKA, write_package
from shared import shared

from fuelclient.commands.base import MasterOnly
from fuelclient.commands.global_options import PROGRAM
from fuelclient.commands.parser import is_example
from fuelclient.commands.shell import FuelShell
from fuelclient.commands.table import COMMANDS

ROOT = Path(__file__).resolve().parents[3]


def examples(docstring: str) -> Iterator[str]:
    """Yield the command lines of a command's help, each with the lines that continue it.

    >>> list(examples("List all\\n\\n  fuel2 env list\\n  fuel2 env list |\\n      wc -l\\n\\n  name: x"))
    ['fuel2 env list', 'fuel2 env list |\\n    wc -l']
    """
    for paragraph in inspect.cleandoc(docstring).split("\n\n"):
        if not is_example(paragraph) or PROGRAM not in paragraph:
            continue
        lines: list[str] = []
        for line in inspect.cleandoc(paragraph).splitlines():
            if lines and lines[-1].endswith(("|", "\\")):
                lines[-1] += f"\n{line}"
            else:
                lines.append(line)
        yield from lines


RELEASE = """
- name: Mitaka
  version: mitaka-9.0
  operating_system: Ubuntu
  modes_metadata: {ha: {}}
  roles_metadata:
    controller: {name: Controller, description: Runs the APIs, has_primary: true, group: base}
    compute: {name: Compute, description: Runs instances}
    cinder: {name: Cinder, description: Keeps volumes}
- name: Newton
  version: newton-10.0
  operating_system: Ubuntu
  modes_metadata: {ha: {}}
  roles_metadata: {controller: {name: Controller}, compute: {name: Compute}}
"""

GRAPH = """
- {id: controller, type: group, roles: [primary-controller, controller]}
- {id: compute, type: group, roles: [compute]}
- {id: globals, type: shell, version: 2.1.0, groups: [primary-controller, controller, compute],
   required_for: [netconfig], parameters: {cmd: echo computed, timeout: 60}}
- {id: netconfig, type: shell, version: 2.1.0, groups: [primary-controller, controller, compute],
   parameters: {cmd: echo configured, timeout: 60}}
- {id: keystone, type: shell, version: 2.1.0, groups: [primary-controller, controller], requires: [netconfig],
   parameters: {cmd: echo running, timeout: 60}}
"""

FIX = "[{id: fix, type: shell, version: 2.1.0, roles: ['*'], parameters: {cmd: echo fixed, timeout: 60}}]"

NODES = """
- {name: node-1, roles: [controller], executor: local}
- {name: node-2, roles: [compute], executor: local}
- {name: node-3, roles: [compute], executor: local}
"""

FILES = {
    "release.yaml": RELEASE, "graph.yaml": GRAPH, "fix.yaml": FIX, "three.yaml": NODES,
    "override.yaml": "- {id: keystone, parameters: {timeout: 99}}\n",
    "fuel-library/deployment/puppet/osnailyfacter/tasks.yaml": GRAPH,
    "facts.yaml": "{debug: true}", "nodes.yaml": "- {name: node-9, roles: [compute], ip: 10.20.0.9}",
    "roles.yaml": "{roles_metadata: {controller: {name: Controller}}}",
    "repos.yaml": "- {name: mos, uri: 'http://mirror/mos', type: deb, suite: mos, section: main, priority: 1050}",
    "nailgun/fixtures/openstack.yaml": RELEASE.replace("Mitaka", "Ocata").replace("Newton", "Pike"),
    "watcher.yaml": "{name: watcher, meta: {name: Watcher, description: Watches}, volumes_roles_mapping: []}",
    "upgrade.yaml": "{name: upgrade2, graphs: [{type: default}]}",
    "lma.yaml": "{environment_label: {value: prod}}",
    "next.yaml": RELEASE.partition("- name: Newton")[0].replace("9.0", "9.1"),
    "template.yaml": "adv_net_template: {default: {nic_mapping: {}}}",
    "nova.yaml": "configuration: {nova_config: {DEFAULT/debug: {value: true}}}",
    "plugins/.keep": "", "bin/.keep": "", "vips_1.yaml": "[]", "snapshot_conf.yaml": "{dump: {}}",
}  # fmt: skip

BEFORE = {
    "complete": ["mkdir -p ~/.local/share/bash-completion/completions"],
    "env diff": ["fuel2 env clone 1 --to-engine copy.db"],
    "env network upload": ["fuel2 env network download 1 -f yaml"],
    "node disks upload": ["fuel2 node disks download 1 -f yaml"],
    "node interfaces upload": ["fuel2 node interfaces download 1 -f yaml"],
    "env deployment-facts delete": ["fuel2 env deployment-facts upload --env 1"],
    "env deployment-facts download": ["fuel2 env deployment-facts upload --env 1", "rm -r deployment_1"],
    "env deployment-facts get-default": ["rm -r deployment_1"],
    "env settings download": ["rm -r environment_1"],
    "engine import": ["fuel2 engine export --file engine.json"],
    "engine restore": ["fuel2 engine backup engine-backup.db"],
    "env update": ["fuel2 release import next.yaml"],
    "graph delete": ["fuel2 graph upload --env 1 --type rollback --file fix.yaml"],
    "graph diff": ["fuel2 plugins enable lma_collector --env 1"],
    "plan apply": ["fuel2 plan create saved.json --env 1 --type default"],
    "plan show": ["fuel2 plan create saved.json --env 1 --type default"],
    "node attributes-download": ["rm -r node_1"],
    "node delete": ["fuel2 env remove nodes --env 1 --nodes 3"],
    "node label delete": ["fuel2 node label set --labels rack=b --nodes 1 2"],
    "plugins create": ["rm -r my-plugin", "mkdir src"],
    "plugins disable": ["fuel2 plugins enable lma_collector --env 1"],
    "plugins migrate": ["rm -rf old", "fuel2 plugins create old --package-version 4"],
    "plugins install": ["fuel2 plugins remove 1 --yes", "fuel2 plugins build lma_collector-0 --output ."],
    "role create": ["mkdir releases_1", "cp watcher.yaml releases_1/watcher.yaml"],
    "role delete": ["fuel2 role create --release 1 --name watcher --file watcher.yaml"],
    "tag create": ["mkdir releases_1", "echo 'meta: {has_primary: true}' > releases_1/database.yaml"],
    "tag delete": ["echo 'meta: {}' | fuel2 tag create --release 1 --name database --file -"],
    "tag update": ["echo 'meta: {has_primary: false}' | fuel2 tag create --release 1 --name database --file -"],
    "vip download": ["rm vips_1.yaml"],
}  # fmt: skip
"""Lines to run before each example of a command."""

CODES = {
    "fuel2 graph diff cluster:1 override.yaml --exit-code": (10, "they differ"),
    "fuel2 graph preview --env 1 --with override.yaml --with plugin:./my-plugin --exit-code": (10, "it differs"),
    "fuel2 env drift 1 --type default --exit-code": (10, "its graph was changed since the run"),
    "fuel2 node create node-1 --ip 10.20.0.3 --env 1 --roles controller cinder": (6, "node-1 exists"),
    "fuel2 env delete 1": (6, "it is operational, and --force is missing"),
    "fuel2 plugins disable lma_collector --env 1": (6, "the environment is deployed"),
    "fuel2 node undiscover --node 3": (6, "the node is online, and --force is missing"),
    "fuel2 env stop-deployment 1": (6, "no run is live"),
    "fuel2 env stop-deployment 1 --kill": (6, "no run is live"),
    "fuel2 env create prod --release 1": (6, "prod exists"),
    "fuel2 env create prod --release 1 -f value -c id": (6, "prod exists"),
    "fuel2 task stop 12": (6, "run 12 has ended"),
    "fuel2 task stop 12 --kill": (6, "run 12 has ended"),
    "fuel2 task resume 12 --wait": (6, "run 12 has ended"),
    "fuel2 env deployment-facts get-default --env 1 --explain storage.pg_num": (5, "the release has no such setting"),
    "fuel2 node disks get-default 1 -f yaml": (2, "the engine does not divide disks"),
    "fuel2 vip create --env 1 --name management --address 192.168.0.2 --network 3": (5, "there is no network 3"),
    "fuel2 tui": (2, "there is no terminal"),
    "fuel2 tui --env 1": (2, "there is no terminal"),
}
"""The exit code of examples that cannot succeed in the directory, and why."""

PLUGINS = (("lma_collector", "0.10.3"), ("elasticsearch_kibana", "1.0.0"), ("third", "1.0.0"))

SETUP = (
    "release import release.yaml", "graph upload --release 1 --type default --file graph.yaml",
    "env create prod --release 1", "node import three.yaml --env 1", "node create node-4 --ip 10.20.0.4",
    "graph upload --release 1 --type fix-1 --file fix.yaml",
    "graph upload --release 1 --type provisioning --file fix.yaml",
    "graph upload --release 1 --type reset --file fix.yaml", "graph upload --release 1 --type verify --file fix.yaml",
    "graph upload --release 1 --type prepare --file fix.yaml", "graph execute --env 1 --type fix-1 verify --wait",
    *["graph execute --env 1 --type fix-1 --wait"] * 4,
    "graph execute --env 1 --type default --wait",
    "sequence create --release 1 --name deploy --type default",
    "env settings download 1", "env deployment-facts get-default --env 1", "node attributes-download 1",
    "plugins create my-plugin", "plugins create plugins/one", "release repos update 1 --file repos.yaml",
    *(f"plugins install {name}-{number}" for number, (name, _) in enumerate(PLUGINS)),
)  # fmt: skip
"""What the directory is made with."""

PLACES = {
    "fuel2 plugins check .": "cd my-plugin && ",
    "fuel2 plugins check . --all-releases": "cd my-plugin && ",
    "fuel2 plugins check . --env 1 --as-master": "cd my-plugin && ",
    "fuel2 plugins check . -f sarif": "cd my-plugin && ",
    "fuel2 plugins check . --fix --yes": "cd my-plugin && ",
    "fuel2 plugins migrate . --to 5": "cd old && ",
    "fuel2 plugins migrate . --to 5 --yes": "cd old && ",
    "fuel2 graph upload --plugin 2 --type default --file -": "cat fix.yaml | ",
}
"""What comes before an example that expects another current directory, or a document on stdin."""

ONE_COMMAND = re.compile(r"fuel2 [^|&;<>$\"`\\\n*?~{}#!]*")
"""A line that needs nothing of a shell but its single quotes."""

ENDLESS = ("plugins watch", "server run")
"""Commands that run until they are ended. Their examples are only parsed here; other tests start them."""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A directory with everything that the examples name."""
    shared("examples", _make, tmp_path / "here")
    return tmp_path / "here"


def _make(path: Path) -> None:
    for name, text in FILES.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text, encoding="utf-8")
    words = ("environment_label", "influxdb_mode")
    setting = {"attributes": {word: {"value": "", "type": "text", "label": word, "weight": 10} for word in words}}
    for number, (name, version) in enumerate(PLUGINS):
        releases = [MITAKA, {"os": "ubuntu", "version": "newton-10.0", "mode": ["ha"]}]
        files = {"environment_config.yaml": setting}
        write_package(path / f"{name}-{number}", name, version, releases=releases, files=files, is_hotpluggable=True)
    for program in ("less", "dot"):  # which not every machine has
        (path / "bin" / program).write_text("#!/bin/sh\ncat\n", encoding="utf-8")
        (path / "bin" / program).chmod(0o755)
    for line in SETUP:
        done = run(path, f"fuel2 {line}")
        assert done.returncode == 0, (line, done)


def run(directory: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Run a line as in a shell, with the engine file of a directory, which is also the home.

    A line that is one command runs in this process, which takes a twentieth of the time; bash runs pipes and the like.
    """
    environ = {
        "HOME": str(directory), "FUEL_ENGINE": str(directory / "engine.db"), "LC_ALL": "C.UTF-8", "SHELL": "/bin/bash",
        "PATH": f"{directory / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    if ONE_COMMAND.fullmatch(line):
        with pytest.MonkeyPatch.context() as patched:
            patched.chdir(directory)
            for name, value in environ.items():
                patched.setenv(name, value)
            done = fuel2(*shlex.split(line)[1:])
        return subprocess.CompletedProcess(line, done.code, done.out, done.err)
    return subprocess.run(
        ["bash", "-c", line], cwd=directory, env=environ | forking(), stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=120, check=False,
    )  # fmt: skip


def lines() -> Iterator[tuple[str, str]]:
    """Yield each command with each of its examples."""
    shell = FuelShell()
    for name in COMMANDS:
        factory, _, _ = shell.command_manager.find_command(name.split())
        for example in examples(factory.__doc__ or ""):
            yield name, example


EXAMPLES = list(lines())


def test_each_command_has_an_example_of_itself() -> None:
    def check(name: str) -> None:
        own = [example for command, example in EXAMPLES if command == name]
        assert any(f"fuel2 {name}" in example for example in own), f"{name}: {own}"

    assert failures(COMMANDS, check) == {}


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_an_example_does_what_it_promises(here: Path, name: str, example: str) -> None:
    factory, _, _ = FuelShell().command_manager.find_command(name.split())
    if name in ENDLESS:
        words = shlex.split(example)[1 + len(name.split()) :]
        factory(FuelShell(), None, cmd_name=name).get_parser(name).parse_args(words)
        return
    for line in BEFORE.get(name, ()):
        prepared = run(here, line)
        assert prepared.returncode == 0, (line, prepared)
    code, why = CODES.get(example, (0, ""))
    done = run(here, PLACES.get(example, "") + example)
    if issubclass(factory, MasterOnly):
        code, why = 2, "only a master can do this"
        assert factory.reason in done.stderr
    assert done.returncode == code, (why, done)
