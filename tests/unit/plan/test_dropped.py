"""Dependencies on tasks that run nowhere: what is said of them, and how loudly."""

from __future__ import annotations

from collections import Counter

import pytest
from building import RELEASE, layer, plugin, roles, snapshot, task
from corpus import corpus
from corpus_graphs import PluginData, default_graph, release
from corpus_graphs import plugin as plugin_data

from fuelclient.model.finding import Finding
from fuelclient.model.release import primary_tags_in, roles_in
from fuelclient.model.task import Source, Task
from fuelclient.plan.preview import Preview, PreviewOptions
from fuelclient.plan.study import preview

_KNOWN = roles("db", "web", "queue")
_DROPPED = ("G052", "G053")


def _previewed(*tasks: Task, above: tuple[Task, ...] = (), assume: str = "db=1,web=1") -> Preview:
    layers = [layer(RELEASE, *tasks), *([layer(plugin("cut"), *above)] if above else [])]
    return preview(snapshot(layers, known=_KNOWN, primary=("db",)), PreviewOptions(assume=assume))


def _dropped(previewed: Preview) -> list[Finding]:
    return [finding for finding in previewed.findings if finding.code in _DROPPED]


def _codes(previewed: Preview) -> list[tuple[str, str]]:
    return [(finding.code, finding.task) for finding in _dropped(previewed)]


def test_task_without_predecessors_left_is_a_warning() -> None:
    source = Source("t.yaml", 3, {"requires": 5})
    previewed = _previewed(
        task("other", type="reboot", roles=["web"]),
        task("rabbit", type="reboot", roles=["queue"], requires=["other"]),
        task("murano", source=source, type="reboot", roles=["web"], requires=["rabbit"]),
    )

    [finding] = _dropped(previewed)
    assert (finding.code, str(finding.severity), finding.task, str(finding.place)) == (
        "G052", "warning", "murano", "t.yaml:5",
    )  # fmt: skip
    assert finding.message == (
        "murano requires rabbit, which runs on no node: nothing holds it back, and it stands 2nd"
    )
    [row] = [row for row in previewed.rows if row.task == "murano"]
    assert row.order == 2
    assert row.dropped == ("rabbit",)
    assert row.findings == (finding,)


def test_tasks_with_the_same_loss_share_a_finding() -> None:
    lost = [task(f"t{number}", type="reboot", roles=["web"], requires=["rabbit"]) for number in range(6)]
    previewed = _previewed(task("rabbit", type="reboot", roles=["queue"]), *lost)

    [finding] = _dropped(previewed)
    assert (finding.code, finding.task) == ("G052", "t0")
    assert "6 tasks require rabbit" in finding.message
    assert finding.message.endswith("t0 stands 1st, t1 stands 2nd, t2 stands 3rd and 3 more")


def test_task_with_other_predecessors_is_one_notice_per_missing() -> None:
    held = [task(f"t{number}", type="reboot", roles=["web"], requires=["first", "rabbit"]) for number in range(3)]
    previewed = _previewed(
        task("first", type="reboot", roles=["web"]), task("rabbit", type="reboot", roles=["queue"]), *held
    )

    assert _codes(previewed) == [("G053", "t0")]
    assert str(_dropped(previewed)[0].severity) == "info"


def test_a_requirement_of_another_node_never_ordered_anything() -> None:
    """`requires` is about one node: what has no node could not wait there for tasks of other roles."""
    previewed = _previewed(
        task("first", type="reboot", roles=["web"]),
        task("rabbit", type="reboot", roles=["queue"], requires=["last"]),
        task("murano", type="reboot", roles=["web"], requires=["rabbit", "first"]),
        task("last", type="reboot", roles=["web"]),
    )

    assert _codes(previewed) == [("G053", "murano")]


def test_order_across_nodes_by_a_missing_task_is_lost() -> None:
    previewed = _previewed(
        task("first", type="reboot", roles=["web"]),
        task("schema", type="reboot", roles=["db"]),
        task("rabbit", type="reboot", roles=["queue"], cross_depends=[{"name": "schema", "role": ["db"]}]),
        task(
            "murano", type="reboot", roles=["web"], requires=["first"],
            cross_depends=[{"name": "rabbit", "role": ["queue"]}],
        ),
        assume="db=2,web=1",
    )  # fmt: skip

    [finding] = _dropped(previewed)
    assert (finding.code, finding.task) == ("G052", "murano")
    assert finding.message.endswith("it no longer waits for schema")


def test_what_is_skipped_without_roles_takes_its_order_along() -> None:
    """Skipped with roles a task keeps its place; an override that leaves the roles out removes it."""
    tasks = (
        task("first", type="reboot", roles=["web"]),
        task("conf", type="reboot", roles=["web"], requires=["first"]),
        task("late", type="reboot", roles=["web"]),
        task("service", type="reboot", roles=["web"], requires=["conf", "late"]),
    )

    kept = _previewed(*tasks, above=(task("conf", type="skipped", roles=["web"], requires=["first"]),))
    lost = _previewed(*tasks, above=(task("conf", type="skipped", requires=["first"]),))

    assert _codes(kept) == []
    [finding] = _dropped(lost)
    assert (finding.code, finding.task) == ("G052", "service")
    assert "conf (skipped by plugin cut-1.0.0, without roles)" in finding.message
    assert finding.message.endswith("it no longer waits for first")


