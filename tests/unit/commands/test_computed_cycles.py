"""A cycle through a dependency that is computed from facts is found before a run, wherever cycles are."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine
from package_trees import MITAKA, write_package

OWN = """
- {id: first, type: skipped, roles: [compute], requires: [second]}
"""
COMPUTED = """
- id: second
  type: skipped
  version: 2.1.0
  roles: [compute]
  cross-depends: {yaql_exp: "[{name => 'first', role => 'self'}].where('compute' in $$.roles)"}
""".replace("$$", "$node")
NOT_ON_COMPUTE = COMPUTED.replace("'compute' in", "'cinder' in")


def package(tmp_path: Path, text: str) -> str:
    release = {**MITAKA, "version": "tiny-1.0", "mode": ["ha"]}
    return write_package(tmp_path / "p", releases=[release], files={"deployment_tasks.yaml": text})


@pytest.mark.parametrize(("text", "codes"), [(COMPUTED, {"G050"}), (NOT_ON_COMPUTE, set())])
def test_every_door_finds_it(tiny: CommandLine, tmp_path: Path, text: str, codes: set[str]) -> None:
    tiny.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=OWN)
    source = package(tmp_path, text)

    beside = tiny("plugins", "check", source, "--env", 1, "-f", "json").json
    assert {finding["code"] for finding in beside} & {"G050", "G033"} == codes

    tiny.ok("plugins", "install", source, "--force")
    enabled = tiny.ok("plugins", "enable", 1, "--env", 1)
    assert ("G050" in enabled.err) == bool(codes)

    merged = tiny("graph", "validate", "--env", 1, "-f", "json")
    assert {finding["code"] for finding in merged.json} & {"G050", "G033"} == codes
    assert merged.code == (7 if codes else 0)
    assert tiny("graph", "preview", "--env", 1).code == merged.code


def test_answer_without_facts_names_the_left_out_dependency(tiny: CommandLine) -> None:
    tiny.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=OWN + COMPUTED)
    shown = tiny.ok("graph", "preview", "--env", 1, "--no-facts", "-v")
    assert "facts that are not available" in shown.err
