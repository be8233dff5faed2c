"""The address of a Dask scheduler and the certificates for it, and whether they may be used at all."""

from __future__ import annotations

import os
import urllib.parse
from dataclasses import dataclass

PORT = 8786
"""Where Dask schedulers listen that were told nothing else."""

_HINT = "Set DASK_SCHEDULER to tls://HOST:PORT, and DASK_TLS_CA_FILE, DASK_TLS_CERT and DASK_TLS_KEY."


@dataclass(frozen=True, slots=True)
class DaskScheduler:
    """A scheduler: `tls://host:port`, or `tcp://host:port` on this machine, and paths of PEM files for the former.

    `ca_file` has who may sign for the cluster, `cert` and `key` are what this client shows.
    """

    address: str = ""
    ca_file: str = ""
    cert: str = ""
    key: str = ""

    @property
    def endpoint(self) -> tuple[str, str, int]:
        """Protocol, host and port. Raises `ValueError` for what is no address."""
        text = self.address if "://" in self.address else f"tcp://{self.address}"
        parts = urllib.parse.urlsplit(text)
        if not parts.hostname:
            raise ValueError(f"{self.address!r} has no host")
        return parts.scheme, parts.hostname, parts.port or PORT

    @property
    def url(self) -> str:
        """The address with everything that it left out. Raises `ValueError`.

        >>> DaskScheduler("localhost").url, DaskScheduler("tls://[fe80::1]:1").url
        ('tcp://localhost:8786', 'tls://[fe80::1]:1')
        """
        protocol, host, port = self.endpoint
        return f"{protocol}://{f'[{host}]' if ':' in host else host}:{port}"

    def refusal(self) -> str:
        """Why this scheduler is never spoken to, with what to do; an empty string when it may be.

        Dask executes what it is sent, pickled: without TLS on both sides, whoever can connect to the scheduler has
        all its nodes. That is borne only where the connection does not leave this machine.

        >>> DaskScheduler("tcp://127.0.0.1:8786").refusal()
        ''
        """
        if not self.address:
            return f"no Dask scheduler is named. {_HINT}"
        try:
            protocol, host, _ = self.endpoint
        except ValueError as error:
            return f"{self.address!r} is no address of a Dask scheduler ({error}). {_HINT}"
        if protocol not in ("tcp", "tls"):
            return f"the Dask scheduler {self.address} would be reached by {protocol}; only tls and tcp are. {_HINT}"
        if protocol == "tls":
            return self._unreadable()
        if not _is_loopback(host):
            return (
                f"the Dask scheduler {self.address} is not on this machine and has no TLS: whoever reaches it "
                f"could run anything on all nodes. {_HINT}"
            )
        return ""

    def _unreadable(self) -> str:
        files = (("DASK_TLS_CA_FILE", self.ca_file), ("DASK_TLS_CERT", self.cert), ("DASK_TLS_KEY", self.key))
        missing = [name for name, path in files if not path]
        if missing:
            return f"TLS to the Dask scheduler {self.address} needs {' and '.join(missing)}. {_HINT}"
        unread = [f"{name} ({path})" for name, path in files if not os.access(path, os.R_OK) or os.path.isdir(path)]
        return f"{' and '.join(unread)} cannot be read. Correct the setting, or its permissions." if unread else ""


def _is_loopback(host: str) -> bool:
    import ipaddress  # which no listing needs

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
