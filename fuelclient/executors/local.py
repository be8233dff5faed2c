"""Run tasks on this machine: the kind of executor, its transport, and its spool without a shell around it.

The kind `directory` runs them in directories of this machine, one for each node, to learn and to try graphs without any
node. It is no sandbox: a command can reach whatever the user who runs the engine can reach. Only the places that a task
names by its parameters are moved into the node's directory.
"""

from __future__ import annotations

import asyncio
import math
import os
import re
import shutil
import signal
import uuid
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, unquote

from fuelclient import redact
from fuelclient.executors.connector import Connector
from fuelclient.executors.handlers import sync
from fuelclient.executors.job import MASTER, Job, Recipe, Sync, Target
from fuelclient.executors.spool import KEEP, WRAPPER, Seen, Spool, seen_from
from fuelclient.executors.transport import Completed, Options, Transport, Unreachable
from fuelclient.graph.parameters import is_remote
from fuelclient.model.node import Node
from fuelclient.model.plugin import ON_NODES
from fuelclient.model.task import TaskType

_SCRIPTS = re.compile(re.escape(ON_NODES) + r"([\w.+-]*[\w+-])(?![\w.+-])")
_WORDS = (8, 9)
"""The number of words that a leader writes: pid, start, boot, label, uptime, seconds used, the bytes of both outputs
then, and the PID namespace, which earlier versions left out. While there are fewer, it is still writing."""


def environment() -> dict[str, str]:
    """The environment of tasks on this machine: ours, without variables that have the name of a secret, such as the
    operator's password for a master."""
    return {name: value for name, value in os.environ.items() if not redact.is_secret(name)}


class LocalTransport:
    """The transport to this machine. `variables` are added to the environment of all that runs; `place` is its name in
    messages."""

    def __init__(self, variables: Mapping[str, str] = MappingProxyType({}), place: str = "this machine") -> None:
        self.variables, self.place = variables, place

    async def call(self, script: str, arguments: Sequence[str] = (), stdin: bytes = b"") -> Completed:
        """Run a script in its own session; cancelling kills its process group."""
        try:
            process = await asyncio.create_subprocess_exec(
                "/bin/sh", "-c", script, "fuel2", *arguments,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
                start_new_session=True, env={**environment(), **self.variables}, cwd="/",
            )  # fmt: skip
        except OSError as error:
            raise Unreachable(f"No process can be started on this machine: {error.strerror}.") from error
        try:
            out, err = await process.communicate(stdin)
        except asyncio.CancelledError:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            raise
        return Completed(process.returncode or 0, out, err)

    async def put(self, path: str, content: bytes | Path) -> None:
        try:
            await asyncio.to_thread(write, path, content)
        except OSError as error:
            where = error.filename or path
            raise Unreachable(f"{where} cannot be copied to {path}: {error.strerror}.", final=True) from error

    async def close(self) -> None:
        """Nothing is held."""


