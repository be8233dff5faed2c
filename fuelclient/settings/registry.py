"""The registry of settings: names, defaults, descriptions, and how a value is read.

`etc/fuel/fuel_client.yaml` is generated from it, and `fuel2 config show` lists it. Settings of the original client
keep their names, defaults and environment variables.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

DATA_HOME = "~/.local/share"
"""Where data is stored if XDG_DATA_HOME is not set."""

_TRUE = frozenset(("1", "true", "yes", "on"))
_MAX_NUMBER = 2**31 - 1
_FALSE = frozenset(("0", "false", "no", "off"))


class ValueType(StrEnum):
    """The type of a value. In a path a leading `~` is resolved; relative paths in a settings file are relative to
    the directory of that file."""

    PATH = "path"
    TEXT = "text"
    NUMBER = "number"
    FLAG = "true or false"
    MAPPING = "mapping of names to texts"


@dataclass(frozen=True, slots=True)
class Spec:
    """The definition of a setting.

    `environment` are the variables that set it (the first one wins), `options` its names on the command line,
    `aliases` other names in a settings file, and `deprecated` those that cause a warning. A `required` setting must not
    be empty, a `secret` one is never shown, and a number is at least `minimum`.
    """

    name: str
    type: ValueType
    description: str
    default: Any = ""
    environment: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    deprecated: tuple[str, ...] = ()
    required: bool = False
    secret: bool = False
    minimum: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        """All names for it in a settings file, the proper one first."""
        return (self.name, *self.aliases, *self.deprecated)

    def read(self, value: Any, environ: Mapping[str, str], directory: str = "") -> Any:
        """Convert `value`, from the environment, an option or a settings file in `directory`, to the setting's type.

        Raise `ValueError`, with a message about the required type, if it does not fit.
        """
        if self.type is ValueType.MAPPING:
            return _mapping(value)
        if self.type is ValueType.NUMBER:
            return _number(value, self.minimum)
        if self.type is ValueType.FLAG:
            return _flag(value)
        if self.type is ValueType.TEXT and isinstance(value, int) and not isinstance(value, bool):
            return str(value)  # YAML reads a password of digits as a number
        if not isinstance(value, str) or (self.required and not value.strip()):
            raise ValueError("a string is needed")
        if self.type is ValueType.PATH and value.strip():
            return os.path.join(directory, expand(value, environ))
        return value.strip() if self.type is ValueType.TEXT and not self.secret else value

    def text(self, value: Any) -> str:
        """A value in the form of an environment variable."""
        return json.dumps(value) if self.type is ValueType.MAPPING else str(value)


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and its origin: `default`, `FILE:LINE`, `environment NAME`, `command line OPTION`, or `program`."""

    value: Any
    origin: str


def _number(value: Any, minimum: int) -> int:
    """Accept strings, too: settings files of the original client have the port as a string."""
    with suppress(ValueError):  # Python converts no number of more than 4300 digits
        text = "" if isinstance(value, bool) else str(value).strip()
        if text.isascii() and text.isdigit() and minimum <= int(text) <= _MAX_NUMBER:
            return int(text)
    raise ValueError(f"a whole number from {minimum} to {_MAX_NUMBER} is needed")


def _flag(value: Any) -> bool:
    if (text := str(value).strip().lower()) not in _TRUE | _FALSE:
        raise ValueError("true or false is needed")
    return text in _TRUE


def _mapping(value: Any) -> dict[str, str]:
    if isinstance(value, str):
        with suppress(ValueError):
            value = json.loads(value)
    if not isinstance(value, Mapping) or not all(
        isinstance(text, str) and text.strip() for pair in value.items() for text in pair
    ):
        raise ValueError("a mapping of names to strings is needed, none of them empty")
    return dict(value)


def expand(path: str, environ: Mapping[str, str]) -> str:
    """`path` with a leading `~` resolved, by HOME of `environ` if that is set.

    >>> expand("~/a", {"HOME": "/home/fuel"}), expand("a/~", {})
    ('/home/fuel/a', 'a/~')
    """
    if (user_home := environ.get("HOME")) and (path == "~" or path.startswith("~/")):
        return user_home + path[1:]
    return os.path.expanduser(path)


def _of_keystone(name: str, description: str, *aliases: str, secret: bool = False, default: str = "") -> Spec:
    """Define a setting of OpenStack: its names are its environment variables and, in lower case, its options.

    Secrets have no option, because the process list shows options to everybody.
    """
    names = tuple(sorted((name, *aliases)))  # OS_PROJECT_... before the older OS_TENANT_...
    options = () if secret else tuple(f"--{variable.lower().replace('_', '-')}" for variable in names)
    return Spec(name, ValueType.TEXT, description, default, names, options, aliases, secret=secret)


