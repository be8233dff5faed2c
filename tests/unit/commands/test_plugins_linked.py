"""`plugins install --link`: the package is read from its author's directory at each use."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from package_trees import definition, role, task, write_package

from fuelclient.backends.local import LocalBackend
from fuelclient.commands.exits import Exit
from fuelclient.engine.reading.unpacked_packages import Trees
from fuelclient.engine.runs.jobs import plugin_scripts
from fuelclient.model.graph import Level, OwnerRef

TINY = [{"os": "ubuntu", "version": "tiny-1.0", "mode": ["ha"]}]


def edit(source: Path, *tasks: dict[str, Any]) -> None:
    (source / "deployment_tasks.yaml").write_text(json.dumps(tasks))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The directory of a plugin with one role and one task."""
    files = {"deployment_tasks.yaml": [task("watch", role=["compute"])], "node_roles.yaml": {"watcher": role()}}
    return Path(write_package(tmp_path / "source", releases=TINY, files=files))


@pytest.fixture
def linked(tiny: CommandLine, source: Path) -> CommandLine:
    """The plugin, linked and enabled on environment 1."""
    tiny.ok("plugins", "install", "--link", source)
    tiny.ok("plugins", "enable", "monitor", "--env", 1)
    return tiny


def previewed(engine: CommandLine) -> set[str]:
    rows = engine.ok("graph", "preview", "--env", 1, "-f", "json").json
    return {row["task"] for row in rows if row["layer"].startswith("plugin")}


def test_an_edit_needs_no_new_installation(linked: CommandLine, source: Path) -> None:
    assert previewed(linked) == {"watch"}
    edit(source, task("watch", role=["compute"]), task("report", role=["compute"], requires=["watch"]))
    assert previewed(linked) == {"watch", "report"}
    (listed,) = linked.ok("graph", "list", "--plugins", "-f", "json").json
    assert "report" in str(listed["tasks"])
    engine = LocalBackend(str(linked.engine))
    assert [known.id for known in engine.graphs.get(OwnerRef(Level.PLUGIN, 1)).tasks] == ["watch", "report"]
    engine.close()
    (source / "node_roles.yaml").write_text(json.dumps({"watcher": role(), "seer": role()}))
    assert "seer" in linked.ok("role", "list", "--env", 1).out
    assert "seer" in linked.ok("plugins", "show", "monitor").out


@pytest.mark.parametrize("version", ["1", "4", "5"])
def test_a_package_and_the_directory_it_was_built_from_are_the_same(
    tiny: CommandLine, tmp_path: Path, version: str
) -> None:
    """A build adds the indexes of repositories and checksums."""
    source = tmp_path / "hello"
    tiny.ok("plugins", "create", source, "--package-version", version)
    package = tiny.ok("plugins", "build", source, "--output", tmp_path).out.strip()
    tiny.ok("plugins", "install", package)
    again = tiny("plugins", "install", source)
    assert (again.code, "exactly this content" in again.err, "--force" in again.err) == (Exit.CONFLICT, True, True)
    linking = tiny("plugins", "install", source, "--link")
    assert "is already installed (id 1), as a copy. Use --force to replace it." in linking.err
    tiny.ok("plugins", "install", source, "--link", "--force")
    copying = tiny("plugins", "install", package)
    assert f"is already installed (id 1), from {source}. Use --force to replace it." in copying.err
    tiny.ok("plugins", "install", source, "--force")
    with (source / "deployment_scripts" / "new.sh").open("w", encoding="utf-8") as script:
        script.write("true")
    assert "with other content. Raise the version" in tiny("plugins", "install", source).err


