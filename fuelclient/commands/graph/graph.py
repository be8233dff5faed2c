"""Graphs: list, upload, download and delete them."""

from __future__ import annotations

import argparse
import dataclasses
import logging
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import (
    NOUNS,
    OF_ENV,
    OWNER,
    YES,
    Argument,
    env_option,
    flag,
    one_of,
    option,
    owner_of,
    owner_text,
    source_options,
    type_option,
)
from fuelclient.commands.base import Changing, Command, Lister, report
from fuelclient.commands.documents import OVERWRITING, STDOUT, output_options, overwrites, put_text
from fuelclient.commands.formatters import Names, Shown, some
from fuelclient.commands.shell import LOG, count
from fuelclient.errors import InvalidGraph, NotFound, UsageError
from fuelclient.support import supports

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.graph import GraphDocument, OwnerRef, Uploaded


class GraphList(Lister):
    """List graphs with their tasks and owners

    Without --env all graphs are listed, with it those of the environment, of its release and of the plugins enabled on
    it. --cluster, --plugins and --release can be combined. A relation names an owner of the graph, and the type that
    the graph has there. With -f json and -f yaml tasks are a list and relations are mappings. On a terminal the table
    has the number of tasks and the first of them; files and pipes get all.

      fuel2 graph list --env 1
      fuel2 graph list --env 1 --cluster -c tasks -f csv
    """

    columns = ("id", "name", "tasks", "relations")
    by_weight = ("id", "relations", "tasks")

    arguments = (
        env_option(required=False, help="only graphs that are merged for this environment"),
        flag("--cluster", help="graphs of environments"),
        flag("--plugins", help="graphs of plugins"),
        flag("--release", help="graphs of releases"),
    )

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        from fuelclient.model.graph import Level

        selected = zip(Level, (parsed_args.release, parsed_args.plugins, parsed_args.cluster), strict=True)
        levels = [level for level, is_selected in selected if is_selected]
        graphs = self.backend.graphs.list(parsed_args.env, levels)
        if not graphs and parsed_args.env is None and not levels:
            self.empty = "There are no graphs yet. 'fuel2 graph upload' stores one; releases and plugins bring some."
        for graph in graphs:
            owner = graph.owner
            relation = {"type": graph.type, "model": str(owner.level), "model_id": owner.id}
            names = sorted(graph.task_ids)
            number = f"{count(len(names), 'task')}{f': {some(names)}' if names else ''}"
            tasks = Shown(names, number) if self.is_for_terminal(parsed_args) else Names(names)
            yield graph.id, graph.name, tasks, Shown([relation], f'as "{graph.type}" to {owner.level}(ID={owner.id})')


class GraphDelete(Changing):
    """Delete one graph of an owner

    --type is required, so that the default graph is not deleted by accident. On a terminal the command asks first,
    unless you use --yes.

      fuel2 graph delete --env 1 --type rollback
    """

    done = "Deployment graph '{graph_type}' for {noun} with id {owner.id} was deleted."

    arguments = (OWNER, type_option(default=None, required=True), YES)

    def read(self, parsed_args: argparse.Namespace) -> None:
        parsed_args.owner = owner_of(parsed_args)
        parsed_args.noun = NOUNS[parsed_args.owner.level]

    def question_for(self, parsed_args: argparse.Namespace) -> str:
        owner, graph_type = parsed_args.owner, parsed_args.graph_type
        tasks = len(self.backend.graphs.get(owner, graph_type).tasks)
        return f"Delete the {graph_type} graph of {owner_text(owner)} with its {count(tasks, 'task')}?"

    def change(self, parsed_args: argparse.Namespace) -> None:
        report(self.backend.graphs.delete(parsed_args.owner, parsed_args.graph_type))


DEFAULT = "default"


