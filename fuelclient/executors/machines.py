"""The machines of one run: connections to them, and the plugin scripts that are sent to them."""

from __future__ import annotations

import asyncio
import hashlib
import os
import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from fuelclient.errors import FuelError
from fuelclient.executors import examination, registry
from fuelclient.executors.connector import Connector
from fuelclient.executors.job import Target, Tree
from fuelclient.executors.spool import ENTER, Spool, send_tree
from fuelclient.executors.transport import Options, Transport, Unreachable
from fuelclient.model.diagnosis import Diagnosis


class Connections:
    """The connectors and transports of a run, each of which is created at its first use."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._connectors: dict[str, Connector] = {}
        self._transports: dict[Target, Transport] = {}

    def connector(self, kind: str) -> Connector:
        """Return the connector of a kind. Raise `UsageError` or `Unsupported` as `registry.connector` does."""
        if kind not in self._connectors:
            self._connectors[kind] = registry.connector(kind)(self.options)
        return self._connectors[kind]

    @property
    def here(self) -> Transport:
        """The transport to this machine."""
        return self.transport(Target())

    def transport(self, target: Target) -> Transport:
        """Return the transport to a machine. Raise what `connector` raises, and `Unsupported` without its library."""
        machine = replace(target, scripts=())
        if machine not in self._transports:
            self._transports[machine] = self.connector(target.kind).transport(machine)
        return self._transports[machine]

    def root(self, target: Target, proposed: str = "") -> str:
        """Return the directory of the run's spools on a machine."""
        return self.connector(target.kind).root(target, proposed or self.options.remote_spool)

    async def examine(self, target: Target, programs: Collection[str]) -> Sequence[Diagnosis]:
        """Return the problems of a machine (see `Connector.examine`), including that it cannot be reached."""
        try:
            connector = self.connector(target.kind)
            if connector.needs_address and not target.ip:
                return [examination.problem("it has no address", "Delete it, then import it with an ip")]
            reason, _, fix = connector.refusal(target).partition("; ")
            if reason:
                return [examination.problem(reason, fix)]
            return await connector.examine(target, self.transport(target), programs)
        except Unreachable as error:
            fix = error.hint or "Look at sshd and the network there."
            return [examination.problem(error.problem.rstrip("."), fix, shared=error.shared)]
        except FuelError as error:
            return [examination.problem(error.message, error.hint)]

    def spool(self, target: Target, directory: str) -> Spool:
        """Create the spool of a job in a directory below the root on a machine."""
        root = self.root(target)
        spool = self.connector(target.kind).spools(self.transport(target), root, f"{root}/{directory}")
        spool.megabytes = self.options.output_megabytes
        return spool

    async def close(self) -> None:
        """Close the transports to all machines of a run, then its connectors."""
        transports, self._transports = self._transports, {}
        connectors, self._connectors = self._connectors, {}
        await asyncio.gather(*(transport.close() for transport in transports.values()))
        await asyncio.gather(*(connector.close() for connector in connectors.values()))


_UNPACK = """
umask 022
to=$1 archive=$2 digest=$3 new=
is_there() { [ "$(cat -- "$to/.fuel2-scripts" 2>/dev/null)" = "$digest" ]; }
trap 'rm -rf -- "$new" "$archive"' EXIT
trap 'exit 1' HUP INT TERM
is_there && exit 0
parent=$(dirname -- "$to")
mkdir -p -- "$parent" && new=$(mktemp -d -- "$parent/.fuel2-new.XXXXXX") || exit 1
tar -x --no-same-owner -f "$archive" -C "$new" && chmod 755 -- "$new" || exit 1
echo "$digest" > "$new/.fuel2-scripts" || exit 1
mv -T -- "$new" "$to" 2>/dev/null && exit 0
is_there && exit 0
mkdir -p -- "$to" && cd -- "$new" || exit 1
find . -type d -exec sh -c '
to=$1; shift
for path; do
  [ -d "$to/$path" ] || mkdir -- "$to/$path" 2>/dev/null
  [ -d "$to/$path" ] || { echo "$to/$path cannot be made a directory" >&2; exit 1; }
  [ "$path" = . ] || chmod -- "$(stat -c %a -- "$path")" "$to/$path" || exit 1
done' sh "$to" {} + || exit 1
find . ! -type d ! -path ./.fuel2-scripts -exec sh -c '
to=$1; shift
for path; do mv -fT -- "$path" "$to/$path" || exit 1; done' sh "$to" {} + || exit 1
mv -fT -- .fuel2-scripts "$to/.fuel2-scripts"
"""
"""Installs the scripts: atomically as a whole if there are none, otherwise atomically file by file.

Several workers on one machine may do this at the same time, while tasks of other nodes run the scripts. So the scripts
are unpacked next to their destination and then moved. The marker is moved last.
Arguments: directory, archive, digest.
"""


