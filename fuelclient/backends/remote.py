"""A server of this package as a backend: each call of a method is one message (see `messages`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fuelclient import __version__
from fuelclient.backends import messages
from fuelclient.backends.http.answers import About, may_have_begun
from fuelclient.backends.http.backend import OverHttp
from fuelclient.backends.http.session import Session
from fuelclient.errors import Unavailable, UsageError
from fuelclient.support import unsupported

if TYPE_CHECKING:
    from fuelclient.model.run import RunRequest
    from fuelclient.plan.inputs import Inputs
    from fuelclient.plan.plan import Check

PATH = "messages/"
"""The path of all messages, below Nailgun's."""

_UNSURE = "The server may have done it all the same: look before you try again."


class RemoteBackend(OverHttp):
    """A backend over one server of this package. Its facets have the methods of the protocols in `base.Backend`."""

    def __init__(self, session: Session) -> None:
        """Raise `Unavailable` for a server whose messages differ from those of this client."""
        super().__init__(session)
        data = session.version
        if data.get("revision") != messages.REVISION:
            raise Unavailable(
                f"{self.target} is {data.get('server')} with messages of revision {data.get('revision', 0)}, and this "
                f"is fuelclient {__version__} with revision {messages.REVISION}: they do not understand each other.",
                hint="Install the version of the server here, or the other way round.",
            )

    def __getattr__(self, name: str) -> Any:
        if name not in messages.facets():
            raise AttributeError(name)
        facet = _FACETS.get(name, _Facet)(name, self._send)
        setattr(self, name, facet)
        return facet

    services = unsupported("Only a Fuel master has these services.", hint="Name one with --server.")

    def _send(self, call: messages.Call) -> Any:
        unsure = "" if call.reads else _UNSURE
        if (call.facet, call.method) == ("runs", "begin"):
            unsure = may_have_begun(call.arguments["request"].cluster_id)
        answer = self.session.message(PATH, messages.encode_call(call), About("", "", unsure=unsure), reads=call.reads)
        is_refused = answer.status >= 400
        try:
            result = messages.decode_error(answer.body) if is_refused else messages.decode_answer(call, answer.body)
        except UsageError as error:
            raise Unavailable(f"{self.target}: {error}", hint="Look at its logs.") from error
        if is_refused:
            raise result
        return result


class _Facet:
    def __init__(self, name: str, send: Callable[[messages.Call], Any]) -> None:
        self._name, self._send = name, send

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if method not in messages.methods(self._name):
            raise AttributeError(method)

        def called(*args: Any, **named: Any) -> Any:
            return self._send(messages.make_call(self._name, method, args, named))

        return called


class _Plugins(_Facet):
    install = unsupported(
        "A server installs no packages of its clients.", hint="Install it on the server's machine, without --server."
    )


class _Runs(_Facet):
    act = decided = unsupported(
        "Graphs define how environments are deployed and reset on this server.",
        hint="Run such a graph with `fuel2 graph execute`.",
    )
    outline = page = column = unsupported("A server sends the history of a run as a whole.")
    pause = 0.0

    def checker(self, _request: RunRequest, _inputs: Inputs) -> Check:
        """Accept every instance: the server checks when a run begins."""
        return lambda _task, _node, _rendered: ""


_FACETS: dict[str, type[_Facet]] = {"plugins": _Plugins, "runs": _Runs}
