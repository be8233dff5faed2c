"""Version constraints: find the records of a package that are meant for a release, and the best one.

A task, node role or network role may have `os-version` and `fuel-version`, each a list of comparisons separated by
commas. Of the records with one id, the best match is used, or none.

Source: the specification "plugins-v5", variant 1 of multi-release packages, which only gives examples. The rules here:

- At least one `==` must hold, if there are any, and so must all other comparisons.
- OpenStack names are compared by year and half-year.
- A version with fewer parts means every version that begins with it, so `<=8` includes 8.0.1.
- The best match has the highest lower bound; of several, the one with the most comparisons, then the first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from fuelclient.errors import InvalidDocument, did_you_mean
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.serializers.values import in_words

OS_VERSION = "os-version"
FUEL_VERSION = "fuel-version"
KEYS = (OS_VERSION, FUEL_VERSION)

_NAMES = (
    "essex", "folsom", "grizzly", "havana", "icehouse", "juno", "kilo", "liberty", "mitaka", "newton", "ocata",
    "pike", "queens", "rocky", "stein", "train", "ussuri", "victoria", "wallaby", "xena", "yoga", "zed",
    "antelope", "bobcat", "caracal", "dalmatian", "epoxy", "flamingo",
)  # fmt: skip
"""OpenStack's releases, two a year, since the first half of 2012."""

_RELEASES = {name: (2012 + index // 2, 1 + index % 2) for index, name in enumerate(_NAMES)}

_TERM = re.compile(r"(==|!=|<=|>=|<|>)\s*([^\s<>=!]+)")
_NUMBERS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9}){0,9}")
_WITH_FUEL = re.compile(rf"(.+?)-({_NUMBERS.pattern})(?:-.*)?", re.DOTALL)

Numbers = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Version:
    """The version of a release: that of OpenStack in numbers, or else a `word`, and that of Fuel if it is given."""

    openstack: Numbers = ()
    word: str = ""
    fuel: Numbers = ()


@dataclass(frozen=True, slots=True)
class Term:
    """One comparison of a constraint, such as `>=liberty-8.0`."""

    operator: str
    version: Version

    def holds(self, actual: Version) -> bool:
        """Whether this is true of a version. If the two versions cannot be compared, only `!=` holds."""
        order = _order(actual, self.version)
        return self.operator == "!=" if order is None else bool(_OPERATORS[self.operator](order, 0))


_OPERATORS = dict(zip(("==", "!=", "<", "<=", ">", ">="), (eq, ne, lt, le, gt, ge), strict=True))


@dataclass(frozen=True, slots=True)
class Choice:
    """The index of the record of a group that is used, or None. `tied` has the indexes of all that fit equally well."""

    index: int | None
    tied: tuple[int, ...] = ()


def version_of(text: str) -> Version:
    """Parse the version of a release, with any number of dashes.

    >>> version_of("mitaka-9.0") == Version((2016, 1), "", (9, 0))
    True
    >>> version_of("base-newton-10.0").word, version_of("1.0.0").openstack
    ('base-newton', (1, 0, 0))
    """
    text = text.strip().lower()
    match = _WITH_FUEL.fullmatch(text)
    name, fuel = (match[1], _numbers(match[2])) if match else (text, ())
    if _NUMBERS.fullmatch(name):
        return Version(_numbers(name), "", fuel)
    return Version(_RELEASES[name], "", fuel) if name in _RELEASES else Version((), name, fuel)


def parse(key: str, value: object) -> tuple[Term, ...]:
    """Parse the comparisons in `value`, which is written under `key`.

    Raise `InvalidDocument`, without findings, if it cannot be read.

    >>> [term.operator for term in parse("fuel-version", ">=7, <=8")]
    ['>=', '<=']
    """
    if not isinstance(value, str):
        raise InvalidDocument(f"{key} is {in_words(value)}, not a string", hint=f"Write {key}: '>=8,<10', in quotes.")
    terms = []
    for part in value.split(","):
        if not (match := _TERM.fullmatch(part.strip())):
            example = "==kilo,==liberty-8.0" if key == OS_VERSION else ">=8,<10"
            message = f"{part.strip()!r} in {key} is not a comparison with a version"
            raise InvalidDocument(message, hint=f"Write comparisons separated by commas: '{example}'.")
        terms.append(Term(match[1], _version_in(key, match[1], match[2])))
    return tuple(terms)


