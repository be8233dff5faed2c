"""Which transactions of a master are parts of a run."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fuelclient.backends.nailgun.runs import with_relatives
from fuelclient.model.run import CHILD, PARENT, Run, RunRequest
from fuelclient.model.status import RunStatus

kinds = st.tuples(st.sampled_from(["", "default", "small"]), st.booleans(), st.none() | st.integers(1, 8))
"""The type of a transaction's graph, whether it is a dry run, and the parent that its task states."""


@given(st.lists(kinds, min_size=1, max_size=8), st.data())
def test_only_a_stated_parent_makes_a_part(stated: list[tuple[str, bool, int | None]], data: st.DataObject) -> None:
    tasks = [
        Run(number, "", 1, CHILD if graph else PARENT, RunStatus.READY, RunRequest(1, dry_run=is_dry), graph, parent)
        for number, (graph, is_dry, parent) in enumerate(stated, 1)
    ]
    run = data.draw(st.sampled_from(tasks))
    known = data.draw(st.lists(st.sampled_from(tasks), unique_by=lambda task: task.id))
    found = with_relatives(run, known)
    assert found.parent_id == run.parent_id
    assert [part.id for part in found.children] == sorted(
        task.id for task in known if task.graph_type and task.parent_id == run.id
    )
