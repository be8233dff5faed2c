"""The loader of unpacked packages: what becomes of `*_path` keys, and that nothing leads out of a package."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from corpus import corpus

from fuelclient.errors import InvalidDocument, NotFound
from fuelclient.model.document import Marked
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.package import Package
from fuelclient.plugins.tree import load_package, plugin_of

HEAD = "name: sample\nversion: 1.2.3\npackage_version: 5.0.0\n"

Build = Callable[..., Path]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Makes a package of the given metadata (behind the head, which has three lines) and files."""

    def package(metadata: str = "", *, head: str = HEAD, **named: str) -> Path:
        root = tmp_path / "sample"
        root.mkdir(exist_ok=True)
        (root / "metadata.yaml").write_text(head + metadata)
        for name, text in named.items():
            path = root / name.replace("__", "/").replace("_yaml", ".yaml").replace("_json", ".json")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return root

    return package


def refused(root: Path) -> list[Finding]:
    """The error findings with which a package is refused."""
    with pytest.raises(InvalidDocument) as caught:
        load_package(root)
    return [one for one in caught.value.findings if isinstance(one, Finding) and one.is_error]


def only(root: Path) -> tuple[str, str, str]:
    """The file, with its line, the code and the message of the one error of a package."""
    [finding] = refused(root)
    return str(finding.place).removeprefix(f"{root}/"), finding.code, finding.message


class TestPaths:
    def test_a_file_becomes_the_data_under_the_key_without_suffix(self, build: Build) -> None:
        root = build("thing_path: data/a.yaml\n", data__a_yaml="k: 1\n")
        assert load_package(root).metadata["thing"] == {"k": 1}

    def test_the_key_with_the_suffix_is_gone(self, build: Build) -> None:
        root = build("thing_path: a.yaml\n", a_yaml="k: 1\n")
        assert "thing_path" not in load_package(root).metadata

    def test_json_is_read(self, build: Build) -> None:
        assert load_package(build("thing_path: a.json\n", a_json='{"k": [1, 2]}')).metadata["thing"] == {"k": [1, 2]}

    def test_a_directory_stays_as_it_is(self, build: Build) -> None:
        root = build("thing_path: data/\n", data__a_yaml="k: 1\n")
        assert load_package(root).metadata["thing_path"] == "data/"

    def test_a_value_that_is_no_text_is_an_ordinary_value(self, build: Build) -> None:
        assert load_package(build("thing_path: [a.yaml]\n")).metadata["thing_path"] == ["a.yaml"]

    def test_keys_below_mappings_and_lists_are_resolved(self, build: Build) -> None:
        root = build("a: [{b: {thing_path: a.yaml}}]\n", a_yaml="[7]\n")
        assert load_package(root).metadata["a"] == [{"b": {"thing": [7]}}]

    def test_keys_in_loaded_files_are_not_searched(self, build: Build) -> None:
        root = build("thing_path: a.yaml\n", a_yaml="other_path: b.yaml\n")
        assert load_package(root).metadata["thing"] == {"other_path": "b.yaml"}

    def test_a_pattern_joins_lists_in_the_order_of_file_names(self, build: Build) -> None:
        root = build("thing_path: d/*.yaml\n", d__b_yaml="[2]\n", d__a_yaml="[1]\n", d__c_yaml="[3]\n")
        assert load_package(root).metadata["thing"] == [1, 2, 3]

    def test_two_stars_go_through_all_directories(self, build: Build) -> None:
        root = build("thing_path: d/**/*.yaml\n", d__z_yaml="[3]\n", d__a__x__y_yaml="[1]\n", d__b__y_yaml="[2]\n")
        assert load_package(root).metadata["thing"] == [1, 2, 3]

    def test_a_pattern_unites_mappings_and_the_last_file_wins_a_key(self, build: Build) -> None:
        root = build("thing_path: d/*.yaml\n", d__a_yaml="k: {y: 1}\n", d__b_yaml="k: {z: 2}\nj: 1\n")
        assert load_package(root).metadata["thing"] == {"k": {"z": 2}, "j": 1}

    def test_an_empty_file_counts_for_nothing(self, build: Build) -> None:
        root = build("thing_path: d/*.yaml\n", d__a_yaml="# nothing\n", d__b_yaml="[1]\n")
        assert load_package(root).metadata["thing"] == [1]

    def test_lines_are_kept(self, build: Build) -> None:
        metadata = load_package(build("thing_path: a.yaml\n", a_yaml="\nk: 1\n")).metadata
        assert isinstance(metadata["thing"], Marked)
        assert metadata["thing"].lines == {"k": 2}


