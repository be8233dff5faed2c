"""Generators in settings: passwords, keys, and values of the master. Source: Nailgun's `AttributesGenerator`."""

from __future__ import annotations

import base64
import hashlib
import string
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fuelclient.facts.given import Master
from fuelclient.model.environment import Environment
from fuelclient.serializers.values import mapping

GENERATOR, ARGUMENT = "generator", "generator_arg"

_LETTERS = string.ascii_letters + string.digits
_LONGEST = 4096

DETERMINED: Mapping[str, Callable[[Any, Master], Any]] = {
    "identical": lambda argument, _master: str(argument),
    "ip": lambda argument, master: master.ip if argument in ("admin", "master") else "127.0.0.1",
    "from_settings": lambda argument, master: {
        "DNS_UPSTREAM": list(master.dns),
        "NTP_UPSTREAM": list(master.ntp),
        "MASTER_IP": master.ip,
        "DNS_DOMAIN": master.domain,
    }.get(str(argument), ""),
}
"""Generators whose values follow from the master."""

RANDOM = ("password", "hexstring", "cephx_key", "uuid4")
"""Generators whose values are drawn once for an environment and kept."""


def is_random(stated: Any) -> bool:
    """Return whether a setting has a random generator, such as `password`."""
    return isinstance(stated, Mapping) and stated.get(GENERATOR) in RANDOM


def random_paths(tree: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the values that have to be drawn."""
    for name, stated in tree.items():
        if is_random(stated):
            yield (*above, name)
        elif isinstance(stated, Mapping):
            yield from random_paths(stated, (*above, name))


def length_of(generator: str, argument: Any) -> int:
    """Return how many characters a password or a hexadecimal string has; Nailgun's default if none are stated."""
    text = str(argument)
    stated = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
    return stated if 0 < stated <= _LONGEST else (24 if generator == "password" else 8)


def evaluated(tree: Mapping[str, Any], kept: Mapping[str, Any], master: Master, environment: Environment) -> Any:
    """Return the tree with a value for each generator: that of `kept`, at the same path, or one that follows.

    A value that is neither kept nor follows from the master is derived from the id of the environment and its path, so
    that it is the same wherever it is computed. Engines keep real random values instead.
    """
    return _evaluated(tree, kept, master, f"environment {environment.cluster.id}")


def _evaluated(stated: Any, kept: Any, master: Master, seed: str) -> Any:
    if not isinstance(stated, Mapping):
        return stated
    generator = stated.get(GENERATOR)
    if isinstance(generator, str) and (generator in DETERMINED or generator in RANDOM):
        if generator in DETERMINED:
            return DETERMINED[generator](stated.get(ARGUMENT), master)
        return derived(generator, stated.get(ARGUMENT), seed) if isinstance(kept, Mapping | None) else kept
    below = mapping(kept)
    return {name: _evaluated(value, below.get(name), master, f"{seed}.{name}") for name, value in stated.items()}


def derived(generator: str, argument: Any, seed: str) -> str:
    """Return a value of a random generator that depends on `seed` only.

    >>> derived("hexstring", "8", "a") == derived("hexstring", "8", "a") != derived("hexstring", "8", "b")
    True
    """
    size = length_of(generator, argument)
    drawn = hashlib.shake_256(seed.encode()).digest(max(size, 16))
    if generator == "password":
        return "".join(_LETTERS[byte % len(_LETTERS)] for byte in drawn[:size])
    if generator == "hexstring":
        return drawn.hex()[:size]
    if generator == "uuid4":
        text = drawn[:16].hex()
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:32]}"
    return base64.b64encode(b"\x01\x00" + bytes(8) + b"\x10\x00" + drawn[:16]).decode()
