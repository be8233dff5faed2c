"""Findings about one document: what they say, where, and what to do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from building import CLUSTER, RELEASE, layer, plugin, task, tasks_from

from fuelclient.graph.merge import merge_layers
from fuelclient.graph.references import check_references
from fuelclient.graph.validate import check_document, misspelt_roles
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.graph import GraphDocument, Layer, Owner
from fuelclient.model.task import Source, Task
from fuelclient.plan.place import tolerated_failures

FILE = Source(
    "tasks.yaml", 3, {"stage": 4, "requires": 5, "roles": 6, "type": 7, "required_form": 8, "cross_depends": 9}
)


def _check(*tasks: Task, owner: Owner = CLUSTER, below: list[Layer] | None = None) -> tuple[Finding, ...]:
    return check_document(GraphDocument(tasks), owner, below)


def _told(finding: Finding) -> tuple[str, str, str]:
    return str(finding.severity), finding.code, str(finding.place)


def test_a_good_document_has_no_findings() -> None:
    good = task("a", type="shell", parameters={"cmd": "true"}, roles=["/.*/"], stage="pre_deployment/-1.5", x_note=1)

    assert _check(good) == ()


@pytest.mark.parametrize("attribute", ["roles", "groups", "tags", "cross_depends", "cross_depended_by"])
@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("primary_controller", "primary-controller"), ("ceph_osd", "ceph-osd"),
        ("primary-ceph_osd", "primary-ceph-osd"),
        ("primary_ceph_osd", "primary-ceph-osd"), ("my-db", "my_db"), ("primary_my-db", "primary-my_db"),
        ("primary_else", "primary-else"), ("primary-else_where", ""), ("primary-my_db", ""), ("my_db", ""),
        ("primary_role", ""), ("Controller", "controller"), ("Primary-Mongo", "primary-mongo"), ("My_DB", "my_db"),
        ("Else", ""), ("else_where", ""), ("/ceph_osd/", ""), ("*", ""), ("base-os", ""), ("primary-", ""),
    ],
)  # fmt: skip
def test_misspelt_role_is_found_without_an_environment(attribute: str, word: str, meant: str) -> None:
    stated: Any = [{"name": "b", "role": [word]}] if attribute.startswith("cross") else [word]
    found = [
        (finding.code, finding.hint)
        for finding in misspelt_roles([task("a", **{attribute: stated})], ["my_db", "primary_role"])
    ]
    assert found == ([("G041", f"Did you mean {meant}?")] if meant else [])


def test_an_id_defined_twice_is_an_error_that_names_both_places() -> None:
    other = Source("tasks.yaml", 20)
    (result,) = _check(task("a", source=FILE, type="reboot"), task("a", source=other, type="reboot"))

    assert _told(result) == ("error", "G005", "tasks.yaml:20")
    assert "tasks.yaml:3" in result.message


def test_the_third_definition_is_found_too() -> None:
    result = _check(*(task("a", source=Source("t", line), type="reboot") for line in (1, 5, 9)))

    assert [str(finding.place) for finding in result] == ["t:5", "t:9"]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("required_form", "required_for"), ("require", "requires"), ("require_for", "required_for"),
        ("cross_depend", "cross_depends"), ("crossdepends", "cross_depends"), ("role_", "role"),
        ("paramters", "parameters"),
        ("conditon", "condition"), ("stages", "stage"), ("re_execute_on", "reexecute_on"),
    ],
)  # fmt: skip
def test_a_key_that_looks_like_a_typo_is_a_warning(key: str, meant: str) -> None:
    source = Source("tasks.yaml", 3, {key: 8})
    (result,) = _check(Task("a", {"type": "reboot", key: []}, source))

    assert _told(result) == ("warning", "G009", "tasks.yaml:8")
    assert result.hint == f"Did you mean {meant}?"
    assert repr(key) in result.message


@pytest.mark.parametrize("key", ["x_note", "test_case", "fault", "comment", "os", "description", "owner"])
def test_a_key_of_its_own_is_no_typo(key: str) -> None:
    assert _check(Task("a", {"type": "reboot", key: 1})) == ()


NESTED = [
    ("strategy", {"strategy": {"type": "one_by_one"}}, "Move it into them: parameters: {strategy: ...}."),
    ("timeout", {"timeout": 5}, "Move it into them: parameters: {timeout: ...}."),
    ("fault_tolerance", {"fault_tolerance": 3}, "State it in the group of the role."),
    ("roles", {"cross_depends": [{"name": "b", "roles": "db"}]}, "Did you mean role?"),
    ("polcy", {"cross_depended_by": [{"name": "b", "polcy": "any"}]}, "Did you mean policy?"),
    ("other", {"cross_depends": [{"name": "b", "other": 1}]}, "Keys: name, role, tags, policy."),
    ("yaql", {"condition": {"yaql": "false"}}, "Did you mean yaql_exp?"),
    ("other", {"condition": {"yaql_exp": "true", "other": 1}}, "Keys: yaql_exp."),
    ("yaql_expr", {"requires": [{"yaql_exp": "$.a", "yaql_expr": "$.a"}]}, "Did you mean yaql_exp?"),
    ("yaql-exp", {"parameters": {"cmd": {"yaql-exp": "$.a"}}}, "Did you mean yaql_exp?"),
    ("yaqlExp", {"cross_depends": [{"name": "b", "role": {"yaqlExp": "$.a"}}]}, "Did you mean yaql_exp?"),
    ("ammount", {"parameters": {"cmd": "x", "strategy": {"type": "parallel", "ammount": 2}}}, "Did you mean amount?"),
    ("timeot", {"parameters": {"cmd": "x", "timeot": 2}}, "Did you mean timeout?"),
    ("timout", {"type": "reboot", "parameters": {"timout": 2}}, "Did you mean timeout?"),
    (
        "permision",
        {"type": "copy_files", "parameters": {"files": [{"src": "/a", "dst": "/b", "permision": "0600"}]}},
        "Did you mean permissions?",
    ),
]
"""Keys that mean nothing where they stand, what has them, and the hint."""


@pytest.mark.parametrize(("key", "stated", "hint"), NESTED)
def test_meaningless_key_is_a_warning_at_every_depth(key: str, stated: dict[str, Any], hint: str) -> None:
    whole = {"type": "shell", "roles": ["db"], "parameters": {"cmd": "true"}, **stated}
    found = [finding for finding in _check(task("a", **whole)) if finding.code == "G009"]

    assert [(str(finding.severity), finding.hint) for finding in found] == [("warning", hint)]
    assert key in found[0].message


@pytest.mark.parametrize(
    "stated",
    [
        {"type": "group", "fault_tolerance": 1}, {"fault_tolerance": 1},
        {"type": "puppet", "parameters": {"puppet_manifest": "a", "my_own": 1, "raw_report": True}},
        {"type": "erase_node", "parameters": {"timout": 1}},
        {"type": "shell", "parameters": {"yaql_exp": "$.all"}},
        {"cross_depends": {"yaql_exp": "$.all"}}, {"cross_depends": [{"name": "a", "tags": ["b"], "policy": "any"}]},
        {"condition": {"yaql_exp": "true"}},
    ],
)  # fmt: skip
def test_a_key_that_is_free_or_known_is_good(stated: dict[str, Any]) -> None:
    assert _check(task("a", **stated)) == ()


@pytest.mark.parametrize("stated", ["a%", "1O%", "%", "", " ", [1], {}, {"yaql_exp": "1"}, 1.5, True, float("inf")])
def test_a_fault_tolerance_that_cannot_be_read_is_a_warning(stated: Any) -> None:
    group = task("a", source=replace(FILE, lines={"fault_tolerance": 4}), type="group", fault_tolerance=stated)
    (result,) = _check(group)

    assert _told(result) == ("warning", "G025", "tasks.yaml:4")
    means = "counts as 1" if stated in (1.5, True) else "any number of its nodes may fail"
    assert means in result.message
    assert tolerated_failures(stated, 4) == (1 if stated in (1.5, True) else 5)
    assert "G025" in {finding.code for finding in check_references(merge_layers([layer(RELEASE, group)]))}


@pytest.mark.parametrize("stated", [0, 3, -1, "2", " -10% ", "100%", None])
def test_a_fault_tolerance_that_can_be_read_is_good(stated: Any) -> None:
    assert _check(task("a", type="group", fault_tolerance=stated)) == ()


def test_an_unknown_stage_is_an_error_that_lists_the_stages() -> None:
    (result,) = _check(task("a", source=FILE, type="reboot", stage="post_deploiment/10"))

    assert _told(result) == ("error", "G011", "tasks.yaml:4")
    assert result.hint == "Stages: pre_deployment, post_deployment. Did you mean post_deployment?"


def test_stages_come_from_document_and_layers() -> None:
    below = layer(RELEASE, task("hw_end", type="stage"))
    own = task("sw_end", type="stage")
    using = [task(name, type="reboot", stage=f"{name}/1") for name in ("hw", "sw")]

    assert _check(own, *using, below=[below]) == ()
    assert [finding.task for finding in _check(*using)] == ["hw", "sw"]


@pytest.mark.parametrize(
    "postfix", ["high", "", "1e2", "5.", " 5", "5 ", "nan", "inf", "--1", "1/2", "9" * 400, "1_0", "٣"]
)
def test_a_priority_that_is_no_plain_decimal_number_is_an_error(postfix: str) -> None:
    (result,) = _check(task("a", source=FILE, type="reboot", stage=f"pre_deployment/{postfix}"))

    assert _told(result) == ("error", "G012", "tasks.yaml:4")
    assert "pre_deployment/100" in result.hint


@pytest.mark.parametrize("postfix", ["0", "-0", "+5", "007", ".5", "-.5", "99.99", "1000000"])
def test_a_plain_decimal_number_is_a_priority(postfix: str) -> None:
    assert _check(task("a", type="reboot", stage=f"pre_deployment/{postfix}")) == ()


def test_a_stage_of_a_newer_task_is_not_checked() -> None:
    assert _check(task("a", type="reboot", version="2.0.0", stage="anything/at all")) == ()


@pytest.mark.parametrize("kind", ["puppet", "shell", "sync", "upload_file", "copy_files"])
def test_a_task_that_does_nothing_is_a_warning(kind: str) -> None:
    (result,) = _check(task("a", source=FILE, type=kind))

    assert _told(result) == ("warning", "G013", "tasks.yaml:7")


def test_a_star_beside_other_names_is_a_warning() -> None:
    (result,) = _check(task("a", source=FILE, type="reboot", roles=["*", "db"]))

    assert _told(result) == ("warning", "G014", "tasks.yaml:6")
    assert _check(task("a", type="reboot", roles=["*"])) == ()


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"tags": ["*"]}, "tags: ['*']"), ({"groups": ["*"]}, "groups: ['*']"),
        ({"roles": ["x"], "cross_depends": [{"name": "b", "role": ["*"]}]}, "cross-depends"),
        ({"roles": ["x"], "cross_depends": [{"name": "b", "tags": ["*", "x"]}]}, "cross-depends"),
        ({"roles": ["x"], "cross_depended_by": [{"name": "b", "role": ["*"]}]}, "cross-depended-by"),
    ],
)  # fmt: skip
def test_star_that_means_no_node_is_a_warning(stated: dict[str, Any], said: str) -> None:
    starred = task("a", type="reboot", **stated)
    for found in (_check(starred), check_references(merge_layers([layer(RELEASE, starred, task("b", type="reboot"))]))):
        [result] = [finding for finding in found if finding.code == "G014"]
        assert said in result.message


def test_a_star_that_means_no_node_is_quoted_as_written() -> None:
    (lone,) = _check(*tasks_from([{"id": "a", "type": "reboot", "groups": "*"}]))
    assert (lone.message, lone.hint) == ("task a: groups: '*' means no node", "Write roles: '*' for every node.")
    (beside,) = _check(*tasks_from([{"id": "a", "type": "reboot", "roles": "*", "tags": ["*"]}]))
    assert (beside.message, beside.hint) == (
        "task a: tags: ['*'] means no node", "Remove tags: it takes precedence over roles.",
    )  # fmt: skip


@pytest.mark.parametrize(
    "stated", [{"roles": ["*"]}, {"tags": "*"}, {"cross_depends": [{"name": "b", "role": "*"}]}, {"groups": ["x"]}]
)
def test_a_star_that_means_every_node_is_good(stated: dict[str, Any]) -> None:
    assert _check(task("a", type="reboot", **stated)) == ()


@pytest.mark.parametrize("pattern", ["/(/", "/[/", "/*/", "/a{99999999999999}/", "/(?P<x>/"])
def test_a_broken_pattern_is_an_error_wherever_it_stands(pattern: str) -> None:
    result = _check(
        task("a", source=FILE, type="reboot", requires=[pattern]),
        task("b", source=FILE, type="reboot", roles=[pattern]),
        task("c", source=FILE, type="reboot", cross_depends=[{"name": pattern, "role": "db"}]),
        task("d", source=FILE, type="reboot", cross_depends=[{"name": "x", "role": ["db", pattern]}]),
        task("e", source=FILE, type="reboot", cross_depends=[{"name": "x", "role": pattern}]),
    )

    assert [(finding.code, str(finding.place), finding.task) for finding in result] == [
        ("G015", "tasks.yaml:5", "a"),
        ("G015", "tasks.yaml:6", "b"),
        ("G015", "tasks.yaml:9", "c"),
        ("G015", "tasks.yaml:9", "d"),
        ("G015", "tasks.yaml:9", "e"),
    ]
    assert all(pattern in finding.message for finding in result)


def test_a_partial_record_with_nothing_below_is_an_error() -> None:
    below = layer(RELEASE, task("netconfig", type="puppet", parameters={"a": 1}))
    (result,) = _check(task("netcofnig", source=FILE, requires=["a"]), below=[below])

    assert _told(result) == ("error", "G020", "tasks.yaml:3")
    assert "netconfig" in result.hint
    assert "release or an enabled plugin" in result.message


def test_a_partial_record_over_something_is_good() -> None:
    below = layer(plugin("alfa"), task("netconfig", type="puppet", parameters={"a": 1}))

    assert _check(task("netconfig", requires=["a"]), below=[below]) == ()


def test_partial_record_is_trusted_without_layers() -> None:
    assert _check(task("netconfig", requires=["a"]), below=None) == ()


def test_everything_is_found_at_once() -> None:
    result = _check(
        task("a", type="shell", stage="nowhere/high", requires=["/(/"], roles=["*", "x"], required_form=[]),
        task("a", requires=[]),
        below=[],
    )

    assert (
        sorted(finding.code for finding in result)
        == ["G005", "G009", "G011", "G012", "G013", "G014", "G015", "G020", "G020"][:8]
    )
    assert {finding.severity for finding in result} == {Severity.ERROR, Severity.WARNING}


@pytest.mark.parametrize("name", ["a\x1b[2J", "a\nb", "a\u202eb", "\x9bc"])
def test_unprintable_id_is_an_error_and_shown_escaped(name: str) -> None:
    (result,) = _check(task(name, source=FILE, type="reboot"))

    assert (str(result.severity), result.code, result.place.file) == ("error", "G016", "tasks.yaml")
    assert result.message.isprintable()
    assert repr(name) in result.message


def test_an_id_in_any_language_is_fine() -> None:
    assert _check(task("ünï cødé ✓ 網路", type="reboot")) == ()


def test_what_asks_for_changes_of_common_or_node_is_a_warning() -> None:
    source = Source("tasks.yaml", 3, {"condition": 4, "parameters": 6})
    asking = task(
        "a",
        source=source,
        type="shell",
        condition={"yaql_exp": "$.x = 1 and changedAny($.get('y'), $common.get('z', []))"},
        parameters={"cmd": {"yaql_exp": "added($node.get('disks')).toJson()"}},
    )
    both = _check(asking)

    assert [_told(finding) for finding in both] == [
        ("warning", "G017", "tasks.yaml:4"), ("warning", "G017", "tasks.yaml:6"),
    ]  # fmt: skip
    assert [variable for finding in both for variable in ("$common", "$node") if variable in finding.message] == [
        "$common", "$node",
    ]  # fmt: skip
    assert "changed($.nodes)" in both[0].hint
    assert check_references(merge_layers([layer(RELEASE, asking)])) == tuple(
        replace(finding, place=replace(finding.place, layer="release")) for finding in both
    )


@pytest.mark.parametrize("empty", [None, "", " \t", [], {}])
def test_empty_condition_is_a_warning_before_and_after_merge(empty: Any) -> None:
    stated = task("a", source=replace(FILE, lines={"condition": 4}), type="reboot", roles=["x"], condition=empty)
    (result,) = _check(stated)

    assert _told(result) == ("warning", "G019", "tasks.yaml:4")
    assert [finding.code for finding in check_references(merge_layers([layer(RELEASE, stated)]))] == ["G019"]


@pytest.mark.parametrize("stated", [False, 0, True, [0], "1", {"yaql_exp": ""}, {"yaql_exp": None}])
def test_a_condition_that_says_something_is_good(stated: Any) -> None:
    assert _check(task("a", type="reboot", condition=stated)) == ()


@pytest.mark.parametrize(
    "expression", ["changed($)", "changed($.x) and $common.y", "changed($.x = '$common')", "new($common.x)"]
)
def test_what_can_change_is_good(expression: str) -> None:
    assert (
        _check(task("a", type="shell", parameters={"cmd": "changed($common)"}, condition={"yaql_exp": expression}))
        == ()
    )