class TestRefusals:
    def test_mixed_roots(self, build: Build) -> None:
        root = build("thing_path: d/*.yaml\n", d__a_yaml="[1]\n", d__b_yaml="k: 1\n")
        place, code, message = only(root)
        assert (place, code) == ("metadata.yaml:4", "P037")
        assert "a.yaml is a list" in message
        assert "b.yaml is a mapping" in message

    def test_mixed_roots_of_a_graph(self, build: Build) -> None:
        root = build(
            "graphs:\n- type: default\n  tasks_path: d/*.yaml\n",
            d__a_yaml="- {id: a, type: stage}\n",
            d__b_yaml="id: b\n",
        )
        assert ("metadata.yaml:6", "P037") in [only_place(finding, root) for finding in refused(root)]

    def test_a_root_that_is_no_data(self, build: Build) -> None:
        assert only(build("thing_path: a.yaml\n", a_yaml="word\n"))[:2] == ("metadata.yaml:4", "P037")

    def test_a_missing_file_is_reported_at_its_key(self, build: Build) -> None:
        place, code, message = only(build("a: 1\nthing_path: nowhere.yaml\n"))
        assert (place, code) == ("metadata.yaml:5", "P004")
        assert "nowhere.yaml" in message

    @pytest.mark.parametrize("name", ["deployment_scripts_path", "repository_path"])
    def test_a_missing_directory(self, build: Build, name: str) -> None:
        assert only(build(f"{name}: nowhere/\n"))[:2] == ("metadata.yaml:4", "P004")

    def test_a_pattern_that_matches_nothing(self, build: Build) -> None:
        assert only(build("thing_path: d/*.yaml\n"))[:2] == ("metadata.yaml:4", "P037")

    def test_a_pattern_that_cannot_be_read(self, build: Build) -> None:
        assert only(build("thing_path: d/**x.yaml\n"))[:2] == ("metadata.yaml:4", "P037")

    @pytest.mark.parametrize(
        "name", ["../outside.yaml", "d/../../outside.yaml", "../*.yaml", "d/../../*.yaml", "..", '"a\\0b"', '""']
    )
    def test_a_path_out_of_the_package(self, build: Build, tmp_path: Path, name: str) -> None:
        (tmp_path / "outside.yaml").write_text("secret: 1\n")
        assert only(build(f"thing_path: {name}\n"))[:2] == ("metadata.yaml:4", "P004")

    @pytest.mark.parametrize("pattern", ["outside.yaml", "*.yaml", ""])
    def test_an_absolute_path(self, build: Build, tmp_path: Path, pattern: str) -> None:
        (tmp_path / "outside.yaml").write_text("secret: 1\n")
        assert only(build(f"thing_path: {tmp_path}/{pattern}\n"))[:2] == ("metadata.yaml:4", "P004")

    @pytest.mark.parametrize("name", ["link.yaml", "*.yaml", "links/outside.yaml", "links/*.yaml", "links"])
    def test_a_symbolic_link_out_of_the_package(self, build: Build, tmp_path: Path, name: str) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "outside.yaml").write_text("secret: 1\n")
        root = build(f"thing_path: '{name}'\n")
        (root / "link.yaml").symlink_to(tmp_path / "elsewhere" / "outside.yaml")
        (root / "links").symlink_to(tmp_path / "elsewhere")
        assert ("metadata.yaml:4", "P004") in [only_place(finding, root) for finding in refused(root)]

    def test_a_fixed_file_that_is_a_link_out_of_the_package(self, build: Build, tmp_path: Path) -> None:
        (tmp_path / "outside.yaml").write_text("[]\n")
        root = build()
        (root / "deployment_tasks.yaml").symlink_to(tmp_path / "outside.yaml")
        assert only(root)[:2] == ("deployment_tasks.yaml", "P004")

    def test_a_loop_of_links(self, build: Build) -> None:
        root = build("thing_path: a.yaml\n")
        (root / "a.yaml").symlink_to(root / "b.yaml")
        (root / "b.yaml").symlink_to(root / "a.yaml")
        assert only(root)[:2] == ("metadata.yaml:4", "P004")

    def test_a_link_within_the_package_is_followed(self, build: Build) -> None:
        root = build("thing_path: link.yaml\n", d__a_yaml="k: 1\n")
        (root / "link.yaml").symlink_to(root / "d" / "a.yaml")
        assert load_package(root).metadata["thing"] == {"k": 1}

    def test_everything_is_reported_at_once(self, build: Build) -> None:
        root = build("a_path: ../a.yaml\nb_path: b.yaml\nc_path: c/*.yaml\n")
        assert [finding.code for finding in refused(root)] == ["P004", "P004", "P037"]

    def test_a_file_that_is_no_yaml(self, build: Build) -> None:
        [finding] = refused(build("thing_path: a.yaml\n", a_yaml="k: [1\n"))
        assert finding.place.file.endswith("a.yaml")