_ENGINE = (
    Spec(
        "ENGINE", ValueType.PATH,
        "The file of the embedded engine: releases, plugins, environments, nodes and graphs live in it. "
        "It is created when it is first used, with its directories. The default follows $XDG_DATA_HOME if that "
        "variable is set. In a settings file, a relative path starts at the directory of that file.",
        "$XDG_DATA_HOME/fuel/engine.db", ("FUEL_ENGINE",), ("--engine",), required=True,
    ),
    Spec(
        "HANDLER_COMMANDS", ValueType.MAPPING,
        "Commands for the task types that the engine cannot run by itself: task type -> command. As an environment "
        "variable it is JSON.",
        {}, ("FUEL_HANDLER_COMMANDS",),
    ),
    Spec(
        "EXPRESSION_SECONDS", ValueType.NUMBER,
        "How many seconds the expressions of one plan or preview may take that are not compiled, such as those with a "
        "function that no release of Fuel uses. They are evaluated by processes of their own, which may use 256 MB of "
        "memory.",
        60, ("FUEL_EXPRESSION_SECONDS",),
    ),
    Spec(
        "RETENTION_DAYS", ValueType.NUMBER,
        "How many days the embedded engine keeps runs that have ended. Older ones are deleted at the end of the next "
        "run, with their history and files, but never those that later runs are compared with. 0: for ever.",
        365, ("FUEL_RETENTION_DAYS",), minimum=0,
    ),
    Spec(
        "RETENTION_RUNS", ValueType.NUMBER,
        "How many runs the embedded engine keeps. Beyond that the oldest are deleted, except as RETENTION_DAYS says. "
        "0: no limit.",
        1000, ("FUEL_RETENTION_RUNS",), minimum=0,
    ),
    Spec(
        "RETENTION_MEGABYTES", ValueType.NUMBER,
        "How much room the engine file and the files of its runs on this machine may take before the oldest runs are "
        "deleted, except as RETENTION_DAYS says. 0: no limit.",
        4096, ("FUEL_RETENTION_MEGABYTES",), minimum=0,
    ),
    Spec(
        "OUTPUT_MEGABYTES", ValueType.NUMBER,
        "How much is kept of what a task instance writes to each of its outputs: the first megabyte and the last ones. "
        "A line of the log says how much was left out between them.",
        16, ("FUEL_OUTPUT_MEGABYTES",), minimum=2,
    ),
    Spec(
        "FEATURE_GROUPS", ValueType.TEXT,
        "The feature groups of the embedded engine, separated by commas, such as experimental,advanced. Restrictions "
        "of roles and networks ask for them (version:feature_groups): in Fuel's releases, the role virt needs "
        "advanced. A Fuel master states its own.",
        "experimental", ("FUEL_FEATURE_GROUPS",),
    ),
    Spec(
        "DASK_SCHEDULER", ValueType.TEXT,
        "The address of the Dask scheduler whose workers run tasks, such as tls://10.20.0.2:8786. "
        "Empty: Dask is not used.",
        "", ("FUEL_DASK_SCHEDULER",),
    ),
    Spec(
        "DASK_TLS_CA_FILE", ValueType.PATH,
        "The CA certificates (a file) to check the Dask scheduler's certificate with.",
        "", ("FUEL_DASK_TLS_CA_FILE",),
    ),
    Spec("DASK_TLS_CERT", ValueType.PATH, "The client certificate (a file) for the Dask scheduler.", "",
         ("FUEL_DASK_TLS_CERT",)),
    Spec("DASK_TLS_KEY", ValueType.PATH, "The private key (a file) of DASK_TLS_CERT.", "", ("FUEL_DASK_TLS_KEY",)),
    Spec(
        "DASK_INSECURE", ValueType.FLAG,
        "Use a Dask scheduler on this machine without TLS. Every user of the machine can then run anything on its "
        "workers. One on another machine always needs TLS.",
        False, ("FUEL_DASK_INSECURE",),
    ),
)  # fmt: skip

