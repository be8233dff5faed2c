"""What has been learnt so far: names of environments and nodes, runs, the graph on the screen. Nothing is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from fuelclient.model.run import Run
from fuelclient.tui.gateway import Gateway
from fuelclient.tui.requests import AskOverview, AskRuns, AskSubject, Overview
from fuelclient.tui.routes import Trail
from fuelclient.tui.subject import Subject


@dataclass(frozen=True, slots=True)
class Known:
    """The answers of a gateway, as seen from where one is."""

    gateway: Gateway
    trail: Trail

    @property
    def subject(self) -> Subject | None:
        """What is known of the environment on the screen."""
        here = self.trail.here
        found = self.gateway.known(AskSubject(here.env, here.graph_type)) if here.env else None
        return found if isinstance(found, Subject) else None

    @property
    def overview(self) -> Overview | None:
        """All environments."""
        found = self.gateway.known(AskOverview())
        return found if isinstance(found, Overview) else None

    def environment_names(self) -> dict[int, str]:
        """The names of environments by id."""
        overview, subject = self.overview, self.subject
        named = {one.id: one.name for one in overview.clusters} if overview is not None else {}
        return named if subject is None else {**named, subject.env: subject.study.snapshot.cluster.name}

    def environment_name(self, env: int) -> str:
        """The name of an environment; its id where it is not known."""
        return self.environment_names().get(env, str(env))

    def node_names(self, env: int) -> dict[int, str]:
        """The names of the nodes of an environment by id."""
        overview, subject = self.overview, self.subject
        if subject is not None and subject.env == env:
            return {node.id: node.name for node in subject.study.snapshot.nodes}
        return {node.id: node.name for node in overview.nodes} if overview is not None else {}

    def runs(self) -> list[Run]:
        """The runs that have been seen, the last one first."""
        found: dict[int, Run] = {}
        for env in (0, self.trail.here.env):
            seen = cast("tuple[Run, ...]", self.gateway.known(AskRuns(env)) or ())
            found |= {one.id: one for one in seen}
        return [found[run] for run in sorted(found, reverse=True)]