def write(path: str, content: bytes | Path, flags: int = os.O_TRUNC) -> None:
    """Write a file that only its owner can read. Raise `OSError`."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | flags, 0o600), "wb") as target:
        if isinstance(content, bytes):
            target.write(content)
        else:
            with content.open("rb") as source:
                shutil.copyfileobj(source, target, 1 << 20)


class LocalSpool(Spool):
    """The spool of one job on this machine, without a shell around each action: a third of the processes of `Spool`.

    The files are the same, so the scripts of `Spool` can go on with it. Commands are not children of asyncio, because
    those are killed when their event loop is closed, and a command has to outlive this process.
    """

    def __init__(self, transport: LocalTransport, root: str, directory: str) -> None:
        super().__init__(transport, root, directory)
        self._path, self._variables = Path(directory), transport.variables

    async def launch(self, recipe: Recipe, label: str, used: float) -> Seen:
        try:
            started = self._start(recipe.script.encode(), label, used)
        except OSError as error:
            where = error.filename or self.directory
            raise Unreachable(f"Nothing can be started: {where}: {error.strerror}.", final=True) from error
        if started:
            await _ended(started)
        return await self.look()

    def _start(self, script: bytes, label: str, used: float) -> int:
        """Start a try. The result is the number of its process; 0 if it began before."""
        _make(Path(self.root))
        if os.lstat(self.root).st_uid != os.geteuid():
            raise Unreachable(f"{self.root} belongs to another user; remove it.", final=True)
        _make(self._path)
        if (self._path / f"claim.{label}").exists():
            return 0
        # a name of its own for each starter: a Dask worker starts tries of several runners in one process
        fresh = self._path / f"cmd.{label}.{uuid.uuid4().hex}"
        write(str(fresh), script)
        fresh.replace(self._path / "cmd")
        append = os.O_CREAT | os.O_APPEND | os.O_WRONLY
        return os.posix_spawn(
            "/bin/sh",
            ["/bin/sh", "-c", WRAPPER, "fuel2-task", label, str(math.ceil(used)), self.directory, str(self.megabytes)],
            {**environment(), **self._variables},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, f"{self.directory}/out", append, 0o600),
                (os.POSIX_SPAWN_OPEN, 2, f"{self.directory}/err", append, 0o600),
            ],
            setsid=True,
            setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),  # what Python ignores, a command must not
        )

    async def look(self) -> Seen:
        """Read the state of the spool: as in the script, the process before the result."""
        written = _text(self._path / "pid")
        words = written.split() if written.endswith("\n") else []
        if len(words) not in _WORDS:
            words = []
        lines = [_process(*words)] if words else []
        with suppress(OSError):
            lines += (f"claim {path.name[6:]}" for path in self._path.glob("claim.*"))
        lines += (f"rc {line}" for line in _text(self._path / "rc").splitlines())
        before_out, before_err = map(int, words[6:8] or ("0", "0"))
        return seen_from(lines, _end(self._path / "out", before_out), _end(self._path / "err", before_err))


def _process(number: str, start: str, boot: str, label: str, up: str, used: str, *others: str) -> str:
    """Look at the process with the words that a leader wrote, and describe it as the script does."""
    now = _text(Path("/proc/uptime")).partition(" ")[0]
    is_of_this_boot = boot == _text(Path("/proc/sys/kernel/random/boot_id")).strip()
    is_visible = not others[2:] or others[2] == os.readlink("/proc/self/ns/pid")
    after = _text(Path(f"/proc/{number}/stat")).rpartition(") ")[2].split()
    is_alive = is_of_this_boot and is_visible and len(after) > 19 and after[19] == start and after[0] != "Z"
    return f"pid {label} {int(is_alive)} {up if is_of_this_boot else now} {used} {now}"


class LocalConnector(Connector):
    """Tasks run on this machine, as the user who runs the engine.

    Only commands that the user has configured restart or erase it: importing a node must not hurt a laptop.
    """

    spools = LocalSpool
    leaves_spools = False  # they lie beside the engine file, and are removed with the other files of the run
    no_reboot = (
        "the local executor never restarts the machine it runs on; "
        "give the node an address, or name a command for reboot in HANDLER_COMMANDS of a settings file"
    )

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._transport = LocalTransport()  # one for all nodes, since they are the same machine

    def transport(self, target: Target) -> LocalTransport:  # noqa: ARG002 - all are this machine
        return self._transport

    def root(self, target: Target, proposed: str) -> str:  # noqa: ARG002 - all are this machine
        return os.path.realpath(self.options.spool)

    def prepared(self, job: Job) -> Job:
        """Move the job's scripts of plugins to a copy of the run's own.

        Two runs of this machine, of one engine or of several, may have different scripts for one path on the nodes,
        and an installation may change them while a run goes on.
        """
        own = f"{self.root(job.target, '')}/plugins/"
        brought = {destination.rstrip("/") for _, destination in job.target.scripts}
        scripts = tuple((source, _own(destination, own, brought)) for source, destination in job.target.scripts)
        parameters = {key: _own(value, own, brought) for key, value in job.parameters.items() if key != "data"}
        return replace(job, parameters={**job.parameters, **parameters}, target=replace(job.target, scripts=scripts))

    async def sync(self, step: Sync, target: Target, transport: Transport) -> Recipe:  # noqa: ARG002 - a hook
        return sync.on_target(step) if shutil.which("rsync") else sync.as_archive(step)


def _own(value: Any, own: str, brought: Collection[str]) -> Any:
    """Move paths of plugin scripts in `value` below `own`, if the run has brought them or is about to."""
    if isinstance(value, list | tuple):
        return [_own(item, own, brought) for item in value]
    if isinstance(value, Mapping):
        return {key: _own(item, own, brought) for key, item in value.items()}
    if not isinstance(value, str) or ON_NODES not in value:
        return value

    def moved(match: re.Match[str]) -> str:
        is_own = match[0] in brought or os.path.isdir(own + match[1])
        return own + match[1] if is_own else match[0]

    return _SCRIPTS.sub(moved, value)


def _make(path: Path) -> None:
    """Make a directory and its parents, readable for us alone."""
    if not path.is_dir():
        _make(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


async def _ended(process: int) -> None:
    """Wait for the end of a process, and reap it even if the waiting is cancelled."""
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
    """Read the end of a file, without the bytes that it had before."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, before, size - KEEP))
            return file.read(KEEP)
    except OSError:
        return b""