def test_an_edit_that_sync_would_refuse_is_a_warning(linked: CommandLine, source: Path) -> None:
    linked.ok("node", "create", "late", "--env", 1, "--roles", "watcher")
    assert "[P" not in linked.ok("graph", "preview", "--env", 1).err
    (source / "node_roles.yaml").write_text(json.dumps({"compute": role()}))
    for command in ("graph preview --env 1", "graph validate --env 1 -f text"):
        done = linked.ok(*command.split())
        assert "the role watcher [P091]" in done.out + done.err
        assert "late" in done.out + done.err
        assert "[P074]" in done.out + done.err, "the release has a role compute"
    assert "[P091]" in linked.ok("graph", "execute", "--env", 1, "--dry-run").err
    assert linked("plugins", "sync", "monitor").code == Exit.INVALID
    (source / "node_roles.yaml").write_text(json.dumps({"watcher": role()}))
    text = (source / "metadata.yaml").read_text()
    (source / "metadata.yaml").write_text(text.replace("tiny-1.0", "tiny-2.0"))
    assert "[P071]" in linked.ok("graph", "preview", "--env", 1).err


def test_scripts_come_from_the_directory(linked: CommandLine, source: Path) -> None:
    engine = LocalBackend(str(linked.engine))
    (((sent, target),),) = plugin_scripts(engine.clusters.environment(1), None, Trees(str(linked.engine))).values()
    assert (Path(sent), target) == (source / "deployment_scripts", "/etc/fuel/plugins/monitor-1.2/")
    engine.close()
    assert not Path(f"{linked.engine}.plugins").exists(), "nothing is copied next to the engine file"


def test_what_shows_the_plugin_names_the_directory(linked: CommandLine, source: Path) -> None:
    assert linked.ok("plugins", "show", "monitor", "-f", "json").json["linked_to"] == str(source)
    again = linked.ok("plugins", "install", "--link", source)
    assert str(source) in again.err, "linking the same directory again needs no --force"
    assert linked("plugins", "install", source).code == Exit.CONFLICT
    linked.ok("plugins", "install", source, "--force")
    assert linked.ok("plugins", "show", "monitor", "-f", "json").json["linked_to"] == ""
    edit(source, task("later", role=["compute"]))
    assert previewed(linked) == {"watch"}, "a copy does not change with its source"


@pytest.mark.parametrize(
    ("broken", "code"), [("gone", Exit.NOT_FOUND), ("unreadable", Exit.INVALID), ("renamed", Exit.CONFLICT)]
)
def test_a_directory_that_cannot_be_used_is_one_error(
    linked: CommandLine, source: Path, broken: str, code: Exit, tmp_path: Path
) -> None:
    if broken == "gone":
        source.rename(tmp_path / "elsewhere")
    elif broken == "unreadable":
        (source / "metadata.yaml").write_text("name: [")
    else:
        text = (source / "metadata.yaml").read_text()
        (source / "metadata.yaml").write_text(text.replace('"monitor"', '"watchdog"'))
    for command in ("graph preview --env 1", "graph execute --env 1 --noop", "plugins show monitor"):
        done = linked(*command.split())
        assert done.code == code, done
        assert str(source) in done.err + done.out
        assert "Traceback" not in done.err
    linked.ok("env", "show", 1)
    assert linked("plugins", "sync", "monitor").code == Exit.INVALID
    linked.ok("plugins", "disable", "monitor", "--env", 1)
    assert linked("plugins", "enable", "monitor", "--env", 1).code == code
    linked.ok("plugins", "remove", "monitor", "--yes")
    assert linked.ok("plugins", "list", "-f", "json").json == []


@pytest.mark.parametrize("broken", ["gone", "unreadable"])
def test_a_directory_that_cannot_be_used_can_be_replaced(
    linked: CommandLine, source: Path, broken: str, tmp_path: Path
) -> None:
    moved = Path(shutil.copytree(source, tmp_path / "moved"))
    if broken == "gone":
        shutil.rmtree(source)
    else:
        (source / "deployment_tasks.yaml").write_text("- {id: [")
    linked.ok("graph", "list", "--env", 1)
    linked.ok("graph", "upload", "--env", 1, "--type", "mine", "--file", moved / "deployment_tasks.yaml")
    linked.ok("plugins", "install", "--link", "--force", moved)
    assert previewed(linked) == {"watch"}
    assert linked.ok("plugins", "show", "monitor", "-f", "json").json["linked_to"] == str(moved)


