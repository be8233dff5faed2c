"""Virtual IP addresses, and the documents that describe how a node is built."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class NodePart(StrEnum):
    """A part of a node that a document describes, spelled as in Nailgun's paths."""

    DISKS = "disks"
    INTERFACES = "interfaces"


@dataclass(frozen=True, slots=True)
class Vip:
    """An address that moves between the nodes of an environment.

    `network` is the name of its network. A user chose the address if `is_user_defined`; otherwise it was allocated.
    """

    id: int
    name: str
    ip_addr: str
    network: str = ""
    namespace: str | None = None
    is_user_defined: bool = True
