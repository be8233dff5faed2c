"""The boundary: what every backend offers to commands, TUI and server.

A backend is an object with one facet per noun. Facets take and return values of `fuelclient.model`, and only raise the
errors of `fuelclient.errors`: `NotFound` for an id that does not exist, `Unsupported` for what a backend cannot do. No
front end asks which backend it has.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from fuelclient.backends.inventory import Networks, Nodes, Releases, Roles, Sequences, Tags, reads
from fuelclient.model.graph import DEFAULT_TYPE, OwnerRef, Uploaded

if TYPE_CHECKING:  # at run time, a command only loads the values of the facets that it uses
    from fuelclient.backends.inventory import Copies
    from fuelclient.model.cluster import Cluster
    from fuelclient.model.diagnosis import Diagnosis
    from fuelclient.model.environment import Environment
    from fuelclient.model.fact import DeploymentFacts
    from fuelclient.model.finding import Finding
    from fuelclient.model.graph import Graph, GraphDocument, GraphSummary, Level, MergedGraph, Owner
    from fuelclient.model.package import Selection
    from fuelclient.model.plugin import Installed, Plugin, Synced
    from fuelclient.model.run import Action, DecisionByInstance, Event, HistoryFilter, HistoryRow, Logs, Run, RunRequest
    from fuelclient.model.snapshot import Snapshot
    from fuelclient.model.task import Task
    from fuelclient.plan.inputs import EnvironmentChange, Inputs
    from fuelclient.plan.plan import Check


class Clusters(Protocol):
    @reads
    def list(self) -> Sequence[Cluster]: ...

    @reads
    def get(self, cluster_id: int) -> Cluster: ...

    def create(self, name: str, release_id: int, *, net_segment_type: str = "vlan") -> Cluster:
        """Create an environment with an empty graph of the default type. Raise `Conflict` if the name is taken."""

    def rename(self, cluster_id: int, name: str) -> Cluster: ...

    def change_release(self, cluster_id: int, release_id: int, *, dry_run: bool = False) -> EnvironmentChange:
        """Move an environment to another version of its release; with `dry_run`, only compute the change.

        Own settings and networks that the new version lacks are dropped, each with a finding. Raise `Conflict` if it
        is not another version, lacks a role that a node has, or is not supported by a plugin, and while a run has not
        ended; `Unsupported` on a master.
        """

    def delete(self, cluster_id: int, *, force: bool = False) -> tuple[str, ...]:
        """Remove an environment with its graphs and runs. Its nodes stay, without environment and roles.

        Return a sentence for each node where files of the runs could not be removed. Raise `Conflict` if the
        environment is operational, unless `force`, and while a run on it has not ended.
        """

    def add_nodes(self, cluster_id: int, node_ids: Sequence[int], roles: Sequence[str]) -> None:
        """Add nodes to an environment with `roles` pending, all or none.

        Raise `NotFound` for an unknown node or role. Raise `Conflict` for a node of another environment, for a name
        that another node there has, and if conflicts, restrictions or limits of roles forbid it.
        """

    def remove_nodes(self, cluster_id: int, node_ids: Sequence[int] | None, *, force: bool = False) -> Sequence[int]:
        """Take nodes (None: all) out of an environment and return their ids. Raise `NotFound` for other nodes.

        A node that was deployed is only marked as pending deletion, unless `force`, if the environment has a graph that
        deletes nodes: the end of that graph takes it out. A Fuel master always marks it, and cannot be forced.
        """

    @reads
    def environment(self, cluster_id: int) -> Environment:
        """Read an environment with all its parts at one moment."""

    @reads
    def settings(self, cluster_id: int) -> Mapping[str, Any]:
        """The effective settings by section: defaults of the release and the plugins, then the own ones."""

    def set_settings(self, cluster_id: int, settings: Mapping[str, Any], *, force: bool = False) -> Mapping[str, Any]:
        """Replace the environment's own settings and return the effective ones.

        Values that equal a default are not kept; unknown sections are. Raise `InvalidDocument` if a section is not a
        mapping, or a value does not fit its setting. A Fuel master raises `Conflict` for most settings of a deployed
        environment, unless `force`.
        """


class Plugins(Protocol):
    @reads
    def list(self) -> Sequence[Plugin]:
        """All plugins, sorted by name and version."""

    @reads
    def get(self, plugin_id: int) -> Plugin:
        """Raise `NotFound` if it does not exist."""

    @reads
    def named(self, name: str, version: str = "") -> Plugin:
        """Find a plugin by its name and version.

        Raise `NotFound` if it does not exist, `UsageError` if there are several versions and none is given.
        """

    def install(self, path: str, *, force: bool = False, link: bool = False) -> Installed:
        """Install the package in `path`, a directory, an `.fp` or an `.rpm`, with its graphs and its releases.

        With `link`, the package stays in its directory and is read from there at each use, without being checked again.
        Raise `Conflict` if it is not a directory, or defines releases.

        A plugin of the same name and major.minor version is updated: it keeps its id, the environments where it is
        enabled, and uploaded graphs. Any other version is installed beside it.

        Raise `Conflict` if nothing would change, for other content of the same version, for a downgrade and for a
        rename, unless `force`; and, even with `force`, if something that is in use would be removed. Raise
        `InvalidDocument` with all findings for an unusable package. An error, or a kill, leaves everything as it was.
        """

    def describe(self, plugin_id: int, stated: Mapping[str, Any]) -> Plugin:
        """Store texts for people, such as the `title`, until `sync` finds the package changed."""

    def remove(self, plugin_id: int) -> None:
        """Remove a plugin with its graphs, releases and files.

        Raise `Conflict` while it is enabled in an environment, or while an environment uses one of its releases.
        """

    def sync(self, plugin_ids: Sequence[int] = ()) -> Synced:
        """Read the unpacked packages of these plugins, or of all, again and register what changed.

        A synchronisation of all also registers packages that users put beside the others, and removes unused plugins
        whose files are gone. Packages that cannot be synchronised are errors among the findings.
        """

    @reads
    def enabled(self, cluster_id: int) -> Sequence[Plugin]:
        """The plugins that an environment has enabled, by name and version."""

    def enable(self, plugin_id: int, cluster_id: int, values: Mapping[str, Any] | None = None) -> tuple[Finding, ...]:
        """Enable a plugin in an environment, in place of any other version of it, and return findings about that.

        `values` are set with it, by the name of the plugin's setting, also if it is enabled already; see
        `environment.settings`. Raise `NotFound` for an unknown setting, `UsageError` for an impossible value.

        Raise `Conflict`, with a finding for each clash, if it does not support the environment's release, if it clashes
        with the release or another plugin, and on a deployed environment, unless it is hot-pluggable.
        """

    @reads
    def enabling(self, plugin_ids: Sequence[int], cluster_id: int, values: Mapping[str, Any]) -> EnvironmentChange:
        """Compute the changes that `enable` would make for each plugin. Raise the same errors; `Unsupported` on a Fuel
        master."""

    def disable(self, plugin_id: int, cluster_id: int) -> None:
        """Disable a plugin in an environment; do nothing if it is not enabled.

        Raise `Conflict` while a node has one of its roles, and on a deployed environment.
        """

    @reads
    def selection(self, plugin_id: int, release_id: int) -> Selection:
        """The parts of a plugin's package that a release gets, with the reasons."""


