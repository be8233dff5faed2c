"""Which values fit the type, the choices, the bounds and the regex of their setting."""

from __future__ import annotations

from typing import Any

import pytest

from fuelclient.environment import setting_values
from fuelclient.expressions import child_process, limits
from fuelclient.expressions.facts import Views
from fuelclient.model.cluster import Cluster
from fuelclient.model.environment import Environment
from fuelclient.model.release import Release

DIGITS = {"source": r"^\d+$", "error": "Only digits"}
CHOICES = [{"data": "kvm", "label": "KVM"}, {"data": "qemu", "label": "QEMU"}]
SETTINGS: dict[str, Any] = {
    "debug": {"type": "checkbox", "value": False},
    "port": {"type": "text", "value": "", "regex": DIGITS},
    "secret": {"type": "password", "value": {"generator": "password"}},
    "driver": {"type": "radio", "value": "qemu", "values": CHOICES},
    "drivers": {"type": "select", "value": [], "values": CHOICES},
    "pages": {"type": "number", "value": 0, "min": 0, "max": 9, "nullable": True},
    "servers": {"type": "text_list", "value": ["1"], "min": 1, "max": 2, "regex": DIGITS},
    "many": {"type": "text_list", "value": ["1"], "regex": DIGITS},
    "repos": {"type": "custom_repo_configuration", "value": []},
    "hidden": {"type": "hidden", "value": "x"},
    "remote": {"type": "text", "value": "1", "regex": DIGITS, "restrictions": ["settings:s.debug.value == true"]},
    "look": {"type": "text", "value": "1", "regex": {"source": "^(?!services$).+", "error": "Not this tenant"}},
    "broken": {"type": "text", "value": "1", "regex": {"source": "("}},
    "endless": {"type": "text", "value": "1", "regex": {"source": "^(?!x)(a+)+$"}},
}


def found(settings: dict[str, Any], section: str = "s", metadata: dict[str, Any] | None = None) -> dict[str, str]:
    """What is wrong, by the last two keys of its path."""
    known = {"s": {"metadata": metadata or {"label": "S"}, **SETTINGS}}
    release = Release(1, "R", "r-1", metadata={"attributes_metadata": {"editable": known}})
    environment = Environment(Cluster(1, "e", 1), release)
    findings = setting_values.findings({section: settings}, environment)
    assert {finding.code for finding in findings} <= {"N003"}
    return {".".join(map(str, (finding.place.path or ())[2:])): finding.message for finding in findings}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("debug", [True, False]),
        ("port", ["80", "", "80\n"]),
        ("secret", ["x", {"generator": "password"}]),
        ("driver", ["kvm"]),
        ("drivers", [["kvm", "qemu"], "kvm"]),
        ("pages", [0, 9, None]),
        ("servers", [["1"], ["1", "22"]]),
        ("repos", [[{"name": "a"}], []]),
        ("hidden", [True, 7, {"a": 1}]),
        ("look", ["a", "services_"]),
        ("broken", ["b"]),  # a regex that cannot be read is not judged
        ("endless", ["a" * 40 + "b"]),  # nor one that takes too long
    ],
)
def test_values_that_fit(name: str, values: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_seconds", 1)
    for value in values:
        assert found({name: {"value": value}}) == {}


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("debug", "yes", "true or false, not the string 'yes'"),
        ("debug", 0, "true or false, not the number 0"),
        ("port", 80, "a text, not the number 80"),
        ("port", None, "a text, not empty"),
        ("port", "80x", "Only digits"),
        ("secret", 7, "a text"),
        ("driver", "xen", "one of kvm, qemu, not the string 'xen'"),
        ("drivers", ["kvm", "xen"], "one of kvm, qemu"),
        ("pages", "1", "a whole number"),
        ("pages", True, "a whole number"),
        ("pages", 10, "at most 9, not 10"),
        ("pages", -1, "at least 0"),
        ("servers", "1", "a list of texts, not the string '1'"),
        ("servers", ["1", 2], "not one with the number 2"),
        ("servers", [], "at least 1 items, not 0"),
        ("servers", ["1", "x"], "Only digits"),
        ("many", [*["1"] * 10_001, "x"], "Only digits"),
        ("repos", ["http://x"], "a list of mappings"),
        ("look", "services", "Not this tenant"),
        ("endless", "x", "refuses: ^(?!x)(a+)+$"),
    ],
)
def test_values_that_do_not_fit(name: str, value: Any, said: str) -> None:
    [(path, message)] = found({name: {"value": value}}).items()
    assert path == f"{name}.value"
    assert message.startswith(f"the setting s.{name} ")
    assert said in message


def test_a_value_without_its_mapping_and_a_switch_that_is_none() -> None:
    assert found({"debug": True, "metadata": {"enabled": "no"}}).keys() == {"debug", "metadata.enabled"}


def test_a_regex_counts_only_while_the_setting_can_be_set() -> None:
    wrong = {"remote": {"value": "x"}}
    assert found(wrong).keys() == {"remote.value"}
    assert found({**wrong, "debug": {"value": True}}) == {}
    assert found({"port": {"value": "x"}}, metadata={"enabled": False}) == {}
    assert found({"port": {"value": "x"}, "metadata": {"enabled": True}}, metadata={"enabled": False}) != {}


def test_the_document_says_what_an_unknown_setting_is() -> None:
    unknown = {"a": {"type": "checkbox", "value": "yes"}, "b": {"value": [None]}, "c": {"deep": {"value": 1}}, "d": 5}
    assert found(unknown, "mine").keys() == {"a.value", "b"}  # without a type nothing says what it is


@pytest.mark.parametrize(("seconds", "lefts"), [(60, [5, 2]), (4, [4, 1])])
def test_all_regexes_have_a_few_seconds(seconds: int, lefts: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that checks them keeps others from the engine file."""
    monkeypatch.setattr(limits, "_seconds", seconds)
    left = []

    def answer(_text: str, _facts: Any, views: Views) -> Any:
        left.append(limits.seconds() - views.waited)
        views.waited += 3
        raise child_process.Exhausted("it took long", "")

    monkeypatch.setattr(child_process, "answer", answer)
    assert found({"look": {"value": "a"}, "endless": {"value": "b"}}) == {}
    assert left == lefts
