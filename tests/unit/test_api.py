"""The API for other programs: its guide and its script run, its names stay, and it is imported when it is used."""

from __future__ import annotations

import contextlib
import copy
import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from corpus import corpus
from executions import executions
from refusals import refused

import fuelclient
from fuelclient import api
from fuelclient.backends import base, inventory
from fuelclient.errors import FuelError, UsageError
from fuelclient.model.task import Task
from fuelclient.settings import SPECS, Spec, handed_on, load

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs/api.md").read_text(encoding="utf-8")

NAMES = [
    "DEFAULT_TYPE",
    "Backend",
    "Finding",
    "FuelError",
    "GraphDocument",
    "Inputs",
    "Level",
    "MergePolicy",
    "MergedGraph",
    "Node",
    "OwnerRef",
    "Plan",
    "Preview",
    "PreviewOptions",
    "PreviewRow",
    "Release",
    "RunRequest",
    "Severity",
    "Snapshot",
    "connect",
    "merge_layers",
    "planned",
    "plans",
    "preview",
    "read_graph",
    "read_releases",
    "simulated",
]
"""Names that are never removed."""


def test_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    examples = "\n".join(re.findall(r"^```python\n(.*?)^```$", GUIDE, re.M | re.S))
    test = doctest.DocTestParser().get_doctest(examples, {}, "docs/api.md", "docs/api.md", 0)
    results = doctest.DocTestRunner().run(test)
    assert results.attempted > 15
    assert not results.failed


def test_no_name_was_removed() -> None:
    assert set(NAMES) <= set(api.__all__)
    assert fuelclient.connect is api.connect


def script(**environment: str) -> list[str]:
    """Return the lines that the script of the guide prints."""
    done = subprocess.run(
        [sys.executable, "docs/stages.py"], cwd=ROOT, capture_output=True, text=True, check=True,
        env={"PATH": "/usr/bin:/bin", **environment},
    )  # fmt: skip
    return done.stdout.splitlines()


def test_the_script_draws_what_the_guide_shows(tmp_path: Path) -> None:
    lines = script(HOME=str(tmp_path))
    assert len(lines) == 4
    assert "\n".join(lines) in GUIDE


@pytest.mark.corpus
def test_the_script_draws_newton(tmp_path: Path) -> None:
    lines = script(HOME=str(tmp_path), FUEL_CORPUS=str(corpus()))
    assert [line.split()[0] for line in lines[1:4]] == ["pre_deployment", "deploy", "post_deployment"]
    assert lines[-1].startswith("202 tasks, 930 instances in ")


def test_an_engine_and_a_server_are_not_combined() -> None:
    with pytest.raises(UsageError), fuelclient.connect("engine.db", server="http://127.0.0.1:9"):
        pass


def test_the_target_that_is_given_wins_over_settings(tmp_path: Path) -> None:
    """A program may pass all its settings, whatever target they have."""
    engine, both = str(tmp_path / "e.db"), {"SERVER_ADDRESS": "10.20.0.2", "ENGINE": str(tmp_path / "other.db")}
    with fuelclient.connect(engine, settings=both) as backend:
        assert backend.target == engine
    with fuelclient.connect(server="10.20.0.9", settings=both) as backend:
        assert backend.target.startswith("http://10.20.0.9")


WRONG: list[object] = [None, "1", "x", b"x", 1.5, True, [], ["x"], [None], {}, 2**70]
QUICK = (None, "x", ["x"], 2**70)
"""What the quick tests give to each method of each facet: nothing, a name, several, and a number beyond the store."""

FACETS = ["releases", "clusters", "nodes", "networks", "roles", "tags", "plugins", "graphs", "facts", "sequences"]
"""All facets with data but runs: their requests would begin some."""

METHODS = [
    (facet, name)
    for facet, kind in [(facet, getattr(base, facet.capitalize())) for facet in [*FACETS, "runs"]]
    for name in vars(kind) | vars(inventory.Descriptions)
    if not name.startswith("_") and hasattr(kind, name) and (facet in FACETS or name not in {"begin", "act"})
]


@pytest.mark.parametrize(
    "wrong", [pytest.param(wrong, id=repr(wrong), marks=() if wrong in QUICK else pytest.mark.slow) for wrong in WRONG]
)
def test_arguments_of_any_type_raise_nothing_but_our_errors(tmp_path: Path, wrong: object) -> None:
    with fuelclient.connect(tmp_path / "lab.db") as backend:
        for facet, name in METHODS:
            for count in range(4):
                with contextlib.suppress(FuelError):
                    getattr(getattr(backend, facet), name)(*[wrong] * count)


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_functions_raise_nothing_but_our_errors(tmp_path: Path, wrong: Any) -> None:
    with fuelclient.connect(tmp_path / "lab.db") as backend:
        for function in (api.merge_layers, api.planned, api.plans, api.preview, api.simulated):
            for arguments in ([wrong], [wrong, wrong], [backend, wrong]):
                with contextlib.suppress(FuelError):
                    function(*arguments)


