"""Strategies (`parameters.strategy`): on how many nodes a task may run at the same time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

UNLIMITED = 0
"""The limit of a task that may run on all its nodes at once."""


def limit_from(strategy: Any) -> int:
    """Return on how many nodes a task with this strategy may run at the same time, `UNLIMITED` without one.

    Raise `ValueError` for a type other than parallel and one_by_one, and for an amount that is not a whole number
    of at least 0. Source: Astute `TaskDeployment`.

    >>> limit_from({"type": "one_by_one"}), limit_from({"type": "parallel", "amount": 7})
    (1, 7)
    """
    if strategy is None or _is_expression(strategy):
        return UNLIMITED
    body = strategy if isinstance(strategy, Mapping) else {"type": strategy}
    strategy_type, amount = body.get("type"), body.get("amount")
    if strategy_type == "one_by_one":
        return 1
    if strategy_type != "parallel" and not _is_expression(strategy_type):
        raise ValueError(f"a strategy is parallel or one_by_one, not {strategy_type!r}")
    if amount is None or _is_expression(amount):
        return UNLIMITED
    if isinstance(amount, str) and amount.strip().lstrip("-").isdecimal():
        amount = int(amount)
    if not isinstance(amount, int) or isinstance(amount, bool) or amount < 0:
        raise ValueError(f"the amount of a strategy is a whole number of at least 0, not {amount!r}")
    return amount


def _is_expression(value: Any) -> bool:
    return isinstance(value, Mapping) and "yaql_exp" in value
