"""Settings of environments on the command line."""

from __future__ import annotations

import base64
import json
import re
import uuid
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_line import CommandLine

RELEASE = """
- name: Set
  version: set-1.0
  operating_system: Ubuntu
  roles_metadata: {controller: {name: Controller}}
  attributes_metadata:
    editable:
      common:
        metadata: {label: Common, weight: 10}
        debug: {type: checkbox, label: Debug, weight: 10, value: false}
"""


@pytest.fixture
def prod(fuel2: CommandLine) -> CommandLine:
    """Environment 1 of a release that has settings."""
    fuel2.ok("release", "import", "-", stdin=RELEASE)
    fuel2.ok("env", "create", "prod", "--release", 1)
    return fuel2


def debug(fuel2: CommandLine) -> object:
    document = fuel2.ok("env", "settings", "download", 1, "--file", "-", "-f", "json").json
    return document["editable"]["common"]["debug"]["value"]


def test_download_and_upload_in_the_words_of_the_original(
    prod: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "environment_1" / "settings.yaml"
    told = f"Configuration of settings for the environment with id 1 was stored in {path}\n"
    assert prod.ok("env", "settings", "download", 1, "-f", "yaml").out == told
    stored = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert stored["editable"]["common"]["debug"]["value"] is False
    stored["editable"]["common"]["debug"]["value"] = True
    path.write_text(yaml.safe_dump(stored), encoding="utf-8")
    told = f"Configuration of settings for the environment with id 1 was loaded from {path}\n"
    assert prod.ok("env", "settings", "upload", 1, "-f", "yaml").out == told
    assert debug(prod) is True


def test_nothing_is_overwritten_with_no_clobber(prod: CommandLine, tmp_path: Path) -> None:
    line = ("env", "settings", "download", 1, "-f", "json", "-d", tmp_path)
    prod.ok(*line)
    path = tmp_path / "environment_1" / "settings.json"
    assert "common" in json.loads(path.read_text(encoding="utf-8"))["editable"]
    path.write_text("mine", encoding="utf-8")
    refused = prod(*line, "--no-clobber")
    assert (refused.code, refused.out, path.read_text(encoding="utf-8")) == (6, "", "mine")
    prod.ok(*line)
    assert path.read_text(encoding="utf-8") != "mine"


def test_pipes(prod: CommandLine) -> None:
    text = prod.ok("env", "settings", "download", 1, "--file", "-").out
    done = prod.ok("env", "settings", "upload", 1, "--file", "-", stdin=text.replace("false", "true"))
    assert done.out.endswith("was loaded from <stdin>\n")
    assert debug(prod) is True
    prod.ok("env", "settings", "upload", 1, "--file", "-", stdin="{}")
    assert debug(prod) is False


def test_settings_without_the_outer_key(prod: CommandLine) -> None:
    prod.ok("env", "settings", "upload", 1, "--file", "-", stdin="{common: {debug: {value: true}}}")
    assert debug(prod) is True


@pytest.mark.parametrize(
    ("arguments", "stdin", "code"),
    [
        (("download", 7, "--file", "-"), "", 5),
        (("upload", 7, "--file", "-"), "{}", 5),
        (("upload", 1, "--file", "-"), "- 1", 7),
        (("upload", 1, "--file", "-"), "{common: 1}", 7),
        (("upload", 1, "--file", "-"), "{a: [", 7),
        (("upload", 1, "-f", "yaml", "-d", "/nowhere"), "", 5),
        (("download", 1, "-f", "yaml", "-d", "/nowhere"), "", 5),
        (("download", 1, "-f", "xml"), "", 2),
        (("download", 1, "-d", ".", "--file", "-"), "", 2),
    ],
)
def test_wrong_input(prod: CommandLine, arguments: tuple[object, ...], stdin: str, code: int) -> None:
    done = prod("env", "settings", *arguments, stdin=stdin)
    assert (done.code, done.out) == (code, "")
    assert "Traceback" not in done.err
    assert debug(prod) is False


WRONG = """\
editable:
  common:
    debug:
      value: "yes"
  own: {x: {value: 1}}
"""


def test_a_value_of_another_type_is_refused_with_its_line(prod: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    for text, line in ((WRONG, 4), ("common: {debug: {value: 1}}", 1)):
        path.write_text(text, encoding="utf-8")
        done = prod("env", "settings", "upload", 1, "--file", path)
        assert (done.code, done.out) == (7, "")
        assert f"{path}:{line}: error: the setting common.debug must be true or false" in done.err
    assert debug(prod) is False


GENERATED = """
- name: Made
  version: made-1.0
  operating_system: Ubuntu
  roles_metadata: {controller: {name: Controller}}
  attributes_metadata:
    editable:
      made:
        metadata: {label: Made, weight: 10}
        password: {type: password, label: P, weight: 10, value: {generator: password}}
        short_password: {type: password, label: S, weight: 20, value: {generator: password, generator_arg: "8"}}
        token: {type: text, label: T, weight: 30, value: {generator: hexstring, generator_arg: 32}}
        cephx_key: {type: text, label: C, weight: 40, value: {generator: cephx_key}}
        id: {type: text, label: I, weight: 50, value: {generator: uuid4}}
        port: {type: text, label: O, weight: 60, value: {generator: identical, generator_arg: 514}}
        odd: {type: text, label: X, weight: 70, value: {generator: nobody}}
"""


def made(fuel2: CommandLine, env: int) -> dict[str, Any]:
    """The values of the section, as a download has them; facts have the same."""
    document = fuel2.ok("env", "settings", "download", env, "--file", "-", "-f", "json").json
    section: dict[str, Any] = {
        name: one["value"] for name, one in document["editable"]["made"].items() if "value" in one
    }
    fuel2.ok("env", "deployment-facts", "get-default", "--env", env, "-d", fuel2.engine.parent, "--force")
    facts = (fuel2.engine.parent / f"deployment_{env}" / "common.yaml").read_text(encoding="utf-8")
    assert {name: yaml.safe_load(facts)["made"][name] for name in section} == section
    return section


class TestGenerators:
    @pytest.fixture
    def two(self, fuel2: CommandLine) -> CommandLine:
        """Two environments of a release whose settings are generated."""
        fuel2.ok("release", "import", "-", stdin=GENERATED)
        fuel2.ok("env", "create", "one", "--release", 1)
        fuel2.ok("env", "create", "two", "--release", 1)
        return fuel2

    def test_they_are_evaluated_when_an_environment_is_created(self, two: CommandLine) -> None:
        first, second = made(two, 1), made(two, 2)

        assert re.fullmatch("[A-Za-z0-9]{24}", first["password"])
        assert re.fullmatch("[A-Za-z0-9]{8}", first["short_password"])
        assert re.fullmatch("[0-9a-f]{32}", first["token"])
        assert len(base64.b64decode(first["cephx_key"])) == 28
        assert str(uuid.UUID(first["id"])) == first["id"]
        assert (first["port"], first["odd"]) == ("514", {"generator": "nobody"})
        for name in ("password", "short_password", "token", "cephx_key", "id"):
            assert first[name] != second[name], name
        assert made(two, 1) == first

    def test_only_the_uploaded_settings_are_replaced(self, two: CommandLine) -> None:
        before = made(two, 1)
        stated = {
            "made": {"password": {"value": "mine"}, "token": {"value": {"generator": "hexstring", "generator_arg": 32}}}
        }
        two.ok("env", "settings", "upload", 1, "--file", "-", stdin=json.dumps({"editable": stated}))
        assert made(two, 1) == {**before, "password": "mine"}
        two.ok("env", "settings", "upload", 1, "--file", "-", stdin='{"editable": {}}')
        assert made(two, 1) == {**before, "password": "mine"}

    def test_nobody_sees_them_where_settings_are_not_asked_for(self, two: CommandLine) -> None:
        word = made(two, 1)["password"]
        parameters = {"cmd": {"yaql_exp": "'echo is ' + $.made.password + ' >&2; exit 3'"}, "retries": 0}
        graph = [{"id": "a", "type": "shell", "roles": ["master"], "version": "2.0.0", "parameters": parameters}]
        two.ok("graph", "upload", "--env", 1, "--file", "-", "--type", "t", stdin=json.dumps(graph))
        done = two("graph", "execute", "--env", 1, "--type", "t", "--executor", "local", "--wait", "-vv", "--debug")
        shown = two("task", "history", "show", 1, "--show-parameters")
        assert (done.code, shown.code) == (8, 0)
        assert "is ***" in done.err
        assert word not in done.out + done.err + shown.out + shown.err
        [log] = Path(f"{two.engine}.runs").glob("*.log")
        assert word not in log.read_text(encoding="utf-8")
