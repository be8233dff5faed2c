"""The panes of a screen, side by side, above one another, or one at a time."""

from __future__ import annotations

from collections.abc import Collection

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widget import Widget


class Pane(Vertical):
    """A part of a screen with a title; `tab` is a shorter title, for lines with several of them."""

    DEFAULT_CSS = """
    Pane { border-top: solid $panel; border-title-color: $text-muted; border-title-style: none; padding: 0; }
    Pane:focus-within { border-top: solid $accent; border-title-color: $accent; }
    """

    def __init__(self, name: str, inside: Widget, *, tab: str = "") -> None:
        super().__init__(name=name)
        self.tab = tab or name
        self.inside = inside
        self.note = ""
        self.border_title = Content(name)

    def compose(self) -> ComposeResult:
        yield self.inside


class Panes(Container):
    """The panes of a screen in a shape: `stack` (above one another), `pair` (side by side; as `stack` if narrow),
    `wide`, `three`, `columns` (one at a time if narrow), `over` and `run` (the first above the others; one of the
    others at a time if narrow). The active pane has the focus; on a screen with few lines only it is shown."""

    SCOPED_CSS = False  # rules select by classes of the screen
    DEFAULT_CSS = """
    Panes { height: 1fr; layout: grid; grid-gutter: 0 1; }
    Panes.pair, Panes.wide { grid-size: 2; grid-columns: 3fr 2fr; }
    Panes.three { grid-size: 2; grid-columns: 75fr 64fr; grid-rows: 2fr 1fr; }
    Panes.three > .first { row-span: 2; }
    Panes.columns { grid-size: 3; grid-columns: 3fr 4fr 3fr; grid-rows: 5fr 4fr; }
    Panes.over { grid-size: 2; grid-columns: 3fr 2fr; grid-rows: 4 1fr; }
    Panes.run { grid-size: 2; grid-columns: 3fr 2fr; grid-rows: 4 3fr 2fr; }
    Panes.over > .first, Panes.run > .first { column-span: 2; }
    Panes.run > .second { row-span: 2; }
    Panes.stack, .-narrow Panes, .-short Panes, .-tiny Panes { layout: vertical; }
    Panes > Pane { height: 1fr; }
    .-narrow Panes.wide > Pane, .-narrow Panes.three > Pane, .-narrow Panes.columns > Pane { display: none; }
    .-narrow Panes.run > Pane, .-narrow Panes.over > Pane { display: none; }
    .-narrow.-tall Panes.run > .first, .-narrow.-tall Panes.run > .lower { display: block; }
    .-narrow.-tall Panes.over > .first, .-narrow.-tall Panes.over > .lower { display: block; }
    .-short Panes > Pane, .-tiny Panes > Pane { display: none; }
    Panes > Pane.hidden { display: none; }
    .-narrow Panes > Pane.active, .-short Panes > Pane.active, .-tiny Panes > Pane.active { display: block; }
    """

    def __init__(self, shape: str, *panes: Pane, active: int = 0) -> None:
        super().__init__(*panes, classes=shape)
        self.panes = panes
        self._shown_below = 1
        panes[0].add_class("first")
        panes[min(1, len(panes) - 1)].add_class("second")
        self._set_active(active)

    def on_mount(self) -> None:
        self.activate(self.active)

    def activate(self, index: int) -> None:
        self._set_active(index % len(self.panes))
        self.screen.set_focus(self.panes[self.active].inside)
        self.update_titles()

    def _set_active(self, index: int) -> None:
        self.active = index
        self._shown_below = index or self._shown_below
        for number, pane in enumerate(self.panes):
            pane.set_class(number == index, "active")
            pane.set_class(number == self._shown_below, "lower")

    def follow_focus(self) -> None:
        for number, pane in enumerate(self.panes):
            if pane.has_focus_within and number != self.active:
                self.activate(number)

    def fit_first_pane(self, rows: int) -> None:
        """If the first pane is above others, limit its height to what `rows` rows need."""
        classes, first = self.screen.classes, self.panes[0].styles
        if self.has_class("run"):
            height = max(3, min(rows + 2, 2 * self.size.height // 5))
            first.height = "1fr" if _is_low(classes) else height
            self.styles.grid_rows = f"{height} 3fr 2fr"
            return
        if self.has_class("over"):
            self.styles.grid_rows = f"{max(3, min(rows + 2, 2 * self.size.height // 5))} 1fr"
        above = self.has_class("stack") or ("-narrow" in classes and (self.has_class("pair") or self.has_class("over")))
        first.max_height = max(rows, 1) + 3 if above and not _is_low(classes) else None

    def hide_others(self, hide: bool) -> None:
        """Show the first pane alone, or all of them again."""
        for pane in self.panes[1:]:
            pane.set_class(hide, "hidden")

    def note(self, index: int, text: str) -> None:
        """Set the text after the title of a pane."""
        if self.panes[index].note != text:
            self.panes[index].note = text
            self.update_titles()

    def update_titles(self) -> None:
        """Update the titles of the panes. If one is shown alone, its title names the others too, as tabs."""
        classes = self.screen.classes
        stacked = self.has_class("stack") or self.has_class("pair")
        tabs = list(self.panes) if _is_low(classes) or ("-narrow" in classes and not stacked) else []
        if tabs and (self.has_class("run") or self.has_class("over")) and not _is_low(classes):
            tabs = tabs[1:]
        for pane in self.panes:
            if pane in tabs:
                shown = tabs[tabs.index(pane) :] if self.screen.size.width < 40 else tabs
                names = [(f" {other.tab} ", "bold reverse" if other is pane else "dim") for other in shown]
                pane.border_title = Content.assemble(*names, (f" {pane.note} " if pane.note else "", ""))
            else:
                pane.border_title = Content(f"{pane.name}  {pane.note}".strip())


def _is_low(classes: Collection[str]) -> bool:
    """Whether a screen is too low for two panes."""
    return "-short" in classes or "-tiny" in classes
