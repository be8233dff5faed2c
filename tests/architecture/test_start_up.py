"""Commands import only what they need: the run-time counterpart of the import contracts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"textual", "requests", "keystoneauth1", "keystoneclient", "yaql", "rustworkx", "tabulate", "cmd2"}


OTHER_NOUNS = ("clusters", "nodes", "releases", "roles", "tags", "facts", "sequences", "runs")
"""Nouns whose modules a listing of graphs does not import."""

OTHER_ENGINE = ("runs", "packages", *(f"inventory.{noun}" for noun in OTHER_NOUNS))


def ours(code: str, arguments: list[str], tmp_path: Path) -> str:
    """Run Python code, which must succeed, and return what it writes to stderr."""
    environment = {"HOME": str(tmp_path), "FUEL_ENGINE": str(tmp_path / "engine.db"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def all_modules_after(arguments: list[str], tmp_path: Path) -> set[str]:
    """Return the modules that a command line has imported when it ends."""
    code = (
        "import sys; from fuelclient.main import main; code = main(sys.argv[1:]); "
        "sys.stderr.write('\\nMODULES ' + ' '.join(sys.modules)); raise SystemExit(code)"
    )
    return set(ours(code, arguments, tmp_path).rpartition("MODULES ")[2].split())


def modules_after(arguments: list[str], tmp_path: Path) -> set[str]:
    """Return the top-level names among these modules."""
    return {name.partition(".")[0] for name in all_modules_after(arguments, tmp_path)}


@pytest.mark.parametrize("line", ["", "--help", "-h", "help", "--version", "help --all"])
def test_the_overview_imports_no_framework(line: str, tmp_path: Path) -> None:
    loaded = modules_after(line.split(), tmp_path)
    assert "fuelclient" in loaded
    assert not loaded & (HEAVY | {"cliff", "stevedore", "prettytable", "yaml", "sqlite3", "logging"})


@pytest.mark.parametrize("line", ["graph list", "release list -f json", "node list -f csv", "env list -f value"])
def test_listing_imports_no_documents(line: str, tmp_path: Path) -> None:
    loaded = modules_after(line.split(), tmp_path)
    assert {"cliff", "sqlite3"} <= loaded
    assert not loaded & (HEAVY | {"yaml"})


@pytest.mark.parametrize("line", ["graph list", "env list"])
def test_listing_imports_no_backups_and_no_document_checks(line: str, tmp_path: Path) -> None:
    all_modules_after(line.split(), tmp_path)  # creates the engine file
    loaded = all_modules_after(line.split(), tmp_path)
    late = {"store.backups", "serializers.finding", "environment.setting_values"}
    assert not loaded & {f"fuelclient.{name}" for name in late}


MOST_MODULES = {
    "--help": 5, "graph upload --help": 25, "plugins list": 85, "graph list": 95, "env list": 95, "task list": 110,
    "graph why deploy_start fetch-scripts --env 1": 135, "graph query fetch-scripts --env 1": 135,
    "graph preview --env 1": 185, "graph validate --env 1": 185,
}  # fmt: skip
"""How many modules of our own a command line may import: what they are today, and a few more."""


def test_command_lines_import_few_modules(tmp_path: Path) -> None:
    all_modules_after(["demo"], tmp_path)
    loaded = {line: all_modules_after(line.split(), tmp_path) for line in MOST_MODULES}
    counts = {line: sum(name.partition(".")[0] == "fuelclient" for name in names) for line, names in loaded.items()}
    assert {line: count for line, count in counts.items() if count > MOST_MODULES[line]} == {}
    assert not {name for names in loaded.values() for name in names if name.startswith("fuelclient.executors")}


def test_tabulate_is_imported_for_its_formats(tmp_path: Path) -> None:
    assert "tabulate" in modules_after(["graph", "list", "-f", "rst"], tmp_path)


def test_graphs_are_listed_without_the_other_nouns(tmp_path: Path) -> None:
    loaded = all_modules_after(["graph", "list"], tmp_path)
    assert "fuelclient.engine.inventory.graphs" in loaded
    assert not loaded & {"fuelclient.model.run", "fuelclient.plan.schedule"}
    assert {name for name in loaded if name.startswith("fuelclient.expressions.")} <= {"fuelclient.expressions.limits"}
    assert not loaded & {f"fuelclient.engine.{other}" for other in OTHER_ENGINE}


QUESTIONS = """
import sys
from fuelclient.main import main
assert main(["demo"]) == 0
before = set(sys.modules)
for question in ("why deploy_start fetch-scripts", "order", "stats", "query fetch-scripts", "blame fetch-scripts",
                 "impact fetch-scripts"):
    assert main(["graph", *question.split(), "--env", "1"]) == 0
assert main(["graph", "diff", "env:1", "env:1"]) == 0
sys.stderr.write("MODULES " + " ".join(set(sys.modules) - before))
"""


def test_questions_about_a_graph_import_no_facts(tmp_path: Path) -> None:
    loaded = set(ours(QUESTIONS, [], tmp_path).rpartition("MODULES ")[2].split())
    assert {"fuelclient.backends.studies", "fuelclient.insight.comparison"} <= loaded
    unneeded = {"facts.compute", "expressions.evaluation", "backends.plans", "executors.registry", "plan.plan"}
    assert not loaded & {f"fuelclient.{name}" for name in unneeded}


def test_graphs_of_a_master_do_without_the_other_nouns_too(tmp_path: Path) -> None:
    code = (
        "import sys; from fuelclient.backends.nailgun import NailgunBackend as Backend; "
        "from fuelclient.backends.http.session import Session; "
        "from fuelclient.settings.master import Master; Backend(Session(Master('http://127.0.0.1:9'))).graphs; "
        "sys.stderr.write(' '.join(sys.modules))"
    )
    loaded = set(ours(code, [], tmp_path).split())
    assert "fuelclient.backends.nailgun.graphs" in loaded
    assert not loaded & {"fuelclient.model.run", "keystoneauth1", "fuelclient.engine"}
    assert not loaded & {f"fuelclient.backends.nailgun.{noun}" for noun in (*OTHER_NOUNS, "inventory")}


CYCLES = """
import gc, sys
from fuelclient.main import main

class Knot:
    alive = 0
    def __init__(self):
        self.me = self
        Knot.alive += 1
    def __del__(self):
        Knot.alive -= 1

def most_alive(made):
    most = 0
    for _ in range(made):
        Knot()
        most = max(most, Knot.alive)
    return most

"""


def test_our_process_collects_garbage_rarely(tmp_path: Path) -> None:
    most = int(ours(CYCLES + "main(); sys.stderr.write(str(most_alive(300_000)))", ["--version"], tmp_path))
    assert 10_000 < most < 200_000


def test_main_leaves_the_garbage_collector_of_its_caller_alone(tmp_path: Path) -> None:
    code = CYCLES + "main(sys.argv[1:]); sys.stderr.write(str(most_alive(30_000)))"
    assert int(ours(code, ["--version"], tmp_path)) < 10_000
