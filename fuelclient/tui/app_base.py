"""The base class of the app: what its screens, its command palette and the write guard need of it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import cast

from fuelclient.backends.base import Backend
from fuelclient.model.run import Run
from fuelclient.tui.gateway import Gateway
from fuelclient.tui.glyphs import glyphs
from fuelclient.tui.key_queue import PatientApp
from fuelclient.tui.requests import Abilities, AskGraph, AskOverview, AskResults, AskRuns, GraphData, Overview
from fuelclient.tui.routes import Route, Trail, View, command_line

MOST_LOG_LINES = 1000
"""How many command lines of what was looked at or done are kept."""


class UI(PatientApp):
    """The app as its parts see it. `FuelUI` implements the methods that raise here."""

    def __init__(
        self, connect: Callable[[], Backend], env: int, ascii_only: bool, program: str, clock: Callable[[], datetime]
    ) -> None:
        super().__init__()
        self.clock, self.program = clock, program
        self.glyphs = glyphs(ascii_only=ascii_only)
        self.gateway = Gateway(connect, self.post_message, time.monotonic)
        self.trail = Trail(Route())
        if env:
            self.trail.go(Route(View.ROLES, env))
        self.log_lines: deque[str] = deque(maxlen=MOST_LOG_LINES)

    # what the app does

    def go(self, route: Route) -> None:
        """Go to another place."""
        raise NotImplementedError

    def action_go_back(self) -> None:
        raise NotImplementedError

    def looked(self, route: Route) -> None:
        """Note in the log that the user looked at what a route shows."""
        self.log_lines.append(command_line(route, self.program))

    def action_renew(self) -> None:
        raise NotImplementedError

    def decorate(self) -> None:
        """Fill the bars of the screen."""
        raise NotImplementedError

    def tell_trouble(self, text: str) -> None:
        """Show a banner, or remove it if there is nothing to say."""
        raise NotImplementedError

    def copy_line(self, text: str) -> None:
        """Copy a text to the clipboard, and say so."""
        raise NotImplementedError

    # what is known already: nothing is asked for

    @property
    def graph(self) -> GraphData | None:
        """The graph on the screen."""
        here = self.trail.here
        known = self.gateway.answers.get(AskGraph(here.env, here.graph_type)) if here.env else None
        return cast("GraphData | None", known)

    @property
    def overview(self) -> Overview | None:
        """All environments."""
        return cast("Overview | None", self.gateway.answers.get(AskOverview()))

    @property
    def abilities(self) -> Abilities:
        """What the backend can do; until it has answered, everything."""
        known = self.graph or self.overview
        return Abilities() if known is None else known.abilities

    def environment_names(self) -> dict[int, str]:
        """Return the names of environments by id."""
        overview, graph = self.overview, self.graph
        names = {cluster.id: cluster.name for cluster in overview.clusters} if overview is not None else {}
        return names if graph is None else {**names, graph.env: graph.study.snapshot.cluster.name}

    def node_names(self, env: int) -> dict[int, str]:
        """Return the names of the nodes of an environment by id."""
        overview, graph = self.overview, self.graph
        if graph is not None and graph.env == env:
            return {node.id: node.name for node in graph.study.snapshot.nodes}
        return {node.id: node.name for node in overview.nodes} if overview is not None else {}

    def known_runs(self) -> list[Run]:
        """Return the runs of this environment and of all, the last one first."""
        runs: dict[int, Run] = {}
        for env in (0, self.trail.here.env):
            known = cast("tuple[Run, ...]", self.gateway.answers.get(AskRuns(env)) or ())
            runs |= {run.id: run for run in known}
        return [runs[run_id] for run_id in sorted(runs, reverse=True)]

    def forget_runs(self, env: int) -> None:
        """Read the runs again when they are shown next: one of them is known better by now."""
        self.gateway.answers.age(AskRuns())
        self.gateway.answers.age(AskRuns(env))
        self.gateway.answers.age_kind(AskResults)
