"""The boundary: what every backend offers to commands, TUI and server, in nouns.

A backend is an object with one facet per noun. Facets take and return values of `fuelclient.model`; they
raise the errors of `fuelclient.errors` and nothing else. What a backend cannot do raises `Unsupported`.
No front end asks which backend it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from fuelclient.backends.inventory import Nodes, Releases, Roles, Tags
from fuelclient.model.graph import DEFAULT_TYPE, OwnerRef, Uploaded

if TYPE_CHECKING:  # at run time a command has only the values of the facets that it uses
    from fuelclient.backends.capabilities import Capabilities
    from fuelclient.model.cluster import Cluster
    from fuelclient.model.environment import Environment
    from fuelclient.model.fact import DeploymentFacts
    from fuelclient.model.finding import Finding
    from fuelclient.model.graph import Graph, GraphDocument, GraphSummary, Level, MergedGraph, Owner
    from fuelclient.model.package import Selection
    from fuelclient.model.plugin import Installed, Plugin, Synced
    from fuelclient.model.run import (
        Event,
        HistoryFilter,
        HistoryRow,
        Logs,
        Run,
        RunRequest,
    )
    from fuelclient.model.sequence import DeploymentSequence
    from fuelclient.model.snapshot import Snapshot
    from fuelclient.model.task import Task
    from fuelclient.model.version import FuelVersion
    from fuelclient.plan.inputs import Inputs
    from fuelclient.plan.plan import Check


class Clusters(Protocol):
    """Environments."""

    def list(self) -> Sequence[Cluster]: ...

    def get(self, cluster_id: int) -> Cluster: ...

    def create(self, name: str, release_id: int, *, net_segment_type: str = "vlan") -> Cluster:
        """A new environment with an empty graph of the default type. `Conflict` when the name is taken."""

    def rename(self, cluster_id: int, name: str) -> Cluster: ...

    def delete(self, cluster_id: int, *, force: bool = False) -> tuple[str, ...]:
        """Remove an environment with its graphs and executions; its nodes stay, without environment and roles.
        A sentence for each node on which files of the executions stay. `Conflict` when it is operational and not
        `force`, and while an execution on it has not ended."""

    def add_nodes(self, cluster_id: int, node_ids: Sequence[int], roles: Sequence[str]) -> None:
        """Give the nodes to the environment with `roles` pending. All or nothing; `NotFound` for an unknown
        node or role, `Conflict` for a node of another environment or one whose name another node there has, and
        with the reasons when conflicts, restrictions or the upper limits of roles forbid it."""

    def remove_nodes(self, cluster_id: int, node_ids: Sequence[int] | None) -> Sequence[int]:
        """Take nodes (None: all) out of the environment; the ids that were removed. `NotFound` for a node
        that is not in it."""

    def environment(self, cluster_id: int) -> Environment:
        """Return an environment with everything it is made of, as it is at one moment."""

    def settings(self, cluster_id: int) -> Mapping[str, Any]:
        """The settings of an environment by section: the defaults of its release and of its enabled plugins, and
        over them what was set for it."""

    def set_settings(self, cluster_id: int, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """The environment's own settings are `settings`, and nothing that was set before; the effective ones.

        What equals a default is not kept, sections that nobody knows are. `InvalidDocument` for a section that is
        no mapping.
        """


class Plugins(Protocol):
    """Registered plugins. What a package is, `fuelclient.plugins` says; here it is installed and enabled."""

    def list(self) -> Sequence[Plugin]:
        """All plugins by name and version."""

    def get(self, plugin_id: int) -> Plugin:
        """One plugin; `NotFound` when there is none."""

    def named(self, name: str, version: str = "") -> Plugin:
        """The plugin of this name and version. `NotFound` when there is none; without `version` `UsageError` when
        there are several, which lists them."""

    def install(self, path: str, *, force: bool = False) -> Installed:
        """Register the package in `path`, a directory, an `.fp` or an `.rpm`, with its graphs and its releases.

        A plugin of the same name and major.minor version is updated: it keeps its id, the environments where it is
        enabled, and graphs that were uploaded; any other is registered beside it. `Conflict` when nothing would
        change, for another content of the same version, for a downgrade and for a rename (all of which `force`
        overrules), and when something that is in use would go. `InvalidDocument` with all findings for a package
        that cannot be used. Whatever is raised, and whenever the process is killed, all is as it was.
        """

    def remove(self, plugin_id: int) -> None:
        """Remove a plugin with its graphs, its releases and its files; `Conflict` while it is enabled somewhere, or
        while an environment uses one of its releases."""

    def sync(self, plugin_ids: Sequence[int] = ()) -> Synced:
        """Read the unpacked packages again (none: all of them), and register what changed.

        A full synchronisation also registers packages that somebody put beside the others, and removes plugins
        whose files are gone and which nobody uses. What cannot be synchronised is an error among the findings.
        """

    def enable(self, plugin_id: int, cluster_id: int) -> tuple[Finding, ...]:
        """The plugin takes part in the environment's merges, roles and settings; what there is to know about that.

        Another version of it is disabled. `Conflict`, with a finding for each clash, when it does not support the
        environment's release, when what it brings clashes with the release or with another plugin, and on a
        deployed environment unless it is hot-pluggable.
        """

    def disable(self, plugin_id: int, cluster_id: int) -> None:
        """The plugin takes no part in the environment, whether it did or not. `Conflict` while a node has one of
        its roles, and on a deployed environment."""

    def selection(self, plugin_id: int, release_id: int) -> Selection:
        """What of the plugin's package is meant for a release, and why."""


