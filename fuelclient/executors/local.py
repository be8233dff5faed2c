"""Run tasks on this machine: the kind of executor, its transport, and a spool that does not start a shell for each
action.

The kind `directory` runs tasks in directories of this machine, one for each node, for learning, and for trying graphs
without nodes. It is not a sandbox: a command can access everything that the user who runs the engine can access. Only
paths in the parameters of a task are moved into the node's directory.
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
from fuelclient.executors.spool import KEPT_BYTES, WRAPPER, Seen, Spool, seen_from
from fuelclient.executors.transport import Completed, Options, Transport, Unreachable
from fuelclient.graph.parameters import is_remote
from fuelclient.model.node import Node
from fuelclient.model.plugin import ON_NODES
from fuelclient.model.task import TaskType

_SCRIPTS = re.compile(re.escape(ON_NODES) + r"([\w.+-]*[\w+-])(?![\w.+-])")
_WORD_COUNTS = (8, 9)
"""The number of words in `pid`: pid, start, boot, label, uptime, seconds used, the sizes of both outputs before this
attempt, and the PID namespace, which earlier versions left out. If there are fewer, the leader is still writing."""


def task_environment() -> dict[str, str]:
    """Return the environment of tasks on this machine: ours, without variables whose names look like those of secrets,
    such as the operator's password for a master."""
    return {name: value for name, value in os.environ.items() if not redact.is_secret(name)}


class LocalTransport:
    """The transport to this machine. `variables` are added to the environment of commands; `place` is its name in
    messages."""

    def __init__(self, variables: Mapping[str, str] = MappingProxyType({}), place: str = "this machine") -> None:
        self.variables, self.place = variables, place

    async def call(self, script: str, arguments: Sequence[str] = (), stdin: bytes = b"") -> Completed:
        """Run a script in its own session; cancelling kills its process group."""
        try:
            process = await asyncio.create_subprocess_exec(
                "/bin/sh", "-c", script, "fuel2", *arguments,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
                start_new_session=True, env={**task_environment(), **self.variables}, cwd="/",
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
            source = "" if error.filename in (None, path) else f" from {error.filename}"
            raise Unreachable(f"{path} cannot be written{source}: {error.strerror}.", final=True) from error

    async def close(self) -> None:
        """Do nothing, since nothing is open."""


def write(path: str, content: bytes | Path, flags: int = os.O_TRUNC) -> None:
    """Write a file that only its owner can read. Raise `OSError` if that fails."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | flags, 0o600), "wb") as target:
        if isinstance(content, bytes):
            target.write(content)
        else:
            with content.open("rb") as source:
                shutil.copyfileobj(source, target, 1 << 20)


class LocalSpool(Spool):
    """The spool of one job on this machine. It does not start a shell for each action, and starts a third as many
    processes as `Spool`.

    Its files are the same, so the scripts of `Spool` can continue with them. Commands are not started by asyncio, which
    would kill them when the event loop is closed, because a command has to outlive this process.
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
            await _wait_and_reap(started)
        return await self.look()

    def _start(self, script: bytes, label: str, used: float) -> int:
        """Start a try. Return the number of its process, or 0 if the try began earlier."""
        _make_directory(Path(self.root))
        if os.lstat(self.root).st_uid != os.geteuid():
            raise Unreachable(f"{self.root} belongs to another user; remove it.", final=True)
        _make_directory(self._path)
        if (self._path / f"claim.{label}").exists():
            return 0
        # a unique name, since a Dask worker starts tries of several runners in one process
        script_path = self._path / f"cmd.{label}.{uuid.uuid4().hex}"
        write(str(script_path), script)
        script_path.replace(self._path / "cmd")
        append = os.O_CREAT | os.O_APPEND | os.O_WRONLY
        return os.posix_spawn(
            "/bin/sh",
            ["/bin/sh", "-c", WRAPPER, "fuel2-task", label, str(math.ceil(used)), self.directory, str(self.megabytes)],
            {**task_environment(), **self._variables},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, f"{self.directory}/out", append, 0o600),
                (os.POSIX_SPAWN_OPEN, 2, f"{self.directory}/err", append, 0o600),
            ],
            setsid=True,
            setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),  # Python ignores these signals, but commands must not
        )

    async def look(self) -> Seen:
        """Read the state of the spool. As in the script, read the process before the result."""
        process_text = _read_text(self._path / "pid")
        words = process_text.split() if process_text.endswith("\n") else []
        if len(words) not in _WORD_COUNTS:
            words = []
        lines = [_process_line(*words)] if words else []
        with suppress(OSError):
            lines += (f"claim {path.name[6:]}" for path in self._path.glob("claim.*"))
        lines += (f"rc {line}" for line in _read_text(self._path / "rc").rpartition("\n")[0].splitlines())
        before_out, before_err = map(int, words[6:8] or ("0", "0"))
        return seen_from(lines, _read_end(self._path / "out", before_out), _read_end(self._path / "err", before_err))


