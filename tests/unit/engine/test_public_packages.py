"""Packages of public repositories are installed, enabled and previewed on each release that they are for."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from corpus import public
from corpus_graphs import default_graph, release

from fuelclient import files
from fuelclient.backends.local import LocalBackend
from fuelclient.errors import Conflict, InvalidDocument, InvalidGraph
from fuelclient.model.finding import Finding
from fuelclient.model.graph import GraphDocument, Level, OwnerRef
from fuelclient.plan.preview import PreviewOptions
from fuelclient.plan.study import preview

pytestmark = pytest.mark.corpus

BASES = ("9.0", "newton")
"""The releases whose roles and graphs stand for those of every version; the corpus has no older ones."""

REFUSED = {"andrei4ka+kvm", "ddepaoli3+detach-swift", "marxst+rsync-backup_role", "pejotes+ceph_hammer"}
"""Packages that violate the schema of their version, so that the original builder refuses them too."""

NOT_AS_THERE: Mapping[tuple[str, str], set[str]] = {
    **{("openstack-archive+block-device", base): {"P074", "P075"} for base in BASES},
    **{("adidenko+external-lb@separate-controller-role", base): {"G043"} for base in BASES},
    ("zioc+contrail@opencontrail", "9.0"): {"G050"},
}
"""What the two releases have and those that the packages are for have not: the role cinder-block-device of 9.0; tasks
of 8.0 that a group lists; a pattern of 9.0, /(primary-)?openstack-controller/, that means a task of a package for 7.0,
as it would on a master."""

ONCE_CYCLES = ("karume+fuel7-plugin-midonet", "grebennikov+glance-nfs", "openstack-archive+glance-nfs@7.0",
               "openstack-archive+glance-nfs@6.1")  # fmt: skip
"""Packages whose `tasks.yaml` states dependencies, which Fuel does not read."""


@dataclass(slots=True)
class Site:
    """An engine with the releases that packages were tried on so far."""

    backend: LocalBackend
    directory: Path
    releases: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def tried(self, name: str) -> dict[str, set[str]]:
        """Install a package, and return what prevents previews on its releases: codes of findings by base."""
        package = self.directory / name
        shutil.copytree(public("plugins", name), package)
        for empty in ("deployment_scripts", "repositories/ubuntu", "repositories/centos"):
            (package / empty).mkdir(parents=True, exist_ok=True)
        plugin = self.backend.plugins.install(str(package)).plugin
        result: dict[str, set[str]] = {}
        records = files.load(str(package / "metadata.yaml")).data["releases"]
        for version, system in {(record["version"], record["os"]) for record in records}:
            for base in BASES:
                cluster = self.backend.clusters.create(
                    f"{version} {system} {base}", self.release(version, system, base)
                )
                result[base] = result.get(base, set()) | self.preventing(plugin.id, cluster.id)
                self.backend.clusters.delete(cluster.id)
        self.backend.plugins.remove(plugin.id)
        return result

    def release(self, version: str, system: str, base: str) -> int:
        """Return the id of a release of this version with the roles and the graph of `base`."""
        key = version, system, base
        if key not in self.releases:
            stated = replace(release(base), name=" ".join(key), version=version, operating_system=system)
            (made,) = self.backend.releases.create([stated])
            graph = GraphDocument(default_graph(base).tasks)
            self.backend.graphs.upload(OwnerRef(Level.RELEASE, made.id), graph, "default")
            self.releases[key] = made.id
        return self.releases[key]

    def preventing(self, plugin_id: int, cluster_id: int) -> set[str]:
        """Enable a plugin, preview with one and with two nodes of each role, and return the codes of errors."""
        try:
            self.backend.plugins.enable(plugin_id, cluster_id)
            snapshot = self.backend.graphs.snapshot(cluster_id)
            codes: set[str] = set()
            for count in (1, 2):
                assumed = ",".join(f"{role}={count}" for role in snapshot.roles)
                codes |= errors(preview(snapshot, PreviewOptions(assume=assumed)).findings)
        except (Conflict, InvalidGraph) as error:
            return errors(error.findings) or {str(error)}
        return codes


def errors(findings: Iterable[object]) -> set[str]:
    """Return the codes of the errors among findings."""
    return {finding.code for finding in findings if isinstance(finding, Finding) and finding.is_error}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """An empty engine."""
    backend = LocalBackend(str(tmp_path / "engine.db"))
    yield Site(backend, tmp_path)
    backend.close()


@pytest.mark.parametrize("name", ONCE_CYCLES)
def test_what_fuel_does_not_read_makes_no_cycle(site: Site, name: str) -> None:
    assert site.tried(name) == {base: set() for base in BASES}


@pytest.mark.slow
def test_every_package_is_installed_enabled_and_previewed(site: Site) -> None:
    names = sorted(path.name for path in public("plugins").iterdir() if (path / "metadata.yaml").exists())
    assert len(names) > 80
    refused: dict[str, set[str]] = {}
    prevented: dict[tuple[str, str], set[str]] = {}
    for name in names:
        try:
            found = site.tried(name)
        except InvalidDocument as error:
            refused[name] = errors(error.findings)
        else:
            prevented.update({(name, base): codes for base, codes in found.items() if codes})
    assert refused.keys() == REFUSED
    assert all("P003" in codes for codes in refused.values())
    assert prevented == NOT_AS_THERE