def is_constrained(record: object) -> bool:
    return isinstance(record, Mapping) and any(key in record for key in KEYS)


def check(record: Mapping[str, Any], subject: str, place: Callable[[str], Place]) -> Iterator[Finding]:
    """Yield an error (P040) for every constraint of `record` that cannot be read. `place` locates a key."""
    for key in KEYS:
        if key in record:
            try:
                parse(key, record[key])
            except InvalidDocument as error:
                yield Finding(Severity.ERROR, "P040", f"{subject}: {error.message}", place(key), hint=error.hint)


def fits(record: Mapping[str, Any], release_version: str) -> bool:
    """Whether a record is meant for a release of this version. An unreadable constraint never fits.

    >>> fits({"os-version": "==2014.2,==2015.1", "fuel-version": ">=7,<=8"}, "2015.1-7.0")
    True
    """
    return _rank(record, version_of(release_version)) is not None


def best(records: Sequence[Mapping[str, Any]], release_version: str) -> Choice:
    """Choose which record of a group is used for a release of this version.

    >>> best([{"fuel-version": ">=8"}, {"fuel-version": ">=9"}, {}], "mitaka-9.0").index
    1
    """
    version = version_of(release_version)
    ranks = {index: rank for index, record in enumerate(records) if (rank := _rank(record, version)) is not None}
    if not ranks:
        return Choice(None)
    highest = max(ranks.values())
    tied = tuple(index for index, rank in ranks.items() if rank == highest)
    return Choice(tied[0], tied)


_Bound = tuple[tuple[float, ...], Numbers, bool]
_LOWEST: _Bound = ((), (), False)


def _rank(record: Mapping[str, Any], version: Version) -> tuple[_Bound, _Bound, int] | None:
    """How well a record fits (higher is better), or None if it does not."""
    bounds, count = {OS_VERSION: _LOWEST, FUEL_VERSION: _LOWEST}, 0
    for key in KEYS:
        if key not in record:
            continue
        try:
            terms = parse(key, record[key])
        except InvalidDocument:
            return None
        actual = version if key == OS_VERSION else Version(version.fuel)
        equal = [term for term in terms if term.operator == "=="]
        others = [term for term in terms if term.operator != "=="]
        matching = [term for term in equal if term.holds(actual)]
        if (equal and not matching) or not all(term.holds(actual) for term in others):
            return None
        bounds[key] = max((_bound(term) for term in (*matching, *others)), default=_LOWEST)
        count += len(terms)
    return bounds[OS_VERSION], bounds[FUEL_VERSION], count


def _bound(term: Term) -> _Bound:
    if term.operator not in ("==", ">=", ">"):
        return _LOWEST
    openstack: tuple[float, ...] = (math.inf,) if term.version.word else term.version.openstack
    return openstack, term.version.fuel, term.operator == ">"


def _order(actual: Version, given: Version) -> int | None:
    """-1, 0 or 1 if `actual` is before, in or after what `given` covers; None if they cannot be compared."""
    if actual.word != given.word or not (actual.openstack or actual.word):
        return None
    if (order := _compare(actual.openstack, given.openstack)) or not given.fuel:
        return order
    return _compare(actual.fuel, given.fuel) if actual.fuel else None


def _compare(actual: Numbers, given: Numbers) -> int:
    """Compare two versions, only by the parts that `given` has. Parts that `actual` lacks are zeros.

    >>> _compare((8, 0, 1), (8,)), _compare((9,), (9, 0)), _compare((7, 0), (7, 1))
    (0, 0, -1)
    """
    padded = (actual + (0,) * len(given))[: len(given)]
    return (padded > given) - (padded < given)


def _version_in(key: str, operator: str, text: str) -> Version:
    if key == FUEL_VERSION:
        if not _NUMBERS.fullmatch(text):
            raise InvalidDocument(f"{text!r} in {key} is not a version of Fuel", hint="Write numbers: '>=8.0'.")
        return Version(_numbers(text))
    version = version_of(text)
    if version.word and operator not in ("==", "!="):
        hint = did_you_mean(version.word, _NAMES, "Use == or !=, or a name such as mitaka.")
        message = f"{version.word!r} in {key} is not an OpenStack release, so {operator} cannot compare it"
        raise InvalidDocument(message, hint=hint)
    return version


def _numbers(text: str) -> Numbers:
    return tuple(int(part) for part in text.split("."))
