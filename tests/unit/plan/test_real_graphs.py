"""Real releases and plugins: they merge, they have an order, and nothing of them ends in a traceback."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import networkx  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest
from building import snapshot, task
from corpus import corpus
from corpus_graphs import RELEASE, PluginData, default_graph, plugin, read, release

from fuelclient.errors import CycleDetected
from fuelclient.graph.dag import order
from fuelclient.graph.match import Names
from fuelclient.graph.merge import merge_layers
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.graph import Layer, Level, MergedTask, MergePolicy, Owner
from fuelclient.model.release import Role, primary_tags_in, roles_in
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import RELATION_LISTS
from fuelclient.plan.expand import OF_SUCCESSORS, expand
from fuelclient.plan.order import cycle_reports, without
from fuelclient.plan.place import matching_names
from fuelclient.plan.preview import Preview, PreviewOptions
from fuelclient.plan.study import Study, preview

pytestmark = pytest.mark.corpus

FOURTEEN = "controller=3,compute=8,cinder=3"
LIBRARIES = {"mitaka-9.0": "9.0", "newton-10.0": "newton"}
PLUGINS = (
    "ceph-multibackend", "cinder-netapp", "cisco-aci", "dbaas-trove", "detach-haproxy", "detach-rabbitmq",
    "elasticsearch-kibana", "ironic", "kubernetes", "lcm", "lma-collector", "mellanox", "nsxv", "nuage", "onos",
    "solidfire-cinder", "tls", "vmware-dvs",
)  # fmt: skip
BRANCHES = ("cinder-netapp@8.0", "nsxv@8.0")


def _plugin(name: str) -> PluginData:
    return plugin(corpus("plugins-branches" if "@" in name else "plugins", f"fuel-plugin-{name}"))


def _snapshot(library: str, *plugins: PluginData, layers: Iterable[Layer] = ()) -> Snapshot:
    metadata = release(library).metadata
    known, primary = roles_in(metadata), primary_tags_in(metadata)
    for data in plugins:
        known |= data.roles
        primary |= data.primary_tags
    everything = [default_graph(library), *(data.layer for data in plugins), *layers]
    return snapshot(everything, known=known, primary=primary)


def _with_roles_of(data: PluginData) -> str:
    """Fourteen nodes of the release's roles, and two of each role that the plugin brings."""
    return ",".join([FOURTEEN, *(f"{role}=2" for role in data.roles)])


def _worst(previewed: Preview) -> Counter[tuple[str, str]]:
    return Counter(
        (str(finding.severity), finding.code) for finding in previewed.findings if finding.severity is not Severity.INFO
    )


def test_newton_on_fourteen_nodes() -> None:
    previewed = preview(_snapshot("newton"), PreviewOptions(assume=FOURTEEN))

    assert (previewed.instances, previewed.sync_points, previewed.on_master, previewed.nodes) == (930, 6, 8, 14)
    assert len(previewed.rows) == 202
    assert [row.order for row in previewed.rows] == list(range(1, 203))
    assert not _worst(previewed)


def test_rows_stand_in_execution_order() -> None:
    """Whatever a row requires and runs has begun in an earlier generation, and stands above it."""
    previewed = preview(_snapshot("newton"), PreviewOptions(assume=FOURTEEN))
    row_of = {row.task: row for row in previewed.rows}

    for row in previewed.rows:
        for name in row.requires:
            before = row_of[name]
            assert before.first_generation is not None
            assert row.last_generation is not None
            assert before.first_generation < row.last_generation


def test_tasks_run_between_the_sync_points_that_they_name() -> None:
    previewed = preview(_snapshot("newton"), PreviewOptions(assume=FOURTEEN))
    row_of = {row.task: row for row in previewed.rows}

    for stage in ("pre_deployment", "deploy", "post_deployment"):
        begin, end = row_of[f"{stage}_start"], row_of[f"{stage}_end"]
        assert begin.first_generation is not None
        assert end.first_generation is not None
        inside = [row for row in previewed.rows if begin.task in row.requires and row.type != "stage"]
        assert inside
        for row in inside:
            assert row.first_generation is not None
            assert row.first_generation > begin.first_generation
    assert row_of["netconfig"].stage == "deploy"


@pytest.mark.parametrize("library", ["9.0", "newton"])
def test_release_without_nodes_is_previewed_on_assumed_ones(library: str) -> None:
    previewed = preview(_snapshot(library), PreviewOptions())
    metadata = release(library).metadata
    primary = primary_tags_in(metadata)
    expected = sum(2 if set(role.tags) & primary else 1 for role in roles_in(metadata).values())

    assert previewed.nodes == expected
    assert previewed.assumption.startswith(f"The environment has no nodes. Assumed: {expected} nodes")
    assert _worst(previewed) == ({("warning", "G030"): 1} if library == "9.0" else {}), (
        "9.0 forgot the slashes of a pattern"
    )


