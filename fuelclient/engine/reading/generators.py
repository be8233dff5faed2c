"""Generate the values of settings whose default is a generator, once for each environment.

They are stored as the environment's own settings, so that every run and every download sees the same value; no message
or log shows one. Source: Nailgun's `AttributesGenerator`, which evaluates `{generator: password}` in a release when an
environment is created.
"""

from __future__ import annotations

import base64
import secrets
import string
import struct
import time
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from fuelclient.engine.reading import environment
from fuelclient.environment import settings
from fuelclient.store import clusters
from fuelclient.store.database import Connection

_LONGEST = 4096


def evaluate(connection: Connection, cluster_id: int) -> None:
    """Give the environment a value for each setting with a generator that it has no value for yet."""
    target = environment.read(connection, cluster_id)
    wanted = filled(settings.defaults(target), target.own_settings, {})
    if wanted != target.own_settings:
        clusters.put_settings(connection, cluster_id, wanted)


def filled(known: Mapping[str, Any], own: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return `own` with a value wherever the default in `known` is a generator: that of `before`, or a new one.

    >>> known = {"db": {"port": {"value": 1}, "id": {"value": {"generator": "identical", "generator_arg": 7}}}}
    >>> filled(known, {}, {}), filled(known, {}, {"db": {"id": {"value": "old"}}})
    ({'db': {'id': {'value': '7'}}}, {'db': {'id': {'value': 'old'}}})
    """
    values = dict(own)
    for name, below in known.items():
        if not isinstance(below, Mapping):
            continue
        stated, earlier = own.get(name), before.get(name)
        generator = _GENERATORS.get(below["generator"]) if isinstance(below.get("generator"), str) else None
        if generator is not None:
            if name not in own:
                values[name] = before[name] if name in before else generator(below.get("generator_arg"))
        elif name not in own or isinstance(stated, Mapping):
            inner = filled(below, stated or {}, earlier if isinstance(earlier, Mapping) else {})
            if inner:
                values[name] = inner
    return values


def _random(characters: str, length: int, argument: Any) -> str:
    """Return random characters, as many as the argument says, or `length` if it is no number or too large."""
    text = str(argument)
    if text.isascii() and text.isdigit() and len(text) < 6 and 0 < int(text) <= _LONGEST:
        length = int(text)
    return "".join(secrets.choice(characters) for _ in range(length))


def _cephx_key(_argument: Any) -> str:
    """Return a key in the format of Ceph: its type, its time and its length, and sixteen bytes."""
    return base64.b64encode(struct.pack("<hiih", 1, int(time.time()), 0, 16) + secrets.token_bytes(16)).decode()


_GENERATORS: Mapping[str, Callable[[Any], str]] = {
    "password": partial(_random, string.ascii_letters + string.digits, 24),
    "hexstring": partial(_random, "0123456789abcdef", 8),
    "cephx_key": _cephx_key,
    "uuid4": lambda _argument: str(uuid.uuid4()),
    "identical": str,
    "ip": lambda _argument: "127.0.0.1",
    "from_settings": lambda _argument: "",
}
"""Generators by name. The address is that of this machine, which stands for the master; there are no settings of a
master here."""
