"""The command palette, which finds screens, environments, tasks, nodes and runs by name."""

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

_MAX_MATCHED = 200
"""The largest number of names that are matched fuzzily: a hundred thousand would take seconds."""

Target = tuple[str, str, Route]
"""A name, its meaning, and the route that it opens."""


class Palette(CommandPalette):
    """Textual's palette, without its errors in small terminals and for late events."""

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            yield _Rows() if isinstance(widget, CommandList) else widget

    def run_worker(self, *arguments: Any, **options: Any) -> Worker[Any]:
        """Do not end the app if a worker fails because the palette has been closed."""
        return super().run_worker(*arguments, **{**options, "exit_on_error": False})

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys of the list while it has no visible row, because Textual would search for one."""
        has_room = any(rows.scrollable_content_region for rows in self.query(CommandList))
        return super().check_action(action, parameters) if has_room or action != "command_list" else False


class _Rows(CommandList):
    """The list of matches. It ignores a click on a row that no longer exists when the click is handled."""

    def on_click(self, event: Click) -> None:
        if event.style.meta.get("option", 0) >= self.option_count:
            event.prevent_default()


class Places(Provider):
    """Names from cached answers only, so that the palette need not wait."""

    async def discover(self) -> Hits:
        for name, meaning, route in _views(self._ui):
            shown = printable(name)
            yield DiscoveryHit(_content(shown, meaning), partial(self._ui.go, route), text=shown)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        word = query.lower().replace(" ", "")
        candidates = [target for target in _targets(self._ui) if _may_match(word, target[0].lower())][:_MAX_MATCHED]
        for raw, meaning, route in candidates:
            name = printable(raw)
            score, positions = matcher.fuzzy_search.match(query, name)
            if score > 0:
                shown = _content(name, meaning, positions, matcher.match_style)
                yield Hit(score, shown, partial(self._ui.go, route), text=name)

    @property
    def _ui(self) -> UI:
        return cast(UI, self.app)


def _content(name: str, meaning: str, positions: Sequence[int] = (), style: Style | None = None) -> Content:
    """A name, with the characters at `positions` highlighted, above its meaning. Neither is parsed as markup.

    >>> _content("[/]", "environment 1").plain
    '[/]\\nenvironment 1'
    """
    content = Content(name)
    for position in positions:
        if style is not None and not name[position].isspace():
            content = content.stylize(style, position, position + 1)
    return Content.assemble(content, "\n", (printable(meaning), "not bold $text-muted"))


def _may_match(word: str, name: str) -> bool:
    """Whether `name` has the characters of `word` in the same order.

    >>> _may_match("keyst", "primary-keystone"), _may_match("xk", "keystone")
    (True, False)
    """
    characters = iter(name)
    return all(character in characters for character in word)


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
        yield f"run {run.id}", f"{graphs} on environment {run.cluster_id}, {run.word}", route
    here, graph = ui.trail.here, ui.graph
    if graph is not None:
        for row, shown in enumerate(graph.study.rows):
            route = here.to(View.PREVIEW, shown.task, task=graph.study.key(row))
            yield shown.task, f"task {shown.order}, {shown.layer}", route
        for node in graph.study.snapshot.nodes:
            yield f"node {node.name}", f"node {node.id}", here.to(View.NODES, str(node.id))
        for role in graph.study.snapshot.roles:
            yield f"role {role}", "a role", here.to(View.ROLES, role)
