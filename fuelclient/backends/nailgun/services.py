"""What only a Fuel master does: verify networks, keep templates and extensions, provision, diagnose, check health."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fuelclient.backends.http.errors import About
from fuelclient.backends.http.session import Session
from fuelclient.backends.nailgun.networks import neutron_path
from fuelclient.errors import Conflict, InvalidDocument, NotFound, Unsupported
from fuelclient.model.cluster import ClusterStatus
from fuelclient.model.services import (
    Extension,
    NetworkGroup,
    OpenstackConfig,
    OstfCredentials,
    Snapshot,
    TestRun,
    TestSet,
)
from fuelclient.serializers.answer import Answer, objects
from fuelclient.serializers.services import (
    extension_from,
    network_group_from,
    openstack_config_from,
    test_order_to,
    test_run_from,
    test_set_from,
)
from fuelclient.serializers.values import plain

_OSTF = "/ostf/"
"""The path of the service of health checks, beside Nailgun's."""

_DEPLOYED = frozenset((ClusterStatus.ERROR, ClusterStatus.OPERATIONAL, ClusterStatus.UPDATE_ERROR))
_SNAPSHOT, _READY = "dump", "ready"
_ADVANCED = "advanced"
_GROUP: Mapping[str, Any] = {
    "notation": "cidr", "render_type": None, "map_priority": 2, "configurable": True, "use_gateway": False,
}  # fmt: skip
"""What Nailgun needs to know of a network group, unless its creator says otherwise."""


