"""The transport over SSH: one connection for each node, which is kept open, and reopened if it breaks.

No other module imports asyncssh, so that plans and runs without SSH do not load it.
"""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from fuelclient.errors import Unsupported
from fuelclient.executors.transport import Completed, ConnectionBroken, Options, Ssh, Unreachable, reason_of
from fuelclient.installed import extra_line
from fuelclient.model.diagnosis import Shared

try:
    import asyncssh
except ImportError as error:  # pragma: no cover - the tests have it
    raise Unsupported(
        "Nodes are reached over SSH with the library asyncssh, which is not installed.",
        hint=f"Install it: {extra_line('ssh')}",
    ) from error

_KNOWN_HOSTS = "~/.ssh/known_hosts"
_SSH_PORT = 22

_WRITE = """
umask 077
cat > "$1" || exit
[ "$(wc -c < "$1")" -eq "$2" ] || { echo "it did not arrive as a whole" >&2; exit 1; }
"""
_MAX_SESSIONS = 8
"""How many scripts run over one connection at a time: sshd allows 10 sessions by default, and SFTP needs one."""

_PAUSE_SECONDS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""The seconds to wait before each retry while sshd refuses a session."""


class _Client(asyncssh.SSHClient):
    """The client of one connection, which stores a refused host key."""

    def __init__(self) -> None:
        self.refused: tuple[str, str, int, asyncssh.SSHKey] | None = None

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Store and refuse the key. asyncssh calls this only for a key that is not among the known ones."""
        self.refused = (host, addr, port, key)
        return False


