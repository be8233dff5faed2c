"""What a backend can do beyond what every Fuel master can."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One field for each thing that not every place can do; whoever needs one asks for it by name.

    `events`: keeps the events of runs. `kill`: ends tasks that run. `resume`: goes on with a run whose runner was
    killed. `logs`: gives out what tasks printed. `new_nodes`: takes nodes that nobody discovered. `partial_records`:
    stores records without type. `inputs`: tells an environment, and what plans are computed from, as a whole.
    `batches`: stores several releases, all or none. `leftovers`: says what a deletion leaves behind. `refusals`: says
    itself why a plugin cannot be enabled.
    """

    events: bool = False
    kill: bool = False
    resume: bool = False
    logs: bool = False
    new_nodes: bool = False
    partial_records: bool = False
    inputs: bool = False
    batches: bool = False
    leftovers: bool = False
    refusals: bool = False


FUEL_MASTER = Capabilities()
"""A Fuel master."""

OWN_ENGINE = Capabilities(
    events=True, kill=True, resume=True, logs=True, new_nodes=True, partial_records=True, inputs=True, batches=True,
    leftovers=True, refusals=True,
)  # fmt: skip
"""The engine of this package, embedded or behind its server."""
