"""Fuzz targets: `PYTHONPATH=tests:tests/support:. python -m fuzz [EXECUTIONS [SEED [TARGET...]]] [--corpus DIRECTORY]`.

The exit code is 1 after a find. In the directory stay the inputs that reached new lines of the package, in one
subdirectory for each target; the next time starts from them.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import resource
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from fuzz.mutation import Fuzzed, fuzz
from fuzz.targets import TARGETS

MEGABYTES = 500
"""How much memory the whole process may have used."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("executions", type=int, nargs="?", default=1_000_000)
    parser.add_argument("seed", nargs="?", default="")
    parser.add_argument("targets", nargs="*", metavar="target")
    parser.add_argument("--corpus", type=Path)
    options = parser.parse_args(arguments)
    seed = options.seed or str(time.time_ns())
    sys.stdout.write(f"seed {seed}\n")
    wanted = options.targets or tuple(TARGETS)
    return int(not all(_fuzzed(name, options.executions // len(wanted), seed, options.corpus) for name in wanted))


def inputs_of(name: str, corpus: Path | None) -> list[bytes]:
    """Return the seeds of a target, then what earlier times have left in the corpus."""
    stored = sorted((corpus / name).iterdir()) if corpus is not None and (corpus / name).is_dir() else []
    return list(dict.fromkeys((*TARGETS[name].seeds, *(path.read_bytes() for path in stored))))


def _fuzzed(name: str, executions: int, seed: str, corpus: Path | None) -> bool:
    """Fuzz one target, say what came of it, and return whether all is well."""
    faulthandler.enable()
    seeds = inputs_of(name, corpus)
    before, began = _megabytes(), time.monotonic()
    with TARGETS[name].execute() as execute:
        result = fuzz(name, execute, seeds, executions, f"{seed} {name}")
    seconds = time.monotonic() - began
    if corpus is not None:
        _store(corpus / name, [*seeds, *result.kept])
    if result.found is not None:
        sys.stdout.write(f"{name}: {result.found.data!r}\n")
        traceback.print_exception(result.found.error)
        return False
    return _said(name, executions, seconds, result, before)


def _store(directory: Path, inputs: Sequence[bytes]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for data in inputs:
        (directory / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


def _megabytes() -> int:
    """Return the most memory that this process has used so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _said(name: str, executions: int, seconds: float, result: Fuzzed, before: int) -> bool:
    used = _megabytes()
    sys.stdout.write(
        f"{name}: {executions} in {seconds:.0f} s, the slowest {result.slowest:.2f} s of processor time, "
        f"{len(result.kept)} inputs kept, {used} MB\n"
    )
    sys.stdout.flush()
    is_too_much = used > max(MEGABYTES, before)  # of a process that has done other things before, such as tests
    if is_too_much:
        sys.stdout.write(f"more than {MEGABYTES} MB were used\n")
    return not is_too_much


if __name__ == "__main__":
    sys.exit(main())
