"""Packages come out of the store as they went in, but for what has tables of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from corpus import corpus

from fuelclient.model.document import Marked
from fuelclient.model.graph import GraphDocument
from fuelclient.model.package import Contents, Package, ReleaseRecord
from fuelclient.model.plugin import Plugin
from fuelclient.model.task import Source, Task
from fuelclient.plugins.load import load_package
from fuelclient.store import plugins
from fuelclient.store.database import Connection

CONTENTS = Contents(
    graphs={
        "default": GraphDocument(
            (
                Task(
                    "a", {"type": "shell", "condition": False}, Source("x.rpm!/deployment_tasks.yaml", 3, {"type": 4})
                ),
                Task("p:pre_deployment#1", {"stage": "pre_deployment"}, legacy=True),
            ),
            "named",
            {"on_stop": {}},
        ),
        "empty": GraphDocument(()),
    },
    roles={"watcher": Marked({"name": "W", "limits": {"min": 1}}, 7, {"name": 8})},
    tags={"watcher": {"has_primary": True}},
    volumes={"volumes_roles_mapping": {}, "volumes": [{"id": "v"}]},
    network_roles=({"id": "n"},),
    components=({"name": "storage:x"},),
    attributes={"metadata": {"label": "L"}, "x": {"value": None}},
    files={"node_roles.yaml": "roles/liberty.yaml"},
)
PACKAGE = Package(
    metadata={"name": "a", "version": "1.0.0", "package_version": "5.0.0", "is_hotpluggable": False},
    contents=CONTENTS,
    records=(
        ReleaseRecord("ubuntu", "mitaka-9.0", ("ha",), {"os": "ubuntu"}, replace(CONTENTS, graphs={})),
        ReleaseRecord("centos", "liberty-8.0"),
    ),
    scripts=("deployment_scripts/x.sh",),
)


def test_a_package_comes_back_as_it_was_put(connection: Connection) -> None:
    plugin_id = plugins.insert(connection, Plugin(0, "a", "1.0.0"))
    assert plugins.package(connection, plugin_id) is None
    plugins.put_package(connection, plugin_id, PACKAGE)
    result = plugins.package(connection, plugin_id)
    assert result == PACKAGE
    assert result is not None
    assert list(result.contents.graphs["default"].tasks[0].attributes) == ["type", "condition"]


@pytest.mark.corpus
@pytest.mark.parametrize("kind", ["plugins", "plugins-branches", "fpb-examples"])
def test_real_packages_come_back_whole(connection: Connection, kind: str) -> None:
    directories = sorted(path.parent for path in corpus(kind).glob("*/metadata.yaml"))
    assert directories
    plugin_id = plugins.insert(connection, Plugin(0, "a", "1.0.0"))
    for directory in directories:
        package = load_package(Path(directory))
        plugins.put_package(connection, plugin_id, package)
        result = plugins.package(connection, plugin_id)
        assert result is not None
        assert result.contents.graphs == {
            kind: replace(graph, findings=()) for kind, graph in package.contents.graphs.items()
        }
        same = replace(result, contents=package.contents, records=(), metadata={}, releases=())
        assert same == replace(package, records=(), metadata={}, releases=())
        assert [record.version for record in result.records] == [record.version for record in package.records]
