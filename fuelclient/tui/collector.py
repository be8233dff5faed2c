"""The garbage collector while the UI starts: it would walk again and again over modules and styles that all stay."""

from __future__ import annotations

import gc


def hold() -> None:
    """Nothing is collected until `release`: a start makes a quarter of a million objects, and hardly any of them goes
    again."""
    gc.disable()


def release() -> None:
    """Garbage is collected as usual, but what the start has made is not looked at any more, which makes each later
    collection short too. Where nobody has called `hold`, nothing changes."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
