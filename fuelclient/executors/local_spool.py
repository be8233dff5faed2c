"""The spool on this machine, without a shell around it: the same files, at a third of the processes."""

from __future__ import annotations

import asyncio
import math
import os
import signal
from contextlib import suppress
from pathlib import Path

from fuelclient.executors import scripts
from fuelclient.executors.local_transport import LocalTransport, environment
from fuelclient.executors.recipe import Recipe
from fuelclient.executors.spool import KEEP, Seen, Spool, seen_from
from fuelclient.executors.transport import Unreachable

_WORDS = 8
"""What a leader says: pid, start, boot, label, uptime, seconds used, and the bytes that the outputs had before it."""


class LocalSpool(Spool):
    """The spool of one job on this machine. Files and meanings are those of `Spool`, whose scripts can go on with it.

    The process of a command is no child that asyncio keeps: those are killed when their event loop is closed, and a
    command has to outlive us.
    """

    def __init__(self, transport: LocalTransport, root: str, directory: str) -> None:
        super().__init__(transport, root, directory)
        self._path = Path(directory)

    async def launch(self, recipe: Recipe, label: str, used: float) -> Seen:
        """Start the recipe's script as the try `label`, unless that began before, and wait for it."""
        try:
            started = self._start(recipe.script.encode(), label, used)
        except OSError as error:
            where = error.filename or self.directory
            raise Unreachable(f"Nothing can be started: {where}: {error.strerror}.", final=True) from error
        if started:
            await _ended(started)
        return await self.look()

    def _start(self, script: bytes, label: str, used: float) -> int:
        """The number of the new process; 0 when the try began before."""
        _make(Path(self.root))
        if os.lstat(self.root).st_uid != os.geteuid():
            message = f"{self.root} belongs to somebody else; remove it, or set another spool directory."
            raise Unreachable(message, final=True)
        _make(self._path)
        if (self._path / f"claim.{label}").exists():
            return 0
        fresh = self._path / f"cmd.{label}.{os.getpid()}"
        self._write(fresh, script)
        fresh.replace(self._path / "cmd")
        return self._spawn(label, used)

    def _write(self, path: Path, content: bytes) -> None:
        with os.fdopen(os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
            file.write(content)

    def _spawn(self, label: str, used: float) -> int:
        append = os.O_CREAT | os.O_APPEND | os.O_WRONLY
        return os.posix_spawn(
            "/bin/sh",
            ["/bin/sh", "-c", scripts.WRAPPER, "fuel2-task", label, str(math.ceil(used)), self.directory],
            environment(),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, f"{self.directory}/out", append, 0o600),
                (os.POSIX_SPAWN_OPEN, 2, f"{self.directory}/err", append, 0o600),
            ],
            setsid=True,
            setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),  # what Python ignores, a command must not
        )

    async def look(self) -> Seen:
        """What there is now. As in the script, the process is looked for before the result."""
        lines = [self._process()]
        with suppress(OSError):
            lines += (f"claim {path.name[6:]}" for path in self._path.iterdir() if path.name.startswith("claim."))
        lines += (f"rc {line}" for line in _text(self._path / "rc").splitlines())
        words = self._words()
        before_out, before_err = map(int, words[6:] or ("0", "0"))
        return seen_from(lines, _end(self._path / "out", before_out), _end(self._path / "err", before_err))

    def _words(self) -> list[str]:
        """What the newest leader has said of itself; nothing while it has not said all."""
        text = _text(self._path / "pid")
        words = text.split()
        return words if len(words) == _WORDS and text.endswith("\n") else []

    def _process(self) -> str:
        words = self._words()
        if not words:
            return ""
        number, start, boot, label, up, used = words[:6]
        now = _text(Path("/proc/uptime")).partition(" ")[0]
        if boot != _text(Path("/proc/sys/kernel/random/boot_id")).strip():
            return f"pid {label} 0 {now} {used} {now}"
        after = _text(Path(f"/proc/{number}/stat")).rpartition(") ")[2].split()
        alive = len(after) > 19 and after[19] == start and after[0] != "Z"
        return f"pid {label} {int(alive)} {up} {used} {now}"


def _make(path: Path) -> None:
    """The directory is there, and those that had to be made on the way to it are nobody else's business."""
    if not path.is_dir():
        _make(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


async def _ended(process: int) -> None:
    """The process has ended; it is reaped even when nobody waits here any more."""
    loop = asyncio.get_running_loop()
    handle = os.pidfd_open(process)
    over = loop.create_future()

    def reap() -> None:
        loop.remove_reader(handle)
        os.close(handle)
        with suppress(ChildProcessError):
            os.waitpid(process, 0)
        if not over.done():
            over.set_result(None)

    loop.add_reader(handle, reap)
    await over


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def _end(path: Path, before: int) -> bytes:
    """The end of a file, without the bytes that it had before."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, before, size - KEEP))
            return file.read(KEEP)
    except OSError:
        return b""