class Graphs(Protocol):
    @reads
    def list(self, cluster_id: int | None = None, levels: Sequence[Level] = ()) -> Sequence[GraphSummary]:
        """All graphs by id, or those of an environment with its release and plugins; of `levels` only, if given."""

    @reads
    def types(self, release_id: int) -> Collection[str]:
        """The types of graphs of a release, of its environments, and of all plugins.

        A Fuel master does not list the releases of environments, so there all environments count.
        """

    @reads
    def get(self, owner: OwnerRef, graph_type: str = DEFAULT_TYPE) -> Graph:
        """Raise `NotFound` for an unknown owner, or a graph type that it does not have."""

    @reads
    def layers(self, cluster_id: int, levels: Sequence[Level], graph_type: str = DEFAULT_TYPE) -> MergedGraph:
        """Merge the layers of `levels` (none: all) in an environment.

        Raise `NotFound` if no layer of the environment has the graph type, not even one of another level.
        """

    @reads
    def merged(self, cluster_id: int, graph_type: str = DEFAULT_TYPE, *, only_plugins: bool = False) -> Sequence[Task]:
        """The tasks of an environment, or of its plugins only, as the master, or the engine, merges them itself.

        A Fuel master returns none for an unknown graph type. `graph preview --verify` compares them with the merge of
        the layers that is computed here.
        """

    def upload(self, owner: OwnerRef, document: GraphDocument, graph_type: str = DEFAULT_TYPE) -> Uploaded:
        """Create a graph, or replace the tasks of an existing one, which keeps its id.

        Name and metadata change only if the document states them. Raise `InvalidGraph` with all findings, those of the
        document included, and change nothing, if one of them is an error: a record without type that has nothing to
        override, a duplicate id, an unknown stage. Each record of an environment that loses what it overrides is a
        warning that names the environments.
        """

    def delete(self, owner: OwnerRef, graph_type: str) -> tuple[Finding, ...]:
        """Remove a graph and return warnings about records of environments that lose what they override."""

    @reads
    def owner(self, owner: OwnerRef) -> Owner:
        """Raise `NotFound` if it does not exist."""

    @reads
    def snapshot(self, cluster_id: int, graph_type: str = DEFAULT_TYPE) -> Snapshot:
        """Read all that plans and previews need of an environment at one moment.

        Raise `NotFound`, with the types that exist, if no layer has the graph type.
        """


