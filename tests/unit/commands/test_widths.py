"""On 80 or 60 columns every list, answer, message and help fits, no word is broken, and what is missing is said."""

from __future__ import annotations

import io
import re
import sys
import time
from pathlib import Path

import pytest
from command_line import CommandLine, Done, Terminal, on_terminal
from corpus import corpus
from executions import executions, shell
from tui_driving import newton_engine

from fuelclient.commands.fitting import Columns, align, answer_lines, fit, fitted_message, terminal_width
from fuelclient.commands.shell import FuelShell, as_spelled
from fuelclient.commands.task.task import _terminal_rows
from fuelclient.model.run import Run, RunRequest
from fuelclient.model.status import RunStatus
from fuelclient.printing import ids_text

SHOWN = (
    "config show", "doctor", "env list", "env show 1", "env changes 1", "env facts show network_metadata --env 1",
    "explain", "explain G050", "graph list --env 1", "graph preview --env 1",
    "graph preview --env 1 --sort-column type",
    "graph simulate --env 1", "graph validate --env 1", "graph validate --env 1 -f table", "graph order --env 1",
    "graph stats --env 1", "graph query role:controller --explain --env 1", "graph diff release:{release} env:1",
    "node list", "node show 1", "node label list", "plugins list", "plugins show 1", "release list",
    "release show {release}", "release component list {release}", "release repos list {release}", "role list --env 1",
    "role show controller --env 1", "tag list --env 1", "sequence list --env 1", "task list",
    "graph execute --env 1 --dry-run", "engine check", "node check",
)  # fmt: skip
REFUSED = (
    "env destroy", "env show 7", "graph blame nope --env 1", "graph query rol:controller --env 1", "graph list --type",
    "graph simulate --env 1 --fail nope", "env facts show nope --env 1", "env facts diff 88", "task show 77",
    "network-group list", "plugins check nope", "graph upload --env 1 --file nope.yaml", "plugins install nope.fp",
)  # fmt: skip
OF_HELP = (
    "help", "help layers", "help stages", "help facts", "help queries", "help exit-codes", "graph",
    "graph preview --help", "graph execute --help", "release create --help", "node create --help",
    "plugins check --help",
)  # fmt: skip
OF_DEMO = (
    "task list", "task show 1", "task history show 1", "task history show 1 --why", "task history show 1 -p",
    "task history show 1 --include-summary", "env facts diff 1", "graph blame host-network --env 1",
    "graph blame host-network --env 1 --explain", "graph why host-network base-packages --env 1",
    "graph impact host-network --env 1", "env changes 1 --all",
)  # fmt: skip
OF_NEWTON = (
    "graph blame keystone --env 1", "graph blame keystone --env 1 --explain", "graph impact keystone --env 1",
    "graph why keystone netconfig --env 1",
)  # fmt: skip


def words(text: str) -> set[str]:
    """The words of a text without the borders of its tables and the commas of its lists."""
    return {word.rstrip(",") for line in text.splitlines() if not line.startswith("+-") for word in line.split()}


def header(table: str) -> set[str]:
    lines = table.splitlines()
    return set(re.findall(r"\| (\w+)", lines[1])) if table.startswith("+-") else set()


