"""Start our own modules as processes that outlive the terminal: runners and sweeps."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from fuelclient.executors.local import environment
from fuelclient.settings import CUSTOM_SETTINGS, handed_on

_PACKAGE = Path(__file__).resolve().parents[3]
"""The directory that this package is imported from."""


def launch(module: str, arguments: Sequence[str], log: Path, read_from: int | None = None) -> None:
    """Start a module in its own session; it writes to a log, and has the descriptor `read_from`. Raise `OSError` or
    `CalledProcessError` if that fails.

    It is no child of this process, which may end, or go on for years without having to collect it. Passwords for
    masters are kept out of its environment.
    """
    paths = [str(_PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])]
    own = {"PYTHONPATH": os.pathsep.join(paths)}
    if settings := os.environ.get(CUSTOM_SETTINGS, "").strip():
        own[CUSTOM_SETTINGS] = os.path.abspath(os.path.expanduser(settings))  # the process works elsewhere
    log.parent.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        subprocess.run(  # noqa: S603 - our own interpreter, our own module
            ["/bin/sh", "-c", '"$@" &', "sh", sys.executable, "-m", module, *arguments],
            check=True, cwd="/", stdin=subprocess.DEVNULL, stdout=descriptor, stderr=descriptor,
            start_new_session=True, env={**environment(), **own, **handed_on()},
            pass_fds=() if read_from is None else (read_from,),
        )  # fmt: skip
    finally:
        os.close(descriptor)


def forget_package() -> None:
    """Remove the path of our own package, which `launch` added, from `PYTHONPATH`: tasks may use another Python."""
    first, _, rest = os.environ.get("PYTHONPATH", "").partition(os.pathsep)
    if first == str(_PACKAGE):
        os.environ["PYTHONPATH"] = rest
        if not rest:
            del os.environ["PYTHONPATH"]
