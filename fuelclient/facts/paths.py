"""Facts by their paths (`network_metadata.vips`): what stands there, and which paths there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from fuelclient.model.fact import DeploymentFacts
from fuelclient.serializers.values import deep_merged

ROOT = "$."


def names_of(path: str) -> list[str]:
    """Return the names on a path, which may begin as in an expression.

    >>> names_of("$.storage.pg_num"), names_of("storage.pg_num")
    (['storage', 'pg_num'], ['storage', 'pg_num'])
    """
    return path.removeprefix(ROOT).split(".")


def value_at(facts: Any, names: Sequence[str]) -> Any:
    """Return the value at a path. Raise `KeyError` if there is none."""
    for name in names:
        if not isinstance(facts, Mapping) or name not in facts:
            raise KeyError(name)
        facts = facts[name]
    return facts


def has(facts: Any, names: Sequence[str]) -> bool:
    """Return whether anything stands at a path."""
    with suppress(KeyError):
        value_at(facts, names)
        return True
    return False


def values_at(facts: DeploymentFacts, names: Sequence[str], common: str) -> Iterator[tuple[str, Any]]:
    """Yield the value at a path in each part that states one: the part called `common`, then nodes by their uids.

    The value of a node is what the node sees, which includes the common one.
    """
    for uid, part in ((common, facts.common), *facts.nodes.items()):
        if has(part, names):
            yield uid, value_at(part if uid == common else deep_merged(facts.common, part), names)


def completions(facts: Mapping[Any, Any], text: str) -> list[str]:
    """Return what the path at the end of a text can become: names of facts, one level at a time.

    >>> completions({"storage": {"pg_num": 1, "osd_pool_size": 3}, "debug": True}, "$.storage.p")
    ['$.storage.pg_num']
    >>> completions({"storage": {"pg_num": 1}, "debug": True}, "$.")
    ['$.debug', '$.storage.']
    """
    *above, start = names_of(text)
    root = ROOT if text.startswith(ROOT) else ""
    place = value_at(facts, above) if has(facts, above) else None
    if not isinstance(place, Mapping):
        return []
    found = sorted(name for name in map(str, place) if name.startswith(start))
    before = "".join(f"{name}." for name in above)
    return [f"{root}{before}{name}{'.' if isinstance(place.get(name), Mapping) else ''}" for name in found]