def only_place(finding: Finding, root: Path) -> tuple[str, str]:
    """A finding's place below the package, and its code."""
    return str(finding.place).removeprefix(f"{root}/"), finding.code


class TestMetadata:
    def test_no_directory(self, tmp_path: Path) -> None:
        with pytest.raises(NotFound):
            load_package(tmp_path / "nowhere")

    def test_no_metadata(self, tmp_path: Path) -> None:
        assert only(tmp_path)[:2] == ("metadata.yaml", "P001")

    def test_metadata_that_is_a_list(self, build: Build) -> None:
        assert only(build(head="- name: sample\n"))[:2] == ("metadata.yaml:1", "P001")

    def test_a_version_that_is_a_number_is_reported_at_its_line(self, build: Build) -> None:
        root = build(head="name: sample\nversion: 1.0\npackage_version: 5.0.0\n")
        assert only(root) == ("metadata.yaml:2", "P003", "version is not a text")

    def test_what_is_missing_is_reported_together(self, build: Build) -> None:
        assert [finding.message for finding in refused(build(head="title: x\n"))] == [
            "name is missing",
            "version is missing",
            "package_version is missing",
        ]

    @pytest.mark.parametrize("line", ["name: ../sample", "name: Sample", "version: ../1.0.0", "version: '..'"])
    def test_a_name_or_version_that_cannot_name_a_directory(self, build: Build, line: str) -> None:
        stated = {"name": "name: sample", "version": "version: 1.0.0", "package_version": "package_version: 5.0.0"}
        stated[line.split(":")[0]] = line
        [finding] = refused(build(head="\n".join(stated.values())))
        assert (finding.code, finding.place.line) == ("P003", list(stated.values()).index(line) + 1)

    @pytest.mark.parametrize("version", ["7.0.0", "50.0.0", "x"])
    def test_an_unknown_package_version(self, build: Build, version: str) -> None:
        root = build(head=f"name: sample\nversion: 1.0.0\npackage_version: {version}\n")
        assert only(root)[:2] == ("metadata.yaml:3", "P002")


RELEASE = """\
releases:
- is_release: true
  release_name: sample
  description: a sample
  os: ubuntu
  version: ocata-11.0
  roles_path: roles.yaml
"""


