"""What only a Fuel master does: verify networks, keep templates and extensions, provision, diagnose, check health."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from fuelclient.backends.http.answers import About
from fuelclient.backends.nailgun.facet import OSTF, Facet, Resource, given, resource
from fuelclient.backends.nailgun.inventory import NEUTRON
from fuelclient.errors import Conflict, InvalidDocument, NotFound, Unsupported
from fuelclient.model import services
from fuelclient.model.cluster import ClusterStatus
from fuelclient.serializers.answer import Answer, objects
from fuelclient.serializers.values import plain

_TEMPLATE = "network_configuration/template"
_PROVISIONING = "orchestrator/provisioning/"
_DEPLOYED = frozenset((ClusterStatus.ERROR, ClusterStatus.OPERATIONAL, ClusterStatus.UPDATE_ERROR))
_GROUP_DEFAULTS: Mapping[str, Any] = {
    "notation": "cidr", "render_type": None, "map_priority": 2, "configurable": True, "use_gateway": False,
}  # fmt: skip
"""Defaults for a network group; Nailgun refuses to create one without these keys."""


Value = TypeVar("Value")


class Services(Facet):
    """Network checks and templates, provisioning, OpenStack's own configuration, diagnosis and health checks.

    This facet has no protocol, because other backends have an `unsupported` value in its place. All methods raise
    `NotFound` for an id that does not exist, and errors for requests that the master refuses.
    """

    invalid = InvalidDocument

    def verify_networks(self, cluster_id: int) -> int:
        """Check the networks of an environment on its nodes. Return the id of the task that does this."""
        return _task(self._at(cluster_id, f"{NEUTRON}/verify").put(self._at(cluster_id, NEUTRON).get()))

    def network_template(self, cluster_id: int) -> Any:
        """None if the environment has none."""
        return plain(self._at(cluster_id, _TEMPLATE).get())

    def set_network_template(self, cluster_id: int, template: Mapping[str, Any]) -> None:
        self._at(cluster_id, _TEMPLATE).put(plain(template))

    def delete_network_template(self, cluster_id: int) -> None:
        self._at(cluster_id, _TEMPLATE).delete()

    def network_groups(self) -> Sequence[services.NetworkGroup]:
        """The network groups of all environments, in the order of the master."""
        return _listed(_network_group, self._session.get("networks/"), "network group")

    def network_group(self, group_id: int) -> services.NetworkGroup:
        return _network_group(resource(self._session, "network group", group_id).get())

    def create_network_group(
        self, group: services.NetworkGroup, *, release_id: int | None = None
    ) -> services.NetworkGroup:
        """Create a network group; its `meta` overrides the defaults of Nailgun's clients."""
        common = {"name": group.name, "cidr": group.cidr, "vlan_start": group.vlan_start}
        meta = {**_GROUP_DEFAULTS, **common, **plain(group.meta)}
        body = {**common, "release": release_id, "gateway": group.gateway, "group_id": group.group_id, "meta": meta}
        about = About("node group", group.group_id, invalid=InvalidDocument)
        return _network_group(self._session.post("networks/", about, body))

    def update_network_group(self, group_id: int, changes: Mapping[str, Any]) -> services.NetworkGroup:
        """Change the fields of a network group that `changes` has, under the names of `NetworkGroup`."""
        group = resource(self._session, "network group", group_id, invalid=InvalidDocument)
        return _network_group(group.put(plain(changes)))

    def delete_network_group(self, group_id: int) -> None:
        resource(self._session, "network group", group_id).delete()

    def extensions(self) -> Sequence[services.Extension]:
        records = objects(self._session.get("extensions/"), "extension")
        return [Answer(record, "extension").into(services.Extension, "name") for record in records]

    def extensions_of(self, cluster_id: int) -> tuple[str, ...]:
        return Answer({"names": self._at(cluster_id, "extensions/").get()}, "environment's extensions").texts("names")

    def enable_extensions(self, cluster_id: int, names: Sequence[str]) -> None:
        self._at(cluster_id, "extensions/").put(list(names))

    def disable_extensions(self, cluster_id: int, names: Sequence[str]) -> None:
        self._at(cluster_id, "extensions/").delete(extension_names=tuple(names))

    def provisioning_facts(
        self, cluster_id: int, *, default: bool, nodes: Sequence[int] | None = None, split: bool = True
    ) -> Mapping[str, Any]:
        """The facts for provisioning: of the `engine`, and a list of `nodes`; empty if none were uploaded."""
        facts = self._at(cluster_id, f"{_PROVISIONING}{'defaults/' if default else ''}")
        data = facts.get(nodes=tuple(nodes) if nodes else None, split=split)
        return Answer(data, "environment's provisioning facts").rest()

    def set_provisioning_facts(self, cluster_id: int, facts: Mapping[str, Any]) -> None:
        self._at(cluster_id, _PROVISIONING).put(plain(facts))

    def delete_provisioning_facts(self, cluster_id: int) -> None:
        self._at(cluster_id, _PROVISIONING).delete()

    def openstack_configs(
        self, cluster_id: int, *, node_ids: Sequence[int] | None = None, role: str | None = None, active: bool = True
    ) -> Sequence[services.OpenstackConfig]:
        """The configurations of an environment, or those for these nodes or this role."""
        data = self._configs(cluster_id).get(
            cluster_id=cluster_id, node_ids=tuple(node_ids) if node_ids else None, node_role=role, is_active=str(active)
        )
        return _listed(_openstack_config, data, "OpenStack configuration")

    def openstack_config(self, config_id: int) -> services.OpenstackConfig:
        return _openstack_config(resource(self._session, "OpenStack configuration", config_id).get())

    def create_openstack_config(
        self, cluster_id: int, configuration: Any, *, node_ids: Sequence[int] | None = None, role: str | None = None
    ) -> Sequence[services.OpenstackConfig]:
        """Store a configuration for an environment, for each of these nodes, or for a role."""
        scope = given(node_ids=list(node_ids) if node_ids else None, node_role=role)
        body = {"cluster_id": cluster_id, "configuration": plain(configuration), **scope}
        return _listed(_openstack_config, self._configs(cluster_id).post(body), "OpenStack configuration")

    def execute_openstack_configs(
        self, cluster_id: int, *, node_ids: Sequence[int] | None = None, role: str | None = None, force: bool = False
    ) -> int:
        """Deploy the configurations of an environment. Return the id of the task that does this."""
        scope = given(node_ids=list(node_ids) if node_ids else None, node_role=role)
        body = {"cluster_id": cluster_id, "force": force, **scope}
        return _task(self._session.put("openstack-config/execute/", About("environment", cluster_id), body))

    def delete_openstack_config(self, config_id: int) -> None:
        resource(self._session, "OpenStack configuration", config_id).delete()

    def _configs(self, cluster_id: int) -> Resource:
        return Resource(self._session, "openstack-config/", About("environment", cluster_id, invalid=InvalidDocument))

    def vms(self, node_id: int) -> Any:
        self._require_advanced()
        return (
            Answer(resource(self._session, "node", node_id, "vms_conf/").get(), "node's virtual machines")
            .rest()
            .get("vms_conf")
        )

    def set_vms(self, node_id: int, vms: Sequence[Mapping[str, Any]]) -> Any:
        self._require_advanced()
        machines = resource(self._session, "node", node_id, "vms_conf/", invalid=InvalidDocument)
        return plain(machines.put({"vms_conf": plain(vms)}))

    def spawn_vms(self, cluster_id: int) -> None:
        self._require_advanced()
        resource(self._session, "environment", cluster_id, "spawn_vms/").put({})

    def create_snapshot(self, config: Mapping[str, Any]) -> int:
        """Collect a diagnostic snapshot. Return the id of the task that does this."""
        about = About("configuration", "of a snapshot", invalid=InvalidDocument)
        return _task(self._session.put("logs/package", about, plain(config)))

    def snapshot_config(self) -> Mapping[str, Any]:
        return Answer(self._session.get("logs/package/config/default/"), "configuration of a snapshot").rest()

    def snapshot(self, task_id: int) -> services.Snapshot:
        """The state of a snapshot. Raise `NotFound` if the task is of another kind."""
        task = Answer(resource(self._session, "run", task_id).get(), "task")
        if task.text("name") != "dump":
            hint = f"Task {task_id} is a {task.text('name')}. `fuel2 snapshot create` prints the id of its task."
            raise NotFound("snapshot", task_id, hint=hint)
        status, message = task.text("status"), task.text("message")
        if status == "ready":
            return services.Snapshot(status, f"{self._session.master.url}{message}")
        return services.Snapshot(status, message=message)

    def test_sets(self, cluster_id: int) -> Sequence[services.TestSet]:
        data = self._session.get(f"{OSTF}testsets/{cluster_id}/", About("environment", cluster_id))
        return [Answer(record, "test set").into(services.TestSet, "id") for record in objects(data, "test set")]

    def start_tests(
        self, cluster_id: int, names: Sequence[str], credentials: services.OstfCredentials, *, force: bool = False
    ) -> Sequence[services.TestRun]:
        """Run sets of health checks (none named: all).

        Raise `Conflict`, unless `force`, if the environment is not deployed or its facts were changed.
        """
        self._require_testable(cluster_id, force=force)
        chosen = list(names) or [test_set.id for test_set in self.test_sets(cluster_id)]
        body = [_test_run_request(cluster_id, name, credentials) for name in chosen]
        data = self._session.post(f"{OSTF}testruns/", About("environment", cluster_id), body)
        return _listed(_test_run, data, "test run")

    def test_runs(self) -> Sequence[services.TestRun]:
        return _listed(_test_run, self._session.get(f"{OSTF}testruns/"), "test run")

    def test_run(self, run_id: int) -> services.TestRun:
        data = resource(self._session, "test run", run_id).get()
        if not data:  # OSTF answers so if there is no such run
            raise NotFound("test run", run_id, hint="See `fuel2 health status list`.")
        return _test_run(data)

    def stop_tests(self, run_id: int) -> services.TestRun:
        return self._change_tests(run_id, "stopped")

    def restart_tests(self, run_id: int) -> services.TestRun:
        return self._change_tests(run_id, "restarted")

    def _change_tests(self, run_id: int, status: str) -> services.TestRun:
        data = self._session.put(f"{OSTF}testruns/", About("test run", run_id), [{"id": run_id, "status": status}])
        if not (runs := _listed(_test_run, data, "test run")):
            raise NotFound("test run", run_id, hint="See `fuel2 health status list`.")
        return runs[0]

    def _require_testable(self, cluster_id: int, *, force: bool) -> None:
        """Raise `Conflict`, unless `force`, for an environment that would probably fail the health checks."""
        cluster = self._master.clusters.get(cluster_id)
        if force:
            return
        if cluster.status not in _DEPLOYED:
            raise Conflict(
                f"Environment {cluster_id} is not ready to run health check because it is in '{cluster.status}' state.",
                hint="Deploy it first, or run them with --force; they will likely fail.",
            )
        if cluster.is_customized:
            raise Conflict(
                f"The deployment facts of environment {cluster_id} were updated.",
                hint="Health checks will likely fail because of that; run them with --force.",
            )

    def _require_advanced(self) -> None:
        """Raise `Unsupported` if the master lacks the feature group of virtual machines."""
        if "advanced" not in self._master.version().feature_groups:
            raise Unsupported(
                "Advanced feature should be enabled in feature groups of the master.",
                hint="Add `advanced` to FEATURE_GROUPS of the master, and restart Nailgun.",
            )


