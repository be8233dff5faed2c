"""The registry: every value that can be configured, before anybody sets it.

`etc/fuel/fuel_client.yaml` is generated from it, and `fuel2 config show` lists it. Names that the original client
reads keep their names, their defaults and their environment variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What a value is. A path resolves a leading `~`, and in a settings file counts from the directory of that file."""

    PATH = "path"
    TEXT = "text"
    NUMBER = "number"
    FLAG = "true or false"
    MAPPING = "mapping of names to texts"


@dataclass(frozen=True, slots=True)
class Spec:
    """What is known of a setting before anybody sets it.

    `environment` are the variables that set it, the first one wins; `options` are the command line's names for it, and
    `aliases` other names in a settings file and in the environment, `deprecated` those that are warned about. `needed`
    says that it must not be empty, `secret` that it is never shown. A number is at least `least`.
    """

    name: str
    kind: Kind
    description: str
    default: Any = ""
    environment: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    deprecated: tuple[str, ...] = ()
    needed: bool = False
    secret: bool = False
    least: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that a settings file can call it, the proper name first."""
        return (self.name, *self.aliases, *self.deprecated)


def _of_keystone(name: str, description: str, *aliases: str, secret: bool = False, default: str = "") -> Spec:
    """A setting of OpenStack's own names: the environment variable is the name, and so is, in small letters, the
    option; secrets of many words have no option, because the process list shows options to everybody."""
    names = tuple(sorted((name, *aliases)))  # projects before tenants, as they were once called
    options = () if secret and name != "OS_PASSWORD" else tuple(f"--{one.lower().replace('_', '-')}" for one in names)
    return Spec(name, Kind.TEXT, description, default, names, options, aliases, secret=secret)


_ENGINE = (
    Spec(
        "ENGINE", Kind.PATH,
        "The file of the embedded engine: releases, plugins, environments, nodes and graphs live in it. "
        "It is made at the first use, with its directories. The default follows $XDG_DATA_HOME where that "
        "variable is set. In a settings file, a relative path counts from the directory of that file.",
        "$XDG_DATA_HOME/fuel/engine.db", ("FUEL_ENGINE",), ("--engine",), needed=True,
    ),
    Spec(
        "HANDLER_COMMANDS", Kind.MAPPING,
        "Commands for task types that the engine cannot run by itself: the task type, and the command that runs a "
        "task of it. In a settings file only.",
        {},
    ),
    Spec(
        "DASK_SCHEDULER", Kind.TEXT,
        "The address of the Dask scheduler whose workers run tasks, such as tls://10.20.0.2:8786. "
        "Empty: there is none.",
        "", ("FUEL_DASK_SCHEDULER",),
    ),
    Spec("DASK_TLS_CA_FILE", Kind.PATH, "Who may sign for the Dask scheduler: a file of certificates.", "",
         ("FUEL_DASK_TLS_CA_FILE",)),
    Spec("DASK_TLS_CERT", Kind.PATH, "The certificate that is shown to the Dask scheduler.", "",
         ("FUEL_DASK_TLS_CERT",)),
    Spec("DASK_TLS_KEY", Kind.PATH, "The private key of that certificate.", "", ("FUEL_DASK_TLS_KEY",)),
)  # fmt: skip

_MASTER = (
    Spec(
        "SERVER_ADDRESS", Kind.TEXT,
        "The Fuel master: an address, a host name, or a whole URL such as https://fuel.example:8443. Empty: there is "
        "none, and the embedded engine is used.",
        "", ("SERVER_ADDRESS",), ("--server",),
    ),
    Spec(
        "SERVER_PORT", Kind.NUMBER,
        "The port of the Fuel master, where SERVER_ADDRESS is no URL.",
        8000, ("SERVER_PORT",), deprecated=("LISTEN_PORT",),
    ),
    Spec(
        "HTTP_PROXY", Kind.TEXT,
        "The proxy for all requests to the Fuel master. From the environment it is a proxy for http only, as usual, "
        "and NO_PROXY names hosts that need none.",
        None, ("HTTP_PROXY",),
    ),
    Spec("HTTP_TIMEOUT", Kind.NUMBER, "How long the Fuel master may be silent, in seconds.", 10, ("HTTP_TIMEOUT",)),
    Spec(
        "HTTP_TOTAL_TIMEOUT", Kind.NUMBER,
        "How long one request may take altogether, in seconds: the end of answers that never end.",
        300, ("FUEL_HTTP_TOTAL_TIMEOUT",),
    ),
    Spec(
        "HTTP_RETRIES", Kind.NUMBER,
        "How often a request that changes nothing is repeated when the master is busy or the connection breaks.",
        3, ("FUEL_HTTP_RETRIES",), least=0,
    ),
    Spec("OS_CACERT", Kind.PATH, "Who may sign for the Fuel master and Keystone: a file of certificates.", "",
         ("OS_CACERT",), ("--os-cacert",)),
    Spec("OS_INSECURE", Kind.FLAG, "Accept any certificate of the Fuel master and Keystone. For laboratories.", False,
         ("OS_INSECURE",), ("--insecure",)),
)  # fmt: skip

_KEYSTONE = (
    _of_keystone(
        "OS_AUTH_URL",
        "Keystone. Empty: the one behind the Fuel master's own address, /keystone/v2.0 or /keystone/v3.",
    ),
    Spec("OS_USERNAME", Kind.TEXT, "The user.", "", ("OS_USERNAME",), ("--os-username",),
         deprecated=("KEYSTONE_USER",)),
    Spec("OS_PASSWORD", Kind.TEXT, "The user's password.", "", ("OS_PASSWORD",), ("--os-password",),
         deprecated=("KEYSTONE_PASS",), secret=True),
    _of_keystone("OS_TENANT_NAME", "The project, once called tenant.", "OS_PROJECT_NAME", default="admin"),
    _of_keystone("OS_PROJECT_ID", "The project by its id, instead of its name.", "OS_TENANT_ID"),
    _of_keystone("OS_USER_DOMAIN_NAME", "The domain of the user (Keystone v3).", default="Default"),
    _of_keystone("OS_PROJECT_DOMAIN_NAME", "The domain of the project (Keystone v3).", default="Default"),
    _of_keystone(
        "OS_IDENTITY_API_VERSION", "Which of Keystone's versions to use: 2 or 3. Empty: what OS_AUTH_URL ends with, "
        "else v3 where the master has it.",
    ),
    _of_keystone("OS_APPLICATION_CREDENTIAL_ID", "An application credential, instead of user and password."),
    _of_keystone("OS_APPLICATION_CREDENTIAL_SECRET", "The secret of the application credential.", secret=True),
    _of_keystone("OS_TOKEN", "A token, instead of user and password.", secret=True),
)  # fmt: skip

SPECS = (*_ENGINE, *_MASTER, *_KEYSTONE)
"""Everything that this version reads."""

KNOWN = {name: spec for spec in SPECS for name in spec.names}
"""Every name that a settings file can use, with the setting that it sets."""