ROOT, NAME = "NODE_ROOT", "NODE_NAME"
"""The variables that give a command the directory and the name of its node."""

_RUN = frozenset(
    {TaskType.SHELL, TaskType.MASTER_SHELL, TaskType.UPLOAD_FILE, TaskType.UPLOAD_FILES, TaskType.COPY_FILES,
     TaskType.SYNC, TaskType.STAGE, TaskType.SKIPPED, TaskType.NOOP}
)  # fmt: skip
"""The task types that run. The others change the machine itself, whatever directory they start in."""


class DirectorySpool(LocalSpool):
    """The spool of a job of the executor `directory`. The first try makes the node's directory."""

    def _start(self, script: bytes, label: str, used: float) -> int:
        Path(self._variables[ROOT]).mkdir(mode=0o700, parents=True, exist_ok=True)
        return super()._start(script, label, used)


class DirectoryConnector(LocalConnector):
    """Each node is a directory beside the engine file, and so is the master where all nodes of a run are."""

    spools = DirectorySpool
    stands_for_master = True

    @classmethod
    def place(cls, node: Node) -> Hashable:
        """The name of the node's directory; ids distinguish nodes of one name."""
        return f"{node.id}.{quote(node.name, safe='')}"

    def transport(self, target: Target) -> LocalTransport:
        name = unquote(str(target.place).partition(".")[2]) if target.place else MASTER
        directory = self._directory(target)
        return LocalTransport({ROOT: str(directory), NAME: name}, f"the directory {directory}")

    def left_out(self, job: Job) -> str:
        return "" if job.type in _RUN else f"a task of type {job.type} would change this machine, not a directory"

    def prepared(self, job: Job) -> Job:
        """Move every path that the job's parameters name into the directory of its machine."""
        on_master = job.type == TaskType.MASTER_SHELL
        root = self._directory(job.peers.get(MASTER, Target()) if on_master else job.target)
        scripts = tuple((source, f"{root}{destination}") for source, destination in job.target.scripts)
        return replace(job, parameters=self._parameters(job, root), target=replace(job.target, scripts=scripts))

    def _directory(self, target: Target) -> Path:
        return Path(self.options.nodes, str(target.place or MASTER))

    def _parameters(self, job: Job, root: Path) -> Mapping[str, Any]:
        given, master = job.parameters, self._directory(Target())
        match job.type:
            case TaskType.SHELL | TaskType.MASTER_SHELL:
                return {**given, "cwd": _moved(root, given.get("cwd") or "/")}
            case TaskType.UPLOAD_FILE:
                return _below(root, given, "path")
            case TaskType.SYNC:
                source = root if is_remote(given.get("dst")) else master
                return _below(root, _below(source, given, "src"), "dst")
            case TaskType.COPY_FILES:
                return _each(given, "files", lambda file: _below(root, _below(master, file, "src"), "dst"))
            case TaskType.UPLOAD_FILES:
                return _each(given, "nodes", lambda node: self._uploaded(job, node))
        return given

    def _uploaded(self, job: Job, node: Mapping[str, Any]) -> Mapping[str, Any]:
        uid = str(node.get("uid"))
        target = job.target if uid == job.node else job.peers.get(uid, job.target)
        if target.kind != job.target.kind:
            return node
        return _each(node, "files", lambda file: _below(self._directory(target), file, "dst"))


def _moved(root: Path, path: Any) -> Any:
    """Move an absolute path below `root`; addresses, and what handlers refuse, stay as they are."""
    if isinstance(path, str) and path.startswith("/"):
        slash = "/" if path.endswith("/") else ""
        return f"{root}{os.path.normpath(path)}".rstrip("/") + slash
    return path


def _below(root: Path, parameters: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    path = parameters.get(name)
    refused = not isinstance(path, str) or not path.strip("/.")
    return parameters if refused else {**parameters, name: _moved(root, path)}


def _each(
    parameters: Mapping[str, Any], name: str, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> Mapping[str, Any]:
    entries = parameters.get(name)
    if not isinstance(entries, list | tuple):
        return parameters
    return {**parameters, name: [change(entry) if isinstance(entry, Mapping) else entry for entry in entries]}