def _listed(read: Callable[[Any], Value], data: Any, noun: str) -> Sequence[Value]:
    return [read(record) for record in objects(data, noun)]


def _task(data: Any) -> int:
    return Answer(data, "task").identifier()


def _openstack_config(data: Any) -> services.OpenstackConfig:
    return Answer(data, "OpenStack configuration").into(services.OpenstackConfig, "id", "cluster_id")


def _network_group(data: Any) -> services.NetworkGroup:
    return Answer(data, "network group").into(services.NetworkGroup, "id", "name")


def _test_run(data: Any) -> services.TestRun:
    answer = Answer(data, "test run")
    tests = tuple(Answer(test, "health check").into(services.HealthTest) for test in answer.items("tests"))
    return answer.into(services.TestRun, "id", "testset", tests=tests)


def _test_run_request(cluster_id: int, name: str, credentials: services.OstfCredentials) -> dict[str, Any]:
    metadata: dict[str, Any] = {"config": {}, "cluster_id": cluster_id}
    if credentials.any_given:
        metadata["ostf_os_access_creds"] = given(
            ostf_os_tenant_name=credentials.tenant, ostf_os_username=credentials.username,
            ostf_os_password=credentials.password,
        )  # fmt: skip
    return {"testset": name, "metadata": metadata}
