"""The executor that changes nothing: it tells what each task would do, as far as one can know.

Uploads and copies give a diff, scripts are parsed, puppet and rsync run in their own dry modes. The statuses are
Fuel's: puppet and shell tasks are ready, everything else is skipped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Any

from fuelclient import redact
from fuelclient.errors import Unsupported
from fuelclient.executors import handlers
from fuelclient.executors.attempts import patiently
from fuelclient.executors.base import Job, Log, Outcome, Target
from fuelclient.executors.diff import Content, difference
from fuelclient.executors.handlers import files, puppet, shell, sync
from fuelclient.executors.handlers.parameters import path
from fuelclient.executors.limits import limits_of
from fuelclient.executors.narration import end_of, failure, interrupted, quiet, scrubbing
from fuelclient.executors.reach import Reach, Ways
from fuelclient.executors.recipe import File, Sync
from fuelclient.executors.transport import Answer, ConnectionBroken, Transport, Unreachable
from fuelclient.model.status import InstanceStatus
from fuelclient.model.task import TaskType

_MOST = 1 << 18
_CURRENT = """
[ -e "$1" ] || exit 3
[ -f "$1" ] && [ -r "$1" ] || exit 4
head -c "$2" -- "$1"
"""
_PARSE = "exec bash -n /dev/stdin"
_IS_DIRECTORY = '[ -d "$1" ]'
_RUN = 'exec timeout -k 5 "$1" bash -s'
_HAS = 'PATH="$PATH:/opt/puppetlabs/bin"; command -v "$1" > /dev/null'


class NoopExecutor:
    """Tells what jobs would do. It reads from their machines, and writes nowhere."""

    def __init__(self, ways: Ways, reach: Reach | None = None) -> None:
        self._ways = ways
        self._reach = reach or Reach(ways)
        self._running: dict[tuple[int, str, str], asyncio.Task[Outcome]] = {}

    def check(self, job: Job) -> str:
        """Why `job` could never run, or an empty string."""
        return handlers.check(job, self._ways.commands)

    async def run(self, job: Job, log: Log) -> Outcome:
        """What `job` would do, in the summary. A script that cannot be parsed, or a manifest that cannot be compiled,
        is an error."""
        refusal = self.check(job)
        if refusal:
            return failure(job, refusal)
        limits = limits_of(job.type, job.parameters)
        stop = asyncio.Event()
        task = asyncio.ensure_future(patiently(lambda: self._told(job), min(limits.timeout, 60), stop))
        self._running[job.key] = task
        try:
            async with asyncio.timeout(limits.timeout):
                outcome = await asyncio.shield(task)
        except TimeoutError:
            outcome = failure(job, f"timed out after {limits.timeout:g} s")
        except (Unreachable, ConnectionBroken, Unsupported) as error:
            outcome = failure(job, str(error))
        except asyncio.CancelledError:
            if not task.cancelled():
                raise
            outcome = interrupted(job)
        finally:
            self._running.pop(job.key, None)
            task.cancel()
            await asyncio.wait({task})
        scrubbing(job, log)(outcome.message or f"would run: {outcome.status}")
        return outcome

    async def recover(self, job: Job) -> Outcome | None:
        """The same again: nothing was changed."""
        return await self.run(job, quiet)

    async def kill(self, job: Job) -> None:
        """End what runs for the job."""
        task = self._running.get(job.key)
        if task is not None:
            task.cancel()

    async def read(self, job: Job, stream: str, offset: int = 0, limit: int = 1 << 20) -> bytes:  # noqa: ARG002
        """Nothing: a job that is not run writes nothing."""
        return b""

    async def close(self) -> None:
        """Close all connections."""
        await self._reach.close()

    def _told(self, job: Job) -> Awaitable[Outcome]:
        node = self._reach.transport(job.target)
        match job.type:
            case TaskType.SHELL:
                return self._shell(job, node)
            case TaskType.MASTER_SHELL:
                return self._shell(job, self._reach.local)
            case TaskType.PUPPET:
                return self._puppet(job, node)
            case TaskType.UPLOAD_FILE:
                return self._files(job, files.uploaded(job))
            case TaskType.UPLOAD_FILES:
                return self._files(job, files.uploaded_to_nodes(job))
            case TaskType.COPY_FILES:
                return self._files(job, files.copied(job))
            case TaskType.SYNC:
                return self._sync(job, node)
        return _only(Outcome(InstanceStatus.SKIPPED, message=f"a task of type {job.type} is left out"))

    async def _shell(self, job: Job, machine: Transport) -> Outcome:
        script = shell.script(job)
        answer = await machine.call(_PARSE, stdin=script.encode())
        summary = {"script": _shown(job, script)}
        if answer.rc:
            message = f"bash cannot read the script: {_error(job, answer)}"
            return Outcome(InstanceStatus.ERROR, answer.rc, message, summary)
        return Outcome(InstanceStatus.READY, 0, "", summary)

    async def _puppet(self, job: Job, node: Transport) -> Outcome:
        if (await node.call(_HAS, ("puppet",))).rc:
            return Outcome(InstanceStatus.SKIPPED, message=f"puppet is not installed on {node.place}")
        where = path(job.parameters, "cwd", "/")
        if (await node.call(_IS_DIRECTORY, (where,))).rc:  # as plugin scripts, which a real run takes there first
            message = f"{where} is not on {node.place} yet, so that puppet cannot look"
            return Outcome(InstanceStatus.SKIPPED, message=redact.scrubbed(message, job.known_secrets()))
        seconds = str(limits_of(job.type, job.parameters).timeout)
        answer = await node.call(_RUN, (seconds,), puppet.script(job, noop=True).encode())
        report = _shown(job, answer.out.decode("utf-8", "replace"))
        if answer.rc not in puppet.CHANGED:
            return Outcome(InstanceStatus.ERROR, answer.rc, f"puppet: {_error(job, answer)}", {"report": report})
        return Outcome(InstanceStatus.READY, answer.rc, "", {"report": report})

    async def _sync(self, job: Job, node: Transport) -> Outcome:
        (step,) = sync.steps(job)
        assert isinstance(step, Sync)  # noqa: S101 - that is what the handler gives
        here = node is self._reach.local
        if (await node.call(_HAS, ("rsync",))).rc or (not here and not sync.is_remote(step.src)):
            message = f"{step.dst} would be made like {step.src}"
            return Outcome(InstanceStatus.SKIPPED, message=redact.scrubbed(message, job.known_secrets()))
        recipe = sync.on_target(step, dry=True)
        seconds = str(limits_of(job.type, job.parameters).timeout)
        answer = await node.call(_RUN, (seconds,), recipe.script.encode())
        changes = _shown(job, answer.out.decode("utf-8", "replace"))
        if answer.rc:
            return Outcome(InstanceStatus.SKIPPED, answer.rc, f"rsync: {_error(job, answer)}", {"changes": changes})
        return Outcome(InstanceStatus.SKIPPED, 0, "", {"changes": changes})

    async def _files(self, job: Job, wanted: list[files.Placed]) -> Outcome:
        told: dict[str, Any] = {}
        for file in wanted:
            target = job.peers[file.where] if file.where else job.target
            name = f"{file.where}:{file.path}" if file.where else file.path
            current = await self._current(target, file.path)
            told[name] = difference(file.path, current, await self._wanted(file), job.known_secrets())
            if current.there and not file.overwrite:
                told[name] = "it exists, and overwrite is false"
        return Outcome(InstanceStatus.SKIPPED, message=_changes(told), summary={"diff": told})

    async def _current(self, target: Target, path: str) -> Content:
        answer = await self._reach.transport(target).call(_CURRENT, (path, str(_MOST)))
        return Content(answer.out, there=answer.rc != 3, readable=answer.rc in (0, 3))

    async def _wanted(self, file: files.Placed) -> Content:
        if not isinstance(file.content, File):
            return Content(file.content)
        answer = await self._reach.local.call(_CURRENT, (file.content.path, str(_MOST)))
        return Content(answer.out, there=answer.rc != 3, readable=answer.rc == 0)


async def _only(outcome: Outcome) -> Outcome:
    return outcome


def _changes(told: Mapping[str, str]) -> str:
    changed = [name for name, text in told.items() if text]
    return f"would change: {', '.join(changed)}" if changed else "would change nothing"


def _shown(job: Job, text: str) -> str:
    return redact.masked_text(text[:_MOST], job.known_secrets())


def _error(job: Job, answer: Answer) -> str:
    text = (answer.err or answer.out).decode("utf-8", "replace")
    return end_of(job, redact.masked_text(text)) or f"exit code {answer.rc}"
