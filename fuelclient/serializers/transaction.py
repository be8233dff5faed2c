"""Transactions in Nailgun's shape, and back."""

from __future__ import annotations

from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.model.run import Run, RunRequest
from fuelclient.model.status import RunStatus
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.execution import execution_from, execution_to
from fuelclient.serializers.finding import finding_to, findings_from
from fuelclient.serializers.values import plain


def run_to(run: Run) -> dict[str, Any]:
    """The transaction as Nailgun's REST API returns it, a parent and a child alike.

    Beside Nailgun's fields: what was asked for, `stop`, `runner`, `digest`, the findings of the plan, and of a
    parent its children. `graph_type` of a parent is null, as there: its children have theirs.
    """
    request = run.request
    return {
        "id": run.id,
        "uuid": run.uuid,
        "status": str(run.status),
        "name": run.name,
        "graph_type": run.graph_type or None,
        "cluster": run.cluster_id,
        "result": plain(run.result),
        "dry_run": run.dry_run,
        "noop": request.noop,
        "progress": run.progress,
        "message": run.message,
        "parent_id": run.parent_id,
        "time_start": run.time_start,
        "time_end": run.time_end,
        "deleted_at": None,
        "request": {**execution_to(request), "subgraphs": list(request.subgraphs)},
        "stop": run.stop,
        "runner": run.runner,
        "digest": run.digest,
        "findings": [finding_to(one) for one in run.findings],
        "children": [run_to(child) for child in run.children],
    }


def nailgun_transaction_to(run: Run, cluster_name: str) -> dict[str, Any]:
    """The transaction with Nailgun's fields only, in the order in which the original client prints them.

    A parent of one graph has that one's `graph_type`. A run that ended well has the message that scripts know from
    Nailgun, and `result` is empty as it is there: what ours says stands in `transaction_to`.
    """
    types = run.request.graph_types
    done = run.status == RunStatus.READY and not run.dry_run
    return {
        "id": run.id,
        "cluster": run.cluster_id,
        "uuid": run.uuid,
        "name": run.name,
        "result": {},
        "message": f"Deployment of environment '{cluster_name}' is done." if done else run.message,
        "status": str(run.status),
        "progress": run.progress,
        "dry_run": run.dry_run,
        "graph_type": run.graph_type or (types[0] if len(types) == 1 else None),
        "parent_id": run.parent_id,
        "time_start": run.time_start,
        "time_end": run.time_end,
    }


def run_from(data: Any) -> Run:
    """The transaction that a server tells of; `InvalidDocument` for what is none.

    A master says nothing of what was asked for but the environment, the graph type and whether it changes anything:
    the request then has only these.
    """
    answer = Answer(data, "transaction")
    status = answer.stated("status")
    if status not in set(RunStatus):
        raise InvalidDocument(
            f"Transaction {answer.identifier()} has the status {status!r}, which is none.",
            hint=f"Known: {', '.join(RunStatus)}.",
        )
    return Run(
        id=answer.identifier(),
        uuid=answer.text("uuid"),
        cluster_id=answer.identifier("cluster"),
        name=answer.text("name"),
        status=RunStatus(status),
        request=_request_of(answer),
        graph_type=answer.text("graph_type"),
        parent_id=answer.optional("parent_id"),
        progress=answer.number("progress"),
        message=answer.text("message"),
        result=answer.mapping("result"),
        time_start=answer.moment("time_start"),
        time_end=answer.moment("time_end"),
        stop=answer.text("stop"),
        runner=answer.text("runner"),
        digest=answer.text("digest"),
        findings=findings_from(answer.items("findings")),
        children=tuple(run_from(child) for child in answer.items("children")),
    )


def _request_of(answer: Answer) -> RunRequest:
    if answer.data.get("request") is not None:
        return execution_from(answer.data["request"])
    graph_type, noop = answer.text("graph_type"), answer.truth("noop")
    return RunRequest(
        answer.identifier("cluster"),
        (graph_type,) if graph_type else (),
        dry_run=answer.truth("dry_run") and not noop,
        noop=noop,
    )
