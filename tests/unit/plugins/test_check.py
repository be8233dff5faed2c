"""The checks as a whole: one run reports everything, nothing crashes, and real packages pass."""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from corpus import corpus
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refusals import missing
from valid_packages import full_files, full_metadata, write_package

from fuelclient.errors import InvalidDocument
from fuelclient.model.finding import Finding, Severity
from fuelclient.plugins.checks import UNUSABLE, check, for_install
from fuelclient.plugins.pack import build_rpm

TASK = "- id: a\n  type: shell\n  version: 2.0.0\n  roles: [controller]\n  parameters: {cmd: 'true'}\n"


def codes(findings: tuple[Finding, ...]) -> list[str]:
    return [f"{one.severity} {one.code}" for one in findings]


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with missing("package directory", tmp_path / "nowhere"):
        check(tmp_path / "nowhere")


def test_findings_name_the_archive_that_was_unpacked(tmp_path: Path) -> None:
    package = write_package(tmp_path / "p", metadata={"releases": 5}, files={"volumes.yaml": "volumes: [\n"})
    findings = check(package, shown_as="x.rpm!")
    assert {one.place.file for one in findings} == {"x.rpm!/metadata.yaml", "x.rpm!/volumes.yaml"}
    assert not any(str(tmp_path) in str(one) for one in findings)


def test_roles_of_the_package_are_no_misspelt_ones(tmp_path: Path) -> None:
    roles = {"node_roles.yaml": "ceph_osd: {name: Own, description: an own role}\n"}
    tasks = TASK.replace("[controller]", "[primary_controller, ceph_osd]")
    for files, hints in (({}, ["Did you mean ceph-osd?", "Did you mean primary-controller?"]), (roles, [])):
        found = check(write_package(tmp_path / f"p{len(files)}", files={**files, "deployment_tasks.yaml": tasks}))
        misspelt = sorted(finding.hint for finding in found if finding.code == "G041")
        assert misspelt == (hints or ["Did you mean primary-controller?"])


def _deb(path: Path) -> None:
    path.write_bytes(b"!<arch>\nbroken")


def _metadata(**stated: Any) -> Callable[[Path], None]:
    def state(package: Path) -> None:
        metadata = yaml.safe_load((package / "metadata.yaml").read_text("utf-8"))
        (package / "metadata.yaml").write_text(yaml.safe_dump({**metadata, **stated}), "utf-8")

    return state


