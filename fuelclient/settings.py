"""Settings: every value that can be configured, where it comes from, and the sample file that documents it.

Low to high: the default, `$XDG_CONFIG_HOME/fuel/fuel_client.yaml`, the file that FUELCLIENT_CUSTOM_SETTINGS
names, the environment, the command line. Every value remembers its origin. Nothing is ever written or printed;
keys that are not registered are kept silently, because settings files of older clients carry them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fuelclient.errors import InvalidDocument, NotFound, UsageError

CUSTOM_SETTINGS = "FUELCLIENT_CUSTOM_SETTINGS"
"""The environment variable that names a settings file of one's own."""

_WIDTH = 100
_DATA_HOME = "~/.local/share"
_SAMPLE_HINT = "See etc/fuel/fuel_client.yaml for an example."


@dataclass(frozen=True, slots=True)
class Spec:
    """What is known of a setting before anybody sets it.

    A value is a path: `load` resolves a leading `~`, and `$XDG_DATA_HOME` in `default`. `environment` are the
    variables that set it, the first one wins; `option` is the command line's name for it.
    """

    name: str
    default: str
    environment: tuple[str, ...]
    type: type[str]
    description: str
    option: str


SPECS = (
    Spec(
        name="ENGINE",
        default="$XDG_DATA_HOME/fuel/engine.db",
        environment=("FUEL_ENGINE",),
        type=str,
        description=(
            "The file of the embedded engine: releases, plugins, environments, nodes and graphs live in it. "
            "It is made at the first use, with its directories. The default follows $XDG_DATA_HOME where that "
            "variable is set. In a settings file, a relative path counts from the directory of that file."
        ),
        option="--engine",
    ),
)
"""The registry: everything that this version reads."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A value, and who set it: `default`, `FILE:LINE`, `environment NAME` or `command line OPTION`."""

    value: Any
    origin: str


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one run by name. `unknown` are keys of settings files that nobody registered."""

    values: Mapping[str, Setting]
    unknown: Mapping[str, Setting] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Setting:
        return self.values[name]

    @property
    def engine(self) -> str:
        """The path of the engine file."""
        return str(self.values["ENGINE"].value)


def load(overrides: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings of this run, each with its origin.

    `overrides` are what the command line says, by setting; None means that an option was not given.
    A blank environment variable counts as one that is not set. Raises `UsageError` for a blank option, `NotFound`
    for a file that FUELCLIENT_CUSTOM_SETTINGS names and that is not there, `InvalidDocument` (`file:line`) for one
    that is no mapping or gives a setting a value of the wrong type.
    """
    environ = os.environ if environ is None else environ
    found: dict[str, Setting] = {spec.name: Setting(_default(spec, environ), "default") for spec in SPECS}
    unknown: dict[str, Setting] = {}
    known = {spec.name: spec for spec in SPECS}
    for path in _files(environ):
        for key, setting in _read(path):
            if key not in known:
                unknown[key] = setting
            elif setting.value is not None:
                found[key] = _checked(known[key], setting, path, environ)
    for spec in SPECS:
        for variable in reversed(spec.environment):
            if environ.get(variable, "").strip():
                found[spec.name] = Setting(_home(environ[variable], environ), f"environment {variable}")
        value = (overrides or {}).get(spec.name)
        if value is not None:
            found[spec.name] = Setting(_home(_stated(spec, value), environ), f"command line {spec.option}")
    return Settings(found, unknown)


def sample() -> str:
    """The text of `etc/fuel/fuel_client.yaml`: every setting with its description and default, commented out."""
    lines = [
        "# Sample settings of fuel2. Every line is a comment: copy this file to",
        "# $XDG_CONFIG_HOME/fuel/fuel_client.yaml (by default ~/.config/fuel/fuel_client.yaml), or name a copy in",
        f"# the environment variable {CUSTOM_SETTINGS}, and uncomment what you want to change.",
        "#",
        "# Low to high: defaults, the file in $XDG_CONFIG_HOME, the named file, the environment, the command line.",
    ]
    for spec in SPECS:
        environment = ", ".join(spec.environment)
        lines += ["", *(f"# {line}" for line in _wrapped(spec.description)), "#"]
        default = spec.default.replace("$XDG_DATA_HOME", _DATA_HOME)
        lines += [f"# Environment: {environment}. Command line: {spec.option}.", f"# {spec.name}: {default}"]
    return "\n".join(lines) + "\n"


def _files(environ: Mapping[str, str]) -> Iterator[str]:
    """The settings files that take part, least important first."""
    own = os.path.join(_base("XDG_CONFIG_HOME", "~/.config", environ), "fuel", "fuel_client.yaml")
    if os.path.exists(own):
        yield own
    custom = environ.get(CUSTOM_SETTINGS, "")
    if custom.strip():
        custom = os.path.abspath(_home(custom, environ))
        if not os.path.exists(custom):
            raise NotFound(
                "settings file", custom, hint=f"{CUSTOM_SETTINGS} names it: correct the path, or unset the variable."
            )
        yield custom


def _read(path: str) -> Iterator[tuple[str, Setting]]:
    """The keys of a settings file. The YAML reader is imported only here: most runs have no settings file."""
    from fuelclient import files

    document = files.load(path)
    if document.data is None:
        return
    if not isinstance(document.data, dict):
        raise InvalidDocument(f"{path}:1: settings are a mapping of names to values.", hint=_SAMPLE_HINT)
    lines: Mapping[str, int] = getattr(document.data, "lines", {})
    for key, value in document.data.items():
        yield str(key), Setting(value, f"{path}:{lines.get(key, 1)}")


def _stated(spec: Spec, value: str) -> str:
    """The value of an option. A blank one would name the working directory, and files would be made beside that."""
    if not value.strip():
        raise UsageError(f"{spec.option} is empty.", hint="Name a file, or leave the option out.")
    return value


def _checked(spec: Spec, setting: Setting, path: str, environ: Mapping[str, str]) -> Setting:
    value = setting.value
    if not isinstance(value, spec.type) or not value.strip():
        raise InvalidDocument(
            f"{setting.origin}: {spec.name} is {value!r}, but a {spec.type.__name__} is needed.",
            hint=_SAMPLE_HINT,
        )
    return Setting(os.path.join(os.path.dirname(path), _home(value, environ)), setting.origin)


def _default(spec: Spec, environ: Mapping[str, str]) -> str:
    return spec.default.replace("$XDG_DATA_HOME", _base("XDG_DATA_HOME", _DATA_HOME, environ))


def _base(variable: str, default: str, environ: Mapping[str, str]) -> str:
    """An XDG base directory; a relative one is ignored, as the XDG specification demands."""
    value = environ.get(variable, "")
    return value if os.path.isabs(value) else _home(default, environ)


def _home(path: str, environ: Mapping[str, str]) -> str:
    """`path` with a leading `~` resolved, by HOME of `environ` where that is set."""
    home = environ.get("HOME")
    if home and (path == "~" or path.startswith("~/")):
        return home + path[1:]
    return os.path.expanduser(path)


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, _WIDTH)