class Graphs(Protocol):
    """Graphs: stored by owner and type, merged by environment and type."""

    def list(self, cluster_id: int | None = None, levels: Sequence[Level] = ()) -> Sequence[GraphSummary]:
        """All graphs by id; with `cluster_id` those of the environment, its release and its enabled plugins;
        with `levels` those of these classes of owners only."""

    def get(self, owner: OwnerRef, graph_type: str = DEFAULT_TYPE) -> Graph:
        """One layer. `NotFound` for an unknown owner, or a type that it does not have."""

    def layers(self, cluster_id: int, levels: Sequence[Level], graph_type: str = DEFAULT_TYPE) -> MergedGraph:
        """The merge of the layers of `levels` in one environment. `NotFound` when no layer of the environment,
        whatever its level, has the type."""

    def merged(self, cluster_id: int, graph_type: str = DEFAULT_TYPE) -> Sequence[Task]:
        """The tasks of an environment as the place where they live merges them itself. `graph preview --verify`
        compares them with what is merged here from the layers."""

    def upload(self, owner: OwnerRef, document: GraphDocument, graph_type: str = DEFAULT_TYPE) -> Uploaded:
        """Create the graph, or replace the tasks of the one that is there; its id stays. Name and metadata
        change only where the document states them. Raises `InvalidGraph` with all findings (those of the
        document included), and leaves everything as it was, when one of them is an error: a record without
        type that has nothing below it, a duplicate id, an unknown stage. Records in environments that lose what
        they override are a warning each, with the environments."""

    def delete(self, owner: OwnerRef, graph_type: str) -> tuple[Finding, ...]:
        """Remove a graph; the warnings about records in environments that lose what they override."""

    def owner(self, owner: OwnerRef) -> Owner:
        """The named owner; `NotFound` when there is none."""

    def snapshot(self, cluster_id: int, graph_type: str = DEFAULT_TYPE) -> Snapshot:
        """What a plan or a preview needs of an environment, from one read. `NotFound` for a type that no layer
        has, with the types there are."""


class Facts(Protocol):
    """Deployment facts of environments: what users uploaded, over what the environment itself says."""

    def get(self, cluster_id: int) -> DeploymentFacts:
        """The facts that were uploaded; empty when none were. `NotFound` for an unknown environment."""

    def default(self, cluster_id: int) -> DeploymentFacts:
        """What the environment's settings and nodes say, without what was uploaded."""

    def effective(self, cluster_id: int) -> DeploymentFacts:
        """What a run would see: the default facts, overridden key by key by the uploaded ones."""

    def put(self, cluster_id: int, facts: DeploymentFacts) -> None:
        """Store the common part, and the parts of the nodes that are given; parts of other nodes stay.

        `NotFound` for a node that is not in the environment ("master" is in each).
        """

    def delete(self, cluster_id: int) -> None:
        """Nothing is uploaded any more, whether anything was or not."""


class Sequences(Protocol):
    """Sequences of graphs: named, one after another, for the environments of one release."""

    def list(self, *, release_id: int | None = None, cluster_id: int | None = None) -> Sequence[DeploymentSequence]:
        """All sequences by id, or those of a release, or those that an environment can execute."""

    def get(self, sequence_id: int) -> DeploymentSequence:
        """One sequence; `NotFound` when there is none."""

    def for_cluster(self, sequence_id: int, cluster_id: int) -> DeploymentSequence:
        """One sequence that an environment can execute. `NotFound` when there is none, or no such environment, and
        when the sequence belongs to another release than the environment."""

    def create(self, release_id: int, name: str, graph_types: Sequence[str]) -> DeploymentSequence:
        """A new sequence. `Conflict` when the release has one of this name, `UsageError` for no graph types."""

    def update(
        self, sequence_id: int, *, name: str | None = None, graph_types: Sequence[str] | None = None
    ) -> DeploymentSequence:
        """Another name, other graph types, or both; what is None stays. `UsageError` for nothing of both."""

    def delete(self, sequence_id: int) -> None: ...