@pytest.mark.parametrize(
    "damage",
    [
        *(_metadata(version=version) for version in ("1", "1.2-3", "v1.2", "1.2.3:4")),
        *(_metadata(build_version=version) for version in ("a b", "1-2", "", "\u00e9")),
        *(_metadata(**{key: "a\0b"}) for key in ("title", "description", "homepage")),
        _metadata(name="Capital"),
        lambda package: (package / "away").symlink_to("../elsewhere"),
        lambda package: (package / "deployment_scripts" / "away").symlink_to("/etc/passwd"),
        lambda package: os.mkfifo(package / "pipe"),
        lambda package: Path(os.fsdecode(bytes(package / "f") + b"\xff")).write_text("x"),
        lambda package: _deb(package / "repositories" / "ubuntu" / "a.deb"),
        lambda package: (package / "uninstall.sh").write_bytes(b"a\0b"),
    ],
)
def test_what_a_build_refuses_is_an_error_of_the_check(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    package = write_package(tmp_path / "p", files={"repositories/ubuntu/.keep": ""})
    assert not any(finding.is_error for finding in check(package))
    damage(package)
    metadata = yaml.safe_load((package / "metadata.yaml").read_text("utf-8"))
    refused = False
    try:
        build_rpm(package, tmp_path, metadata)
    except InvalidDocument:
        refused = True
    assert (any(finding.is_error for finding in check(package)), refused) == (refused, refused)


@pytest.mark.parametrize(
    ("command", "mode", "text", "told"),
    [
        ("./run.sh a", 0o644, "#!/bin/sh\n", ["executable"]),
        ("run.sh", 0o600, "#!/bin/sh\r\n", ["executable", "CRLF"]),
        ("./run.sh", 0o755, "#!/bin/sh\n", []), ("./run.sh", 0o755, "#!/bin/sh\r\n", ["CRLF"]),
        ("sh run.sh", 0o644, "#!/bin/sh\n", []), ("bash ./run.sh x", 0o644, "true\r\n", ["CRLF"]),
        ("cd sub && ./run.sh", 0o644, "true\n", []),
    ],
)  # fmt: skip
def test_scripts_that_no_node_can_run(tmp_path: Path, command: str, mode: int, text: str, told: list[str]) -> None:
    tasks = TASK.replace("'true'", command)
    package = write_package(tmp_path / "p", files={"deployment_tasks.yaml": tasks})
    script = package / "deployment_scripts" / "run.sh"
    script.write_bytes(text.encode())
    script.chmod(mode)
    found = [finding for finding in check(package) if finding.code == "P069"]
    assert len(found) == len(told)
    assert all(word in finding.message for word, finding in zip(told, found, strict=True))


def test_findings_come_by_file_and_line(tmp_path: Path) -> None:
    files = {"deployment_tasks.yaml": TASK.replace("  version: 2.0.0\n", "") * 3, "volumes.yaml": "volumes: 1\n"}
    found = check(write_package(tmp_path / "p", metadata={"title": 1, "releases": 1}, files=files), shown_as="x")
    places = [(one.place.file != "x/metadata.yaml", one.place.file, one.place.line) for one in found]
    assert places == sorted(places)
    assert len(set(places)) >= 5


def test_the_same_package_gives_the_same_findings(tmp_path: Path) -> None:
    package = write_package(tmp_path / "p", metadata=full_metadata(5), files=full_files(5))
    assert check(package) == check(package)


def test_names_that_a_release_may_have_are_no_findings(tmp_path: Path) -> None:
    files = {"deployment_tasks.yaml": TASK + "  requires: [hiera, nobody]\n"}
    assert "warning P061" not in codes(check(write_package(tmp_path / "p", files=files)))


def test_an_installation_refuses_only_what_cannot_be_used(tmp_path: Path) -> None:
    files = {"deployment_tasks.yaml": TASK.replace("2.0.0", "1.0.0") * 2}
    findings = check(write_package(tmp_path / "p", metadata={"fuel_version": ["6.0"]}, files=files))
    assert {one.code for one in findings if one.is_error} == {"P005", "P012", "P060"}
    [finding] = [one for one in findings if one.code == "P012"][:1]
    assert ("stage has no effect" in finding.hint) == ("stage:" in TASK)
    installed = for_install(findings)
    assert {one.code for one in installed if one.is_error} == {"P060"}
    assert {one.code for one in installed if one.severity is Severity.WARNING} >= {"P005", "P012"}
    assert {"P001", "P002", "P003", "P004", "P030", "P033", "P037", "P060"} == UNUSABLE


def test_a_flood_of_findings_is_counted(tmp_path: Path) -> None:
    tasks = "".join(f"- {{id: t{n}, type: shell, version: 2.0.0, parameters: {{cmd: x}}}}\n" for n in range(500))
    findings = check(write_package(tmp_path / "p", files={"deployment_tasks.yaml": tasks}))
    told = [one for one in findings if one.code == "P050"]
    assert len(told) == 201
    assert "300 more" in told[0].message


class TestHostile:
    """Content that is meant to hurt: one clear error, and soon."""

    def test_many_values_behind_aliases(self, tmp_path: Path) -> None:
        lists = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
            f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n" for old, new in ("ab", "bc", "cd", "de")
        )
        before = time.process_time()  # not how busy the machine is
        findings = check(write_package(tmp_path / "p", files={"node_roles.yaml": lists}))
        assert time.process_time() - before < 5
        assert [one.code for one in findings if one.is_error][:1] == ["P003"]

    def test_metadata_behind_a_link_out_of_the_package(self, tmp_path: Path) -> None:
        (tmp_path / "secret").write_text("name: secret\n")
        package = write_package(tmp_path / "p", files={"metadata.yaml": None})
        (package / "metadata.yaml").symlink_to(tmp_path / "secret")
        findings = check(package)
        assert "error P004" in codes(findings)
        assert "P001" not in {one.code for one in findings}
        assert not any("secret" in one.message for one in findings if one.code != "P004")

    def test_a_pipe_is_no_file(self, tmp_path: Path) -> None:
        package = write_package(tmp_path / "p", metadata={"thing_path": "pipe.yaml"})
        os.mkfifo(package / "pipe.yaml")
        assert "error P004" in codes(check(package))

    def test_a_role_that_is_a_slow_expression(self, tmp_path: Path) -> None:
        files = {"deployment_tasks.yaml": TASK.replace("[controller]", "['/(a+)+$/', '/[[a]/']")}
        assert not [one for one in check(write_package(tmp_path / "p", files=files)) if one.is_error]


