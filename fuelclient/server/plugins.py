"""List, show, synchronise and remove plugins. `fuel2 plugins install` installs them, on the server's machine."""

from __future__ import annotations

from typing import Any

from fuelclient.errors import Conflict, NotFound
from fuelclient.serializers.plugin import plugin_to
from fuelclient.server.errors import changed_fields, refusing, require_same
from fuelclient.server.routes import Call, Route
from fuelclient.server.schemas import MAPPING, NUMBER, PLUGIN, TEXT, Schema, closed, listed, opened


def show(call: Call) -> Any:
    return plugin_to(call.backend.plugins.get(call.id("plugin_id")))


def update(call: Call) -> Any:
    """Change the descriptive texts. Everything that runs use comes from the package: install a new one for that."""
    record = show(call)
    require_same(record, call.body, *_DESCRIPTIVE)
    changed = changed_fields(record, call.body)
    return plugin_to(call.backend.plugins.describe(record["id"], changed)) if changed else record


def delete(call: Call) -> None:
    plugin = call.backend.plugins.get(call.id("plugin_id"))
    with refusing(Conflict, 400, "Can't delete plugin which is enabled for some environment.", when=plugin.clusters):
        call.backend.plugins.remove(plugin.id)


def sync(call: Call) -> Any:
    """Read the unpacked packages again, of the plugins whose ids the body has, or of all plugins without a body."""
    ids = list(dict.fromkeys((call.body or {}).get("ids", ())))
    unknown = min(set(ids) - {plugin.id for plugin in call.backend.plugins.list()}, default=0)
    with refusing(NotFound, 404, f"Object 'Plugin' with UID={unknown} is not found in DB", noun="plugin"):
        call.backend.plugins.sync(ids)
    return {}


_TEXTS = listed(TEXT)
_DESCRIPTIVE: dict[str, Schema] = {
    "title": TEXT, "description": TEXT, "authors": _TEXTS, "licenses": _TEXTS, "homepage": {"type": ["string", "null"]},
}  # fmt: skip
"""The descriptive fields of a plugin. No run depends on them."""

_WHOLE = opened(("name", "title", "version", "releases", "package_version", "fuel_version"), **_DESCRIPTIVE)

ROUTES = (
    Route("GET", "plugins", lambda call: list(map(plugin_to, call.backend.plugins.list())), "List plugins",
          {200: listed(PLUGIN)}),
    Route("GET", "plugins/{plugin_id}", show, "Show a plugin", {200: PLUGIN}),
    Route("PUT", "plugins/{plugin_id}", update, "Change what people read of a plugin", {200: PLUGIN}, body=_WHOLE),
    Route("DELETE", "plugins/{plugin_id}", delete, "Remove a plugin with its graphs", {204: None}),
    Route("POST", "plugins/sync", sync, "Read the files of plugins again", {200: MAPPING},
          body=closed(ids=listed(NUMBER)), body_required=False),
)  # fmt: skip
