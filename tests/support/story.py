"""The story of the recordings of a real master, told to our server: every request whose path it has, in order.

What a later request needs, an earlier one made: ids that our server gives otherwise are translated. Runs are held back
while the recorded ones were running, and executed in this process before the next request, by nodes that do nothing.
"""

from __future__ import annotations

import json
import re
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from corpus import corpus
from recordings import Line, line, lines

from fuelclient.backends.local import LocalBackend
from fuelclient.engine.runs import runner
from fuelclient.engine.runs.runs import Runs
from fuelclient.errors import Conflict
from fuelclient.model.document import Document
from fuelclient.model.graph import Level, OwnerRef
from fuelclient.serializers.graph import document_from
from fuelclient.serializers.node import node_record_from
from fuelclient.serializers.release import releases_from
from fuelclient.server.app import application, routes
from fuelclient.store.database import Database

API = "/api/v1/"
_MOST = 6
"""Missing keys that are named one by one."""

HELD = frozenset({*range(422, 438), *range(548, 550), *range(564, 567)})
"""Lines while which the run that was begun before them goes on."""

PACKAGES = ("kubernetes", "detach-rabbitmq", "detach-haproxy", "lma-collector", "vmware-dvs")
"""The plugins of the recorded master, in the order of their ids."""

_RELEASES, _TASKS, _NODES, _SYNC = 17, 24, 114, 228
_ROUTES = {(route.method, route.path) for route in routes(auth_required=False)}
_PATHS = {
    path: re.compile(re.sub(r"\{\w+\}", "([^/]+)", re.sub(r"\{\w+_id\}", r"(\\d+)", path.replace(".", r"\."))))
    for _, path in _ROUTES
}
_NAMES = {"cluster_id": "clusters", "transaction_id": "transactions", "graph_id": "graphs", "sequence_id": "sequences",
          "release_id": "releases", "cluster": "clusters", "release": "releases"}  # fmt: skip


@dataclass
class Story:
    """Our server, and how it answered so far: differences by the method, path and recorded status of a request."""

    directory: Path
    differences: dict[str, set[str]] = field(default_factory=dict)
    told: int = 0
    _held: list[int] = field(default_factory=list)
    _ids: dict[tuple[str, int], int] = field(default_factory=dict)

    def tell(self) -> None:
        """Send every recorded request whose path the server has."""
        database = Database(str(self.directory / "engine.db"))
        backend = LocalBackend(database.path)
        backend.__dict__["runs"] = Runs(database, start=lambda _, run_id, *__: self._held.append(run_id))
        backend.releases.create(releases_from(Document(sorted(line(_RELEASES).response_body, key=_id), "")))
        for release_id in (1, 2, 3):
            tasks = document_from(Document(line(_TASKS).response_body, ""), owner_label="release")
            backend.graphs.upload(OwnerRef(Level.RELEASE, release_id), tasks)
        nodes = [node_record_from(record) for record in sorted(line(_NODES).response_body, key=_id)]
        backend.nodes.create([replace(node, executor="noop", ip="", status="provisioned") for node in nodes])
        client = application(lambda: backend).test_client()
        for recorded in lines():
            if recorded.n == _SYNC:
                for name in PACKAGES:
                    backend.plugins.install(str(corpus("plugins", f"fuel-plugin-{name}")))
            if recorded.n not in HELD:
                self._execute(database)
            template = _template(recorded)
            if template:
                self.told += 1
                answer = self._sent(client, recorded, template)
                found = difference(recorded, answer)
                if found:
                    key = f"{recorded.method} {template} {recorded.status}"
                    self.differences.setdefault(key, set()).update(found)
        backend.close()
        database.close()

    def _execute(self, database: Database) -> None:
        while self._held:
            try:
                runner.execute(database, self._held.pop(0))
            except Conflict:
                continue  # it was stopped before it began

    def _sent(self, client: Any, recorded: Line, template: str) -> Any:
        parts = urllib.parse.urlsplit(recorded.path)
        names = re.findall(r"\{(\w+)\}", template)
        path = parts.path.removeprefix(API)
        match = _PATHS[template].match(path) if template in _PATHS else None
        for name, value in zip(names, match.groups() if match else (), strict=match is not None):
            path = path.replace(f"/{value}", f"/{self._translated(name, value)}", 1)
        query = urllib.parse.urlencode(
            [(name, self._translated(name, value)) for name, value in urllib.parse.parse_qsl(parts.query)]
        )
        options: dict[str, Any] = {"headers": dict(recorded.request_headers)}
        if recorded.request_kind == "json":
            options["data"] = json.dumps(self._body(recorded.request_body))
        elif recorded.request_kind == "text":
            options["data"] = recorded.request_body
        answer = client.open(f"{API}{path}?{query}", method=recorded.method, **options)
        self._learn(recorded, template, answer)
        return answer

    def _translated(self, name: str, value: str) -> str:
        kind = _NAMES.get(name, "")
        return str(self._ids.get((kind, int(value)), value)) if kind and value.isdigit() else value

    def _body(self, body: Any) -> Any:
        if not isinstance(body, Mapping):
            return body
        return {
            key: int(self._translated(key, str(value))) if key in _NAMES and isinstance(value, int) else value
            for key, value in body.items()
        }

    def _learn(self, recorded: Line, template: str, answer: Any) -> None:
        """Remember under which id the server has what it just made; the graphs of a run follow it."""
        theirs, ours = recorded.response_body, answer.get_json(silent=True) if answer.status_code < 300 else None
        if recorded.method not in ("POST", "PUT") or not isinstance(theirs, Mapping) or not isinstance(ours, Mapping):
            return
        if "id" not in theirs or "id" not in ours:
            return
        kind = "transactions" if "uuid" in theirs else "graphs" if "tasks" in theirs else template.partition("/")[0]
        for following in range(3 if kind == "transactions" else 1):
            self._ids.setdefault((kind, theirs["id"] + following), ours["id"] + following)