def _environments(data: PluginData) -> list[Snapshot]:
    """The plugin over each release that it names and that we have, else over an empty release."""
    libraries = [LIBRARIES[version] for version in dict.fromkeys(data.releases) if version in LIBRARIES]
    if libraries:
        return [_snapshot(library, data) for library in libraries]
    return [snapshot([Layer(RELEASE), data.layer], known=data.roles, primary=data.primary_tags)]


@pytest.mark.parametrize("name", [*PLUGINS, *BRANCHES])
def test_every_plugin_merges_over_its_release_and_has_an_order(name: str) -> None:
    data = _plugin(name)
    for taken in _environments(data):
        has_nodes = len(taken.layers[0].tasks) > 0
        answer = preview(taken, PreviewOptions(assume=_with_roles_of(data) if has_nodes else ""))

        assert {row.task for row in answer.rows} == {task.id for layer in taken.layers for task in layer.tasks}
        label = data.layer.owner.label
        assert {row.task for row in answer.rows if row.layer == label} == {task.id for task in data.layer.tasks}
        assert not [finding for finding in answer.findings if finding.code in ("G005", "G020", "G044", "G050")]


@pytest.mark.parametrize("name", [*PLUGINS, *BRANCHES])
def test_every_plugin_can_be_laid_over_its_release(name: str) -> None:
    """Overlaid plugins keep dependencies that their authors meant to drop, so there may be cycles: findings."""
    data = _plugin(name)
    for taken in _environments(data):
        answer = Study(taken, PreviewOptions(policy=MergePolicy.OVERLAY)).findings

        assert {finding.code for finding in answer if finding.is_error} <= {"G043", "G050"}


def test_faults_of_real_plugins_are_found_at_their_lines() -> None:
    """detach-haproxy names 9.0, but its groups list a task that came later: on a master it cannot be deployed."""
    data = _plugin("detach-haproxy")
    taken = _snapshot("9.0", data)
    told = [
        finding for finding in preview(taken, PreviewOptions(assume=_with_roles_of(data))).findings if finding.is_error
    ]

    assert [(finding.code, finding.task, finding.place.line) for finding in told] == [
        ("G043", "primary-standalone-haproxy", 9),
        ("G043", "standalone-haproxy", 50),
    ]
    assert all("hiera_default_route" in finding.message for finding in told)
    assert all(finding.place.file.endswith("fuel-plugin-detach-haproxy/deployment_tasks.yaml") for finding in told)


def test_a_forgotten_pair_of_slashes_is_noticed() -> None:
    (told,) = [finding for finding in preview(_snapshot("9.0"), PreviewOptions()).findings if finding.code == "G030"]

    assert (told.task, told.hint) == ("openstack-network-start", "Did you mean the pattern /(primary-)?rabbitmq/?")


def test_most_plugins_name_a_release_that_we_have() -> None:
    named = [name for name in PLUGINS if set(_plugin(name).releases) & set(LIBRARIES)]

    assert len(named) == 12


def test_two_plugins_and_an_environment_over_one_release() -> None:
    kubernetes, rabbitmq = _plugin("kubernetes"), _plugin("detach-rabbitmq")
    own = Layer(
        Owner(Level.CLUSTER, 1),
        read(corpus("custom-graphs", "fuel-qa", "fuelweb_test", "config_templates", "custom_graph_tasks.yaml")),
    )
    previewed = preview(
        _snapshot("newton", kubernetes, rabbitmq, layers=[own]),
        PreviewOptions(assume=f"{FOURTEEN},standalone-rabbitmq=2,kubernetes-controller=2,kubernetes-node=2"),
    )
    layers = Counter(row.layer for row in previewed.rows)

    assert layers["cluster"] == len(own.tasks)
    assert layers["plugin fuel-plugin-kubernetes-1.0.0"] == 16
    assert layers["plugin detach-rabbitmq-1.1.2"] == 6
    overridden = [row for row in previewed.rows if row.overrides]
    assert all(row.overrides == ("release",) for row in overridden)


def _with_roles(layer: Layer) -> Snapshot:
    """9.0 with a plugin, and with every role that the plugin's tasks name."""
    metadata = release("9.0").metadata
    known, primary = roles_in(metadata), set(primary_tags_in(metadata))
    for name in sorted({name for one in layer.tasks for name in one.placement[1] if name.strip("*/.") == name}):
        primary |= {name.removeprefix("primary-")} if name.startswith("primary-") else set()
        known.setdefault(name.removeprefix("primary-"), Role(name, (name.removeprefix("primary-"),)))
    return snapshot([default_graph("9.0"), layer], known=known, primary=primary)


def _odd(kind: str, word: str = "") -> Layer:
    (path,) = corpus("odd", kind).glob(f"*{word}-*.yaml" if word else "*.yaml")
    return Layer(Owner(Level.PLUGIN, 7, "odd", "1.0.0"), read(path, owner_label="odd"))