class SshTransport:
    def __init__(self, host: str, ssh: Ssh, options: Options) -> None:
        self._host, self._ssh, self._options = host, ssh, options
        self._connection: asyncssh.SSHClientConnection | None = None
        self._jumps: list[asyncssh.SSHClientConnection] = []
        self._sftp: asyncssh.SFTPClient | None = None
        self._no_sftp = ""
        self._lock, self._writing = asyncio.Lock(), asyncio.Lock()
        self._sessions = asyncio.Semaphore(_MAX_SESSIONS)
        self.place = self._hop = _address(host, ssh.port)
        self._client = _Client()
        files = {"known_hosts": options.known_hosts, "config": options.ssh_config and [options.ssh_config]}
        self._files: dict[str, Any] = {name: file for name, file in files.items() if file}

    async def call(self, script: str, arguments: Sequence[str] = (), stdin: bytes = b"") -> Completed:
        command = shlex.join(["/bin/sh", "-c", script, "fuel2", *arguments])
        async with self._sessions:
            try:
                process = await self._begin(command)
                with suppress(BrokenPipeError):  # it ended before it had read its input: use its exit code
                    if stdin:
                        process.stdin.write(stdin)
                        process.stdin.write_eof()
                done = await process.wait()
            except (asyncssh.Error, OSError) as error:
                raise self._broken(error) from error
        if done.exit_status is None:
            raise ConnectionBroken(f"The connection to {self.place} broke while a script ran there.")
        return Completed(done.exit_status, _bytes(done.stdout), _bytes(done.stderr))

    def _broken(self, error: Exception) -> ConnectionBroken:
        return ConnectionBroken(f"The connection to {self.place} broke: {reason_of(error)}.")

    async def _begin(self, command: str) -> asyncssh.SSHClientProcess[bytes]:
        """Start a command on the node.

        Without a channel, the command was not sent. So reopen a dead connection once; if sshd refuses the session,
        retry after a pause, because it may still count sessions that have ended. Raise `Unreachable` if neither
        helps.
        """
        pauses = iter((*_PAUSE_SECONDS, None))
        is_reopened = False
        while True:
            connection = await self._open()
            try:
                return await connection.create_process(command, encoding=None)
            except asyncssh.ChannelOpenError as error:
                if error.code != asyncssh.OPEN_CONNECT_FAILED:
                    raise
                is_closed = connection.is_closed()
                pause = 0 if is_closed and not is_reopened else next(pauses)
                if pause is None or (is_closed and is_reopened):
                    raise Unreachable(f"{self.place} takes no command: {reason_of(error)}.") from error
            is_reopened |= is_closed
            await asyncio.sleep(pause)

    async def put(self, path: str, content: bytes | Path) -> None:
        """Write a file over SFTP, or through a command if the node has no SFTP."""
        async with self._writing:
            try:
                await self._put(path, content)
            except ConnectionBroken:
                self._sftp = None
                await self._put(path, content)

    async def no_sftp_reason(self) -> str:
        """Return the reason why the node has no SFTP, or an empty string."""
        async with self._writing:
            await self._sftp_session()
        return self._no_sftp

    async def _sftp_session(self) -> asyncssh.SFTPClient | None:
        """Open the SFTP session, unless it is open. Return None if the node has no SFTP."""
        connection = await self._open()
        if self._sftp is None and not self._no_sftp:
            try:
                async with asyncio.timeout(self._options.connect_timeout):
                    self._sftp = await connection.start_sftp_client()
            except (asyncssh.Error, OSError, TimeoutError) as error:
                if connection.is_closed():
                    raise self._broken(error) from error
                self._no_sftp = reason_of(error)
        return self._sftp

    async def _put(self, path: str, content: bytes | Path) -> None:
        files = await self._sftp_session()
        try:
            if files is None:
                await self._put_by_command(path, content)
            elif isinstance(content, bytes):
                attributes = asyncssh.SFTPAttrs(permissions=0o600)
                async with files.open(path, "wb", attrs=attributes) as file:
                    await file.write(content)
            else:
                await files.put(str(content), path)
        except asyncssh.Error as error:
            is_lost = isinstance(error, (asyncssh.SFTPNoConnection, asyncssh.SFTPConnectionLost))
            if is_lost or not isinstance(error, asyncssh.SFTPError):
                raise self._broken(error) from error
            raise Unreachable(f"{path} cannot be written on {self.place}: {reason_of(error)}.", final=True) from error
        except OSError as error:
            where = error.filename or content if isinstance(content, Path) else path
            message = f"{where} cannot be sent to {self.place}: {error.strerror or error}."
            raise Unreachable(message, final=isinstance(content, Path)) from error

    async def _put_by_command(self, path: str, content: bytes | Path) -> None:
        """Write a file with cat. If the connection breaks, the script refuses an incomplete file, and `put` retries."""
        sent = content if isinstance(content, bytes) else await asyncio.to_thread(content.read_bytes)
        done = await self.call(_WRITE, (path, str(len(sent))), sent)
        if done.rc:
            message = f"{path} cannot be written on {self.place}, which has no SFTP ({self._no_sftp}): {done.error}."
            raise Unreachable(message, final=True)

    async def close(self) -> None:
        connections = [self._connection, *reversed(self._jumps)]
        self._connection, self._sftp, self._no_sftp, self._jumps = None, None, "", []
        for connection in connections:
            if connection is not None:
                connection.close()
                await connection.wait_closed()

    async def _open(self) -> asyncssh.SSHClientConnection:
        async with self._lock:
            if self._connection is not None and not self._connection.is_closed():
                return self._connection
            await self.close()
            try:
                async with asyncio.timeout(self._options.connect_timeout):
                    self._connection = await self._connect()
            except (asyncssh.Error, OSError, ValueError) as error:
                await self.close()
                raise self._unreachable(error) from error
            return self._connection

    async def _connect(self) -> asyncssh.SSHClientConnection:
        """Connect to the jump hosts, each through the previous one, and through the last one to the node."""
        keys = [str(Path(self._ssh.key).expanduser())] if self._ssh.key else []
        for hop in (*filter(None, (hop.strip() for hop in self._ssh.jump.split(","))), ""):
            user, _, address = hop.rpartition("@")
            host, port = _host_and_port(address) if hop else (self._host, self._ssh.port)
            self._hop, self._client = _address(host, port), _Client()
            tunnel = self._jumps[-1] if self._jumps else None
            given = {"username": user if hop else self._ssh.user, "port": port, "tunnel": tunnel, "client_keys": keys}
            options: dict[str, Any] = {name: value for name, value in (given | self._files).items() if value}
            connection = await asyncssh.connect(
                host, keepalive_interval=15, keepalive_count_max=4, client_factory=lambda: self._client, **options
            )
            self._jumps.append(connection)
        return self._jumps.pop()

    def _unreachable(self, error: Exception) -> Unreachable:
        place, final, it, whose = self._hop, False, "it", "its host key"
        if place != self.place:
            it = f"its jump host {place}"
            whose = f"the host key of {it}"
        match error:
            case TimeoutError():
                place, it, what = self.place, "it", f"does not answer within {self._options.connect_timeout:g} s"
                hint = "Is the node up, and its address right?"
            case asyncssh.HostKeyNotVerifiable():
                return self._host_key_refused(place, whose)
            case asyncssh.PermissionDenied():
                key = f" with the key {self._ssh.key}" if self._ssh.key else " with any key at hand"
                what, final = f"does not let {self._ssh.user or 'the user'} in{key}", True
                hint = "Set user and key of the node, or add the key to its authorized_keys or to your agent."
            case asyncssh.KeyImportError() | asyncssh.KeyEncryptionError():
                hint = "Keys with a passphrase go through an SSH agent."
                return Unreachable(f"The key for {place} cannot be read: {reason_of(error)}.", final=True, hint=hint)
            case ConnectionRefusedError():
                what, hint = "refuses connections", "Does sshd run there, on that port?"
            case FileNotFoundError() | PermissionError() if error.filename:
                message = f"{error.filename}, which SSH to {place} needs, cannot be read: {error.strerror}."
                return Unreachable(message, final=True)
            case _:
                it, what = "it", f"cannot be reached: {reason_of(error)}"
                hint = "Look at its network and its address: fuel2 node list"
        return Unreachable(f"{place} {what}.", final=final, hint=hint, problem=f"{it} {what}")

    def _host_key_refused(self, place: str, whose: str) -> Unreachable:
        """Describe an unknown or changed host key. `whose` names the key in the problem."""
        host, port = _host_and_port(place)
        own = self._options.known_hosts
        file = shlex.quote(own) if own else _KNOWN_HOSTS
        offered = f" ({self._client.refused[3].get_fingerprint()})" if self._client.refused else ""
        add = f"ssh-keyscan{f' -p {port}' if port else ''} {{}} >> {file}"
        if self._is_known():
            what, than = "has changed", ": it is not the known one"
            name = shlex.quote(f"[{host}]:{port}") if port and port != _SSH_PORT else host
            forget = f"ssh-keygen{f' -f {file}' if own else ''} -R"
            words = "The connection may be intercepted. Only if the machine was reinstalled, forget the old key"
            hint = f"{words}: {forget} {name}, and add the new one: {add.replace('{}', host)}"
            shared = Shared(words, f'for host in {{}}; do {forget} "$host"; done', name)
        else:
            what, than = "is not known", ""
            words = "Compare the fingerprint with that of the machine itself, then add the key"
            hint, shared = f"{words}: {add.replace('{}', host)}", Shared(words, add, host)
        message = f"The host key of {place} {what}{than}{offered}."
        return Unreachable(message, final=True, hint=hint, problem=f"{whose} {what}", shared=shared)

    def _is_known(self) -> bool:
        """Whether known_hosts has another key for the machine whose key was refused."""
        if self._client.refused is None:
            return False
        host, address, port, _ = self._client.refused
        try:
            options = asyncssh.SSHClientConnectionOptions(host=host, **self._files)
            hosts = options.known_hosts or os.path.expanduser(_KNOWN_HOSTS)
            number = port if port != _SSH_PORT else None
            keys, _, revoked, *_ = asyncssh.match_known_hosts(hosts, options.host_key_alias or host, address, number)
        except (asyncssh.Error, OSError, ValueError):
            return False
        return bool(keys or revoked)


def _address(host: str, port: int) -> str:
    return f"{f'[{host}]' if ':' in host else host}:{port}" if port else host


def _host_and_port(address: str) -> tuple[str, int]:
    """Split `host`, `host:port` or `[v6]:port` into host and port (0 if there is none)."""
    if address.startswith("["):
        host, _, rest = address[1:].partition("]")
        return host, int(rest[1:] or 0)
    host, _, port = address.partition(":") if address.count(":") == 1 else (address, "", "")
    return host, int(port or 0)


def _bytes(output: Any) -> bytes:
    return output if isinstance(output, bytes) else b""
