"""Settings: every value that can be configured, where it comes from, and the sample file that documents it.

Low to high: the default, `$XDG_CONFIG_HOME/fuel/fuel_client.yaml`, the file that FUELCLIENT_CUSTOM_SETTINGS
names, the environment, the command line. Every value remembers its origin. Nothing is ever written or printed;
keys that are not registered are kept silently, because settings files of older clients carry them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fuelclient.errors import InvalidDocument, NotFound, UsageError
from fuelclient.settings.registry import KNOWN, SPECS, Kind, Spec
from fuelclient.settings.sample import DATA_HOME, sample
from fuelclient.settings.typed import home, typed

if TYPE_CHECKING:
    from fuelclient.settings.master import Master

CUSTOM_SETTINGS = "FUELCLIENT_CUSTOM_SETTINGS"
"""The environment variable that names a settings file of one's own."""

LOCAL = "--local"
"""The option that says to use the embedded engine, whatever names a master."""

_SAMPLE_HINT = "See etc/fuel/fuel_client.yaml for an example."


@dataclass(frozen=True, slots=True)
class Setting:
    """A value, and who set it: `default`, `FILE:LINE`, `environment NAME` or `command line OPTION`."""

    value: Any
    origin: str


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one run by name. `unknown` are keys of settings files that nobody registered, `warnings` what
    there is to say about deprecated ones."""

    values: Mapping[str, Setting]
    unknown: Mapping[str, Setting] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Setting:
        return self.values[name]

    @property
    def engine(self) -> str:
        """The path of the engine file."""
        return self._text("ENGINE")

    @property
    def handler_commands(self) -> Mapping[str, str]:
        """Task type -> the command that runs a task of it."""
        found: Mapping[str, str] = self.values["HANDLER_COMMANDS"].value
        return found

    @property
    def dask_scheduler(self) -> str:
        """The address of the Dask scheduler, or an empty string."""
        return self._text("DASK_SCHEDULER")

    @property
    def dask_tls_ca_file(self) -> str:
        """The path of the certificates that may sign for the Dask scheduler, or an empty string."""
        return self._text("DASK_TLS_CA_FILE")

    @property
    def dask_tls_cert(self) -> str:
        """The path of the certificate for the Dask scheduler, or an empty string."""
        return self._text("DASK_TLS_CERT")

    @property
    def dask_tls_key(self) -> str:
        """The path of the key of that certificate, or an empty string."""
        return self._text("DASK_TLS_KEY")

    @property
    def master(self) -> Master | None:
        """The Fuel master to talk to, or None for the embedded engine. Raises `UsageError` for no usable address."""
        if not self._text("SERVER_ADDRESS"):
            return None
        from fuelclient.settings.master import master_of

        return master_of(self)

    def _text(self, name: str) -> str:
        return str(self.values[name].value)


def load(
    overrides: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None, *, local: bool = False
) -> Settings:
    """The settings of this run, each with its origin.

    `overrides` are what the command line says, by setting; None means that an option was not given. With `local`, and
    for an engine that the command line names, nothing names a master but the command line.
    A blank environment variable counts as one that is not set. Raises `UsageError` for an option or a variable that
    cannot be used, `NotFound` for a file that FUELCLIENT_CUSTOM_SETTINGS names and that is not there,
    `InvalidDocument` (`file:line`) for one that is no mapping or gives a setting a value of the wrong type.
    """
    environ = os.environ if environ is None else environ
    stated = {name: value for name, value in (overrides or {}).items() if value is not None}
    found = {spec.name: Setting(_default(spec, environ), "default") for spec in SPECS}
    unknown: dict[str, Setting] = {}
    warnings: list[str] = []
    for path in _files(environ):
        _apply_file(path, environ, found, unknown, warnings)
    for spec in SPECS:
        _apply_environment(spec, environ, found, warnings)
        if spec.name in stated:
            found[spec.name] = _of_option(spec, stated[spec.name], environ)
    if local or ("ENGINE" in stated and "SERVER_ADDRESS" not in stated):
        found["SERVER_ADDRESS"] = Setting("", f"command line {LOCAL if local else '--engine'}")
    return Settings(found, unknown, tuple(warnings))


def _apply_file(
    path: str,
    environ: Mapping[str, str],
    found: dict[str, Setting],
    unknown: dict[str, Setting],
    warnings: list[str],
) -> None:
    """Let a settings file override what was `found`. Of two names of one setting the proper one wins."""
    stated: dict[str, tuple[str, Setting]] = {}
    for key, setting in _read(path):
        spec = KNOWN.get(key)
        if spec is None:
            unknown[key] = setting
            continue
        if key in spec.deprecated:
            warnings.append(_deprecated(setting.origin, key, spec))
        if setting.value is not None and (spec.name not in stated or key == spec.name):
            stated[spec.name] = (key, setting)
    for name, (key, setting) in stated.items():
        try:
            value = typed(KNOWN[name], setting.value, environ, os.path.dirname(path))
        except ValueError as error:
            shown = "something else" if KNOWN[name].secret else repr(setting.value)
            message = f"{setting.origin}: {key} is {shown}, but {error}."
            raise InvalidDocument(message, hint=_SAMPLE_HINT) from error
        found[name] = Setting(value, setting.origin)


def _apply_environment(spec: Spec, environ: Mapping[str, str], found: dict[str, Setting], warnings: list[str]) -> None:
    """Let the environment override one setting; deprecated names count less than proper ones."""
    for variable in (*spec.environment, *spec.deprecated):
        text = environ.get(variable, "")
        if not text.strip():
            continue
        if variable in spec.deprecated:
            warnings.append(_deprecated(f"environment {variable}", variable, spec))
        try:
            found[spec.name] = Setting(typed(spec, text, environ), f"environment {variable}")
        except ValueError as error:
            shown = "" if spec.secret else f" is '{text}', but"
            raise UsageError(
                f"The environment variable {variable}{shown} {error}.", hint="Correct or unset it."
            ) from error
        return


def _of_option(spec: Spec, value: Any, environ: Mapping[str, str]) -> Setting:
    """The value of an option. A blank path would name the working directory, and files would be made beside that."""
    option = spec.options[-1]
    if isinstance(value, str) and not value.strip():
        what = "a file" if spec.kind is Kind.PATH else "a value"
        raise UsageError(f"{option} is empty.", hint=f"Name {what}, or leave the option out.")
    try:
        return Setting(typed(spec, value, environ), f"command line {option}")
    except ValueError as error:
        raise UsageError(f"{option}: {error}.", hint="Correct it, or leave the option out.") from error


def _deprecated(origin: str, name: str, spec: Spec) -> str:
    return f"{origin}: {name} is deprecated, and will be ignored one day. Use {spec.name} instead."


def _files(environ: Mapping[str, str]) -> Iterator[str]:
    """The settings files that take part, least important first."""
    own = os.path.join(_base("XDG_CONFIG_HOME", "~/.config", environ), "fuel", "fuel_client.yaml")
    if os.path.exists(own):
        yield own
    custom = environ.get(CUSTOM_SETTINGS, "")
    if custom.strip():
        custom = os.path.abspath(home(custom, environ))
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


def _default(spec: Spec, environ: Mapping[str, str]) -> Any:
    if spec.kind is not Kind.PATH:
        return spec.default
    return str(spec.default).replace("$XDG_DATA_HOME", _base("XDG_DATA_HOME", DATA_HOME, environ))


def _base(variable: str, default: str, environ: Mapping[str, str]) -> str:
    """An XDG base directory; a relative one is ignored, as the XDG specification demands."""
    value = environ.get(variable, "")
    return value if os.path.isabs(value) else home(default, environ)


__all__ = ["CUSTOM_SETTINGS", "LOCAL", "SPECS", "Setting", "Settings", "Spec", "load", "sample"]
