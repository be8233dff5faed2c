"""The theme: the colours of the UI."""

from __future__ import annotations

from textual.theme import Theme

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
