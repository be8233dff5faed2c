"""What the command palette offers: places of the UI, environments, tasks, nodes and runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.style import Style

from fuelclient.printing import printable
from fuelclient.tui.requests import AskOverview, AskSubject, Overview
from fuelclient.tui.routes import TABS, Route, View
from fuelclient.tui.subject import Subject

if TYPE_CHECKING:
    from fuelclient.tui.app import FuelUI

_MOST = 200
"""How many names are matched letter by letter: fuzzy matching of a hundred thousand takes seconds."""

Target = tuple[str, str, Route]
"""A name, what it is, and where it leads."""


class Places(Provider):
    """Everything that has a name here. Only what is known already is offered: a palette does not wait."""

    async def discover(self) -> Hits:
        for name, meaning, route in _views(self._ui):
            shown = printable(name)
            yield DiscoveryHit(_shown(shown, meaning), self._going(route), text=shown)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        word = query.lower().replace(" ", "")
        likely = [target for target in _targets(self._ui) if _may_match(word, target[0].lower())][:_MOST]
        for raw, meaning, route in likely:
            name = printable(raw)
            score, places = matcher.fuzzy_search.match(query, name)
            if score > 0:
                shown = _shown(name, meaning, places, matcher.match_style)
                yield Hit(score, shown, self._going(route), text=name)

    @property
    def _ui(self) -> FuelUI:
        return cast("FuelUI", self.app)

    def _going(self, route: Route) -> _Go:
        return _Go(self._ui, route)


class _Go:
    """Calling it goes to a route."""

    def __init__(self, ui: FuelUI, route: Route) -> None:
        self._ui, self._route = ui, route

    def __call__(self) -> None:
        self._ui.go(self._route)


def _shown(name: str, meaning: str, places: Sequence[int] = (), style: Style | None = None) -> Content:
    """A name with what it is below, as they are: Textual would read markup in both. The letters at `places` stand out.

    >>> _shown("[/]", "environment 1").plain
    '[/]\\nenvironment 1'
    """
    content = Content(name)
    for place in places:
        if style is not None and not name[place].isspace():
            content = content.stylize(style, place, place + 1)
    return Content.assemble(content, "\n", (printable(meaning), "not bold $text-muted"))


def _may_match(word: str, name: str) -> bool:
    """Whether all letters of `word` stand in `name`, in their order.

    >>> _may_match("keyst", "primary-keystone"), _may_match("xk", "keystone")
    (True, False)
    """
    letters = iter(name)
    return all(letter in letters for letter in word)


def _views(ui: FuelUI) -> Iterator[Target]:
    here = ui.trail.here
    yield "environments", "all environments", Route()
    yield "all runs", "the history of all environments", Route(View.HISTORY)
    if here.env:
        for view in TABS:
            yield str(view), f"{view} of environment {here.env}", here.to(view)
        subject = ui.gateway.known(AskSubject(here.env, here.graph_type))
        if isinstance(subject, Subject):
            for kind in subject.types:
                yield f"graph type {kind}", "another graph of this environment", here.of(kind)


def _targets(ui: FuelUI) -> Iterator[Target]:
    yield from _views(ui)
    overview = ui.gateway.known(AskOverview())
    if isinstance(overview, Overview):
        for cluster in overview.clusters:
            yield f"environment {cluster.name}", f"environment {cluster.id}", Route(View.ROLES, cluster.id)
    here = ui.trail.here
    for found in ui.known.runs():
        graphs = ", ".join(found.request.graph_types)
        route = Route(View.RUN, found.cluster_id, run=found.id)
        yield f"run {found.id}", f"{graphs} on environment {found.cluster_id}, {found.status}", route
    subject = ui.gateway.known(AskSubject(here.env, here.graph_type)) if here.env else None
    if isinstance(subject, Subject):
        for row, shown in enumerate(subject.study.rows):
            route = here.to(View.PREVIEW, shown.task, task=subject.study.key(row))
            yield shown.task, f"task {shown.order}, {shown.layer}", route
        for node in subject.study.snapshot.nodes:
            yield f"node {node.name}", f"node {node.id}", here.to(View.NODES, str(node.id))
        for role in subject.study.snapshot.roles:
            yield f"role {role}", "a role", here.to(View.ROLES, role)
