"""Plugins: list, show, synchronise and remove them. `fuel2 plugins install` installs them, on the server's machine."""

from __future__ import annotations

from typing import Any

from fuelclient.errors import Conflict
from fuelclient.serializers.plugin import plugin_to, synced_to
from fuelclient.server.errors import refusing
from fuelclient.server.routes import Call, Route
from fuelclient.server.schemas import NUMBER, PLUGIN, closed, listed, opened


def list_all(call: Call) -> Any:
    return [plugin_to(plugin) for plugin in call.backend.plugins.list()]


def show(call: Call) -> Any:
    return plugin_to(call.backend.plugins.get(call.id("plugin_id")))


def delete(call: Call) -> None:
    with refusing(Conflict, 400, "Can't delete plugin which is enabled for some environment."):
        call.backend.plugins.remove(call.id("plugin_id"))


def sync(call: Call) -> Any:
    """Read the unpacked packages again: those with the ids of the body, or without a body all of them."""
    ids = (call.body or {}).get("ids", ())
    return synced_to(call.backend.plugins.sync(list(dict.fromkeys(ids))))


_SYNCED = opened(created=listed(PLUGIN), updated=listed(PLUGIN), removed=listed(PLUGIN), findings={"type": "array"})

ROUTES = (
    Route("GET", "plugins", list_all, "List plugins", {200: listed(PLUGIN)}),
    Route("GET", "plugins/{plugin_id}", show, "Show a plugin", {200: PLUGIN}),
    Route("DELETE", "plugins/{plugin_id}", delete, "Remove a plugin with its graphs", {204: None}),
    Route("POST", "plugins/sync", sync, "Read the files of plugins again", {200: _SYNCED},
          body=closed(ids=listed(NUMBER)), body_required=False),
)  # fmt: skip