_MASTER = (
    Spec(
        "SERVER_ADDRESS", ValueType.TEXT,
        "The Fuel master: an address, a host name, or a whole URL such as https://fuel.example:8443. Empty: "
        "the embedded engine is used.",
        "", ("SERVER_ADDRESS",), ("--server",),
    ),
    Spec(
        "SERVER_PORT", ValueType.NUMBER,
        "The port of the Fuel master. Ignored if SERVER_ADDRESS is a URL.",
        8000, ("SERVER_PORT",), deprecated=("LISTEN_PORT",),
    ),
    Spec(
        "HTTP_PROXY", ValueType.TEXT,
        "The proxy for all requests to the Fuel master. As an environment variable it applies to http only, as usual, "
        "and NO_PROXY lists the hosts that are reached without it.",
        None, ("HTTP_PROXY",),
    ),
    Spec(
        "HTTP_TIMEOUT", ValueType.NUMBER,
        "How many seconds a connection to the Fuel master may take; HTTP_TOTAL_TIMEOUT is for its answers.",
        10, ("HTTP_TIMEOUT",),
    ),
    Spec(
        "HTTP_TOTAL_TIMEOUT", ValueType.NUMBER,
        "How many seconds the Fuel master may take for one answer. A line every ten seconds says that it is late. "
        "HTTP_TIMEOUT counts if it is larger.",
        300, ("FUEL_HTTP_TOTAL_TIMEOUT", "HTTP_TOTAL_TIMEOUT"),
    ),
    Spec(
        "HTTP_RETRIES", ValueType.NUMBER,
        "How often a request that only reads is repeated if the master is busy or the connection breaks.",
        3, ("FUEL_HTTP_RETRIES", "HTTP_RETRIES"), minimum=0,
    ),
    Spec(
        "OS_CACERT", ValueType.PATH,
        "The CA certificates (a file) to check the certificates of the Fuel master and of Keystone with.",
        "", ("OS_CACERT",), ("--os-cacert",),
    ),
    Spec(
        "OS_INSECURE", ValueType.FLAG,
        "Accept any certificate of the Fuel master and Keystone. For test environments only.",
        False, ("OS_INSECURE",), ("--insecure",),
    ),
)  # fmt: skip

_KEYSTONE = (
    _of_keystone(
        "OS_AUTH_URL",
        "The URL of Keystone. Empty: /keystone/v2.0 or /keystone/v3 below the Fuel master's own address.",
    ),
    Spec("OS_USERNAME", ValueType.TEXT, "The user.", "", ("OS_USERNAME",), ("--os-username",),
         deprecated=("KEYSTONE_USER",)),
    Spec("OS_PASSWORD", ValueType.TEXT, "The user's password.", "", ("OS_PASSWORD",), ("--os-password",),
         deprecated=("KEYSTONE_PASS",), secret=True),
    _of_keystone("OS_TENANT_NAME", "The project, once called tenant.", "OS_PROJECT_NAME", default="admin"),
    _of_keystone("OS_PROJECT_ID", "The id of the project, instead of its name.", "OS_TENANT_ID"),
    _of_keystone("OS_USER_DOMAIN_NAME", "The domain of the user (Keystone v3).", default="Default"),
    _of_keystone("OS_PROJECT_DOMAIN_NAME", "The domain of the project (Keystone v3).", default="Default"),
    _of_keystone(
        "OS_IDENTITY_API_VERSION", "The version of Keystone's API: 2 or 3. Empty: the one that OS_AUTH_URL ends with, "
        "otherwise v3 if the master has it.",
    ),
    _of_keystone("OS_APPLICATION_CREDENTIAL_ID", "The id of an application credential, instead of user and password."),
    _of_keystone("OS_APPLICATION_CREDENTIAL_SECRET", "The secret of the application credential.", secret=True),
    _of_keystone("OS_TOKEN", "A token, instead of user and password.", secret=True),
)  # fmt: skip

SPECS = (*_ENGINE, *_MASTER, *_KEYSTONE)
"""All settings that this version reads."""

OF_ENGINE = _ENGINE[1:]
"""The settings that the engine reads while it works: all but ENGINE, which it needs to open its file."""

KNOWN = {name: spec for spec in SPECS for name in spec.names}
"""The settings by every name that a settings file can use."""

_HEAD = """\
# Sample settings of fuel2. Every line is a comment: copy this file to
# $XDG_CONFIG_HOME/fuel/fuel_client.yaml (by default ~/.config/fuel/fuel_client.yaml), or name a copy in
# the environment variable FUELCLIENT_CUSTOM_SETTINGS, and uncomment what you want to change.
#
# From least to most important: defaults, the file in $XDG_CONFIG_HOME, the file that is named, the
# environment, the command line. 'fuel2 config show --origin' says where each value comes from."""


def sample() -> str:
    """The text of `etc/fuel/fuel_client.yaml`: every setting with description and default, commented out."""
    import textwrap  # only documentation needs it

    lines = [_HEAD]
    for spec in SPECS:
        lines += ["", *(f"# {line}" for line in textwrap.wrap(spec.description, 100)), "#"]
        named = (("Environment", spec.environment), ("Command line", spec.options))
        if any(names for _, names in named):
            lines.append("# " + " ".join(f"{noun}: {', '.join(names)}." for noun, names in named if names))
        default = json.dumps(spec.default)
        if isinstance(spec.default, str) and spec.default:
            default = spec.default.replace("$XDG_DATA_HOME", DATA_HOME)
        lines.append(f"# {spec.name}: {default}")
    return "\n".join(lines) + "\n"
