"""The facts that are settings of an environment, with the values of generators, such as passwords and keys.

Source: Nailgun's `Attributes.merged_attrs_values` and `AttributesGenerator`.
"""

from __future__ import annotations

import base64
import hashlib
import re
import string
from collections.abc import Callable, Mapping
from typing import Any

from fuelclient.environment.settings import effective
from fuelclient.facts.given import Given, Master
from fuelclient.model.environment import Environment
from fuelclient.model.release import Release
from fuelclient.serializers.values import deep_merged, mapping, plain

GENERATED = "generated"
"""The key of the settings that users do not change."""

VERBATIM = "regex"
"""A key whose value is not formatted, because braces mean something else in patterns."""

_NAME = re.compile(r"\{([a-z]+(?:\.\w+)+)\}")

_ENGINE = {"url": "http://localhost/cobbler_api", "username": "cobbler", "password": "cobbler"}
"""The login of a master's provisioning engine. Source: recorded facts of a Fuel master."""

_LIST_OF_PACKAGES = (9, 2)
"""The first release whose tasks read the packages of an image as a list; before it they split a text."""


def setting_facts(environment: Environment, given: Given) -> dict[str, Any]:
    """The facts that follow from settings: values in their places, `common` ones and components at the top."""
    values = {name: _values(section) for name, section in merged_sections(environment, given).items()}
    common = values.pop("common", {})
    for name, enabled in values.pop("additional_components", {}).items():
        if isinstance(enabled, bool):
            values[name] = {**values.get(name, {}), "enabled": enabled}
    facts = {**values, **common}
    _collector(facts)
    _provision(facts, environment, given)
    return facts


def merged_sections(environment: Environment, given: Given) -> dict[str, Any]:
    """Merge generated settings and those that users change, which win, with all generators evaluated."""
    release, seed = environment.release, f"environment {environment.cluster.id}"
    names = {
        "cluster.id": str(environment.cluster.id),
        "cluster.release.version": release.version,
        "cluster.release.environment_version": environment_version(release),
        "cluster.release.name": release.name,
        "settings.MASTER_IP": given.master.ip,
    }
    generated = formatted(evaluated(generated_of(environment), given.kept.generated, given.master, seed), names)
    own = evaluated(formatted(effective(environment), names), {}, given.master, seed)
    return {name: section for name, section in deep_merged(generated, own).items() if isinstance(section, Mapping)}


def generated_of(environment: Environment) -> dict[str, Any]:
    """The settings of the release that users do not change, with their generators."""
    return dict(plain(mapping((environment.release.metadata.get("attributes_metadata") or {}).get(GENERATED))))


def formatted(value: Any, names: Mapping[str, str]) -> Any:
    """Replace names in braces in all texts of `value`; braces around anything else stay.

    >>> formatted({"a": ["{cluster.id}/{x.y}"], "regex": "{cluster.id}"}, {"cluster.id": "1"})
    {'a': ['1/{x.y}'], 'regex': '{cluster.id}'}
    """
    if isinstance(value, str):
        return _NAME.sub(lambda match: names.get(match[1], match[0]), value) if "{" in value else value
    if isinstance(value, Mapping):
        return {key: below if key == VERBATIM else formatted(below, names) for key, below in value.items()}
    return [formatted(below, names) for below in value] if isinstance(value, list | tuple) else value


def _values(section: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: setting["value"] if isinstance(setting, Mapping) and "value" in setting else setting
        for name, setting in section.items()
    }


def _collector(facts: dict[str, Any]) -> None:
    """Change the user who collects statistics as Nailgun does: under another key, and with sending off."""
    setting = facts.get("workloads_collector")
    if isinstance(setting, dict):
        setting["create_user"] = False
        if "user" in setting:
            setting["username"] = setting.pop("user")


def _provision(facts: dict[str, Any], environment: Environment, given: Given) -> None:
    setting = facts.get("provision")
    if not isinstance(setting, dict):
        return
    packages = setting.get("packages")
    if isinstance(packages, str) and version_of(environment.release) >= _LIST_OF_PACKAGES:
        setting["packages"] = [line.strip() for line in packages.splitlines() if line.strip()]
    setting.setdefault("engine", {**_ENGINE, "master_ip": given.master.ip})


def environment_version(release: Release) -> str:
    """Cut the version of Fuel from the version of a release, as Nailgun does.

    >>> environment_version(Release(1, "Newton", "newton-10.0"))
    '10.0'
    """
    return release.version.rpartition("-")[2]


def version_of(release: Release) -> tuple[int, ...]:
    """The version of Fuel as numbers; empty if it is not numeric.

    >>> version_of(Release(1, "Mitaka", "mitaka-9.0")), version_of(Release(1, "x", "trunk"))
    ((9, 0), ())
    """
    parts = environment_version(release).split(".")
    return tuple(map(int, parts)) if all(part.isascii() and part.isdigit() for part in parts) else ()


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


def is_random(setting: Any) -> bool:
    return isinstance(setting, Mapping) and setting.get(GENERATOR) in RANDOM


def length_of(generator: str, argument: Any) -> int:
    """The characters of a password or a hexadecimal string; Nailgun's default if no valid number is given."""
    text = str(argument)
    length = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
    return length if 0 < length <= _LONGEST else (24 if generator == "password" else 8)


def evaluated(setting: Any, kept: Any, master: Master, seed: str) -> Any:
    """Replace all generators below `setting` by values: those at the same places in `kept`, or such as follow.

    A value that is neither kept nor follows from the master is derived from `seed`, which has the id of the
    environment, and its path, so that it is the same wherever it is computed. Engines keep real random values instead.
    """
    if not isinstance(setting, Mapping):
        return setting
    generator = setting.get(GENERATOR)
    if isinstance(generator, str) and (generator in DETERMINED or generator in RANDOM):
        if generator in DETERMINED:
            return DETERMINED[generator](setting.get(ARGUMENT), master)
        return derived(generator, setting.get(ARGUMENT), seed) if isinstance(kept, Mapping | None) else kept
    below = mapping(kept)
    return {name: evaluated(value, below.get(name), master, f"{seed}.{name}") for name, value in setting.items()}


def derived(generator: str, argument: Any, seed: str) -> str:
    """Make a value of a random generator that depends on `seed` only.

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