@pytest.mark.parametrize("word", ["3ce49524", "57cba10c"])
def test_a_cycle_by_id_is_none_on_nodes(word: str) -> None:
    """Groups that require what they contain make a cycle of ids; on nodes there is an order."""
    previewed = preview(_with_roles(_odd("self-cycle", word)), PreviewOptions())

    assert previewed.generations > 60
    assert not [finding for finding in previewed.findings if finding.is_error]


def test_a_cycle_on_nodes_is_one() -> None:
    """A plugin that places the release's `logging` after `deploy_end` while the release has it before."""
    with pytest.raises(CycleDetected) as caught:
        preview(_with_roles(_odd("self-cycle", "812ded10")), PreviewOptions())

    assert [name.partition("@")[0] for name in map(str, caught.value.cycle)] == [
        "deploy_end", "influxdb-cluster", "influxdb-hiera", "logging",
    ]  # fmt: skip
    told = [finding for finding in caught.value.findings if isinstance(finding, Finding) and finding.task]
    assert [finding.task for finding in told] == ["influxdb-cluster", "influxdb-cluster", "influxdb-hiera", "logging"]
    assert [finding.place.layer for finding in told] == ["plugin odd-1.0.0"] * 3 + ["release"]
    assert [finding.place.line for finding in told] == [53, 52, 82, 5]


def test_negative_priorities_run_first() -> None:
    previewed = preview(_with_roles(_odd("negfloat")), PreviewOptions(assume=FOURTEEN))
    entries = [row for row in previewed.rows if row.priority is not None and row.nodes]

    assert [row.priority for row in entries] == [-100, 8000, 8000, *[8200] * (len(entries) - 3)]
    positions = [int(row.task.partition("#")[2]) for row in entries]
    assert positions == sorted(positions)
    generations = [row.first_generation for row in entries]
    assert len(set(generations)) == len(entries)
    (first,) = [row for row in previewed.rows if row.task == "deploy_start"]
    assert entries[0].task in first.requires
    assert {row.band for row in entries} == {None, "monitoring"}


def test_a_loop_across_real_layers_is_named_with_its_places() -> None:
    """An environment that makes the first sync point's predecessor wait for the last is told which file says so."""
    own = Layer(Owner(Level.CLUSTER, 1), (task("hiera", requires=["post_deployment_end"]),))
    taken = _snapshot("newton", layers=[own])

    with pytest.raises(CycleDetected) as caught:
        preview(taken, PreviewOptions(assume=FOURTEEN))

    told = [str(finding) for finding in caught.value.findings]
    assert any(
        one.startswith("cluster: error: post_deployment_end runs before hiera@1: hiera says requires") for one in told
    )
    assert len(told) == len(caught.value.cycle) + 1
    assert any("tasks.yaml:" in one for one in told)
    answered = Study(taken, PreviewOptions(assume=FOURTEEN)).findings
    assert [finding.code for finding in answered].count("G050") == len(told)


def _has_a_cycle_of_ids(tasks: Iterable[MergedTask]) -> bool:
    """Whether tasks wait for one another if nobody asks on which nodes they run."""
    known = Names(merged.id for merged in tasks)
    edges = networkx.DiGraph()
    for merged in tasks:
        for attribute in ("requires", "required_for", *RELATION_LISTS):
            related = merged.task.relations(attribute) if attribute in RELATION_LISTS else ()
            words = [*merged.task.names(attribute), *(one.name for one in related if isinstance(one.name, str))]
            for other in (other for word in words for other in matching_names(word, known) if other != merged.id):
                edges.add_edge(*((merged.id, other) if attribute in OF_SUCCESSORS else (other, merged.id)))
    return not networkx.is_directed_acyclic_graph(edges)


def test_task_that_waits_for_its_own_id_is_no_cycle() -> None:
    found = set()
    for name in (*PLUGINS, *BRANCHES):
        data = _plugin(name)
        for library in ("9.0", "newton"):
            taken = _snapshot(library, data)
            if _has_a_cycle_of_ids(merge_layers(taken.layers).tasks):
                found.add((name, library))
                answer = Study(taken, PreviewOptions(assume=_with_roles_of(data))).findings
                assert "G050" not in {finding.code for finding in answer}

    assert found == {("elasticsearch-kibana", "9.0"), ("elasticsearch-kibana", "newton")}


def test_a_cycle_on_every_node_has_a_fix_that_works() -> None:
    """nsxv, laid over a release attribute by attribute, keeps dependencies that its author meant to drop."""
    taken, options = _snapshot("9.0", _plugin("nsxv")), PreviewOptions(policy=MergePolicy.OVERLAY)
    drafted = Study(taken, options)
    (report,) = cycle_reports(taken, drafted.expansion)

    assert report.fixes
    for fix in report.fixes:
        kept = expand(without(drafted.expansion.tasks, [fix]), drafted.expansion.fleet)
        assert order(kept.edges.successors(), kept.size).stuck == []
