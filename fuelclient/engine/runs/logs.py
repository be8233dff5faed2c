"""What the commands of a task instance printed, without secrets."""

from __future__ import annotations

from fuelclient import redact
from fuelclient.engine.runs.executors import output_of
from fuelclient.engine.runs.history import remembered_task
from fuelclient.engine.runs.jobs import Jobs
from fuelclient.environment.plans import evaluation_of
from fuelclient.executors.job import Executor
from fuelclient.model.run import HistoryRow, Logs, Run
from fuelclient.model.status import InstanceStatus
from fuelclient.plan.inputs import Inputs
from fuelclient.store import graphs
from fuelclient.store.database import Connection


def stated_secrets(connection: Connection, task: str) -> frozenset[str]:
    """Return the secrets that a task states as they are, in graphs as they are now: what a run remembers is masked."""
    return redact.secrets_of(graphs.parameters_of(connection, task))


def logs(
    row: HistoryRow, inputs: Inputs, child: Run, jobs: Jobs, executor: Executor, stated: frozenset[str] = frozenset()
) -> Logs:
    """Return what a task instance printed, read from where it ran, without the secrets of the facts, those that its
    task has `stated`, and the values of secret names. The file there still has them."""
    task = remembered_task(row, child)
    job = jobs.job(task, row.node, evaluation_of(inputs).rendered(task.task, row.node), row.attempts)
    secrets = (job.known_secrets() | stated) - {redact.MASK}
    is_running = row.status is InstanceStatus.RUNNING

    def shown(stream: str) -> str:
        left_out, text = output_of(executor, job, stream)
        head = f"[The first {left_out} bytes are left out.]\n" if left_out else ""
        return head + redact.masked_part(text, secrets, head=left_out > 0, tail=is_running)

    return Logs(row.task, row.node, shown("out"), shown("err"), row.return_code)
