"""A developer's session: create, edit, check, build, install, enable, preview, disable, remove."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command_line import CommandLine
from package_trees import role, task, write_package

from fuelclient import files

DEMO = [{"os": "ubuntu", "version": "ocata-11.0", "mode": ["ha"]}]
PREVIEW = ("graph", "preview", "--env", 1, "-f", "json")


@pytest.fixture
def demo(fuel2: CommandLine) -> CommandLine:
    """The packaged examples: release 1, plugins, environment 1 with nodes."""
    fuel2.ok("demo")
    return fuel2


def rows(fuel2: CommandLine, layer: str, *arguments: object) -> list[str]:
    """The tasks of one layer of the preview."""
    return [row["task"] for row in fuel2.ok(*PREVIEW, *arguments).json if row["layer"] == layer]


def install(fuel2: CommandLine, path: object) -> int:
    """Install a package; the id of its plugin."""
    done = fuel2.ok("plugins", "install", path)
    assert done.out == f"Plugin {path} was successfully installed.\n"
    assert f"Target: {fuel2.engine}" in done.err
    ids = fuel2.ok("plugins", "list", "-f", "value", "-c", "id").out.split()
    return max(map(int, ids))


@pytest.mark.parametrize("archive", ["rpm", "fp"])
@pytest.mark.parametrize("version", ["3", "4", "5"])
def test_the_way_of_a_developer(demo: CommandLine, tmp_path: Path, version: str, archive: str) -> None:
    source = tmp_path / "my-plugin"
    demo.ok("plugins", "create", source, "--package-version", version)
    tasks = source / "deployment_tasks.yaml"
    tasks.write_text(tasks.read_text(encoding="utf-8").replace("my-plugin-deploy", "my-edited-task"), encoding="utf-8")
    roles = source / "node_roles.yaml"
    roles.write_text(roles.read_text(encoding="utf-8").replace("my-plugin-deploy", "my-edited-task"), encoding="utf-8")
    demo.ok("plugins", "check", source, "--strict")
    built = demo.ok("plugins", "build", source, "--output", tmp_path, "--format", archive).out.strip()
    plugin = install(demo, built)
    assert demo.ok("plugins", "enable", "my-plugin", "--env", 1).out == (
        "Plugin my-plugin was successfully enabled on environment 1.\n"
    )
    assert "my-plugin" in demo.ok("role", "list", "--env", 1, "-f", "value", "-c", "name").out.split()
    layer = "plugin my-plugin-1.0.0"
    assumed = ("--assume", "controller=1,my-plugin=2")
    assert set(rows(demo, layer, *assumed)) >= {"my-plugin-prepare", "my-edited-task"}
    volumes = demo.ok("role", "show", "my-plugin", "--env", 1, "-f", "json").json["volumes"]
    assert [(one["id"], one["allocate_size"], one["type"]) for one in volumes] == [
        ("os", "min", "vg"), ("my-plugin", "all", "vg"),
    ]  # fmt: skip
    shown = demo.ok("plugins", "show", plugin, "-f", "json").json
    assert (shown["environments"], shown["roles"]) == ([{"id": 1, "name": "demo"}], ["my-plugin"])
    assert {"type": "default", "tasks": 3} in shown["graphs"]
    refused = demo("plugins", "remove", "my-plugin", "1.0.0")
    assert (refused.code, refused.out) == (6, "")
    demo.ok("plugins", "disable", "my-plugin", "--env", 1)
    again = demo.ok("plugins", "disable", "my-plugin", "--env", 1)
    assert (again.out, "was not enabled" in again.err) == ("", True)
    assert rows(demo, layer) == []
    assert demo.ok("plugins", "remove", "my-plugin", "1.0.0").out == "Plugin my-plugin was successfully removed.\n"
    assert "my-plugin" not in demo.ok("plugins", "list", "-f", "value", "-c", "name").out.split()
    assert not list(tmp_path.glob("engine.db.plugins/my-plugin*"))


def test_a_role_in_use_keeps_the_plugin_enabled(demo: CommandLine, tmp_path: Path) -> None:
    demo.ok("plugins", "create", tmp_path / "my-plugin")
    install(demo, tmp_path / "my-plugin")
    demo.ok("plugins", "enable", "my-plugin", "--env", 1)
    demo.ok("node", "create", "spare", "--ip", "10.20.0.99", "--env", 1, "--roles", "my-plugin")
    refused = demo("plugins", "disable", "my-plugin", "--env", 1)
    assert (refused.code, "my-plugin" in refused.err) == (6, True)
    assert "my-plugin-prepare" in rows(demo, "plugin my-plugin-1.0.0")


def test_a_package_for_several_releases_says_what_was_chosen(demo: CommandLine, tmp_path: Path) -> None:
    demo.ok("plugins", "create", tmp_path / "many", "--multi-release")
    install(demo, tmp_path / "many")
    demo.ok("release", "create", "Newton", "--version", "newton-10.0", "--operating-system", "ubuntu")
    demo.ok("release", "create", "Mitaka", "--version", "mitaka-9.0", "--operating-system", "ubuntu")
    chosen = {}
    for release in demo.ok("release", "list", "-f", "json").json:
        shown = demo.ok("plugins", "show", "many", "--release", release["id"], "-f", "json").json
        assert shown["why"]
        chosen[release["version"]] = shown["files"]["deployment_tasks.yaml"]
        assert shown["record"] == f"ubuntu {release['version']}"
    assert chosen == {
        "ocata-11.0": "ocata/deployment_tasks.yaml",
        "newton-10.0": "newton/deployment_tasks.yaml",
        "mitaka-9.0": "deployment_tasks.yaml",
    }
    demo.ok("plugins", "enable", "many", "--env", 1)
    downloaded = demo.ok("graph", "download", "--env", 1, "--plugins", "--file", "-", "--format", "json").json
    tasks = {task.get("id"): task for task in (downloaded["tasks"] if isinstance(downloaded, dict) else downloaded)}
    assert tasks["many-prepare"]["parameters"]["cmd"] == "./prepare.sh ocata"


def test_a_release_as_a_plugin(fuel2: CommandLine, tmp_path: Path) -> None:
    source = tmp_path / "my-stack"
    fuel2.ok("plugins", "create", source, "--release")
    built = fuel2.ok("plugins", "build", source, "--output", tmp_path).out.strip()
    installed = fuel2.ok("plugins", "install", built)
    assert "It defines release 1: my-stack newton-10.0." in installed.err
    assert fuel2.ok("plugins", "list", "-f", "json").json[0]["releases"] == []
    assert fuel2.ok("plugins", "show", 1, "-f", "json").json["defines"] == [
        {"id": 1, "name": "my-stack", "version": "newton-10.0"}
    ]
    fuel2.ok("env", "create", "try", "--release", 1)
    for kind in ("default", "provisioning", "deletion", "network_verification"):
        seen = fuel2.ok("graph", "preview", "--env", 1, "--type", kind, "--assume", "controller=3,compute=2")
        assert "warning" not in seen.err
        assert "error" not in seen.err
    refused = fuel2("plugins", "remove", "my-stack")
    assert (refused.code, refused.out) == (6, "")
    fuel2.ok("env", "delete", 1)
    question = fuel2("plugins", "remove", "my-stack", stdin="n\n", terminal=True)
    assert (question.code, "and release 1 (my-stack newton-10.0)?" in question.err) == (11, True)
    assert fuel2("plugins", "remove", "my-stack", stdin="y\n", terminal=True).code == 0
    assert fuel2.ok("release", "list", "-f", "json").json == []


def test_an_edit_becomes_true_by_sync(demo: CommandLine, tmp_path: Path) -> None:
    demo.ok("plugins", "create", tmp_path / "my-plugin")
    plugin = install(demo, tmp_path / "my-plugin")
    [unpacked] = tmp_path.glob("engine.db.plugins/my-plugin-*")
    metadata = unpacked / "metadata.yaml"
    text = metadata.read_text(encoding="utf-8")
    metadata.write_text(text.replace("title: 'My plugin'", "title: Edited"), encoding="utf-8")
    done = demo.ok("plugins", "sync", plugin)
    assert done.out == "Plugins were successfully synchronized.\n"
    assert demo.ok("plugins", "show", plugin, "-f", "value", "-c", "title").out == "Edited\n"
    [unpacked] = tmp_path.glob("engine.db.plugins/my-plugin-*")
    metadata = unpacked / "metadata.yaml"
    metadata.write_text("[", encoding="utf-8")
    failed = demo("plugins", "sync")
    assert (failed.code, failed.out) == (7, "")
    assert f"{metadata}:" in failed.err
    assert demo.ok("plugins", "show", plugin, "-f", "value", "-c", "title").out == "Edited\n"


def test_a_package_in_the_source_is_not_installed_with_it(
    fuel2: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fuel2.ok("plugins", "create", tmp_path / "mine")
    install(fuel2, tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")
    fuel2.ok("plugins", "build", ".")
    again = fuel2("plugins", "install", tmp_path / "mine")
    assert (again.code, "Nothing to do" in again.err) == (6, True)


@pytest.mark.parametrize("kind", ["--package-version=3", "--package-version=5", "--multi-release", "--release"])
def test_what_the_readme_says_works(
    demo: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Every command line of README.md, one after another, in the directory of the plugin."""
    demo.ok("plugins", "create", tmp_path / "mine", kind)
    monkeypatch.chdir(tmp_path / "mine")
    text = Path("README.md").read_text(encoding="utf-8")
    lines = [line.strip().partition("  ")[0] for line in text.splitlines() if line.startswith("    fuel2 ")]
    assert len(lines) >= 5
    for line in lines:
        release = max(map(int, demo.ok("release", "list", "-f", "value", "-c", "id").out.split()))
        done = demo.ok(*line.replace("ID", str(release)).split()[1:])
        # the assumed nodes have no telemetry, for which a task of the example waits (G052)
        warned = [said for said in done.err.splitlines() if "warning" in said and "[G052]" not in said]
        assert not warned, line
    assert "mine-1.0-1.0.0-1.noarch.rpm" in {path.name for path in Path().iterdir()}


