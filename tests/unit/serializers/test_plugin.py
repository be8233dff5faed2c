"""Plugins as a server tells of them."""

from __future__ import annotations

import json

from refusals import refused

from fuelclient.errors import InvalidDocument
from fuelclient.model.plugin import Plugin
from fuelclient.serializers.plugin import plugin_from, plugin_to

METADATA = {
    "name": "lma", "title": "LMA", "version": "1.2.3", "package_version": "4.0.0", "description": "d",
    "releases": [{"os": "ubuntu", "version": "mitaka-9.0"}], "groups": ["monitoring"], "authors": ["a"],
    "licenses": ["Apache"], "homepage": "http://h", "fuel_version": ["9.0"], "is_hotpluggable": True,
    "roles_metadata": {"lma": {"name": "LMA"}}, "x_own": None,
}  # fmt: skip
PLUGIN = Plugin(4, "lma", "1.2.3", "LMA", "4.0.0", METADATA)


def test_what_is_written_reads_as_it_was() -> None:
    record = plugin_to(PLUGIN)
    assert json.loads(json.dumps(record)) == record
    assert plugin_from(record) == PLUGIN


def test_clients_find_what_a_package_does_not_say() -> None:
    record = plugin_to(Plugin(1, "a", "1.0.0"))
    assert (record["releases"], record["homepage"], record["is_hotpluggable"]) == ([], None, False)


def test_a_master_says_less() -> None:
    told = {"id": 1, "name": "a", "title": "A", "version": "1.0.0", "package_version": "4.0.0", "releases": []}
    result = plugin_from(told)
    assert (result.label, result.title, result.clusters, result.releases) == ("a-1.0.0", "A", (), ())
    assert result.metadata["releases"] == []


def test_a_plugin_without_a_version_is_none() -> None:
    with refused(InvalidDocument, "version of one plugin"):
        plugin_from({"id": 1, "name": "a"})
