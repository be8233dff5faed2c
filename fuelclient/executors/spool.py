"""The spool: where a command runs so that its result outlives whoever started it.

`<root>/<transaction>/<node>/<task>/` has `cmd` (the script), `out` and `err` (everything it wrote, all tries one after
another), `pid` (the leader of its session and when it started) and `rc` (one line for each try that ended), beside
one `claim.<label>` for each try that began. It looks alike on this machine and on nodes, and only its owner can
read it. `cmd`, and the files that lie beside it while it runs, may hold passwords: they are emptied at the end of
each try.
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

from fuelclient.executors import scripts
from fuelclient.executors.base import Job
from fuelclient.executors.recipe import Attachment, File, Recipe, Tree
from fuelclient.executors.transport import Answer, Transport, Unreachable

KEEP = 4096
"""Bytes of each output that come back with a result; the rest stays in the spool."""

STOPPED, TIMEOUT = "stopped", "timeout"
"""Why a command was ended."""

VANISHED = "vanished"
"""Why a try has an end that its leader did not write: something killed the leader, and then the rest was ended."""

NEVER = "never"
"""Why a try has an end that never began: its starter died in between, and it was made sure that it never will."""

_LONGEST = 200
_FINAL = frozenset({120, 122, 123})  # no directory, no space, no right: it will not get better by itself


@dataclass(frozen=True, slots=True)
class Ended:
    """A try that ended: its exit code and why: `exit` when it ended by itself."""

    code: int
    why: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What a spool tells: tries that ended and tries that began by label; the newest that has a process, whether that
    still lives, how many seconds ago the first one began; and the end of what that one has written."""

    ended: dict[str, Ended]
    claimed: frozenset[str]
    running: str = ""
    alive: bool = False
    age: float = 0
    out: str = ""
    err: str = ""


NOTHING_SEEN = Seen({}, frozenset())


def directory(job: Job, root: str, suffix: str = "") -> str:
    """The spool of a job below `root`, whatever characters its names have."""
    return "/".join((root, str(job.run), _part(job.node), _part(job.task + suffix)))


def _part(name: str) -> str:
    part = urllib.parse.quote(name, safe="@ ").replace(" ", "_")
    part = f"%2E{part[1:]}" if part.startswith(".") else part or "_"
    return part if len(part) <= _LONGEST else f"{part[:_LONGEST]}-{sha256(name.encode()).hexdigest()[:16]}"


class Spool:
    """The spool of one job on one machine."""

    def __init__(self, transport: Transport, root: str, directory: str) -> None:
        self.transport, self.root, self.directory = transport, root, directory

    async def attach(self, recipe: Recipe) -> None:
        """Lay the attachments of a recipe into the spool.

        Raises `Unreachable` (final) for one that cannot be read here.
        """
        if not recipe.attachments:
            return
        _checked(await self.transport.call(scripts.ENTER, (self.directory, self.root)), self.transport)
        for attachment in recipe.attachments:
            path = f"{self.directory}/{attachment.name}"
            if isinstance(attachment.content, Tree):
                with tempfile.NamedTemporaryFile(suffix=".tar") as archive:
                    await asyncio.to_thread(pack, attachment.content, Path(archive.name))
                    await self.transport.put(path, Path(archive.name))
            else:
                await self.transport.put(path, _content(attachment))

    async def launch(self, recipe: Recipe, label: str, used: float) -> Seen:
        """Start the recipe's script as the try `label`, unless that began before, and wait for it."""
        script = recipe.script.encode()
        numbers = (str(len(script)), str(math.ceil(used)), str(KEEP))
        arguments = (self.directory, self.root, label, *numbers, scripts.WRAPPER)
        return _seen(_checked(await self.transport.call(scripts.LAUNCH, arguments, script), self.transport))

    async def look(self) -> Seen:
        """What there is now."""
        return _seen(_checked(await self.transport.call(scripts.LOOK, (self.directory, str(KEEP))), self.transport))

    async def kill(self, label: str, why: str, grace: float) -> None:
        """End the try `label` with everything in its session; `why` is kept beside its exit code."""
        await self.transport.call(scripts.KILL, (self.directory, self.root, label, why, str(math.ceil(grace))))

    async def fence(self, label: str) -> Seen:
        """The try `label`, which was claimed and has no process, never begins: its end is `NEVER`. What there is now,
        for it may just have begun."""
        arguments = (self.directory, self.root, label, str(KEEP))
        return _seen(_checked(await self.transport.call(scripts.FENCE, arguments), self.transport))

    async def read(self, stream: str, offset: int, limit: int) -> bytes:
        """A part of an output, empty where there is none."""
        answer = await self.transport.call(scripts.READ, (f"{self.directory}/{stream}", str(offset), str(limit)))
        return answer.out


async def removed(transport: Transport, root: str) -> str:
    """Why the spools below `root` are still on a machine, in some words; empty when they are not, or never were.

    They stay where a command of theirs still runs, and where they belong to somebody else. Raises what transports
    raise.
    """
    answer = await transport.call(scripts.REMOVE, (root,))
    return answer.error if answer.rc else ""


def _checked(answer: Answer, transport: Transport) -> Answer:
    if answer.rc:
        raise Unreachable(f"Nothing can be started on {transport.place}: {answer.error}.", final=answer.rc in _FINAL)
    return answer


def _seen(answer: Answer) -> Seen:
    head, _, out = answer.out.partition(b"\n\n") if not answer.out.startswith(b"\n") else (b"", b"", answer.out[1:])
    return seen_from(head.decode("utf-8", "replace").splitlines(), out, answer.err)


def seen_from(lines: Iterable[str], out: bytes, err: bytes) -> Seen:
    """What a spool tells, from the lines that its scripts write about it."""
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
            what = "is no file" if path.exists() else "does not exist"
            raise Unreachable(f"{path} {what} on this machine.", final=True)
        return path
    assert isinstance(content, bytes)  # noqa: S101 - trees are handled by the only caller
    return content


def pack(tree: Tree, archive: Path) -> None:
    """`archive` is a tar of `tree`: links stay links, and owners stay behind.

    Raises `Unreachable` (final) for what cannot be read.
    """
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
