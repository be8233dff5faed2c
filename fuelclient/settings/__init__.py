"""Load the settings: every value that can be configured, with its origin.

From least to most important: the default, `$XDG_CONFIG_HOME/fuel/fuel_client.yaml`, the file that
FUELCLIENT_CUSTOM_SETTINGS names, the environment, the command line or the program. Nothing is written or printed.
Unknown keys have no effect, because the original client reads the same files; a key that is probably misspelt causes a
warning.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fuelclient.errors import InvalidDocument, NotFound, Unavailable, UsageError, did_you_mean, nearest
from fuelclient.settings.registry import DATA_HOME, KNOWN, OF_ENGINE, SPECS, Setting, Spec, ValueType, expand, sample

if TYPE_CHECKING:
    from fuelclient.settings.master import Master

_Type = TypeVar("_Type")

_OLD_CLIENT_PREFIXES = ("PERF", "KEYSTONE_")
"""Prefixes of settings that only older clients read."""

CUSTOM_SETTINGS = "FUELCLIENT_CUSTOM_SETTINGS"
"""The environment variable that names one more settings file."""

LOCAL = "--local"
"""The option that selects the embedded engine, even if the settings name a master."""

PROGRAM = "program"
"""The origin of a setting that a program gave to `fuelclient.connect`."""

_in_force: list[Mapping[str, Setting]] = []
"""The settings that the open connections of a program gave the engine, the latest last."""

_ALL_SETTINGS = "`fuel2 config show` lists all settings."
_MAX_VALUE_CHARACTERS = 200
"""The maximum number of characters of a wrong value in a message."""
_SAMPLE_HINT = f"Write a line for each: HTTP_TIMEOUT: 60. {_ALL_SETTINGS}"


class _Value(Generic[_Type]):
    """A setting as an attribute of `Settings`, in its type."""

    def __init__(self, name: str, type: Callable[[Any], _Type]) -> None:
        self._name, self._type = name, type

    def __get__(self, settings: Settings, owner: type[Settings]) -> _Type:
        return self._type(settings.values[self._name].value)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of this process by name, and warnings about misspelt and deprecated names."""

    values: Mapping[str, Setting]
    warnings: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Setting:
        return self.values[name]

    engine = _Value("ENGINE", str)

    handler_commands = _Value[Mapping[str, str]]("HANDLER_COMMANDS", dict)
    """The commands that run tasks, by task type."""

    expression_seconds = _Value("EXPRESSION_SECONDS", int)
    """The processor time of an expression that is evaluated by a process of its own, in seconds."""

    retention_days = _Value("RETENTION_DAYS", int)
    """After how many days runs are deleted; 0 for never."""

    retention_runs = _Value("RETENTION_RUNS", int)
    """How many runs are kept; 0 for all."""

    retention_megabytes = _Value("RETENTION_MEGABYTES", int)
    """How many megabytes the engine file and the files of its runs may take; 0 for any."""

    output_megabytes = _Value("OUTPUT_MEGABYTES", int)
    """How many megabytes are kept of each output of a task instance."""

    feature_groups = _Value("FEATURE_GROUPS", lambda text: tuple(dict.fromkeys(text.replace(",", " ").split())))
    """The feature groups of the embedded engine, each once."""

    dask_scheduler = _Value("DASK_SCHEDULER", str)
    """The address of the Dask scheduler, or an empty string."""

    dask_tls_ca_file = _Value("DASK_TLS_CA_FILE", str)
    """The path of the CA certificates for the Dask scheduler, or an empty string."""

    dask_tls_cert = _Value("DASK_TLS_CERT", str)
    """The path of the client certificate for the Dask scheduler, or an empty string."""

    dask_tls_key = _Value("DASK_TLS_KEY", str)
    """The path of the key of the client certificate, or an empty string."""

    dask_insecure = _Value("DASK_INSECURE", bool)
    """Whether a Dask scheduler on this machine may be used without TLS."""

    @property
    def master(self) -> Master | None:
        """The Fuel master to use, or None for the embedded engine. Raise `UsageError` if its address is not usable."""
        if not self["SERVER_ADDRESS"].value:
            return None
        from fuelclient.settings.master import master_of

        return master_of(self.values)


