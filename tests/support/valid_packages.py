"""Valid plugin packages of each package version, and ways to break them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

FUEL = {1: "6.0", 2: "6.1", 3: "7.0", 4: "8.0", 5: "9.0", 6: "9.0"}
RELEASE = {
    "os": "ubuntu",
    "version": "mitaka-9.0",
    "mode": ["ha"],
    "deployment_scripts_path": "deployment_scripts/",
    "repository_path": "repositories/ubuntu",
}


def right_metadata(major: int) -> dict[str, Any]:
    """Return metadata without any finding."""
    metadata: dict[str, Any] = {
        "name": "sample",
        "title": "Sample",
        "description": "A sample.",
        "version": "1.2.3",
        "package_version": f"{major}.0.0",
        "fuel_version": [FUEL[major]],
        "releases": [RELEASE],
    }
    if major >= 2:
        metadata |= {
            "licenses": ["Apache-2.0"],
            "authors": ["A. Uthor"],
            "homepage": "https://example.org",
            "groups": [],
        }
    return metadata | ({"is_hotpluggable": False} if major >= 4 else {})


def right_files(major: int) -> dict[str, str]:
    """Return the files beside metadata.yaml, without any finding."""
    files = {
        "environment_config.yaml": "# no settings\n",
        "deployment_scripts/run.sh": "#!/bin/sh\n",
        "repositories/ubuntu/.gitkeep": "",
    }
    if major <= 2:
        task = "{role: '*', stage: post_deployment, type: shell, parameters: {cmd: ./run.sh, timeout: 5}}"
        return files | {"tasks.yaml": f"- {task}\n"}
    return files | {"deployment_tasks.yaml": "[]\n"}


def write_package(
    directory: Path,
    major: int = 5,
    *,
    metadata: Mapping[str, Any] | None = None,
    without: Iterable[str] = (),
    files: Mapping[str, str | None] | None = None,
) -> Path:
    """Write a valid package to `directory`, changed by `metadata`, `without` some of its keys, and with other `files`.

    Each key of the metadata has its own line: name 1, title 2, description 3, version 4, package_version 5,
    fuel_version 6, releases 7, licenses 8, authors 9, homepage 10, groups 11, is_hotpluggable 12, then new ones. A
    file that is None is left out.
    """
    stated = {key: value for key, value in (right_metadata(major) | dict(metadata or {})).items() if key not in without}
    texts: dict[str, str | None] = {
        "metadata.yaml": "".join(f"{key}: {json.dumps(value)}\n" for key, value in stated.items()),
        **right_files(major),
        **(files or {}),
    }
    for name, text in texts.items():
        if text is not None:
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            if path.suffix == ".sh":
                path.chmod(0o755)
    return directory


_FULL = {
    "environment_config.yaml": (
        "attributes:\n  metadata: {group: other, restrictions: [\"cluster:mode == 'multinode'\"]}\n"
        "  size: {type: text, label: Size, weight: 5, value: '1', restrictions: [{condition: 'settings:a == 1'}]}\n"
    ),
    "tasks.yaml": (
        "- role: [controller]\n  stage: post_deployment\n  type: shell\n  parameters: {cmd: ./run.sh, timeout: 5}\n"
        "- {role: '*', stage: pre_deployment, type: puppet,"
        " parameters: {puppet_manifest: a.pp, puppet_modules: ., timeout: 1}}\n"
    ),
    "deployment_tasks.yaml": (
        "- id: first\n  type: shell\n  version: 2.0.0\n  roles: [keeper, '/ctrl.*/']\n  role: [keeper]\n"
        "  requires: [hiera]\n  required_for: [deploy_end]\n  cross-depends: [{name: hiera, role: '*'}]\n"
        "  condition: settings:a.b == true\n"
        "  parameters: {cmd: sh run.sh, timeout: 5, strategy: {type: parallel, amount: 2}}\n"
        "- {id: second, type: stage, stage: pre_deployment/100, os-version: '>=mitaka', fuel-version: '>=9,<11'}\n"
        "- {id: third, type: copy_files, role: [keeper], parameters: {files: [{src: a, dst: b}]}}\n"
    ),
    "node_roles.yaml": (
        "keeper:\n  name: Keeper\n  description: Keeps\n  conflicts: [compute]\n  tasks: [hiera]\n"
        "  limits: {min: 1, overrides: [{condition: 'settings:a == 1', max: 2}]}\n"
        "  restrictions: [{'settings:a == 2': why}]\n"
        "other:\n  metadata: {name: O, description: d}\n  volumes_mapping: [{allocate_size: min, id: os}]\n"
    ),
    "volumes.yaml": (
        "volumes: [{id: data, type: vg, items: []}]\n"
        "volumes_roles_mapping: {keeper: [{allocate_size: all, id: data}]}\n"
    ),
    "network_roles.yaml": (
        "- {id: a/b, default_mapping: public,"
        " properties: {subnet: true, gateway: false, vip: [{name: a, namespace: haproxy}]}}\n"
    ),
    "components.yaml": (
        "- name: network:sample\n  label: Sample\n  compatible: [{name: 'storage:*'}]\n"
        "  requires: [{one_of: {items: ['hypervisor:kvm']}}]\n"
    ),
    "nic_config.yaml": "metadata: {label: N}\na: {type: text, label: A, value: ''}\n",
    "bond_config.yaml": "a: {type: text, label: A, value: '', restrictions: ['cluster:a == 1']}\n",
    "node_config.yaml": "section: {a: {type: text, label: A, value: ''}}\n",
    "node_tags.yaml": "keeper: {has_primary: true}\n",
    "late/deployment_tasks.yaml": "- {id: late, type: skipped, version: 2.0.0, roles: [keeper]}\n",
    "base.yaml": "description: d\nroles_path: roles.yaml\ngraphs: [{type: deletion, tasks_path: 'g/**/*.yaml'}]\n",
    "roles.yaml": "controller: {name: C, description: c}\n",
    "g/a/b.yaml": "- {id: x, type: erase_node, roles: [controller]}\n",
    "g/c.yaml": "name: n\ntasks: [{id: y, type: stage}]\n",
}
"""Every kind of file in a package, with a little of everything."""


def full_files(major: int) -> dict[str, str]:
    """Return every kind of file that the package version knows."""
    return right_files(major) | _FULL


def full_metadata(major: int) -> dict[str, Any]:
    """Return metadata that names the files of `full_files` whose names are not fixed."""
    extension = {**RELEASE, "deployment_tasks_path": "late/deployment_tasks.yaml"}
    another = {**RELEASE, "version": "newton-10.0", "conf_path": "late/"}
    release = {
        "is_release": True,
        "release_name": "sample",
        "operating_system": "ubuntu",
        "version": "sample-10.0",
        "base_release_path": "base.yaml",
        "graphs": [{"type": "default", "graph_path": "g/c.yaml"}, {"type": "own", "graph": {"tasks": [{"id": "z"}]}}],
    }
    return right_metadata(major) | {
        "releases": [extension, another, release],
        "graphs": [{"type": "extra", "tasks": []}],
    }
