"""Drawing: the gate through which every line of every widget goes before it is drawn, Textual's own widgets included.

Names and messages come from documents, machines and masters that the user may not know, and a terminal obeys escape
sequences wherever they come from. Our widgets show such characters as escapes; whatever way a text took, it leaves
its commands here.
"""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from fuelclient.printing import printable


class Harmless(LineFilter):
    """Lines in which nothing is obeyed by a terminal; they are as wide as before."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 (Textual's)
        if all(segment.text.isprintable() for segment in segments):
            return segments
        return [segment if segment.text.isprintable() else _harmless(segment) for segment in segments]


def _harmless(segment: Segment) -> Segment:
    """A segment without what a terminal may obey: most of that has no width of its own."""
    text = "".join(one if printable(one) == one else " " * cell_len(one) for one in segment.text)
    return Segment(set_cell_size(text, cell_len(segment.text)), segment.style, segment.control)
