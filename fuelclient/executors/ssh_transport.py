"""The transport over SSH: one connection for each node, kept open, and opened again if it breaks.

This is the only module that knows asyncssh.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fuelclient.errors import Unsupported
from fuelclient.executors.options import Options
from fuelclient.executors.ssh import Ssh
from fuelclient.executors.transport import Completed, ConnectionBroken, Unreachable, reason_of

try:
    import asyncssh
except ImportError as error:  # pragma: no cover - the tests have it
    raise Unsupported(
        "Nodes are reached over SSH with the library asyncssh, which is not installed.",
        hint="Install it: pip install 'fuelclient[ssh]'.",
    ) from error

_ALIVE_EVERY = 15
_ALIVE_COUNT = 4
_SESSIONS = 8
"""The scripts that one connection carries at a time: sshd allows 10 sessions by default, and files take one."""


class SshTransport:
    """The transport to a node with an address."""

    def __init__(self, host: str, ssh: Ssh, options: Options) -> None:
        self._host, self._ssh, self._options = host, ssh, options
        self._connection: asyncssh.SSHClientConnection | None = None
        self._jumps: list[asyncssh.SSHClientConnection] = []
        self._sftp: asyncssh.SFTPClient | None = None
        self._lock, self._writing = asyncio.Lock(), asyncio.Lock()
        self._sessions = asyncio.Semaphore(_SESSIONS)
        self._hop = _address(host, ssh.port)

    @property
    def place(self) -> str:
        return _address(self._host, self._ssh.port)

    async def call(self, script: str, arguments: Sequence[str] = (), stdin: bytes = b"") -> Completed:
        command = shlex.join(["/bin/sh", "-c", script, "fuel2", *arguments])
        async with self._sessions:
            try:
                process = await self._begun(command, stdin)
                done = await process.wait()
            except (asyncssh.Error, OSError) as error:
                raise ConnectionBroken(f"The connection to {self.place} broke: {reason_of(error)}.") from error
        if done.exit_status is None:
            raise ConnectionBroken(f"The connection to {self.place} broke while a script ran there.")
        return Completed(done.exit_status, _bytes(done.stdout), _bytes(done.stderr))

    async def _begun(self, command: str, stdin: bytes) -> asyncssh.SSHClientProcess[bytes]:
        """Return a process of the command.

        If the connection was dead already, open it again: without a channel the command was not even sent. Raise
        `Unreachable` if that does not help, because nothing has begun.
        """
        for is_last in (False, True):
            connection = await self._open()
            try:
                return await connection.create_process(command, input=stdin, encoding=None)
            except asyncssh.ChannelOpenError as error:
                if error.code != asyncssh.OPEN_CONNECT_FAILED:
                    raise
                if is_last or not connection.is_closed():
                    raise Unreachable(f"{self.place} takes no command: {reason_of(error)}.") from error
        raise AssertionError("the second time returns or raises")

    async def put(self, path: str, content: bytes | Path) -> None:
        async with self._writing:
            try:
                await self._put(path, content)
            except ConnectionBroken:
                self._sftp = None
                await self._put(path, content)

    async def _put(self, path: str, content: bytes | Path) -> None:
        connection = await self._open()
        try:
            if self._sftp is None:
                self._sftp = await connection.start_sftp_client()
            if isinstance(content, bytes):
                attributes = asyncssh.SFTPAttrs(permissions=0o600)
                async with self._sftp.open(path, "wb", attrs=attributes) as file:
                    await file.write(content)
            else:
                await self._sftp.put(str(content), path)
        except (asyncssh.SFTPNoConnection, asyncssh.SFTPConnectionLost) as error:
            raise ConnectionBroken(f"The connection to {self.place} broke: {reason_of(error)}.") from error
        except asyncssh.SFTPError as error:
            raise Unreachable(f"{path} cannot be written on {self.place}: {reason_of(error)}.", final=True) from error
        except asyncssh.Error as error:
            raise ConnectionBroken(f"The connection to {self.place} broke: {reason_of(error)}.") from error
        except OSError as error:
            where = error.filename or content if isinstance(content, Path) else path
            message = f"{where} cannot be sent to {self.place}: {error.strerror or error}."
            raise Unreachable(message, final=isinstance(content, Path)) from error

    async def close(self) -> None:
        connections = [self._connection, *reversed(self._jumps)]
        self._connection, self._sftp, self._jumps = None, None, []
        for connection in connections:
            if connection is not None:
                connection.close()
                await connection.wait_closed()

    async def _open(self) -> asyncssh.SSHClientConnection:
        """Return the connection to the node; open it if it is missing or broken."""
        async with self._lock:
            if self._connection is not None and not self._connection.is_closed():
                return self._connection
            await self.close()
            try:
                async with asyncio.timeout(self._options.connect_timeout):
                    self._connection = await self._connect()
            except TimeoutError as error:
                await self.close()
                message = f"{self.place} does not answer within {self._options.connect_timeout:g} s."
                raise Unreachable(message, hint="Is the node up, and its address right?") from error
            except (asyncssh.Error, OSError, ValueError) as error:
                await self.close()
                raise self._unreachable(error) from error
            return self._connection

    async def _connect(self) -> asyncssh.SSHClientConnection:
        tunnel = None
        for hop in filter(None, (hop.strip() for hop in self._ssh.jump.split(","))):
            user, _, address = hop.rpartition("@")
            host, port = _split(address)
            self._hop = _address(host, port)
            tunnel = await self._connected(host, user, port, tunnel)
            self._jumps.append(tunnel)
        self._hop = self.place
        return await self._connected(self._host, self._ssh.user, self._ssh.port, tunnel)

    async def _connected(
        self, host: str, user: str, port: int, tunnel: asyncssh.SSHClientConnection | None
    ) -> asyncssh.SSHClientConnection:
        options: dict[str, Any] = {}
        if user:
            options["username"] = user
        if port:
            options["port"] = port
        if tunnel is not None:
            options["tunnel"] = tunnel
        if self._ssh.key:
            options["client_keys"] = [str(Path(self._ssh.key).expanduser())]
        if self._options.known_hosts:
            options["known_hosts"] = self._options.known_hosts
        if self._options.ssh_config:
            options["config"] = [self._options.ssh_config]
        return await asyncssh.connect(
            host, keepalive_interval=_ALIVE_EVERY, keepalive_count_max=_ALIVE_COUNT, **options
        )

    def _unreachable(self, error: Exception) -> Unreachable:
        """Return the error that says what is wrong with the connection, and what to do."""
        place = self._hop
        match error:
            case asyncssh.HostKeyNotVerifiable():
                host, port = _split(place)
                words = f"-p {port} {host}" if port else host
                known = self._options.known_hosts
                hint = (
                    "Compare its fingerprint with the machine's, then add the key: "
                    f"ssh-keyscan {words} >> {shlex.quote(known) if known else '~/.ssh/known_hosts'}"
                )
                message = f"The host key of {place} is not known or has changed ({reason_of(error)})."
                return Unreachable(message, final=True, hint=hint)
            case asyncssh.PermissionDenied():
                who = self._ssh.user or "the user"
                key = f" with the key {self._ssh.key}" if self._ssh.key else " with any key at hand"
                hint = "Set user and key of the node, or add the key to its authorized_keys or to your agent."
                return Unreachable(f"{place} does not let {who} in{key}.", final=True, hint=hint)
            case asyncssh.KeyImportError() | asyncssh.KeyEncryptionError():
                hint = "Keys with a passphrase go through an SSH agent."
                return Unreachable(f"The key for {place} cannot be read: {reason_of(error)}.", final=True, hint=hint)
            case ConnectionRefusedError():
                return Unreachable(f"{place} refuses connections.", hint="Does sshd run there, on that port?")
            case FileNotFoundError() | PermissionError() if error.filename:
                message = f"{error.filename}, which SSH to {place} needs, cannot be read: {error.strerror}."
                return Unreachable(message, final=True)
        return Unreachable(f"{place} cannot be reached: {reason_of(error)}.")


def _address(host: str, port: int) -> str:
    """Host and port as `_split` reads them back."""
    return f"{f'[{host}]' if ':' in host else host}:{port}" if port else host


def _split(address: str) -> tuple[str, int]:
    """Host and port of `host`, `host:port`, `[v6]:port`."""
    if address.startswith("["):
        host, _, rest = address[1:].partition("]")
        return host, int(rest[1:] or 0)
    host, _, port = address.partition(":") if address.count(":") == 1 else (address, "", "")
    return host, int(port or 0)


def _bytes(output: Any) -> bytes:
    return output if isinstance(output, bytes) else b""