@pytest.mark.corpus
class TestCorpus:
    """Real packages, with the errors that Fuel's own builder did not give, and why."""

    NEW_ERRORS = {
        "fuel_plugin_example_v5": {"P013"},  # its group: the specification plugins-v5 gives groups up
        "fpb_v5_template_rendered@365418-ps34": {"P033"},  # it defines a release and extends two others
    }

    @pytest.mark.parametrize("shelf", ["plugins", "plugins-branches", "fpb-examples", "release-plugins"])
    def test_packages_have_no_errors_but_the_new_ones(self, shelf: str) -> None:
        packages = sorted(path.parent for path in corpus(shelf).glob("*/metadata.yaml"))
        found = {path.name: {one.code for one in check(path) if one.is_error} for path in packages}
        assert len(found) >= 2
        assert found == {name: self.NEW_ERRORS.get(name, set()) for name in found}

    def test_a_package_without_scripts_is_told_once(self) -> None:
        for path in corpus("plugins").glob("*/metadata.yaml"):
            told = [one for one in check(path.parent) if one.code == "P064"]
            assert len(told) == 1, path

    ODD = {
        "dup-ids/fuel-plugin-vmware-dvs-44df7fe3": ["error P060 44", "warning G009 58"],
        "dup-keys/fuel-plugin-detach-rabbitmq-9c16386f": ["warning G008 11"],
        "dup-keys/fuel-plugin-elasticsearch-kibana-3bd6c691": ["warning G008 54"],
        "dup-keys/fuel-plugin-elasticsearch-kibana-aa0b0fe9": ["warning G008 61", "error P003 61", "error P017 62"],
        "dup-keys/fuel-plugin-vmware-dvs-608e5ed0": ["warning G008 23"],
        "malformed-cross-depends/fuel-plugin-lma-collector-83c1988f": [
            f"error P003 {line}" for line in (35, 46, 59, 71, 83, 95, 106, 122, 135)
        ],
        "negfloat/fuel-plugin-lma-collector-c6768276": ["warning P063 5"],
        "no-parameters/fuel-plugin-swiftstack-9cd121cc": ["warning G013 27"],
        "odd-stage/fuel-plugin-dynatrace-258287ce": ["error P003 9", "error P003 16", "error P003 18"],
        "self-cycle/fuel-plugin-dynatrace-3ce49524": [],  # a ring of ids is none of tasks on nodes: previews tell it
        "self-cycle/fuel-plugin-dynatrace-57cba10c": [],
        "self-cycle/fuel-plugin-influxdb-grafana-812ded10": [],
        "unknown-keys/fuel-plugin-kubernetes-80ddc318": ["warning G009 17"],
        "unknown-keys/fuel-plugin-vmware-dvs-8e25a857": ["warning G009 26"],
        "wrong-type-field/fuel-plugin-lma-collector-9f1f6c5c": [],  # packages of version 4 may write a text there
        "yaml-error/fuel-plugin-dbaas-trove-e72455e9": ["error P037 67"],
        "yaml-error/fuel-plugin-elasticsearch-kibana-2628e43a": ["error P037 172"],
        "yaml-error/fuel-plugin-elasticsearch-kibana-a328a382": ["error P037 106"],
        "yaml-error/fuel-plugin-lma-collector-aaa7f684": ["error P037 106"],
        "yaml-error/fuel-plugin-mellanox-2868e97c": ["error P037 214"],
    }
    COMMON = {"P010", "P011", "P018", "P019", "P020", "P050", "P064"}
    """Codes that these old packages have beside what is odd about them."""

    def test_broken_files_of_the_past_are_told(self, tmp_path: Path) -> None:
        listed = json.loads(corpus("odd", "index.json").read_text(encoding="utf-8"))
        found = {}
        for number, file in enumerate(sorted({entry["file"] for entry in listed})):
            stem, _, name = file.rpartition("-")
            text = corpus("odd", file).read_text(encoding="utf-8")
            package = write_package(tmp_path / str(number), 4, files={name: text})
            findings = [one for one in check(package) if one.code not in self.COMMON]
            assert all(one.place.file == str(package / name) for one in findings)
            found[stem] = [f"{one.severity} {one.code} {one.place.line}" for one in findings]
        assert found == self.ODD

    @pytest.mark.parametrize("version", ["9.0", "newton"])
    def test_a_release_of_fuel_can_be_a_plugin(self, version: str, tmp_path: Path) -> None:
        fixture = yaml.safe_load(
            corpus("fuel-web", version, "nailgun", "nailgun", "fixtures", "openstack.yaml").read_text(encoding="utf-8")
        )
        fields = next(record["fields"] for record in fixture if "roles_metadata" in record["fields"])
        files: dict[str, str | None] = {
            f"library/{path.parent.name}-{number}/tasks.yaml": path.read_text(encoding="utf-8")
            for number, path in enumerate(sorted(corpus("fuel-library", version).glob("deployment/**/tasks.yaml")))
        }
        record = {
            "is_release": True,
            "release_name": "sample",
            "description": "d",
            "operating_system": "ubuntu",
            "version": "1.0.0",
            "graphs": [{"type": "default", "tasks_path": "library/**/*.yaml"}],
        }
        for key in ("roles", "volumes", "network_roles", "components"):
            record[f"{key}_path"] = f"{key}.yaml"
            files[f"{key}.yaml"] = yaml.safe_dump(fields[f"{key}_metadata"], sort_keys=False)
        package = write_package(tmp_path / "p", metadata={"releases": [record]}, files=files)
        assert not [str(one) for one in check(package) if one.is_error]


