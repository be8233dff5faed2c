"""The token of a server that this user runs on this machine."""

from __future__ import annotations

from fuelclient.errors import Unauthorised
from fuelclient.settings.server_tokens import path_of, token_of


class ServerToken:
    """The token from the file of one server. No other address ever gets it, and no proxy."""

    def __init__(self, url: str) -> None:
        """Raise `Unauthorised` if this user has no token for the server."""
        self._url = url
        self._token = token_of(url)
        if not self._token:
            raise Unauthorised(
                f"{url} serves only the user who started it, and there is no token for this address in {path_of(url)}.",
                hint="Use the address that it printed, as the same user; or start it with --no-auth.",
            )

    def token(self) -> str:
        """Return the token."""
        return self._token

    def renew(self) -> bool:
        """Read the file again; return whether a server that was started since has left another token."""
        before, self._token = self._token, token_of(self._url) or self._token
        return before != self._token

    def explained(self) -> str:
        """Return a sentence about the token."""
        return f"The token of {path_of(self._url)} was used: the server may have been started anew."
