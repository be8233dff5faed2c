"""Diagnostic snapshots of a Fuel master: its logs and those of its nodes."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.commands.arguments import id_of, option
from fuelclient.commands.base import ShowOne
from fuelclient.commands.columns import plain
from fuelclient.commands.documents import require_mapping
from fuelclient.commands.master_only import MasterOnly
from fuelclient.commands.output import STDOUT, place_options, put
from fuelclient.commands.shell import LOG


class _OfMaster(MasterOnly):
    """A command about diagnostic snapshots."""

    reason = "Only a Fuel master collects diagnostic snapshots: they have its logs and those of its nodes."
    instead = "See what tasks of a run printed with `fuel2 task logs`."


class SnapshotCreate(_OfMaster):
    """Collect a diagnostic snapshot

    Without --config the master decides what is in it. 'fuel2 snapshot get-link' shows where it is.

      fuel2 snapshot create --config snapshot_conf.yaml
    """

    arguments = (option("-c", "--config", metavar="FILE", help="YAML or JSON with what to collect; - is stdin"),)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        services = self.services
        config = self._config(parsed_args.config)
        self.writable()
        self.say(f"Diagnostic snapshot generation task with id {services.create_snapshot(config)} was started")

    def _config(self, path: str | None) -> Mapping[str, Any]:
        if path is None:
            return {}
        document = self.load(path)
        hint = "Start from 'fuel2 snapshot get-default-config'."
        config: Mapping[str, Any] = require_mapping(document, "the configuration of a snapshot", hint)
        return config


class SnapshotConfig(_OfMaster):
    """Write the default configuration of a snapshot to a file

    Without --file the file is DIR/snapshot_conf.FORMAT. An existing file is overwritten; on a terminal the command
    asks first.

      fuel2 snapshot get-default-config -f yaml
    """

    arguments = (*place_options("write"),)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        config = plain(self.services.snapshot_config())
        form = parsed_args.format or "yaml"
        path = parsed_args.file or os.path.join(parsed_args.directory or ".", f"snapshot_conf.{form}")
        path = path if path == STDOUT else os.path.abspath(path)
        put(self, parsed_args, config, path, form)
        if path != STDOUT:
            self.say(f"Configuration was stored in {path}")


class SnapshotLink(_OfMaster, ShowOne):
    """Show whether a snapshot is ready, and the URL from which to download it

    fuel2 snapshot get-link 12
    """

    columns = ("status", "link")

    arguments = (id_of("task that 'snapshot create' printed"),)

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        snapshot = self.services.snapshot(parsed_args.id)
        if snapshot.message:
            LOG.warning("Snapshot task %d is %s: %s", parsed_args.id, snapshot.status, snapshot.message)
        return snapshot.status, snapshot.link
