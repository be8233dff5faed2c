"""Laws of the merge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from properties.strategies import OWNERS, layers, values

from fuelclient.graph.merge import merge_layers
from fuelclient.model.graph import Layer, Level, MergedGraph, MergedTask, MergePolicy
from fuelclient.model.task import Task

policies = st.sampled_from(MergePolicy)
ONE_PLUGIN = (OWNERS[0], OWNERS[1], OWNERS[3])


def _plain(graph: MergedGraph) -> list[tuple[str, Mapping[str, Any]]]:
    return [(task.id, task.task.attributes) for task in graph.tasks]


def _over(old: Any, new: Any) -> Any:
    """What the specification says of an override: mappings merge, expressions, lists and scalars replace."""
    if isinstance(old, dict) and isinstance(new, dict) and "yaql_exp" not in old and "yaql_exp" not in new:
        return {
            key: _over(old[key], new[key]) if key in old and key in new else {**old, **new}[key]
            for key in {**old, **new}
        }
    return new


def _chain(stack: Sequence[Layer], task_id: str, policy: MergePolicy) -> tuple[dict[str, Any] | None, list[Task]]:
    """A merge of one id by hand, and the records that took part in it: one layer over the other."""
    effective: dict[str, Any] | None = None
    used: list[Task] = []
    for layer in stack:
        for task in layer.tasks:
            if task.id != task_id or (effective is None and task.is_partial):
                continue
            record = dict(task.attributes)
            partial = effective is not None and (task.is_partial or policy is MergePolicy.OVERLAY)
            effective = _over(effective, record) if partial else record
            used.append(task)
    return effective, used


@given(layers(OWNERS[:1], cwd=False))
def test_one_layer_merges_to_itself(stack: list[Layer]) -> None:
    merged = merge_layers(stack)

    assert [task.task for task in merged.tasks] == list(stack[0].tasks)
    assert not merged.findings


@given(layers(OWNERS[:1]), policies)
def test_empty_layers_change_nothing(stack: list[Layer], policy: MergePolicy) -> None:
    empty = [Layer(owner) for owner in OWNERS[1:]]

    assert merge_layers([*stack, *empty], policy) == merge_layers(stack, policy)


@given(layers(ONE_PLUGIN), policies)
def test_merging_the_result_again_changes_nothing(stack: list[Layer], policy: MergePolicy) -> None:
    merged = merge_layers(stack, policy)
    release = Layer(OWNERS[0], tuple(task.task for task in merged.tasks))
    cluster = Layer(OWNERS[3], release.tasks)

    assert _plain(merge_layers([release], policy)) == _plain(merged)
    assert _plain(merge_layers([release, cluster], policy)) == _plain(merged)


@given(layers(ONE_PLUGIN, cwd=False), policies)
def test_the_later_layer_wins(stack: list[Layer], policy: MergePolicy) -> None:
    merged = {task.id: task for task in merge_layers(stack, policy).tasks}

    for task_id in {task.id for layer in stack for task in layer.tasks}:
        effective, _ = _chain(stack, task_id, policy)
        assert (merged[task_id].task.attributes if task_id in merged else None) == effective


@given(layers(), policies, st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(stack: list[Layer], policy: MergePolicy, random: Any) -> None:
    shuffled = list(stack)
    random.shuffle(shuffled)

    assert merge_layers(shuffled, policy) == merge_layers(stack, policy)


@given(layers(), policies)
def test_the_order_is_the_release_then_plugins_then_cluster(stack: list[Layer], policy: MergePolicy) -> None:
    merged = merge_layers(stack, policy)
    refused = {finding.task for finding in merged.findings}
    records = [
        (layer.owner, task) for layer in sorted(stack, key=lambda item: item.owner.order) for task in layer.tasks
    ]
    if policy is MergePolicy.REPLACE:  # of plugins, what defines a task comes before what only overrides it
        records.sort(key=lambda record: (record[0].order[0], record[0].level is Level.PLUGIN and record[1].is_partial))
    declared = dict.fromkeys(task.id for _, task in records)

    found = list(dict.fromkeys(task.id for task in merged.tasks))
    release = [task.id for task in stack[0].tasks]
    assert found[: len(release)] == release
    assert [item for item in found if item not in refused] == [item for item in declared if item not in refused]


@given(layers(), policies)
def test_variants_are_of_plugins_only(stack: list[Layer], policy: MergePolicy) -> None:
    """More than one task of an id comes from several plugins, overridden by the cluster in part at most."""
    merged = merge_layers(stack, policy)

    for task_id in {task.id for task in merged.tasks}:
        variants = [task for task in merged.tasks if task.id == task_id]
        if len(variants) > 1:
            authors = [
                {owner for owner in (item.owner, *item.overrides) if owner.level is Level.PLUGIN} for item in variants
            ]
            assert all(len(found) == 1 for found in authors)
            assert len(set.union(*authors)) == len(variants)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value and "yaql_exp" not in value:
        for key, below in value.items():
            yield from _leaves(below, f"{path}.{key}")
    else:
        yield path, value


def _at(attributes: Mapping[str, Any], path: str) -> tuple[bool, Any]:
    value: Any = attributes
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return False, None
        value = value[key]
    return True, value


def _told(task: MergedTask, path: str) -> Iterator[tuple[Any, str]]:
    """Every value that provenance knows for a path, directly or inside a mapping above it, and who set it."""
    found, value = _at(task.task.attributes, path)
    if found:
        yield value, task.origin(path).place.file
    parts = path.split(".")
    for end in range(1, len(parts) + 1):
        setting = task.settings.get(".".join(parts[:end]))
        for old, origin in setting.replaced if setting else ():
            inside, value = _at({"_": old}, ".".join(("_", *parts[end:])))
            if inside:
                yield value, origin.place.file


@given(layers(ONE_PLUGIN, cwd=False), policies)
def test_every_value_of_every_layer_is_remembered(stack: list[Layer], policy: MergePolicy) -> None:
    """What a layer states is in effect, or among the replaced values; nothing is lost on the way."""
    for task in merge_layers(stack, policy).tasks:
        _, used = _chain(stack, task.id, policy)
        for record in used:
            for name, stated in record.attributes.items():
                for path, value in _leaves(stated, name):
                    if value != {}:  # an empty mapping over another changes nothing
                        assert value in [known for known, _ in _told(task, path)], (path, value)


@given(layers(ONE_PLUGIN, cwd=False), policies)
def test_every_effective_value_names_who_set_it(stack: list[Layer], policy: MergePolicy) -> None:
    """The origin of a value in effect is the topmost layer that states exactly this, and one that does."""
    for task in merge_layers(stack, policy).tasks:
        _, used = _chain(stack, task.id, policy)
        for name, effective in task.task.attributes.items():
            for path, value in _leaves(effective, name):
                if value == {}:
                    continue
                origin = task.origin(path)
                author = next(item for item in used if item.source.file == origin.place.file)
                assert _at(author.attributes, path) == (True, value)
                assert origin.place.line == author.source.lines[path]
                above = used[used.index(author) + 1 :]
                assert not any(_at(item.attributes, path)[0] for item in above)


@given(layers(ONE_PLUGIN), policies)
def test_what_is_dropped_has_no_value(stack: list[Layer], policy: MergePolicy) -> None:
    for task in merge_layers(stack, policy).tasks:
        for path, setting in task.settings.items():
            assert _at(task.task.attributes, path)[0] is not setting.dropped, path


@given(st.dictionaries(st.sampled_from(["k", "l"]), values), st.dictionaries(st.sampled_from(["k", "l"]), values))
def test_an_override_merges_mappings_and_replaces_the_rest(old: dict[str, Any], new: dict[str, Any]) -> None:
    low = Layer(OWNERS[0], (Task("a", {"type": "shell", "parameters": {"p": old, "kept": 1}}),))
    high = Layer(OWNERS[3], (Task("a", {"parameters": {"p": new}}),))

    merged = merge_layers([low, high]).tasks[0].task.attributes

    assert merged == {"type": "shell", "parameters": {"p": _over(old, new), "kept": 1}}
    assert low.tasks[0].attributes["parameters"]["p"] == old, "a merge changes nothing of its input"
