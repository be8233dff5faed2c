"""The result of a schedule: how the run of one graph ended, in data and in one message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fuelclient.model.status import Verdict
from fuelclient.plan.tolerance import NO_GROUP, Exceeded
from fuelclient.plan.work import Work

_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Result:
    """How a run ended. All but `exceeded` are numbers of task instances, ascending.

    `failed` ended their nodes; `tolerated` are those of them whose nodes stand in no exceeded group; `ignored`
    failed too, but their tasks do not fail on an error; `never_ran` were not reached; `interrupted` were ended because
    somebody stopped the run. `stopped` is what that one said, or empty.
    """

    verdict: Verdict
    failed: tuple[int, ...]
    tolerated: tuple[int, ...]
    ignored: tuple[int, ...]
    never_ran: tuple[int, ...]
    exceeded: tuple[Exceeded, ...]
    stopped: str
    message: str
    interrupted: tuple[int, ...] = ()


def result_of(
    work: Work,
    *,
    failed: Sequence[int],
    ignored: Sequence[int],
    never_ran: Sequence[int],
    exceeded: Sequence[Exceeded],
    stopped: str,
    interrupted: Sequence[int] = (),
) -> Result:
    """The result of a run that is over.

    An exceeded group makes it an error even when somebody stopped the run as well, and whether or not a critical
    node failed (upstream calls the latter a success).
    """
    fatal = {node for group in exceeded for node in group.failed}
    tolerated = tuple(vertex for vertex in failed if work.node_of[vertex] not in fatal)
    verdict = Verdict.ERROR if exceeded else Verdict.STOPPED if stopped else Verdict.READY
    told = [
        *([f"{stopped[:1].upper()}{stopped[1:]}."] if stopped else []),
        *([f"Interrupted: {_named(work, interrupted)}."] if interrupted else []),
        *_failures(work, failed, tolerated, exceeded),
        *([f"Ignored failures: {_named(work, ignored)}."] if ignored else []),
        *([f"Not run: {_named(work, never_ran)}."] if never_ran else []),
    ]
    everything = f"All {work.size} task instances" if work.size != 1 else "The only task instance"
    message = " ".join(told) or f"{everything} ended."
    return Result(
        verdict, tuple(failed), tolerated, tuple(ignored), tuple(never_ran), tuple(exceeded), stopped, message,
        tuple(interrupted),
    )  # fmt: skip


def _failures(
    work: Work, failed: Sequence[int], tolerated: Sequence[int], exceeded: Sequence[Exceeded]
) -> Iterator[str]:
    kept = set(tolerated)
    fatal = [vertex for vertex in failed if vertex not in kept]
    if fatal:
        yield f"Failed: {_named(work, fatal)}."
    for group in exceeded:
        yield _exceeded(work, group)
    if tolerated:
        yield f"Tolerated failures: {_named(work, tolerated)}."


def _exceeded(work: Work, group: Exceeded) -> str:
    names = _listed([work.nodes[node] for node in group.failed])
    if group.group == NO_GROUP:
        return (
            f"Node {names} has zero fault tolerance."
            if len(group.failed) == 1
            else f"Nodes {names} have zero fault tolerance."
        )
    limit = f"{group.tolerated} failed node{'s' if group.tolerated != 1 else ''}"
    return f"Group {group.group} tolerates {limit}, and {len(group.failed)} failed: {names}."


def _named(work: Work, vertices: Sequence[int]) -> str:
    return _listed([work.name(vertex) for vertex in vertices[:_MOST_NAMED]], len(vertices))


def _listed(names: Sequence[str], count: int = 0) -> str:
    count = count or len(names)
    shown = ", ".join(names[:_MOST_NAMED])
    return f"{shown} and {count - _MOST_NAMED} more" if count > _MOST_NAMED else shown
