"""A placeholder of a handler command is one word for bash, whatever its value; elsewhere it is refused."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuelclient.executors.handlers.commands import filled, misplaced

HOSTILE = "x'; touch /tmp/nowhere/owned; echo \"$(id)\" `id` $HOME \\ #\n'"


@pytest.mark.parametrize(
    ("template", "where"),
    [
        ("echo '{node.name}'", "single quotes"),
        ('echo "{node.name}"', "double quotes"),
        ('echo "a \\" {node.name}"', "double quotes"),
        ("echo \"$(wipe '{node.name}')\"", "double quotes"),
        ("echo $'a\\'{node.name}'", "single quotes"),
        ("echo `wipe {node.name}`", "backquotes"),
        ("echo \\{node.name}", "a backslash"),
        ("echo ${node.name}", "a dollar sign"),
        ("echo ${a:-{node.name}}", "${}"),
        ("wipe # {node.name}", "a comment"),
        ("wipe\n# {node.name}\n", "a comment"),
        ("cat <<E\n{node.name}\nE\n", "a here-document"),
        ("echo $(({node.uid} + 1))", "arithmetic"),
        ("echo $[{node.uid}]", "arithmetic"),
        ("echo '{node.name}", "single quotes"),
        ("[[ {parameters.x} -eq 1 ]] && wipe", "[[ and numbers"),
        ("x[{parameters.x}]=1", "a subscript"),
        ("eval {parameters.x}", "eval"),
        ("true; let {parameters.x}", "let"),
        ("declare -i x={parameters.x}", "declare"),
        ("printf -v {parameters.x} 1", "printf -v"),
        ("[ -v {parameters.x} ]", "[ -v"),
        ("trap {parameters.x} EXIT", "trap"),
    ],
)
def test_a_placeholder_that_is_no_word_is_refused(template: str, where: str) -> None:
    assert where in misplaced(template)
    with pytest.raises(ValueError, match="cannot be used"):
        filled(template, lambda _: HOSTILE)


@pytest.mark.parametrize(
    "template",
    [
        "printf %s {node.name}",
        "[ {node.name} = eval- ] || /opt/eval </dev/null 2>/dev/null || printf %s {node.name}",
        "[[ {node.name} == x-eq ]] || printf %s {node.name}",
        "printf '%s' {node.name}",
        'printf "%s" {node.name}',
        "printf %s \\\n{node.name}",
        "a={node.name}; printf %s \"$a\"",
        "printf %s \"${a:-}\" {node.name}",
        "printf %s a#b >/dev/null; printf %s {node.name}",
        "b=$(printf %s {node.name}; echo .); printf %s \"${b%?}\"",
    ],
)  # fmt: skip
@given(value=st.one_of(st.just(HOSTILE), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))))
@settings(max_examples=8)
def test_every_value_is_one_word(template: str, value: str) -> None:
    script = filled(template, lambda _: value)
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True, timeout=20)
    assert done.stdout.decode() == value


def test_text_without_placeholders_is_what_it_is() -> None:
    assert filled("awk '{print $1}' <<< \"$(( 1 ))\"", str) == "awk '{print $1}' <<< \"$(( 1 ))\""
