"""Run tasks in directories of this machine, one for each node, to learn and to try graphs without any node.

This is no sandbox: a command can reach whatever the user who runs the engine can reach. Only the places that a task
names by its parameters are moved into the node's directory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from fuelclient.executors.job import MASTER, Job, Target
from fuelclient.executors.local import LocalConnector, LocalSpool, LocalTransport
from fuelclient.graph.parameters import is_remote
from fuelclient.model.node import Node
from fuelclient.model.task import TaskType

KIND = "directory"

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
                to_server = is_remote(given.get("dst"))
                if not is_remote(given.get("src")):
                    given = _below(root if to_server else master, given, "src")
                return given if to_server else _below(root, given, "dst")
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
    """Move an absolute path below `root`; what handlers refuse stays as it is."""
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