def test_a_connection_can_be_explored_and_copied(tmp_path: Path) -> None:
    with fuelclient.connect(tmp_path / "lab.db") as backend:
        assert {name for name in vars(base.Backend) if not name.startswith("_")} <= {*dir(backend)}
        assert {name for name in vars(base.Clusters) if not name.startswith("_")} <= {*dir(backend.clusters)}
        assert [*inspect.signature(backend.clusters.get).parameters] == ["cluster_id"]
        assert copy.copy(backend).target == backend.target


@pytest.mark.parametrize("wrong", [None, "1", 1.5, True, [1]], ids=repr)
def test_an_id_is_a_number_and_nothing_else(tmp_path: Path, wrong: Any) -> None:
    with fuelclient.connect(tmp_path / "lab.db") as backend:
        for facet in (backend.releases, backend.clusters, backend.nodes, backend.plugins, backend.sequences):
            with refused(UsageError, "whole number", repr(wrong)):
                facet.get(wrong)
        with refused(UsageError, "whole number", repr(wrong)):
            backend.runs.get(wrong)


VALUES = {"number": 5, "text": "http://127.0.0.1:9", "path": "/lab.db", "true or false": True,
          "mapping of names to texts": {"puppet": "true"}}  # fmt: skip


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_settings_have_all_names_and_check_their_type(
    spec: Spec, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in spec.names:
        with fuelclient.connect(settings={name: VALUES[spec.type]}) as backend:
            assert backend.target
    with refused(UsageError, spec.name), fuelclient.connect(settings={spec.name: [object()]}):
        pass


@pytest.mark.parametrize(
    "given",
    [{"engine": 3}, {"engine": b"x"}, {"engine": ""}, {"server": 3}, {"server": " "}, {"settings": "ab"},
     {"settings": [1]}, {"settings": {1: 2}}, {"settings": {"ENGINE": ""}}],
    ids=repr,
)  # fmt: skip
def test_what_connect_cannot_use_is_an_error_of_ours(given: Any) -> None:
    with pytest.raises(FuelError), fuelclient.connect(**given):
        pass
    for read in (api.read_graph, api.read_releases):
        with pytest.raises(FuelError):
            read(given)


def test_an_unknown_setting_is_refused_with_the_nearest_name() -> None:
    unknown = fuelclient.connect(settings={"HTTP_TIMEOT": 5})
    with refused(UsageError, "HTTP_TIMEOT", "Did you mean HTTP_TIMEOUT?"), unknown:
        pass


def test_engine_settings_hold_until_the_connection_ends(tmp_path: Path) -> None:
    advanced = fuelclient.connect(tmp_path / "a.db", settings={"FEATURE_GROUPS": "advanced"})
    mirantis = fuelclient.connect(tmp_path / "b.db", settings={"FEATURE_GROUPS": "mirantis", "RETENTION_DAYS": 3})
    first = advanced.__enter__()
    assert first.version().feature_groups == ("advanced",)
    mirantis.__enter__()
    assert handed_on() == {"FUEL_FEATURE_GROUPS": "mirantis", "FUEL_RETENTION_DAYS": "3"}
    advanced.__exit__(None, None, None)
    assert (load().feature_groups, load().retention_days) == (("mirantis",), 3)
    mirantis.__exit__(None, None, None)
    assert (load().feature_groups, handed_on()) == (("experimental",), {})


def test_a_run_has_the_settings_of_the_program_that_began_it(tmp_path: Path) -> None:
    lab = executions(tmp_path, nodes=1)
    lab.graph(Task("a", {"type": "erase_node", "version": "2.1.0", "roles": ["*"], "parameters": {"timeout": 60}}))
    own = {"HANDLER_COMMANDS": {"erase_node": "echo ours"}}
    with fuelclient.connect(lab.engine, settings=own) as backend:
        run = backend.runs.begin(api.RunRequest(1, ("default",)))
        lab.ended(run.id)
        assert backend.runs.logs(run.id, "a", "1").output == "ours\n"


def test_a_graph_is_read_from_a_file_and_from_a_directory(tmp_path: Path) -> None:
    (tmp_path / "tasks.yaml").write_text(
        "- {id: a, type: shell, version: 2.1.0, roles: ['*'], parameters: {cmd: 'true'}}"
    )
    for place in (tmp_path, tmp_path / "tasks.yaml"):
        assert [task.id for task in api.read_graph(place).tasks] == ["a"]


def test_nothing_is_imported_before_it_is_used(tmp_path: Path) -> None:
    code = (
        "import sys, fuelclient; sys.stdout.write(' '.join(name for name in sys.modules if name[:10] == 'fuelclient'))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert loaded.split() == ["fuelclient"]
    with pytest.raises(AttributeError):
        _ = fuelclient.connected