class Facts(Protocol):
    @reads
    def get(self, cluster_id: int) -> DeploymentFacts:
        """The uploaded facts; they may be empty."""

    @reads
    def default(self, cluster_id: int) -> DeploymentFacts:
        """The facts that follow from the environment's settings and nodes."""

    @reads
    def effective(self, cluster_id: int) -> DeploymentFacts:
        """The facts of a run: the default ones, overridden key by key by the uploaded ones."""

    def put(self, cluster_id: int, facts: DeploymentFacts) -> None:
        """Store the common part and the parts of the given nodes; those of other nodes stay.

        Raise `NotFound` for a node that is not in the environment; "master" is in each.
        """

    def delete(self, cluster_id: int) -> None: ...


class Runs(Protocol):
    """Runs. A follower waits for at least `pause` seconds before it reads a run again."""

    pause: float

    def begin(self, request: RunRequest, *, may_idle: bool = False, check: bool = True, digest: str = "") -> Run:
        """Begin a run in its own process; with `dry_run`, store a run that is only planned.

        The first graph is planned before anything is stored. Raise `NotFound` for an unknown environment, graph type,
        node or task, with the nearest existing name; `UsageError` for a malformed subgraph; `InvalidGraph` with all
        findings if a graph cannot run, or if nothing is selected; `Conflict`, naming the live run, if the environment
        has one. With `may_idle`, as on a Fuel master, tasks that do nothing by their type count as selected, and a
        subgraph that names no task fails later. With `check`, the engine raises `NotReady` if an SSH node is not ready.
        With the `digest` of a plan of the first graph, the engine raises `StalePlan` unless the run begins with that
        plan; a Fuel master ignores it."""

    @reads
    def check(self, node_ids: Sequence[int], graph_type: str = DEFAULT_TYPE) -> Sequence[Diagnosis]:
        """Examine whether nodes are ready for the tasks of a graph; a problem of several nodes is one diagnosis."""

    def act(self, action: Action, request: RunRequest) -> Run:
        """Begin the backend's own procedure for the action, on the environment and nodes of `request`.

        The graphs and tasks of the request are ignored. Only a Fuel master has it. Raise `Unsupported` for an option
        of the request that the action does not have.
        """

    @reads
    def decided(self, part: Run, request: RunRequest) -> DecisionByInstance:
        """Find the instances of one graph that would run, after a dry run; `part` is its child run for this graph.

        The mapping is empty if the backend did not record them. Only a Fuel master has it.
        """

    @reads
    def inputs(self, request: RunRequest) -> Inputs:
        """Read everything that the plans of a request are computed from, at one moment.

        `backends.plans` computes plans, simulated runs and pictures from it. Raise `NotFound` for an unknown
        environment or graph type.
        """

    def checker(self, request: RunRequest, inputs: Inputs) -> Check:
        """Make a check that returns the reason why an instance can never run here, or an empty string."""

    @reads
    def list(
        self, *, cluster_id: int | None = None, statuses: Sequence[str] = (), names: Sequence[str] = ()
    ) -> Sequence[Run]:
        """The parents and children that match all non-empty filters, by id."""

    @reads
    def get(self, run_id: int) -> Run:
        """Read a run, a parent with its children. Raise `NotFound` if it does not exist."""

    def delete(self, *run_ids: int, force: bool = False) -> tuple[str, ...]:
        """Remove runs with their children, their history and their files, those on nodes included.

        Return a sentence for each node where files could not be removed. Raise `Conflict` if one has not ended, unless
        `force` and its runner is gone.
        """

    @reads
    def removable(self, age: timedelta, cluster_id: int | None = None) -> Sequence[int]:
        """Find the runs that ended more than `age` ago, except those that later runs are compared with: the last
        success of each instance, the latest run of each environment, and all runs of an environment with a run that
        has not ended. Raise `Unsupported` on a Fuel master."""

    @reads
    def history(self, run_id: int, filters: HistoryFilter = ...) -> Sequence[HistoryRow]:
        """Return the task instances of a child, or of all children, in the order of their plans, then unplaced tasks.

        Raise `UsageError` for an unknown status.
        """

    @reads
    def outline(self, child_id: int) -> tuple[Mapping[tuple[str, str], tuple[int, int]], Sequence[str]]:
        """For each status and reason, the number of a child's instances and the first of them, numbered in the order of
        the plan; and the ids of all tasks but groups. Only an engine file has this, `page` and `column`."""

    @reads
    def page(self, child_id: int, numbers: range) -> Sequence[HistoryRow]:
        """Read these instances of a child, without definitions and unplaced tasks."""

    @reads
    def column(self, child_id: int, names: Sequence[str]) -> tuple[Sequence[tuple[Any, ...]], Sequence[int]]:
        """The distinct values of stored fields of a child's instances, and for each instance the index of its values.
        `seconds` are whole ones, or None for an instance that never began."""

    @reads
    def events(self, run_id: int, *, after: int = 0, limit: int = 1000) -> Sequence[Event]:
        """At most `limit` events of a parent and its children after the event `after`."""

    def stop(self, run_id: int, *, kill: bool = False) -> Run:
        """Ask a run to start nothing more, and with `kill` to end what is running. Raise `Conflict` if it has ended."""

    def stop_cluster(self, cluster_id: int, *, kill: bool = False) -> Run:
        """Ask the run on an environment to stop, as `stop` does. Raise `Conflict` if no run is live."""

    def resume(self, run_id: int, *, rerun_interrupted: bool = False) -> Run:
        """Resume a run whose runner was killed.

        Raise `Conflict` if it is running or has ended, and, naming them, if the results of some instances are not
        known, unless `rerun_interrupted`. Raise `StalePlan` if the graph has changed since.
        """

    @reads
    def logs(self, run_id: int, task: str, node: str) -> Logs:
        """The output of a task instance. Raise `NotFound` if it did not run. `node` is an id or `master`."""

    @reads
    def deployment_info(self, run_id: int) -> DeploymentFacts:
        """The facts that were recorded when the last graph of a run was planned.

        Raise `NotFound` if nothing was recorded.
        """

    @reads
    def settings(self, run_id: int) -> Mapping[str, Any]:
        """The settings of the environment by section, recorded as in `deployment_info`."""

    @reads
    def network_configuration(self, run_id: int) -> Mapping[str, Any]:
        """The networks of the environment, recorded as in `deployment_info`."""


