"""Enabling and disabling plugins on a real master, with their settings, and what a refusal says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from command_line import Done, fuel2
from recordings import TOKEN, Line, Replay, line
from refusals import require_named

pytestmark = pytest.mark.corpus

STEP = "plugins: sync, list, get, enable, refusals, links, delete"
DVS, KUBERNETES, RABBITMQ = "fuel-plugin-vmware-dvs", "fuel-plugin-kubernetes", "detach-rabbitmq"


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OS_TOKEN", TOKEN)


class Answers(Replay):
    """The recorded master; a PATCH is noted and gets the line `patched`, whatever its body."""

    patched = 0
    body: Any = None

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: Any = None) -> Line:
        if method != "PATCH" or not self.patched:
            return super().answer(method, path, headers, body)
        self.asked.append(f"{method} {path}")
        self.body = body
        return line(self.patched)


def run(replay: Replay, *words: object, stdin: str = "") -> Done:
    with replay.served() as url:
        return fuel2("--server", url, *words, stdin=stdin)


def version_of(body: Any, plugin: str) -> dict[str, Any]:
    """The record of the only version of a plugin in the body of a request."""
    (version,) = body["editable"][plugin]["metadata"]["versions"]
    assert isinstance(version, dict)
    return version


def test_a_plugin_is_enabled_with_the_metadata_of_its_section() -> None:
    replay = Replay(243, 248)
    done = run(replay, "plugins", "enable", RABBITMQ, "--env", 1)
    assert (done.code, done.out) == (0, f"Plugin {RABBITMQ} was successfully enabled on environment 1.\n"), done
    assert [asked.split("/")[0] for asked in replay.asked if not asked.startswith("GET")] == ["PATCH clusters"]
    sent = line(245).request_body["editable"][RABBITMQ]["metadata"]
    assert {"class", "versions", "chosen_id", "enabled"} <= set(sent)  # the replay takes no other body


def test_the_values_are_sent_with_the_switch() -> None:
    replay = Answers(243, 248)
    replay.patched = 247
    done = run(replay, "plugins", "enable", KUBERNETES, "--env", 1, "--set", "internal_net=10.9.0.0/16")
    assert done.code == 0, done
    stated = line(243).response_body["editable"][KUBERNETES]
    wanted = json.loads(json.dumps(stated))
    wanted["metadata"].update(enabled=True, chosen_id=1)
    wanted["metadata"]["versions"][0]["internal_net"]["value"] = "10.9.0.0/16"
    assert replay.body == {"editable": {KUBERNETES: wanted}}


@pytest.mark.parametrize(
    "document",
    [
        {"networking": "calico", "internal_net": "10.9.0.0/16"},
        {"networking": {"value": "calico", "type": "radio"}, "internal_net": {"value": "10.9.0.0/16"}, "metadata": {}},
        {"editable": {KUBERNETES: {"networking": {"value": "calico"}, "internal_net": {"value": "10.9.0.0/16"}}}},
    ],
)
def test_values_come_from_a_file_too(document: Any) -> None:
    replay = Answers(243, 248)
    replay.patched = 247
    words = ("plugins", "enable", KUBERNETES, "--env", 1, "--settings", "-", "--set", "internal_net=10.1.0.0/16")
    done = run(replay, *words, stdin=json.dumps(document))
    assert done.code == 0, done
    version = version_of(replay.body, KUBERNETES)
    assert (version["networking"]["value"], version["internal_net"]["value"]) == ("calico", "10.1.0.0/16")


def test_a_refusal_names_the_setting_that_it_is_about() -> None:
    replay = Replay(251, 252)
    done = run(replay, "plugins", "enable", DVS, "--env", 4)
    assert done.code == 6, done
    require_named(done.err, ["Empty name of dvSwitch", "vmware_dvs_net_maps", "--set"])
    assert done.out == ""


def test_an_answer_without_an_effect_is_no_success() -> None:
    """An unknown version is answered with 200, and the plugin stays as it is."""
    replay = Answers(251, 254)
    replay.patched = 253
    done = run(replay, "plugins", "enable", DVS, "--env", 4)
    assert done.code == 6, done
    require_named(done.err, [f"{DVS}-3.1.1", "4"])


@pytest.mark.parametrize(
    ("words", "code", "named"),
    [
        (("--set", "internal_nets=x"), 5, ["internal_nets", "internal_net"]),
        (("--set", "networking=flanel"), 2, ["networking", "flannel", "calico"]),
    ],
)
def test_impossible_values_are_refused_before_the_request(words: tuple[str, ...], code: int, named: list[str]) -> None:
    replay = Replay(243, 248)
    done = run(replay, "plugins", "enable", KUBERNETES, "--env", 1, *words)
    assert done.code == code, done
    require_named(done.err, named)
    assert all(asked.startswith("GET") for asked in replay.asked)


def test_values_are_for_one_plugin() -> None:
    replay = Replay(243, 248)
    done = run(replay, "plugins", "enable", RABBITMQ, KUBERNETES, "--env", 1, "--set", "internal_net=x")
    assert done.code == 2, done
    require_named(done.err, ["--set"])
    assert all(asked.startswith("GET") for asked in replay.asked)


def test_disable_knows_what_is_enabled() -> None:
    replay = Answers(255, 260)
    replay.patched = 260
    done = run(replay, "plugins", "disable", KUBERNETES, "--env", 1)
    assert "was not enabled" not in done.err
    assert done.code == 6, done  # the settings that are read back are those of line 255, where it is enabled
    assert replay.body["editable"][KUBERNETES]["metadata"]["enabled"] is False

    unused = Replay(243, 244)
    done = run(unused, "plugins", "disable", KUBERNETES, "--env", 1)
    assert done.code == 0, done
    require_named(done.err, ["not enabled"])
    assert all(asked.startswith("GET") for asked in unused.asked)