def _process_line(number: str, start: str, boot: str, label: str, up: str, used: str, *others: str) -> str:
    """Check the process that the words in `pid` describe, and return the line that the script would print."""
    now = _read_text(Path("/proc/uptime")).partition(" ")[0]
    is_of_this_boot = boot == _read_text(Path("/proc/sys/kernel/random/boot_id")).strip()
    is_visible = not others[2:] or others[2] == os.readlink("/proc/self/ns/pid")
    after = _read_text(Path(f"/proc/{number}/stat")).rpartition(") ")[2].split()
    is_alive = is_of_this_boot and is_visible and len(after) > 19 and after[19] == start and after[0] != "Z"
    return f"pid {label} {int(is_alive)} {up if is_of_this_boot else now} {used} {now}"


class LocalConnector(Connector):
    """Tasks run on this machine, as the user who runs the engine.

    Only commands that the user has configured can restart or erase it, so that importing a node is harmless.
    """

    spools = LocalSpool
    leaves_spools = False  # they are next to the engine file, and are removed with the other files of the run
    no_reboot = (
        "the local executor never restarts the machine it runs on; "
        "give the node an address, or name a command for reboot in HANDLER_COMMANDS of a settings file"
    )

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._transport = LocalTransport()  # shared by all nodes, since they are the same machine

    def transport(self, target: Target) -> LocalTransport:  # noqa: ARG002 - all are this machine
        return self._transport

    def root(self, target: Target, proposed: str) -> str:  # noqa: ARG002 - all are this machine
        return os.path.realpath(self.options.spool)

    def prepared(self, job: Job) -> Job:
        """Replace the paths of plugin scripts in the job by those of a copy that belongs to the run.

        Several runs on this machine may have different scripts for the same path on nodes, and an installation may
        change the scripts during a run.
        """
        own = f"{self.root(job.target, '')}/plugins/"
        targets = {destination.rstrip("/") for _, destination in job.target.scripts}
        scripts = tuple((source, _use_own(destination, own, targets)) for source, destination in job.target.scripts)
        parameters = {key: _use_own(value, own, targets) for key, value in job.parameters.items() if key != "data"}
        return replace(job, parameters={**job.parameters, **parameters}, target=replace(job.target, scripts=scripts))

    async def sync(self, step: Sync, target: Target, transport: Transport) -> Recipe:  # noqa: ARG002 - a hook
        return sync.on_target(step) if shutil.which("rsync") else sync.as_archive(step)


def _use_own(value: Any, own: str, targets: Collection[str]) -> Any:
    """Rewrite the paths of plugin scripts in `value` to lie below `own`, if the run has copied them there or will do
    so."""
    if isinstance(value, list | tuple):
        return [_use_own(item, own, targets) for item in value]
    if isinstance(value, Mapping):
        return {key: _use_own(item, own, targets) for key, item in value.items()}
    if not isinstance(value, str) or ON_NODES not in value:
        return value

    def move(match: re.Match[str]) -> str:
        is_own = match[0] in targets or os.path.isdir(own + match[1])
        return own + match[1] if is_own else match[0]

    return _SCRIPTS.sub(move, value)


