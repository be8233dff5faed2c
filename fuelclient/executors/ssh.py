"""Run tasks on nodes with an address, over SSH."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shlex
import shutil
from collections.abc import Collection, Hashable, Sequence

from fuelclient.executors import examination
from fuelclient.executors.connector import Connector
from fuelclient.executors.handlers import sync
from fuelclient.executors.handlers.commands import PATH
from fuelclient.executors.job import MASTER, Recipe, Sync, Target
from fuelclient.executors.transport import Options, Ssh, Transport
from fuelclient.installed import extra_line
from fuelclient.model.diagnosis import Diagnosis, Health
from fuelclient.model.node import Node


class SshConnector(Connector):
    """Runs tasks over SSH, with one connection for each node."""

    needs_address = True
    examined = True
    no_reboot = ""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._uses_rsync: dict[Target, bool] = {}

    @classmethod
    def place(cls, node: Node) -> Hashable:
        texts = {name: str(node.ssh.get(name) or "") for name in ("user", "key", "jump")}
        return Ssh(port=int(node.ssh.get("port") or 0), **texts)

    def refusal(self, target: Target) -> str:  # noqa: ARG002 - all nodes need the same
        if importlib.util.find_spec("asyncssh") is None:
            return f"SSH needs the library asyncssh; install it: {extra_line('ssh')}"
        return ""

    def transport(self, target: Target) -> Transport:
        from fuelclient.executors.ssh_transport import SshTransport

        assert isinstance(target.place, Ssh)  # noqa: S101 - `place` made it
        return SshTransport(target.ip, target.place, self.options)

    async def examine(self, target: Target, transport: Transport, programs: Collection[str]) -> Sequence[Diagnosis]:
        from fuelclient.executors.ssh_transport import SshTransport

        problems = [*await super().examine(target, transport, programs)]
        assert isinstance(transport, SshTransport)  # noqa: S101 - `transport` above made it
        if await transport.no_sftp_reason():
            fix = "Add to its sshd_config: Subsystem sftp internal-sftp"
            message = "it has no SFTP, so that files are sent through commands"
            problems.append(examination.problem(message, fix, Health.WARNING))
        return problems

    async def sync(self, step: Sync, target: Target, transport: Transport) -> Recipe:
        """Send a tree by rsync if this machine and the node have it, otherwise as an archive."""
        if target not in self._uses_rsync:
            here = all(map(shutil.which, ("rsync", "ssh"))) and self._reads_same_files()
            self._uses_rsync[target] = here and (await transport.call("command -v rsync > /dev/null")).rc == 0
        return over_ssh(step, target, self._ssh_options()) if self._uses_rsync[target] else sync.as_archive(step)

    def _reads_same_files(self) -> bool:
        """Whether the ssh program, which rsync uses, reads the same user files as the library asyncssh.

        The program finds the home directory in the user database, the library in HOME. If these differ, nodes that
        other tasks can reach might refuse rsync over SSH.
        """
        if self.options.known_hosts and self.options.ssh_config:
            return True
        try:
            home = pwd.getpwuid(os.geteuid()).pw_dir
        except KeyError:
            return False
        return os.path.realpath(home) == os.path.realpath(os.path.expanduser("~"))

    def _ssh_options(self) -> tuple[str, ...]:
        """Return the options of the ssh program for configured files, which replace the user's own."""
        config = ("-F", self.options.ssh_config) if self.options.ssh_config else ()
        hosts = ("-o", f"UserKnownHostsFile={self.options.known_hosts}") if self.options.known_hosts else ()
        return config + hosts


def over_ssh(step: Sync, target: Target, options: tuple[str, ...] = ()) -> Recipe:
    """Create the recipe by which this machine runs rsync over the ssh program with these `options`."""
    assert isinstance(target.place, Ssh)  # noqa: S101 - `place` made it
    command = ["ssh", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", *options]
    place = target.place
    for option, value in (("-p", place.port), ("-i", place.key), ("-l", place.user), ("-J", place.jump)):
        command += [option, str(value)] if value else []
    host = f"[{target.ip}]" if ":" in target.ip else target.ip
    rsync = f"mkdir -p -- {shlex.quote(step.dst)} && rsync"
    script = (
        f"{PATH}{sync.RSYNC} -e {shlex.quote(shlex.join(command))} --rsync-path={shlex.quote(rsync)} -s -- "
        f"{shlex.quote(step.src)} {shlex.quote(f'{host}:{step.dst}')}\n"
    )
    return Recipe(script, where=MASTER)