def load(
    overrides: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    local: bool = False,
    by_program: bool = False,
    chooses: bool = False,
) -> Settings:
    """Read the settings of this process, each with its origin.

    `overrides` are the options of the command line, by setting, or with `by_program` values from a program, by any name
    of a setting; None means that an option was not given. With `local`, or if `overrides` name an engine, only
    `overrides` can name a master. A blank environment variable counts as not set.

    A file that cannot be opened causes a warning; but if the caller `chooses` between the engine and a master by the
    settings, raise `Unavailable`, or `UsageError` for a directory.

    Raise `UsageError` for an unknown name or an invalid option or variable, `NotFound` if the file that
    FUELCLIENT_CUSTOM_SETTINGS names does not exist, and `InvalidDocument` (`file:line`) if a settings file is not a
    mapping or gives a setting a value of the wrong type.
    """
    environ = os.environ if environ is None else environ
    overriding = {_spec(name).name: value for name, value in (overrides or {}).items() if value is not None}
    values = {spec.name: Setting(_default(spec, environ), "default") for spec in SPECS}
    warnings: list[str] = []
    is_chosen = not chooses or local or bool(overriding.keys() & {"ENGINE", "SERVER_ADDRESS"})
    for path in _files(environ):
        try:
            _apply_file(path, environ, values, warnings)
        except (Unavailable, UsageError) as error:
            if not is_chosen:
                raise
            warnings.append(f"{error.message} Its settings have no effect.")
    for spec in SPECS:
        _apply_environment(spec, environ, values, warnings)
    for given in _in_force:
        values |= given
    for name, value in overriding.items():
        values[name] = _given(KNOWN[name], value, environ, by_program=by_program)
    if local or ("ENGINE" in overriding and "SERVER_ADDRESS" not in overriding):
        values["SERVER_ADDRESS"] = Setting("", f"command line {LOCAL if local else '--engine'}")
    return Settings(values, tuple(warnings))


def _apply_file(path: str, environ: Mapping[str, str], values: dict[str, Setting], warnings: list[str]) -> None:
    """Override `values` with a settings file. If it has two names of one setting, the proper one wins."""
    given: dict[str, tuple[str, Setting]] = {}
    for key, setting in _read(path):
        if (spec := KNOWN.get(key)) is None:
            close = "" if key.startswith(_OLD_CLIENT_PREFIXES) else nearest(key.upper(), KNOWN)
            if close:
                hint = f"Did you mean {close}?"
                warnings.append(f"{setting.origin}: {key} is not a setting and has no effect. {hint}")
            continue
        if key in spec.deprecated:
            warnings.append(_deprecated(setting.origin, key, spec))
        if setting.value is not None and (spec.name not in given or key == spec.name):
            given[spec.name] = (key, setting)
    for name, (key, setting) in given.items():
        try:
            value = KNOWN[name].read(setting.value, environ, os.path.dirname(path))
        except ValueError as error:
            shown = "" if KNOWN[name].secret else f" is {repr(setting.value)[:_MAX_VALUE_CHARACTERS]}, but"
            raise InvalidDocument(
                f"{setting.origin}: {key}{shown or ':'} {error}.", hint="Mend it, or leave it out."
            ) from error
        values[name] = Setting(value, setting.origin)


def _apply_environment(spec: Spec, environ: Mapping[str, str], values: dict[str, Setting], warnings: list[str]) -> None:
    """Override one setting with the environment; proper names win over deprecated ones."""
    for variable in (*spec.environment, *spec.deprecated):
        text = environ.get(variable, "")
        if not text.strip():
            continue
        if variable in spec.deprecated:
            warnings.append(_deprecated(f"environment {variable}", variable, spec))
        try:
            values[spec.name] = Setting(spec.read(text, environ), f"environment {variable}")
        except ValueError as error:
            shown = ":" if spec.secret else f" is '{text}', but"
            message = f"The environment variable {variable}{shown} {error}."
            raise UsageError(message, hint="Correct or unset it.") from error
        return


