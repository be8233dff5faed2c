"""Compute the facts that are settings of an environment, with generated values such as passwords and keys.

Source: Nailgun's `Attributes.merged_attrs_values` and `AttributesGenerator`.
"""

from __future__ import annotations

import base64
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

_PACKAGES_AS_LIST_SINCE = (9, 2)
"""The first release whose tasks read the packages of an image as a list; earlier ones split a text."""


def setting_facts(environment: Environment, given: Given) -> dict[str, Any]:
    """The facts from settings: values by section, those of `common` and of components at the top level."""
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
    """Merge the settings that users change over the generated ones, with all generators evaluated."""
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
    """Replace `{name}` in all texts of `value` if `names` has the name.

    >>> formatted({"a": ["{cluster.id}/{x.y}"], "regex": "{cluster.id}"}, {"cluster.id": "1"})
    {'a': ['1/{x.y}'], 'regex': '{cluster.id}'}
    """
    if isinstance(value, str):
        return _NAME.sub(lambda match: names.get(match[1], match[0]), value) if "{" in value else value
    if isinstance(value, Mapping):
        return {key: item if key == VERBATIM else formatted(item, names) for key, item in value.items()}
    return [formatted(item, names) for item in value] if isinstance(value, list | tuple) else value


def _values(section: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: setting["value"] if isinstance(setting, Mapping) and "value" in setting else setting
        for name, setting in section.items()
    }


def _collector(facts: dict[str, Any]) -> None:
    """Change the statistics collector as Nailgun does: rename the key of its user, and turn sending off."""
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
    if isinstance(packages, str) and version_of(environment.release) >= _PACKAGES_AS_LIST_SINCE:
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

_ALPHABET = string.ascii_letters + string.digits
_MAX_CHARS = 4096

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
    """The number of characters of a password or hexadecimal string; Nailgun's default if it is not valid."""
    text = str(argument)
    length = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
    return length if 0 < length <= _MAX_CHARS else (24 if generator == "password" else 8)


def evaluated(setting: Any, kept: Any, master: Master, seed: str) -> Any:
    """Replace all generators in `setting` by values: the master's, those at the same paths in `kept`, or derived ones.

    A derived value depends on its path and on `seed`, which has the id of the environment, so that it is the same
    wherever it is computed. Engines keep real random values instead.
    """
    if not isinstance(setting, Mapping):
        return setting
    generator = setting.get(GENERATOR)
    if isinstance(generator, str) and (generator in DETERMINED or generator in RANDOM):
        if generator in DETERMINED:
            return DETERMINED[generator](setting.get(ARGUMENT), master)
        return derived(generator, setting.get(ARGUMENT), seed) if isinstance(kept, Mapping | None) else kept
    kept_values = mapping(kept)
    return {name: evaluated(value, kept_values.get(name), master, f"{seed}.{name}") for name, value in setting.items()}


def derived(generator: str, argument: Any, seed: str) -> str:
    """Make a value of a random generator that depends on `seed` only.

    >>> derived("hexstring", "8", "a") == derived("hexstring", "8", "a") != derived("hexstring", "8", "b")
    True
    """
    import hashlib

    size = length_of(generator, argument)
    digest = hashlib.shake_256(seed.encode()).digest(max(size, 16))
    if generator == "password":
        return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:size])
    if generator == "hexstring":
        return digest.hex()[:size]
    if generator == "uuid4":
        text = digest[:16].hex()
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:32]}"
    return base64.b64encode(b"\x01\x00" + bytes(8) + b"\x10\x00" + digest[:16]).decode()