def test_pattern_with_a_running_task_drops_nothing() -> None:
    previewed = _previewed(
        task("rabbit-web", type="reboot", roles=["web"]),
        task("rabbit", type="reboot", roles=["queue"]),
        task("murano", type="reboot", roles=["web"], requires=["/rabbit/"]),
    )

    assert _codes(previewed) == []


def test_a_single_node_of_a_role_is_its_primary() -> None:
    """`roles: [db]` does not mean it, which looks as if the role were not assigned."""
    previewed = _previewed(
        task("sync-db", type="reboot", roles=["db"]), task("app", type="reboot", roles=["web"], requires=["sync-db"])
    )

    by_code = {finding.code: finding for finding in previewed.findings}
    assert "the only db is primary-db" in by_code["G042"].message
    assert by_code["G042"].hint == "Add primary-db to its roles if it is to run there."
    assert "sync-db (the only db is its primary)" in by_code["G052"].message

    more = _previewed(task("sync-db", type="reboot", roles=["db"]), assume="db=2")
    assert not more.findings


def _stock(library: str, assume: str, *plugins: PluginData) -> Preview:
    metadata = release(library).metadata
    known, primary = roles_in(metadata), primary_tags_in(metadata)
    for data in plugins:
        known |= data.roles
        primary |= data.primary_tags
    layers = [default_graph(library), *(data.layer for data in plugins)]
    return preview(snapshot(layers, known=known, primary=primary), PreviewOptions(assume=assume))


def _counts(previewed: Preview) -> dict[str, int]:
    return dict(Counter(finding.code for finding in _dropped(previewed)))


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("library", "assume", "expected"),
    [
        ("9.0", "controller=1,compute=1", {"G053": 13}),
        ("9.0", "controller=3,compute=2", {"G053": 3}),
        ("9.0", "controller=3,compute=8,cinder=3", {"G053": 3}),
        ("newton", "controller=1,compute=1", {"G052": 1, "G053": 11}),
        ("newton", "controller=3,compute=2", {"G053": 2}),
        ("newton", "controller=3,compute=8,cinder=3", {"G053": 2}),
    ],
)
def test_stock_releases_are_not_noisy(library: str, assume: str, expected: dict[str, int]) -> None:
    """The one warning is true: with one controller, `enable_quorum` names only the check of the other controllers."""
    assert _counts(_stock(library, assume)) == expected


@pytest.mark.corpus
def test_newton_with_a_detached_rabbitmq_that_no_node_runs() -> None:
    detached = plugin_data(corpus("plugins", "fuel-plugin-detach-rabbitmq"))
    previewed = _stock("newton", "controller=3,compute=2", detached)

    [warning] = [finding for finding in _dropped(previewed) if finding.code == "G052"]
    assert warning.message == (
        "murano-rabbitmq requires rabbitmq and primary-rabbitmq, which run on no node: "
        "nothing holds it back, and it stands 1st"
    )
    assert (previewed.rows[0].task, previewed.rows[0].dropped) == ("murano-rabbitmq", ("rabbitmq", "primary-rabbitmq"))
    assert _counts(previewed) == {"G052": 1, "G053": 4}


def _apart(*tasks: Task) -> list[Finding]:
    return [finding for finding in _previewed(*tasks).findings if finding.code == "G065"]


def test_what_runs_only_on_other_nodes_is_not_waited_for() -> None:
    source = Source("t.yaml", 3, {"requires": 5})
    store = task("store", type="reboot", roles=["primary-db", "db"])
    agent = task("agent", source=source, type="reboot", roles=["web"], requires=["store"])
    [finding] = _apart(store, agent, task("last", type="reboot", roles=["web"], requires=["store"]))
    assert (str(finding.severity), finding.task, str(finding.place)) == ("info", "agent", "t.yaml:5")
    assert finding.message.startswith("agent and last name store in requires")
    assert "cross-depends" in finding.hint

    [finding] = _apart(
        task("store", type="reboot", roles=["primary-db", "db"], required_for=["agent"]),
        task("agent", roles=["web"], type="reboot"),
    )
    assert (finding.task, "cross-depended-by" in finding.hint) == ("store", True)


def test_tasks_ordered_otherwise_are_no_finding() -> None:
    store = task("store", type="reboot", roles=["primary-db", "db"], required_for=["done"])
    both = task("both", type="reboot", roles=["primary-db", "web"], requires=["store"])
    stage = task("done", type="stage")
    crosses = [{"name": "store", "role": ["db", "primary-db"]}]
    crossed = task("agent", type="reboot", roles=["web"], requires=["store"], cross_depends=crosses)
    assert _apart(store, both, stage, crossed) == []
    through = task("later", type="reboot", roles=["web"], requires=["store", "done"])
    assert _apart(store, stage, through) == []
    assert _apart(store, task("any", type="reboot", roles=["web"], requires=["/^st/"])) == []
