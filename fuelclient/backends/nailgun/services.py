"""What only a Fuel master does: verify networks, keep templates and extensions, provision, diagnose, check health."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from fuelclient.backends.http.answers import About
from fuelclient.backends.nailgun.facet import OSTF, Facet, Resource, resource
from fuelclient.backends.nailgun.inventory import NEUTRON
from fuelclient.errors import Conflict, InvalidDocument, NotFound, Unsupported
from fuelclient.model.cluster import ClusterStatus
from fuelclient.model.services import (
    Extension,
    HealthTest,
    NetworkGroup,
    OpenstackConfig,
    OstfCredentials,
    Snapshot,
    TestRun,
    TestSet,
)
from fuelclient.serializers.answer import Answer, objects
from fuelclient.serializers.values import plain

_TEMPLATE = "network_configuration/template"
_PROVISIONING = "orchestrator/provisioning/"
_DEPLOYED = frozenset((ClusterStatus.ERROR, ClusterStatus.OPERATIONAL, ClusterStatus.UPDATE_ERROR))
_GROUP: Mapping[str, Any] = {
    "notation": "cidr", "render_type": None, "map_priority": 2, "configurable": True, "use_gateway": False,
}  # fmt: skip
"""What Nailgun needs to know of a network group, unless its creator says otherwise."""


Value = TypeVar("Value")


class Services(Facet):
    """Networks as nodes see them, provisioning, OpenStack's own configuration, diagnosis and health checks.

    Other backends have an `unsupported` value in place of this facet, so no protocol repeats it. All methods raise
    `NotFound` for an id that does not exist, and the errors of the master for what it refuses.
    """

    invalid = InvalidDocument

    def verify_networks(self, cluster_id: int) -> int:
        """Let nodes check the networks of an environment, and return the id of the task."""
        configuration = self._at(cluster_id, NEUTRON).get()
        return _task(self._at(cluster_id, f"{NEUTRON}/verify").put(configuration))

    def network_template(self, cluster_id: int) -> Any:
        """Return the network template of an environment; None if it has none."""
        return plain(self._at(cluster_id, _TEMPLATE).get())

    def set_network_template(self, cluster_id: int, template: Mapping[str, Any]) -> None:
        self._at(cluster_id, _TEMPLATE).put(plain(template))

    def delete_network_template(self, cluster_id: int) -> None:
        self._at(cluster_id, _TEMPLATE).delete()

    def network_groups(self) -> Sequence[NetworkGroup]:
        """Return the network groups of all environments, in the order of the master."""
        return _listed(network_group_from, self._session.get("networks/"), "network group")

    def network_group(self, group_id: int) -> NetworkGroup:
        return network_group_from(self._other("network group", group_id).get())

    def create_network_group(self, group: NetworkGroup, *, release_id: int | None = None) -> NetworkGroup:
        """Create a network group; its `meta` comes over what Nailgun's clients state by default."""
        stated = {"name": group.name, "cidr": group.cidr, "vlan_start": group.vlan_start}
        meta = {**_GROUP, **stated, **plain(group.meta)}
        body = {**stated, "release": release_id, "gateway": group.gateway, "group_id": group.group_id, "meta": meta}
        about = About("node group", group.group_id, invalid=InvalidDocument)
        return network_group_from(self._session.post("networks/", body, about))

    def update_network_group(self, group_id: int, changes: Mapping[str, Any]) -> NetworkGroup:
        """Change the fields of a network group that `changes` has, under the names of `NetworkGroup`."""
        group = resource(self._session, "network group", group_id, invalid=InvalidDocument)
        return network_group_from(group.put(plain(changes)))

    def delete_network_group(self, group_id: int) -> None:
        self._other("network group", group_id).delete()

    def extensions(self) -> Sequence[Extension]:
        """Return the extensions that the master has."""
        return _listed(extension_from, self._session.get("extensions/"), "extension")

    def extensions_of(self, cluster_id: int) -> tuple[str, ...]:
        """Return the names of the extensions that are enabled in an environment."""
        names = self._at(cluster_id, "extensions/").get()
        return Answer({"names": names}, "environment's extensions").texts("names")

    def enable_extensions(self, cluster_id: int, names: Sequence[str]) -> None:
        self._at(cluster_id, "extensions/").put(list(names))

    def disable_extensions(self, cluster_id: int, names: Sequence[str]) -> None:
        self._at(cluster_id, "extensions/").delete(extension_names=tuple(names))

    def provisioning_facts(
        self, cluster_id: int, *, default: bool, nodes: Sequence[int] | None = None, split: bool = True
    ) -> Mapping[str, Any]:
        """Return the facts for provisioning: of the `engine`, and a list of `nodes`; empty if none were uploaded."""
        facts = self._at(cluster_id, f"{_PROVISIONING}{'defaults/' if default else ''}")
        data = facts.get(nodes=tuple(nodes) if nodes else None, split=split)
        return Answer(data, "environment's provisioning facts").rest()

    def set_provisioning_facts(self, cluster_id: int, facts: Mapping[str, Any]) -> None:
        self._at(cluster_id, _PROVISIONING).put(plain(facts))

    def delete_provisioning_facts(self, cluster_id: int) -> None:
        self._at(cluster_id, _PROVISIONING).delete()

    def openstack_configs(
        self, cluster_id: int, *, node_ids: Sequence[int] | None = None, role: str | None = None, active: bool = True
    ) -> Sequence[OpenstackConfig]:
        """Return the configurations of an environment, or those for these nodes or this role."""
        data = self._configs(cluster_id).get(
            cluster_id=cluster_id, node_ids=tuple(node_ids) if node_ids else None, node_role=role, is_active=str(active)
        )
        return _listed(openstack_config_from, data, "OpenStack configuration")

    def openstack_config(self, config_id: int) -> OpenstackConfig:
        return openstack_config_from(self._other("OpenStack configuration", config_id).get())

    def create_openstack_config(
        self, cluster_id: int, configuration: Any, *, node_ids: Sequence[int] | None = None, role: str | None = None
    ) -> Sequence[OpenstackConfig]:
        """Store a configuration for an environment, for each of these nodes, or for a role."""
        body = {"cluster_id": cluster_id, "configuration": plain(configuration), **_whose(node_ids, role)}
        return _listed(openstack_config_from, self._configs(cluster_id).post(body), "OpenStack configuration")

    def execute_openstack_configs(
        self, cluster_id: int, *, node_ids: Sequence[int] | None = None, role: str | None = None, force: bool = False
    ) -> int:
        """Deploy the configurations of an environment, and return the id of the task."""
        body = {"cluster_id": cluster_id, "force": force, **_whose(node_ids, role)}
        return _task(self._session.put("openstack-config/execute/", body, About("environment", cluster_id)))

    def delete_openstack_config(self, config_id: int) -> None:
        self._other("OpenStack configuration", config_id).delete()

    def _configs(self, cluster_id: int) -> Resource:
        return Resource(self._session, "openstack-config/", About("environment", cluster_id, invalid=InvalidDocument))

    def vms(self, node_id: int) -> Any:
        """Return the configuration of the virtual machines on a node."""
        self._require_advanced()
        return Answer(self._other("node", node_id, "vms_conf/").get(), "node's virtual machines").rest().get("vms_conf")

    def set_vms(self, node_id: int, vms: Sequence[Mapping[str, Any]]) -> Any:
        """Set the configuration of the virtual machines on a node, and return the answer of the master."""
        self._require_advanced()
        machines = resource(self._session, "node", node_id, "vms_conf/", invalid=InvalidDocument)
        return plain(machines.put({"vms_conf": plain(vms)}))

    def spawn_vms(self, cluster_id: int) -> None:
        """Start the virtual machines of an environment."""
        self._require_advanced()
        self._other("environment", cluster_id, "spawn_vms/").put({})

    def create_snapshot(self, config: Mapping[str, Any]) -> int:
        """Collect a diagnostic snapshot, and return the id of the task."""
        about = About("configuration", "of a snapshot", invalid=InvalidDocument)
        return _task(self._session.put("logs/package", plain(config), about))

    def snapshot_config(self) -> Mapping[str, Any]:
        """Return what a snapshot has by default."""
        return Answer(self._session.get("logs/package/config/default/"), "configuration of a snapshot").rest()

    def snapshot(self, task_id: int) -> Snapshot:
        """Return the state of a snapshot. Raise `NotFound` if the task is of another kind."""
        task = Answer(self._other("run", task_id).get(), "task")
        if task.text("name") != "dump":
            hint = f"Task {task_id} is a {task.text('name')}. `fuel2 snapshot create` prints the id of its task."
            raise NotFound("snapshot", task_id, hint=hint)
        status, message = task.text("status"), task.text("message")
        if status == "ready":
            return Snapshot(status, f"{self._session.master.url}{message}")
        return Snapshot(status, message=message)

    def test_sets(self, cluster_id: int) -> Sequence[TestSet]:
        """Return the sets of health checks for an environment."""
        data = self._session.get(f"{OSTF}testsets/{cluster_id}/", About("environment", cluster_id))
        return _listed(test_set_from, data, "test set")

    def start_tests(
        self, cluster_id: int, names: Sequence[str], credentials: OstfCredentials, *, force: bool = False
    ) -> Sequence[TestRun]:
        """Run sets of health checks (none named: all).

        Raise `Conflict`, unless `force`, if the environment is not deployed or its facts were changed.
        """
        self._require_testable(cluster_id, force=force)
        chosen = list(names) or [test_set.id for test_set in self.test_sets(cluster_id)]
        body = [test_order_to(cluster_id, name, credentials) for name in chosen]
        data = self._session.post(f"{OSTF}testruns/", body, About("environment", cluster_id))
        return _listed(test_run_from, data, "test run")

    def test_runs(self) -> Sequence[TestRun]:
        """Return all runs of health checks."""
        return _listed(test_run_from, self._session.get(f"{OSTF}testruns/"), "test run")

    def test_run(self, run_id: int) -> TestRun:
        """Return a run of health checks with its results."""
        data = self._other("test run", run_id).get()
        if not data:  # which is how OSTF says it
            raise NotFound("test run", run_id, hint="See `fuel2 health status list`.")
        return test_run_from(data)

    def stop_tests(self, run_id: int) -> TestRun:
        return self._change_tests(run_id, "stopped")

    def restart_tests(self, run_id: int) -> TestRun:
        return self._change_tests(run_id, "restarted")

    def _change_tests(self, run_id: int, status: str) -> TestRun:
        data = self._session.put(f"{OSTF}testruns/", [{"id": run_id, "status": status}], About("test run", run_id))
        runs = _listed(test_run_from, data, "test run")
        if not runs:
            raise NotFound("test run", run_id, hint="See `fuel2 health status list`.")
        return runs[0]

    def _other(self, noun: str, key: int, below: str = "") -> Resource:
        """Return the resource of a thing to which no document is sent that could be invalid."""
        return resource(self._session, noun, key, below)

    def _require_testable(self, cluster_id: int, *, force: bool) -> None:
        """Raise `Conflict` for an environment that health checks would only fail on, unless `force`."""
        cluster = Answer(self._other("environment", cluster_id).get(), "environment")
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
        if "advanced" not in Answer(self._session.version, "version").texts("feature_groups"):
            raise Unsupported(
                "Advanced feature should be enabled in feature groups of the master.",
                hint="Add `advanced` to FEATURE_GROUPS of the master, and restart Nailgun.",
            )


