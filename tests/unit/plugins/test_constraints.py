"""The language of version constraints, and which of several records fits best."""

from __future__ import annotations

import pytest
from call_count import calls
from hypothesis import given
from hypothesis import strategies as st

from fuelclient.errors import InvalidDocument
from fuelclient.model.finding import Place
from fuelclient.plugins.constraints import KEYS, best, check, fits, parse, version_of

NUMBERS = st.lists(st.integers(0, 12), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))


@pytest.mark.parametrize(
    ("constraint", "release", "fitting"),
    [
        ("==8", "liberty-8.0.1", True),
        ("==8.0", "liberty-8", True),
        ("==8.0.1", "liberty-8.0", False),
        ("==8,==9", "mitaka-9.0", True),
        ("==8,==9", "newton-10.0", False),
        ("<=8", "liberty-8.0.1", True),
        ("<8", "liberty-8.0.1", False),
        (">8", "liberty-8.0.1", False),
        (">8", "mitaka-9.0", True),
        (">=8.0.1", "liberty-8.0", False),
        (">=9", "newton-10.0", True),
        ("!=8", "liberty-8.0.1", False),
        ("!=8,!=9", "newton-10.0", True),
        ("!=8,!=9", "mitaka-9.0", False),
        (">=7,<=8", "kilo-7.0", True),
        (">=7,<=8", "mitaka-9.0", False),
        ("==7,==9,<9", "mitaka-9.0", False),
        (" >= 7 , < 9 ", "liberty-8.0", True),
        ("==9", "base-mitaka-9.0", True),
        ("==9", "mitaka-9.0-custom", True),
        (">=1", "1.0.0", False),
    ],
)
def test_fuel_versions(constraint: str, release: str, fitting: bool) -> None:
    assert fits({"fuel-version": constraint}, release) is fitting


@pytest.mark.parametrize(
    ("constraint", "release", "fitting"),
    [
        ("==2014.2,==2015.1", "2015.1-7.0", True),
        ("==2014.2,==2015.1", "2015.1.0-7.0", True),
        ("==2014.2,==2015.1", "liberty-8.0", False),
        ("==kilo", "2015.1.0-7.0", True),
        ("==2015.1", "kilo-9.0", True),
        ("==2015.2", "liberty-8.0", True),
        ("==Liberty", "liberty-8.0", True),
        ("==2015", "liberty-8.0", True),
        (">=liberty-8.0", "liberty-8.0", True),
        (">=liberty-8.0", "liberty-7.0", False),
        (">=liberty-8.0", "mitaka-7.0", True),
        (">=liberty-8.0", "kilo-9.0", False),
        (">=liberty-8.0", "liberty", False),
        (">=liberty", "liberty", True),
        (">=icehouse,<ocata", "newton-10.0", True),
        (">=icehouse,<ocata", "ocata-11.0", False),
        ("<=mitaka", "2016.1.2-9.0", True),
        ("<2014.2.2", "juno-6.0", True),
        ("==1.0", "1.0.0", True),
        (">=liberty", "1.0.0", False),
        ("==base-newton", "base-newton-10.0", True),
        ("==base-newton-10.0", "base-newton-10.0.1", True),
        ("==base-newton-10.0", "base-newton-9.0", False),
        ("!=base-newton", "newton-10.0", True),
        ("!=base-newton", "base-newton-10.0", False),
        (">=mitaka", "base-newton-10.0", False),
        ("!=mitaka", "base-newton-10.0", True),
    ],
)
def test_openstack_versions(constraint: str, release: str, fitting: bool) -> None:
    assert fits({"os-version": constraint}, release) is fitting


def test_the_order_of_openstack_s_releases() -> None:
    names = ["icehouse", "juno", "kilo", "liberty", "mitaka", "newton", "ocata", "pike", "queens", "zed", "epoxy"]
    years = ["2014.1", "2014.2", "2015.1", "2015.2", "2016.1", "2016.2", "2017.1", "2017.2", "2018.1", "2022.2"]
    assert [version_of(name) for name in names] == [version_of(year) for year in (*years, "2025.1")]


@given(NUMBERS, NUMBERS)
def test_a_version_is_below_among_or_above_another(release: str, stated: str) -> None:
    holds = {
        word: fits({"fuel-version": f"{word}{stated}"}, f"mitaka-{release}")
        for word in ("<", "==", ">", "<=", ">=", "!=")
    }
    assert [holds["<"], holds["=="], holds[">"]].count(True) == 1
    assert holds["<="] is (holds["<"] or holds["=="])
    assert holds[">="] is (holds[">"] or holds["=="])
    assert holds["!="] is not holds["=="]