def _make_directory(path: Path) -> None:
    """Create a directory and its parents, which only their owner can read."""
    if not path.is_dir():
        _make_directory(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


async def _wait_and_reap(process: int) -> None:
    """Wait for the end of a process, and reap it even if this is cancelled."""
    loop = asyncio.get_running_loop()
    handle = os.pidfd_open(process)
    ended = loop.create_future()

    def reap() -> None:
        loop.remove_reader(handle)
        os.close(handle)
        with suppress(ChildProcessError):
            os.waitpid(process, 0)
        if not ended.done():
            ended.set_result(None)

    loop.add_reader(handle, reap)
    await ended


def _read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def _read_end(path: Path, before: int) -> bytes:
    """Read the end of a file, without its first `before` bytes."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, before, size - KEPT_BYTES))
            return file.read(KEPT_BYTES)
    except OSError:
        return b""


ROOT, NAME = "NODE_ROOT", "NODE_NAME"
"""The environment variables with the directory and the name of a command's node."""

_RUN_TYPES = frozenset(
    {TaskType.SHELL, TaskType.MASTER_SHELL, TaskType.UPLOAD_FILE, TaskType.UPLOAD_FILES, TaskType.COPY_FILES,
     TaskType.SYNC, TaskType.STAGE, TaskType.SKIPPED, TaskType.NOOP}
)  # fmt: skip
"""The task types that run. Other types change the machine itself, in whatever directory they are started."""


class DirectorySpool(LocalSpool):
    """The spool of a job of the executor `directory`. The first try creates the node's directory."""

    def _start(self, script: bytes, label: str, used: float) -> int:
        Path(self._variables[ROOT]).mkdir(mode=0o700, parents=True, exist_ok=True)
        return super()._start(script, label, used)


class DirectoryConnector(LocalConnector):
    """Each node is a directory next to the engine file; so is the master if all nodes of a run are directories."""

    spools = DirectorySpool
    stands_for_master = True

    @classmethod
    def place(cls, node: Node) -> Hashable:
        """Return the name of the node's directory. It has the id because names are not unique."""
        return f"{node.id}.{quote(node.name, safe='')}"

    def transport(self, target: Target) -> LocalTransport:
        name = unquote(str(target.place).partition(".")[2]) if target.place else MASTER
        directory = self._directory(target)
        return LocalTransport({ROOT: str(directory), NAME: name}, f"the directory {directory}")

    @classmethod
    def left_out(cls, task_type: str) -> str:
        changed = f"a task of type {task_type} would change this machine, not a directory"
        return "" if task_type in _RUN_TYPES else changed

    def prepared(self, job: Job) -> Job:
        """Rewrite all paths in the job's parameters to lie in the directory of its node."""
        on_master = job.type == TaskType.MASTER_SHELL
        root = self._directory(job.peers.get(MASTER, Target()) if on_master else job.target)
        scripts = tuple((source, f"{root}{destination}") for source, destination in job.target.scripts)
        return replace(job, parameters=self._move_paths(job, root), target=replace(job.target, scripts=scripts))

    def _directory(self, target: Target) -> Path:
        return Path(self.options.nodes, str(target.place or MASTER))

    def _move_paths(self, job: Job, root: Path) -> Mapping[str, Any]:
        given, master = job.parameters, self._directory(Target())
        match job.type:
            case TaskType.SHELL | TaskType.MASTER_SHELL:
                return {**given, "cwd": _move(root, given.get("cwd") or "/")}
            case TaskType.UPLOAD_FILE:
                return _move_in(root, given, "path")
            case TaskType.SYNC:
                source = root if is_remote(given.get("dst")) else master
                return _move_in(root, _move_in(source, given, "src"), "dst")
            case TaskType.COPY_FILES:
                return _each(given, "files", lambda file: _move_in(root, _move_in(master, file, "src"), "dst"))
            case TaskType.UPLOAD_FILES:
                return _each(given, "nodes", lambda node: self._move_uploads(job, node))
        return given

    def _move_uploads(self, job: Job, node: Mapping[str, Any]) -> Mapping[str, Any]:
        uid = str(node.get("uid"))
        target = job.target if uid == job.node else job.peers.get(uid, job.target)
        if target.kind != job.target.kind:
            return node
        return _each(node, "files", lambda file: _move_in(self._directory(target), file, "dst"))


def _move(root: Path, path: Any) -> Any:
    """Move an absolute path below `root`. Return addresses, and values that handlers refuse, unchanged."""
    if isinstance(path, str) and path.startswith("/"):
        slash = "/" if path.endswith("/") else ""
        return f"{root}{os.path.normpath(path)}".rstrip("/") + slash
    return path


def _move_in(root: Path, parameters: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    path = parameters.get(name)
    refused = not isinstance(path, str) or not path.strip("/.")
    return parameters if refused else {**parameters, name: _move(root, path)}


def _each(
    parameters: Mapping[str, Any], name: str, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> Mapping[str, Any]:
    entries = parameters.get(name)
    if not isinstance(entries, list | tuple):
        return parameters
    return {**parameters, name: [change(entry) if isinstance(entry, Mapping) else entry for entry in entries]}
