"""Move an environment to another version of its release, or try that without storing it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from fuelclient.engine.packages import enable
from fuelclient.engine.reading import environment, generated_settings, lookup, orphaned_records
from fuelclient.engine.runs.records import require_free
from fuelclient.environment.release_change import kept_networks, kept_settings, require_another_version
from fuelclient.errors import Conflict
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding, Place, Severity, errors_in
from fuelclient.model.release import Release
from fuelclient.plan.inputs import EnvironmentChange
from fuelclient.store.database import Connection, Database
from fuelclient.store.inventory import clusters, put_own_networks, releases, sequences


def change_release(database: Database, cluster_id: int, release_id: int, *, dry_run: bool) -> EnvironmentChange:
    """Change the release of an environment; with `dry_run`, roll it back. See `backends.base.Clusters`."""
    with (
        database.undone() if dry_run else database.write() as connection,
        environment.checking_rules(connection, [cluster_id], gives_roles=True) as (before,),
    ):
        wanted = lookup.release(connection, release_id)
        require_another_version(before.release, wanted, releases.every(connection))
        require_free(connection, cluster_id)
        was = environment.with_graphs(connection, before)
        orphaned = orphaned_records.watch(connection, [cluster_id])
        known = set(_plugin_findings(connection, before))
        clusters.update(connection, replace(before.cluster, release_id=release_id))
        findings = [*_drop_lost_settings(connection, before), *_changed_sequences(connection, before.release, wanted)]
        plugin_findings = _plugin_findings(connection, environment.read(connection, cluster_id))
        _require_support(cluster_id, plugin_findings)
        enable.require_roles(connection, cluster_id, f"which release {wanted.name} {wanted.version} does not have")
        findings += [finding for finding in plugin_findings if finding not in known]
        findings += orphaned()
        after = environment.with_graphs(connection, environment.read(connection, cluster_id))
        return EnvironmentChange(was, after, tuple(findings))


def _drop_lost_settings(connection: Connection, before: Environment) -> list[Finding]:
    """Remove settings and networks of the environment that only the old release defines, and report them."""
    cluster_id = before.cluster.id
    after = environment.read(connection, cluster_id)
    own, dropped = kept_settings(before, after)
    environment.put_settings(connection, cluster_id, own)
    own_networks, lost = kept_networks(before, after)
    put_own_networks(connection, cluster_id, own_networks)
    generated_settings.generate(connection, cluster_id)
    return [*dropped, *lost]


def _changed_sequences(connection: Connection, before: Release, after: Release) -> Iterator[Finding]:
    """Yield a warning for each sequence of the old release that the new one lacks or has with other graphs.

    No sequence is changed, because other environments of its release may rely on it.
    """
    known = {sequence.name: sequence for sequence in sequences.every(connection, release_id=after.id)}
    release = f"release {after.name} {after.version}"
    for sequence in sequences.every(connection, release_id=before.id):
        if (other := known.get(sequence.name)) is None:
            text = f"{release} has no sequence {sequence.name}, which stays with release {before.id}"
            hint = f"Copy it: fuel2 sequence download {sequence.id} | fuel2 sequence upload -r {after.id} --file -."
            yield Finding(Severity.WARNING, "G064", text, Place(layer=release), hint=hint)
        elif other.graph_types != sequence.graph_types:
            graphs, former = (", ".join(each.graph_types) for each in (other, sequence))
            text = f"sequence {sequence.name} of {release} runs the graphs {graphs}; so far these were {former}"
            yield Finding(Severity.WARNING, "G064", text, Place(layer=release))


def _require_support(cluster_id: int, plugin_findings: Iterable[Finding]) -> None:
    if errors := errors_in(plugin_findings):
        texts = "; ".join(f"{error.place.layer}: {error.message} [{error.code}]" for error in errors)
        raise Conflict(
            f"Environment {cluster_id} cannot move to this release with its plugins: {texts}.",
            findings=errors,
            hint=f"Disable them first (`fuel2 plugins disable NAME --env {cluster_id}`), or install versions of them "
            "that support it. Nothing was changed.",
        )


def _plugin_findings(connection: Connection, target: Environment) -> list[Finding]:
    return [finding for plugin in target.plugins for finding in enable.findings_about(connection, target, plugin)]
