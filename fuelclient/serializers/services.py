"""What a Fuel master keeps beside deployments, from its JSON to values.

Nailgun sends extensions, configurations and network groups; OSTF, the service of health checks, sends test sets and
test runs.
"""

from __future__ import annotations

from typing import Any

from fuelclient.model.services import (
    Extension,
    HealthTest,
    NetworkGroup,
    OpenstackConfig,
    OstfCredentials,
    TestRun,
    TestSet,
)
from fuelclient.serializers.answer import Answer


def extension_from(data: Any) -> Extension:
    answer = Answer(data, "extension")
    return Extension(
        answer.stated("name"), answer.text("version"), answer.text("description"), answer.texts("provides")
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
        answer.identifier(), answer.stated("name"), answer.optional("vlan_start"), answer.text("cidr") or None,
        answer.text("gateway") or None, answer.optional("group_id"), answer.mapping("meta"),
    )  # fmt: skip


def test_set_from(data: Any) -> TestSet:
    answer = Answer(data, "test set")
    return TestSet(answer.stated("id"), answer.text("name"))


def test_run_from(data: Any) -> TestRun:
    answer = Answer(data, "test run")
    tests = [Answer(test, "health check") for test in answer.items("tests")]
    return TestRun(
        answer.identifier(), answer.stated("testset"), answer.optional("cluster_id"), answer.text("status"),
        answer.moment("started_at"), answer.moment("ended_at"),
        tuple(HealthTest(test.text("name"), test.text("status"), test.text("message")) for test in tests),
    )  # fmt: skip


def test_order_to(cluster_id: int, name: str, credentials: OstfCredentials) -> dict[str, Any]:
    """Return the order to run one test set on an environment."""
    metadata: dict[str, Any] = {"config": {}, "cluster_id": cluster_id}
    stated = {
        "ostf_os_tenant_name": credentials.tenant,
        "ostf_os_username": credentials.username,
        "ostf_os_password": credentials.password,
    }
    if credentials.stated:
        metadata["ostf_os_access_creds"] = {key: value for key, value in stated.items() if value is not None}
    return {"testset": name, "metadata": metadata}