class TestReleases:
    def test_short_names_of_fields_become_the_release_s_own(self, build: Build) -> None:
        [packaged] = load_package(build(RELEASE, roles_yaml="compute: {name: Compute}\n")).releases
        release = packaged.release
        assert (release.id, release.name, release.version) == (0, "sample", "ocata-11.0")
        assert (release.operating_system, release.description, release.state) == ("ubuntu", "a sample", "available")
        assert release.metadata == {"roles_metadata": {"compute": {"name": "Compute"}}}

    def test_a_record_without_a_name(self, build: Build) -> None:
        root = build("releases:\n- {is_release: true, version: a-1, os: x, description: d}\n")
        assert only(root)[:2] == ("metadata.yaml:5", "P030")

    def test_records_that_extend_a_release_define_none(self, build: Build) -> None:
        package = load_package(build("releases:\n- {os: ubuntu, version: ocata-11.0}\n"))
        assert package.releases == ()
        assert [(record.os, record.version, record.contents) for record in package.records] == [
            ("ubuntu", "ocata-11.0", None)
        ]

    def test_graphs_are_read_flat_and_nested(self, build: Build) -> None:
        root = build(
            RELEASE + "  graphs:\n"
            "  - {type: default, name: first, tasks_path: g/*.yaml, on_stop: {}}\n"
            "  - {type: nested, graph: {name: second, tasks_path: g/a.yaml}}\n"
            "  - {type: inline, tasks: [{id: c, type: stage}]}\n"
            "  - {type: whole, graph_path: w.yaml}\n",
            roles_yaml="{}\n",
            g__a_yaml="- {id: a, type: stage}\n",
            g__b_yaml="- {id: b, type: stage}\n",
            w_yaml="name: third\ntasks:\n- {id: d, type: stage}\n",
        )
        graphs = load_package(root).releases[0].graphs
        assert {kind: (graph.name, [task.id for task in graph.tasks]) for kind, graph in graphs.items()} == {
            "default": ("first", ["a", "b"]),
            "nested": ("second", ["a"]),
            "inline": (None, ["c"]),
            "whole": ("third", ["d"]),
        }
        assert graphs["default"].metadata == {"on_stop": {}}

    def test_a_task_knows_the_file_it_was_read_from(self, build: Build) -> None:
        root = build(
            RELEASE + "  graphs: [{type: default, tasks_path: '**/g.yaml'}]\n",
            roles_yaml="{}\n",
            d__g_yaml="- id: a\n  type: stage\n",
        )
        [task] = load_package(root).releases[0].graphs["default"].tasks
        assert str(task.source.place("type")) == f"{root}/d/g.yaml:2"

    def test_a_base_lies_below_the_record(self, build: Build) -> None:
        root = build(
            RELEASE + "  base_release_path: base/release.yaml\n",
            roles_yaml="compute: {name: Compute}\n",
            base__release_yaml="state: unavailable\nos: centos\nnetworks_path: base/nets.yaml\n"
            "roles: {compute: {name: Old, weight: 1}, storage: {}}\n"
            "graphs: [{type: deletion, tasks: [{id: a, type: stage}]}]\n",
            base__nets_yaml="public: {}\n",
        )
        [packaged] = load_package(root).releases
        assert (packaged.release.state, packaged.release.operating_system) == ("unavailable", "ubuntu")
        assert packaged.release.metadata["networks_metadata"] == {"public": {}}
        assert packaged.release.metadata["roles_metadata"] == {
            "compute": {"name": "Compute", "weight": 1},
            "storage": {},
        }
        assert list(packaged.graphs) == ["deletion"]

    def test_an_error_in_a_base_is_reported_in_its_file(self, build: Build) -> None:
        root = build(
            RELEASE + "  base_release_path: base.yaml\n",
            roles_yaml="{}\n",
            base_yaml="state: available\nnetworks_path: nowhere.yaml\n",
        )
        assert only(root)[:2] == ("base.yaml:2", "P004")

    def test_a_graph_type_that_is_listed_twice(self, build: Build) -> None:
        root = build("graphs:\n- {type: a, tasks: []}\n- {type: a, tasks: []}\n")
        assert only(root)[:2] == ("metadata.yaml:6", "P003")


def names(package: Package) -> list[str]:
    return [task.id for task in package.contents.graphs["default"].tasks]


