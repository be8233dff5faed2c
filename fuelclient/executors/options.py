"""The options of executors: what they have to know of this installation and of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fuelclient import settings


@dataclass(frozen=True, slots=True)
class Options:
    """What all executors of a run are made with.

    `spool` is the root of the run's spools on this machine, `remote_spool` the one on nodes. `commands` are the
    configured handler commands by task type. `nodes` is where nodes that are directories of this machine have theirs.
    `grace` are the seconds that a command has to end by itself, `output_megabytes` what is kept of each output. The SSH
    files are the user's own where they are empty. `settings` reads the settings, when a kind needs one of them.
    """

    spool: str
    remote_spool: str = "/var/tmp/fuel2"  # noqa: S108 - it survives a restart; the spool checks who owns it
    commands: Mapping[str, str] = field(default_factory=dict)
    nodes: str = ""
    grace: float = 5
    known_hosts: str = ""
    ssh_config: str = ""
    connect_timeout: float = 20
    output_megabytes: int = 16
    settings: Callable[[], settings.Settings] = settings.load