def _listed(read: Callable[[Any], Value], data: Any, noun: str) -> Sequence[Value]:
    return [read(record) for record in objects(data, noun)]


def _task(data: Any) -> int:
    """Return the id of the task that an answer describes."""
    return Answer(data, "task").identifier()


def _whose(node_ids: Iterable[int] | None, role: str | None) -> dict[str, Any]:
    stated = {"node_ids": list(node_ids) if node_ids else None, "node_role": role}
    return {key: value for key, value in stated.items() if value is not None}


def extension_from(data: Any) -> Extension:
    answer = Answer(data, "extension")
    return Extension(
        answer.required("name"), answer.text("version"), answer.text("description"), answer.texts("provides")
    )


def openstack_config_from(data: Any) -> OpenstackConfig:
    answer = Answer(data, "OpenStack configuration")
    return OpenstackConfig(
        answer.identifier(), answer.identifier("cluster_id"), answer.text("config_type"), answer.truth("is_active"),
        answer.optional("node_id"), answer.text("node_role") or None, answer.mapping("configuration"),
    )  # fmt: skip


def network_group_from(data: Any) -> NetworkGroup:
    answer = Answer(data, "network group")
    return NetworkGroup(
        answer.identifier(), answer.required("name"), answer.optional("vlan_start"), answer.text("cidr") or None,
        answer.text("gateway") or None, answer.optional("group_id"), answer.mapping("meta"),
    )  # fmt: skip


def test_set_from(data: Any) -> TestSet:
    answer = Answer(data, "test set")
    return TestSet(answer.required("id"), answer.text("name"))


def test_run_from(data: Any) -> TestRun:
    answer = Answer(data, "test run")
    tests = [Answer(test, "health check") for test in answer.items("tests")]
    return TestRun(
        answer.identifier(), answer.required("testset"), answer.optional("cluster_id"), answer.text("status"),
        answer.moment("started_at"), answer.moment("ended_at"),
        tuple(HealthTest(test.text("name"), test.text("status"), test.text("message")) for test in tests),
    )  # fmt: skip


def test_order_to(cluster_id: int, name: str, credentials: OstfCredentials) -> dict[str, Any]:
    """Return the order to run one test set on an environment."""
    metadata: dict[str, Any] = {"config": {}, "cluster_id": cluster_id}
    user = {
        "ostf_os_tenant_name": credentials.tenant,
        "ostf_os_username": credentials.username,
        "ostf_os_password": credentials.password,
    }
    if credentials.stated:
        metadata["ostf_os_access_creds"] = {key: value for key, value in user.items() if value is not None}
    return {"testset": name, "metadata": metadata}
