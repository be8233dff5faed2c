"""Deploy, provision and reset environments as a Fuel master itself does it, by paths of its own.

A master decides by the states of the nodes what to delete, to provision and to deploy; no graph has to say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fuelclient.backends.http.errors import About, may_have_begun
from fuelclient.backends.http.session import Session
from fuelclient.errors import Unsupported
from fuelclient.model.run import Action, Run, RunRequest
from fuelclient.serializers.run import run_from


@dataclass(frozen=True, slots=True)
class _Resource:
    """The path of an action, and which fields of a request its query has.

    A master ignores parameters that it does not know. `always` are sent even if they are off, as the original client
    does, `also` only if they are on. What is `implied` needs no parameter.
    """

    path: str
    always: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    implied: tuple[str, ...] = ()


_RESOURCES: Mapping[Action, _Resource] = MappingProxyType(
    {
        Action.DEPLOY: _Resource("changes", ("dry_run", "noop")),
        Action.REDEPLOY: _Resource("changes/redeploy", ("dry_run", "noop"), implied=("force",)),
        Action.RESET: _Resource("reset/", also=("force",)),
        Action.DEPLOY_NODES: _Resource("deploy/", ("node_ids", "force", "noop"), ("dry_run",)),
        Action.PROVISION_NODES: _Resource("provision/", ("node_ids",), implied=("force",)),
    }
)

_PARAMETERS = {"node_ids": "nodes", "noop": "noop_run"}
"""The parameters whose names are not those of the fields."""

_OPTIONS = ("force", "dry_run", "noop", "trace", "executor")


def act(session: Session, action: Action, request: RunRequest) -> Run:
    """Begin an action, as `base.Runs.act`, and return the run in the master's answer, which has no parts yet."""
    resource = _RESOURCES[action]
    known = {*resource.always, *resource.also, *resource.implied}
    for option in _OPTIONS:
        if getattr(request, option) and option not in known:
            raise Unsupported(
                f"A Fuel master cannot {action} an environment with --{option.replace('_', '-')}.",
                hint="Leave the option out. `fuel2 graph execute` has it for single graphs.",
            )
    query = {
        _PARAMETERS.get(name, name): getattr(request, name)
        for name in (*resource.always, *resource.also)
        if getattr(request, name) or name in resource.always
    }
    path = f"clusters/{request.cluster_id}/{resource.path}"
    about = About("environment", request.cluster_id, unsure=may_have_begun(request.cluster_id))
    return run_from(session.put(path, {}, about, **query))
