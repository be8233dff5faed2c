"""Environments and the inputs of plans as records: what our own server returns beyond Nailgun's paths, and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fuelclient.model.environment import Environment
from fuelclient.model.network import Vip
from fuelclient.plan.inputs import EnvironmentChange, Inputs, Memory
from fuelclient.serializers.answer import Answer, objects
from fuelclient.serializers.cluster import cluster_from, cluster_to
from fuelclient.serializers.fact import facts_from, info_to
from fuelclient.serializers.finding import finding_to, findings_from
from fuelclient.serializers.graph import layer_record_from, layer_record_to
from fuelclient.serializers.node import node_record_from, node_record_to
from fuelclient.serializers.plugin import plugin_from, plugin_to
from fuelclient.serializers.release import release_record_from, release_to
from fuelclient.serializers.values import plain


def environment_to(environment: Environment) -> dict[str, Any]:
    """Return the record of an environment."""
    return {
        "cluster": cluster_to(environment.cluster),
        "release": {**plain(release_to(environment.release)), "plugin_id": environment.release.plugin_id},
        "plugins": [plugin_to(plugin) for plugin in environment.plugins],
        "nodes": [node_record_to(node) for node in environment.nodes],
        "own_settings": plain(environment.own_settings),
        "own_metadata": plain(environment.own_metadata),
        "own_networks": plain(environment.own_networks),
        "vips": [asdict(vip) for vip in environment.vips],
        "disks": plain(environment.disks),
        "interfaces": plain(environment.interfaces),
        "feature_groups": list(environment.feature_groups),
    }


def environment_from(data: Any) -> Environment:
    """Return the environment of a record. Raise `InvalidDocument` for anything else."""
    answer = Answer(data, "environment")
    return Environment(
        cluster_from(answer.data.get("cluster")),
        release_record_from(answer.data.get("release")),
        tuple(plugin_from(plugin) for plugin in answer.items("plugins")),
        tuple(node_record_from(node) for node in answer.items("nodes")),
        answer.mapping("own_settings"),
        answer.mapping("own_metadata"),
        answer.mapping("own_networks"),
        tuple(_vip_from(Answer(vip, "virtual address")) for vip in answer.items("vips")),
        answer.mapping("disks"),
        answer.mapping("interfaces"),
        feature_groups=answer.texts("feature_groups"),
    )


def _vip_from(vip: Answer) -> Vip:
    namespace = vip.text("namespace") or None
    return Vip(
        vip.identifier(), vip.stated("name"), vip.stated("ip_addr"), vip.text("network"), namespace,
        vip.truth("is_user_defined", True),
    )  # fmt: skip


def inputs_to(inputs: Inputs) -> dict[str, Any]:
    """Return the record of the inputs of plans."""
    memory = inputs.memory or Memory()
    return {
        "environment": environment_to(inputs.environment),
        "layers": {
            graph_type: [layer_record_to(layer, graph_type) for layer in layers]
            for graph_type, layers in inputs.layers.items()
        },
        "facts": info_to(inputs.facts),
        "memory": {
            "facts": {str(run_id): info_to(seen) for run_id, seen in memory.facts.items()},
            "last": [{"task": task, "node": uid, "run": run_id} for (task, uid), run_id in memory.last.items()],
            "forgotten": list(memory.forgotten),
        },
        "durations": [
            {"graph_type": graph_type, "task": task, "node": uid, "seconds": seconds}
            for (graph_type, task, uid), seconds in inputs.durations.items()
        ],
    }


def inputs_from(data: Any) -> Inputs:
    """Return the inputs of a record. Raise `InvalidDocument` for anything else."""
    answer = Answer(data, "inputs of a plan")
    memory = Answer(answer.mapping("memory"), "memory of earlier runs")
    last = [Answer(item, "success") for item in memory.items("last")]
    durations = [Answer(item, "duration") for item in answer.items("durations")]
    return Inputs(
        environment_from(answer.data.get("environment")),
        {
            graph_type: tuple(map(layer_record_from, objects(layers, "layer")))
            for graph_type, layers in answer.mapping("layers").items()
        },
        facts_from(answer.mapping("facts")),
        Memory(
            {int(run_id): facts_from(seen) for run_id, seen in memory.mapping("facts").items()},
            {(item.stated("task"), item.stated("node")): item.identifier("run") for item in last},
            memory.texts("forgotten"),
        ),
        {
            (item.stated("graph_type"), item.stated("task"), item.stated("node")): item.real("seconds")
            for item in durations
        },
    )


def environment_change_to(change: EnvironmentChange) -> dict[str, Any]:
    """Return the record of a change."""
    return {
        "before": inputs_to(change.before),
        "after": inputs_to(change.after),
        "findings": [finding_to(finding) for finding in change.findings],
    }


def environment_change_from(data: Any) -> EnvironmentChange:
    """Return the change of a record. Raise `InvalidDocument` for anything else."""
    answer = Answer(data, "change of an environment")
    before, after = (inputs_from(answer.data.get(side)) for side in ("before", "after"))
    return EnvironmentChange(before, after, findings_from(answer.items("findings")))
