"""Jobs: task instances of a plan as executors take them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from fuelclient import redact
from fuelclient.engine.reading.unpacked import Trees
from fuelclient.executors.base import MASTER, Job, Ssh, Target
from fuelclient.model.environment import Environment
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.graph import Level, MergedTask
from fuelclient.model.node import ExecutorKind, Node
from fuelclient.model.plugin import Plugin
from fuelclient.model.run import NodeKey, RunRequest

_SCRIPTS = "deployment_scripts_path"
_BY_DEFAULT = "deployment_scripts"

Definer = tuple[Level, int]
"""Who defines a task: a layer's owner by level and id."""


class Jobs:
    """What makes jobs of one run: it knows the nodes, how to reach them, and the scripts of plugins.

    `taking_part` are the nodes with task instances, as far as that is known; else those of the request, or all.
    """

    def __init__(
        self,
        run: int,
        request: RunRequest,
        nodes: Iterable[Node],
        facts: DeploymentFacts,
        scripts: Mapping[Definer, tuple[tuple[str, str], ...]],
        taking_part: Collection[NodeKey] = (),
    ) -> None:
        self._run, self._request, self._facts, self._scripts = run, request, facts, scripts
        self._nodes = {node.id: node for node in nodes}
        self._taking_part = [one for one in taking_part if one in self._nodes] or request.node_ids or [*self._nodes]
        self._secrets: dict[str, frozenset[str]] = {}

    def job(self, task: MergedTask, node: NodeKey, rendered: Mapping[str, Any], attempt: int = 1) -> Job:
        """The job of an instance that is begun for the `attempt`-th time."""
        uid = str(node)
        return Job(
            run=self._run,
            node=uid,
            name=self._nodes[node].name if isinstance(node, int) else uid,
            task=task.id,
            type=task.task.type,
            parameters=rendered["parameters"],
            target=self._target(node, task),
            attempt=attempt,
            noop=self._request.noop,
            debug=self._request.trace,
            peers=self._peers,
            secrets=self._secrets_of(uid),
        )

    def way(self, node: NodeKey) -> tuple[ExecutorKind, bool, str]:
        """How a node is reached, as far as it decides what can run there: by what, whether it has an address, and
        the name of its Dask worker where it is reached by one."""
        found = target_of(self._nodes[node], self._request.executor) if isinstance(node, int) else self._here
        return found.kind, bool(found.ip), found.worker

    def _target(self, node: NodeKey, task: MergedTask) -> Target:
        definer = task.origin("type").owner  # what only overrides attributes brings no scripts of its own
        scripts = self._scripts.get((definer.level, definer.id), ())
        if not isinstance(node, int):
            return replace(self._here, scripts=scripts)
        found = target_of(self._nodes[node], self._request.executor, scripts)
        if self._request.noop and not found.ip and found.kind is not ExecutorKind.DASK:
            return replace(found, kind=ExecutorKind.NOOP)
        return found

    @cached_property
    def _here(self) -> Target:
        """This machine, as the master: where nothing runs on any node, nothing runs here either, unless
        the request names an executor that does run things."""
        asked = self._request.executor
        nodes = [node for uid, node in self._nodes.items() if uid in self._taking_part]
        kinds = {ExecutorKind(asked)} if asked else {target_of(node).kind for node in nodes}
        return Target(ExecutorKind.NOOP if kinds == {ExecutorKind.NOOP} else ExecutorKind.LOCAL)

    @cached_property
    def _peers(self) -> Mapping[str, Target]:
        peers = {str(node.id): target_of(node, self._request.executor) for node in self._nodes.values()}
        return {MASTER: Target(ExecutorKind.LOCAL), **peers}

    def _secrets_of(self, uid: str) -> frozenset[str]:
        """The secrets of the environment and of the node: texts that a command of it may print."""
        if uid not in self._secrets:
            own = redact.secrets_of(self._facts.nodes.get(uid, {}))
            self._secrets[uid] = (self._common | own) if own else self._common
        return self._secrets[uid]

    @cached_property
    def _common(self) -> frozenset[str]:
        return redact.secrets_of(self._facts.common)


def target_of(node: Node, executor: str = "", scripts: tuple[tuple[str, str], ...] = ()) -> Target:
    """How a node is reached: by the executor that the request names, else by its own, else over SSH.

    Whoever asks for noop by name wants no node to be touched: it is looked at from here, as if it had no address. A
    node that is noop by itself, or the option for noop runs, looks at the node.
    """
    ssh = node.ssh
    kind = ExecutorKind(executor or node.executor or ExecutorKind.SSH)
    return Target(
        kind=kind,
        ip="" if executor == ExecutorKind.NOOP else node.ip,
        ssh=Ssh(
            user=str(ssh.get("user") or ""),
            port=int(ssh.get("port") or 0),
            key=str(ssh.get("key") or ""),
            jump=str(ssh.get("jump") or ""),
        ),
        scripts=scripts,
        worker=str(node.attributes.get("worker") or node.name) if kind is ExecutorKind.DASK else "",
    )


def plugin_scripts(
    environment: Environment, source: Plugin | None, trees: Trees
) -> dict[Definer, tuple[tuple[str, str], ...]]:
    """By who defines tasks: the directories of scripts in its package, and where they belong on a node.

    `source` is the plugin that the release came with, if any: the release's tasks are its tasks.
    """
    found: dict[Definer, tuple[tuple[str, str], ...]] = {}
    owners = [((Level.PLUGIN, plugin.id), plugin) for plugin in environment.plugins]
    if source is not None:
        owners.append(((Level.RELEASE, environment.release.id), source))
    for owner, plugin in owners:
        if not trees.has(plugin.unpacked):
            continue
        stated = plugin.metadata.get(_SCRIPTS)
        below = trees.path(plugin.unpacked) / (stated if isinstance(stated, str) else _BY_DEFAULT)
        if below.is_dir():
            found[owner] = ((str(below), f"/etc/fuel/plugins/{plugin.directory}/"),)
    return found
