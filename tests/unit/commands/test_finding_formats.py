"""Findings for machines and for many packages: text, SARIF, JUnit and the annotations of GitHub."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from command_line import CommandLine
from jsonschema import Draft4Validator
from package_trees import write_package

SCHEMA = Path(__file__).resolve().parents[2] / "data" / "sarif-2.1.0-rtm.5.json"
TASKS = [
    {"id": "a", "type": "shell", "roles": ["controller"], "parameters": {"cmd": "true"}},
    {"id": "b", "type": "shell", "version": "2.0.0", "parameters": {"cmd": "true"}},
    {"id": "c", "type": "shell", "version": "2.0.0", "parameters": {"cmd": "true"}},
]
GRAPH = "- {id: a, type: shell, version: 2.0.0, roles: ['*', x], requires: [a], parameters: {cmd: 'true'}}\n"
ACCEPT = "accept:\n- {code: P050, task: b, reason: a release places it}\n"


@pytest.fixture
def package(tmp_path: Path) -> str:
    """A package with an error (P012), two warnings (P050) and a notice (P011)."""
    return write_package(tmp_path / "p", package_version="5.0.0", files={"deployment_tasks.yaml": TASKS})


def validated(text: str) -> list[dict[str, Any]]:
    """The results of a SARIF log that fits the published schema."""
    log = json.loads(text)
    Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(log)
    results: list[dict[str, Any]] = log["runs"][0]["results"]
    return results


def parsed(text: str) -> ET.Element:
    """The root of an XML document that we wrote."""
    return ET.fromstring(text)  # noqa: S314


def test_sarif_of_a_package(fuel2: CommandLine, package: str) -> None:
    Path(package, ".fuel2-check.yaml").write_text(ACCEPT, encoding="utf-8")
    done = fuel2("plugins", "check", package, "-f", "sarif")
    results = validated(done.out)
    assert [(result["ruleId"], result["level"]) for result in results] == [
        ("P012", "error"), ("P050", "warning"), ("P011", "note"), ("P050", "warning"),
    ]  # fmt: skip
    assert [result["suppressions"][0]["justification"] for result in results if "suppressions" in result] == [
        "a release places it"
    ]
    place = results[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("p/deployment_tasks.yaml")
    assert (done.code, place["region"]["startLine"] > 0) == (7, True)


def test_sarif_of_a_graph_and_of_nothing(fuel2: CommandLine) -> None:
    command = ("graph", "validate", "--file", "-", "--format", "sarif")
    assert {result["ruleId"] for result in validated(fuel2(*command, stdin=GRAPH).out)} == {"G014", "G023"}
    assert validated(fuel2(*command, "--ignore", "G", stdin=GRAPH).out) == []


def test_sarif_of_a_name_that_is_no_uri(fuel2: CommandLine, tmp_path: Path) -> None:
    package = write_package(tmp_path / "a b#ü", package_version="5.0.0", files={"deployment_tasks.yaml": TASKS})
    uri = validated(fuel2("plugins", "check", package, "-f", "sarif").out)[0]["locations"][0]["physicalLocation"]
    assert "/a%20b%23%C3%BC/" in uri["artifactLocation"]["uri"]


def test_junit(fuel2: CommandLine, package: str) -> None:
    Path(package, ".fuel2-check.yaml").write_text(ACCEPT, encoding="utf-8")
    strict = parsed(fuel2("plugins", "check", package, "--strict", "-f", "junit").out)
    suite = strict.find("testsuite")
    assert suite is not None
    assert {key: suite.get(key) for key in ("tests", "failures", "skipped")} == {
        "tests": "4", "failures": "2", "skipped": "1",
    }  # fmt: skip

    assert len({case.get("name") for case in suite}) == 4
    empty = parsed(fuel2("plugins", "check", package, "--select", "P099", "-f", "junit").out)
    assert [(suite.get("tests"), suite.get("failures")) for suite in empty] == [("1", "0")]


def test_junit_holds_any_name(fuel2: CommandLine, tmp_path: Path) -> None:
    tasks = [{"id": "<a>&\u0001\ufffe", "type": "shell", "version": "2.0.0", "parameters": {"cmd": "true"}}]
    package = write_package(tmp_path / "p", package_version="5.0.0", files={"deployment_tasks.yaml": tasks})
    cases = list(parsed(fuel2("plugins", "check", package, "-f", "junit").out).iter("testcase"))
    assert any("<a>&" in (case.get("name") or "") for case in cases)


def test_annotations_of_a_workflow(fuel2: CommandLine, package: str) -> None:
    lines = fuel2("plugins", "check", package, "-f", "github").out.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning", "::warning", "::notice"]
    assert all("title=P0" in line and "deployment_tasks.yaml,line=" in line for line in lines)
    fuel2.ok("graph", "validate", "--file", "-", "-f", "github", "--ignore", "G", stdin=GRAPH)


def test_text_has_one_line_for_each_code(fuel2: CommandLine, package: str) -> None:
    command = ("plugins", "check", package, "-f", "text")
    lines = fuel2(*command).out.splitlines()
    assert [code for line in lines for code in ("P012", "P050", "P011") if f"[{code}]" in line] == [
        "P012", "P050", "P011",
    ]  # fmt: skip
    assert "1 more P050" in lines[1]
    assert len(fuel2("-v", *command).out.splitlines()) == 4


@pytest.mark.slow
def test_twenty_packages_fit_on_a_screen(fuel2: CommandLine, tmp_path: Path) -> None:
    many = [{"id": f"t{number}", "type": "shell", "groups": ["x"], "parameters": {}} for number in range(40)]
    packages = [
        write_package(tmp_path / str(number), package_version="5.0.0", files={"deployment_tasks.yaml": many})
        for number in range(20)
    ]
    done = fuel2("plugins", "check", *packages)
    assert done.code == 7
    assert len((done.out + done.err).splitlines()) < 15
    assert "20 failed" in done.err
    rows = fuel2("plugins", "check", *packages, "-f", "value", "-c", "code").out.splitlines()
    assert len(rows) > 20 * 40


@pytest.mark.parametrize("form", ["text", "sarif", "junit", "github"])
def test_whole_findings_have_no_columns(fuel2: CommandLine, package: str, form: str) -> None:
    for option in ("-c", "-s"):
        done = fuel2("plugins", "check", package, "-f", form, option, "code")
        assert (done.code, done.out) == (2, "")


@pytest.mark.parametrize(
    ("stated", "codes"),
    [
        (ACCEPT, ["P012", "P050", "P011"]),
        ("accept:\n- {code: P050, reason: r}\n", ["P012", "P011"]),
        ("accept:\n- {code: P050, file: deployment_tasks.yaml, reason: r}\n", ["P012", "P011"]),
        ("accept:\n- {code: P050, file: other.yaml, reason: r}\n", ["P012", "P088", "P050", "P050", "P011"]),
        ("accept:\n- {code: P050}\n", ["P012", "P087", "P050", "P050", "P011"]),
        ("accept:\n- {code: P050, task: b, reason: ' '}\n", ["P012", "P087", "P050", "P050", "P011"]),
        ("accept:\n- {code: G041, reason: only beside a release}\n", ["P012", "P050", "P050", "P011"]),
        ("accept:\n- {code: P001, reason: r}\n", ["P086", "P012", "P050", "P050", "P011"]),
        ("accept:\n- {code: 7, reason: r}\n", ["P086", "P012", "P050", "P050", "P011"]),
        ("accept:\n- {code: P050, why: r}\n", ["P086", "P012", "P050", "P050", "P011"]),
        ("accept: {P050: r}\n", ["P086", "P012", "P050", "P050", "P011"]),
        ("accept: [\n", ["P086", "P012", "P050", "P050", "P011"]),
        ("accept:\n- x\n", ["P086", "P012", "P050", "P050", "P011"]),
    ],
)
def test_what_an_author_accepts(fuel2: CommandLine, package: str, stated: str, codes: list[str]) -> None:
    Path(package, ".fuel2-check.yaml").write_text(stated, encoding="utf-8")
    done = fuel2("plugins", "check", package, "-f", "value", "-c", "code")
    assert (done.out.split(), done.code) == (codes, 7)


def test_an_installation_names_a_code_three_times(fuel2: CommandLine, tmp_path: Path) -> None:
    many = [{**TASKS[1], "id": f"t{number}"} for number in range(40)]
    package = write_package(tmp_path / "p", package_version="5.0.0", files={"deployment_tasks.yaml": many})
    assert fuel2("plugins", "install", package).err.count("[P050]") == 3
    assert "37 more P050" in fuel2("plugins", "install", package, "--force").err
    assert fuel2("-v", "plugins", "install", package, "--force").err.count("[P050]") == 40


def test_roles_with_too_few_nodes(fuel2: CommandLine, tmp_path: Path) -> None:
    fuel2.ok("-q", "demo")
    roles = {"db": {"name": "Db", "description": "A database", "limits": {"min": 3}}}
    releases = [{"os": "ubuntu", "version": "ocata-11.0", "mode": ["ha"]}]
    package = write_package(tmp_path / "p", releases=releases, files={"node_roles.yaml": roles})
    fuel2.ok("plugins", "install", package)
    fuel2.ok("plugins", "enable", "monitor", "--env", 1)
    done = fuel2("graph", "validate", "--env", 1, "--select", "P089", "-f", "text")
    assert ("role db" in done.out, "3 nodes" in done.out, done.code) == (True, True, 0)


def test_an_installation_refuses_a_package_of_both_kinds(fuel2: CommandLine, tmp_path: Path) -> None:
    definition = {
        "is_release": True, "release_name": "monitor", "version": "x-1", "description": "x",
        "operating_system": "ubuntu", "graphs": [{"type": "default", "tasks": []}],
    }  # fmt: skip
    extension = {"os": "ubuntu", "version": "mitaka-9.0", "mode": ["ha"]}
    package = write_package(tmp_path / "p", package_version="5.0.0", releases=[definition, extension])
    done = fuel2("plugins", "install", package)
    assert (done.code, "[P033]" in done.err) == (7, True)
