"""docs/five-machines.md, line by line, on five machines that are real: sshd at the addresses of the page.

The addresses are in a network namespace of the test's own, where each machine also has files of its own and can be
given another host key.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from sshd import SSHD, Site, can_isolate
from unit.test_docs_sessions import ROOT, Step, outputs, pattern_of, steps_of

PAGE = ROOT / "docs" / "five-machines.md"
CHANGED = "## When a host key has changed"
ADDRESSES = tuple(f"10.20.0.{number}" for number in range(11, 16))
REINSTALLED = ADDRESSES[-1]
APART = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")


@cache
def why_not() -> str:
    """Return why there can be no such machines here, or nothing."""
    missing = [name for name in ("ip", "unshare", "ssh-keygen", "ssh-keyscan") if shutil.which(name) is None]
    if SSHD is None or missing:
        return f"not installed: {', '.join([*missing, *(() if SSHD else ('sshd',))])}"
    if not can_isolate():
        return "only root can give five machines files of their own"
    tried = subprocess.run([*APART, "ip", "link", "set", "lo", "up"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "no network namespace can be made here"


def started(site: Site, address: str, key: str) -> str:
    """Return the script line that starts the machine at an address, and waits until it listens."""
    config = site.config(
        address, 22, "Subsystem sftp internal-sftp", key=key, authorized_keys=site.root / "home" / ".ssh" / "fleet.pub"
    )
    log = f"{site.root}/log.{address}.{key}"
    machine = f"{site.mounts(f'{address}.{key}')}exec {SSHD} -D -f {config} -E {log}"
    script = f"{site.root}/start.{address}.{key}"
    Path(script).write_text(machine)
    awaited = f"timeout 60 sh -c 'until grep -qs listening {log}; do sleep 0.1; done'"
    return f"{{ unshare --mount sh {script} & }} && echo $! > {site.root}/pid.{address} && {awaited}"


def with_machines(site: Site, text: str) -> list[Step]:
    """Return the steps of the page, with those that nobody sees: the machines start, and one is installed anew."""
    before, after = text.split(CHANGED)
    key = site.root / "new_key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    network = " && ".join(f"ip address add {address}/32 dev lo" for address in ADDRESSES)
    hidden = [f"ip link set lo up && {network}", *(started(site, address, "host_key") for address in ADDRESSES)]
    again = f"kill $(cat {site.root}/pid.{REINSTALLED}) && sleep 0.2 && {started(site, REINSTALLED, key.name)}"
    return [*(Step(line, "") for line in hidden), *steps_of(before), Step(again, ""), *steps_of(after)]


@pytest.mark.slow
def test_five_machines(tmp_path: Path) -> None:
    if why_not():
        pytest.skip(why_not())
    pytest.importorskip("asyncssh", reason="the extra ssh is not installed")
    home = tmp_path / "home"
    home.mkdir()
    steps = with_machines(Site.at(tmp_path), PAGE.read_text(encoding="utf-8"))
    commands = [step for step in steps if not step.is_file]

    printed = outputs(steps, home, APART)

    assert len(printed) == len(commands), printed[-1:]
    for step, output in zip(commands, printed, strict=True):
        matches = re.fullmatch(pattern_of(step.shown), output) is not None
        assert matches, f"$ {step.command}\n--- it shows\n{step.shown}--- it prints\n{output}"
    assert not os.path.exists("/var/tmp/fleet-motd"), "a machine wrote to this one"  # noqa: S108
