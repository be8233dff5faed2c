"""Tasks that two plugins define: said as soon as roles bring both definitions to one node."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fuelclient.backends.base import Backend
from fuelclient.commands.base import report_after
from fuelclient.support import supports

if TYPE_CHECKING:
    from fuelclient.model.finding import Finding


def report_shared_tasks(backend: Backend, env: int) -> None:
    """Warn about tasks of two enabled plugins that would run on one node of an environment, which a run refuses.

    A Fuel master is not asked: it merges no such graph at all.
    """
    if not supports(backend.runs.act):
        report_after(lambda: _shared_tasks(backend, env), "Whether two plugins define one task was not checked")


def _shared_tasks(backend: Backend, env: int) -> list[Finding]:
    from fuelclient.model.finding import Severity
    from fuelclient.model.graph import Level
    from fuelclient.plan.study import Study

    owners: dict[str, set[int]] = {}
    for summary in backend.graphs.list(env):
        if summary.owner.level is Level.PLUGIN:
            owners.setdefault(summary.type, set()).add(summary.owner.id)
    found = []
    for graph_type in sorted(name for name, plugins in owners.items() if len(plugins) > 1):
        study = Study(backend.graphs.snapshot(env, graph_type))
        shared = (finding for finding in study.expansion.placement.findings if finding.code == "G044")
        found += [replace(finding, severity=Severity.WARNING) for finding in shared]
    return found