class Runs(Protocol):
    """Executions: begun, followed, stopped, resumed, and what they leave behind."""

    def begin(self, request: RunRequest, *, may_idle: bool = False) -> Run:
        """A transaction that runs from now on, in a process of its own; with `dry_run` one that is planned only.

        The first graph is planned before anything is stored. `NotFound` for an unknown environment, graph type,
        node or task name with the nearest that exists, `UsageError` for a subgraph that cannot be read, `InvalidGraph`
        with all findings for what cannot run and for a selection of which nothing would run, `Conflict` that names the
        transaction when one runs on the environment. With `may_idle` a selection of tasks that do nothing by their
        type begins all the same, as on a Fuel master, and so does one with a subgraph that names no task: it fails.
        """

    def inputs(self, request: RunRequest) -> Inputs:
        """Return everything that the plans of a request are computed from, as it is at one moment.

        `backends.plans` computes plans, simulated runs and pictures from it. Raise `NotFound` for an unknown
        environment or graph type.
        """

    def checker(self, request: RunRequest, inputs: Inputs) -> Check:
        """Return what says why an instance of a request could never run here: no command for its type, no executor."""

    def list(
        self, *, cluster_id: int | None = None, statuses: Sequence[str] = (), names: Sequence[str] = ()
    ) -> Sequence[Run]:
        """Parents and children by id; of those parts where a filter is not empty."""

    def get(self, run_id: int) -> Run:
        """One transaction, a parent with its children; `NotFound` when there is none."""

    def delete(self, run_id: int, *, force: bool = False) -> tuple[str, ...]:
        """Remove a transaction with its children, its history and its files, those on nodes included; a sentence for
        each node on which they stay. `Conflict` while it has not ended, unless `force` and its runner is gone."""

    def history(self, run_id: int, filters: HistoryFilter = ...) -> Sequence[HistoryRow]:
        """The task instances of a child, or of all children of a parent, in the order of their plans; after them the
        tasks that were placed nowhere. `UsageError` for an unknown status."""

    def events(self, run_id: int, *, after: int = 0, limit: int = 1000) -> Sequence[Event]:
        """What happened to a parent and its children after the event `after`, at most `limit` events."""

    def stop(self, run_id: int, *, kill: bool = False) -> Run:
        """Ask a run to stop: what runs may end, nothing more starts; with `kill` what runs is ended too.
        `Conflict` when it has ended."""

    def stop_cluster(self, cluster_id: int, *, kill: bool = False) -> Run:
        """Ask whatever runs on an environment to stop, as `stop` does. `Conflict` when nothing runs."""

    def resume(self, run_id: int, *, rerun_interrupted: bool = False) -> Run:
        """Go on with a run whose runner was killed. `Conflict` when it runs, or has ended, or when it is not known
        how some instances ended (they are named) and not `rerun_interrupted`; `StalePlan` when the graph has
        changed since."""

    def logs(self, run_id: int, task: str, node: str) -> Logs:
        """What a task instance printed; `NotFound` for one that did not run. `node` is an id or `master`."""

    def deployment_info(self, run_id: int) -> DeploymentFacts:
        """The facts that a run saw, as they were recorded when it was planned; for an execution of several graphs
        those of the last one that was. `NotFound` when nothing was recorded."""

    def settings(self, run_id: int) -> Mapping[str, Any]:
        """The settings of the environment by section, recorded as `deployment_info` is."""

    def network_configuration(self, run_id: int) -> Mapping[str, Any]:
        """The networks of the environment, recorded as `deployment_info` is; `Unsupported` where there are none."""


class Backend(Protocol):
    """All facets together, and what this backend is."""

    @property
    def target(self) -> str:
        """Where the data lives, for people: a path or a URL."""

    @property
    def releases(self) -> Releases: ...

    @property
    def clusters(self) -> Clusters: ...

    @property
    def nodes(self) -> Nodes: ...

    @property
    def roles(self) -> Roles: ...

    @property
    def tags(self) -> Tags: ...

    @property
    def plugins(self) -> Plugins: ...

    @property
    def graphs(self) -> Graphs: ...

    @property
    def facts(self) -> Facts: ...

    @property
    def sequences(self) -> Sequences: ...

    @property
    def runs(self) -> Runs: ...

    @property
    def capabilities(self) -> Capabilities:
        """What can be done here beyond what every Fuel master can."""

    def version(self) -> FuelVersion:
        """Which API is spoken, and of which Fuel and OpenStack it is."""

    def close(self) -> None: ...


__all__ = [
    "Backend",
    "Clusters",
    "Facts",
    "Graphs",
    "Nodes",
    "OwnerRef",
    "Plugins",
    "Releases",
    "Roles",
    "Runs",
    "Sequences",
    "Tags",
    "Uploaded",
]
