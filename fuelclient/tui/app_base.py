"""The base class of the app: what its screens, its command palette and the write guard need of it."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime

from textual.theme import Theme

from fuelclient.backends.base import Backend
from fuelclient.model.run import Run
from fuelclient.tui.gateway import Gateway
from fuelclient.tui.glyphs import ASCII, UNICODE
from fuelclient.tui.requests import Abilities, AskGraph, AskOverview, AskResults, AskRuns, GraphData, Overview
from fuelclient.tui.routes import Route, Trail, View, command_line
from fuelclient.tui.terminal import TerminalApp

MOST_LOG_LINES = 1000
"""How many command lines of what was looked at or done are kept."""

ACCENT = "#e0a458"

THEME = Theme(
    name="fuel",
    primary=ACCENT,
    secondary=ACCENT,
    accent=ACCENT,
    warning="#d8c26a",
    error="#e06c6c",
    success=ACCENT,
    foreground="#d6d6d2",
    background="#16181a",
    surface="#202427",
    panel="#3a4045",
    dark=True,
    variables={"text-muted": "#8d959b", "input-selection-background": "#e0a458 35%"},
)


class UI(TerminalApp):
    """The app as its parts see it, over any backend; `connect` makes one in whatever thread calls it. `FuelUI`
    implements the abstract methods."""

    trouble = ""
    """The text of the banner."""

    def __init__(
        self,
        connect: Callable[[], Backend],
        *,
        env: int = 0,
        ascii_only: bool = False,
        program: str = "fuel2",
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__()
        self.clock, self.program = clock, program
        self.glyphs = ASCII if ascii_only else UNICODE
        self.gateway = Gateway(connect, self.post_message, time.monotonic)
        self.trail = Trail(Route())
        if env:
            self.trail.go(Route(View.ROLES, env))
        self.log_lines: deque[str] = deque(maxlen=MOST_LOG_LINES)
        self.register_theme(THEME)
        self.theme = THEME.name

    # what the app does

    @abstractmethod
    def go(self, route: Route) -> None:
        """Go to another place."""

    @abstractmethod
    def action_go_back(self) -> None:
        """Go to the place before."""

    def looked(self, route: Route) -> None:
        """Note in the log that the user looked at what a route shows."""
        self.log_lines.append(command_line(route, self.program))

    @abstractmethod
    def action_renew(self) -> None:
        """Read again what the screen shows."""

    @abstractmethod
    def decorate(self) -> None:
        """Fill the bars of the screen."""

    def tell_trouble(self, text: str) -> None:
        """Show a banner, or remove it if the text is empty."""
        self.trouble = text
        self.decorate()

    def copy_line(self, text: str) -> None:
        """Copy a text to the clipboard, and show its beginning."""
        if text:
            self.copy_to_clipboard(text)
            self.notify(text if len(text) < 200 else f"{text[:200]} ...", title="copied", markup=False)

    # what is known already: nothing is asked for

    @property
    def graph_here(self) -> AskGraph:
        """The request for the graph on the screen."""
        return AskGraph(self.trail.here.env, self.trail.here.graph_type)

    @property
    def graph(self) -> GraphData | None:
        """The graph on the screen."""
        return self.gateway.answers.get(self.graph_here)

    @property
    def overview(self) -> Overview | None:
        """All environments."""
        return self.gateway.answers.get(AskOverview())

    @property
    def abilities(self) -> Abilities:
        """What the backend can do; until it has answered, everything."""
        known = self.graph or self.overview
        return Abilities() if known is None else known.abilities

    def environment_names(self) -> dict[int, str]:
        overview, graph = self.overview, self.graph
        names = {cluster.id: cluster.name for cluster in overview.clusters} if overview is not None else {}
        return names if graph is None else {**names, graph.env: graph.study.snapshot.cluster.name}

    def node_names(self, env: int) -> dict[int, str]:
        """The names of the nodes of an environment by id."""
        overview, graph = self.overview, self.graph
        if graph is not None and graph.env == env:
            return {node.id: node.name for node in graph.study.snapshot.nodes}
        return {node.id: node.name for node in overview.nodes} if overview is not None else {}

    def known_runs(self) -> list[Run]:
        """The runs of this environment and of all, the last one first."""
        runs: dict[int, Run] = {}
        for env in (0, self.trail.here.env):
            runs |= {run.id: run for run in self.gateway.answers.get(AskRuns(env)) or ()}
        return [runs[run_id] for run_id in sorted(runs, reverse=True)]

    def forget_runs(self, env: int) -> None:
        """Read the runs again when they are shown next, because one of them has changed."""
        runs = (AskRuns(), AskRuns(env))
        self.gateway.answers.age(lambda request: request in runs or isinstance(request, AskResults))
