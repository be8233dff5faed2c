"""P063: priorities of legacy tasks that the convention has no place for.

Source: the specification "plugins-deployment-order": plugins that do not know each other find their order by it.
"""

from __future__ import annotations

from collections.abc import Iterator

from fuelclient.graph.stage import band_of, parse_stage
from fuelclient.model.finding import Finding, Severity
from fuelclient.plugins.checks.subject import Subject
from fuelclient.plugins.checks.tasks import is_modern

_BANDS = "0-999 hardware, 2000-2999 disks, 4000-4999 network, 6000-6999 software, 8000-8999 monitoring"


def check(subject: Subject) -> Iterator[Finding]:
    """A warning for every priority in a reserved range, or outside all of them.

    Stages of tasks of version 2.0.0 and later order nothing, nor does the `tasks.yaml` of a package of version 5.
    """
    if subject.major < 2:  # knows no priorities, and P003 says so
        return
    kinds = ("deployment_tasks", "tasks") if subject.major < 5 else ("deployment_tasks",)
    for task in subject.records(*kinds):
        text = task.data.get("stage")
        if not isinstance(text, str) or "/" not in text or is_modern(task):
            continue
        stage = parse_stage(text)
        band = band_of(stage.priority)
        if stage.is_valid and (band is None or band == "reserved"):
            lies = "in a reserved range" if band else "outside the ranges"
            message = f"the priority in {text[:80]} lies {lies} that plugins have agreed on"
            yield Finding(Severity.WARNING, "P063", message, task.place("stage"), hint=f"The ranges are {_BANDS}.")
