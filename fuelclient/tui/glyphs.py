"""The symbols that the UI draws, in Unicode and in ASCII."""

from __future__ import annotations

from dataclasses import dataclass, field

from fuelclient.insight.lanes import ASCII as ASCII_INK
from fuelclient.insight.lanes import Ink


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The signs. They differ in shape, so that colours are not needed to tell them apart."""

    cursor: str = "▌"
    cut: str = "…"
    crumb: str = "▸"
    dot: str = "·"
    arrow: str = "→"
    up: str = "▲"
    down: str = "▼"
    was: str = "╰ was"
    gone: str = "╰ gone"
    added: str = "+"
    changed: str = "~"
    error: str = "✗"
    warning: str = "!"
    info: str = "i"
    ok: str = "✓"
    no: str = "-"
    caret: str = "^"
    running: str = "▶"
    skipped: str = "○"
    blocked: str = "⊘"
    full: str = "█"
    hollow: str = "░"
    on: str = "●"
    off: str = "○"
    is_ascii: bool = False
    ink: Ink = field(default_factory=Ink)


UNICODE = Glyphs()

ASCII = Glyphs(
    cursor=">", cut="~", crumb="/", dot=".", arrow="->", up="^", down="v", was="`- was", gone="`- gone",
    error="x", ok="y", no="-", running=">", skipped="-", blocked="#", full="#",
    hollow=".", on="(x)", off="( )", is_ascii=True,
    ink=ASCII_INK,
)  # fmt: skip
