"""The order of an expansion that belongs to no snapshot."""

from __future__ import annotations

from fuelclient.plan.expand import Expansion
from fuelclient.plan.order import Ordered, cycle_error, edges_of, ordered_despite_cycles


def ordered(expansion: Expansion) -> Ordered:
    """Raise `CycleDetected` with a finding for each edge of a shortest cycle of each set of tasks."""
    order, cycles = ordered_despite_cycles(expansion)
    if not cycles:
        return order
    findings = [finding for cycle in cycles for finding in edges_of(expansion, cycle)]
    raise cycle_error(list(map(expansion.name, cycles[0])), len(cycles) - 1, findings)