@contextmanager
def in_force(settings: Settings) -> Iterator[None]:
    """Apply the settings that a program gave the engine to each `load` in this process and in processes that it
    starts."""
    given = {spec.name: settings[spec.name] for spec in OF_ENGINE if settings[spec.name].origin == PROGRAM}
    _in_force.append(given)
    try:
        yield
    finally:
        _in_force[:] = [other for other in _in_force if other is not given]


def handed_on() -> dict[str, str]:
    """The settings of `in_force`, as environment variables for processes of the engine."""
    held = {name: setting.value for given in _in_force for name, setting in given.items()}
    return {KNOWN[name].environment[0]: KNOWN[name].text(value) for name, value in held.items()}


def _spec(name: str) -> Spec:
    if name not in KNOWN:
        raise UsageError(f"{name!r} is not a setting.", hint=did_you_mean(str(name).upper(), KNOWN, _ALL_SETTINGS))
    return KNOWN[name]


def _given(spec: Spec, value: Any, environ: Mapping[str, str], *, by_program: bool) -> Setting:
    """The setting from an option or a program. An option must not be blank: such a path would be the working
    directory."""
    name, what = (spec.name, "it") if by_program else (spec.options[-1], "the option")
    if isinstance(value, str) and not value.strip() and (spec.required or not by_program):
        named = "a file" if spec.type is ValueType.PATH else "a value"
        raise UsageError(f"{name} is empty.", hint=f"Name {named}, or leave {what} out.")
    try:
        return Setting(spec.read(value, environ), PROGRAM if by_program else f"command line {name}")
    except ValueError as error:
        raise UsageError(f"{name}: {error}.", hint=f"Correct it, or leave {what} out.") from error


def _deprecated(origin: str, name: str, spec: Spec) -> str:
    return f"{origin}: {name} is deprecated and will be removed. Use {spec.name} instead."


def _files(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the settings files to read, least important first."""
    own = os.path.join(_base("XDG_CONFIG_HOME", "~/.config", environ), "fuel", "fuel_client.yaml")
    if os.path.exists(own):
        yield own
    custom = environ.get(CUSTOM_SETTINGS, "")
    if custom.strip():
        custom = os.path.abspath(expand(custom, environ))
        if not os.path.exists(custom):
            hint = f"{CUSTOM_SETTINGS} names it: correct the path, or unset the variable."
            raise NotFound("settings file", custom, hint=hint)
        yield custom


def _read(path: str) -> Iterator[tuple[str, Setting]]:
    from fuelclient import files  # it imports YAML, and most people have no settings file

    document = files.load(path)
    if document.data is None:
        return
    if not isinstance(document.data, dict):
        raise InvalidDocument(f"{path}:1: a settings file is a mapping of names to values.", hint=_SAMPLE_HINT)
    lines: Mapping[str, int] = getattr(document.data, "lines", {})
    for key, value in document.data.items():
        yield str(key), Setting(value, f"{path}:{lines.get(key, 1)}")


def _default(spec: Spec, environ: Mapping[str, str]) -> Any:
    if spec.type is not ValueType.PATH:
        return spec.default
    return str(spec.default).replace("$XDG_DATA_HOME", _base("XDG_DATA_HOME", DATA_HOME, environ))


def _base(variable: str, default: str, environ: Mapping[str, str]) -> str:
    """An XDG base directory. A relative one is ignored, as the XDG specification requires."""
    value = environ.get(variable, "")
    return value if os.path.isabs(value) else expand(default, environ)


__all__ = [
    "CUSTOM_SETTINGS",
    "LOCAL",
    "SPECS",
    "Setting",
    "Settings",
    "Spec",
    "handed_on",
    "in_force",
    "load",
    "sample",
]