class GraphUpload(Command):
    """Upload a graph to an owner

    The owner is an environment, a release or a plugin; it has one graph of each type. If it already has a graph of the
    type, the upload replaces the tasks of that graph. Its id stays, and so do its name and metadata unless the document
    has its own. Without --type the graph type is default. On a terminal the command asks before it replaces tasks, and
    if --type is not given; --yes answers these questions.

    If a task is invalid, or the document is empty, nothing is stored, all findings are listed, and the exit code is 7.
    Write [] for a graph without tasks.

      fuel2 graph upload --env 1 --type default --file override.yaml
      fuel2 graph upload --release 1 --dir fuel-library/deployment/puppet --yes
      fuel2 graph upload --plugin 2 --type default --file -
    """

    arguments = (
        OWNER,
        type_option(default=None),
        one_of(*source_options("-f"), required=True),
        option("--name", type=str, help="name of the graph (default: the name in the document)"),
        YES,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.commands.graph.documents import graph_document

        ref = owner_of(parsed_args)
        label = self._label(ref)
        graph_type = parsed_args.graph_type or DEFAULT
        document = graph_document(parsed_args, self.app.stdin, owner_label=label, absolute=True)
        if parsed_args.name is not None:
            document = dataclasses.replace(document, name=parsed_args.name)
        has_agreed = self.ask(parsed_args, lambda: self._question(ref, parsed_args.graph_type, document))
        if parsed_args.graph_type is None and not has_agreed:
            LOG.info("--type is not given: uploading to the graph type '%s' of %s.", DEFAULT, owner_text(ref))
        uploaded = self.writable().graphs.upload(ref, document, graph_type)
        report(uploaded.findings)
        _log_upload(uploaded, f"type '{graph_type}' of {owner_text(ref)}")
        self.tell("Deployment graph was successfully uploaded.")

    def _label(self, ref: OwnerRef) -> str:
        """The prefix of the ids of legacy tasks. Raise `NotFound` for an unknown owner.

        For a release or an environment of a Fuel master no request is needed, because the upload itself would fail.
        """
        from fuelclient.model.graph import Level

        if ref.level is not Level.PLUGIN and supports(self.backend.runs.act):
            return str(ref.level)
        owner = self.backend.graphs.owner(ref)
        return owner.name if ref.level is Level.PLUGIN else str(ref.level)

    def _question(self, owner: OwnerRef, graph_type: str | None, document: GraphDocument) -> str:
        """The question whether to replace the tasks of a graph, with the environments that use it; empty if the graph
        has no tasks and the type is given. Raise `NotFound` for an unknown owner, and `InvalidGraph` for a document
        that the upload would refuse."""
        from fuelclient.commands.graph.documents import judged
        from fuelclient.model.finding import require_no_errors

        target, given = self.backend.graphs.owner(owner), graph_type or DEFAULT
        require_no_errors(judged(self.backend, document, owner, given), f"The {given} graph of {target} is not stored")
        try:
            before = len(self.backend.graphs.get(owner, given).tasks)
        except NotFound:
            before = 0
        if not before and graph_type:
            return ""
        if not before:
            return f"--type is not given. Upload to the graph type '{DEFAULT}' of {owner_text(owner)}?"
        users = _environments(self.backend, owner)
        merged = f", which {some(users)} {'uses' if len(users) == 1 else 'use'}" if users else ""
        return f"Replace the {count(before, 'task')} of type '{given}' of {owner_text(owner)}{merged}?"


def _environments(backend: Backend, owner: OwnerRef) -> list[str]:
    from fuelclient.model.graph import Level

    if owner.level is Level.CLUSTER:
        return []
    clusters = backend.clusters.list()
    if owner.level is Level.RELEASE:
        users = [cluster for cluster in clusters if cluster.release_id == owner.id]
    else:
        enabled = backend.plugins.get(owner.id).clusters
        users = [cluster for cluster in clusters if cluster.id in enabled]
    return [f"environment {cluster.id} ({cluster.name})" for cluster in users]


def _log_upload(uploaded: Uploaded, where: str) -> None:
    """Log what was uploaded; warn if the new graph is empty and the old one was not."""
    before, now = uploaded.replaced, len(uploaded.graph.tasks)
    if uploaded.created:
        LOG.info("Created graph %d with %s: %s.", uploaded.graph.id, count(now, "task"), where)
        return
    level = logging.WARNING if before and not now else logging.INFO
    was, is_now = count(before, "task"), count(now, "task")
    LOG.log(level, "Replaced graph %d (%s) with %s: %s.", uploaded.graph.id, was, is_now, where)


def _level_option(short: str, level: str, help: str) -> Argument:
    return option(short, f"--{level}", action="store_const", const=level, dest="level", help=help)


class GraphDownload(Command):
    """Write a graph, or several graphs merged into one, to a file

    Without --file the file is ./LEVEL_graph_ENV.FORMAT. An existing file is overwritten; on a terminal the command
    asks first. '--file -' prints the document, and nothing else, on stdout. What --cluster and --release write can
    be uploaded again. --all and --plugins write a merge, which should not be uploaded; the first line of a YAML
    file says so. A merge with errors is not written, and the exit code is 7.

      fuel2 graph download --env 1 --all
      fuel2 graph download --env 1 --cluster --type default --file - | less
    """

    arguments = (
        OF_ENV,
        one_of(
            _level_option("-a", "all", "the merge of all layers of the environment"),
            _level_option("-c", "cluster", "the layer of the environment itself"),
            _level_option("-p", "plugins", "the merge of the layers of the enabled plugins"),
            _level_option("-r", "release", "the layer of the environment's release"),
            required=True,
        ),
        type_option(default="default"),
        *output_options("-f", "--file", default="./LEVEL_graph_ENV.FORMAT"),
        OVERWRITING,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        if parsed_args.file in ("yaml", "json"):  # probably meant as --format, which is -f in most commands
            raise UsageError(
                f"-f is --file in this command, and '{parsed_args.file}' is a format.",
                hint=f"Use --format {parsed_args.file}, or --file ./{parsed_args.file}.",
            )
        form = parsed_args.format or ("json" if (parsed_args.file or "").lower().endswith(".json") else "yaml")
        path = parsed_args.file or os.path.abspath(f"{parsed_args.level}_graph_{parsed_args.env}.{form}")
        layer, merge = self._layer(parsed_args)
        text = self.dumps(layer, form, path)
        if merge and form == "yaml":
            where = f"environment {parsed_args.env}, graph type {parsed_args.graph_type}"
            text = f"# Merge of {merge} ({where}). Do not upload it: as one layer it would hide the others.\n{text}"
        put_text(self, text, path, force=path != STDOUT and overwrites(self, parsed_args, path))
        if path != STDOUT:
            self.tell(f"Tasks were downloaded to {path}")

    def _layer(self, parsed_args: argparse.Namespace) -> tuple[Any, str]:
        """The document, and the names of the layers that it merges; empty for a single layer."""
        from fuelclient.model.graph import Level, OwnerRef
        from fuelclient.serializers.graph import layer_to

        backend, env, level = self.backend, parsed_args.env, parsed_args.level
        if level in ("cluster", "release"):
            owner_id = env if level == "cluster" else backend.clusters.get(env).release_id
            graph = backend.graphs.get(OwnerRef(Level(level), owner_id), parsed_args.graph_type)
            return layer_to(graph.tasks, label=level, name=graph.name, metadata=graph.metadata), ""
        return self._merge_of_master(parsed_args) if supports(backend.runs.act) else self._merge(parsed_args)

    def _merge(self, parsed_args: argparse.Namespace) -> tuple[Any, str]:
        """Merge several layers. Raise `InvalidGraph` if one cannot be merged, because its tasks would be missing."""
        from fuelclient.grouping import grouped
        from fuelclient.model.finding import errors_in
        from fuelclient.model.graph import Level
        from fuelclient.serializers.graph import layer_to

        levels = (Level.PLUGIN,) if parsed_args.level == "plugins" else (Level.RELEASE, Level.PLUGIN, Level.CLUSTER)
        merged = self.backend.graphs.layers(parsed_args.env, levels, parsed_args.graph_type)
        if errors_in(merged.findings):
            raise InvalidGraph(
                f"The {parsed_args.graph_type} graph of environment {parsed_args.env} cannot be merged. Nothing was "
                "written.", findings=merged.findings,
            )  # fmt: skip
        report(merged.findings)
        for task, labels in grouped((task.id, task.owner.label) for task in merged.tasks).items():
            if len(labels) > 1:  # an upload refuses this
                LOG.warning(
                    "Several plugins define the task %s: %s. The file cannot be uploaded.", task, ", ".join(labels)
                )
        owners = {owner for task in merged.tasks for owner in (task.owner, *task.overrides)}
        layers = ", ".join(owner.label for owner in sorted(owners, key=lambda owner: owner.order)) or "none"
        return layer_to([task.task for task in merged.tasks], metadata=merged.metadata), f"the layers: {layers}"

    def _merge_of_master(self, parsed_args: argparse.Namespace) -> tuple[Any, str]:
        """Let a Fuel master merge, with one request in place of one for each layer.

        Raise `NotFound` for an unknown graph type, for which the master itself returns an empty merge.
        """
        from fuelclient.serializers.graph import layer_to

        graphs, only_plugins = self.backend.graphs, parsed_args.level == "plugins"
        tasks = graphs.merged(parsed_args.env, parsed_args.graph_type, only_plugins=only_plugins)
        if not tasks:
            graphs.layers(parsed_args.env, (), parsed_args.graph_type)
        layers = "the plugins' layers" if only_plugins else "all layers"
        return layer_to(tasks, label="master"), f"{layers} by the master"
