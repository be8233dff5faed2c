"""The Fuel master that the settings name: its address, its credentials, and the limits of requests."""

from __future__ import annotations

import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field

from fuelclient.errors import UsageError
from fuelclient.settings.registry import Setting

_LAST_PORT = 65535


@dataclass(frozen=True, slots=True)
class Credentials:
    """The credentials for Keystone. A token takes precedence over an application credential, and that over a user and
    a password."""

    auth_url: str = ""
    username: str = ""
    password: str = field(default="", repr=False)
    project_name: str = "admin"
    project_id: str = ""
    user_domain_name: str = "Default"
    project_domain_name: str = "Default"
    application_credential_id: str = ""
    application_credential_secret: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    version: str = ""
    """`2`, `3`, or empty for the one that Keystone has."""

    @property
    def stated(self) -> bool:
        """Whether there are any credentials."""
        return bool(self.token or self.application_credential_id or self.username)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The strings that must not appear in any message."""
        return tuple(filter(None, (self.password, self.application_credential_secret, self.token)))


@dataclass(frozen=True, slots=True)
class Master:
    """Where a Fuel master is and how to talk to it.

    `url` does not end with a slash; sizes are in bytes, times in seconds: `timeout` for a connection, `total_timeout`
    for a whole answer. `proxy` does not include the proxies that the environment names; `requests` reads these itself.
    """

    url: str
    credentials: Credentials = field(default_factory=Credentials)
    timeout: float = 10
    total_timeout: float = 300
    retries: int = 3
    proxy: str = ""
    ca_file: str = ""
    insecure: bool = False
    body_limit: int = 128 * 2**20


def master_of(settings: Mapping[str, Setting]) -> Master:
    def text(name: str) -> str:
        return str(settings[name].value or "")

    proxy = settings["HTTP_PROXY"]
    return Master(
        url=url_of(text("SERVER_ADDRESS"), settings["SERVER_PORT"].value, settings["SERVER_ADDRESS"].origin),
        credentials=Credentials(
            text("OS_AUTH_URL"), text("OS_USERNAME"), text("OS_PASSWORD"), text("OS_TENANT_NAME"),
            text("OS_PROJECT_ID"), text("OS_USER_DOMAIN_NAME"), text("OS_PROJECT_DOMAIN_NAME"),
            text("OS_APPLICATION_CREDENTIAL_ID"), text("OS_APPLICATION_CREDENTIAL_SECRET"), text("OS_TOKEN"),
            text("OS_IDENTITY_API_VERSION").removeprefix("v").partition(".")[0],
        ),
        timeout=settings["HTTP_TIMEOUT"].value,
        total_timeout=max(settings["HTTP_TIMEOUT"].value, settings["HTTP_TOTAL_TIMEOUT"].value),
        retries=settings["HTTP_RETRIES"].value,
        proxy="" if proxy.origin.startswith("environment ") else str(proxy.value or ""),
        ca_file=text("OS_CACERT"),
        insecure=settings["OS_INSECURE"].value,
    )  # fmt: skip


def url_of(address: str, port: int, origin: str = "the settings") -> str:
    """The URL of a master. An address without a scheme gets `http`, and `port` if it has none of its own.

    >>> url_of("10.20.0.2", 8000), url_of("https://fuel.example/prefix/", 8000), url_of("[::1]:8001", 8000)
    ('http://10.20.0.2:8000', 'https://fuel.example/prefix', 'http://[::1]:8001')

    The path of the API may be part of it, because our own server prints it where it says where it listens.

    >>> url_of("http://127.0.0.1:8000/api/v1/", 8000)
    'http://127.0.0.1:8000'

    Raise `UsageError`, naming the `origin`, if this is not the URL of a master.
    """
    bare = "://" not in address
    text = f"http://{_bracketed(address)}" if bare else address
    try:
        parts = urllib.parse.urlsplit(text)
        given = parts.port
    except ValueError:
        parts, given = urllib.parse.urlsplit(""), None
    unfit = any(not sign.isprintable() or sign.isspace() for sign in address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or unfit:
        message = f"'{address}' ({origin}) is not the address of a Fuel master."
        raise UsageError(message, hint="Use a URL such as http://10.20.0.2:8000.")
    if parts.username is not None or parts.password is not None:
        message = f"The address of the Fuel master ({origin}) contains a user or a password."
        raise UsageError(message, hint="Use OS_USERNAME and OS_PASSWORD.")
    if not given and bare and port > _LAST_PORT:
        raise UsageError(f"SERVER_PORT is {port}, which is not a port.", hint=f"The last port is {_LAST_PORT}.")
    netloc = parts.netloc if given or not bare else f"{parts.netloc}:{port}"
    return f"{parts.scheme}://{netloc}{parts.path}".rstrip("/").removesuffix("/api/v1")


def _bracketed(address: str) -> str:
    """An IPv6 address with the brackets that a URL needs, and any other address as it is."""
    return f"[{address}]" if address.count(":") > 1 and not address.startswith("[") else address
