"""Hold back the garbage collector while the UI starts: it would walk again and again over objects that all stay."""

from __future__ import annotations

import gc


def hold() -> None:
    """Collect nothing until `release`: a start makes a quarter of a million objects, and hardly any of them dies."""
    gc.disable()


def release() -> None:
    """Collect garbage as usual, but never look again at what the start has made, which keeps later collections short.

    Without `hold`, do nothing.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