def require_fitting(engine: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = on_terminal(engine, 9999, line, monkeypatch)
    for width in (80, 60):
        require_as_whole(whole, on_terminal(engine, width, line, monkeypatch), width)


def require_as_whole(whole: Done, narrow: Done, width: int) -> None:
    assert narrow.code == whole.code, narrow
    require_wrapped(whole.out, narrow.out, width)
    notes = r"(Not shown|Shortened): .*?--format\s+json\s+has\s+everything\.\n"
    require_wrapped(whole.err, re.sub(notes, "", narrow.err, flags=re.DOTALL), width)
    told = " ".join(narrow.err.split())
    if "..." in narrow.out and "..." not in whole.out:
        assert "Shortened: " in told or "Not shown: " in told, told
    missing = header(whole.out) - header(narrow.out) if "\n| " in whole.out.partition("-+\n|")[2] else set()
    said = " ".join(re.findall(r"Not shown: (.*?)--format json", told))
    assert missing <= set(re.findall(r"\w+", said)), (missing, narrow.err)


def require_wrapped(whole: str, narrow: str, width: int) -> None:
    """Each line fits, except a path or a command, which are to be pasted; no word is broken, and lines that continue
    others are indented. A path may stand above its line number."""
    for shown in narrow.splitlines():
        assert len(shown) <= width or len(shown.split()) == 1 or shown.lstrip("`' ").startswith("fuel2 "), shown
    narrow = re.sub(r"(/\S+:)\n +(?=\d+\b)", r"\1", narrow)
    begin = {line.split()[0] for line in whole.splitlines() if line[:1].strip()}
    for shown in narrow.splitlines():
        assert shown[:1] in ("", " ", "|", "+") or shown.split()[0] in begin, shown
    broken = {word for word in words(narrow) - words(whole) if "..." not in word and not re.fullmatch(r"\+?\d+", word)}
    assert not broken, broken


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packaged example after a run."""
    engine = tmp_path_factory.mktemp("demo") / "engine.db"
    example = CommandLine(engine)
    example.ok("demo")
    example.ok("graph", "execute", "--env", 1, "--noop", "--wait")
    return engine


@pytest.mark.parametrize("line", [*SHOWN, *OF_DEMO])
def test_the_example_fits(demo: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    require_fitting(demo, line.format(release=1), monkeypatch)


@pytest.mark.corpus
@pytest.mark.parametrize("line", [*SHOWN, *OF_NEWTON])
def test_newton_fits(tmp_path: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(corpus())
    require_fitting(newton_engine(tmp_path), line.format(release=2), monkeypatch)


@pytest.mark.parametrize("line", REFUSED)
def test_refusals_fit(demo: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    require_fitting(demo, line, monkeypatch)


@pytest.mark.parametrize("line", OF_HELP)
def test_help_fits(demo: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")  # without a pager
    whole = on_terminal(demo, 80, line, monkeypatch)
    for width in (80, 60):
        narrow = on_terminal(demo, width, line, monkeypatch)
        assert max(map(len, narrow.out.splitlines()), default=0) <= width
        assert words(narrow.out) - {"\\"} <= words(whole.out)


def test_errors_of_usage_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys, "stderr", err := Terminal())  # where argparse writes
    assert FuelShell(io.StringIO(), Terminal(), Terminal()).run(["graph", "preview"]) == 2
    assert err.getvalue().splitlines() == [
        "fuel2 graph preview: the following arguments are required:",
        "  -e/--env/--environment. See 'fuel2 graph preview --help'.",
    ]


def test_questions_fit(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    err = Terminal()
    code = FuelShell(Terminal("n\n"), io.StringIO(), err).run(["--engine", str(demo), "env", "deploy", "1"])
    asked = err.getvalue().partition(" [y/N] ")[0].splitlines()
    assert code == 11
    assert len(asked) > 2
    assert max(map(len, (line for line in asked if str(demo) not in line))) <= 60


@pytest.mark.parametrize("width", [80, 60])
@pytest.mark.parametrize("line", ["doctor", "node check"])
def test_fixes_are_whole(tmp_path: Path, line: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    lab = executions(tmp_path, nodes=1)
    CommandLine(lab.engine).ok("node", "create", "far", "--executor", "noop", "--env", 1)
    rows = CommandLine(lab.engine)(*line.split(), "-f", "json").json
    fixes = [row["fix"] for row in rows if row["fix"]]
    shown = on_terminal(lab.engine, width, line, monkeypatch)
    assert fixes
    assert "fix" not in header(shown.out)
    for fix in fixes:
        is_command = fix.startswith(("export ", "/"))
        assert fix in (shown.out if is_command else " ".join(shown.out.split()))


@pytest.mark.corpus
def test_who_set_a_task_is_kept(tmp_path: Path, demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for engine in (demo, newton_engine(tmp_path)):
        assert "layer" in header(on_terminal(engine, 80, "graph preview --env 1", monkeypatch).out)
        for width in (80, 60):
            assert "relations" in header(on_terminal(engine, width, "graph list --env 1", monkeypatch).out)


@pytest.mark.parametrize("line", ["graph simulate --env 1", "task history show 1", "graph list", "task list -s id"])
def test_nothing_is_an_empty_cell(demo: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_terminal(demo, 200, line, monkeypatch).out
    assert shown.startswith("+-")
    assert not {"null", "None"} & words(shown)
    assert {"null", "None"} & words(CommandLine(demo)(*line.split()).out)


def test_results_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = executions(tmp_path, nodes=1)
    lab.graph(shell("a", "true"))
    for line in ("env deployment-facts delete 1", "graph execute --env 1 --noop"):
        shown = on_terminal(lab.engine, 60, line, monkeypatch)
        assert shown.out
        assert max(map(len, shown.out.splitlines())) <= 60


def test_messages_keep_what_is_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    text = (
        "The release has no tasks yet: use `fuel2 graph upload --release 1 --dir some/long/directory`, or see\n"
        "  fuel2 task logs 1 some-very-long-name-of-a-task/some-node-of-the-lab"
    )
    assert fitted_message(text, io.StringIO()) == text
    assert fitted_message(text, Terminal()).splitlines() == [
        "The release has no tasks yet: use",
        "  `fuel2 graph upload --release 1 --dir some/long/directory`,",
        "  or see",
        "  fuel2 task logs 1 some-very-long-name-of-a-task/some-node-of-the-lab",
    ]


@pytest.mark.parametrize("width", [80, 60])
def test_times_fit(demo: Path, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_terminal(demo, width, "task gantt 1", monkeypatch).out
    assert max(map(len, shown.splitlines())) <= width
    assert "waits for predecessors" in " ".join(shown.split())


def test_a_run_is_a_row_with_its_parts_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = executions(tmp_path, nodes=1)
    lab.graph(shell("a", "true"), shell("b", "false"))
    lab.run()
    listed = on_terminal(lab.engine, 200, "task list", monkeypatch).out
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in listed.splitlines()[3:-1]]
    assert [row[0] for row in rows] == ["1"]
    assert rows[0][3] == "default"
    assert rows[0][5].startswith("1 error, 1 ready: ")
    assert "verdict" not in listed
    sorted_rows = on_terminal(lab.engine, 200, "task list -s id", monkeypatch).out
    assert sorted_rows == CommandLine(lab.engine).ok("task", "list").out.replace("| None ", "|      ")


def test_parts_of_several_graphs_are_rows() -> None:
    runs = [
        Run(3, "", 1, "deploy", RunStatus.READY, RunRequest(1, dry_run=True)),
        Run(4, "", 1, "deployment", RunStatus.READY, RunRequest(1, dry_run=True), "default", 3, result={"ready": 7}),
        Run(5, "", 1, "deployment", RunStatus.READY, RunRequest(1, noop=True), "other", 3, result={"own": "words"}),
    ]
    rows = [(row[0], str(row[3]), row[5]) for row in _terminal_rows(runs)]
    assert rows == [
        (3, "default, other", "dry run"), (4, "  default", "dry run: 7 ready"),
        (5, "  other", 'noop run: {"own": "words"}'),
    ]  # fmt: skip


def test_a_dry_run_lists_what_would_run(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "graph execute --env 1 --select host-network --dry-run"
    done = on_terminal(demo, 80, line, monkeypatch)
    assert len(done.out.splitlines()) == 4 + 1
    assert "Not listed, because they would be skipped: 105 filtered, 8 type, 6 sync_point.\n  --format" in done.err
    assert len(CommandLine(demo).ok(*line.split()).out.splitlines()) == 4 + 126


def test_a_refusal_for_many_nodes_is_short(demo: Path) -> None:
    done = CommandLine(demo)("env", "facts", "show", "roles", "--env", 1, "--nodes", *range(2701, 3001))
    assert "of node 2701-3000 does not exist" in done.err
    assert "Nodes with facts: null, master, 1-7." in done.err
    assert len(ids_text(range(0, 900, 2))) <= 120


def test_a_pipe_gets_everything(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    piped = CommandLine(demo)("graph", "preview", "--env", 1).out
    monkeypatch.setenv("COLUMNS", "60")
    again = CommandLine(demo)("graph", "preview", "--env", 1).out
    assert piped == again
    assert max(map(len, again.splitlines())) > 120


def test_asked_columns_stay_and_fit_any_width(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "graph preview --env 1 -c task -c layer -c roles -c overrides -c stage"
    shown = on_terminal(demo, 60, line, monkeypatch)
    assert header(shown.out) == {"task", "layer", "roles", "overrides", "stage"}
    assert max(map(len, shown.out.splitlines())) <= 60
    assert "Not shown" not in shown.err
    assert "Shortened: " in shown.err
    whole = on_terminal(demo, 200, line, monkeypatch)
    assert not {word for word in words(whole.out) if "..." in word}


def test_asked_columns_with_wide_headers_shrink_after_the_others() -> None:
    names = ("node", "ip_of_the_node", "name_of_the_environment")
    fitted = fit(names, [("a name that is longer", "10.20.0.2", "lab")], 60, asked=True)
    assert fitted.columns == names
    assert fitted.elided == ()
    fitted = fit(names, [("a name that is longer", "10.20.0.2", "lab")], 44, asked=True)
    assert sum(max(len(name), 8) + 3 for name in fitted.columns) + 1 <= 44
    assert fitted.columns[0] == "node"
    assert fitted.elided == names[1:]


def test_max_width_and_columns_decide(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_terminal(demo, 300, "graph preview --env 1 --max-width 70", monkeypatch)
    assert max(map(len, shown.out.splitlines())) <= 70
    assert "70 columns are too few" in shown.err
    monkeypatch.setenv("COLUMNS", "20")
    assert terminal_width(Terminal()) == 60
    assert terminal_width(io.StringIO()) == 0


def test_lists_of_numbers_are_ranges_and_paths_keep_their_ends() -> None:
    fitted = fit(("name", "nodes"), [("a", [1, 2, 3, 7, *range(9, 99, 2)])], 30)
    assert fitted.rows == [("a", "1-3, 7, 9, 11, +43")]
    fitted = fit(("name", "place"), [("a", f"/srv/{'deep/' * 9}tasks.yaml:12")], 40)
    assert fitted.rows[0][1].endswith("tasks.yaml:12")
    assert fitted.elided == ("place",)


def test_answers_flow_below_and_tables_in_them_drop_columns() -> None:
    (row,) = align([("attribute", "a value of many words", "plugin example", "a/file.yaml:7")])
    assert answer_lines(row, 40) == ["attribute  a value of many words", "    plugin example  a/file.yaml:7"]
    assert answer_lines(row, 0) == [row]
    table = Columns(("#", "task", "why"), [("1", "netconfig", "it has to " * 9)], ("#", "task"))
    assert max(map(len, answer_lines(table, 50))) <= 50
    assert answer_lines(table, 0)[0] == "#  task       why"


def test_a_text_of_many_lines_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = newton_engine(tmp_path)
    shown = on_terminal(engine, 80, "role list --env 1", monkeypatch)
    assert "description" not in header(shown.out)
    assert "Not shown: description" in shown.err
    assert len(shown.out.splitlines()) < 40
    assert "description" in header(on_terminal(engine, 200, "role list --env 1", monkeypatch).out)


def test_no_value_is_an_empty_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = CommandLine(tmp_path / "engine.db")
    engine.ok("node", "create", "free", "--ip", "10.0.0.9")
    assert "None" in engine.ok("node", "show", 1).out
    shown = on_terminal(engine.engine, 80, "node show 1", monkeypatch).out
    assert "| cluster " in shown
    assert "None" not in shown


def test_commands_of_two_words_stay_whole_in_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    for width in range(40, 80):
        monkeypatch.setenv("COLUMNS", str(width))
        shown = fitted_message(
            "Continue 'env' with: add nodes, changes, deployment-facts get-default, list.", Terminal()
        )
        assert {"add nodes,", "deployment-facts get-default,"} <= set(re.findall(r"[a-z-]+(?: [a-z-]+)?,", shown)), (
            shown
        )


@pytest.mark.parametrize("text", [f": fuel2 {' ' * 15_000}x", f": {'/python' * 10_000}", "`" * 15_000])
def test_texts_of_others_take_no_quadratic_time(text: str) -> None:
    before = time.process_time()  # not how busy the machine is
    assert answer_lines(as_spelled(text, {"node 1": "db"}), 80)
    assert time.process_time() - before < 1


def test_an_empty_list_leaves_no_columns_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_terminal(tmp_path / "engine.db", 60, "task list", monkeypatch)
    assert "No graph has been executed yet" in shown.err
    assert "Not shown" not in shown.err


def test_what_to_try_can_be_pasted_from_a_narrow_terminal(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comment that a terminal wraps would go on as a command."""
    monkeypatch.chdir(demo.parent)
    whole = CommandLine(Path(demo.name)).ok("demo").out.splitlines()
    narrow = on_terminal(Path(demo.name), 60, "demo", monkeypatch).out
    assert narrow.startswith("# what would run where, in order\nfuel2 ")
    assert max(map(len, narrow.splitlines())) <= 60
    commands = re.sub(r"(?m)^#.*\n", "", narrow).replace(" \\\n    ", " ").splitlines()
    assert commands == [line.rpartition("  # ")[0].rstrip() for line in whole]
