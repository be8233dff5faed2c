"""Generate the values of settings whose default is a generator, once for each environment.

They are stored as settings of the environment, so that every run and every download has the same values. No message or
log contains them. Source: Nailgun's `AttributesGenerator`, which evaluates `{generator: password}` in a release when an
environment is created.
"""

from __future__ import annotations

import base64
import functools
import secrets
import string
import struct
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fuelclient.engine.reading import environment
from fuelclient.environment import settings
from fuelclient.facts.given import Kept, Master
from fuelclient.facts.settings import DETERMINED, generated_of, length_of
from fuelclient.model.environment import Environment
from fuelclient.store import facts
from fuelclient.store.database import Connection


def generate(connection: Connection, cluster_id: int) -> None:
    """Generate a value for each setting of the environment that has a generator and no value yet.

    Settings that users can change are stored as its own settings, all others with its kept facts.
    """
    target = environment.read(connection, cluster_id)
    if (wanted := with_generated(settings.defaults(target), target.own_settings, {})) != target.own_settings:
        environment.put_settings(connection, cluster_id, wanted)
    kept = facts.kept(connection, cluster_id)
    if (generated := with_generated(generated_of(target), kept.generated, {}, _RANDOM)) != kept.generated:
        facts.put_kept(connection, cluster_id, replace(kept, generated=generated))


def are_missing(target: Environment, kept: Kept) -> bool:
    """Whether `generate` would generate any random value."""
    blocks = ((settings.defaults(target), target.own_settings), (generated_of(target), kept.generated))
    return any(with_generated(known, own, {}, _RANDOM) != own for known, own in blocks)


def _master_value(name: str, argument: Any) -> Any:
    return DETERMINED[name](argument, Master())


def _random_text(kind: str, alphabet: str, argument: Any) -> str:
    return "".join(secrets.choice(alphabet) for _ in range(length_of(kind, argument)))


def _cephx_key(_argument: Any) -> str:
    """Generate a key in the format of Ceph: type, time, length, and 16 random bytes."""
    return base64.b64encode(struct.pack("<hiih", 1, int(time.time()), 0, 16) + secrets.token_bytes(16)).decode()


_RANDOM: Mapping[str, Callable[[Any], Any]] = {
    "password": functools.partial(_random_text, "password", string.ascii_letters + string.digits),
    "hexstring": functools.partial(_random_text, "hexstring", "0123456789abcdef"),
    "cephx_key": _cephx_key,
    "uuid4": lambda _argument: str(uuid.uuid4()),
}
_GENERATORS: Mapping[str, Callable[[Any], Any]] = {
    **_RANDOM,
    **{name: functools.partial(_master_value, name) for name in DETERMINED},
}
"""Generators by name. Those for values of a master give the values that its installation proposes."""


def with_generated(
    known: Mapping[str, Any],
    own: Mapping[str, Any],
    before: Mapping[str, Any],
    generators: Mapping[str, Callable[[Any], Any]] = _GENERATORS,
) -> dict[str, Any]:
    """Add a value to `own` wherever the default in `known` is a generator: the value in `before`, or a new one.

    >>> known = {"db": {"port": {"value": 1}, "id": {"value": {"generator": "identical", "generator_arg": 7}}}}
    >>> with_generated(known, {}, {}), with_generated(known, {}, {"db": {"id": {"value": "old"}}})
    ({'db': {'id': {'value': '7'}}}, {'db': {'id': {'value': 'old'}}})
    """
    values = dict(own)
    for name, default in known.items():
        if not isinstance(default, Mapping):
            continue
        given, earlier = own.get(name), before.get(name)
        generator = generators.get(default["generator"]) if isinstance(default.get("generator"), str) else None
        if generator is not None:
            if name not in own:
                values[name] = before[name] if name in before else generator(default.get("generator_arg"))
        elif name not in own or isinstance(given, Mapping):
            inner = with_generated(default, given or {}, earlier if isinstance(earlier, Mapping) else {}, generators)
            if inner:
                values[name] = inner
    return values
