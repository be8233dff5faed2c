"""The command palette: screens, environments, tasks, nodes and runs by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, cast

from textual.app import ComposeResult
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.events import Click
from textual.style import Style
from textual.worker import Worker

from fuelclient.printing import printable
from fuelclient.tui.app_base import UI
from fuelclient.tui.requests import AskRuns
from fuelclient.tui.routes import TABS, Route, View

_MOST = 200
"""How many names are matched fuzzily, which would take seconds for a hundred thousand."""

Target = tuple[str, str, Route]
"""A name, its meaning, and where it leads."""


class Palette(CommandPalette):
    """Textual's palette, made safe for small terminals and late events."""

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            yield _Rows() if isinstance(widget, CommandList) else widget

    def run_worker(self, *arguments: Any, **options: Any) -> Worker[Any]:
        """Let a worker fail alone if the palette was closed meanwhile."""
        return super().run_worker(*arguments, **{**options, "exit_on_error": False})

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Turn pages only where rows have room; Textual would look for one."""
        has_room = any(rows.scrollable_content_region for rows in self.query(CommandList))
        return super().check_action(action, parameters) if has_room or action != "command_list" else False


class _Rows(CommandList):
    """Rows that may have changed before a click on one is handled."""

    def on_click(self, event: Click) -> None:
        if event.style.meta.get("option", 0) >= self.option_count:
            event.prevent_default()


class Places(Provider):
    """Names from what has been read already: a palette does not wait."""

    async def discover(self) -> Hits:
        for name, meaning, route in _views(self._ui):
            shown = printable(name)
            yield DiscoveryHit(_shown(shown, meaning), partial(self._ui.go, route), text=shown)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        word = query.lower().replace(" ", "")
        likely = [target for target in _targets(self._ui) if _may_match(word, target[0].lower())][:_MOST]
        for raw, meaning, route in likely:
            name = printable(raw)
            score, places = matcher.fuzzy_search.match(query, name)
            if score > 0:
                shown = _shown(name, meaning, places, matcher.match_style)
                yield Hit(score, shown, partial(self._ui.go, route), text=name)

    @property
    def _ui(self) -> UI:
        return cast(UI, self.app)


def _shown(name: str, meaning: str, places: Sequence[int] = (), style: Style | None = None) -> Content:
    """A name, with the letters at `places` highlighted, above its meaning; neither is read as markup.

    >>> _shown("[/]", "environment 1").plain
    '[/]\\nenvironment 1'
    """
    content = Content(name)
    for place in places:
        if style is not None and not name[place].isspace():
            content = content.stylize(style, place, place + 1)
    return Content.assemble(content, "\n", (printable(meaning), "not bold $text-muted"))


def _may_match(word: str, name: str) -> bool:
    """Whether `name` has the letters of `word` in their order.

    >>> _may_match("keyst", "primary-keystone"), _may_match("xk", "keystone")
    (True, False)
    """
    letters = iter(name)
    return all(letter in letters for letter in word)


def _views(ui: UI) -> Iterator[Target]:
    here = ui.trail.here
    yield "environments", "all environments", Route()
    yield "all runs", "the history of all environments", Route(View.HISTORY)
    if here.env:
        for view in TABS:
            yield str(view), f"{view} of environment {here.env}", here.to(view)
    for graph_type in ui.graph.types if ui.graph is not None else ():
        yield f"graph type {graph_type}", "another graph of this environment", here.of(graph_type)


def _targets(ui: UI) -> Iterator[Target]:
    yield from _views(ui)
    for cluster in ui.overview.clusters if ui.overview is not None else ():
        yield f"environment {cluster.name}", f"environment {cluster.id}", Route(View.ROLES, cluster.id)
    runs = {run.id: run for env in (0, ui.trail.here.env) for run in ui.gateway.answers.get(AskRuns(env)) or ()}
    for _, run in sorted(runs.items(), reverse=True):
        graphs = ", ".join(run.request.graph_types)
        route = Route(View.RUN, run.cluster_id, run=run.id)
        yield f"run {run.id}", f"{graphs} on environment {run.cluster_id}, {run.status}", route
    here, graph = ui.trail.here, ui.graph
    if graph is not None:
        for row, shown in enumerate(graph.study.rows):
            route = here.to(View.PREVIEW, shown.task, task=graph.study.key(row))
            yield shown.task, f"task {shown.order}, {shown.layer}", route
        for node in graph.study.snapshot.nodes:
            yield f"node {node.name}", f"node {node.id}", here.to(View.NODES, str(node.id))
        for role in graph.study.snapshot.roles:
            yield f"role {role}", "a role", here.to(View.ROLES, role)
