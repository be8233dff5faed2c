"""The dry run of a real master, replayed: its decision, and the request that it began with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recordings import Line, Replay, line

SMALL = {
    ("one", 1): True, ("two", 2): True, ("two", 3): True, ("three", 2): True, ("three", 3): True,
    ("never", 1): False, ("never", 2): False, ("never", 3): False, ("last", 1): True, ("last", 2): True,
    ("last", 3): True,
}  # fmt: skip
"""What the master would run of the recorded graph; the task plug is placed nowhere."""


class Recorded(Replay):
    """The recorded dry run of a whole graph, whose request names fewer options than ours.

    All transactions of the environment are in a later answer; its tasks were not asked for, and state the parent as
    those of other runs do.
    """

    posted: Any = None

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: Any = None) -> Line:
        if method == "POST":
            self.asked.append(f"{method} {path}")
            self.posted = body
            return line(495)
        if "/orchestrator/deployment/?" in path:  # the facts that were uploaded before are deleted
            return replace(line(382), response_body=[])
        if "/transactions/?cluster_id=1" in path:
            names = ["deployment"] if "transaction_types=" in path else ["deploy", "deployment"]
            every = line(583).response_body
            own = [one for one in every if one["cluster"] == 1 and 30 <= one["id"] <= 37 and one["name"] in names]
            return replace(line(583), response_body=own)
        if "/tasks/?cluster_id=1" in path:
            own = [one for one in line(583).response_body if one["id"] in (36, 37)]
            return replace(line(443), response_body=[{**one, "parent_id": {37: 36}.get(one["id"])} for one in own])
        everything = super().answer(method, path.replace("&statuses=ready", ""), headers, body)
        if "&statuses=ready" not in path:
            return everything
        rows = [row for row in everything.response_body if row["status"] == "ready"]
        return replace(everything, response_body=rows)
