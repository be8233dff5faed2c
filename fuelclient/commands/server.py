"""`server run`: serve the API of a Fuel master."""

from __future__ import annotations

import argparse
import os
from functools import partial
from typing import TYPE_CHECKING

from fuelclient.commands.arguments import flag, option
from fuelclient.commands.base import Command
from fuelclient.commands.engine import engine_file
from fuelclient.commands.shell import LOG
from fuelclient.errors import Unsupported, UsageError

if TYPE_CHECKING:
    from fuelclient.server.access import Policy


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port (0 to 65535)")
    return int(text)


class ServerRun(Command):
    """Serve the engine over HTTP with the API of a Fuel master

    Clients use the server like a master: 'fuel2 --server URL', or the original client with SERVER_ADDRESS and
    SERVER_PORT. Its OpenAPI document is at /api/v1/openapi.json. SIGTERM or Ctrl-C ends the server, but not its runs.

    By default only you can use it, from this machine: it writes a token to a file that only you can read, and fuel2
    finds it there. The original client does not know that token and needs --no-auth, which lets every user of this
    machine use the server, and so run commands as you.

    With --auth keystone the server checks the tokens of a Keystone: readers may read, administrators may also write
    and execute; with --keystone-project only the administrators of that project may. The section [keystone_authtoken]
    of the configuration file has the service user that validates tokens, as in other OpenStack services.

      fuel2 server run
      fuel2 server run --no-auth
      fuel2 server run --host 10.20.0.2 --auth keystone --keystone-config /etc/fuel/server.conf
    """

    arguments = (
        option("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)"),
        option("--port", type=_port, default=8000, help="port to listen on (default: 8000); 0 takes a free one"),
        option(
            "--auth", choices=("token", "none", "keystone"), default="token",
            help="who may use the server: programs of this user (token, the default), every program of this machine "
            "(none), or users of Keystone",
        ),
        option("--no-auth", dest="auth", action="store_const", const="none", help="the same as --auth none"),
        flag("--force", help="accept --no-auth even as root"),
        option("--keystone-config", metavar="FILE", help="file with the section [keystone_authtoken]"),
        option(
            "--keystone-project", metavar="PROJECT",
            help="id or name of the only project whose administrators may write (default: any project)",
        ),
    )  # fmt: skip

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        try:
            from fuelclient.server.access import LocalToken, token_file
            from fuelclient.server.app import application
            from fuelclient.server.wsgi_server import Server
        except ModuleNotFoundError as error:
            from fuelclient.installed import extra_line

            raise Unsupported(
                f"The server needs {error.name}, which is not installed.", hint=f"Install it: {extra_line('server')}"
            ) from error
        from fuelclient import backends

        engine_file(self)  # or this would pass on the requests to the server that settings name
        policy = _policy(parsed_args)
        if policy.name == "none":
            LOG.warning("Every user of this machine can use this server, and run commands as its user (--no-auth).")
        connect = partial(backends.connect, self.shell.settings)
        self.writable().releases.list()  # an unusable backend fails here, and not at the first request
        self.shell.warn_of_missing_engine()
        server = Server(application(connect, auth=policy), parsed_args.host, parsed_args.port, admits=policy.admits)

        def ready() -> None:
            self.say(f"Listening on {server.url}/api/v1/")
            self.app.stdout.flush()

        if isinstance(policy, LocalToken):
            with token_file(server.url, policy.token) as path:
                LOG.info("Only programs of this user can use this server, with the token in %s.", path)
                server.run(ready)
        else:
            server.run(ready)
        LOG.info("The server has ended.")


def _policy(parsed_args: argparse.Namespace) -> Policy:
    """The access policy of the server. Raise `UsageError` for options that contradict each other."""
    from fuelclient.server.access import Keystone, LocalToken, Loopback, conf_from, require_loopback

    if parsed_args.auth != "keystone":
        require_loopback(parsed_args.host)
        for option in ("keystone_config", "keystone_project"):
            if getattr(parsed_args, option):
                name = f"--{option.replace('_', '-')}"
                raise UsageError(f"{name} needs --auth keystone.", hint=f"Add --auth keystone, or leave {name} out.")
        if parsed_args.auth == "token":
            return LocalToken()
        if os.geteuid() == 0 and not parsed_args.force:
            message = "With --no-auth every user of this machine could run commands as root."
            raise UsageError(message, hint="Leave --no-auth out, use --auth keystone, or insist with --force.")
        return Loopback()
    if not parsed_args.keystone_config:
        raise UsageError(
            "--auth keystone needs a service user.", hint="Name the file that has it: --keystone-config FILE."
        )
    return Keystone(conf_from(parsed_args.keystone_config), parsed_args.keystone_project or "")
