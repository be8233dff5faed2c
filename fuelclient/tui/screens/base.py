"""The base class of screens, with bars, filter and panes, and the list of the keys that work at the moment."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from textwrap import wrap
from typing import Any, ClassVar, cast

from textual.actions import parse as parse_action
from textual.app import ComposeResult
from textual.binding import Binding
from textual.dom import DOMNode
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from fuelclient.insight.query import BadQuery, Query, Rows, parse
from fuelclient.model.run import Run
from fuelclient.plan.study import TaskKey
from fuelclient.tui.app_base import UI
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.table import Table
from fuelclient.tui.requests import Request
from fuelclient.tui.routes import Looks, Route
from fuelclient.tui.widgets.bar import Bar, FilterBar, QueryError
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Panes
from fuelclient.tui.widgets.virtual_table import Arranged, Chosen, VirtualTable

RUN_BINDINGS = (
    Binding("x", "app.stop(False)", "stop", id="act.stop"),
    Binding("X,shift+x", "app.stop(True)", "kill", id="act.kill"),
    Binding("u", "app.resume", "resume", id="act.resume"),
    Binding("D,shift+d", "app.delete", "delete", id="act.delete"),
)
"""The keys of screens on which a run can be changed."""


class ViewScreen(Screen[None]):
    """A screen that shows a route. The filter applies to the table in pane number `MAIN`."""

    MAIN: ClassVar[int] = 0
    PLACEHOLDER: ClassVar[str] = "filter: words, field:word, !word"

    AUTO_FOCUS = ""  # the active pane takes the focus; Textual would focus the filter

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (9, "-short"), (14, "-tall")]

    SCOPED_CSS = False  # some rules select by a class of the screen itself
    DEFAULT_CSS = """
    ViewScreen { background: $background; }
    ViewScreen #head, ViewScreen #banner, ViewScreen #keys { background: $surface; }
    ViewScreen #banner { display: none; }
    ViewScreen #banner.shown { display: block; }
    .-short #tabs, .-short #line, .-short FilterBar { display: none; }
    .-tiny Bar, .-tiny FilterBar, .-tiny #advice, .-short #advice, .-short #counts { display: none; }
    .-tiny FilterBar Bar, .-tiny #banner.shown { display: block; }
    """

    BINDINGS = [
        # priority: the focus moves before the next key is handled, however fast the user types
        Binding("slash", "type", "filter", id="view.filter", priority=True),
        Binding("exclamation_mark", "invert", "invert the filter", show=False, id="view.invert"),
        Binding("escape", "leave", "clear, or back", show=False, id="view.leave"),
        Binding("tab", "pane(1)", "pane", id="view.pane"),
        Binding("shift+tab", "pane(-1)", "pane before", show=False, id="view.pane-before"),
    ]

    def __init__(self, route: Route) -> None:
        super().__init__()
        self.route = route
        self.inverted = route.looks.inverted
        self.switched = route.looks.switched
        """Whether the switch of the view is on; `routes.Looks` lists the switches."""
        self.filter_read = Query()
        """The last valid filter. It is the text of the filter unless an error is shown."""
        self.filled = False
        self._answer: object = None

    def fit(self, size: Size) -> None:
        """Set the classes for a size before Textual styles the screen, so that it does so only once."""
        breakpoints = ((self.HORIZONTAL_BREAKPOINTS, size.width), (self.VERTICAL_BREAKPOINTS, size.height))
        self.add_class(*(max(point for point in points if length >= point[0])[1] for points, length in breakpoints))

    @property
    def ui(self) -> UI:
        return cast(UI, self.app)

    @property
    def glyphs(self) -> Glyphs:
        return self.ui.glyphs

    # for subclasses

    @abstractmethod
    def request(self) -> Request[object]:
        """The request whose answer fills the screen."""

    @abstractmethod
    def body(self) -> Panes:
        """Make the panes."""

    def above(self) -> Iterable[Widget]:
        """Widgets between the filter and the panes."""
        return ()

    @abstractmethod
    def fill(self, answer: Any, /) -> None:
        """Fill the panes with the answer to `request`."""

    def state(self) -> Route:
        """The route that restores the current state of the screen."""
        task, looks = self.task_here(), self.looks()
        return replace(self.route, focus=self.name_here(), query=self.filter_bar.text, task=task, looks=looks)

    def shown(self) -> Route:
        """The route for the command line that prints what the focused pane shows."""
        return self.route

    def in_side_pane(self) -> bool:
        """Whether a pane other than the first one has the focus."""
        return self.filled and self.panes.active > 0

    def looks(self) -> Looks:
        return Looks(self.main.sort, self.inverted, self.switched)

    # putting it together

    def compose(self) -> ComposeResult:
        yield Bar(id="head")
        yield Bar(id="tabs", gap=2)
        yield Bar(id="banner")
        yield FilterBar(self.PLACEHOLDER)
        yield QueryError()
        yield from self.above()
        yield self.body()
        yield Bar(id="line")
        yield Bar(id="keys", gap=2)

    def is_whole(self) -> bool:
        """Whether all widgets exist: the user may leave a screen before it has been built."""
        return self in self.app.screen_stack and bool(self.query("FilterBar > _Query")) and bool(self.query(Panes))

    def on_mount(self) -> None:
        if not self.is_whole():
            return
        self.filter_bar.text = self.route.query
        self.explain(self.request())
        self.main.sort = self.route.looks.sort
        self.main.filter(self.read_filter())
        self.refill()

    def refill(self) -> None:
        """Show a new answer, if there is one. The cursors stay where the user has moved them."""
        if not self.is_whole():
            return
        if (answer := self.ui.gateway.answer(self.request())) is not None and answer is self._answer:
            self.show_other_answers()
        elif answer is not None:
            if self.filled:
                self.route = self.state()
            self._answer = answer
            self.fill(answer)
            self.filled = True
            self.show_other_answers()
            if self.filter_bar.text:
                self.apply(self.read_filter())  # its fields could not be checked before
        self.ui.decorate()

    def requests(self) -> tuple[Request[object], ...]:
        """The requests whose failures the screen shows."""
        return (self.request(), *(self.other_requests() if self.filled and self.is_whole() else ()))

    def other_requests(self) -> tuple[Request[object], ...]:
        """The requests other than `request`; called only once the screen is filled."""
        return ()

    def explain(self, request: Request[object]) -> None:
        """Explain a missing answer, unless the screen shows older data."""
        if request in self.requests()[1:]:
            self.show_other_answers()
        if request == self.request() and not self.filled:
            for table in {self.main, self.panes.panes[self.panes.active].inside}:
                if isinstance(table, VirtualTable):
                    table.show_text(*self.missing_lines(request))

    def empty(self) -> None:
        """Show nothing, because the subject no longer exists."""
        self.filled, self._answer = False, None
        self.clear()

    def clear(self) -> None:
        for table in self.query(VirtualTable):
            table.show_text("")
        for details in self.query(Details):
            details.show([])
        for index in range(len(self.panes.panes)):
            self.panes.note(index, "")
        self.panes.hide_others(False)

    def missing_lines(self, request: Request[object]) -> list[str]:
        """Why a request failed, or that it is being read, in lines that fit."""
        if (trouble := self.ui.gateway.failed.get(request)) is None:
            return [f"Reading {request.what} ..."]
        wrapped = wrap(trouble, max(20, self.main.size.width - 4))
        return [f"Could not read {request.what}.", "", *wrapped, "", "ctrl+r asks again now."]

    @property
    def panes(self) -> Panes:
        return self.query_one(Panes)

    @property
    def details(self) -> Details:
        """The pane with details. Not every screen has one."""
        return self.query_one(Details)

    @property
    def filter_bar(self) -> FilterBar:
        return self.query_one(FilterBar)

    @property
    def main(self) -> VirtualTable:
        """The table that is filtered."""
        return cast(VirtualTable, self.panes.panes[self.MAIN].inside)

    # filtering

    def terms(self, table: Table) -> tuple[Collection[str], Rows, Collection[str]]:
        """What a query about a table may contain: its field names, its kind of rows, ids of tasks."""
        return table.keys, table.about, ()

    def query_for(self, text: str, table: Table) -> Query:
        """Parse a query about a table. Raise `BadQuery` if it is invalid."""
        return parse(text, *self.terms(table))

    def read_filter(self, table: Table | None = None) -> Query:
        """Parse the filter as a query about the main table, or about `table`, which will replace it. If the filter is
        invalid, show the error below it and return the last valid query, or an empty one."""
        error, table = None, table or self.main.table
        try:
            self.filter_read = query = self.query_for(self.filter_bar.text, table)
        except BadQuery as invalid:
            error, query = invalid, Query()
            with suppress(BadQuery):  # parse it again: the table or its data may have changed
                query = self.query_for(self.filter_read.text, table)
        self.query_one(QueryError).show(error, hidden=self.filter_bar.query_one(Input).scroll_offset.x)
        self.main.has_invalid_filter = error is not None
        self.main.refresh()
        return query.inverted() if self.inverted else query

    def apply(self, query: Query) -> None:
        self.main.filter(query)

    def totals(self) -> tuple[int, int]:
        """The number of shown rows, and of all rows."""
        return len(self.main.order), len(self.main.table)

    def refilter(self) -> None:
        self.apply(self.read_filter())
        self.show_totals()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.refilter()

    def action_leave_filter(self, clear: bool) -> None:
        if clear:
            self.filter_bar.text = ""
        elif self.filled and not self.main.has_invalid_filter:
            self.filter_bar.text = self.filter_read.written
        self.filter_bar.hide_if_short()
        self.panes.activate(self.MAIN)

    def on_chosen(self, message: Chosen) -> None:
        message.stop()
        self.open()

    def open(self) -> None:
        """Open the row under the cursor."""

    def on_arranged(self, message: Arranged) -> None:
        message.stop()
        if self.is_whole() and message.table is self.main:
            self.show_totals()

    def show_totals(self) -> None:
        """Show the number of rows next to the filter."""
        shown, total = self.totals()
        self.filter_bar.show_totals(shown, total, self.main.sorting, inverted=self.inverted)
        self.ui.decorate()  # the command line has the filter
        if self.MAIN == 0:
            self.panes.fit_first_pane(len(self.main.order) or len(self.main.table.empty))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 (Textual's)
        """Disable the key `/` in the filter, so that it can be typed there."""
        return action != "type" or not self.query(FilterBar) or not self.filter_bar.has_focus_within

    def action_type(self) -> None:
        self.filter_bar.start_typing()

    def action_invert(self) -> None:
        self.inverted = not self.inverted
        self.refilter()

    def action_leave(self) -> None:
        """Clear the filter; without one, go back."""
        if self.filter_bar.text or self.inverted:
            self.inverted = False
            self.filter_bar.text = ""
            self.refilter()
        else:
            self.ui.action_go_back()

    # panes

    def action_pane(self, step: int) -> None:
        self.panes.activate(self.panes.active + step)

    def on_descendant_focus(self) -> None:
        self.panes.follow_focus()
        self.ui.decorate()

    def on_resize(self) -> None:
        self.call_after_refresh(self._resized)

    def _resized(self) -> None:
        if self.is_attached and self.is_whole():
            self.panes.update_titles()
            self.show_totals()
            self.ui.decorate()

    # live data

    def show_other_answers(self) -> None:
        """Show the answers to `other_requests`. Do not repeat failed requests."""

    def live(self) -> Sequence[Request[object]]:
        """The requests to repeat every second."""
        return ()

    # the objects under the cursor

    @property
    def row_here(self) -> int:
        """The row of the main table under the cursor, or -1."""
        return self.main.row if self.filled else -1

    def env_here(self) -> int:
        """The environment of the screen or under the cursor, or 0."""
        return self.route.env

    def run_here(self) -> Run | None:
        return None

    def task_row(self) -> int:
        """The row of the study under the cursor, or -1 if rows are not tasks."""
        return -1

    def task_here(self) -> TaskKey | None:
        return None

    def name_here(self) -> str:
        """The id under the cursor, which `y` copies."""
        table = self.focused if isinstance(self.focused, VirtualTable) else self.main
        return table.table.ids[table.row] if table.row >= 0 else ""


Group = tuple[str, str, Sequence[tuple[str, str]]]
"""The help of a widget, screen or app: name, text, and keys with their meanings."""

_KEY_NAMES = {"left_square_bracket": "[", "right_square_bracket": "]", "exclamation_mark": "!", "question_mark": "?",
          "slash": "/", "at": "@", "colon": ":", "pagedown": "PgDn", "pageup": "PgUp", "enter": "Enter",
          "escape": "Esc", "tab": "Tab", "shift+tab": "shift+Tab"}  # fmt: skip

_LAST_KEYS = ("help", "quit")


def key_name(key: str) -> str:
    """The name of a key in help texts.

    >>> key_name("question_mark"), key_name("ctrl+r")
    ('?', 'ctrl+r')
    """
    return _KEY_NAMES.get(key, key)


def active_keys(screen: Screen[Any], *, armed: bool = False) -> list[tuple[str, str]]:
    """The keys for the bar with their meanings. If the UI is armed, keys for changes come first; help and quit last."""
    keys: dict[str, str] = {}
    ranks: dict[str, int] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        acts = (binding.id or "").startswith("act.")
        if binding.show and active.enabled and (armed or not acts) and binding.description not in keys:
            keys[binding.description] = key_name(binding.key)
            ranks[binding.description] = 0 if acts else 2 if binding.description in _LAST_KEYS else 1
    return [(keys[what], "disarm" if armed and what == "arm" else what) for what in sorted(keys, key=ranks.__getitem__)]


def help_groups(screen: Screen[Any]) -> Iterator[Group]:
    """The help texts and enabled keys of the focused widget, the screen and the app."""
    nodes: tuple[DOMNode | None, ...] = (screen.focused, screen, screen.app)
    for node in filter(None, nodes):
        keys: dict[str, list[str]] = {}
        for cls in type(node).__mro__:
            for binding in cls.__dict__.get("BINDINGS", ()):
                if isinstance(binding, Binding) and binding.id:
                    _, action, parameters = parse_action(binding.action)
                    if node.check_action(action, parameters) is True:  # it would do something now
                        keys.setdefault(binding.description, []).extend(map(key_name, binding.key.split(",")))
        name = getattr(node, "BINDING_GROUP_TITLE", None) or type(node).__name__.removesuffix("Screen").lower()
        yield str(name), str(node.HELP or ""), [(" ".join(names), what) for what, names in keys.items()]
