"""The engine against a plain model: any sequence of operations has the results, errors and contents of the model.

The operations are those of the facets, on a real engine file, which is also closed and opened again. Runs execute in
this process on nodes where nothing really runs; a killed one has a runner whose process is gone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from engine_machine import MISSING, PACKAGES, Machine, document, pick
from engine_model import PLUGIN_ROLE, Errors, ModelCluster, ModelNode, ModelPlugin, ModelRelease, ModelRun, Tasks
from hypothesis import note, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule, run_state_machine_as_test

from fuelclient.engine import Engine
from fuelclient.errors import Conflict, InvalidGraph, NotFound, StalePlan
from fuelclient.model.graph import Level, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.release import Release, Role
from fuelclient.model.run import RunRequest

ROLES = ("controller", "compute", "extra")
picks = st.integers(0, 12)
flags = st.booleans()
names = st.sampled_from(["one", "two", "three"])
types = st.sampled_from(["default", "default", "default", "fix"])
levels = st.sampled_from(["release", "plugin", "cluster", "cluster"])
role_sets = st.sets(st.sampled_from((*ROLES, PLUGIN_ROLE)), min_size=1, max_size=2)
documents = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.tuples(st.integers(0, 3), st.sampled_from([("controller",), ("compute", "extra"), ()])),
    max_size=3,
)


class EngineMachine(Machine):
    """Rules are named after what users do."""

    @initialize()
    def begin(self) -> None:
        self.create_release("one")
        self.upload("release", 0, "default", {"a": (1, ("controller",)), "b": (1, ("compute", "extra"))})
        self.create_environment("one", 0)
        self.create_node("one", 0, {"controller"})
        self.create_node("two", 0, {"compute"})
        self.install("alfa-1.0.0", force=False)

    @rule(name=names)
    def create_release(self, name: str) -> None:
        taken = name in {release.name for release in self.model.releases.values()}
        metadata: dict[str, Any] = {"roles_metadata": {"controller": {}, "compute": {}}}
        wanted = Release(0, name, "mitaka-9.0", "Ubuntu", metadata=metadata)
        if made := self.does({Conflict} if taken else set(), lambda: self.engine.releases.create([wanted])):
            assert made[0].id not in self.model.releases
            self.model.releases[made[0].id] = ModelRelease(name, {"controller", "compute"}, {"default": {}})

    @rule(number=picks)
    def delete_release(self, number: int) -> None:
        chosen = pick(self.model.releases, number)
        errors: Errors = {NotFound} if chosen == MISSING else {Conflict} if self.model.using(chosen) else set()
        self.does(errors, lambda: self.engine.releases.delete(chosen))
        if not errors:
            del self.model.releases[chosen]

    @rule(name=names, number=picks)
    def create_environment(self, name: str, number: int) -> None:
        release = pick(self.model.releases, number)
        taken = name in {cluster.name for cluster in self.model.clusters.values()}
        errors = {error for error, holds in ((NotFound, release == MISSING), (Conflict, taken)) if holds}
        if made := self.does(errors, lambda: self.engine.clusters.create(name, release)):
            assert made.id not in self.model.clusters
            below = self.model.releases[release].graphs
            graphs: dict[str, Tasks] = {"default": {}} if not below or "default" in below else {}
            self.model.clusters[made.id] = ModelCluster(name, release, graphs=graphs)

    @precondition(lambda self: self.model.clusters)
    @rule(number=picks, force=flags)
    def delete_environment(self, number: int, force: bool) -> None:
        chosen = pick(self.model.clusters, number)
        errors: Errors = {NotFound} if chosen == MISSING else set()
        if not errors:
            dangerous = self.model.clusters[chosen].is_operational and not force
            errors = {Conflict} if dangerous or self.model.unfinished(chosen) else set()
        self.does(errors, lambda: self.engine.clusters.delete(chosen, force=force))
        if not errors:
            self.model.free(chosen)
            del self.model.clusters[chosen]
            self.model.runs = {number: run for number, run in self.model.runs.items() if run.cluster != chosen}

    @rule(level=levels, number=picks, graph_type=types, tasks=documents)
    def upload(self, level: str, number: int, graph_type: str, tasks: Tasks) -> None:
        owners = self.model.owners(level)
        chosen = pick(owners, number)
        errors = self.model.errors_of_upload(level, chosen, graph_type, tasks)
        owner = OwnerRef(Level(level), chosen)
        stored = self.does(errors, lambda: self.engine.graphs.upload(owner, document(tasks), graph_type))
        if stored:
            assert stored.created == (graph_type not in owners[chosen].graphs)
            owners[chosen].graphs[graph_type] = tasks
            if level == "plugin":
                self.model.plugins[chosen].uploaded.add(graph_type)

    @precondition(lambda self: self.model.clusters)
    @rule(level=levels, number=picks, graph_type=types)
    def delete_graph(self, level: str, number: int, graph_type: str) -> None:
        owners = self.model.owners(level)
        chosen = pick(owners, number)
        errors: Errors = {NotFound} if chosen == MISSING or graph_type not in owners[chosen].graphs else set()
        plugin = self.model.plugins.get(chosen) if level == "plugin" else None
        if plugin is not None and not errors and graph_type not in plugin.uploaded:
            errors = {Conflict}
        self.does(errors, lambda: self.engine.graphs.delete(OwnerRef(Level(level), chosen), graph_type))
        if not errors:
            del owners[chosen].graphs[graph_type]
            if plugin is not None:
                plugin.uploaded.remove(graph_type)
                if graph_type == "default":
                    plugin.graphs["default"] = plugin.packaged

    @rule(name=names, number=st.none() | picks, roles=role_sets)
    def create_node(self, name: str, number: int | None, roles: set[str]) -> None:
        home = None if number is None else pick(self.model.clusters, number)
        pending = set() if home is None else roles
        if home is None:
            errors: Errors = {Conflict} if name in {node.name for node in self.model.members(None).values()} else set()
        else:
            errors = self.model.errors_of_placing(home, {0: ModelNode(name)}, roles)
        wanted = Node(0, name, home, pending_roles=tuple(sorted(pending)), executor="noop")
        if made := self.does(errors, lambda: self.engine.nodes.create([wanted])):
            assert made[0].id not in self.model.nodes
            self.model.nodes[made[0].id] = ModelNode(name, home, pending=pending)

    @precondition(lambda self: self.model.nodes)
    @rule(number=picks, chosen=st.sets(picks, min_size=1, max_size=2), roles=role_sets)
    def add_nodes(self, number: int, chosen: set[int], roles: set[str]) -> None:
        home = pick(self.model.clusters, number)
        ids = sorted({pick(self.model.nodes, node) for node in chosen})
        coming = {node: self.model.nodes[node] for node in ids if node != MISSING}
        errors = set(self.model.errors_of_placing(home, coming, roles))
        if MISSING in ids:
            errors.add(NotFound)
        self.does(errors, lambda: self.engine.clusters.add_nodes(home, ids, sorted(roles)))
        for node in coming.values() if not errors else ():
            node.cluster, node.pending = home, roles - node.roles

    @precondition(lambda self: self.model.nodes)
    @rule(number=picks, chosen=st.none() | picks)
    def remove_nodes(self, number: int, chosen: int | None) -> None:
        home = pick(self.model.clusters, number)
        members = self.model.members(home)
        ids = [*members] if chosen is None else [pick(self.model.nodes, chosen)]
        errors: Errors = {NotFound} if home == MISSING or set(ids) - set(members) else set()
        self.does(errors, lambda: self.engine.clusters.remove_nodes(home, None if chosen is None else ids))
        for node in ids if not errors else ():
            self.model.nodes[node] = ModelNode(self.model.nodes[node].name)

    @precondition(lambda self: self.model.nodes)
    @rule(number=picks, force=flags)
    def delete_node(self, number: int, force: bool) -> None:
        chosen = pick(self.model.nodes, number)
        errors: Errors = {NotFound} if chosen == MISSING else set()
        if not errors and self.model.nodes[chosen].cluster is not None and not force:
            errors = {Conflict}
        self.does(errors, lambda: self.engine.nodes.delete([chosen], force=force))
        if not errors:
            del self.model.nodes[chosen]

    @rule(of_release=flags, number=picks, name=st.sampled_from(ROLES))
    def create_role(self, of_release: bool, number: int, name: str) -> None:
        owners: dict[int, Any] = {**(self.model.releases if of_release else self.model.clusters)}
        chosen = pick(owners, number)
        errors: Errors = {NotFound} if chosen == MISSING else {Conflict} if name in owners[chosen].roles else set()
        owner = OwnerRef(Level.RELEASE if of_release else Level.CLUSTER, chosen)
        wanted = Role(name, (name,), {"name": name, "description": "x"})
        self.does(errors, lambda: self.engine.roles.create(owner, wanted))
        if not errors:
            owners[chosen].roles.add(name)

    @rule(of_release=flags, number=picks, name=st.sampled_from((*ROLES, PLUGIN_ROLE)))
    def delete_role(self, of_release: bool, number: int, name: str) -> None:
        owners: dict[int, Any] = {**(self.model.releases if of_release else self.model.clusters)}
        chosen = pick(owners, number)
        owner = OwnerRef(Level.RELEASE if of_release else Level.CLUSTER, chosen)
        errors: Errors = {NotFound} if chosen == MISSING else set()
        if not errors and name not in owners[chosen].roles:
            errors = {NotFound} if of_release or name not in self.model.known_roles(chosen) else {Conflict}
        elif not errors:
            owners[chosen].roles.remove(name)
            users = self.model.using(chosen) if of_release else [chosen]
            if any(self.model.lacks_roles(user) for user in users):
                errors = {Conflict}
                owners[chosen].roles.add(name)
        self.does(errors, lambda: self.engine.roles.delete(owner, name))

    @rule(package=st.sampled_from(sorted(PACKAGES)), force=flags)
    def install(self, package: str, force: bool) -> None:
        name, version, tasks = PACKAGES[package]
        series = version.rpartition(".")[0]
        found = [n for n, plugin in self.model.plugins.items() if (plugin.name, plugin.series) == (name, series)]
        errors: Errors = set()
        if found and not force and self.model.plugins[found[0]].version >= version:
            errors = {Conflict}
        done = self.does(errors, lambda: self.engine.plugins.install(str(self.directory / package), force=force))
        if not done:
            return
        plugin = done.plugin.id
        assert found in ([], [plugin])
        before = self.model.plugins.get(plugin) or ModelPlugin(name, version, tasks, {})
        graphs = before.graphs if "default" in before.uploaded else {**before.graphs, "default": tasks}
        self.model.plugins[plugin] = replace(before, version=version, packaged=tasks, graphs=graphs)

    @precondition(lambda self: self.model.plugins)
    @rule(number=picks)
    def remove_plugin(self, number: int) -> None:
        chosen = pick(self.model.plugins, number)
        used = any(chosen in cluster.plugins for cluster in self.model.clusters.values())
        errors: Errors = {NotFound} if chosen == MISSING else {Conflict} if used else set()
        self.does(errors, lambda: self.engine.plugins.remove(chosen))
        if not errors:
            del self.model.plugins[chosen]

    @precondition(lambda self: self.model.plugins)
    @rule(number=picks, env=picks)
    def enable(self, number: int, env: int) -> None:
        plugin, home = pick(self.model.plugins, number), pick(self.model.clusters, env)
        errors = self.model.errors_of_enabling(plugin, home)
        self.does(errors, lambda: self.engine.plugins.enable(plugin, home))
        if not errors:
            enabled = self.model.clusters[home].plugins
            enabled -= self.model.replaced(plugin, home)
            enabled.add(plugin)

    @precondition(lambda self: self.model.plugins)
    @rule(number=picks, env=picks)
    def disable(self, number: int, env: int) -> None:
        plugin, home = pick(self.model.plugins, number), pick(self.model.clusters, env)
        errors: Errors = {NotFound} if MISSING in (plugin, home) else set()
        if not errors and plugin in (enabled := self.model.clusters[home].plugins):
            deployed = self.model.is_deployed(home)
            enabled.remove(plugin)
            if deployed or self.model.lacks_roles(home):
                errors = {Conflict}
                enabled.add(plugin)
        self.does(errors, lambda: self.engine.plugins.disable(plugin, home))

    @precondition(lambda self: self.model.clusters)
    @rule(number=picks, graph_type=types, killed=flags)
    def execute_graph(self, number: int, graph_type: str, killed: bool) -> None:
        home = pick(self.model.clusters, number)
        errors: Errors = {NotFound} if home == MISSING else set()
        instances: frozenset[tuple[str, int]] = frozenset()
        if not errors and self.model.unfinished(home):
            errors = {Conflict}
        elif not errors:
            if not self.model.has_type(home, graph_type):
                errors = {NotFound}
            elif self.model.has_lone_record(home, graph_type):
                errors = {InvalidGraph}
            else:
                instances = self.model.instances(home, graph_type)
        request = RunRequest(home, (graph_type,), force=True)
        run = self.does(errors, lambda: self.runs(killed=killed).begin(request))
        if run:
            began_with = self.model.planned_from(home, graph_type) if killed else None
            status = "running" if killed else "ready"
            self.model.runs[run.id] = ModelRun(home, graph_type, status, instances, began_with)
            if not killed:
                self.succeeded(run.id)

    def succeeded(self, run_id: int) -> None:
        run = self.model.runs[run_id]
        assert str(self.engine.runs.get(run_id).status) == "ready"
        rows = [row for row in self.engine.runs.history(run_id) if isinstance(row.node, int)]
        assert {(row.task, row.node, str(row.status), row.attempts) for row in rows} == {
            (task_id, node, "ready", 1) for task_id, node in run.instances
        }
        self.model.deployed(run.cluster, run.instances)

    @precondition(lambda self: self.model.runs)
    @rule(number=picks)
    def resume(self, number: int) -> None:
        chosen = pick(self.model.runs, number)
        run = self.model.runs.get(chosen)
        if run is None or run.status != "running":
            self.does({NotFound if run is None else Conflict}, lambda: self.runs(killed=False).resume(chosen))
            return
        if self.model.planned_from(run.cluster, run.graph_type) != run.began_with:
            if not self.is_resumed(chosen):
                return
        else:
            self.does(set(), lambda: self.runs(killed=False).resume(chosen))
        run.status = "ready"
        self.succeeded(chosen)

    def is_resumed(self, run_id: int) -> bool:
        """Resume a run after its environment has changed, which may have no effect on its plan."""
        try:
            self.runs(killed=False).resume(run_id)
        except (StalePlan, InvalidGraph, NotFound) as error:
            note(f"not resumed: {error}")
            return False
        return True

    @precondition(lambda self: self.model.runs)
    @rule(number=picks, kill=flags)
    def stop(self, number: int, kill: bool) -> None:
        chosen = pick(self.model.runs, number)
        run = self.model.runs.get(chosen)
        errors: Errors = {NotFound} if run is None else {Conflict} if run.status != "running" else set()
        self.does(errors, lambda: self.engine.runs.stop(chosen, kill=kill))
        if run is not None and not errors:
            run.status = "error"

    @precondition(lambda self: self.model.runs)
    @rule(number=picks, force=flags)
    def delete_run(self, number: int, force: bool) -> None:
        chosen = pick(self.model.runs, number)
        run = self.model.runs.get(chosen)
        unfinished = run is not None and run.status == "running"
        errors: Errors = {NotFound} if run is None else {Conflict} if unfinished and not force else set()
        self.does(errors, lambda: self.engine.runs.delete(chosen, force=force))
        if not errors:
            del self.model.runs[chosen]

    @rule()
    def open_again(self) -> None:
        self.engine.close()
        self.engine = Engine(self.path)

    @rule(number=picks)
    def give_up_half_way(self, number: int) -> None:
        """What a block wrote that ends in an error is not stored."""
        chosen = pick(self.model.clusters, number)

        def change() -> None:
            with self.engine.together():
                self.engine.releases.create([Release(0, "four", "mitaka-9.0", "Ubuntu")])
                self.engine.nodes.create([Node(0, "four")])
                self.engine.clusters.rename(chosen, "four")
                self.engine.clusters.delete(MISSING)

        self.does({NotFound}, change)


@pytest.mark.parametrize(("share", "steps"), [(3, 20), pytest.param(1, 50, marks=pytest.mark.slow)])
def test_operations_agree_with_the_model(share: int, steps: int) -> None:
    """One in `share` of the examples of a property is tried, each with so many operations.

    The quick ones are the same each time, so that nobody's change fails for a mistake in the model.
    """
    few = settings().max_examples // share
    tried = settings(max_examples=few, stateful_step_count=steps, derandomize=share > 1)
    run_state_machine_as_test(EngineMachine, settings=tried)