def _texts() -> st.SearchStrategy[str]:
    return st.text(alphabet="abz09 .:/-_*[]{}&!#'\"\n\t,|>?~", max_size=12)


_LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 2**40), st.floats(allow_nan=False), _texts(), st.dates().map(str)
)
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts(), inner, max_size=3), max_leaves=5
)


def _paths(data: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    found = [path]
    if isinstance(data, dict):
        found += [one for key, value in data.items() for one in _paths(value, (*path, key))]
    elif isinstance(data, list):
        found += [one for index, value in enumerate(data) for one in _paths(value, (*path, index))]
    return found


@st.composite
def _mutants(draw: st.DrawFn) -> tuple[int, dict[str, str]]:
    """The version of a package, and its files with a few of them changed: dropped, retyped, repeated or cut."""
    major = draw(st.integers(1, 6))
    files = full_files(major) | {"metadata.yaml": yaml.safe_dump(full_metadata(major), sort_keys=False)}
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from([name for name in files if name.endswith(".yaml")]))
        way = draw(st.sampled_from(["retype", "drop", "repeat", "cut", "rename"]))
        try:
            data = yaml.safe_load(files[name])
        except yaml.YAMLError:
            continue
        if way in ("repeat", "cut"):
            lines = files[name].splitlines(keepends=True)
            at = draw(st.integers(0, len(lines)))
            files[name] = "".join(lines[:at] + (lines[max(0, at - 1) :] if way == "repeat" else []))
            continue
        path = draw(st.sampled_from(_paths(data)))
        if not path:
            files[name] = yaml.safe_dump(draw(_VALUES))
            continue
        holder = data
        for step in path[:-1]:
            holder = holder[step]
        if way == "retype":
            holder[path[-1]] = draw(_VALUES)
        else:
            value = holder.pop(path[-1])
            if way == "rename" and isinstance(holder, dict):
                holder[draw(_LEAVES)] = value
        files[name] = yaml.safe_dump(data, sort_keys=False)
    return major, files


@given(_mutants())
@settings(
    max_examples=2 * settings().max_examples,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_nothing_but_findings_comes_out_of_broken_packages(mutant: tuple[int, dict[str, str]]) -> None:
    major, files = mutant
    with tempfile.TemporaryDirectory() as directory:
        package = write_package(Path(directory) / "p", major, files={**files})
        findings = check(package, shown_as="x")
    for one in findings:
        assert re.fullmatch("[GP][0-9]{3}", one.code)
        assert one.message
        assert one.place.file.startswith("x/")
        assert "\n" not in str(one)
    assert Counter(one.code for one in for_install(findings)) == Counter(one.code for one in findings)
