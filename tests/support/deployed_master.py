"""A real master from its first facts to the end of its first runs, replayed."""

from __future__ import annotations

import urllib.parse
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recordings import Line, NotRecorded, Replay, line

_EMPTY_HISTORY = 417
"""A line of a history, whose headers any history has."""

_RUNS = 444
"""The line with all transactions of environment 1."""


class DeployedMaster(Replay):
    """What was recorded without a filter, histories and transactions, is filtered here. The history of the run that was
    never asked for is empty."""

    def __init__(self) -> None:
        super().__init__("facts: defaults", "runs: after the end")

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: Any = None) -> Line:
        try:
            return super().answer(method, path, headers, body)
        except NotRecorded:
            if "/transactions/?" in path:
                return self._runs(urllib.parse.parse_qs(path.partition("?")[2]))
            if "deployment_history" not in path:
                raise
            try:
                whole = super().answer(method, path.split("?")[0], headers, body)
            except NotRecorded:
                return replace(line(_EMPTY_HISTORY), status=200, response_kind="json", response_body=[])
            return replace(whole, response_body=[row for row in whole.response_body if row["status"] == "ready"])

    def _runs(self, asked: Mapping[str, list[str]]) -> Line:
        recorded = line(_RUNS)
        assert asked["cluster_id"] == ["1"]
        keys = {"name": asked.get("transaction_types"), "status": asked.get("statuses")}
        stated = {key: values for key, values in keys.items() if values}
        rows = [row for row in recorded.response_body if all(row[key] in values for key, values in stated.items())]
        return replace(recorded, response_body=rows)
