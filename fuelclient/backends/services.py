"""The facet of the boundary for what only a Fuel master does; `backends.base` has the others.

Other backends have an `unsupported` value in its place. All methods raise `NotFound` for an
id that does not exist, and the errors of the master for what it refuses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from fuelclient.model.services import (
        Extension,
        NetworkGroup,
        OpenstackConfig,
        OstfCredentials,
        Snapshot,
        TestRun,
        TestSet,
    )


class Services(Protocol):
    """Networks as nodes see them, provisioning, OpenStack's own configuration, diagnosis and health checks."""

    def verify_networks(self, cluster_id: int) -> int:
        """Let nodes check the networks of an environment, and return the id of the task."""

    def network_template(self, cluster_id: int) -> Any:
        """Return the network template of an environment; None if it has none."""

    def set_network_template(self, cluster_id: int, template: Mapping[str, Any]) -> None: ...

    def delete_network_template(self, cluster_id: int) -> None: ...

    def network_groups(self) -> Sequence[NetworkGroup]:
        """Return the network groups of all environments, in the order of the master."""

    def network_group(self, group_id: int) -> NetworkGroup: ...

    def create_network_group(self, group: NetworkGroup, *, release_id: int | None = None) -> NetworkGroup:
        """Create a network group; its `meta` comes over what Nailgun's clients state by default."""

    def update_network_group(self, group_id: int, changes: Mapping[str, Any]) -> NetworkGroup:
        """Change the fields of a network group that `changes` has, under the names of `NetworkGroup`."""

    def delete_network_group(self, group_id: int) -> None: ...

    def extensions(self) -> Sequence[Extension]:
        """Return the extensions that the master has."""

    def extensions_of(self, cluster_id: int) -> tuple[str, ...]:
        """Return the names of the extensions that are enabled in an environment."""

    def enable_extensions(self, cluster_id: int, names: Sequence[str]) -> None: ...

    def disable_extensions(self, cluster_id: int, names: Sequence[str]) -> None: ...

    def provisioning_facts(
        self, cluster_id: int, *, default: bool, nodes: Sequence[int] | None = None, split: bool = True
    ) -> Mapping[str, Any]:
        """Return the facts for provisioning: of the `engine`, and a list of `nodes`; empty if none were uploaded."""

    def set_provisioning_facts(self, cluster_id: int, facts: Mapping[str, Any]) -> None: ...

    def delete_provisioning_facts(self, cluster_id: int) -> None: ...

    def openstack_configs(
        self, cluster_id: int, *, node_ids: Sequence[int] | None = None, role: str | None = None, active: bool = True
    ) -> Sequence[OpenstackConfig]:
        """Return the configurations of an environment, or those for these nodes or this role."""

    def openstack_config(self, config_id: int) -> OpenstackConfig: ...

    def create_openstack_config(
        self, cluster_id: int, configuration: Any, *, node_ids: Sequence[int] | None = None, role: str | None = None
    ) -> Sequence[OpenstackConfig]:
        """Store a configuration for an environment, for each of these nodes, or for a role."""

    def execute_openstack_configs(
        self, cluster_id: int, *, node_ids: Sequence[int] | None = None, role: str | None = None, force: bool = False
    ) -> int:
        """Deploy the configurations of an environment, and return the id of the task."""

    def delete_openstack_config(self, config_id: int) -> None: ...

    def vms(self, node_id: int) -> Any:
        """Return the configuration of the virtual machines on a node."""

    def set_vms(self, node_id: int, vms: Sequence[Mapping[str, Any]]) -> Any:
        """Set the configuration of the virtual machines on a node, and return the answer of the master."""

    def spawn_vms(self, cluster_id: int) -> None:
        """Start the virtual machines of an environment."""

    def create_snapshot(self, config: Mapping[str, Any]) -> int:
        """Collect a diagnostic snapshot, and return the id of the task."""

    def snapshot_config(self) -> Mapping[str, Any]:
        """Return what a snapshot has by default."""

    def snapshot(self, task_id: int) -> Snapshot:
        """Return the state of a snapshot. Raise `NotFound` if the task is of another kind."""

    def test_sets(self, cluster_id: int) -> Sequence[TestSet]:
        """Return the sets of health checks for an environment."""

    def start_tests(
        self, cluster_id: int, names: Sequence[str], credentials: OstfCredentials, *, force: bool = False
    ) -> Sequence[TestRun]:
        """Run sets of health checks (none named: all).

        Raise `Conflict`, unless `force`, if the environment is not deployed or its facts were changed.
        """

    def test_runs(self) -> Sequence[TestRun]:
        """Return all runs of health checks."""

    def test_run(self, run_id: int) -> TestRun:
        """Return a run of health checks with its results."""

    def stop_tests(self, run_id: int) -> TestRun: ...

    def restart_tests(self, run_id: int) -> TestRun: ...
