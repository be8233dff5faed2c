"""Plugins: list, show, synchronise and remove them. `fuel2 plugins install` installs them, on the server's machine."""

from __future__ import annotations

from typing import Any

from fuelclient.errors import Conflict, NotFound
from fuelclient.serializers.plugin import plugin_to
from fuelclient.server.errors import differing, refusing, require_same
from fuelclient.server.routes import Call, Route
from fuelclient.server.schemas import MAPPING, NUMBER, PLUGIN, TEXT, Schema, closed, listed, opened


def show(call: Call) -> Any:
    return plugin_to(call.backend.plugins.get(call.id("plugin_id")))


def update(call: Call) -> Any:
    """Change the texts for people. What runs need comes from the package: install that."""
    record = show(call)
    require_same(record, call.body, *_READ)
    changed = differing(record, call.body)
    return plugin_to(call.backend.plugins.describe(record["id"], changed)) if changed else record


def delete(call: Call) -> None:
    plugin = call.backend.plugins.get(call.id("plugin_id"))
    text = "Can't delete plugin which is enabled for some environment."
    with refusing(Conflict, 400, text, when=plugin.clusters):
        call.backend.plugins.remove(plugin.id)


def sync(call: Call) -> Any:
    """Read the unpacked packages of plugins again: of those with the ids of the body, or without a body of all."""
    ids = list(dict.fromkeys((call.body or {}).get("ids", ())))
    unknown = min(set(ids) - {plugin.id for plugin in call.backend.plugins.list()}, default=0)
    with refusing(NotFound, 404, f"Object 'Plugin' with UID={unknown} is not found in DB", noun="plugin"):
        call.backend.plugins.sync(ids)
    return {}


_WORDS = listed(TEXT)
_READ: dict[str, Schema] = {
    "title": TEXT, "description": TEXT, "authors": _WORDS, "licenses": _WORDS, "homepage": {"type": ["string", "null"]},
}  # fmt: skip
"""What people read of a plugin, and nothing depends on."""

_WHOLE = opened(("name", "title", "version", "releases", "package_version", "fuel_version"), **_READ)

ROUTES = (
    Route("GET", "plugins", lambda call: list(map(plugin_to, call.backend.plugins.list())), "List plugins",
          {200: listed(PLUGIN)}),
    Route("GET", "plugins/{plugin_id}", show, "Show a plugin", {200: PLUGIN}),
    Route("PUT", "plugins/{plugin_id}", update, "Change what people read of a plugin", {200: PLUGIN}, body=_WHOLE),
    Route("DELETE", "plugins/{plugin_id}", delete, "Remove a plugin with its graphs", {204: None}),
    Route("POST", "plugins/sync", sync, "Read the files of plugins again", {200: MAPPING},
          body=closed(ids=listed(NUMBER)), body_required=False),
)  # fmt: skip