class TestOwnTasks:
    FILES = {
        "tasks_yaml": "- {role: '*', stage: post_deployment/100, type: shell, parameters: {cmd: a, timeout: 1}}\n",
        "deployment_tasks_yaml": "- {id: b, type: shell, version: 2.1.0, parameters: {cmd: b}}\n",
        "node_roles_yaml": "extra: {name: Extra, description: e, tasks: [hiera, b]}\n",
    }

    def test_legacy_tasks_come_first(self, build: Build) -> None:
        head = HEAD.replace("5.0.0", "3.0.0")
        package = load_package(build(head=head, **self.FILES))
        assert names(package) == ["sample:post_deployment#1", "b"]
        assert [task.legacy for task in package.contents.graphs["default"].tasks] == [True, False]

    def test_version_5_ignores_legacy_tasks_and_says_so(self, build: Build) -> None:
        package = load_package(build(**self.FILES))
        assert names(package) == ["extra", "b"]
        assert [(finding.severity, finding.code) for finding in package.findings] == [(Severity.INFO, "P014")]

    def test_the_tasks_of_a_role_become_a_group(self, build: Build) -> None:
        package = load_package(build(**self.FILES))
        group = package.contents.graphs["default"].tasks[0]
        assert (group.type, group.attributes["roles"], group.attributes["tasks"]) == (
            "group",
            ["extra"],
            ["hiera", "b"],
        )
        assert group.version_tuple >= (2, 0, 0)
        assert package.contents.roles == {"extra": {"name": "Extra", "description": "e", "tags": ["extra"]}}

    def test_a_group_of_the_package_s_own_wins_over_the_tasks_of_a_role(self, build: Build) -> None:
        files = {**self.FILES, "deployment_tasks_yaml": "- {id: extra, type: group, roles: [extra], tasks: [x]}\n"}
        package = load_package(build(**files))
        assert [task.attributes["tasks"] for task in package.contents.graphs["default"].tasks] == [["x"]]

    def test_a_plugin_carries_its_roles_and_volumes(self, build: Build) -> None:
        package = load_package(build("title: Sample\n", volumes_yaml="volumes: []\n", **self.FILES))
        plugin = plugin_of(package)
        assert (plugin.name, plugin.version, plugin.title, plugin.directory) == (
            "sample",
            "1.2.3",
            "Sample",
            "sample-1.2",
        )
        assert list(plugin.metadata["roles_metadata"]) == ["extra"]
        assert plugin.metadata["volumes_metadata"] == {"volumes_roles_mapping": {}, "volumes": []}
        assert plugin.metadata["tags_metadata"] == {"extra": {"has_primary": False}}

    @pytest.mark.parametrize("stated", ["7", "{a: b}", "[[a]]"])
    def test_the_tasks_of_a_role_are_names(self, build: Build, stated: str) -> None:
        assert only(build(node_roles_yaml=f"extra:\n  tasks: {stated}\n"))[:2] == ("node_roles.yaml:2", "P003")

    def test_roles_that_are_a_list(self, build: Build) -> None:
        assert only(build(node_roles_yaml="- extra\n"))[:2] == ("node_roles.yaml:1", "P003")


class TestShownAs:
    """An archive is unpacked somewhere, and messages name the archive."""

    def test_findings_and_tasks_have_the_name_that_is_shown(self, build: Build) -> None:
        root = build(
            "thing_path: nowhere.yaml\nother_path: broken.yaml\n", broken_yaml="k: [\n", node_roles_yaml="a: 1\n"
        )
        with pytest.raises(InvalidDocument) as caught:
            load_package(root, shown_as="x.rpm!/")
        assert "x.rpm!" in caught.value.message
        assert sorted(str(one.place) for one in caught.value.findings if isinstance(one, Finding)) == [
            "x.rpm!/broken.yaml:2",
            "x.rpm!/metadata.yaml:4",
            "x.rpm!/node_roles.yaml:1",
        ]
        assert str(root) not in str(caught.value.findings)

    def test_a_file_that_cannot_be_read_is_told_without_its_real_path(self, build: Build) -> None:
        root = build("thing_path: a.yaml\n")
        (root / "a.yaml").mkdir()
        (root / "deployment_tasks.yaml").mkdir()
        with pytest.raises(InvalidDocument) as caught:
            load_package(root, shown_as="x.fp!")
        [finding] = [one for one in caught.value.findings if isinstance(one, Finding)]
        assert (str(finding.place), finding.code) == ("x.fp!/deployment_tasks.yaml", "P037")
        assert finding.message == "x.fp!/deployment_tasks.yaml is a directory"

    def test_tasks_know_the_name_that_is_shown(self, build: Build) -> None:
        root = build(deployment_tasks_yaml="- id: a\n  type: stage\n")
        [task] = load_package(root, shown_as="x.fp!").contents.graphs["default"].tasks
        assert str(task.source.place("type")) == "x.fp!/deployment_tasks.yaml:2"

    def test_a_file_that_is_named_often_is_told_about_once(self, build: Build) -> None:
        root = build(
            "releases:\n"
            "- {os: ubuntu, version: mitaka-9.0, node_roles_path: r.yaml}\n"
            "- {os: ubuntu, version: newton-10.0, node_roles_path: r.yaml}\n",
            r_yaml="a: 1\n",
        )
        assert only(root)[:2] == ("r.yaml:1", "P003")