class Services:
    """Services; see `backends.services.Services`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def verify_networks(self, cluster_id: int) -> int:
        path = neutron_path(cluster_id)
        configuration = self._session.get(path, _environment(cluster_id))
        return _task(self._session.put(f"{path}/verify", configuration, _environment(cluster_id)))

    def network_template(self, cluster_id: int) -> Any:
        return plain(self._session.get(_template(cluster_id), _environment(cluster_id)))

    def set_network_template(self, cluster_id: int, template: Mapping[str, Any]) -> None:
        self._session.put(_template(cluster_id), plain(template), _environment(cluster_id))

    def delete_network_template(self, cluster_id: int) -> None:
        self._session.delete(_template(cluster_id), _environment(cluster_id))

    def network_groups(self) -> Sequence[NetworkGroup]:
        return [network_group_from(record) for record in objects(self._session.get("networks/"), "network group")]

    def network_group(self, group_id: int) -> NetworkGroup:
        return network_group_from(self._session.get(f"networks/{group_id}/", About("network group", group_id)))

    def create_network_group(self, group: NetworkGroup, *, release_id: int | None = None) -> NetworkGroup:
        stated = {"name": group.name, "cidr": group.cidr, "vlan_start": group.vlan_start}
        meta = {**_GROUP, **stated, **plain(group.meta)}
        body = {**stated, "release": release_id, "gateway": group.gateway, "group_id": group.group_id, "meta": meta}
        about = About("node group", group.group_id, invalid=InvalidDocument)
        return network_group_from(self._session.post("networks/", body, about))

    def update_network_group(self, group_id: int, changes: Mapping[str, Any]) -> NetworkGroup:
        about = About("network group", group_id, invalid=InvalidDocument)
        return network_group_from(self._session.put(f"networks/{group_id}/", plain(changes), about))

    def delete_network_group(self, group_id: int) -> None:
        self._session.delete(f"networks/{group_id}/", About("network group", group_id))

    def extensions(self) -> Sequence[Extension]:
        return [extension_from(record) for record in objects(self._session.get("extensions/"), "extension")]

    def extensions_of(self, cluster_id: int) -> tuple[str, ...]:
        data = self._session.get(_extensions(cluster_id), _environment(cluster_id))
        return Answer({"names": data}, "environment's extensions").texts("names")

    def enable_extensions(self, cluster_id: int, names: Sequence[str]) -> None:
        self._session.put(_extensions(cluster_id), list(names), _environment(cluster_id))

    def disable_extensions(self, cluster_id: int, names: Sequence[str]) -> None:
        self._session.delete(_extensions(cluster_id), _environment(cluster_id), extension_names=tuple(names))

    def provisioning_facts(
        self, cluster_id: int, *, default: bool, nodes: Sequence[int] | None = None, split: bool = True
    ) -> Mapping[str, Any]:
        path = f"{_provisioning(cluster_id)}{'defaults/' if default else ''}"
        data = self._session.get(path, _environment(cluster_id), nodes=tuple(nodes) if nodes else None, split=split)
        return Answer(data, "environment's provisioning facts").rest()

    def set_provisioning_facts(self, cluster_id: int, facts: Mapping[str, Any]) -> None:
        self._session.put(_provisioning(cluster_id), plain(facts), _environment(cluster_id))

    def delete_provisioning_facts(self, cluster_id: int) -> None:
        self._session.delete(_provisioning(cluster_id), _environment(cluster_id))

    def openstack_configs(
        self, cluster_id: int, *, node_ids: Sequence[int] | None = None, role: str | None = None, active: bool = True
    ) -> Sequence[OpenstackConfig]:
        data = self._session.get(
            "openstack-config/", _environment(cluster_id), cluster_id=cluster_id,
            node_ids=tuple(node_ids) if node_ids else None, node_role=role, is_active=str(active),
        )  # fmt: skip
        return [openstack_config_from(record) for record in objects(data, "OpenStack configuration")]

    def openstack_config(self, config_id: int) -> OpenstackConfig:
        return openstack_config_from(self._session.get(f"openstack-config/{config_id}/", _config(config_id)))

    def create_openstack_config(
        self, cluster_id: int, configuration: Any, *, node_ids: Sequence[int] | None = None, role: str | None = None
    ) -> Sequence[OpenstackConfig]:
        body = {"cluster_id": cluster_id, "configuration": plain(configuration), **_whose(node_ids, role)}
        data = self._session.post("openstack-config/", body, _environment(cluster_id))
        return [openstack_config_from(record) for record in objects(data, "OpenStack configuration")]

    def execute_openstack_configs(
        self, cluster_id: int, *, node_ids: Sequence[int] | None = None, role: str | None = None, force: bool = False
    ) -> int:
        body = {"cluster_id": cluster_id, "force": force, **_whose(node_ids, role)}
        about = About("environment", cluster_id)
        return _task(self._session.put("openstack-config/execute/", body, about))

    def delete_openstack_config(self, config_id: int) -> None:
        self._session.delete(f"openstack-config/{config_id}/", _config(config_id))

    def vms(self, node_id: int) -> Any:
        self._require_advanced()
        data = self._session.get(f"nodes/{node_id}/vms_conf/", About("node", node_id))
        return Answer(data, "node's virtual machines").rest().get("vms_conf")

    def set_vms(self, node_id: int, vms: Sequence[Mapping[str, Any]]) -> Any:
        self._require_advanced()
        about = About("node", node_id, invalid=InvalidDocument)
        return plain(self._session.put(f"nodes/{node_id}/vms_conf/", {"vms_conf": plain(vms)}, about))

    def spawn_vms(self, cluster_id: int) -> None:
        self._require_advanced()
        self._session.put(f"clusters/{cluster_id}/spawn_vms/", {}, About("environment", cluster_id))

    def create_snapshot(self, config: Mapping[str, Any]) -> int:
        about = About("configuration", "of a snapshot", invalid=InvalidDocument)
        return _task(self._session.put("logs/package", plain(config), about))

    def snapshot_config(self) -> Mapping[str, Any]:
        return Answer(self._session.get("logs/package/config/default/"), "configuration of a snapshot").rest()

    def snapshot(self, task_id: int) -> Snapshot:
        task = Answer(self._session.get(f"transactions/{task_id}/", About("run", task_id)), "task")
        if task.text("name") != _SNAPSHOT:
            hint = f"Task {task_id} is a {task.text('name')}. `fuel2 snapshot create` prints the id of its task."
            raise NotFound("snapshot", task_id, hint=hint)
        status, message = task.text("status"), task.text("message")
        if status == _READY:
            return Snapshot(status, f"{self._session.master.url}{message}")
        return Snapshot(status, message=message)

    def test_sets(self, cluster_id: int) -> Sequence[TestSet]:
        data = self._session.get(f"{_OSTF}testsets/{cluster_id}/", About("environment", cluster_id))
        return [test_set_from(record) for record in objects(data, "test set")]

    def start_tests(
        self, cluster_id: int, names: Sequence[str], credentials: OstfCredentials, *, force: bool = False
    ) -> Sequence[TestRun]:
        self._require_testable(cluster_id, force=force)
        chosen = list(names) or [test_set.id for test_set in self.test_sets(cluster_id)]
        body = [test_order_to(cluster_id, name, credentials) for name in chosen]
        return _test_runs(self._session.post(f"{_OSTF}testruns/", body, About("environment", cluster_id)))

    def test_runs(self) -> Sequence[TestRun]:
        return _test_runs(self._session.get(f"{_OSTF}testruns/"))

    def test_run(self, run_id: int) -> TestRun:
        data = self._session.get(f"{_OSTF}testruns/{run_id}/", About("test run", run_id))
        if not data:  # which is how OSTF says it
            raise NotFound("test run", run_id, hint="See `fuel2 health status list`.")
        return test_run_from(data)

    def stop_tests(self, run_id: int) -> TestRun:
        return self._change_tests(run_id, "stopped")

    def restart_tests(self, run_id: int) -> TestRun:
        return self._change_tests(run_id, "restarted")

    def _change_tests(self, run_id: int, status: str) -> TestRun:
        body = [{"id": run_id, "status": status}]
        runs = _test_runs(self._session.put(f"{_OSTF}testruns/", body, About("test run", run_id)))
        if not runs:
            raise NotFound("test run", run_id, hint="See `fuel2 health status list`.")
        return runs[0]

    def _require_testable(self, cluster_id: int, *, force: bool) -> None:
        """Raise `Conflict` for an environment that health checks would only fail on, unless `force`."""
        cluster = Answer(self._session.get(f"clusters/{cluster_id}/", About("environment", cluster_id)), "environment")
        status = cluster.text("status")
        if force:
            return
        if status not in _DEPLOYED:
            raise Conflict(
                f"Environment {cluster_id} is not ready to run health check because it is in '{status}' state.",
                hint="Deploy it first, or run them with --force; they will likely fail.",
            )
        if cluster.truth("is_customized"):
            raise Conflict(
                f"The deployment facts of environment {cluster_id} were updated.",
                hint="Health checks will likely fail because of that; run them with --force.",
            )

    def _require_advanced(self) -> None:
        """Raise `Unsupported` if the master does not have the feature group of virtual machines."""
        if _ADVANCED not in Answer(self._session.version, "version").texts("feature_groups"):
            raise Unsupported(
                "Advanced feature should be enabled in feature groups of the master.",
                hint="Add `advanced` to FEATURE_GROUPS of the master, and restart Nailgun.",
            )


def _test_runs(data: Any) -> Sequence[TestRun]:
    return [test_run_from(record) for record in objects(data, "test run")]


def _task(data: Any) -> int:
    """Return the id of the task that an answer describes."""
    return Answer(data, "task").identifier()


def _whose(node_ids: Iterable[int] | None, role: str | None) -> dict[str, Any]:
    stated = {"node_ids": list(node_ids) if node_ids else None, "node_role": role}
    return {key: value for key, value in stated.items() if value is not None}


def _template(cluster_id: int) -> str:
    return f"clusters/{cluster_id}/network_configuration/template"


def _extensions(cluster_id: int) -> str:
    return f"clusters/{cluster_id}/extensions/"


def _provisioning(cluster_id: int) -> str:
    return f"clusters/{cluster_id}/orchestrator/provisioning/"


def _environment(cluster_id: int) -> About:
    return About("environment", cluster_id, invalid=InvalidDocument)


def _config(config_id: int) -> About:
    return About("OpenStack configuration", config_id)
