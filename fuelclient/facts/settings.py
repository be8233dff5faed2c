"""The settings of an environment as tasks see them. Source: Nailgun's `Attributes.merged_attrs_values`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fuelclient.environment.settings import effective
from fuelclient.facts.generators import evaluated
from fuelclient.facts.given import Given
from fuelclient.facts.versions import environment_version, version_of
from fuelclient.model.environment import Environment
from fuelclient.serializers.values import deep_merged, mapping, plain

GENERATED = "generated"
"""The key of the settings that users do not change."""

VERBATIM = "regex"
"""A key whose value is not formatted, because braces mean something else in patterns."""

_WORD = re.compile(r"\{([a-z]+(?:\.\w+)+)\}")

_ENGINE = {"url": "http://localhost/cobbler_api", "username": "cobbler", "password": "cobbler"}
"""How a master's provisioning engine is reached. Source: recorded facts of a Fuel master."""

_LIST_OF_PACKAGES = (9, 2)
"""The first release whose tasks read the packages of an image as a list; before it they split a text."""


def setting_facts(environment: Environment, given: Given) -> dict[str, Any]:
    """Return the facts that follow from settings: values in their places, `common` ones and components at the top."""
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
    """Return the sections of settings, generated ones below those that users change, with all generators evaluated."""
    words = words_of(environment, given)
    generated = evaluated(generated_of(environment), given.kept.generated, given.master, environment)
    own = effective(environment)
    return {
        name: section
        for name, section in deep_merged(
            formatted(generated, words), evaluated(formatted(own, words), {}, given.master, environment)
        ).items()
        if isinstance(section, Mapping)
    }


def generated_of(environment: Environment) -> dict[str, Any]:
    """Return the settings of the release that users do not change, as it states them."""
    return dict(plain(mapping((environment.release.metadata.get("attributes_metadata") or {}).get(GENERATED))))


def words_of(environment: Environment, given: Given) -> dict[str, str]:
    """Return the words that texts of settings may name in braces."""
    release = environment.release
    return {
        "cluster.id": str(environment.cluster.id),
        "cluster.release.version": release.version,
        "cluster.release.environment_version": environment_version(release),
        "cluster.release.name": release.name,
        "settings.MASTER_IP": given.master.ip,
    }


def formatted(value: Any, words: Mapping[str, str]) -> Any:
    """Return `value` with the words in braces of its texts replaced; braces around anything else stay.

    >>> formatted({"a": ["{cluster.id}/{x.y}"], "regex": "{cluster.id}"}, {"cluster.id": "1"})
    {'a': ['1/{x.y}'], 'regex': '{cluster.id}'}
    """
    if isinstance(value, str):
        return _WORD.sub(lambda match: words.get(match[1], match[0]), value) if "{" in value else value
    if isinstance(value, Mapping):
        return {key: below if key == VERBATIM else formatted(below, words) for key, below in value.items()}
    return [formatted(below, words) for below in value] if isinstance(value, list | tuple) else value


def _values(section: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: stated["value"] if isinstance(stated, Mapping) and "value" in stated else stated
        for name, stated in section.items()
    }


def _collector(facts: dict[str, Any]) -> None:
    """Say of the user that collects statistics what Nailgun says: it has another key, and sending is off."""
    stated = facts.get("workloads_collector")
    if isinstance(stated, dict):
        stated["create_user"] = False
        if "user" in stated:
            stated["username"] = stated.pop("user")


def _provision(facts: dict[str, Any], environment: Environment, given: Given) -> None:
    stated = facts.get("provision")
    if not isinstance(stated, dict):
        return
    packages = stated.get("packages")
    if isinstance(packages, str) and version_of(environment.release) >= _LIST_OF_PACKAGES:
        stated["packages"] = [line.strip() for line in packages.splitlines() if line.strip()]
    stated.setdefault("engine", {**_ENGINE, "master_ip": given.master.ip})
