"""Roles and tags that people describe in files, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from command_line import CommandLine
from corpus import corpus

WATCHER = """
meta: {name: Watcher, description: Watches the others, tags: [eyes]}
volumes_roles_mapping: []
"""
EYES = "meta: {has_primary: true, description: Sees}\n"


def stored(directory: Path, owner: str, name: str, text: str) -> Path:
    """The file in which the original client looks for a description."""
    path = directory / owner / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def names(tiny: CommandLine, noun: str, *owner: object) -> list[str]:
    return tiny.ok(noun, "list", *owner, "-f", "value", "-c", "name").out.split()


@pytest.mark.parametrize(
    ("owner", "place"), [(("-r", 1), "releases_1"), (("--env", 1), "clusters_1"), (("--environment", 1), "clusters_1")]
)
def test_a_role_from_its_file(tiny: CommandLine, tmp_path: Path, owner: tuple[object, ...], place: str) -> None:
    path = stored(tmp_path, place, "watcher.yaml", WATCHER)
    kind = place.partition("_")[0]
    line = ("--name", "watcher", "-f", "yaml", "-d", tmp_path)
    created = tiny.ok("role", "create", *owner, *line)
    assert created.out == f"Description of role 'watcher' for {kind} with id 1 was created from {path}\n"
    assert names(tiny, "role", *owner) == ["compute", "controller", "watcher"]
    path.write_text(WATCHER.replace("Watcher", "Guard"), encoding="utf-8")
    updated = tiny.ok("role", "update", *owner, *line)
    assert updated.out == f"Description of role 'watcher' for {kind} with id 1 was updated from {path}\n"
    assert tiny.ok("role", "show", "watcher", *owner, "-f", "json").json["title"] == "Guard"
    deleted = tiny.ok("role", "delete", *owner, "-n", "watcher")
    assert deleted.out == f"Role 'watcher' was deleted from {kind} with id 1\n"
    assert names(tiny, "role", *owner) == ["compute", "controller"]


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_role_is_downloaded_and_can_be_uploaded_again(tiny: CommandLine, tmp_path: Path, form: str) -> None:
    line = ("-r", 1, "-n", "controller", "-f", form, "-d", tmp_path)
    path = tmp_path / "releases_1" / f"controller.{form}"
    done = tiny.ok("role", "download", *line)
    assert done.out == f"Description data of role 'controller' within releases id 1 was stored in {path}\n"
    read = (json.loads if form == "json" else yaml.safe_load)(path.read_text(encoding="utf-8"))
    assert list(read) == ["name", "meta", "volumes_roles_mapping"]
    assert (read["name"], read["meta"]["conflicts"]) == ("controller", ["compute"])
    before = tiny.ok("role", "show", "controller", "-r", 1, "-f", "json").out
    tiny.ok("role", "update", *line)
    assert tiny.ok("role", "show", "controller", "-r", 1, "-f", "json").out == before
    again = tiny("role", "download", *line, "--no-clobber")
    assert (again.code, again.out) == (6, "")
    tiny.ok("role", "download", *line, "--force")


def test_descriptions_go_through_pipes(tiny: CommandLine) -> None:
    text = tiny.ok("role", "download", "-r", 1, "-n", "compute", "--file", "-").out
    renamed = text.replace("name: compute", "name: hypervisor")
    tiny.ok("role", "create", "-e", 1, "-n", "hypervisor", "--file", "-", stdin=renamed)
    assert names(tiny, "role", "-e", 1) == ["compute", "controller", "hypervisor"]


@pytest.mark.parametrize(
    ("words", "stdin", "code", "message"),
    [
        (["create", "-n", "compute"], WATCHER, 6, "Role compute of release 1 already exists."),
        (["create", "-n", "a b"], WATCHER, 2, "'a b' cannot be the name of a role."),
        (["create", "-n", "a/b"], WATCHER, 2, "Use letters, digits, - and _ only, not '/'."),
        (["create", "-n", "other"], "name: watcher\n", 7, "<stdin>:1: this describes the role watcher, not other"),
        (["create", "-n", "other"], "meta: {}\nmet: {}\n", 7, "<stdin>:2: the description of a role has no key 'met'"),
        (["create", "-n", "other"], "meta: {tags: 1}\n", 7, "tags must be a list, not the number 1"),
        (["create", "-n", "other"], "meta: []\n", 7, "meta must be a mapping, not a list"),
        (["create", "-n", "other"], "[]\n", 7, "the description of a role is a mapping, not a list"),
        (["create", "-n", "other"], "volumes_roles_mapping: [os]\n", 7, "a volume of a role is a mapping with an id"),
        (
            ["create", "-n", "other"],
            "volumes_roles_mapping:\n- {id: os, allocate_size: maximal}\n",
            7,
            "<stdin>:2: allocate_size must be all, min or full-disk, not the string 'maximal'",
        ),
        (
            ["create", "-n", "other"],
            "volumes_roles_mapping: [{id: os}]\n",
            7,
            "that release 1 does not define: os",
        ),
        (["update", "-n", "compte"], WATCHER, 5, "Did you mean compute?"),
        (["delete", "-n", "compute"], "", 6, "Node 2 has the role compute"),
        (["delete", "-n", "compte"], "", 5, "Did you mean compute?"),
        (["download", "-n", "compte"], "", 5, "Did you mean compute?"),
    ],
)
def test_what_cannot_be_done_with_a_role(
    tiny: CommandLine, words: list[str], stdin: str, code: int, message: str
) -> None:
    before = tiny.ok("role", "list", "-r", 1, "-f", "json").out
    file = [] if words[0] == "delete" else ["--file", "-"]
    done = tiny("role", *words, "-r", 1, *file, stdin=stdin)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert tiny.ok("role", "list", "-r", 1, "-f", "json").out == before


def test_a_file_that_is_not_there(tiny: CommandLine, tmp_path: Path) -> None:
    done = tiny("role", "create", "-r", 1, "-n", "x", "-f", "yaml", "-d", tmp_path)
    assert (done.code, done.out) == (5, "")
    assert "releases_1/x.yaml" in done.err
    assert tiny("role", "create", "-r", 1, "-e", 1, "-n", "x").code == 2


def test_a_role_of_a_plugin_stays(tiny: CommandLine, tmp_path: Path) -> None:
    tiny.ok("plugins", "create", tmp_path / "own")
    (tmp_path / "own" / "node_roles.yaml").write_text("watcher: {name: Watcher, description: w}\n", encoding="utf-8")
    tiny.ok("release", "create", "Newton", "--version", "newton-10.0", "--operating-system", "Ubuntu")
    tiny.ok("env", "create", "newton", "-r", 2)
    tiny.ok("plugins", "install", tmp_path / "own")
    tiny.ok("plugins", "enable", "own", "--env", 2)
    done = tiny("role", "delete", "-e", 2, "-n", "watcher")
    assert (done.code, done.out) == (6, "")
    assert "Role watcher belongs to plugin own" in done.err
    assert names(tiny, "role", "-e", 2) == ["watcher"]


def test_what_a_plugin_defines_comes_from_its_package(fuel2: CommandLine) -> None:
    fuel2.ok("demo")
    done = fuel2("role", "create", "-r", 1, "-n", "watcher", "--file", "-", stdin=WATCHER)
    assert (done.code, done.out) == (6, "")
    assert "Release 1 belongs to plugin" in done.err
    assert "--env" in done.err


def test_tags(tiny: CommandLine, tmp_path: Path) -> None:
    path = stored(tmp_path, "releases_1", "eyes.yaml", EYES)
    line = ("-r", 1, "--name", "eyes", "-f", "yaml", "-d", tmp_path)
    created = tiny.ok("tag", "create", *line)
    assert created.out == f"Description of tag 'eyes' for releases with id 1 was created from {path}\n"
    path.write_text("meta: {has_primary: false}\n", encoding="utf-8")
    assert tiny.ok("tag", "update", *line).out == (
        f"Description of tag 'eyes' for releases with id 1 was updated from {path}\n"
    )
    assert tiny.ok("tag", "download", *line, "--force").out == (
        f"Description data of tag 'eyes' within releases id 1 was stored in {path}\n"
    )
    assert yaml.safe_load(path.read_text(encoding="utf-8")) == {"name": "eyes", "meta": {"has_primary": False}}
    assert tiny.ok("tag", "delete", "-r", 1, "-n", "eyes").out == "Tag 'eyes' was deleted from releases with id 1\n"
    assert tiny("tag", "download", "-r", 1, "-n", "eyes", "--file", "-").code == 5


def test_list_of_tags(tiny: CommandLine) -> None:
    tiny.ok("tag", "create", "-e", 1, "-n", "eyes", "--file", "-", stdin=EYES)
    tiny.ok("role", "create", "-e", 1, "-n", "watcher", "--file", "-", stdin=WATCHER)
    rows = tiny.ok("tag", "list", "--env", 1, "-f", "json", "-s", "owner", "name").json
    assert [(row["name"], row["has_primary"], row["owner"]) for row in rows] == [
        ("eyes", True, "environment prod"),
        ("compute", False, "release"),
        ("controller", True, "release"),
    ]
    assert rows[0]["description"] == "Sees"
    assert names(tiny, "tag", "-r", 1) == ["compute", "controller"]
    carried = tiny("tag", "delete", "-e", 1, "-n", "eyes")
    assert (carried.code, carried.out) == (6, "")
    assert "Tag eyes is carried by role watcher of environment 1." in carried.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("meta: {has_primary: 1}\n", "<stdin>:1: has_primary must be true or false"),
        ("volumes_roles_mapping: []\n", "the description of a tag has no key 'volumes_roles_mapping'"),
        ("name: other\n", "this describes the tag other, not eyes"),
    ],
)
def test_a_description_that_is_no_tag(tiny: CommandLine, text: str, message: str) -> None:
    done = tiny("tag", "create", "-r", 1, "-n", "eyes", "--file", "-", stdin=text)
    assert (done.code, done.out) == (7, "")
    assert message in done.err


def test_a_tag_places_tasks(tiny: CommandLine) -> None:
    tiny.ok("tag", "create", "-e", 1, "-n", "eyes", "--file", "-", stdin=EYES)
    tiny.ok("role", "create", "-e", 1, "-n", "watcher", "--file", "-", stdin=WATCHER)
    for name in ("w-1", "w-2"):
        tiny.ok("node", "create", name, "--executor", "noop", "--env", 1, "--roles", "watcher")
    graph = "- {id: look, type: shell, version: 2.0.0, roles: [primary-eyes], parameters: {cmd: 'true'}}\n"
    tiny.ok("graph", "upload", "-e", 1, "-t", "looking", "-f", "-", stdin=graph)
    (plan,) = tiny.ok("graph", "execute", "-e", 1, "-t", "looking", "--dry-run", "--format", "json").json
    assert [(one["task"], one["node"]) for one in plan["instances"]] == [("look", 3)]


@pytest.mark.corpus
def test_roles_and_tags_of_real_releases_come_back_unchanged(fuel2: CommandLine) -> None:
    fuel2.ok("release", "import", corpus("fuel-web", "newton", "nailgun", "nailgun", "fixtures", "openstack.yaml"))
    before = fuel2.ok("release", "show", 1, "-f", "json").json
    assert len(before["roles_metadata"]) > 5
    described = [("role", name) for name in before["roles_metadata"]]
    described += [("tag", name) for name in before.get("tags_metadata") or {}]
    for noun, name in described:
        text = fuel2.ok(noun, "download", "-r", 1, "-n", name, "--file", "-").out
        fuel2.ok(noun, "update", "-r", 1, "-n", name, "--file", "-", stdin=text)
    assert fuel2.ok("release", "show", 1, "-f", "json").json == before
    repos = fuel2.ok("release", "repos", "list", 1, "-f", "json").out
    fuel2.ok("release", "repos", "update", 1, "--file", "-", stdin=repos)
    assert fuel2.ok("release", "repos", "list", 1, "-f", "json").out == repos
    assert len(fuel2.ok("release", "component", "list", 1, "-f", "json").json) == len(before["components_metadata"])


def test_a_role_that_a_plugin_hides_is_told(tmp_path: Path) -> None:
    fuel2 = CommandLine(tmp_path / "engine.db")
    fuel2.ok("demo")
    own = "meta: {name: Own, description: own, tags: [compute]}\n"
    for verb, name, hidden in (
        ("create", "image-cache", True),
        ("update", "image-cache", True),
        ("create", "x", False),
    ):
        done = fuel2.ok("role", verb, "-e", 1, "-n", name, "--file", "-", stdin=own)
        assert ("It has no effect: plugin image-cache-1.2.0 has the role image-cache, too." in done.err) == hidden
