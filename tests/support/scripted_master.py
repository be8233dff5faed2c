"""A master that answers what a case says, for commands that no recording of a real one has.

A case in `tests/cases/master-services` has `files`, the answers of the `master` by method and path, and `steps`: a
command line, the exit code and the stdout of the original client, what both clients `wrote` to the master, and what is
different `here`. An answer is a JSON body with status 200; `{status: 404, body: {...}}` is one with another status.
"""

from __future__ import annotations

import shlex
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from faulty_master import Request, Server, serving

_VERSION = {
    "api": "1.0", "auth_required": False, "feature_groups": ["advanced"], "openstack_version": "newton-10.0",
    "release": "10.0",
}  # fmt: skip
_API = "/api/v1/"


@contextmanager
def scripted(answers: Mapping[str, Any]) -> Iterator[Server]:
    """Serve the answers of a case; a path that it does not have is 404, as on a master."""
    known = {_normal(key): answer for key, answer in {"GET version": _VERSION, **answers}.items()}

    def answer(request: Request) -> None:
        said = known.get(asked(request.command, request.path))
        if said is None:
            request.text("not found", 404)
        elif isinstance(said, dict) and set(said) == {"status", "body"}:
            request.json(said["body"], said["status"])
        else:
            request.json(said)

    with serving(answer) as server:
        yield server


def asked(method: str, path: str) -> str:
    """Return a request as cases name it: `GET clusters/1?a=b`. Queries are sorted, and the last slash is left out."""
    parts = urllib.parse.urlsplit(path.removeprefix(_API))
    query = "&".join(f"{key}={value}" for key, value in sorted(urllib.parse.parse_qsl(parts.query)))
    return f"{method} {parts.path.rstrip('/')}{'?' if query else ''}{query}"


def writes(server: Server) -> list[dict[str, Any]]:
    """Return the requests that change something, with their bodies, since the last call.

    The order in which test sets of OSTF are asked for means nothing, and the original client's is arbitrary.
    """
    changes = []
    for request in server.asked:
        if request.method != "GET":
            is_unordered = request.path.startswith("/ostf/")
            body = sorted(request.body, key=lambda order: str(order.get("testset"))) if is_unordered else request.body
            changes.append({asked(request.method, request.path): body})
    server.asked.clear()
    return changes


def prepare(case: Mapping[str, Any], home: Path) -> None:
    """Write the files of a case."""
    for name, text in case.get("files", {}).items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, encoding="utf-8")


def words(step: Mapping[str, Any]) -> list[str]:
    """Return the arguments of a step."""
    return shlex.split(step["run"])


def shown(text: str, home: Path, server: Server) -> str:
    """Return an output without what differs between two runs, and without the end of its last line."""
    return text.replace(str(home), "HOME").replace(server.url, "MASTER").rstrip("\n")


def written(home: Path, step: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of the files that a step writes."""
    return {name: yaml.safe_load((home / name).read_text(encoding="utf-8")) for name in step.get("files", {})}


def _normal(key: str) -> str:
    method, _, path = key.partition(" ")
    return asked(method, path)
