"""Report what tasks would do, and change nothing: noop runs of all kinds of executors, and the kind `noop`.

In a noop run, uploads and copies give a diff, scripts are parsed, puppet and rsync run in their own dry modes, each on
the machine where the task would run. The kind `noop` reaches no machine, whatever the run. The statuses are Fuel's:
puppet and shell tasks are ready, everything else is skipped.
"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Collection
from dataclasses import dataclass

from fuelclient import redact
from fuelclient.errors import Unsupported
from fuelclient.executors.attempts import CutShort, bounded, end_of, patiently
from fuelclient.executors.connector import Connector
from fuelclient.executors.handlers import commands, files, sync
from fuelclient.executors.job import Job, Log, Outcome, Target
from fuelclient.executors.machines import Connections
from fuelclient.executors.spool import STOPPED
from fuelclient.executors.transport import Completed, Limits, Transport, TransportError, limits_of
from fuelclient.graph.parameters import path
from fuelclient.model.status import InstanceStatus
from fuelclient.model.task import TaskType

MOST_LINES = 2000
"""The lines of a difference that are kept; the rest of a long new file adds nothing."""

_MOST = 1 << 18
_CURRENT = """
[ -e "$1" ] || exit 3
[ -f "$1" ] && [ -r "$1" ] || exit 4
head -c "$2" -- "$1"
"""
_RUN = 'exec timeout -k 5 "$1" bash -s'
_HAS = 'PATH="$PATH:/opt/puppetlabs/bin"; command -v "$1" > /dev/null'


_READY = frozenset({TaskType.SHELL, TaskType.MASTER_SHELL, TaskType.PUPPET})
UNTOUCHED = "its executor runs nothing"


class NoopConnector(Connector):
    """Tasks run nowhere, and no machine is looked at."""

    runs = False
    leaves_spools = False
    no_reboot = ""

    def transport(self, target: Target) -> Transport:  # noqa: ARG002 - all are no machine
        raise Unsupported("The executor noop reaches no machine.", hint="Give the node another executor.")


def untouched(job: Job) -> Outcome:
    """The outcome of a job whose executor runs nothing."""
    return Outcome(InstanceStatus.READY) if job.type in _READY else job.skipped(UNTOUCHED)


class Noop:
    """Reports what jobs would do. It reads from their machines, and writes nowhere."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def run(self, job: Job, limits: Limits, stop: asyncio.Event, say: Log) -> Outcome:
        """Put what `job` would do into the summary of its outcome. A script that cannot be parsed, or a manifest that
        cannot be compiled, is an error."""
        try:
            report = patiently(lambda: self._report(job), min(limits.timeout, 60), stop)
            outcome = await bounded(report, limits.timeout, stop)
        except CutShort as cut:
            late = f"timed out after {limits.timeout:g} s"
            outcome = job.interrupted(STOPPED) if str(cut) == STOPPED else job.failed(late)
        except (TransportError, Unsupported) as error:
            outcome = job.failed(str(error))
        say(outcome.message or f"would run: {outcome.status}")
        return outcome

    async def _report(self, job: Job) -> Outcome:
        node = self._connections.transport(job.target)
        match job.type:
            case TaskType.SHELL | TaskType.MASTER_SHELL:
                return await self._shell(job, node if job.type == TaskType.SHELL else self._connections.here)
            case TaskType.PUPPET:
                return await self._puppet(job, node)
            case TaskType.SYNC:
                return await self._sync(job, node)
            case type if type in files.PLACED:
                return await self._files(job, files.PLACED[type](job))
        return job.skipped(f"a task of type {job.type} is left out")

    async def _shell(self, job: Job, machine: Transport) -> Outcome:
        script = commands.shell_script(job)
        answer = await machine.call("exec bash -n /dev/stdin", stdin=script.encode())
        message = f"bash cannot read the script: {_error(job, answer)}" if answer.rc else ""
        status = InstanceStatus.ERROR if message else InstanceStatus.READY
        return Outcome(status, answer.rc, message, {"script": _shown(job, script)})

    async def _puppet(self, job: Job, node: Transport) -> Outcome:
        if (await node.call(_HAS, ("puppet",))).rc:
            return job.skipped(f"puppet is not installed on {node.place}")
        where = path(job.parameters, "cwd", "/")
        if (await node.call('[ -d "$1" ]', (where,))).rc:  # as plugin scripts, which a real run takes there first
            return job.skipped(f"{where} is not on {node.place} yet, so that puppet cannot look")
        answer, report = await self._ran(job, node, commands.puppet_script(job, noop=True))
        message = f"puppet: {_error(job, answer)}" if answer.rc not in commands.CHANGED else ""
        status = InstanceStatus.ERROR if message else InstanceStatus.READY
        return Outcome(status, answer.rc, message, {"report": report})

    async def _ran(self, job: Job, node: Transport, script: str) -> tuple[Completed, str]:
        """Run a dry script within the time of the task; return its answer, and its output without secrets."""
        answer = await node.call(_RUN, (str(limits_of(job.type, job.parameters).timeout),), script.encode())
        return answer, _shown(job, answer.out.decode("utf-8", "replace"))

    async def _sync(self, job: Job, node: Transport) -> Outcome:
        (step,) = sync.steps(job)
        here = node is self._connections.here
        if (await node.call(_HAS, ("rsync",))).rc or (not here and not step.by_target):
            return job.skipped(f"{step.dst} would be made like {step.src}")
        answer, changes = await self._ran(job, node, sync.on_target(step, dry=True).script)
        message = f"rsync: {_error(job, answer)}" if answer.rc else ""
        return Outcome(InstanceStatus.SKIPPED, answer.rc, message, {"changes": changes})

    async def _files(self, job: Job, placed: list[files.Placed]) -> Outcome:
        diffs: dict[str, str] = {}
        for file in placed:
            target = job.peers[file.where] if file.where else job.target
            name = f"{file.where}:{file.path}" if file.where else file.path
            if not self._connections.of(target.kind).runs:
                diffs[name] = UNTOUCHED
                continue
            current = await self._current(self._connections.transport(target), file.path)
            if isinstance(file.data, bytes):
                planned = Content(file.data)
            else:
                planned = await self._current(self._connections.here, file.data.path)
            diffs[name] = difference(file.path, current, planned, job.known_secrets())
            if current.there and not file.overwrite:
                diffs[name] = "it exists, and overwrite is false"
        changed = ", ".join(name for name, diff in diffs.items() if diff)
        message = f"would change: {changed}" if changed else "would change nothing"
        return Outcome(InstanceStatus.SKIPPED, message=message, summary={"diff": diffs})

    async def _current(self, machine: Transport, path: str) -> Content:
        answer = await machine.call(_CURRENT, (path, str(_MOST)))
        return Content(answer.out, there=answer.rc != 3, readable=answer.rc in (0, 3))


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a file; `there` and `readable` say why it may be empty."""

    data: bytes = b""
    there: bool = True
    readable: bool = True


def difference(path: str, before: Content, after: Content, secrets: Collection[str] = ()) -> str:
    """The unified diff from `before` to `after`, with secrets masked; empty if they are the same.

    >>> print(difference("/etc/motd", Content(b"old\\n"), Content(b"new\\n")), end="")
    --- /etc/motd
    +++ /etc/motd
    @@ -1 +1 @@
    -old
    +new
    """
    if not after.readable or not after.there:
        return "its source cannot be read"
    if not before.readable:
        return "what is there now cannot be read"
    if before.there and before.data == after.data:
        return ""
    try:
        old, new = before.data.decode(), after.data.decode()
    except UnicodeError:
        old = new = "\0"
    if "\0" in old + new:
        return f"binary: {len(before.data)} bytes become {len(after.data)}"
    old, new = (redact.masked_part(text, secrets, tail=len(text.encode()) >= _MOST) for text in (old, new))
    name = path if before.there else "/dev/null"
    lines = [f"{line}\n" for line in difflib.unified_diff(old.splitlines(), new.splitlines(), name, path, lineterm="")]
    if not lines:
        return (
            "an empty file\n" if not before.there else "they differ only in secrets, or in the end of the last line\n"
        )
    cut = [f"... {len(lines) - MOST_LINES} more lines\n"] if len(lines) > MOST_LINES else []
    return "".join([*lines[:MOST_LINES], *cut])


def _shown(job: Job, text: str) -> str:
    return redact.masked_part(text[:_MOST], job.known_secrets(), tail=len(text) > _MOST)


def _error(job: Job, answer: Completed) -> str:
    return end_of(job, (answer.err or answer.out).decode("utf-8", "replace")) or f"exit code {answer.rc}"
