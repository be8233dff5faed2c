"""`fuel2 demo`: the examples in a store, merged, placed and ordered."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine

from fuelclient.commands.demo import load_examples, store, stored
from fuelclient.engine.runs import inputs
from fuelclient.engine.runs.jobs import jobs_for
from fuelclient.environment.plans import plan
from fuelclient.errors import Conflict
from fuelclient.main import main
from fuelclient.model.run import RunRequest
from fuelclient.store.database import Database


@pytest.fixture
def fuel2(tmp_path: Path) -> CommandLine:
    """A clean engine."""
    return CommandLine(tmp_path / "engine.db")


@pytest.fixture
def demo(fuel2: CommandLine) -> CommandLine:
    """An engine with the examples."""
    fuel2.ok("demo")
    return fuel2


def preview(fuel2: CommandLine, *options: object) -> list[dict[str, Any]]:
    """The rows of a preview that has nothing to complain about, except that no node is marked for deletion."""
    done = fuel2.ok("graph", "preview", "--env", 1, *options, "-f", "json")
    assert "error:" not in done.err
    assert re.findall(r"warning: .* \[(G\d+)]", done.err) == (["G066"] if "deletion" in options else [])
    rows: list[dict[str, Any]] = done.json
    return rows


def row(rows: list[dict[str, Any]], task: str) -> dict[str, Any]:
    [found] = [one for one in rows if one["task"] == task]
    return found


class TestLoading:
    def test_everything_is_there(self, demo: CommandLine) -> None:
        assert [one["name"] for one in demo.ok("release", "list", "-f", "json").json] == ["ocata-ubuntu"]
        assert [one["name"] for one in demo.ok("env", "list", "-f", "json").json] == ["demo"]
        assert len(demo.ok("node", "list", "--env", 1, "-f", "json").json) == 7
        roles = {one["name"] for one in demo.ok("role", "list", "--env", 1, "-f", "json").json}
        assert roles == {"controller", "compute", "storage", "gateway", "telemetry", "image-cache"}
        graphs = demo.ok("graph", "list", "--env", 1, "-f", "json").json
        assert len(graphs) == 8  # four of the release, one of each plugin, two of the environment

    def test_it_says_what_it_loaded_on_stderr(self, fuel2: CommandLine) -> None:
        said = fuel2.ok("demo").err
        for word in (str(fuel2.engine), "ocata-ubuntu", "image-cache", "rack-monitoring", "restart-apis", "7 nodes"):
            assert word in said

    def test_what_it_suggests_works(self, fuel2: CommandLine, capfd: pytest.CaptureFixture[str]) -> None:
        lines = fuel2.ok("demo").out.splitlines()
        assert len(lines) >= 5
        for line in lines:
            program, *words = shlex.split(line, comments=True)
            assert program == "fuel2"
            assert words[:2] == ["--engine", str(fuel2.engine)]
            assert main(words) == 0, line
        assert capfd.readouterr().out

    def test_without_engine_the_suggestions_name_none(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("FUEL_ENGINE", str(tmp_path / "own.db"))
        assert main(["demo"]) == 0
        assert capfd.readouterr().out.startswith("fuel2 graph preview --env demo ")

    def test_a_path_with_a_blank_is_quoted(self, tmp_path: Path) -> None:
        line = CommandLine(tmp_path / "my engine.db").ok("demo").out.splitlines()[0]
        assert shlex.split(line)[2] == str(tmp_path / "my engine.db")

    def test_they_also_work_beside_other_environments(self, fuel2: CommandLine, tmp_path: Path) -> None:
        (tmp_path / "r.yaml").write_text("- {name: other, version: o-1, operating_system: x, roles_metadata: {a: {}}}")
        fuel2.ok("release", "import", tmp_path / "r.yaml")
        fuel2.ok("env", "create", "first", "--release", 1)
        line = shlex.split(fuel2.ok("demo").out.splitlines()[0], comments=True)
        assert fuel2.ok(*line[3:]).out == fuel2.ok("graph", "preview", "--env", 2).out


class TestTwice:
    def test_the_second_time_stores_nothing_and_suggests_the_same(self, demo: CommandLine) -> None:
        listings = [("release", "list"), ("env", "list"), ("node", "list"), ("graph", "list")]
        before = [demo.ok(*listing, "-f", "json").out for listing in listings]
        done = demo.ok("demo")
        assert "environment 1" in done.err
        assert "graph preview --env demo" in done.out
        assert [demo.ok(*listing, "-f", "json").out for listing in listings] == before

    def test_what_was_deleted_comes_back_and_what_is_there_is_used(self, demo: CommandLine) -> None:
        def everything(env: int) -> list[Any]:
            listings = ("release", "list"), ("plugins", "list"), ("node", "list"), ("graph", "list", "--env", env)
            columns = {"id", "name", "version", "roles", "pending_roles"}
            *rows, graphs = [demo.ok(*listing, "-f", "json").json for listing in listings]
            kept = [[{key: row[key] for key in columns & row.keys()} for row in part] for part in rows]
            return [*kept, sorted(row["tasks"] for row in graphs)]

        before = everything(1)
        demo.ok("node", "create", "stranger", "--ip", "10.0.0.9")
        demo.ok("env", "delete", "demo", "--force")
        assert "graph preview --env demo" in demo.ok("demo").out
        demo.ok("node", "delete", "stranger")
        env = demo.ok("env", "show", "demo", "-f", "value", "-c", "id").out.strip()
        assert everything(int(env)) == before

        demo.ok("env", "delete", "demo", "--force")
        demo.ok("plugins", "remove", "image-cache")
        demo.ok("node", "delete", "edge-1")
        demo.ok("demo")
        names = [row["name"] for row in demo.ok("plugins", "list", "-f", "json").json]
        assert sorted(names) == sorted(row["name"] for row in before[1])
        demo.ok("graph", "delete", "--env", "demo", "--type", "restart-apis")
        demo.ok("node", "delete", "data-1", "--force")
        demo.ok("demo")
        assert [len(demo.ok(noun, "list", "-f", "json").json) for noun in ("node", "env")] == [7, 1]
        demo.ok("graph", "download", "--env", "demo", "--type", "restart-apis", "--all", "--file", "-")

    @pytest.mark.parametrize("change", ["removed node", "disabled plugin"])
    def test_what_was_changed_stays(self, demo: CommandLine, change: str) -> None:
        if change == "removed node":
            demo.ok("env", "remove", "nodes", "--env", "demo", "--nodes", "edge-1")
        else:
            demo.ok("plugins", "disable", "rack-monitoring", "--env", "demo")
        before = [demo.ok(noun, "list", "-f", "json").out for noun in ("node", "plugins", "env")]
        assert "already has the examples" in demo.ok("demo").err
        assert [demo.ok(noun, "list", "-f", "json").out for noun in ("node", "plugins", "env")] == before

    def test_existing_environment_name_is_a_conflict_before_storing(self, fuel2: CommandLine, tmp_path: Path) -> None:
        (tmp_path / "r.yaml").write_text("- {name: other, version: o-1, operating_system: x, roles_metadata: {a: {}}}")
        fuel2.ok("release", "import", tmp_path / "r.yaml")
        fuel2.ok("env", "create", "demo", "--release", 1)
        assert fuel2("demo").code == 6
        assert len(fuel2.ok("release", "list", "-f", "json").json) == 1

    def test_what_fails_half_way_is_taken_back(self, tmp_path: Path) -> None:
        from fuelclient import backends, settings

        backend = backends.connect(settings.load({"ENGINE": str(tmp_path / "engine.db")}))
        loaded = load_examples()
        found = stored(backend, loaded)
        last = loaded.plugins[-1].name
        backend.plugins.install(str(loaded.directories[last]))  # what an unlucky second client did in between
        with pytest.raises(Conflict):
            store(backend, loaded, found)
        assert list(backend.releases.list()) == []
        assert [plugin.name for plugin in backend.plugins.list()] == [last]
        assert list(backend.clusters.list()) == []
        backend.close()


class TestExecuting:
    def test_it_runs_to_its_end_and_leaves_files(self, demo: CommandLine) -> None:
        done = demo.ok("graph", "execute", "--env", 1, "--wait")
        assert "ended: ready" in done.err + done.out
        nodes = Path(f"{demo.engine}.nodes")
        logs = {path.parts[-4]: path.read_text() for path in nodes.glob("*/var/log/deployment.log")}
        assert "would create a new Galera cluster" in logs["1.control-1"]
        assert "would draw which node sits where" in logs["master"]
        assert len(logs) == 8
        assert (nodes / "7.edge-1/var/tmp/ocata-ubuntu/1/node/cluster.yaml").read_text()

    @pytest.mark.slow
    def test_task_fails_on_request_and_then_succeeds(self, demo: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("FAIL", "register-hypervisors")
        failed = demo("graph", "execute", "--env", 1, "--wait")
        assert failed.code == 8
        assert "FAIL=register-hypervisors" in failed.err + failed.out
        monkeypatch.delenv("FAIL")
        demo.ok("graph", "execute", "--env", 1, "--wait")
        rows = demo.ok("task", "history", "show", 4, "-f", "json").json
        assert {row["status"] for row in rows} == {"ready", "skipped"}


class TestUninstalling:
    def test_the_release_is_a_plugin(self, demo: CommandLine) -> None:
        plugins = {one["name"] for one in demo.ok("plugins", "list", "-f", "json").json}
        assert plugins == {"ocata-ubuntu", "image-cache", "rack-monitoring"}
        done = demo("release", "delete", 1)
        assert done.code == 6
        assert "belongs to plugin ocata-ubuntu 11.0.0" in done.err

    def test_it_cannot_go_while_the_environment_uses_it(self, demo: CommandLine) -> None:
        done = demo("plugins", "remove", "ocata-ubuntu", "11.0.0")
        assert done.code == 6
        assert "is used by environment 1 (demo)" in done.err
        assert len(demo.ok("release", "list", "-f", "json").json) == 1

    def test_all_of_it_can_go_and_leaves_no_release(self, demo: CommandLine) -> None:
        demo.ok("env", "delete", 1, "--force")
        demo.ok("plugins", "remove", "ocata-ubuntu", "11.0.0")
        assert demo.ok("release", "list", "-f", "json").json == []
        done = demo("env", "create", "again", "--release", 1)
        assert done.code == 5
        assert "There is no release yet" in done.err
        for name, version in (("image-cache", "1.2.0"), ("rack-monitoring", "0.4.1")):
            demo.ok("plugins", "remove", name, version)
        assert demo.ok("graph", "list", "-f", "json").json == []
        assert not Path(f"{demo.engine}.plugins").exists()


class TestMerged:
    def test_every_task_runs_somewhere(self, demo: CommandLine) -> None:
        rows = preview(demo)
        assert [one["task"] for one in rows if not one["nodes"] and one["type"] != "group"] == []
        assert [finding for one in rows for finding in one["findings"]] == []

    @pytest.mark.parametrize("kind", ["provisioning", "deletion", "network_verification", "restart-apis"])
    def test_the_other_graphs_are_in_order_too(self, demo: CommandLine, kind: str) -> None:
        rows = preview(demo, "--type", kind)
        assert [one["task"] for one in rows if not one["nodes"] and one["type"] != "group"] == []

    def test_other_fleets_are_fine_too(self, demo: CommandLine) -> None:
        rows = preview(demo, "--assume", "controller=3,compute=50,storage+telemetry=3,gateway=2,image-cache=2")
        assert max(len(one["nodes"]) for one in rows) == 60

    def test_stage_tasks_of_both_plugins_run_by_priority(self, demo: CommandLine) -> None:
        rows = preview(demo)
        staged = [(one["stage"], one["priority"]) for one in rows if "#" in one["task"]]
        assert [number for stage, number in staged if stage == "pre_deployment"] == [-99.9, 0, 2100]
        assert [number for stage, number in staged if stage == "post_deployment"] == [0, 4200, 6000, 8100.5]

    def test_what_plugins_add_stands_in_the_order_of_their_names(self, demo: CommandLine) -> None:
        merged = demo.ok("graph", "download", "--env", 1, "--all", "--file", "-").out
        assert merged.index("id: image-cache-disks") < merged.index("id: rack-monitoring-probe")

    def test_the_plugin_replaces_a_task_of_the_release(self, demo: CommandLine) -> None:
        one = row(preview(demo), "image-service")
        assert one["layer"].startswith("plugin image-cache")
        assert one["overrides"] == ["release"]

    def test_the_environment_overrides_in_whole_and_in_part(self, demo: CommandLine) -> None:
        rows = preview(demo)
        assert (row(rows, "host-network")["type"], row(rows, "host-network")["layer"]) == ("shell", "cluster")
        database = row(rows, "primary-database")
        assert (database["type"], database["layer"], database["overrides"]) == ("shell", "cluster", ["release"])
        assert row(rows, "site-certificates")["overrides"] == []
        merged = demo.ok("graph", "download", "--env", 1, "--all", "--file", "-").out
        assert "cmd: sh database.sh bootstrap" in merged
        assert "timeout: 5400" in merged

    def test_the_caches_are_up_before_the_image_service(self, demo: CommandLine) -> None:
        rows = preview(demo)
        server, service = row(rows, "image-cache-server"), row(rows, "image-service")
        assert server["last_generation"] < service["first_generation"]

    def test_groups_place_the_task_that_names_no_role(self, demo: CommandLine) -> None:
        assert len(row(preview(demo), "kernel-settings")["nodes"]) == 6  # all but the node for storage and telemetry


class TestRunning:
    """What a run of the examples would do, instance by instance."""

    @pytest.mark.parametrize("graph_type", ["default", "restart-apis", "network_verification"])
    def test_every_script_comes_to_where_its_task_looks_for_it(self, demo: CommandLine, graph_type: str) -> None:
        request = RunRequest(1, (graph_type,), executor="local", force=True)
        with closing(Database(str(demo.engine))) as database, database.read() as connection:
            fetched = inputs.read(connection, request)
            made = plan(fetched, request, graph_type)
            jobs = jobs_for(connection, database.path, 0, request, fetched, fetched.environment.nodes)
            found = [jobs.job(*made.at(vertex), rendered) for vertex, rendered in made.rendered.items()]
        assert found
        for job in found:
            if job.type == "shell":
                words = shlex.split(str(job.parameters["cmd"]))
                script = words[1] if words[0] == "sh" else ""
            else:
                script = str(job.parameters.get("puppet_manifest", ""))
            places = {destination: Path(source) for source, destination in job.target.scripts}
            assert not script or (places[job.parameters["cwd"]] / script).is_file(), job

    def test_what_is_handed_out_is_written_first(self, demo: CommandLine) -> None:
        request = RunRequest(1, ("default",), executor="local")
        with closing(Database(str(demo.engine))) as database, database.read() as connection:
            made = plan(inputs.read(connection, request), request, "default")
        running = {made.at(vertex)[0].id for vertex in made.rendered}
        assert {"write-cluster-facts", "hand-out-cluster-facts"} <= running


@pytest.mark.slow
def test_make_demo_shows_and_runs_the_main_commands(tmp_path: Path) -> None:
    script = Path(__file__).parents[3] / "docs/demo.sh"
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "FUEL_ENGINE": str(tmp_path / "engine.db")}

    done = subprocess.run(
        ["sh", str(script), str(tmp_path)], env=environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert "critical path" in done.stdout
    assert [row["status"] for row in CommandLine(tmp_path / "engine.db").ok("task", "list", "-f", "json").json] == [
        "ready", "ready"
    ]  # fmt: skip
