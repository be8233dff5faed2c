"""Runs of a real master: which transactions they consist of, how they are followed to their end, and why they fail."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from contract.recorded.conftest import OnMaster
from recordings import Replay, line

from fuelclient.commands.exits import Exit
from fuelclient.errors import NotFound, Unsupported, UsageError
from fuelclient.model.run import Event, EventKind, HistoryFilter, Run, RunRequest

pytestmark = pytest.mark.corpus

AFTER, DELETED = "runs: after the end", "deleting transactions, nodes and clusters; clusters which are null"


def as_recorded(run: Run, recorded: Any) -> None:
    """A run has the values of a transaction."""
    cells = (run.id, run.uuid, run.name, run.status, run.time_start, run.time_end, run.dry_run)
    assert cells == tuple(
        recorded[key] for key in ("id", "uuid", "name", "status", "time_start", "time_end", "dry_run")
    )
    assert (run.cluster_id or None, run.graph_type or None) == (recorded["cluster"], recorded["graph_type"])
    assert (run.progress, run.message) == (recorded["progress"] or 0, recorded["message"] or "")


def test_a_run_has_its_graphs_as_parts() -> None:
    run = Replay(AFTER).backend().runs.get(27)
    as_recorded(run, line(438).response_body)
    (part,) = run.children
    as_recorded(part, line(439).response_body)
    assert (part.parent_id, run.parent_id, run.request.graph_types) == (27, None, ("small",))
    assert Replay(AFTER).backend().runs.get(28).parent_id == 27


def test_a_run_whose_task_was_forgotten_has_no_parts() -> None:
    """That ids follow one another says nothing: transaction 25 provisions by itself, after the parts of 23."""
    listed = Replay(DELETED).backend().runs.list()
    assert {run.id for run in listed} > {23, 24, 25, 46, 47, 48}
    assert [run for run in listed if run.children or run.parent_id is not None] == []


def test_all_transactions_are_listed_even_without_environment(on_master: OnMaster) -> None:
    recorded = {one["id"]: one for one in line(646).response_body}
    listed = Replay(646).backend().runs.list()
    assert [run.id for run in listed] == sorted(recorded)
    for run in listed:
        as_recorded(run, recorded[run.id])
    done = on_master(Replay(646), "task", "list", "-f", "json")
    assert {row["id"]: row["cluster"] for row in done.json} == {one["id"]: one["cluster"] for one in recorded.values()}


def test_the_history_of_a_run_is_that_of_its_graphs() -> None:
    runs = Replay(AFTER).backend().runs
    recorded = line(478).response_body
    for number in (27, 28):
        rows = runs.history(number)
        assert [(row.task, str(row.node), row.status) for row in rows] == [
            (one["task_name"], one["node_id"], one["status"]) for one in recorded
        ]
        assert {row.graph_type for row in rows} == {"small"}
        assert [(row.time_start, row.time_end) for row in rows] == [
            (one["time_start"], one["time_end"]) for one in recorded
        ]
    assert [row.definition["parameters"] for row in rows] == [one["parameters"] for one in recorded]


@pytest.mark.parametrize(
    ("filters", "number"),
    [
        (HistoryFilter(nodes=("1",)), 458),
        (HistoryFilter(nodes=("1", "2"), statuses=("ready", "skipped")), 453),
        (HistoryFilter(nodes=("x",)), 455),
        (HistoryFilter(tasks=("two", "three")), 456),
        (HistoryFilter(tasks=("nosuch",)), 457),
    ],
)
def test_filters_of_the_history_are_the_master_s(filters: HistoryFilter, number: int) -> None:
    rows = Replay(AFTER).backend().runs.history(28, filters)
    recorded = line(number).response_body
    assert [(row.task, str(row.node)) for row in rows] == [(one["task_name"], one["node_id"]) for one in recorded]
    with pytest.raises(UsageError):
        Replay(AFTER).backend().runs.history(28, HistoryFilter(statuses=("nosuch",)))


def test_what_a_run_recorded_is_that_of_its_last_graph() -> None:
    runs = Replay(AFTER).backend().runs
    settings, networks = line(461).response_body["editable"], line(462).response_body
    for number in (28, 27):
        assert runs.settings(number) == settings
        assert runs.network_configuration(number) == networks
    with pytest.raises(NotFound):
        runs.settings(99999)


# Following


def test_a_recorded_run_is_followed_to_its_end(on_master: OnMaster) -> None:
    replay = Replay("runs: a custom graph, start to end", AFTER, same=same_run)
    done = on_master(replay, "graph", "execute", "--env", 1, "--type", "small", "--wait")
    assert (done.code, done.out) == (0, "Deployment task with id 27 for the environment 1 has been started.\n")
    assert "Run 27 ended: ready." in done.err
    assert "small: two/3 ready" in done.err
    counted = [one["status"] for one in line(451).response_body if one["node_id"] != "-"]
    assert f"{counted.count('ready')} ready, {counted.count('skipped')} skipped in 0:10." in done.err


def test_a_recorded_failure_is_named_with_its_reason(on_master: OnMaster) -> None:
    done = on_master(Replay(547, 561), "task", "watch", 59)
    assert done.code == Exit.FAILED
    assert "Run 59 ended: error. All nodes are finished. Failed tasks: Task[two/second]" in done.err
    assert "small: two/second error (resources failed: 1, resources total: 3)" in done.err
    assert "task logs" not in done.err
    assert "/var/log/" in done.err
    assert "1 error" in done.err


def test_the_events_of_a_recorded_run_end_with_it() -> None:
    runs = Replay(547, 561).backend().runs
    seen: list[Event] = []
    for _ in range(3):
        runs.get(59)
        seen += runs.events(59, after=len(seen))
    instances = [(event.task, event.node, event.status) for event in seen if event.kind is EventKind.INSTANCE]
    assert instances.index(("two", 2, "running")) < instances.index(("two", 2, "error"))
    ended = [event for event in seen if event.kind is EventKind.RUN and event.run_id == 59]
    assert [(event.status, event.message) for event in ended] == [("error", line(550).response_body["message"])]


def test_each_look_at_a_run_reads_it_once() -> None:
    replay = Replay(547, 561)
    runs = replay.backend().runs
    runs.get(59)
    runs.events(59)
    assert asked(replay) == [
        "GET transactions/59/", "GET tasks/",
        "GET transactions/60/deployment_history/", "GET transactions/61/deployment_history/",
    ]  # fmt: skip


def test_a_run_begins_with_four_requests() -> None:
    replay = Replay("runs: a custom graph, start to end", AFTER, same=same_run)
    begun = replay.backend().runs.begin(RunRequest(1, ("small",)))
    assert begun.id == 27
    names = "GET clusters/1/deployment_tasks/"
    assert asked(replay) == [names, "POST graphs/execute/", "GET transactions/27/", "GET tasks/"]


def asked(replay: Replay) -> list[str]:
    """What the master was asked, without the parameters, and without its version."""
    requests = [request.partition("?")[0] for request in replay.asked]
    return [request for request in requests if request != "GET version"]


def same_run(sent: Any, recorded: Any) -> bool:
    """Whether two requests for a run are the same: what is left out is false."""
    flags = ("dry_run", "noop_run", "force", "debug")

    def whole(body: Any) -> Any:
        return {**dict.fromkeys(flags, False), **body} if isinstance(body, dict) else body

    return json.dumps(whole(sent), sort_keys=True) == json.dumps(whole(recorded), sort_keys=True)


@pytest.mark.parametrize("act", ["logs", "resume", "kill"])
def test_what_a_master_cannot_do_is_said(act: str) -> None:
    runs = Replay(547, 561).backend().runs
    acts: dict[str, Callable[[], object]] = {
        "logs": lambda: runs.logs(60, "two", "2"),
        "resume": lambda: runs.resume(59),
        "kill": lambda: runs.stop(59, kill=True),
    }
    with pytest.raises(Unsupported) as caught:
        acts[act]()
    assert caught.value.hint