@given(NUMBERS, NUMBERS)
def test_a_version_is_among_itself_and_everything_below_it(stated: str, more: str) -> None:
    assert fits({"fuel-version": f"=={stated}"}, f"mitaka-{stated}")
    assert fits({"fuel-version": f"=={stated}"}, f"mitaka-{stated}.{more}")


@pytest.mark.parametrize(
    ("key", "value", "message", "hint"),
    [
        ("fuel-version", 9, "the number 9", "in quotes"),
        ("fuel-version", None, "is empty", "in quotes"),
        ("fuel-version", ["==9"], "a list", "in quotes"),
        ("fuel-version", "", "'' in fuel-version", ">=8,<10"),
        ("fuel-version", "9", "'9' in fuel-version", ">=8,<10"),
        ("fuel-version", "=9", "'=9' in fuel-version", ">=8,<10"),
        ("fuel-version", "==9,", "'' in fuel-version", ">=8,<10"),
        ("fuel-version", ">=9 <10", "'>=9 <10' in fuel-version", ">=8,<10"),
        ("fuel-version", "==9.x", "'9.x' in fuel-version is not a version of Fuel", ">=8.0"),
        ("fuel-version", "==mitaka", "'mitaka' in fuel-version is not a version of Fuel", ">=8.0"),
        ("os-version", ">=libery-8.0", "'libery' in os-version is not an OpenStack release", "Did you mean liberty?"),
        ("os-version", "<ExampleRelease", "'examplerelease' in os-version is not an OpenStack release", "== or !="),
        ("os-version", "liberty", "'liberty' in os-version", "==kilo"),
    ],
)
def test_what_cannot_be_read_is_told(key: str, value: object, message: str, hint: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        parse(key, value)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert not fits({key: value}, "mitaka-9.0")


def test_unreadable_constraint_is_a_finding_at_its_key() -> None:
    lines = {"os-version": 3, "fuel-version": 4}
    record = {"id": "a", "os-version": ">>", "fuel-version": "x"}
    found = list(check(record, "task a", lambda key: Place("tasks.yaml", lines[key])))
    assert [(str(one.place), one.code, one.is_error) for one in found] == [
        ("tasks.yaml:3", "P040", True),
        ("tasks.yaml:4", "P040", True),
    ]
    assert all(one.message.startswith("task a: ") for one in found)
    assert list(check({"os-version": "==kilo", "fuel-version": ">=7"}, "task a", lambda _: Place())) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"os-version": ">=liberty"}, {"fuel-version": ">=9"}),  # the operating system's release counts first
        ({"os-version": ">=mitaka"}, {"os-version": ">=liberty"}),
        ({"os-version": "==liberty,==mitaka"}, {"os-version": "==liberty,>=kilo,==mitaka-8,<ocata,<pike"}),
        ({"fuel-version": ">8"}, {"fuel-version": ">=8"}),
        ({"fuel-version": "==9.0"}, {"fuel-version": ">=9"}),
        ({"fuel-version": ">=9,<10"}, {"fuel-version": ">=9"}),
        ({"fuel-version": "<10"}, {}),
        ({"os-version": "==mitaka-9.0"}, {"os-version": "==mitaka"}),
    ],
)
def test_the_better_of_two_records_is_used_in_either_order(first: dict[str, str], second: dict[str, str]) -> None:
    assert best([first, second], "mitaka-9.0").index == 0
    assert best([second, first], "mitaka-9.0").index == 1
    assert best([second, first], "mitaka-9.0").tied == (1,)


def test_the_first_of_equals_is_used_and_all_are_named() -> None:
    records = [{"fuel-version": ">=8"}, {"os-version": "==mitaka"}, {"os-version": "==2016.1"}]
    choice = best(records, "mitaka-9.0")
    assert (choice.index, choice.tied) == (1, (1, 2))


def test_record_for_a_named_release_wins_over_one_for_all() -> None:
    assert best([{}, {"os-version": "==example"}], "example-9.0").index == 1


def test_nothing_fits() -> None:
    choice = best([{"fuel-version": "==8"}, {"os-version": "==kilo"}], "mitaka-9.0")
    assert (choice.index, choice.tied) == (None, ())


HOSTILE = {
    "number": ">=" + "9" * 100_000,
    "parts": "==" + "1." * 50_000 + "1",
    "dashes": "==" + "a-1" * 50_000,
    "terms": ",".join(["!=7"] * 50_000),
    "operators": "=" * 100_000,
}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_constraints_are_read_or_refused_at_once(key: str, name: str) -> None:
    text = HOSTILE[name]
    count = calls(lambda: (fits({key: text}, "mitaka-9.0"), fits({"os-version": "==kilo"}, text)))
    assert count < 20 * len(text)
