"""The rules for the settings, roles, plugins, host names and addresses of an environment.

Each rule is one function over the whole environment. A write is refused if it breaks a rule anew, whatever command or
request makes it; a rule that was broken before is shown by previews and plans, and stops no other change. Roles are
checked when a node gets them, clashes when a plugin is enabled: a later change of a setting, role or package is stored,
as on a Fuel master, and the broken rule is shown. Because environments are built step by step, missing nodes of a role
are only shown. Source: Nailgun, which checks settings, roles and restrictions when they change, and some
of them again before a deployment.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from fuelclient.environment import settings
from fuelclient.environment.roles import roles as roles_of
from fuelclient.errors import Conflict, FuelError, InvalidDocument
from fuelclient.expressions.legacy import Models
from fuelclient.expressions.restrictions import LimitKind, Restriction, conflicting, expand_restrictions, violation
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding, Place, Severity, errors_in, listed
from fuelclient.model.node import Node
from fuelclient.model.release import Role
from fuelclient.printing import ids_text
from fuelclient.serializers.values import mapping

NETWORK, SETTING, ROLE, NAME, ADDRESS = "N001", "N003", "N004", "N005", "N006"
"""The codes of the findings; those about plugins have the codes of `clashes`."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that an environment breaks, with its error. The code and the subjects, such as the id of a node and a
    role, identify it, because the message may change. `roles` are the roles of a node that break it."""

    subjects: tuple[object, ...]
    finding: Finding
    roles: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """The identity of the broken rule, by which findings before and after a write are compared."""
        return self.finding.code, *self.subjects


def broken(environment: Environment) -> list[Broken]:
    return [*_settings(environment), *_roles(environment), *_plugins(environment), *_names(environment),
            *_networks(environment), *_addresses(environment)]  # fmt: skip


def shown(environment: Environment, *, deploys: bool = False) -> Iterator[Finding]:
    """Yield warnings about the rules that an environment breaks, for previews and plans.

    Missing nodes of roles are reported only if the graph `deploys` the environment: a restart does not need them.
    """
    place = Place(layer=environment.label)
    yield from _undefined(environment)
    yield from (replace(each.finding, severity=Severity.WARNING, place=place) for each in broken(environment))
    if deploys:
        yield from _missing_nodes(environment)


def require_no_new_breaks(
    before: Environment, after: Environment, present: Collection[int], *, gives_roles: bool = False
) -> None:
    """Raise an error if a write breaks rules: `InvalidDocument` for values of settings and networks and addresses
    outside their network, `Conflict` for the rest.

    Only rules whose inputs have changed are checked, and roles only if a node gets one, or another one that excludes
    it; with `gives_roles`, all are checked. `present` are the ids of nodes that stay if the write is refused.
    """
    new: list[Broken] = []
    for rule, inputs_of in _RULES_OF_WRITES:
        if inputs_of(before) != inputs_of(after):
            known = {each.key for each in rule(before)}
            new += [each for each in rule(after) if each.key not in known]
    if new_roles := {*_role_assignments(after)} - (set() if gives_roles else {*_role_assignments(before)}):
        found = _roles(after, {role for _, role in new_roles})
        new += [each for each in found if any((each.subjects[0], role) in new_roles for role in each.roles)]
    if new:
        raise _refusal(new, after, present)


def _role_assignments(environment: Environment) -> Iterator[tuple[int, str]]:
    return ((node.id, role) for node in environment.nodes for role in node.all_roles)


def _refusal(new: Sequence[Broken], environment: Environment, present: Collection[int]) -> FuelError:
    findings = [each.finding for each in new]
    code = findings[0].code
    same = [each for each in new if each.finding.code == code]
    if code == SETTING:
        return InvalidDocument(
            f"The settings of environment {environment.cluster.id} are not stored: {findings[0].message}.",
            findings=findings, hint=findings[0].hint,
        )  # fmt: skip
    if code == ROLE:
        about = {each.subjects[0] for each in same}
        ids, names = about.intersection(present), [node.name for node in environment.nodes if node.id in about]
        which = ids_text(sorted(ids)) if ids else listed(names)  # new ones have no id that lasts
        reasons = " ".join(dict.fromkeys(each.finding.message for each in same))
        noun = "nodes" if len(ids or names) > 1 else "node"
        hints = [*dict.fromkeys(each.finding.hint for each in same if each.finding.hint)]
        hint = " ".join([*hints, f"This is about {noun} {which}; nothing was changed."])
        return Conflict(reasons, findings=[each.finding for each in same], hint=hint)
    text = "; ".join(dict.fromkeys(each.finding.message for each in same))
    raised = InvalidDocument if code == NETWORK else Conflict
    return raised(f"{text[:1].upper()}{text[1:]}.", hint=findings[0].hint)


# Settings


def _settings(environment: Environment) -> Iterator[Broken]:
    from fuelclient.environment import setting_values  # most commands check no settings

    for finding in setting_values.findings(environment.own_settings, environment):
        yield Broken((finding.place.path or ())[1:3], finding)


# Roles


def _roles(environment: Environment, wanted: Collection[str] | None = None) -> Iterator[Broken]:
    """Yield the roles that nodes may not have: they conflict, a restriction forbids them, or too many nodes have them.
    Restrictions and limits are checked for all roles, or only for the `wanted` ones.

    Messages are worded as in Nailgun, which knows limits but enforces none; here `max` is enforced. Source: Nailgun
    `validators.assignment` and `utils.restrictions`; "role-as-a-plugin" for conflicts per node.
    """
    nodes = [node for node in environment.nodes if not node.pending_deletion]
    known = roles_of(environment)
    nodes_by_role: dict[str, list[Node]] = {}
    for node in nodes:
        for name in node.all_roles:
            if name in known:
                nodes_by_role.setdefault(name, []).append(node)
    checked = nodes_by_role.keys() if wanted is None else nodes_by_role.keys() & wanted
    limited = {name for name in checked if any(known[name].metadata.get(key) for key in ("restrictions", "limits"))}
    models = settings.models(environment) if limited else {}
    for name, carriers in nodes_by_role.items():
        role = known[name]
        reasons = [*_refusals(role, len(carriers), models, environment.cluster.id)] if name in limited else []
        for node in carriers if reasons or role.metadata.get("conflicts") else ():
            others = conflicting(name, [other for other in node.all_roles if other in known], role.metadata)
            conflict = f"Role '{name}' in conflict with role '{', '.join(others)}'."
            place = Place(path=(node.name, "roles", name))
            for text, hint in (*([(conflict, "")] if others else ()), *reasons):
                about = others if text == conflict else ()
                finding = Finding(Severity.ERROR, ROLE, text, place, hint=hint)
                yield Broken((node.id, name, text), finding, (name, *about))


def _refusals(role: Role, count: int, models: Models, cluster_id: int) -> Iterator[tuple[str, str]]:
    """Yield why a number of nodes may not have a role, and what to do about settings that forbid it."""
    if broken := _restricted(role, models):
        reasons = ". ".join(each.reason.rstrip(".") for each in broken)
        conditions = [" ".join(each.condition.split()) for each in broken if "settings:" in each.condition]
        hint = (
            f"It is forbidden while {' or '.join(conditions)}. Change that in the file of `fuel2 env settings download "
            f"{cluster_id}`, and store it with `fuel2 env settings upload {cluster_id}`."
        )
        yield f"Role '{role.name}' restrictions mismatch: {reasons}.", hint if conditions else ""
    if reason := violation(role.metadata.get("limits"), count, models, LimitKind.MAX):
        yield f"Role '{role.name}' limits mismatch: {reason.rstrip('.')}.", ""


def _missing_nodes(environment: Environment) -> Iterator[Finding]:
    """Yield a warning for each role with fewer nodes than its `limits.min`, in an environment with nodes of its own.

    A role without nodes is left out if its restrictions forbid it.
    """
    nodes = [node for node in environment.nodes if not node.pending_deletion]
    limited = [role for role in roles_of(environment).values() if role.metadata.get("limits")]
    if not nodes or not limited or environment.nodes_are_assumed:
        return
    models = settings.models(environment)
    for role in limited:
        count = sum(role.name in node.all_roles for node in nodes)
        if not count and _restricted(role, models):
            continue
        if reason := violation(role.metadata.get("limits"), count, models, LimitKind.MIN):
            message = f"role {role.name}: {reason.rstrip('.')}"
            hint = f"Give more nodes the role: fuel2 env add nodes -e {environment.cluster.id} -n NODE -r {role.name}."
            yield Finding(Severity.WARNING, "P089", message, Place(layer=role.owner), hint=hint)


def _restricted(role: Role, models: Models) -> list[Restriction]:
    """The restrictions that forbid a role. Unreadable ones are ignored: the package check reports them."""
    reasons: list[Restriction] = []
    with suppress(InvalidDocument):
        for restriction in expand_restrictions(role.metadata.get("restrictions")):
            with suppress(InvalidDocument):
                reasons += [restriction] * replace(restriction, strict=False).is_satisfied(models)
    return reasons


def undefined_roles(environment: Environment) -> list[tuple[Node, list[str]]]:
    """Find the nodes with roles that neither release nor plugin nor environment defines, and these roles."""
    known = roles_of(environment)
    roles = [(node, [role for role in node.all_roles if role not in known]) for node in environment.nodes]
    return [(node, names) for node, names in roles if names]


def _undefined(environment: Environment) -> Iterator[Finding]:
    """Yield a warning for each role of a node that is not defined any more, such as one that was removed from a linked
    plugin or from the environment."""
    nodes_by_role: dict[str, list[str]] = {}
    for node, names in undefined_roles(environment):
        for role in names if not node.pending_deletion else ():
            nodes_by_role.setdefault(role, []).append(node.name)
    for role, names in sorted(nodes_by_role.items()):
        message = f"{listed(names)}: neither the release, nor a plugin, nor the environment defines the role {role}"
        hint = "Define the role again, or take the nodes out of the environment: `fuel2 env remove nodes`."
        yield Finding(Severity.WARNING, "P091", message, Place(layer=environment.label), hint=hint)


# Plugins


def _plugins(environment: Environment) -> Iterator[Broken]:
    """Yield clashes of enabled plugins with the release or another plugin, such as roles, volumes and network roles."""
    if not environment.plugins:
        return
    from fuelclient.environment.clashes import Contributor, clashes

    release, of_plugins = Contributor(environment.release), [*map(Contributor, environment.plugins)]
    for position, plugin in enumerate(environment.plugins):
        for finding in errors_in(clashes(of_plugins[position], release, of_plugins[:position])):
            with_plugin = replace(finding, message=f"plugin {plugin.name}: {finding.message}")
            yield Broken((plugin.id, finding.message), with_plugin)


# Host names


def _names(environment: Environment) -> Iterator[Broken]:
    """Yield nodes that have the host name of another node, or that of the public endpoint."""
    if environment.nodes_are_assumed:
        return
    has_names = any(node.attributes.get("hostname") for node in environment.nodes)
    public_ssl = mapping(settings.effective(environment).get("public_ssl")) if has_names else {}
    endpoint = str(mapping(public_ssl.get("hostname")).get("value") or "").lower()
    seen: dict[str, Node] = {}
    for node in sorted(environment.nodes, key=lambda node: (not node.attributes.get("hostname"), node.id)):
        name = node.hostname.lower()
        if (other := seen.setdefault(name, node)) is not node:
            text = f"nodes {other.id} and {node.id} have the host name {name}"
            # `node` may have its default name, and then may not be stored yet
            hint = f"Give one of them another: `fuel2 node update {other.id} --hostname NAME`."
            yield Broken((*sorted((other.id, node.id)),), Finding(Severity.ERROR, NAME, text, hint=hint))
        if name == endpoint and node.attributes.get("hostname"):
            text = f"node {node.id} has the host name {name}, which is that of the public endpoint"
            hint = f"Give it another: `fuel2 node update {node.id} --hostname NAME`."
            yield Broken((node.id, "public_ssl"), Finding(Severity.ERROR, NAME, text, hint=hint))


# Networks and addresses


def _networks(environment: Environment) -> Iterator[Broken]:
    """Yield networks that the environment changed to invalid values, and networks that overlap."""
    if not (own := environment.own_networks.get("networks")):
        return
    from fuelclient.environment import network_changes
    from fuelclient.environment.networks import NETWORKS, network_configuration

    networks = network_configuration(environment)[NETWORKS]
    changed = (network for network in networks if network["name"] in own)
    found = [(f"network {each['name']}: {text}", "") for each in changed for text in network_changes.wrong_values(each)]
    found += [(text, network_changes.OVERLAP_HINT) for text in network_changes.overlaps(networks)]
    for text, hint in found:
        yield Broken((text,), Finding(Severity.ERROR, NETWORK, text, hint=hint))


def _addresses(environment: Environment) -> Iterator[Broken]:
    """Yield virtual addresses that are outside their network, or in use: by another one, a gateway, a network itself or
    a node.

    Only addresses that a user chose are checked: an allocated one gives way.
    """
    if not (user_vips := [vip for vip in environment.vips if vip.is_user_defined]):
        return
    from fuelclient.environment.networks import NETWORKS, cidr_of, network_configuration, within

    taken: dict[str, str] = {}
    networks = {network["name"]: network for network in network_configuration(environment)[NETWORKS]}
    for network in networks.values():
        taken |= {str(network["gateway"]): f"the gateway of network {network['name']}"} if network["gateway"] else {}
        cidr = cidr_of(network["cidr"])
        if cidr is not None and cidr.num_addresses > 2:
            taken[str(cidr[0])] = f"the address of network {network['name']}"
            taken[str(cidr[-1])] = f"the broadcast address of network {network['name']}"
    taken |= {node.ip: f"the address of node {node.id}" for node in environment.nodes if node.ip}
    for vip in sorted(user_vips, key=lambda vip: vip.id):
        target = networks.get(vip.network, {})
        cidr = cidr_of(target.get("cidr"))
        if cidr is not None and not within([vip.ip_addr], cidr):
            text = f"the virtual address {vip.name}, {vip.ip_addr}, is not in network {vip.network} ({cidr})"
            hint = f"Choose another address, or another network with its id; {vip.network} has the id {target['id']}."
            yield Broken((vip.name, vip.ip_addr, vip.network), Finding(Severity.ERROR, NETWORK, text, hint=hint))
        if (other := taken.setdefault(vip.ip_addr, f"virtual address {vip.name}")) != f"virtual address {vip.name}":
            text = f"virtual address {vip.name} cannot be {vip.ip_addr}, which is {other}"
            finding = Finding(Severity.ERROR, ADDRESS, text, hint="Choose another address of its network.")
            yield Broken((vip.name, vip.ip_addr, other), finding)


_RULES_OF_WRITES: tuple[tuple[Callable[[Environment], Iterable[Broken]], Callable[[Environment], object]], ...] = (
    (_settings, lambda each: (each.own_settings, each.release, each.plugins)),
    (_names, lambda each: ([node.hostname for node in each.nodes], each.own_settings, each.release)),
    (_networks, lambda each: (each.own_networks, each.release)),
    (_addresses, lambda each: (each.vips, each.own_networks, [node.ip for node in each.nodes], each.release)),
)
"""The rules that every write is checked against, and the inputs of each."""
