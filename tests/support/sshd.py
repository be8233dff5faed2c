"""Nodes that are real: Debian's sshd, started here on loopback ports with keys of its own.

Where we are root and may make mount namespaces, each node has directories of its own for what tasks write: /etc,
/var/tmp, /var/log and puppet's state. Elsewhere the nodes share those of this machine.
"""

from __future__ import annotations

import functools
import getpass
import os
import shlex
import shutil
import signal
import socket
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from processes import eventually

from fuelclient.executors.job import Target
from fuelclient.executors.transport import Options, Ssh

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
HOST = "127.0.0.1"
_OWN = ("/var/tmp", "/var/log", "/var/lib/puppet", "/var/cache/puppet")  # noqa: S108 - they are mounted over


@functools.cache
def can_isolate() -> bool:
    """Whether nodes can have files of their own."""
    tried = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /mnt"]
    return os.geteuid() == 0 and subprocess.run(tried, capture_output=True, check=False).returncode == 0


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        return int(listener.getsockname()[1])


@dataclass
class Daemon:
    """An sshd of our own."""

    port: int
    command: list[str]
    process: subprocess.Popen[bytes]

    @property
    def log(self) -> str:
        """What it has written down."""
        path = Path(self.command[-1].split()[-1])
        return path.read_text() if path.exists() else ""

    @property
    def is_listening(self) -> bool:
        """Whether this daemon has the port, and not another process."""
        return f"listening on {HOST} port {self.port}" in self.log

    def has_tried(self) -> bool:
        """Whether it is known if it got the port."""
        return self.is_listening or self.process.poll() is not None

    @property
    def files(self) -> Path:
        """The root of the file system as tasks of the node see it."""
        return Path(f"/proc/{self.process.pid}/root")

    def stop(self) -> None:
        """End it with all its connections, as a machine that loses power does."""
        self.process.send_signal(signal.SIGSTOP)  # no new ones now
        self.drop()
        self.process.kill()
        self.process.wait()

    def again(self) -> None:
        """The same node is back, and answers."""
        self.process = subprocess.Popen(self.command)
        assert eventually(lambda: _answers(self.port)), self.log

    def drop(self) -> None:
        """Break the connections that are open, and go on listening."""
        for number in self.children():
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)

    def children(self) -> list[int]:
        """Its processes for connections, and theirs: everything whose parent is one of ours and that is an sshd."""
        found: list[int] = []
        parents = {self.process.pid}
        while parents:
            lines = [Path(entry, "stat") for entry in Path("/proc").iterdir() if entry.name.isdigit()]
            parents = {number for number, parent, name in map(_stat, lines) if parent in parents and "sshd" in name}
            found += parents
        return found


def _stat(path: Path) -> tuple[int, int, str]:
    try:
        number, _, rest = path.read_text().partition(" (")
        name, _, after = rest.rpartition(") ")
        return int(number), int(after.split()[1]), name
    except OSError:
        return 0, -1, ""


