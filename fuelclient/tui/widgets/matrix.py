"""A matrix for any number of nodes and tasks. Only visible cells are drawn."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.strip import Strip

from fuelclient.printing import one_line
from fuelclient.tui.glyphs import UNICODE, Glyphs
from fuelclient.tui.presenters.run import Grid
from fuelclient.tui.presenters.table import Cell, Tone
from fuelclient.tui.widgets.virtual_table import Lined, Moved, ending

_MAX_LABEL_WIDTH = 24
_SHARE_WIDTH = 7
_FAR = 1 << 30


class Matrix(Lined):
    """A line for each node, a column of one cell for each task, and a header with the task under the cursor."""

    COMPONENT_CLASSES = {"matrix--line", "matrix--cell"}

    DEFAULT_CSS = """
    Matrix > .matrix--line { background: $surface; }
    Matrix > .matrix--cell { background: $accent 40%; text-style: bold reverse; }
    """

    HELP = "A line for each node, a sign for each of its task instances in execution order. The arrows move."
    BINDING_GROUP_TITLE = "matrix"

    BINDINGS = [
        Binding("down,j", "move(1, 0)", "node below", show=False, id="matrix.down"),
        Binding("up,k", "move(-1, 0)", "node above", show=False, id="matrix.up"),
        Binding("right,l", "move(0, 1)", "next task", show=False, id="matrix.right"),
        Binding("left,h", "move(0, -1)", "task before", show=False, id="matrix.left"),
        Binding("pagedown,ctrl+d", "page(1)", "page down", show=False, id="matrix.page-down"),
        Binding("pageup,ctrl+u", "page(-1)", "page up", show=False, id="matrix.page-up"),
        Binding("home", f"move(0, -{_FAR})", "first task", show=False, id="matrix.home"),
        Binding("end", f"move(0, {_FAR})", "last task", show=False, id="matrix.end"),
        Binding("g", f"move(-{_FAR}, 0)", "first node", show=False, id="matrix.first"),
        Binding("G,shift+g", f"move({_FAR}, 0)", "last node", show=False, id="matrix.last"),
    ]

    def __init__(self, glyphs: Glyphs = UNICODE, *, id: str | None = None) -> None:
        super().__init__(glyphs, id=id)
        self.grid: Grid | None = None
        self.line = self.column = 0
        self._label_width = 0

    def show(self, grid: Grid) -> None:
        """Show another grid. The cursor stays if its cell exists, else it moves to the nearest one."""
        self.grid = grid
        widest = max((cell_len(one_line(grid.label(line))) for line in range(len(grid.lines))), default=0)
        self._label_width = min(widest, _MAX_LABEL_WIDTH)
        self.line = max(0, min(self.line, len(grid.lines) - 1))
        self.column = max(0, min(self.column, len(grid.columns) - 1))
        self._resize()
        self.refresh()

    def clear(self) -> None:
        self.grid, self.line, self.column = None, 0, 0
        self.refresh()

    @property
    def number(self) -> int:
        """The instance under the cursor, or -1."""
        return self.grid.number(self.line, self.column) if self.grid else -1

    def go_to(self, line: int, column: int) -> None:
        """Move the cursor without a message."""
        if (line, column) != (self.line, self.column):
            lines = (self.line, line)
            self.line, self.column = line, column
            self.scroll_to_cell(line, column, self._visible_columns)
            self.refresh(Region(0, 0, self.size.width, 1))
            self.redraw(lines)

    def action_move(self, lines: int, columns: int) -> None:
        if self.grid is None:
            return
        line = max(0, min(len(self.grid.lines) - 1, self.line + lines))
        column = max(0, min(len(self.grid.columns) - 1, self.column + columns))
        if (line, column) != (self.line, self.column):
            self.go_to(line, column)
            self.post_message(Moved(self))

    def action_page(self, pages: int) -> None:
        self.action_move(pages * max(1, self.size.height - 2), 0)

    def on_click(self, event: events.Click) -> None:
        offset = event.x - self._frozen
        if self.grid is not None and event.y > 0 and offset >= 0:
            line, column = self.scroll_offset.y + event.y - 1, self.scroll_offset.x + offset
            self.action_move(line - self.line, column - self.column)

    # positions

    @property
    def _frozen(self) -> int:
        """The width of the part that does not scroll: the cursor's sign, the node and its share."""
        return 2 + self._label_width + _SHARE_WIDTH

    @property
    def _visible_columns(self) -> int:
        """The number of visible columns."""
        return max(1, self.scrollable_content_region.width - self._frozen)

    def _resize(self) -> None:
        if self.grid is not None:
            self.virtual_size = Size(self._frozen + len(self.grid.columns), len(self.grid.lines) + 1)

    def on_resize(self) -> None:
        self._resize()
        self.scroll_to_cell(self.line, self.column, self._visible_columns)

    # drawing

    def render_line(self, y: int) -> Strip:
        base, grid = self.base, self.grid
        line = y - 1 + self.scroll_offset.y
        if grid is None or not grid.columns:
            return Strip.blank(self.size.width, base)
        if y == 0:
            return self._header(grid, base)
        if line >= len(grid.lines):
            return Strip.blank(self.size.width, base)
        here = line == self.line
        style = base + self.get_component_rich_style("matrix--line", partial=True) if here else base
        label = set_cell_size(one_line(grid.label(line)), self._label_width)
        segments = [
            self.segment(Cell(f"{self.glyphs.cursor if here else ' '} ", Tone.ACCENT), style),
            self.segment(Cell(label, Tone.STRONG if here else Tone.PLAIN), style),
            self.segment(Cell(f" {grid.share(line)} ", Tone.DIM), style),
        ]
        segments += self._cells(grid, line, style)
        return Strip(segments).crop_extend(0, self.size.width, style)

    def _cells(self, grid: Grid, line: int, base: Style) -> list[Segment]:
        """The signs of a line. Adjacent signs of the same tone are one segment."""
        first = self.scroll_offset.x
        segments: list[Segment] = []
        text, tone = "", Tone.PLAIN
        for column in range(first, min(first + self._visible_columns, len(grid.columns))):
            cell = grid.cell(line, column) or Cell(" ", tone)
            if line == self.line and column == self.column:
                here = self.toned(cell.tone, base) + self.get_component_rich_style("matrix--cell", partial=True)
                segments += [Segment(text, self.toned(tone, base)), Segment(str(cell), here)]
                text = ""
                continue
            if cell.tone is not tone:
                segments.append(Segment(text, self.toned(tone, base)))
                text, tone = "", cell.tone
            text += str(cell)
        return [*segments, Segment(text, self.toned(tone, base))]

    def _header(self, grid: Grid, base: Style) -> Strip:
        """The name of the task under the cursor, left or right of a sign that points at its column."""
        style = self.header(base)
        at, name = self._frozen + self.column - self.scroll_offset.x, one_line(grid.head(self.column))
        if at + 2 + cell_len(name) <= self.scrollable_content_region.width:
            text = f"{' ' * at}{self.glyphs.down} {name}"
        else:
            text = ending(f"{name} {self.glyphs.down}", at + 1)
            text = " " * (at + 1 - cell_len(text)) + text
        return Strip([Segment(text, style)]).crop_extend(0, self.size.width, style)
