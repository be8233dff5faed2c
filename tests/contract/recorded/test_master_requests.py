"""What `graph execute` refuses before it asks a real master, which would run nothing or answer 500."""

from __future__ import annotations

import pytest
from command_line import fuel2
from recordings import TOKEN, Replay, commands
from refusals import require_named

pytestmark = pytest.mark.corpus


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OS_TOKEN", TOKEN)


@pytest.mark.parametrize(
    ("words", "code", "named"),
    [
        (("--type", "nosuch"), 5, ["nosuch", "default", "slow", "small"]),
        (("--type", "small", "--task-names", "nosuch"), 5, ["nosuch", "three"]),
        (("--type", "small", "--subgraphs", "nosuch:"), 5, ["nosuch", "three"]),
        (("--type", "small", "--node", "1", "6"), 5, ["6", "1", "2", "3"]),
        (("--type", "small", "--executor", "ssh"), 2, ["ssh", "--executor"]),
    ],
)
def test_unknown_names_are_refused_before_the_request(words: tuple[str, ...], code: int, named: list[str]) -> None:
    replay = Replay(326, 546)
    with replay.served() as url:
        done = fuel2("--server", url, "graph", "execute", "--env", 1, *words)
    assert (done.code, done.out) == (code, ""), done
    require_named(done.err, named)
    assert not [asked for asked in replay.asked if asked.startswith("POST")]


@pytest.mark.parametrize("line", ["fuel2 graph execute -e 1 -t small"])
def test_a_run_begins_as_with_the_original_client(line: str) -> None:
    replay = Replay(537, 539)
    with replay.served() as url:
        done = fuel2("--server", url, *line.split()[1:])
    assert (done.code, done.out) == (0, commands()[line].stdout), done
    assert sum(asked.startswith("POST") for asked in replay.asked) == 1
