"""Jobs: task instances of a plan as executors take them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from fuelclient import redact
from fuelclient.engine.reading.unpacked import Trees
from fuelclient.executors import registry
from fuelclient.executors.base import MASTER, Job, Target
from fuelclient.model.environment import Environment
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.graph import Level, MergedTask
from fuelclient.model.node import DEFAULT_EXECUTOR, Node
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
            noop=self._request.noop or (not isinstance(node, int) and self._runs_nothing),
            debug=self._request.trace,
            peers=self._peers,
            secrets=self._secrets_of(uid),
        )

    def machine(self, node: NodeKey) -> Hashable:
        """Return what decides whether a task can run on a node: whether it has an address, and how it is reached."""
        target = self._target_of(self._nodes[node]) if isinstance(node, int) else Target()
        return target.kind, bool(target.ip), target.place

    def _target(self, node: NodeKey, task: MergedTask) -> Target:
        definer = task.origin("type").owner  # what only overrides attributes brings no scripts of its own
        target = self._target_of(self._nodes[node]) if isinstance(node, int) else Target()
        return replace(target, scripts=self._scripts.get((definer.level, definer.id), ()))

    def _target_of(self, node: Node) -> Target:
        return target_of(node, self._request.executor, noop=self._request.noop)

    @cached_property
    def _runs_nothing(self) -> bool:
        """Whether nothing runs on any node, and so nothing may run on the master either."""
        asked = self._request.executor
        nodes = [node for uid, node in self._nodes.items() if uid in self._taking_part]
        kinds = {asked} if asked else {node.executor or DEFAULT_EXECUTOR for node in nodes}
        return bool(kinds) and not any(map(_runs, kinds))

    @cached_property
    def _peers(self) -> Mapping[str, Target]:
        peers = {str(node.id): self._target_of(node) for node in self._nodes.values()}
        return {MASTER: Target(), **peers}

    def _secrets_of(self, uid: str) -> frozenset[str]:
        """The secrets of the environment and of the node: texts that a command of it may print."""
        if uid not in self._secrets:
            own = redact.secrets_of(self._facts.nodes.get(uid, {}))
            self._secrets[uid] = (self._common | own) if own else self._common
        return self._secrets[uid]

    @cached_property
    def _common(self) -> frozenset[str]:
        return redact.secrets_of(self._facts.common)


def target_of(node: Node, executor: str = "", *, noop: bool = False) -> Target:
    """Return how a node is reached: by the executor that the request names, else by its own, else by the default one.

    Of a node without an address a noop run tells what can be told from this machine. A request that names an executor
    which runs nothing wants no node to be touched, so its addresses are left out; a node that has such an executor
    itself is looked at.
    """
    kind = executor or node.executor or DEFAULT_EXECUTOR
    connector = registry.known(kind)
    if connector is None:
        return Target(kind, node.ip)  # which the executor refuses, with the reason
    ip = node.ip if connector.runs or not executor else ""
    if noop and connector.needs_address and not ip:
        return Target()
    return Target(kind, ip, connector.place(node))


def _runs(kind: str) -> bool:
    connector = registry.known(kind)
    return connector is None or connector.runs


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