class TestScripts:
    def test_every_directory_of_scripts_counts_once(self, build: Build) -> None:
        root = build(
            "deployment_scripts_path: s/\n"
            "releases:\n"
            "- {os: ubuntu, version: mitaka-9.0, deployment_scripts_path: s/}\n"
            "- {os: ubuntu, version: newton-10.0, deployment_scripts_path: t}\n",
            s__deploy="",
            s__a__b="",
            t__c="",
            u__d="",
        )
        assert load_package(root).scripts == ("s/a/b", "s/deploy", "t/c")

    def test_no_link_leads_a_script_out_of_the_package(self, build: Build, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "secret").write_text("")
        root = build("deployment_scripts_path: s\n", s__a="", t__b="")
        (root / "s" / "file").symlink_to(tmp_path / "elsewhere" / "secret")
        (root / "s" / "folder").symlink_to(tmp_path / "elsewhere")
        (root / "s" / "within").symlink_to(root / "t" / "b")
        (root / "s" / "nowhere").symlink_to(root / "t" / "c")
        assert load_package(root).scripts == ("s/a", "s/within")


SHELVES = ["plugins", "plugins-branches", "fpb-examples", "release-plugins"]


@pytest.mark.corpus
class TestCorpus:
    def test_a_release_of_the_specification_s_example(self) -> None:
        package = load_package(corpus("release-plugins", "fuel_plugin_example_v5_release@365418-ps5"))
        [packaged] = package.releases
        assert (packaged.release.name, packaged.release.version) == ("ExampleRelease", "1.0.0")
        assert set(packaged.graphs) >= {"default", "deployment", "provisioning", "deletion", "network_verification"}
        assert packaged.release.metadata["roles_metadata"]
        assert packaged.release.description == "Example Release Description"  # not that of its base
        assert "modes_metadata" in packaged.release.metadata  # which only its base has

    def test_a_release_beside_extensions(self) -> None:
        package = load_package(corpus("release-plugins", "fpb_v5_template_rendered@365418-ps34"))
        [packaged] = package.releases
        assert [task.id for task in packaged.graphs["provisioning"].tasks] == ["provision"]
        assert [record.version for record in package.records] == ["mitaka-9.0", "newton-10.0"]
        assert set(package.metadata) >= {"node_attributes_metadata", "nic_attributes_metadata"}

    @pytest.mark.parametrize("shelf", SHELVES)
    def test_every_package_is_loaded(self, shelf: str) -> None:
        directories = sorted(path.parent for path in corpus(shelf).glob("*/metadata.yaml"))
        loaded = [load_package(directory) for directory in directories]
        assert len(loaded) == len(directories) > 0
        assert all(package.contents.graphs["default"].tasks or package.releases for package in loaded)
        assert all(package.scripts for package in loaded)

    @pytest.mark.parametrize("shelf", SHELVES)
    def test_nothing_worse_than_a_repeated_key_is_found(self, shelf: str) -> None:
        packages = [load_package(path.parent) for path in corpus(shelf).glob("*/metadata.yaml")]
        assert {finding.code for package in packages for finding in package.findings} <= {"G008"}

    def test_real_roles_volumes_and_components(self) -> None:
        contents = load_package(corpus("plugins", "fuel-plugin-elasticsearch-kibana")).contents
        assert contents.tags == {"elasticsearch_kibana": {"has_primary": True}}
        assert list(contents.volumes["volumes_roles_mapping"]) == ["elasticsearch_kibana"]
        assert contents.volumes["volumes"][0]["volumes"][0]["mount"] == "/opt/es-data"
        assert [role["id"] for role in contents.network_roles] == ["elasticsearch", "kibana"]
        bound = load_package(corpus("plugins", "fuel-plugin-nsxv")).contents.components[0]["bind"]
        assert bound == [["cluster:net_segment_type", "tun"]]  # a YAML !!pairs, which JSON has to hold

    def test_all_plugins_are_loaded_well_below_a_second(self) -> None:
        directories = [path.parent for path in corpus("plugins").glob("*/metadata.yaml")]
        started = time.process_time()
        for directory in directories:
            load_package(directory)
        assert time.process_time() - started < 1
