"""Small plugin packages, written to disk as their authors would."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

MITAKA: Mapping[str, Any] = {"os": "ubuntu", "version": "mitaka-9.0", "mode": ["ha"]}
"""A release record that extends the release of most tests."""


def task(task_id: str, type: str = "shell", **attributes: Any) -> dict[str, Any]:
    """Return a task of version 2.1.0 for `deployment_tasks.yaml`."""
    parameters = {"parameters": {"cmd": "true", "timeout": 60}} if type == "shell" else {}
    return {"id": task_id, "type": type, "version": "2.1.0", "role": ["controller"], **parameters, **attributes}


def role(**attributes: Any) -> dict[str, Any]:
    """Return a role for `node_roles.yaml`."""
    return {"name": "A role", "description": "It does something", **attributes}


WATCHER = {"node_roles.yaml": {"watcher": role()}, "deployment_tasks.yaml": [task("watch", role=["watcher"])]}
"""The files of a plugin with one role and one task."""


_METADATA: Mapping[str, Any] = {
    "description": "A package of the tests",
    "fuel_version": ["9.0"],
    "licenses": ["Apache-2.0"],
    "authors": ["Somebody"],
    "homepage": "https://example.org",
    "groups": [],
    "is_hotpluggable": False,
}
_SCRIPTS = {"deployment_scripts_path": "deployment_scripts/", "repository_path": "repositories/ubuntu"}


def write_package(
    directory: Path,
    name: str = "monitor",
    version: str = "1.2.3",
    package_version: str = "4.0.0",
    *,
    releases: Sequence[Mapping[str, Any]] = (MITAKA,),
    files: Mapping[str, Any] | None = None,
    **metadata: Any,
) -> str:
    """Write a package without errors to `directory`, and return its path.

    `files` holds further files by path; texts are written unchanged, everything else as JSON.
    """
    stated = {
        "name": name,
        "title": name.capitalize(),
        "version": version,
        "package_version": package_version,
        **_METADATA,
        "releases": [{**_SCRIPTS, **record} for record in releases],
        **metadata,
    }
    contents = {
        "metadata.yaml": stated,
        "deployment_tasks.yaml": [],
        "environment_config.yaml": {"attributes": {}},
        "deployment_scripts/run.sh": "true\n",
        "repositories/ubuntu/.keep": "",
        **(files or {}),
    }
    for path, content in contents.items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content if isinstance(content, str) else json.dumps(content, indent=1) + "\n")
    return str(directory)


def definition(name: str = "example", version: str = "ocata-11.0", **fields: Any) -> dict[str, Any]:
    """Return a record that defines a release, with a default graph unless `fields` has another."""
    return {
        "is_release": True,
        "name": name,
        "version": version,
        "operating_system": "ubuntu",
        "description": "A release of the tests",
        "graphs": [{"type": "default", "tasks": [task("start", "stage")]}],
        **fields,
    }
