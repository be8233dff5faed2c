"""Settings of environments on the command line."""

from __future__ import annotations

import json
from pathlib import Path

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


def test_nothing_is_overwritten_without_force(prod: CommandLine, tmp_path: Path) -> None:
    line = ("env", "settings", "download", 1, "-f", "json", "-d", tmp_path)
    prod.ok(*line)
    path = tmp_path / "environment_1" / "settings.json"
    assert "common" in json.loads(path.read_text(encoding="utf-8"))["editable"]
    path.write_text("mine", encoding="utf-8")
    refused = prod(*line)
    assert (refused.code, refused.out, path.read_text(encoding="utf-8")) == (6, "", "mine")
    prod.ok(*line, "--force")
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