def test_a_node_is_created_although_a_linked_directory_is_gone(linked: CommandLine, source: Path) -> None:
    other = source.with_name("other")
    linked.ok("plugins", "install", write_package(other, "other", releases=TINY, files={
        "deployment_tasks.yaml": [task("watch", role=["compute"])]
    }))  # fmt: skip
    linked.ok("plugins", "enable", "other", "--env", 1)
    shutil.rmtree(source)
    done = linked.ok("node", "create", "late", "--env", 1, "--roles", "compute", "-f", "json")
    assert done.json["name"] == "late"
    assert "were not looked for" in done.err
    assert str(source) in done.err


def test_two_plugins_of_one_version_are_refused(linked: CommandLine, source: Path, tmp_path: Path) -> None:
    older = Path(shutil.copytree(source, tmp_path / "older"))
    text = (source / "metadata.yaml").read_text()
    (source / "metadata.yaml").write_text(text.replace("1.2.3", "2.5.0"))
    linked.ok("plugins", "sync", "monitor")
    linked.ok("plugins", "install", older)
    (source / "metadata.yaml").write_text(text)
    refused = linked("plugins", "sync", 1)
    assert refused.code == Exit.INVALID
    assert "monitor 1.2.3 is installed already, as plugin 2" in refused.err + refused.out


def test_what_is_no_file_is_refused(tiny: CommandLine, source: Path) -> None:
    (source / "tasks.yaml").unlink(missing_ok=True)
    os.mkfifo(source / "tasks.yaml")
    assert tiny("plugins", "check", source).code == Exit.INVALID
    assert tiny("plugins", "install", "--link", source).code == Exit.INVALID


def test_a_new_version_is_read_and_synchronised(linked: CommandLine, source: Path) -> None:
    text = (source / "metadata.yaml").read_text()
    (source / "metadata.yaml").write_text(text.replace("1.2.3", "1.2.4"))
    assert linked.ok("plugins", "show", "monitor", "-f", "json").json["version"] == "1.2.4"
    linked.ok("plugins", "sync", "monitor")
    assert linked.ok("plugins", "list", "-f", "value", "-c", "version").out == "1.2.4\n"
    linked.ok("plugins", "disable", "monitor", "--env", 1)
    linked.ok("plugins", "remove", "monitor", "--yes")
    assert (source / "metadata.yaml").exists(), "the source belongs to its author"


def test_what_cannot_be_linked(tiny: CommandLine, source: Path, tmp_path: Path) -> None:
    release = write_package(tmp_path / "release", "rel", package_version="5.0.0", releases=[definition()])
    assert tiny("plugins", "install", "--link", release).code == Exit.CONFLICT
    assert tiny("plugins", "install", "--link", tmp_path / "nowhere").code == Exit.NOT_FOUND
    assert tiny("plugins", "install", "--link", source / "metadata.yaml").code == Exit.CONFLICT
    shutil.rmtree(source / "deployment_scripts")
    (source / "metadata.yaml").write_text("[]")
    assert tiny("plugins", "install", "--link", source).code == Exit.INVALID
    assert tiny.ok("plugins", "list", "-f", "json").json == []


def test_a_directory_in_the_place_of_an_index_is_replaced_as_by_a_build(tiny: CommandLine, source: Path) -> None:
    for name in ("Packages.gz", "Release"):
        (source / "repositories" / "ubuntu" / name / "old").mkdir(parents=True)
    tiny.ok("plugins", "install", source)
    (kept,) = tiny.engine.parent.glob(f"{tiny.engine.name}.plugins/monitor*/repositories/ubuntu/Packages.gz")
    assert kept.is_file()
    assert (source / "repositories" / "ubuntu" / "Packages.gz").is_dir(), "the sources are not touched"
