"""Downloads of the original client overwrite files, because its scripts rely on it; new commands want --force."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine

from fuelclient.commands.table import COMMANDS

ORIGINAL = {
    "graph download": "--env 1 --all",
    "env settings download": "1",
    "env network download": "1 -f json",
    "env deployment-facts get-default": "--env 1",
    "env deployment-facts download": "--env 1",
    "node disks download": "1",
    "node interfaces download": "1",
    "node attributes-download": "1",
    "role download": "--release 1 --name compute",
    "tag download": "--release 1 --name compute",
    "vip download": "--env 1",
    "sequence download": "1 --file s.yaml",
    "task settings download": "1",
    "task deployment-info download": "1",
    "task network-configuration download": "1",
}
MASTER_ONLY = {
    "network-template download", "openstack-config download", "snapshot get-default-config",
    "env provisioning-facts download", "env provisioning-facts get-default", "node disks get-default",
    "node interfaces get-default",
}  # fmt: skip
NEW = {
    "graph render": "--env 1 --output g.html",
    "plan create": "p.json --env 1 --noop",
    "engine export": "--file e.yaml",
}


@pytest.fixture
def here(tiny: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The tiny engine with facts, a sequence and a run that has ended, in a directory of its own."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    tiny.ok("env", "deployment-facts", "get-default", "--env", 1)
    tiny.ok("env", "deployment-facts", "upload", "--env", 1)
    tiny.ok("sequence", "create", "--release", 1, "--name", "all", "--graph-type", "default")
    tiny.ok("graph", "execute", "--env", 1, "--noop", "--wait", "--executor", "noop")
    return tiny


def texts() -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for path in Path().rglob("*") if path.is_file()}


def test_a_download_overwrites_asks_or_refuses(here: CommandLine) -> None:
    for name, words in ORIGINAL.items():
        line = [*name.split(), *words.split()]
        for path in texts():
            path.unlink()
        here.ok(*line)
        whole = texts()
        for path in whole:
            path.write_text("old", encoding="utf-8")
        old = texts()

        done = here(*line, "--no-clobber")
        assert (done.code, texts()) == (6, old), (name, done)
        assert "--force" in done.err
        done = here(*line, terminal=True, stdin="n\n")
        assert (done.code, texts()) == (11, old), (name, done)
        assert "Overwrite" in done.err

        done = here(*line)
        assert (done.code, texts()) == (0, whole), (name, done)
        assert "overwritten" in done.err, name
        done = here("-q", *line, "--force", terminal=True)
        assert (done.code, done.err) == (0, ""), name


def test_no_download_makes_the_directory_that_was_named(here: CommandLine) -> None:
    named = [(name, words) for name, words in ORIGINAL.items() if "--directory" in here.ok(*name.split(), "--help").out]
    assert len(named) == 9
    for name, words in named:
        done = here(*name.split(), *words.split(), "--directory", "missing")
        assert done.code == 5, (name, done)
        assert "missing" in done.err
        assert not Path("missing").exists()


def test_a_new_command_overwrites_only_with_force(here: CommandLine) -> None:
    for name, words in NEW.items():
        line = [*name.split(), *words.split()]
        here.ok(*line)
        assert here(*line).code == 6, name
        here.ok(*line, "--force")


def test_every_download_of_the_original_is_here(here: CommandLine) -> None:
    known = {name for name in COMMANDS if "--no-clobber" in here.ok(*name.split(), "--help").out}
    assert known == ORIGINAL.keys() | MASTER_ONLY


def test_a_download_to_a_stream_overwrites_nothing(here: CommandLine) -> None:
    done = here.ok("graph", "download", "--env", 1, "--all", "--file", "/dev/null", "--no-clobber")
    assert "overwritten" not in done.err
    assert Path("/dev/null").is_char_device()
