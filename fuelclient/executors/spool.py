"""The spool: the directory in which a command runs, so that its result outlives the process that started it.

`<root>/<run>/<node>/<task>/` has `cmd` (the script), `out` and `err` (all that it wrote, one try after another),
`pid` (the leader of its session and when it started) and `rc` (one line for each try that ended), beside one
`claim.<label>` for each try that began. It is the same on this machine and on nodes, and only its owner can read it.
`cmd`, and the files beside it while it runs, may hold passwords: they are emptied at the end of each try.
"""

from __future__ import annotations

import asyncio
import math
import tarfile
import tempfile
import urllib.parse
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from fuelclient.executors import spool_scripts
from fuelclient.executors.job import Job
from fuelclient.executors.recipe import Attachment, File, Recipe, Tree
from fuelclient.executors.transport import Completed, Transport, Unreachable

KEEP = 4096
"""The bytes of each output that are returned with a result; the rest stays in the spool."""

MEGABYTES = 16
"""How many megabytes of each output are kept by default."""

STOPPED, TIMEOUT = "stopped", "timeout"
"""Why a command was ended."""

VANISHED = "vanished"
"""Why a try ended of which the leader wrote no end: the leader was killed, and then the rest of its session."""

NEVER = "never"
"""Why a try ended that never began: its starter died in between, and it was kept from beginning later."""

_LONGEST = 200
_UNSEEN = 124
_FINAL = frozenset({120, 122, 123})  # no directory, no space, no right: trying again would not help


@dataclass(frozen=True, slots=True)
class Ended:
    """A try that ended: its exit code and why: `exit` when it ended by itself."""

    code: int
    why: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What a spool says: the tries that ended and those that began, by label; the newest one that has a process,
    whether that still lives, and how many seconds ago the first try began; and the end of its output."""

    ended: dict[str, Ended]
    claimed: frozenset[str]
    running: str = ""
    alive: bool = False
    age: float = 0
    out: str = ""
    err: str = ""


NOTHING_SEEN = Seen({}, frozenset())


def directory(job: Job, suffix: str = "") -> str:
    """Return the directory of a job's spool below the root, whatever characters its names have."""
    return "/".join((str(job.run), _part(job.node), _part(job.task + suffix)))


def _part(name: str) -> str:
    part = urllib.parse.quote(name, safe="@ ").replace(" ", "_")
    part = f"%2E{part[1:]}" if part.startswith(".") else part or "_"
    return part if len(part) <= _LONGEST else f"{part[:_LONGEST]}-{sha256(name.encode()).hexdigest()[:16]}"


