"""Deployment facts of a master's environments."""

from __future__ import annotations

import re
from typing import Any

from fuelclient.backends.nailgun.facet import Facet
from fuelclient.errors import InvalidDocument
from fuelclient.facts.given import NULL, by_node, effective_facts
from fuelclient.model.fact import DeploymentFacts, uid_of
from fuelclient.plan.fleet import MASTER
from fuelclient.serializers.fact import facts_from, facts_to

_FACTS = "orchestrator/deployment/"
_UID = re.compile(r"\w[\w.-]*")


class Facts(Facet):
    invalid = InvalidDocument

    def get(self, cluster_id: int) -> DeploymentFacts:
        return _facts(self._at(cluster_id, _FACTS).get(split=True))

    def default(self, cluster_id: int) -> DeploymentFacts:
        return _facts(self._at(cluster_id, f"{_FACTS}defaults/").get(split=True))

    def effective(self, cluster_id: int) -> DeploymentFacts:
        """Complete the default facts: a master leaves out the sync points and the uids inside the nodes."""
        default = by_node(self.default(cluster_id))
        nodes_and_master = {MASTER: {"roles": [MASTER]}, **default.nodes}
        parts = {uid: {"uid": uid, **part} for uid, part in nodes_and_master.items()}
        parts[NULL] = dict(default.nodes.get(NULL, {}))
        return effective_facts(DeploymentFacts(default.common, parts), self.get(cluster_id))

    def put(self, cluster_id: int, facts: DeploymentFacts) -> None:
        """Send the stored facts of the other nodes again: a master may forget what an upload leaves out."""
        stored = self.get(cluster_id).nodes
        uids = {uid_of(name) for name in facts.nodes}
        kept = {name: part for name, part in stored.items() if name not in uids and uid_of(name) not in facts.nodes}
        self._at(cluster_id, _FACTS).put(facts_to(DeploymentFacts(facts.common, {**kept, **facts.nodes})))

    def delete(self, cluster_id: int) -> None:
        self._at(cluster_id, _FACTS).delete()


def _facts(data: Any) -> DeploymentFacts:
    """Read facts. Raise `InvalidDocument` for a uid that could be a path: it becomes a file name."""
    facts = facts_from(data)
    for uid in facts.nodes:
        if not _UID.fullmatch(uid):
            raise InvalidDocument(f"{uid!r} in the answer is not the uid of a node.", hint="Check --server.")
    return facts
