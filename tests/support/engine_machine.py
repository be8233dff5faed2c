"""The embedded engine beside its model (`engine_model`): what its state machine starts from, and what always holds."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine_model import PLUGIN_ROLE, Errors, Model, Tasks
from hypothesis import note
from hypothesis.stateful import RuleBasedStateMachine, invariant
from in_process_runs import InProcessRuns
from package_trees import role, task, write_package

from fuelclient.engine import Engine
from fuelclient.engine.runs import processes
from fuelclient.engine.runs.runner import claim
from fuelclient.engine.runs.runs import Runs
from fuelclient.errors import FuelError
from fuelclient.model.graph import GraphDocument, Level
from fuelclient.model.task import Task
from fuelclient.store import runners
from fuelclient.store.database import Database
from fuelclient.store.health import examine

MISSING = 99
"""An id that nothing has."""

ALFA = {"alfa-watch": (1, (PLUGIN_ROLE,)), "alfa-all": (1, ("controller", "compute"))}
PACKAGES: dict[str, tuple[str, str, Tasks]] = {
    "alfa-1.0.0": ("alfa", "1.0.0", ALFA),
    "alfa-1.0.1": ("alfa", "1.0.1", {**ALFA, "alfa-new": (2, ("compute",))}),
    "alfa-2.0.0": ("alfa", "2.0.0", {"alfa-all": (2, ("controller",))}),
    "beta-1.0.0": ("beta", "1.0.0", {"beta": (1, ("compute",))}),
}


def pick(known: Iterable[int], number: int) -> int:
    """Return one of the ids that exist, or now and then one that does not."""
    ids = sorted(known)
    return ids[number % len(ids)] if ids and number < 12 else MISSING


def document(tasks: Tasks) -> GraphDocument:
    return GraphDocument(tuple(Task(task_id, _attributes(*one)) for task_id, one in tasks.items()))


def _attributes(number: int, roles: tuple[str, ...]) -> dict[str, Any]:
    if not roles:
        return {"parameters": {"number": number}}
    parameters = {"cmd": "true", "timeout": 60, "retries": 0, "number": number}
    return {"type": "shell", "version": "2.0.0", "roles": list(roles), "parameters": parameters}


class Machine(RuleBasedStateMachine):
    """An engine and its model. `model` changes only where the engine must have changed."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(prefix="fuel2-model-"))
        self.path = str(self.directory / "engine.db")
        self.engine = Engine(self.path)
        self.model = Model()
        for label, (name, version, tasks) in PACKAGES.items():
            found = [task(task_id, role=[*roles], parameters=_attributes(n, roles)["parameters"])
                     for task_id, (n, roles) in tasks.items()]  # fmt: skip
            files = {"deployment_tasks.yaml": found, "node_roles.yaml": {PLUGIN_ROLE: role()} if name == "alfa" else {}}
            write_package(self.directory / label, name, version, files=files, is_hotpluggable=True)

    def teardown(self) -> None:
        self.engine.close()
        found = examine(self.path) if Path(self.path).exists() else None
        shutil.rmtree(self.directory)
        assert found is None or (found.damage, found.dangling) == ((), ())

    def does(self, errors: Errors, operation: Callable[[], Any]) -> Any:
        """Do it: an error must be one of those, and without any it must succeed. Return None after an error."""
        try:
            result = operation()
        except FuelError as error:
            if type(error) not in errors:
                raise
            note(f"refused: {error}")
            return None
        assert not errors, f"it succeeds instead of {errors}"
        return result

    def runs(self, *, killed: bool) -> Runs:
        """Return runs that this process executes, or whose runners die as soon as they have begun."""

        if not killed:
            return InProcessRuns(self.engine._database)

        def start(path: str, run_id: int, *_: object) -> None:
            with closing(Database(path)) as database:
                run = self.engine.runs.get(run_id)
                with database.write() as connection:
                    claim(connection, run)
                    runners.put(connection, replace(processes.this_process(run), start_time="1"))

        return Runs(self.engine._database, start=start)

    @invariant()
    def inventories_are_the_same(self) -> None:
        model, engine = self.model, self.engine
        assert {release.id: release.name for release in engine.releases.list()} == {
            number: release.name for number, release in model.releases.items()
        }
        assert {cluster.id: (cluster.name, cluster.release_id, cluster.status == "operational")
                for cluster in engine.clusters.list()} == {
            number: (cluster.name, cluster.release, cluster.is_operational)
            for number, cluster in model.clusters.items()
        }  # fmt: skip
        assert {node.id: (node.name, node.cluster_id, {*node.roles}, {*node.pending_roles}, node.status == "ready")
                for node in engine.nodes.list()} == {
            number: (node.name, node.cluster, node.roles, node.pending, node.is_ready)
            for number, node in model.nodes.items()
        }  # fmt: skip

    @invariant()
    def plugins_and_roles_are_the_same(self) -> None:
        model, engine = self.model, self.engine
        users = {n: {c for c, cluster in model.clusters.items() if n in cluster.plugins} for n in model.plugins}
        assert {plugin.id: (plugin.name, plugin.version, {*plugin.clusters}) for plugin in engine.plugins.list()} == {
            number: (plugin.name, plugin.version, users[number]) for number, plugin in model.plugins.items()
        }
        for number in model.clusters:
            assert set(engine.roles.of_cluster(number)) == model.known_roles(number)

    @invariant()
    def graphs_and_runs_are_the_same(self) -> None:
        model, engine = self.model, self.engine
        found = {(graph.owner.level, graph.owner.id, graph.type, graph.task_ids) for graph in engine.graphs.list()}
        owners: dict[Level, dict[int, Any]] = {
            Level.RELEASE: dict(model.releases), Level.PLUGIN: dict(model.plugins), Level.CLUSTER: dict(model.clusters)
        }  # fmt: skip
        assert found == {
            (level, number, graph_type, tuple(tasks))
            for level, every in owners.items()
            for number, owner in every.items()
            for graph_type, tasks in owner.graphs.items()
        }
        for number in model.clusters:
            if model.has_type(number, "default"):
                merged = {one.id: one.attributes["parameters"]["number"] for one in engine.graphs.merged(number)}
                assert merged == {task_id: n for task_id, (n, _) in model.merged(number, "default").items()}
        assert {run.id: (run.cluster_id, str(run.status)) for run in engine.runs.list(names=["deploy"])} == {
            number: (run.cluster, run.status) for number, run in model.runs.items()
        }
