"""Check user input before it is used: ids, names, labels, statuses, updates and deletions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from fuelclient.errors import FIRST_STEPS, Conflict, NotFound, UsageError, nearest
from fuelclient.model.cluster import Cluster, ClusterStatus
from fuelclient.model.node import Node, is_address
from fuelclient.model.plugin import Plugin
from fuelclient.model.status import InstanceStatus, RunStatus
from fuelclient.similar import is_id, normal

if TYPE_CHECKING:
    from fuelclient.model.run import HistoryFilter, HistoryRow, Run

LARGEST_ID = 2**31 - 1
"""The largest id that a caller can give, as in Nailgun. New ids follow the largest stored
one, so they need room above this limit."""

_LARGEST_STORED = 2**63 - 1

_INSTANCE_STATUSES = "pending, ready, running, error, skipped"
"""The statuses of instances in the order of Nailgun's message, which scripts match."""

_RUN_NAMES = (
    "super", "deploy", "deployment", "provision", "stop_deployment", "reset_environment", "reset_nodes", "remove_keys",
    "remove_ironic_bootstrap", "update", "spawn_vms", "node_deletion", "cluster_deletion", "remove_images",
    "check_before_deployment", "check_networks", "verify_networks", "check_dhcp", "verify_network_connectivity",
    "multicast_verification", "check_repo_availability", "check_repo_availability_with_setup", "dry_run_deployment",
    "dump", "capacity_log", "create_stats_user", "remove_stats_user", "update_dnsmasq",
)  # fmt: skip
"""The names of runs in the order of Nailgun's message. Runs of an engine are only called deploy or deployment."""


def require_id(noun: str, number: int) -> None:
    """Raise `UsageError` if `number` is outside the range of ids that a caller may give. 0 is accepted: it means any
    free id."""
    if not 0 <= number <= LARGEST_ID:
        raise UsageError(f"{number} cannot be the id of a {noun}.", hint=f"Ids are numbers from 1 to {LARGEST_ID}.")


def is_possible(noun: str, key: int) -> bool:
    """Whether something stored can have this id. Raise `UsageError` if it is not an integer: a caller's mistake.

    >>> is_possible("node", 7), is_possible("node", 0)
    (True, False)
    """
    if type(key) is not int:  # True is an int, but not an id
        raise UsageError(f"The id of {_with_article(noun)} is a whole number, not {key!r}.")
    return 0 < key <= _LARGEST_STORED


def require_printable(noun: str, name: str) -> None:
    """Raise `UsageError` for a name with control or other unprintable characters.

    Such characters could control a terminal, or disguise a name.
    """
    if not name.isprintable():
        raise UsageError(
            f"{name!r} cannot be the name of {_with_article(noun)}: it has unprintable characters.",
            hint="Use printable characters only.",
        )


def require_name(noun: str, name: str) -> None:
    """Raise `UsageError` for a name that a new or renamed thing cannot have: it is empty or unprintable, or a number.

    Where a thing is named by its id or its name, a number is always an id. What has such a name already, here or on a
    Fuel master, keeps it until it is renamed.
    """
    if not name.strip():
        raise UsageError(f"{_with_article(noun).capitalize()} needs a name.")
    if is_id(name.strip()):
        raise UsageError(
            f"{name.strip()} cannot be the name of {_with_article(noun)}: a number always means an id.",
            hint=f"Choose a name that is more than a number, such as {noun}-{name.strip()}.",
        )
    require_printable(noun, name)


def require_node(node: Node) -> None:
    """Raise `UsageError` if a node has an impossible id or address."""
    require_id("node", node.id)
    if node.ip and not is_address(node.ip):
        hint = "Write it like 10.20.0.3 or node-1.domain.tld."
        raise UsageError(f"{node.ip!r} is neither an address nor a host name.", hint=hint)


def require_free_names(present: Iterable[Node], joining: Iterable[Node], cluster_id: int | None) -> None:
    """Raise `Conflict` if a node in `joining` has the same name as another node in `joining` or as a node in `present`.

    A name is unique among the nodes of one environment, and among the free nodes (no `cluster_id`), but not in the
    whole engine: environments are independent, and it must always be possible to free the nodes of a deleted one. So
    names are checked only when nodes join, and a node that leaves keeps its name. Nailgun does not check names.
    """
    taken = {normal(node.name): node.id for node in present}
    seen: set[str] = set()
    for node in joining:
        if (name := normal(node.name)) in taken:
            raise _name_conflict(cluster_id, node.name, taken[name])
        if name in seen:
            raise Conflict(f"Two of the nodes are called {node.name}.", hint="Rename one; nothing was changed.")
        seen.add(name)


def require_free_hostname(present: Iterable[Node], hostname: str, cluster_id: int | None) -> None:
    """Raise `UsageError` for an impossible host name (RFC 1123), `Conflict` if a node in `present` has it."""
    if ":" in hostname or not is_address(hostname) or hostname.replace(".", "").isdigit():
        raise UsageError(f"{hostname!r} is not a host name.", hint="Write it like node-1 or node-1.domain.tld.")
    for node in present:
        if hostname in (node.attributes.get("hostname"), node.name):
            raise _name_conflict(cluster_id, hostname, node.id)