class PluginScripts:
    """Sends plugin scripts to the machines of a run, each directory once to each machine."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._digests: dict[str, str] = {}
        self._done: set[tuple[Transport, str, str]] = set()
        self._locks: dict[tuple[Transport, str], asyncio.Lock] = {}

    async def send(self, target: Target, directories: Iterable[tuple[str, str]]) -> list[str]:
        """Copy the directories to the target, and return the destinations of those that had to be sent.

        A directory that has the same content on the target, perhaps from an earlier run, is not sent again. Nothing is
        removed there, except replaced scripts. Raise `TransportError`.
        """
        transport, sent = self._connections.transport(target), []
        for source, destination in directories:
            if not destination.startswith("/") or not destination.strip("/."):
                raise Unreachable(f"Plugin scripts cannot be put into {destination!r}: name a directory.", final=True)
            async with self._locks.setdefault((transport, destination), asyncio.Lock()):
                if source not in self._digests:
                    self._digests[source] = await asyncio.to_thread(digest_of, source)
                digest = self._digests[source]
                if (transport, destination, digest) in self._done:
                    continue
                marker = await transport.call('cat -- "$1/.fuel2-scripts" 2>/dev/null; exit 0', (destination,))
                if marker.out.decode("utf-8", "replace").strip() != digest:
                    await self._send(target, source, destination, digest)
                    sent.append(destination)
                self._done.add((transport, destination, digest))
        return sent

    async def _send(self, target: Target, source: str, destination: str, digest: str) -> None:
        transport, root = self._connections.transport(target), self._connections.root(target)
        directory, name = f"{root}/scripts", hashlib.sha256(destination.encode()).hexdigest()[:16]
        archive = f"{directory}/{name}-{uuid.uuid4().hex}.tar"  # a new name, since several nodes may share a machine
        answer = await transport.call(ENTER, (directory, root))
        if not answer.rc:
            await send_tree(transport, archive, Tree(source, inside=True))
            answer = await transport.call(_UNPACK, (destination.rstrip("/"), archive, digest))
        if answer.rc:
            message = f"Plugin scripts cannot be put into {destination} on {transport.place}: {answer.error}."
            raise Unreachable(message, final=True)


def digest_of(directory: str) -> str:
    """Compute a digest of the content of a directory: names, types, permissions and bytes.

    Raise `Unreachable` (final) if it cannot be read.
    """
    root, digest = Path(directory), hashlib.sha256()
    if not root.is_dir():
        raise Unreachable(f"The plugin scripts in {directory} are gone.", final=True, hint="Install the plugin again.")
    try:
        for path in sorted(root.rglob("*")):
            what = "link" if path.is_symlink() else "file" if path.is_file() else "directory"
            mode = 0 if what == "link" else path.stat().st_mode & 0o7777
            digest.update(f"{path.relative_to(root)}\0{what}\0{mode:o}\0".encode("utf-8", "surrogateescape"))
            if what == "link":
                digest.update(os.fsencode(path.readlink()))
            elif what == "file":
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    except OSError as error:
        raise Unreachable(f"{error.filename or directory} cannot be read: {error.strerror}.", final=True) from error
    return digest.hexdigest()
