"""What a command writes is the same, byte for byte, on an engine and on a server over that engine."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from executions import Executions
from package_trees import MITAKA, task, write_package
from server_process import serving

from fuelclient.commands.shell import FuelShell

LEGACY = {
    "role": ["controller"],
    "stage": "pre_deployment",
    "type": "shell",
    "parameters": {"cmd": "true", "timeout": 1},
}
FILES: Mapping[str, Any] = {
    "tasks.yaml": [LEGACY, {**LEGACY, "stage": "post_deployment/100.5"}],
    "deployment_tasks.yaml": [task("staged", stage="pre_deployment"), task("other")],
}
KILO = {"os": "ubuntu", "version": "2015.1-8.0", "mode": ["ha"], "deployment_tasks_path": "kilo.yaml"}


Fuel2 = Callable[..., str]
"""A command line that has to succeed, to what it prints."""


@contextmanager
def _both(env: Executions) -> Iterator[tuple[Fuel2, Fuel2]]:
    """`fuel2` on the engine itself, and on a server over it."""

    def on(*where: object) -> Fuel2:
        def run(*words: object) -> str:
            out, err = io.StringIO(), io.StringIO()
            code = FuelShell(io.StringIO(), out, err).run([str(word) for word in (*where, *words)])
            assert code == 0, err.getvalue()
            return out.getvalue()

        return run

    with serving(env.directory) as server:
        yield on("--engine", env.engine), on("--server", server.url)


@pytest.mark.parametrize("by_release", [False, True])
def test_legacy_entries_have_their_ids_in_a_merge(
    env: Executions, mitaka: int, tmp_path: Path, by_release: bool
) -> None:
    """Also those of a package whose graph depends on the release, whose layers only the server knows."""
    files = {**FILES, "kilo.yaml": [task("old")]} if by_release else FILES
    releases = [MITAKA, KILO] if by_release else [MITAKA]
    plugin = env.backend.plugins.install(write_package(tmp_path / "p", releases=releases, files=files)).plugin
    assert plugin.by_release is by_release
    env.backend.plugins.enable(plugin.id, mitaka)
    with _both(env) as (local, remote):
        for chosen in (["--all"], ["--plugins"]):
            words = ["graph", "download", "--env", mitaka, *chosen, "--file", "-"]
            here = local(*words)
            assert remote(*words) == here
            assert here.count("stage: p") == 3
            assert "#1\n" in here
            assert "id: staged" in here


def test_legacy_entries_stay_such_through_an_upload(env: Executions, mitaka: int, tmp_path: Path) -> None:
    plugin = env.backend.plugins.install(write_package(tmp_path / "p")).plugin
    env.backend.plugins.enable(plugin.id, mitaka)
    path = tmp_path / "graph.yaml"
    path.write_text("- {stage: pre_deployment/5, type: shell, role: [controller], parameters: {cmd: x, timeout: 1}}\n")
    with _both(env) as (local, remote):
        for owner, level in (("--plugin", plugin.id), "--plugins"), (("--env", mitaka), "--cluster"):
            for side in (local, remote):
                side("graph", "upload", *owner, "--type", "mine", "--file", path)
                words = ["graph", "download", "--env", mitaka, level, "--type", "mine", "--file", "-"]
                here = local(*words)
                assert "stage: pre_deployment/5" in here
                assert ("id: monitor:pre_deployment#1" in here) is (level == "--plugins")
                assert remote(*words) == here


def test_a_plugin_is_shown_with_what_its_package_states(env: Executions, tmp_path: Path) -> None:
    path = Path(write_package(tmp_path / "p", package_version="3.0.0"))
    stated = json.loads((path / "metadata.yaml").read_text())
    del stated["is_hotpluggable"]
    (path / "metadata.yaml").write_text(json.dumps(stated))
    env.backend.plugins.install(str(path))
    with _both(env) as (local, remote):
        for form in ("table", "json", "yaml"):
            words = ["plugins", "show", 1, "-f", form]
            here = local(*words)
            assert remote(*words) == here
    assert "is_hotpluggable: ''" in here
