"""Task types that run a command: shell, master_shell, puppet, and those for which a command is configured.

A configured command is a template: a bash command with placeholders, each of which is replaced by one quoted word. The
quoting is only correct outside of other quotes and similar constructs. Inside quotes, the quotes of the value would end
those of the template, and the rest of the value would be executed. Such templates are refused.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from fuelclient.executors.job import MASTER, Job, Recipe, Step
from fuelclient.graph.parameters import read
from fuelclient.model.task import TaskType

PATH = 'export PATH="$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"\n'
"""Adds the directories of system programs, which tasks need, and which users other than root often lack."""

PUPPET_SUCCESS = frozenset({0, 2})
"""The exit codes of puppet for success: without and with changes. 4 and 6 mean failed resources."""

_SET_LOGS = """\
logs=()
[ ! -S /dev/log ] || logs+=(--logdest syslog)
{ [ -w /var/log/puppet.log ] || { [ ! -e /var/log/puppet.log ] && [ -w /var/log ]; }; } \
&& logs+=(--logdest /var/log/puppet.log)"""


def shell_script(job: Job) -> str:
    """Create the script for bash that runs `cmd` in `cwd`. Raise `ValueError` for a missing or wrong parameter.

    Source: Astute `tasks/shell.rb`, without the puppet manifest around it.
    """
    values = read(TaskType.SHELL, job.parameters)
    return f"{PATH}cd -- {shlex.quote(values['cwd'])} || exit\n{values['cmd']}\n"


def puppet_script(job: Job, *, noop: bool = False) -> str:
    """Create the script for bash that applies a manifest in the foreground. Raise `ValueError` without a manifest.

    The output is written to the spool and, as on a Fuel master, to syslog and /var/log/puppet.log if these are
    writable; with `noop` only to the spool, because then nothing may change. Source: Astute `mcagents/puppetd.rb`.
    """
    values = read(TaskType.PUPPET, job.parameters)
    words = ["puppet apply", shlex.quote(values["puppet_manifest"])]
    modules = shlex.quote(values["puppet_modules"])
    words += ["--modulepath", modules, "--basemodulepath", modules, "--trace", "--reports none"]
    words += ["--detailed-exitcodes", "--color false", "--logdest console"]
    if job.debug or values["debug"]:
        words += ["--debug", "--evaltrace"]
    words += ["--noop"] if noop else ['"${logs[@]}"']
    command = " ".join([values["command_prefix"], *words] if values["command_prefix"] else words)
    return "\n".join(
        (
            PATH + 'PATH="$PATH:/opt/puppetlabs/bin"',
            # puppet reads manifests in the encoding of its locale; not every machine has the one that Astute sets
            "if locale -a 2>/dev/null | grep -qix 'en_US.utf-\\?8'; then export LC_ALL=en_US.UTF-8;"
            " else export LC_ALL=C.UTF-8; fi",
            *(() if noop else (_SET_LOGS,)),
            f"cd -- {shlex.quote(values['cwd'])} || exit",
            f"{command}\n",
        )
    )


def configured_steps(job: Job, command: str) -> tuple[Step, ...]:
    """Create the step that runs a configured handler command on the master.

    `{node.uid}`, `{node.name}`, `{node.ip}`, `{task.id}`, `{task.type}`, `{transaction}` and
    `{parameters.<name>...}` are replaced, each quoted as one word of the shell; other braces are kept. Raise
    `ValueError` for a name that the job does not have, and for a template for which `misplaced` finds a problem.
    """
    names: Mapping[str, Any] = {
        "node": {"uid": job.node, "id": job.node, "name": job.name, "ip": job.target.ip},
        "task": {"id": job.task, "type": job.type},
        "transaction": job.run,
        "parameters": job.parameters,
    }
    script = filled(command, lambda name: _value(name, names))
    return (Recipe(f"{PATH}{script}\n", where=MASTER),)


def _value(name: str, names: Mapping[str, Any]) -> str:
    value: Any = names
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise ValueError(f"the handler command names {{{name}}}, which this task does not have")
        value = value[part]
    if isinstance(value, Mapping | list | tuple) or value is None:
        raise ValueError(f"the handler command names {{{name}}}, which is not a string or a number")
    return str(value)


_PLACEHOLDER = re.compile(r"\{((?:node|task|transaction|parameters)(?:\.[\w-]+)*)\}")
_ARITHMETIC = "in a command with arithmetic"
_UNSAFE_MARKS = (("<<", "in a command with a here-document"), ("((", _ARITHMETIC), ("$[", _ARITHMETIC))

_EVALUATED_TWICE = re.compile(
    r"(?<![\w./-])(?P<word>eval|let|trap|declare|typeset|local|read|mapfile|readarray|printf\s+-v|(?:\[|test)\s+-v)(?=\s)"
    r"|(?P<subscript>\w\[[^\]]*\{)|(?P<numbers>\[\[.*\s-(?:eq|ne|lt|le|gt|ge)\s)",
    re.DOTALL,
)
"""Text that bash evaluates again after removing quotes: arguments of some commands, subscripts, numbers in `[[`."""


_PASSAGES = re.compile(
    rf"\\(?P<backslash>{_PLACEHOLDER.pattern})|\$(?P<dollar>{_PLACEHOLDER.pattern})|\\."
    r"|(?P<single>\$'(?:\\.|[^'\\])*'?|'[^']*'?)"
    r'|(?P<double>"(?:\\.|[^"\\])*"?)'
    r"|(?P<backquotes>`(?:\\.|[^`\\])*`?)"
    r"|(?P<expansion>\$\{(?:\\.|[^}\\])*\}?)"
    r"|(?P<comment>(?<![^ \t\n;&|()])#[^\n]*)",
    re.DOTALL,
)
"""Passages in which a placeholder is not a separate word: each to its end, or, if not closed, to the template's."""

_WHERE = {
    "backslash": "after a backslash",
    "dollar": "after a dollar sign",
    "single": "inside single quotes",
    "double": "inside double quotes",
    "backquotes": "inside backquotes",
    "expansion": "inside ${}",
    "comment": "in a comment",
}


def misplaced(template: str) -> str:
    """Return the first placeholder that bash would not read as a word, with the reason, or an empty string.

    >>> misplaced("erase {node.name} --ip={node.ip}")
    ''
    >>> misplaced("echo 'erase {node.name}'")
    '{node.name} stands inside single quotes'
    """
    if not (first := _PLACEHOLDER.search(template)):
        return ""
    for mark, where in _UNSAFE_MARKS:
        if mark in template:
            return f"{first[0]} stands {where}"
    if again := _EVALUATED_TWICE.search(template):
        what = again["word"] or ("a subscript" if again["subscript"] else "[[ and numbers")
        return f"{first[0]} stands in a command with {what}, which bash evaluates once more"
    for passage in _PASSAGES.finditer(template):
        if match := _PLACEHOLDER.search(passage[0]):
            return f"{match[0]} stands {_WHERE[str(passage.lastgroup)]}"
    return ""


def filled(template: str, value: Callable[[str], str]) -> str:
    """Replace each placeholder by its value, quoted as one word. Raise `ValueError` if one is `misplaced`."""
    if problem := misplaced(template):
        raise ValueError(f"the handler command cannot be used: {problem}")
    return _PLACEHOLDER.sub(lambda match: shlex.quote(value(match[1])), template)
