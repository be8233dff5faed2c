"""Copy an environment into an engine file, and compare the copy with its original."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from fuelclient import backends
from fuelclient.backends.base import Backend
from fuelclient.backends.copies import all_inputs, copy_of
from fuelclient.commands.arguments import ID_NAME, YES, Argument, flag, id_of, option, owner_text
from fuelclient.commands.base import Command, Comparing, Lister, report
from fuelclient.commands.exits import Exit
from fuelclient.commands.formatters import Fields
from fuelclient.commands.global_options import file_path
from fuelclient.commands.shell import LOG, count
from fuelclient.environment import differences
from fuelclient.environment.differences import GraphKey
from fuelclient.errors import Conflict, Declined, NotFound, UsageError
from fuelclient.model.graph import GraphDocument, Layer, Level, OwnerRef
from fuelclient.plan.inputs import Inputs

_NOT_COPIED = (
    "the output of tasks and earlier histories, provisioning facts, network templates, OpenStack configurations,"
    " sequences of graphs"
)
_NOT_COPIED_FROM_MASTER = "the disks and interfaces of nodes"
"""Further parts that are not copied from a Fuel master."""


def _engine_option(name: str, help: str) -> Argument:
    """The option for the copy's engine file. It sets `engine_file`; None means the file of the settings."""
    return option(name, type=file_path, nargs="?", required=True, metavar="FILE", dest="engine_file", help=help)


class EnvClone(Lister):
    """Copy an environment into an engine file

    Try a change of a graph there first: the copy has the release, the plugins, the graphs of all types, the nodes with
    their roles, the settings, the networks, the facts, and what the last runs remember. Everything is copied, or
    nothing. 'fuel2 env diff' compares the copy with its original, and uploads changed graphs back.

    Nodes keep their addresses, and also their ids, because facts refer to them. Their executor becomes noop, so that a
    run on the copy reaches no machine; a run by another executor would reach those of the original, and needs
    --on-originals. Facts are those of the original. If you change a setting, a network or a node of the copy, the facts
    that depend on it change. A release or a plugin of the same name and version is used if it is equal. If it is not,
    or if the name of the environment or the id of a node is taken, the exit code is 6.

    The environment is that of the master which --server or the settings name. --to-engine without a file takes the
    engine file of the settings.

      fuel2 env clone 1 --to-engine copy.db
      fuel2 env clone 1 --to-engine copy.db --name trial
    """

    columns = ("part", "count", "note")
    sort_by = ""

    arguments = (
        id_of("environment"),
        _engine_option("--to-engine", "copy it into this engine file (default: the one of the settings)"),
        option("--name", help="name of the copy (default: that of the original)"),
    )

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        copy = copy_of(self.backend, parsed_args.id)
        with closing(_engine(self, parsed_args.engine_file)) as engine:
            LOG.info("Target: %s", engine.target)
            copied = engine.copies.store(copy, parsed_args.name or "")
            LOG.info("Environment %s is now environment %s in %s.", parsed_args.id, copied.cluster_id, engine.target)
        LOG.warning("Not copied: %s.", _NOT_COPIED if copy.has_parts else f"{_NOT_COPIED}, {_NOT_COPIED_FROM_MASTER}")
        return [(part.part, part.count, part.note) for part in copied.parts]


