"""Report what tasks would do, and change nothing: noop runs of all kinds of executors, and the kind `noop`.

In a noop run, uploads and copies are compared, scripts are parsed, and puppet and rsync make dry runs, each on the
machine where the task would run. The kind `noop` never reaches a machine. The statuses are those of Fuel: puppet and
shell tasks become ready, all others skipped.
"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Collection
from dataclasses import dataclass

from fuelclient import redact
from fuelclient.errors import Unsupported
from fuelclient.executors.attempts import CutShort, output_end, retry_unreachable, with_deadline
from fuelclient.executors.connector import Connector
from fuelclient.executors.handlers import commands, files, sync
from fuelclient.executors.job import Job, Log, Outcome, Target
from fuelclient.executors.machines import Connections
from fuelclient.executors.registry import DONE
from fuelclient.executors.spool import STOPPED
from fuelclient.executors.transport import Completed, Limits, Transport, TransportError, limits_of
from fuelclient.graph.parameters import path
from fuelclient.model.status import InstanceStatus
from fuelclient.model.task import TaskType

MAX_LINES = 2000
"""How many lines of a difference are kept. The rest of a long new file is of little use."""

_MAX_BYTES = 1 << 18
_READ_FILE = """
[ -e "$1" ] || exit 3
[ -f "$1" ] && [ -r "$1" ] || exit 4
head -c "$2" -- "$1"
"""
_RUN_SCRIPT = 'exec timeout -k 5 "$1" bash -s'
_HAS = 'PATH="$PATH:/opt/puppetlabs/bin"; command -v "$1" > /dev/null'


RUNS_NOTHING = "its executor runs nothing"


class NoopConnector(Connector):
    """Runs no tasks, and reaches no machines."""

    runs = False
    leaves_spools = False
    no_reboot = ""

    def transport(self, target: Target) -> Transport:  # noqa: ARG002 - a hook
        raise Unsupported("The executor noop reaches no machine.", hint="Import the node with another executor.")


def unchanged_outcome(job: Job) -> Outcome:
    """Return the outcome of a job whose executor runs nothing."""
    return Outcome(InstanceStatus.READY) if job.type in DONE else Outcome(InstanceStatus.SKIPPED, None, RUNS_NOTHING)


class Noop:
    """Reports what jobs would do. It reads from their machines, and writes nothing."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def run(self, job: Job, limits: Limits, stop: asyncio.Event, say: Log) -> Outcome:
        """Describe in the outcome what `job` would do. A script that cannot be parsed, or a manifest that cannot be
        compiled, is an error."""
        try:
            report = retry_unreachable(lambda: self._report(job), min(limits.timeout, 60), stop)
            outcome = await with_deadline(report, limits.timeout, stop)
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
            case type if type in files.FILE_READERS:
                return await self._files(job, files.FILE_READERS[type](job))
        return job.skipped(f"a task of type {job.type} is left out")

    async def _shell(self, job: Job, machine: Transport) -> Outcome:
        script = commands.shell_script(job)
        answer = await machine.call("exec bash -n /dev/stdin", stdin=script.encode())
        message = f"bash cannot read the script: {_error_text(job, answer)}" if answer.rc else ""
        status = InstanceStatus.ERROR if message else InstanceStatus.READY
        return Outcome(status, answer.rc, message, {"script": _mask(job, script)})

    async def _puppet(self, job: Job, node: Transport) -> Outcome:
        if (await node.call(_HAS, ("puppet",))).rc:
            return job.skipped(f"puppet is not installed on {node.place}")
        where = path(job.parameters, "cwd", "/")
        if (await node.call('[ -d "$1" ]', (where,))).rc:  # such as plugin scripts, which only a real run sends
            return job.skipped(f"{where} is not on {node.place} yet, so that puppet cannot look")
        answer, report = await self._run_dry(job, node, commands.puppet_script(job, noop=True))
        message = f"puppet: {_error_text(job, answer)}" if answer.rc not in commands.PUPPET_SUCCESS else ""
        status = InstanceStatus.ERROR if message else InstanceStatus.READY
        return Outcome(status, answer.rc, message, {"report": report})

    async def _run_dry(self, job: Job, node: Transport, script: str) -> tuple[Completed, str]:
        """Run a dry script within the timeout of the task. Return the answer, and the output without secrets."""
        answer = await node.call(_RUN_SCRIPT, (str(limits_of(job.type, job.parameters).timeout),), script.encode())
        return answer, _mask(job, answer.out.decode("utf-8", "replace"))

    async def _sync(self, job: Job, node: Transport) -> Outcome:
        (step,) = sync.steps(job)
        here = node is self._connections.here
        if (await node.call(_HAS, ("rsync",))).rc or (not here and not step.by_target):
            return job.skipped(f"{step.dst} would be made like {step.src}")
        answer, changes = await self._run_dry(job, node, sync.on_target(step, dry=True).script)
        message = f"rsync: {_error_text(job, answer)}" if answer.rc else ""
        return Outcome(InstanceStatus.SKIPPED, answer.rc, message, {"changes": changes})

    async def _files(self, job: Job, placed: list[files.PlannedFile]) -> Outcome:
        diffs: dict[str, str] = {}
        for file in placed:
            target = job.peers[file.where] if file.where else job.target
            name = f"{file.where}:{file.path}" if file.where else file.path
            if not self._connections.connector(target.kind).runs:
                diffs[name] = RUNS_NOTHING
                continue
            current = await self._read(self._connections.transport(target), file.path)
            if isinstance(file.data, bytes):
                planned = Content(file.data)
            else:
                planned = await self._read(self._connections.here, file.data.path)
            diffs[name] = difference(file.path, current, planned, job.known_secrets())
            if current.there and not file.overwrite:
                diffs[name] = "it exists, and overwrite is false"
        changed = ", ".join(name for name, diff in diffs.items() if diff)
        message = f"would change: {changed}" if changed else "would change nothing"
        return Outcome(InstanceStatus.SKIPPED, message=message, summary={"diff": diffs})

    async def _read(self, machine: Transport, path: str) -> Content:
        answer = await machine.call(_READ_FILE, (path, str(_MAX_BYTES)))
        return Content(answer.out, there=answer.rc != 3, readable=answer.rc in (0, 3))


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a file, which is empty if the file is not `there` or not `readable`."""

    data: bytes = b""
    there: bool = True
    readable: bool = True


def difference(path: str, before: Content, after: Content, secrets: Collection[str] = ()) -> str:
    """Return the unified diff from `before` to `after`, with masked secrets; empty if they are equal.

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
    old, new = (redact.masked_part(text, secrets, tail=len(text.encode()) >= _MAX_BYTES) for text in (old, new))
    name = path if before.there else "/dev/null"
    lines = [f"{line}\n" for line in difflib.unified_diff(old.splitlines(), new.splitlines(), name, path, lineterm="")]
    if not lines:
        return (
            "an empty file\n" if not before.there else "they differ only in secrets, or in the end of the last line\n"
        )
    cut = [f"... lines left out: {len(lines) - MAX_LINES}\n"] if len(lines) > MAX_LINES else []
    return "".join([*lines[:MAX_LINES], *cut])


def _mask(job: Job, text: str) -> str:
    return redact.masked_part(text[:_MAX_BYTES], job.known_secrets(), tail=len(text) > _MAX_BYTES)


def _error_text(job: Job, answer: Completed) -> str:
    return output_end(job, (answer.err or answer.out).decode("utf-8", "replace")) or f"exit code {answer.rc}"
