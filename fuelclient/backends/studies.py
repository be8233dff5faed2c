"""Study the graphs of any backend on its facts.

The modules for expressions are imported when a study needs facts.
"""

from __future__ import annotations

from functools import partial

from fuelclient.backends.base import Backend
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.evaluate import Evaluation
from fuelclient.plan.preview import ALL_NODES, PreviewOptions
from fuelclient.plan.study import Facts, Study, no_facts


def study_of(
    backend: Backend,
    snapshot: Snapshot,
    options: PreviewOptions = ALL_NODES,
    *,
    facts: bool = True,
    conditions: bool = False,
    despite_cycles: bool = False,
    alone: bool = False,
) -> Study:
    """Study a snapshot, with the facts of its nodes unless `facts` is false; see `plan.study.Study` for the rest."""
    evaluation: Facts = partial(_evaluation, backend, snapshot, options, history=conditions) if facts else no_facts
    return Study(snapshot, options, evaluation, conditions=conditions, despite_cycles=despite_cycles, alone=alone)


def _evaluation(backend: Backend, snapshot: Snapshot, options: PreviewOptions, *, history: bool) -> Evaluation | None:
    """Evaluate expressions on the facts of a preview's nodes, which may be assumed. None if there are no facts."""
    from fuelclient.environment.plans import evaluation_of
    from fuelclient.errors import FuelError
    from fuelclient.expressions.evaluation import Expressions
    from fuelclient.model.run import RunRequest
    from fuelclient.plan.fleet import fleet_candidates
    from fuelclient.support import supports

    nodes, assumption = fleet_candidates(snapshot, options.assume)
    cluster_id = snapshot.cluster.id
    try:
        if assumption:
            from fuelclient.backends.assumed_nodes import on_assumed

            _, facts = on_assumed(backend, backend.clusters.environment(cluster_id), nodes)
            return Expressions(facts)
        if supports(backend.runs.act) and not history:  # all inputs of a master are many requests
            return Expressions(backend.facts.effective(cluster_id))
        return evaluation_of(backend.runs.inputs(RunRequest(cluster_id, (snapshot.graph_type,), options.node_ids)))
    except FuelError:
        return None