class EnvDiff(Comparing, Lister):
    """Compare an environment with its copy in an engine file

    Lists what differs in graphs, settings and facts. Without --copy, the copy is the environment of the same name in
    the engine file. The order of tasks and the ids of plugins do not count, and secrets are masked. With --exit-code
    the exit code is 10 if there are differences.

    --apply uploads to the original the graphs of the copy that differ from its own. On a terminal the command asks for
    each graph; elsewhere it needs --yes. Graphs that only the original has are kept. If you decline an upload, the exit
    code is 11. If a graph was changed in the original after the copy was made, nothing is uploaded without --force, and
    the exit code is 6.

      fuel2 env diff 1 --with-engine copy.db
      fuel2 env diff 1 --with-engine copy.db --copy prod --apply --yes
    """

    columns = ("part", "place", "path", "copy", "original")
    by_weight = ("path", "copy", "original", "part")
    sort_by = ""

    arguments = (
        id_of("environment"),
        _engine_option("--with-engine", "the engine file with the copy (default: the one of the settings)"),
        option("--copy", metavar=ID_NAME, help="id or name of the copy"),
        flag("--exit-code", help="exit with 10 if they differ"),
        flag("--apply", help="upload the graphs of the copy that differ"),
        flag("--force", help="also replace graphs that changed in the original"),
        YES,
    )

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        if parsed_args.apply and not parsed_args.yes and not self.shell.asks:
            raise UsageError("--apply asks for each graph, which needs a terminal and no -q.", hint="Add --yes.")
        with closing(_engine(self, parsed_args.engine_file)) as engine:
            original = all_inputs(self.backend, parsed_args.id)
            copy_id = _copy_id(engine, parsed_args.copy or original.environment.cluster.name)
            copy = all_inputs(engine, copy_id)
            base = engine.copies.graphs(copy_id)
            ours = differences.graph_digests(copy)
            sides = differences.changed_sides(base, ours, differences.graph_digests(original)) if base else {}
            for label, side in sides.items():
                where = "the copy and the original" if side == "both" else f"the {side}"
                LOG.info("The graph of %s was changed in %s.", label, where)
            if parsed_args.apply:
                _require_unchanged({label: sides[label] for label in sides if label in ours}, force=parsed_args.force)
                applied = self._apply(parsed_args, copy, original)
                if base and applied:
                    engine.copies.set_graphs(copy_id, {**base, **applied})
        found = differences.environment_differences(copy, original)
        self.differs = bool(found)
        if not found:
            LOG.info("The copy equals its original.")
        return [(each.part, each.place, each.path, *map(Fields, each.masked)) for each in found]

    def _apply(self, parsed_args: argparse.Namespace, copy: Inputs, original: Inputs) -> dict[str, str]:
        """Upload the graphs of the copy that differ, each after a question.

        Return the digests of the graphs as stored in the original, because a master completes partial records.
        """
        applied = {}
        for key, layer, number in _changed_graphs(copy, original):
            label = differences.graph_label(key)
            owner = _owner(key, original)
            if layer is None or owner is None:
                missing = "the copy" if layer is None else "the original's plugins"
                LOG.warning("The graph of %s is not uploaded: it is not in %s.", label, missing)
                continue
            question = f"Upload the graph of {label} to {owner_text(owner)} ({count(number, 'difference')})?"
            try:
                self.ask(parsed_args, question.__str__)
            except Declined:
                self.exit_code = Exit.DECLINED
                LOG.warning("The graph of %s is not uploaded.", label)
                continue
            document = GraphDocument(layer.tasks, metadata=layer.metadata)
            uploaded = self.writable().graphs.upload(owner, document, key[-1])
            report(uploaded.findings)
            applied[label] = differences.graph_digest(uploaded.graph.tasks, uploaded.graph.metadata)
            LOG.info("The graph of %s was uploaded to %s.", label, owner_text(owner))
        return applied


def _engine(command: Command, path: str | None) -> Backend:
    return backends.engine_at(path or command.shell.settings.engine)


def _copy_id(engine: Backend, wanted: str) -> int:
    """Raise `NotFound` if no environment of the engine has this id or name."""
    clusters = engine.clusters.list()
    for cluster in clusters:
        if wanted in (cluster.name, str(cluster.id)):
            return cluster.id
    known = [cluster.name for cluster in clusters]
    raise NotFound("environment", f"{wanted} in {engine.target}", known=known, hint="Name the copy with --copy.")


def _require_unchanged(sides: Mapping[str, str], *, force: bool) -> None:
    """Raise `Conflict` if an upload would replace changes that were made in the original after it was copied."""
    if (changed := [label for label, side in sides.items() if side != "copy"]) and not force:
        raise Conflict(
            f"The original was changed after the copy was made: the graph of {'; '.join(changed)}."
            " Uploading the copy would undo that, so nothing was uploaded.",
            hint="Repeat the changes in the copy, or add --force to replace them.",
        )


def _changed_graphs(copy: Inputs, original: Inputs) -> Iterator[tuple[GraphKey, Layer | None, int]]:
    """Yield each graph that differs: its key, its layer in the copy or None, and the number of its differences."""
    numbers = Counter(each.place for each in differences.graph_differences(copy, original))
    layers = differences.layers_by_key(copy)
    for key in sorted({*layers, *differences.layers_by_key(original)}):
        if numbers[differences.graph_label(key)]:
            yield key, layers.get(key), numbers[differences.graph_label(key)]


def _owner(key: GraphKey, original: Inputs) -> OwnerRef | None:
    """The owner of a graph in the original environment; None for a plugin that is not enabled there."""
    from fuelclient.environment.roles import owners

    level, name, version, _ = key
    same = (each for each in owners(original.environment) if each.level is level)
    found = (each for each in same if level is not Level.PLUGIN or (each.name, each.version) == (name, version))
    return next((OwnerRef(level, each.id) for each in found), None)