class Spool:
    """The spool of one job on one machine. Of each output of a try it keeps so many `megabytes`: the first one, and the
    last ones."""

    def __init__(self, transport: Transport, root: str, directory: str) -> None:
        self.transport, self.root, self.directory = transport, root, directory
        self.megabytes = MEGABYTES

    async def attach(self, recipe: Recipe) -> None:
        """Write the attachments of a recipe into the spool. Raise `Unreachable` (final) if one cannot be read."""
        if not recipe.attachments:
            return
        await self._call(spool_scripts.ENTER, self.root)
        for attachment in recipe.attachments:
            path = f"{self.directory}/{attachment.name}"
            if isinstance(attachment.content, Tree):
                with tempfile.NamedTemporaryFile(suffix=".tar") as archive:
                    await asyncio.to_thread(pack, attachment.content, Path(archive.name))
                    await self.transport.put(path, Path(archive.name))
            else:
                await self.transport.put(path, _content(attachment))

    async def launch(self, recipe: Recipe, label: str, used: float) -> Seen:
        """Start the script of a recipe as the try `label`, unless it began before, and wait for it."""
        script = recipe.script.encode()
        numbers = (str(len(script)), str(math.ceil(used)), str(KEEP))
        launch = (spool_scripts.LAUNCH, self.root, label, *numbers, spool_scripts.WRAPPER, str(self.megabytes))
        return _seen(await self._call(*launch, stdin=script))

    async def look(self) -> Seen:
        """Return what the spool says now."""
        return _seen(await self._call(spool_scripts.LOOK, str(KEEP)))

    async def kill(self, label: str, why: str, grace: float) -> None:
        """End the try `label` with its whole session; `why` is written beside its exit code.

        Raise `Unreachable` (final) if `why` is `STOPPED` and its processes are in another PID namespace.
        """
        arguments = (self.directory, self.root, label, why, str(math.ceil(grace)))
        answer = await self.transport.call(spool_scripts.KILL, arguments)
        if answer.rc == _UNSEEN:
            raise Unreachable(answer.error, final=True)

    async def fence(self, label: str) -> Seen:
        """Keep the try `label`, which was claimed and has no process, from ever beginning: its end is `NEVER`. Return
        what the spool says then, since it may just have begun."""
        return _seen(await self._call(spool_scripts.FENCE, self.root, label, str(KEEP)))

    async def _call(self, script: str, *arguments: str, stdin: bytes = b"") -> Completed:
        """Run a script in the directory of the spool. Raise `Unreachable` if it fails."""
        answer = await self.transport.call(script, (self.directory, *arguments), stdin)
        if answer.rc:
            message = f"Nothing can be started on {self.transport.place}: {answer.error}."
            raise Unreachable(message, final=answer.rc in _FINAL)
        return answer

    async def read(self, stream: str, offset: int, limit: int) -> bytes:
        """Return a part of an output, empty if there is no output."""
        answer = await self.transport.call(spool_scripts.READ, (f"{self.directory}/{stream}", str(offset), str(limit)))
        return answer.out


async def removed(transport: Transport, root: str) -> str:
    """Remove the spools below `root` from a machine, and return why they are still there, or an empty string.

    They stay if one of their commands still runs, or if they belong to another user. Raise what transports raise.
    """
    answer = await transport.call(spool_scripts.REMOVE, (root,))
    return answer.error if answer.rc else ""


def _seen(answer: Completed) -> Seen:
    head, _, out = answer.out.partition(b"\n\n") if not answer.out.startswith(b"\n") else (b"", b"", answer.out[1:])
    return seen_from(head.decode("utf-8", "replace").splitlines(), out, answer.err)


def seen_from(lines: Iterable[str], out: bytes, err: bytes) -> Seen:
    """Return what a spool says, from the lines that its scripts print about it."""
    ended: dict[str, Ended] = {}
    claimed: set[str] = set()
    running, alive, age = "", False, 0.0
    for line in lines:
        match line.split():
            case ["rc", label, code, why]:
                ended.setdefault(label, Ended(int(code), why))
            case ["claim", label]:
                claimed.add(label)
            case ["pid", label, living, up, used, now]:
                running, alive = label, living == "1"
                age = float(now) - float(up) + float(used)
    texts = (output.decode("utf-8", "replace") for output in (out, err))
    return Seen(ended, frozenset(claimed), running, alive, age, *texts)


def _content(attachment: Attachment) -> bytes | Path:
    content = attachment.content
    if isinstance(content, File):
        path = Path(content.path)
        if not path.is_file():
            what = "is not a file" if path.exists() else "does not exist"
            raise Unreachable(f"{path} {what} on this machine.", final=True)
        return path
    assert isinstance(content, bytes)  # noqa: S101 - trees are handled by the only caller
    return content


def pack(tree: Tree, archive: Path) -> None:
    """Write `tree` into a tar archive; links stay links. Raise `Unreachable` (final) for what cannot be read."""
    source = Path(tree.path)
    if not source.exists():
        raise Unreachable(f"{source} does not exist on this machine.", final=True)
    try:
        with tarfile.open(archive, "w", format=tarfile.GNU_FORMAT) as tar:
            if tree.inside and source.is_dir():
                for entry in sorted(source.iterdir()):
                    tar.add(entry, entry.name)
            else:
                tar.add(source, source.name)
    except OSError as error:
        raise Unreachable(f"{error.filename or source} cannot be read: {error.strerror}.", final=True) from error
