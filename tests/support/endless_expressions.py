"""Evaluate a function of YAQL on sequences that do not end, or hardly: `python endless_expressions.py FUNCTION`.

Each expression is printed before it is evaluated. One that takes more than `SECONDS` of processor time kills the
process, because a loop in C ends in no other way; then the last line that was printed is the culprit. The limit of work
is a hundredth of the usual one, so that whatever is counted ends at once.
"""

from __future__ import annotations

import itertools
import resource
import sys
from collections.abc import Iterator

from fuelclient.expressions import budget
from fuelclient.expressions.errors import ExpressionError
from fuelclient.expressions.facts import Facts, Views
from fuelclient.expressions.yaql_engine import parse

SECONDS = 10
MEMORY = 1 << 30
WORK = budget.MAX_WORK // 100

SEQUENCES = ("[1].cycle()", "sequence()", "repeat(a)", "[[1].cycle()]", "range(9000)", "range(9000).toList()")
ARGUMENTS = (
    "", "true", "1", "0, 2", "$", "$ > 1", "$1 + $2", "{0}", "{0}, true, 1", "{0}, false, 1", "0, {0}", "{0}, {0}",
    "{0}, $1 + $2", "[$, $]", "$, $, $",
)  # fmt: skip


def expressions(name: str) -> Iterator[str]:
    """Yield calls of a function as a function and as a method, alone and with their result counted or printed."""
    for sequence, stated in itertools.product(SEQUENCES, ARGUMENTS):
        arguments = stated.format(sequence)
        call = f"{sequence}.{name}({arguments})"
        yield from (call, f"{call}.len()", f"{call}.toSet().len()", f"str({call})")
        yield f"{name}({sequence}{arguments and ', '}{arguments})"


def main(name: str) -> None:
    budget.MAX_WORK = WORK
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    views = Views(Facts({}, {"1": {}})).at("t", 1)
    for text in expressions(name):
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
        used = resource.getrusage(resource.RUSAGE_SELF)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + SECONDS, resource.RLIM_INFINITY))
        try:
            parse(text).value(views)
        except ExpressionError:
            continue


if __name__ == "__main__":
    main(sys.argv[1])
