"""Every error and warning about real packages, beside the releases of the corpus, with the line that deserves it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import yaml
from case_files import all_cases
from corpus import corpus

from fuelclient import files
from fuelclient.backends.local import LocalBackend
from fuelclient.commands.plugins.check import Context, findings_of, release_contexts, with_tasks
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.graph import Level, OwnerRef
from fuelclient.serializers.graph import documents_from
from fuelclient.serializers.release import releases_from

pytestmark = pytest.mark.corpus

_PACKAGES: dict[str, Sequence[str]] = {
    name: entries for case in all_cases("plugins-together") for name, entries in case["packages"].items()
}
_QUICK = {"haproxy", "kibana", "kubernetes"}
"""The last parts of the names of packages that are always tried: they have errors, or names that nothing defines."""


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sequence[Context]]:
    """The releases of 9.0 and newton; those on plain Ubuntu have their graphs, and the others none."""
    engine = LocalBackend(str(tmp_path_factory.mktemp("engine") / "engine.db"))
    for version in ("9.0", "newton"):
        fixture = corpus("fuel-web", version, "nailgun", "nailgun", "fixtures", "openstack.yaml")
        created = engine.releases.create(releases_from(files.load(str(fixture))))
        (ubuntu,) = [release.id for release in created if re.search(r"Ubuntu [\d.]+$", release.name)]
        tasks = files.task_files(str(corpus("fuel-library", version, "deployment", "puppet")))
        document = documents_from([files.load(path) for path in tasks], owner_label="release")
        engine.graphs.upload(OwnerRef(Level.RELEASE, ubuntu), document, "default")
    yield [Context(one.environment, one.layers, only_if_supported=True) for one in with_tasks(release_contexts(engine))]
    engine.close()


@pytest.mark.parametrize(
    "name",
    [name if name.rpartition("-")[2] in _QUICK else pytest.param(name, marks=pytest.mark.slow) for name in _PACKAGES],
)
def test_a_package_has_these_findings(name: str, beside: Sequence[Context]) -> None:
    package = corpus(*name.split("/"))
    findings = [known for known in findings_of(package, beside) if known.severity is not Severity.INFO]

    stated = [f"{known.severity} {known.code} {_relative(known, package)}" for known in findings]
    assert sorted(stated) == sorted(" ".join(entry.split()[:3]) for entry in _PACKAGES[name])
    words = {tuple(entry.split()[1:3]): entry.split()[3:] for entry in _PACKAGES[name]}
    for known in findings:
        text = Path(known.place.file).read_text("utf-8")
        line = text.splitlines()[known.place.line - 1]
        assert all(word in line for word in words[known.code, _relative(known, package)]), known
        if known.task and not known.task.startswith("on line "):  # an entry of tasks.yaml has no id
            assert _tasks(text)[known.place.line] == known.task, known


def _relative(finding: Finding, package: Path) -> str:
    return f"{Path(finding.place.file).relative_to(package)}:{finding.place.line}"


def _tasks(text: str) -> dict[int, str]:
    """Return the id of the task that each line of a file belongs to."""
    root = yaml.compose(text)
    if isinstance(root, yaml.MappingNode):
        (root,) = [value for key, value in root.value if key.value == "tasks"]
    assert isinstance(root, yaml.SequenceNode)
    return {
        line + 1: value.value
        for record in root.value
        for key, value in record.value
        if key.value == "id"
        for line in range(record.start_mark.line, record.end_mark.line + 1)
    }


def test_every_package_of_the_corpus_has_an_entry() -> None:
    folders = ("plugins", "plugins-branches", "fpb-examples", "release-plugins")
    known = {f"{folder}/{path.parent.name}" for folder in folders for path in corpus(folder).glob("*/metadata.yaml")}
    assert known == set(_PACKAGES)
