"""How many requests command lines send to a master, beside the original client, on the recordings of a real one.

The requests for the version are left out, and those for a token counted apart: the recordings have those of one command
only.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from command_line import Done, fuel2
from recordings import Replay, commands, line

GIVEN: Mapping[str, tuple[str, int]] = {
    "fuel2 env settings upload 1 -f yaml": ("environment_1/settings.yaml", 109),
    "fuel2 graph upload -e 1 -t uploaded -f up.yaml": ("up.yaml", 362),
    "fuel2 graph upload -r 2 -t uploaded -f up.yaml": ("up.yaml", 364),
    "fuel2 graph upload -r 3 -t default -d library": ("library/tasks.yaml", 369),
    "fuel2 sequence upload -r 2 --file seq-up.yaml": ("seq-up.yaml", 632),
}
"""The file that a command reads, and the line whose body it was."""

COUNTED = (
    "fuel2 release list",
    "fuel2 release list -f json",
    "fuel2 release repos list 2",
    "fuel2 release component list 2",
    "fuel2 extension list",
    "fuel2 role list -r 2",
    "fuel2 role list -e 1",
    "fuel2 role download -r 2 -n compute -f yaml",
    "fuel2 tag list -r 2",
    "fuel2 env list",
    "fuel2 env show 1",
    "fuel2 env extension show 1",
    "fuel2 env settings download 1 -f yaml",
    "fuel2 env network download 1 -f yaml",
    "fuel2 env network verify 1",
    "fuel2 vip download -e 1",
    "fuel2 network-group list",
    "fuel2 openstack-config list -e 1",
    "fuel2 node label list -n 1",
    "fuel2 node list -e 1",
    "fuel2 node list -l rack=r1",
    "fuel2 node show 1",
    "fuel2 node disks download 1 -f yaml",
    "fuel2 node interfaces download 1 -f yaml",
    "fuel2 node attributes-download 1",
    "fuel2 plugins list",
    "fuel2 graph list -e 1",
    "fuel2 graph list -e 1 --plugins --release --cluster -f json",
    "fuel2 graph download -e 1 -a -t small -f small-all.yaml",
    "fuel2 graph download -e 1 -c -t small -f small.yaml",
    "fuel2 graph download -e 1 -p -t small -f small-plugins.yaml",
    "fuel2 graph download -e 1 -r -f release.yaml",
    "fuel2 env deployment-facts get-default -e 1 -f yaml",
    "fuel2 env provisioning-facts get-default -e 1 -f yaml",
    "fuel2 graph execute -e 1 -t small",
    "fuel2 graph execute -e 1 -t small --noop --force -S two:three --format json",
    "fuel2 task list",
    "fuel2 task list -e 1 -f json",
    "fuel2 task list -t error",
    "fuel2 task show 27",
    "fuel2 task history show 28",
    "fuel2 task history show 28 -n 1 -t ready -f json",
    "fuel2 task history show 28 -d two",
    "fuel2 task history show 28 -p",
    "fuel2 task history show 28 --include-summary",
    "fuel2 task deployment-info download 28 -f di.yaml",
    "fuel2 task settings download 28 -f st.yaml",
    "fuel2 task network-configuration download 28 -f nc.yaml",
    "fuel2 sequence list -e 1",
    "fuel2 sequence show 2",
    "fuel2 sequence download 2 --file seq.yaml",
    *GIVEN,
)
"""The recorded commands that list, show, upload, download and execute.

Left out are those that do more than the original's: `graph execute --dry-run` also computes the plan, `task history
show` and `task deployment-info download` of a whole run, where the original finds nothing, read its last graph, and
`plugins sync` lists what it changed.
"""

LAYERS = {"--cluster": 1, "--plugins": 2, "--release": 2}
"""How many requests the original client sends for one layer of `graph list -e 1`; these lines were not recorded."""


CREDENTIALS = {"OS_USERNAME": "admin", "OS_PASSWORD": "PASSWORD", "OS_PROJECT_NAME": "admin"}
"""What the recorded Keystone gives a token for, by variable."""

_TOKENS = "/keystone/v2.0/tokens"
_KEYSTONE = 5
"""The line with a token, which ran out long ago by the clock of this machine."""


@dataclass(frozen=True)
class Sent:
    """What a command line sent."""

    ours: int
    theirs: int
    """The requests of the original client."""
    tokens: int
    done: Done


def requests_of(text: str, directory: Path) -> Sent:
    """Run a recorded command line in an empty directory, with CREDENTIALS in the environment."""
    recorded = commands()[text]
    if text in GIVEN:
        give(directory, *GIVEN[text])
    first, last = recorded.requests
    version_and_login = 6 if text == "fuel2 release list" else 0
    return sent(text, recorded.replay(), max(0, last - first + 1 - version_and_login), directory)


def sent(text: str, replay: Replay, theirs: int, directory: Path) -> Sent:
    """Run any command line on a replay, in a directory."""
    replay.same = same_graph
    replay.instead = {f"POST {_TOKENS}": _KEYSTONE}
    with replay.served() as url, chdir(directory):
        done = fuel2("--server", url, *shlex.split(text)[1:])
    others = [request for request in replay.asked if "/keystone" not in request and not request.endswith(" version")]
    return Sent(len(others), theirs, replay.asked.count(f"POST {_TOKENS}"), done)


def give(directory: Path, name: str, number: int) -> None:
    """Write the file with the body of a recorded line: of a graph only the tasks."""
    body = line(number).request_body
    document = body["tasks"] if isinstance(body, dict) and set(body) == {"tasks"} else body
    path = directory / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(document), encoding="utf-8")


def same_graph(ours: Any, theirs: Any) -> bool:
    """Whether two bodies are the same, where tasks may be spelled in either way that a master reads."""
    return bool(_spelled(ours) == _spelled(theirs))


def _spelled(body: Any) -> Any:
    """Return a body with `roles` for the `role` of a task, and a list for a single one: a master reads both."""
    if not isinstance(body, dict) or "tasks" not in body:
        return body
    tasks = []
    for task in body["tasks"]:
        roles = task.get("roles", task.get("role"))
        plain = {key: value for key, value in task.items() if key not in ("role", "roles")}
        tasks.append({**plain, "roles": [roles] if isinstance(roles, str) else roles})
    return {**body, "tasks": tasks}