def test_every_file_of_a_skeleton_is_read_alike_by_everybody(fuel2: CommandLine, tmp_path: Path) -> None:
    fuel2.ok("plugins", "create", tmp_path / "p")
    for path in (tmp_path / "p").rglob("*.yaml"):
        assert not files.load(path).findings


@pytest.mark.parametrize("count", [1, 2])
def test_the_tasks_of_a_role_run_on_its_primary_node_too(demo: CommandLine, tmp_path: Path, count: int) -> None:
    roles = {"db": role(has_primary=True, tasks=["kernel-settings", "db-server"])}
    tasks = [task("db-server", role=[])]
    install(demo, write_package(tmp_path / "p", "db", package_version="5.0.0", releases=DEMO, files={
        "node_roles.yaml": roles, "deployment_tasks.yaml": tasks,
    }))  # fmt: skip
    demo.ok("plugins", "enable", "db", "--env", 1)
    shown = demo.ok(*PREVIEW, "--assume", f"db={count}").json
    assert [row["nodes"] for row in shown if row["task"] in ("kernel-settings", "db-server")] == [
        [*range(1, count + 1)]
    ] * 2


def test_package_without_repository_is_installed_but_not_built(fuel2: CommandLine, tmp_path: Path) -> None:
    package = write_package(tmp_path / "p", "bare", package_version="5.0.0")
    shutil.rmtree(tmp_path / "p" / "repositories")
    done = fuel2("plugins", "install", package)
    assert (done.code, "warning" in done.err, "[P067]" in done.err) == (0, True, True)
    refused = fuel2("plugins", "build", package, "--output", tmp_path)
    assert (refused.code, "[P067]" in refused.err) == (7, True)
