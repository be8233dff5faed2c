"""A server of ours behind a real Keystone, its users, and our client with what they would set."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_line import Done, tiny_engine
from integration.cached_environments import clean
from integration.keystone_server import PASSWORD, Keystone, keystone
from server_process import serving

from fuelclient.settings.master import Credentials

_PATIENCE = 120.0
SECRETS = {name: f"{name}-s3cr3t" for name in ("reader", "nobody", "nailgun", "leaver")}
"""The passwords of the users."""


@dataclass(frozen=True)
class Site:
    """A Keystone, and a server of ours at `url` that asks it. `directory` has the server's log and its settings."""

    keystone: Keystone
    directory: Path
    url: str

    def fuel2(self, *arguments: object, **variables: str) -> Done:
        """Our client, run to its end with OS_AUTH_URL and these OS_ variables, which are written in lower case."""
        stated = {f"OS_{name.upper()}": value for name, value in variables.items()}
        environ = clean(HOME=str(self.directory), OS_AUTH_URL=self.keystone.url) | stated
        command = [sys.executable, "-m", "fuelclient.main", "--server", self.url, *map(str, arguments)]
        done = subprocess.run(
            command, cwd=self.directory, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=_PATIENCE, check=False,
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr)

    def admin(self, *arguments: object) -> Done:
        """Our client as the administrator."""
        return self.fuel2(*arguments, username="admin", password=PASSWORD)

    def user(self, name: str, *arguments: object) -> Done:
        """Our client as one of the users of `SECRETS`."""
        return self.fuel2(*arguments, username=name, password=SECRETS[name])

    def session(self, username: str = "admin", password: str = PASSWORD, project: str | None = "admin") -> Any:
        """A session of keystoneauth1."""
        from keystoneauth1.identity.v3 import Password
        from keystoneauth1.session import Session

        plugin = Password(
            self.keystone.url, username=username, password=password, user_domain_name="Default",
            project_name=project, project_domain_name="Default" if project else None, unscoped=project is None,
        )  # fmt: skip
        return Session(auth=plugin)

    def token(self, username: str = "admin", password: str = PASSWORD, project: str | None = "admin") -> str:
        """A new token."""
        return str(self.session(username, password, project).get_token())

    def client(self, username: str = "admin", password: str = PASSWORD) -> Any:
        """Keystone's own client."""
        from keystoneclient.v3.client import Client  # type: ignore[import-untyped]  # it has no types

        return Client(session=self.session(username, password))

    @property
    def credentials(self) -> Credentials:
        """Those of the administrator."""
        return Credentials(self.keystone.url, "admin", PASSWORD)

    def conf(self, service_password: str = SECRETS["nailgun"]) -> Path:
        """The file with which a server validates tokens here."""
        path = self.directory / "server.conf"
        path.write_text(
            f"[keystone_authtoken]\nauth_url = {self.keystone.url}\nusername = nailgun\n"
            f"password = {service_password}\nproject_name = service\n"
            "user_domain_name = Default\nproject_domain_name = Default\n"
            "token_cache_time = -1\n"  # else a token that is revoked would go on for five minutes
        )
        return path

    def log(self) -> str:
        """What the server has logged."""
        return (self.directory / "server.log").read_text(encoding="utf-8")


@contextmanager
def peopled(directory: Path, expiration: int = 3600) -> Iterator[Site]:
    """A Keystone whose tokens live for so many seconds, and no server yet.

    User `admin` is administrator of project `admin`, `reader` and `leaver` have the role reader there, `nobody` has no
    role anywhere, and `nailgun` is the user with whom a server validates tokens.
    """
    with keystone(directory, expiration) as running:
        found = Site(running, directory, "")
        _people(found.client())
        yield found


@contextmanager
def site(directory: Path, expiration: int = 3600) -> Iterator[Site]:
    """A server over an engine with environment 1, behind such a Keystone."""
    with peopled(directory, expiration) as found:
        tiny_engine(directory)
        with server(found) as served:
            yield served


@contextmanager
def server(at: Site, service_password: str = SECRETS["nailgun"], *more: str) -> Iterator[Site]:
    """A server of ours at the Keystone of a site, which validates tokens with this password."""
    options = ("--auth", "keystone", "--keystone-config", str(at.conf(service_password)))
    with serving(at.directory, *options, *more) as running:
        yield Site(at.keystone, at.directory, running.url.removesuffix("/api/v1/"))


def _people(client: Any) -> None:
    roles = {one.name: one for one in client.roles.list()}
    admin = next(one for one in client.projects.list() if one.name == "admin")
    service = client.projects.create("service", "default")
    users = {name: client.users.create(name, password=secret) for name, secret in SECRETS.items()}
    for name in ("reader", "leaver"):
        client.roles.grant(roles["reader"], user=users[name], project=admin)
    client.roles.grant(roles["service"], user=users["nailgun"], project=service)
