"""Host keys that are refused: whether a machine is not known yet or has another key than before, and what to do."""

from __future__ import annotations

import os
import shlex
from typing import Any

import asyncssh

from fuelclient.executors.transport import Unreachable
from fuelclient.model.diagnosis import Shared

_DEFAULT = "~/.ssh/known_hosts"
_PORT = 22


class Client(asyncssh.SSHClient):
    """The client of one connection, which remembers the host key that was refused."""

    def __init__(self) -> None:
        self.refused: tuple[str, str, int, asyncssh.SSHKey] | None = None

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Refuse, as without this method: it is asked only for a key that is not among the known ones."""
        self.refused = (host, addr, port, key)
        return False


def refusal(place: str, it: str, host: str, port: int, client: Client, options: dict[str, Any]) -> Unreachable:
    """Return the error for a host key that was refused; `options` are those of the connection, and `it` is how a
    node speaks of the machine."""
    whose = "its host key" if it == "it" else f"the host key of {it}"
    stated = options.get("known_hosts")
    file = shlex.quote(stated) if isinstance(stated, str) else _DEFAULT
    offered = f" ({client.refused[3].get_fingerprint()})" if client.refused else ""
    add = f"ssh-keyscan{f' -p {port}' if port else ''} {{}} >> {file}"
    if client.refused is None or not _is_known(client, options):
        words = "Compare the fingerprint with that of the machine itself, then add the key"
        return Unreachable(
            f"The host key of {place} is not known{offered}.",
            final=True,
            hint=f"{words}: {add.replace('{}', host)}",
            problem=f"{whose} is not known",
            shared=Shared(words, add, host),
        )
    name = shlex.quote(f"[{host}]:{port}") if port and port != _PORT else host
    elsewhere = f" -f {file}" if file != _DEFAULT else ""
    forget = f"ssh-keygen{elsewhere} -R"
    words = "The connection may be intercepted. Only if the machine was reinstalled, forget the old key"
    return Unreachable(
        f"The host key of {place} has changed: it is not the known one{offered}.",
        final=True,
        hint=f"{words}: {forget} {name}, and add the new one: {add.replace('{}', host)}",
        problem=f"{whose} has changed",
        shared=Shared(words, f'for host in {{}}; do {forget} "$host"; done', name),
    )


def _is_known(client: Client, options: dict[str, Any]) -> bool:
    """Return whether some key is known for the machine whose key was refused."""
    assert client.refused is not None  # noqa: S101 - its only caller looked
    host, address, port, _ = client.refused
    try:
        made = asyncssh.SSHClientConnectionOptions(host=host, **options)
        files = made.known_hosts or os.path.expanduser(_DEFAULT)
        number = port if port != _PORT else None
        keys, _, revoked, *_ = asyncssh.match_known_hosts(files, made.host_key_alias or host, address, number)
    except (asyncssh.Error, OSError, ValueError):
        return False
    return bool(keys or revoked)