@dataclass(frozen=True, slots=True)
class FuelVersion:
    """The versions of the API, of Fuel and OpenStack, and whether clients need a token."""

    api: str
    auth_required: bool
    feature_groups: tuple[str, ...]
    openstack_version: str
    release: str


SPOKEN = FuelVersion("1.0", False, ("experimental",), "mitaka-9.0", "9.0")
"""The version of the embedded engine: that of Fuel 9, the last one that clients know."""


class Backend(Protocol):
    """All facets of one engine file or server."""

    @property
    def target(self) -> str:
        """The path of the engine file or the URL of the server."""

    @property
    def releases(self) -> Releases: ...

    @property
    def clusters(self) -> Clusters: ...

    @property
    def nodes(self) -> Nodes: ...

    @property
    def networks(self) -> Networks: ...

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
    def services(self) -> Any:
        """The services of a Fuel master, `nailgun.services.Services`; `unsupported` elsewhere."""

    @property
    def copies(self) -> Copies:
        """Raise `Unsupported` on a master, which cannot store copies."""

    def version(self) -> FuelVersion: ...

    def together(self) -> AbstractContextManager[None]:
        """Store everything that the block writes, or nothing. Raise `Unsupported` on a master."""

    def reading(self) -> AbstractContextManager[None]:
        """Read all at one moment, until the block writes. Over HTTP each request has its own moment."""

    def graphs_state(self) -> Hashable | None:
        """What differs from all earlier values as soon as any graph has changed; None if the backend cannot know."""

    def sweep(self) -> None:
        """Remove the files of deleted runs in the background; called after a command that wrote."""

    def close(self) -> None: ...