def _id(record: Mapping[str, Any]) -> int:
    return int(record["id"])


def _template(recorded: Line) -> str:
    """Return the path of the server's route for a request; empty if the server does not have it.

    Paths that nothing has, and methods that a path does not have, are had by every server.
    """
    path = urllib.parse.urlsplit(recorded.path).path
    if not path.startswith(API) or recorded.status == 401:
        return ""
    path = path.removeprefix(API).rstrip("/")
    if recorded.response_body == "not found":
        return "*"
    found = sorted(template for template, pattern in _PATHS.items() if pattern.fullmatch(path))
    exact = [template for template in found if template == path] or found
    for template in exact:
        if (recorded.method, template) in _ROUTES or recorded.status == 405:
            return template
    return ""


def difference(recorded: Line, answer: Any) -> set[str]:
    """Return how an answer differs: in its status, or in the kind of its body, missing keys, the words of a refusal.

    Keys that only our server has are no difference: clients ignore what they do not know.
    """
    found: set[str] = set()
    if answer.status_code != recorded.status:
        return {f"status {answer.status_code}"}
    text = answer.data.decode()
    ours = answer.get_json(silent=True, force=True) if text else None
    kind = "empty" if not text else "text" if ours is None and text != "null" else "json"
    if kind != recorded.response_kind:
        return found | {f"{kind} for {recorded.response_kind}"}
    theirs = recorded.response_body
    if recorded.status >= 400:
        said, mine = (_message(body) for body in (theirs, ours if kind == "json" else text))
        if said != mine and "Traceback" not in said and "Failed validating" not in said:
            found.add("message")
    elif type(theirs) is not type(ours) and kind == "json":
        found.add(f"{_type(ours)} for {_type(theirs)}")
    elif kind == "json":
        wanted, known = _keys(theirs), _keys(ours)
        if wanted and known and wanted - known:
            missing = sorted(wanted - known)
            found |= {f"lacks {key}" for key in missing} if len(missing) <= _MOST else {"lacks many keys"}
    return found


def _message(body: Any) -> str:
    return str(body.get("message", "")) if isinstance(body, Mapping) else str(body)


def _type(value: Any) -> str:
    return {"dict": "a mapping", "list": "a list", "NoneType": "null", "str": "a text"}[type(value).__name__]


def _keys(body: Any) -> set[str]:
    """Return the keys of a mapping, or of all mappings of a list; of a graph also those of its tasks."""
    if isinstance(body, list):
        return {key for item in body for key in _keys(item)}
    if not isinstance(body, Mapping):
        return set()
    return {*body, *(f"tasks.{key}" for key in (_keys(body["tasks"]) if isinstance(body.get("tasks"), list) else ()))}