@dataclass
class Site:
    """A place with daemons, a user's keys, and known hosts.

    `key` is let in, `other_key` is not. Every daemon has the same host key.
    """

    root: Path
    daemons: list[Daemon]
    lines: list[str]

    @classmethod
    def at(cls, root: Path) -> Site:
        """Make a site. Its user ends the daemons."""
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        for name in ("host_key", "key", "other_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(root / name)], check=True)
        (root / "authorized_keys").write_text((root / "key.pub").read_text())
        (root / "ssh_config").write_text("")
        (root / "known_hosts").write_text("")
        return cls(root, [], [])

    def daemon(self, *lines: str, isolated: bool = False, sftp: str = "internal-sftp") -> Daemon:
        """One more node; `lines` are added to its configuration. With `isolated` it has files of its own; `sftp` is the
        command of its SFTP, and without one it has none.

        Other tests look for free ports at the same time: who loses a port takes another one.
        """
        for _ in range(5):
            daemon = self._started((*lines, f"Subsystem sftp {sftp}") if sftp else lines, isolated=isolated)
            self.daemons.append(daemon)
            assert eventually(daemon.has_tried), daemon.log
            if daemon.is_listening:
                break
            self.daemons.remove(daemon)
        assert eventually(lambda: _answers(daemon.port)), daemon.log
        self.know(daemon.port)
        return daemon

    def _started(self, lines: Sequence[str], *, isolated: bool) -> Daemon:
        assert SSHD is not None
        port = free_port()
        config = self.config(HOST, port, *lines)
        command = [SSHD, "-D", "-f", str(config), "-E", f"{self.root}/sshd.{port}.log"]
        if isolated:
            command = ["unshare", "--mount", "sh", "-c", f"{self.mounts(str(port))}exec {shlex.join(command)}"]
        return Daemon(port, command, subprocess.Popen(command))

    def config(
        self, address: str, port: int, *lines: str, key: str = "host_key", authorized_keys: Path | None = None
    ) -> Path:
        """Write the configuration of a daemon that has a host key and lets in the users with authorized keys.

        The home of its users is an empty one: what somebody's ~/.bashrc prints would be in the output of tasks.
        """
        config = self.root / f"sshd_config.{address}.{port}.{key}"
        home = self.root / "empty_home"
        home.mkdir(exist_ok=True)
        variables = [line.removeprefix("SetEnv ") for line in lines if line.startswith("SetEnv ")]
        config.write_text(
            f"Port {port}\nListenAddress {address}\nHostKey {self.root}/{key}\nPidFile none\nUsePAM no\n"
            f"AuthorizedKeysFile {authorized_keys or self.root / 'authorized_keys'}\nStrictModes no\n"
            "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n"
            + f"SetEnv {' '.join([f'HOME={home}', *variables])}\n"  # of several such lines, only the first one counts
            + "".join(f"{line}\n" for line in lines if not line.startswith("SetEnv "))
        )
        return config

    def know(self, port: int, key: str = "host_key") -> None:
        """The known hosts have a key for the node at a port."""
        with (self.root / "known_hosts").open("a") as known:
            known.write(f"[{HOST}]:{port} {(self.root / f'{key}.pub').read_text()}")

    def forget(self) -> None:
        """No host is known any more."""
        (self.root / "known_hosts").write_text("")

    def mounts(self, name: str) -> str:
        """Script lines that give a node files of its own; they vanish with its last process."""
        own = self.root / f"files.{name}"
        own.mkdir()
        lines = [f"mount -t tmpfs none {own}", f"mkdir {own}/etc"]
        lines += [f"cp -a /etc/. {own}/etc || :", f"rm -rf {own}/etc/fuel"]  # what is there may change meanwhile
        lines += [f"mount --bind {own}/etc /etc"]
        for number, path in enumerate(path for path in _OWN if Path(path).is_dir()):
            mine = f"{own}/{number}"
            lines += [f"mkdir {mine}", f"chmod --reference={path} {mine}", f"chown --reference={path} {mine}"]
            lines += [f"mount --bind {mine} {path}"]
        return "\n".join(["set -e", *lines, ""])

    def options(self, **changes: Any) -> Options:
        options = Options(
            spool=str(self.root / "spool"),
            remote_spool=str(self.root / "remote"),
            known_hosts=str(self.root / "known_hosts"),
            ssh_config=str(self.root / "ssh_config"),
            grace=1,
            connect_timeout=30,
        )
        return replace(options, **changes)

    def target(self, daemon: Daemon, **ssh: Any) -> Target:
        settings: dict[str, Any] = {"user": getpass.getuser(), "port": daemon.port, "key": str(self.root / "key")}
        return Target("ssh", HOST, Ssh(**{**settings, **ssh}))


def ssh_of(target: Target) -> Ssh:
    """How a node of a site is reached."""
    assert isinstance(target.place, Ssh)
    return target.place


def port_of(target: Target) -> int:
    """The port of a node's daemon."""
    return ssh_of(target).port


def _answers(port: int) -> bool:
    try:
        with socket.create_connection((HOST, port), 1) as connection:
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False
