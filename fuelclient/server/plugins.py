"""Plugins. A package is installed on the server's machine (`fuel2 plugins install`); here it is read and removed."""

from __future__ import annotations

from typing import Any

from fuelclient.serializers.plugin import plugin_to, synced_to
from fuelclient.server.routes import Call, Route
from fuelclient.server.schemas import NUMBER, PLUGIN, closed, listed, opened


def every(call: Call) -> Any:
    return [plugin_to(one) for one in call.backend.plugins.list()]


def one(call: Call) -> Any:
    return plugin_to(call.backend.plugins.get(call.id("plugin_id")))


def delete(call: Call) -> None:
    call.backend.plugins.remove(call.id("plugin_id"))


def sync(call: Call) -> Any:
    """The unpacked packages are read again; without a body all of them."""
    ids = (call.body or {}).get("ids", ())
    return synced_to(call.backend.plugins.sync(list(dict.fromkeys(ids))))


_SYNCED = opened(created=listed(PLUGIN), updated=listed(PLUGIN), removed=listed(PLUGIN), findings={"type": "array"})

ROUTES = (
    Route("GET", "plugins", every, "All plugins", {200: listed(PLUGIN)}),
    Route("GET", "plugins/{plugin_id}", one, "One plugin", {200: PLUGIN}),
    Route("DELETE", "plugins/{plugin_id}", delete, "Remove a plugin with its graphs", {204: None}),
    Route("POST", "plugins/sync", sync, "Read the files of plugins again", {200: _SYNCED},
          body=closed(ids=listed(NUMBER)), body_required=False),
)  # fmt: skip
