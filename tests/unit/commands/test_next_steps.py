"""Errors and hints lead to what was meant, and never to something worse."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import CommandLine, fuel2
from executions import executions, shell
from pty_session import session


def test_a_saved_plan_goes_through_a_pipe(tiny: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = tiny.ok("plan", "create", "-", "--env", 1)
    assert made.json["request"]
    assert "plan apply" not in made.err
    assert not (tmp_path / "-").exists()
    assert "A plan for environment 1 (prod)" in tiny.ok("plan", "show", "-", stdin=made.out).out


@pytest.mark.parametrize(
    "words",
    [
        ("engine", "backup", "-"),
        ("engine", "restore", "-"),
        ("env", "list", "--log-file", "-"),
        ("--engine", "-", "env"),
    ],
)
def test_what_cannot_be_a_stream_is_refused(
    tiny: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert tiny(*words).code == 2
    assert "'-' is not a path; this has to be a file with a name" in capsys.readouterr().err
    assert not (tmp_path / "-").exists()


def test_a_directory_that_takes_no_files_is_not_called_missing(tiny: CommandLine) -> None:
    done = tiny("plan", "create", "/proc/plan.json", "--env", 1)
    assert (done.code, "Create it first" in done.err) == (2, False)
    assert "No file can be made at /proc/plan.json. Name another directory." in done.err


def test_nodes_are_forgotten_as_a_list(tiny: CommandLine) -> None:
    assert "Nodes [1, 2] were deleted" in tiny.ok("node", "undiscover", "--node", "1,2", "--force").out


def test_idle_runs_and_lost_nodes_have_hints_that_help(fuel2: CommandLine) -> None:
    fuel2.ok("release", "create", "r", "--version", "r-1.0", "--operating-system", "Ubuntu", "--roles", "db")
    task = "- {id: x, type: shell, version: 2.0.0, roles: [db], parameters: {cmd: 'true', timeout: 9}}"
    fuel2.ok("graph", "upload", "--release", 1, "--type", "default", "--file", "-", stdin=task)
    fuel2.ok("env", "create", "lab", "--release", 1)
    idle = fuel2.ok("graph", "execute", "--env", 1, "--dry-run").err
    assert "`fuel2 --engine" in idle
    assert "env add nodes` adds nodes that have its roles" in idle
    fuel2.ok("node", "create", "a", "--env", 1, "--roles", "db")
    lost = fuel2("graph", "execute", "--env", 1)
    assert lost.code == 7
    assert "--executor would be that of all nodes" in lost.err
    assert "--executor local" not in lost.err


def test_replaced_pending_roles_are_named(tiny: CommandLine) -> None:
    done = tiny.ok("env", "add", "nodes", "-e", 1, "-n", 1, "-r", "compute")
    assert "Pending roles of node 1 were replaced: controller." in done.err
    refused = tiny("env", "add", "nodes", "-e", 1, "-n", 1, "-r", "controller", "nope")
    assert (refused.code, "Pending roles" in refused.err) == (5, False)
    assert "Pending roles" not in tiny.ok("env", "add", "nodes", "-e", 1, "-n", 1, "-r", "compute").err


def test_new_nodes_that_may_not_have_a_role_are_named(tiny: CommandLine) -> None:
    nodes = "[{name: web-1, roles: [controller, compute]}, {name: web-2, roles: [compute]}]"
    done = tiny("node", "import", "-", "--env", 1, stdin=nodes)
    assert done.code == 6
    assert "This is about node web-1; nothing was changed." in done.err


def test_each_role_that_a_nodes_file_cannot_have_is_found_with_its_line(tiny: CommandLine) -> None:
    nodes = "- name: a\n  roles:\n  - controller\n  - contro\n- {name: b, roles: [zzz]}\n"
    done = tiny("node", "import", "-", "--env", 1, stdin=nodes)
    assert done.code == 5
    assert "<stdin>:4: error: Role contro does not exist. [N004] Did you mean controller?\n" in done.err
    assert "<stdin>:5: error: Role zzz does not exist. [N004] Known: " in done.err
    assert done.err.count("contro ") == 1
    both = tiny("env", "add", "nodes", "-e", 1, "-n", 1, "-r", "contro", "zzz").err
    assert "Role contro does" in both
    assert "Role zzz does" in both


def test_a_second_import_names_all_releases_at_once(tiny: CommandLine) -> None:
    records = "".join(f"- {{name: {name}, version: v-1, operating_system: Ubuntu}}\n" for name in ("two", "three"))
    tiny.ok("release", "import", "-", stdin=records)
    again = tiny("release", "import", "-", stdin=records)
    assert again.code == 6
    assert "two v-1 already exists, as release 2. Release three v-1 already exists, as release 3. Use them" in again.err


def test_a_node_elsewhere_is_not_called_missing(tiny: CommandLine) -> None:
    tiny.ok("env", "create", "second", "--release", 1)
    done = tiny("env", "remove", "nodes", "-e", 2, "-n", 1)
    assert (done.code, "Node 1 is not in environment 2." in done.err) == (5, True)


def test_an_engine_file_that_cannot_be_is_explained_once(tmp_path: Path) -> None:
    absent = CommandLine(Path("/proc/engine.db"))
    assert absent("demo", "-q").err.count("/proc/engine.db") == 1
    cause, hint = CommandLine(tmp_path / "no.db").ok("node", "list").err.splitlines()
    assert "does not exist yet" in cause
    assert hint.startswith("There is no node yet.")


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("--url X env list", "Did you mean --server?"),
        ("--evn list", "Did you mean --env? Put it after the command it belongs to."),
        ("--xyz list", "fuel2. Put it after the command it belongs to."),
        ("env move node 1 2", "'env move node' is only in extensions of a Fuel master's client"),
        ("report --all", "'report' is only in extensions"),
        ("env move nodes", "Continue 'env' with"),
        ("env show 100", "Environment 100 does not exist. Known: 1."),
        ("env rmove nodes", "Did you mean 'env remove nodes'?"),
    ],
)
def test_guesses(tiny: CommandLine, line: str, answer: str) -> None:
    done = tiny(*line.split())
    assert done.code in (2, 5)
    assert answer in done.err


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("env reset 1 -f json", "unrecognized arguments: json. -f takes no value here. Did you mean --format json?"),
        ("task logs 1 -f json", "unrecognized arguments: json. -f takes no value here. Did you mean --format jsonl?"),
        ("env clone 1 --to-engine -", "'-' is not a path"),
        ("env diff 1 --with-engine -", "'-' is not a path"),
        ("env deploy 1 --wait=no", "--wait takes no value, but has 'no'. Did you mean --no-wait? See"),
        ("env list --quiet=5", "--quiet takes no value, but has '5'. See"),
    ],
)
def test_refused_values(tiny: CommandLine, line: str, answer: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert tiny(*line.split()).code == 2
    assert answer in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("env facts show 1 network_metadata --node 1", "required: -e/--env/--environment. Did you mean --env 1? See"),
        ("role list 2", "is required. Did you mean --env 2 or --release 2? See"),
        (
            "env facts show --env 1 --node x uid",
            "required: PATH. --node takes all words up to the next option: put PATH",
        ),
        ("env facts show --env 1 --node x", "required: PATH. See"),
        ("role list prod", "is required. Did you mean --env prod? See"),
        ("engine export x.tar", "unrecognized arguments: x.tar. Did you mean --file x.tar? See"),
        ("env settings download 1 x y", "unrecognized arguments: x y. Did you mean --file x? See"),
        ("env settings download 1 --file=x y", "unrecognized arguments: y. See"),
        ("env settings download 1 2", "unrecognized arguments: 2. See"),
        ("env deployment-facts download --env 1 x", "unrecognized arguments: x. Did you mean --dir x? See"),
        ("task gantt 1 x", "unrecognized arguments: x. Did you mean --output x? See"),
    ],
)
def test_a_word_in_a_wrong_place(tiny: CommandLine, line: str, answer: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert tiny(*line.split()).code == 2
    assert answer in capsys.readouterr().err


def test_at_most_four_guesses(tiny: CommandLine) -> None:
    said = tiny("env", "d").err
    assert said.count("'env d") == 1 + 4
    assert "'fuel2 help env' lists all." in said
    assert "lists all" not in tiny("env", "c").err


def test_facts_lead_to_facts(tiny: CommandLine) -> None:
    assert "Did you mean cluster.status?" in tiny("env", "facts", "show", "cluster.staus", "-e", 1).err
    assert "env deployment-facts get-default --env 1` writes all" in tiny("env", "facts", "show", "xyz", "-e", 1).err
    assert "Facts of one node need --node." in tiny("env", "facts", "eval", "$.roles", "-e", 1).err
    assert "--node" not in tiny("env", "facts", "eval", "$.rolez", "-e", 1, "-n", 1).err


def test_a_refused_setting_is_told_once(fuel2: CommandLine, tmp_path: Path) -> None:
    attributes = "attributes_metadata: {editable: {common: {debug: {type: checkbox, value: false}}}}"
    release = f"- {{name: s, version: s-1.0, operating_system: Ubuntu, roles_metadata: {{}}, {attributes}}}"
    fuel2.ok("release", "import", "-", stdin=release)
    fuel2.ok("env", "create", "lab", "--release", 1)
    path = tmp_path / "settings.yaml"
    path.write_text("common: {debug: {value: 1}}\n", encoding="utf-8")
    done = fuel2("env", "settings", "upload", 1, "--file", path)
    assert done.err.count("must be true or false") == 1
    assert done.err.endswith("The settings of environment 1 are not stored.\n")


def test_an_operational_environment_is_refused_before_the_question(tmp_path: Path) -> None:
    env = executions(tmp_path)
    env.graph(shell("good"))
    line = CommandLine(env.engine)
    line.ok("graph", "execute", "--env", 1, "--wait")
    done = line("env", "delete", 1, stdin="y\n", terminal=True)
    assert (done.code, "[y/N]" in done.err) == (6, False)
    assert "[y/N]" in line("env", "delete", 1, "--force", stdin="n\n", terminal=True).err


def test_labels_that_no_node_has_are_told(tiny: CommandLine) -> None:
    assert "No node has one of these labels." in tiny.ok("node", "list", "-l", "rack").err


def test_words_of_a_command_in_another_order_are_recognized(tiny: CommandLine) -> None:
    assert "Did you mean 'env add nodes'?" in tiny("env", "nodes", "add", "-e", 1).err
    assert "Did you mean" not in tiny("--format", "json", "env", "list").err


def test_a_key_that_releases_have_makes_no_release_of_a_task(tiny: CommandLine) -> None:
    task = "[{id: a, type: shell, version: 2.0.0, roles: [compute], operating_system: x, parameters: {cmd: 'true'}}]"
    tiny.ok("graph", "upload", "--env", 1, "--type", "t", "--file", "-", stdin=task)
    assert "these are tasks" not in tiny("release", "import", "-", stdin="{name: a, type: b}").err


def test_metadata_of_a_plugin_is_no_release(tiny: CommandLine) -> None:
    metadata = "{name: own, version: 1.0.0, package_version: 5.0.0, title: Own}"
    refused = tiny("release", "import", "-", stdin=metadata)
    assert refused.code == 7
    assert "this is the metadata of a plugin, not a release" in refused.err
    assert "plugins install DIRECTORY" in refused.err


def test_a_query_without_a_task_says_so(tiny: CommandLine) -> None:
    refused = tiny("graph", "execute", "--env", 1, "--select", "type:puppet,!type:puppet", "--dry-run")
    assert refused.code == 5
    assert "The query type:puppet,!type:puppet selects no task." in refused.err


def test_a_wrong_settings_file_names_what_an_installed_copy_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("HTTP_TIMEOUT: soon\n", encoding="utf-8")
    monkeypatch.setenv("FUELCLIENT_CUSTOM_SETTINGS", str(path))
    done = fuel2("env", "list")
    assert "Mend it, or leave it out." in done.err  # `config show` would end in the same way
    assert "etc/fuel" not in done.err


def test_a_name_of_two_things_is_told_as_both(
    tiny: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "prod").mkdir()
    monkeypatch.chdir(tmp_path)
    assert tiny("graph", "validate", "prod").code == 2
    assert "Did you mean --dir prod or --env prod?" in capsys.readouterr().err


def test_commands_of_start_are_folded_as_they_can_be_pasted(tmp_path: Path) -> None:
    roles = ", ".join(f"role-{number}" for number in range(20))
    folder = tmp_path / ("long-name-of-a-directory")
    folder.mkdir()
    (folder / "tasks.yaml").write_text(
        f"- {{id: x, type: shell, version: 2.0.0, roles: [{roles}], parameters: {{cmd: 'true', timeout: 9}}}}\n",
        encoding="utf-8",
    )
    with session(tmp_path / "e.db", "start", folder, width=60) as started:
        code, _ = started.ended()
    assert code == 0
    lines = [line.rstrip() for line in started.received.splitlines()]
    assert not [line for line in lines if len(line) > 60 and str(tmp_path) not in line]
    unfolded = "\n".join(lines).replace(" \\\n   ", "")
    assert f"--dir {folder} --yes" in unfolded
    assert f"--roles {roles.replace(',', '')}" in unfolded


def test_a_column_that_is_asked_for_stays(tmp_path: Path) -> None:
    with session(tmp_path / "e.db", "config", "show", "--origin", width=60) as shown:
        shown.ended()
    assert "| origin" in shown.received


def test_a_node_of_another_environment_is_told_from_one_that_is_nowhere(tiny: CommandLine, tmp_path: Path) -> None:
    document = tmp_path / "nodes.yaml"
    document.write_text("[{name: other}]")
    tiny.ok("node", "import", document)

    assert "Node 99 does not exist. Known: 1-3." in tiny("env", "remove", "nodes", "-e", 1, "-n", 99).err
    assert "Node 3 is not in environment 1." in tiny("env", "remove", "nodes", "-e", 1, "-n", 3).err
    assert (
        "Node else does not exist. Known: node-1, node-2." in tiny("graph", "preview", "--env", 1, "--node", "else").err
    )
    tiny.ok("node", "delete", 1, 2, 3, "--force", "--yes")
    assert re.search("There is no node yet. Run `fuel2 .*node import FILE`", tiny("node", "show", "n-1").err)


@pytest.mark.parametrize("line", ["graph execute --env 1", "env deploy 1", "env redeploy 1"])
def test_runs_take_the_format_as_everything_else_does(tiny: CommandLine, line: str) -> None:
    assert tiny.ok(*line.split(), "--dry-run", "-f", "json").json


def test_an_empty_graph_says_what_comes_first(tiny: CommandLine) -> None:
    tiny.ok("release", "create", "bare", "--version", "1", "--operating-system", "Ubuntu", "--roles", "web")
    tiny.ok("env", "create", "bare", "--release", "bare")
    for words in (("preview",), ("blame", "netconfig"), ("why", "netconfig", "hiera")):
        assert "The graph has no task yet. Run `fuel2" in tiny("graph", *words, "--env", "bare").err, words


def test_an_attribute_that_is_joined_to_its_task_is_shown_apart(tiny: CommandLine) -> None:
    refused = tiny("graph", "blame", "netconfig.parameters.timeout", "--env", 1)
    assert refused.code == 5
    assert "Write an attribute as a word of its own: netconfig parameters.timeout." in refused.err


def test_errors_that_are_alike_are_counted_after_three(tiny: CommandLine, tmp_path: Path) -> None:
    document = tmp_path / "nodes.yaml"
    document.write_text("".join(f"- {{name: n{number}, mac: 00-11}}\n" for number in range(20)))

    refused = tiny("node", "import", document).err
    assert refused.count("a node has no key 'mac' [G010] It belongs to an interface") == 3
    assert """Not shown: 17 more of "a node has no key 'mac'"; -v shows all.""" in refused
    whole = tiny("node", "import", document, "-v").err
    assert (whole.count("[G010]"), "-v shows" in whole) == (20, False)


def test_a_range_of_nodes_has_no_end_that_matters(tiny: CommandLine) -> None:
    for last in (10**9, "9" * 5000):
        assert tiny("node", "label", "set", "-l", "a=1", "-n", f"1-{last}").code == 5