def _name_conflict(cluster_id: int | None, name: str, node_id: int) -> Conflict:
    where = "The pool of free nodes" if cluster_id is None else f"Environment {cluster_id}"
    return Conflict(
        f"{where} already has a node {name}, with id {node_id}.", hint="Choose another name; nothing was changed."
    )


def require_labels(names: Iterable[str]) -> None:
    if not all(name.strip() for name in names):
        raise UsageError("A label needs a name.", hint="Write it as name or name=value.")


def require_deletable(cluster: Cluster, *, force: bool) -> None:
    if cluster.status == ClusterStatus.OPERATIONAL and not force:
        raise Conflict(
            "Deleting an operational environment is a dangerous operation.",
            hint="Please use --force to bypass this message.",
        )


def deletion(cluster: Cluster) -> str:
    """The command that deletes an environment, with --force if `require_deletable` would refuse it without."""
    return f"`fuel2 env delete {cluster.id}{' --force' * (cluster.status == ClusterStatus.OPERATIONAL)}`"


def require_run_statuses(statuses: Iterable[str]) -> None:
    """Raise `UsageError` for the first of `statuses` that a run cannot have."""
    for status in _unknown(statuses, RunStatus):
        raise UsageError(f"{status!r} is not the status of a run.", hint=f"Use {', '.join(RunStatus)}.")


def require_instance_statuses(statuses: Iterable[str]) -> None:
    """Raise `UsageError` for the first of `statuses` that a task instance cannot have."""
    for status in _unknown(statuses, InstanceStatus):
        raise UsageError(f"Statuses parameter could be only: {_INSTANCE_STATUSES}", hint=f"{status!r} is not one.")


def require_run_names(names: Iterable[str]) -> None:
    """Raise `UsageError` for the first of `names` that no run has, here or on a Fuel master."""
    for name in names:
        if name not in _RUN_NAMES:
            close = nearest(name, _RUN_NAMES)
            hint = f"{name!r} is not one of them{f'; the nearest is {close}' if close else ''}."
            raise UsageError(f"Transaction types parameter could only be one of: {', '.join(_RUN_NAMES)}", hint=hint)


def require_recorded(
    run: Run,
    filters: HistoryFilter,
    found: Sequence[HistoryRow],
    fetch_all: Callable[[], tuple[Sequence[HistoryRow], Iterable[int]]],
) -> None:
    """Raise `NotFound` for a task or a node in `filters` that does not occur in a run.

    `found` are the rows that pass the filters. `fetch_all` returns all rows, and the ids of all nodes; it is called
    only if a name is missing from `found`. Nothing is raised while a graph of the run has not been planned, or for a
    node that exists but took no part in the run.
    """
    from fuelclient.model.run import uid_of  # most checks do not concern runs

    if {*filters.tasks} <= {row.task for row in found} and {*filters.nodes} <= {uid_of(row.node) for row in found}:
        return
    rows, nodes = fetch_all()
    if not {part.id for part in run.children or [run]} <= {row.run_id for row in rows}:
        return
    tasks = dict.fromkeys(row.task for row in rows)
    uids = dict.fromkeys(("master", "null", *map(str, nodes), *(uid_of(row.node) for row in rows)))
    for noun, wanted, known in (("task", filters.tasks, tasks), ("node", filters.nodes, uids)):
        for name in wanted:
            if name not in known:
                raise NotFound(noun, f"{name} of run {run.id}", known=[*known])


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _unknown(statuses: Iterable[str], known: type[StrEnum]) -> list[str]:
    return [status for status in statuses if status not in set(known)]


def require_node_change(name: str | None, hostname: str | None) -> None:
    if name is None and hostname is None:
        raise UsageError("Nothing to update.", hint="Give a node another name or another hostname.")


def require_sequence_change(name: str | None, graph_types: Sequence[str] | None) -> None:
    if name is None and graph_types is None:
        raise UsageError("Nothing to update.", hint="Give the sequence a name, graph types, or both.")


def require_sequence(name: str, graph_types: Sequence[str]) -> None:
    if not graph_types:
        raise UsageError(f"Sequence {name} needs at least one graph type.", hint="List its types in their order.")


def plugin_named(plugins: Sequence[Plugin], name: str, version: str) -> Plugin:
    """Return the plugin with this name and version.

    Raise `NotFound` if there is none; where there are no plugins at all, its hint says how to install one. Raise
    `UsageError` if there are several versions and `version` is empty.
    """
    if not (matching := [plugin for plugin in plugins if plugin.name == name and version in ("", plugin.version)]):
        labels = dict.fromkeys(f"{plugin.name} {plugin.version}" if version else plugin.name for plugin in plugins)
        hint = "" if plugins else FIRST_STEPS["plugin"]
        raise NotFound("plugin", f"{name} {version}".strip(), known=[*labels], hint=hint)
    if len(matching) > 1:
        versions = ", ".join(f"{plugin.version} (id {plugin.id})" for plugin in matching)
        raise UsageError(f"Plugin {name} is installed in several versions: {versions}.", hint="Name one of them.")
    return matching[0]
