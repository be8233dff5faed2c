"""What becomes of `*_path` keys: files, patterns and directories."""

from __future__ import annotations

from unit.plugins.load.loading import Build

from fuelclient.model.document import Marked
from fuelclient.plugins.load import load_package


def test_a_file_becomes_the_data_under_the_key_without_suffix(build: Build) -> None:
    root = build("thing_path: data/a.yaml\n", data__a_yaml="k: 1\n")
    assert load_package(root).metadata["thing"] == {"k": 1}


def test_the_key_with_the_suffix_is_gone(build: Build) -> None:
    root = build("thing_path: a.yaml\n", a_yaml="k: 1\n")
    assert "thing_path" not in load_package(root).metadata


def test_json_is_read(build: Build) -> None:
    assert load_package(build("thing_path: a.json\n", a_json='{"k": [1, 2]}')).metadata["thing"] == {"k": [1, 2]}


def test_a_directory_stays_as_it_is(build: Build) -> None:
    root = build("thing_path: data/\n", data__a_yaml="k: 1\n")
    assert load_package(root).metadata["thing_path"] == "data/"


def test_a_value_that_is_no_text_is_an_ordinary_value(build: Build) -> None:
    assert load_package(build("thing_path: [a.yaml]\n")).metadata["thing_path"] == ["a.yaml"]


def test_keys_below_mappings_and_lists_are_resolved(build: Build) -> None:
    root = build("a: [{b: {thing_path: a.yaml}}]\n", a_yaml="[7]\n")
    assert load_package(root).metadata["a"] == [{"b": {"thing": [7]}}]


def test_keys_in_loaded_files_are_not_searched(build: Build) -> None:
    root = build("thing_path: a.yaml\n", a_yaml="other_path: b.yaml\n")
    assert load_package(root).metadata["thing"] == {"other_path": "b.yaml"}


def test_a_pattern_joins_lists_in_the_order_of_file_names(build: Build) -> None:
    root = build("thing_path: d/*.yaml\n", d__b_yaml="[2]\n", d__a_yaml="[1]\n", d__c_yaml="[3]\n")
    assert load_package(root).metadata["thing"] == [1, 2, 3]


def test_two_stars_go_through_all_directories(build: Build) -> None:
    root = build("thing_path: d/**/*.yaml\n", d__z_yaml="[3]\n", d__a__x__y_yaml="[1]\n", d__b__y_yaml="[2]\n")
    assert load_package(root).metadata["thing"] == [1, 2, 3]


def test_a_pattern_unites_mappings_and_the_last_file_wins_a_key(build: Build) -> None:
    root = build("thing_path: d/*.yaml\n", d__a_yaml="k: {y: 1}\n", d__b_yaml="k: {z: 2}\nj: 1\n")
    assert load_package(root).metadata["thing"] == {"k": {"z": 2}, "j": 1}


def test_an_empty_file_counts_for_nothing(build: Build) -> None:
    root = build("thing_path: d/*.yaml\n", d__a_yaml="# nothing\n", d__b_yaml="[1]\n")
    assert load_package(root).metadata["thing"] == [1]


def test_lines_are_kept(build: Build) -> None:
    metadata = load_package(build("thing_path: a.yaml\n", a_yaml="\nk: 1\n")).metadata
    assert isinstance(metadata["thing"], Marked)
    assert metadata["thing"].lines == {"k": 2}
