"""The checks on every task file of the corpus: what its authors got wrong, and nothing else."""

from __future__ import annotations

import pytest
from corpus import corpus

from fuelclient import files
from fuelclient.errors import InvalidDocument
from fuelclient.expressions.readable import refusals
from fuelclient.graph.validate import check_document
from fuelclient.model.finding import Finding
from fuelclient.serializers.graph import document_from

pytestmark = pytest.mark.corpus


def _findings() -> list[tuple[str, Finding]]:
    """Every finding of the checks of tasks (G009 and G011 on), with the file it is in."""
    result = []
    root = corpus()
    for path in sorted(root.rglob("*tasks.yaml")):
        try:
            document = document_from(files.load(str(path)), owner_label="some")
        except InvalidDocument:
            continue
        where = str(path.relative_to(root))
        told = (*check_document(document, None, None), *refusals(document))
        result += [(where, finding) for finding in told if finding.code == "G009" or finding.code >= "G011"]
    return result


def test_typos_are_found_and_nothing_is_mistaken_for_one() -> None:
    result = [(where, finding.place.line, finding.hint) for where, finding in _findings() if finding.code == "G009"]

    newton = "fuel-library/newton/deployment/puppet/openstack_tasks/examples/openstack-cinder/tasks.yaml"
    assert result == [
        (newton, 50, "Did you mean cross-depended-by?"),
        (
            "fuel-web/newton/nailgun/nailgun/fixtures/deployment_tasks.yaml", 213,
            "Move it into them: parameters: {timeout: ...}.",
        ),
        ("odd/dup-ids/fuel-plugin-vmware-dvs-44df7fe3-deployment_tasks.yaml", 58, "Did you mean required_for?"),
        ("odd/unknown-keys/fuel-plugin-kubernetes-80ddc318-deployment_tasks.yaml", 17, "Did you mean required_for?"),
        ("odd/unknown-keys/fuel-plugin-vmware-dvs-8e25a857-deployment_tasks.yaml", 26, "Did you mean required_for?"),
        ("plugins/fuel-plugin-kubernetes/deployment_tasks.yaml", 17, "Did you mean required_for?"),
    ]  # fmt: skip


def test_nothing_else_is_wrong_but_what_the_corpus_is_known_for() -> None:
    result = [(where, finding.code, finding.task) for where, finding in _findings() if finding.code != "G009"]

    assert result == [
        (
            "odd/dup-keys/fuel-plugin-elasticsearch-kibana-aa0b0fe9-deployment_tasks.yaml",
            "G046",
            "enable_quorum-elasticsearch_kibana",
        ),
        ("odd/no-parameters/fuel-plugin-swiftstack-9cd121cc-deployment_tasks.yaml", "G013", "upload_cirros"),
        ("odd/odd-stage/fuel-plugin-dynatrace-258287ce-tasks.yaml", "G011", "some:monitoring#1"),
        ("odd/odd-stage/fuel-plugin-dynatrace-258287ce-tasks.yaml", "G011", "some:monitoring#2"),
    ]


def test_an_unknown_stage_lists_the_known() -> None:
    hints = {finding.hint for _, finding in _findings() if finding.code == "G011"}

    assert hints == {"Stages: pre_deployment, post_deployment."}
