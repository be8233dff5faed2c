"""Fuzz every target: `PYTHONPATH=tests:. python -m fuzz [EXECUTIONS [SEED [TARGET...]]]`; exit code 1 after a find."""

from __future__ import annotations

import faulthandler
import resource
import sys
import time
import traceback

from fuzz.mutation import fuzz
from fuzz.targets import TARGETS

MEGABYTES = 500
"""How much memory the whole process may have used."""


def main(executions: int = 1_000_000, seed: str = "", *names: str) -> int:
    seed = seed or str(time.time_ns())
    sys.stdout.write(f"seed {seed}\n")
    wanted = names or tuple(TARGETS)
    for name in wanted:
        faulthandler.enable()
        with TARGETS[name].execute() as execute:
            began = time.monotonic()
            reached, found = fuzz(name, execute, TARGETS[name].seeds, executions // len(wanted), f"{seed} {name}")
        seconds = time.monotonic() - began
        if found is not None:
            sys.stdout.write(f"{name}: {found.data!r}\n")
            traceback.print_exception(found.error)
            return 1
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        sys.stdout.write(f"{name}: {executions // len(wanted)} in {seconds:.0f} s, {reached} inputs kept, {used} MB\n")
        sys.stdout.flush()
        if used > MEGABYTES:
            sys.stdout.write(f"more than {MEGABYTES} MB were used\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 1_000_000, *sys.argv[2:]))
