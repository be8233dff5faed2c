"""`graph download`: write a graph or a merge to a file."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from fuelclient.commands.arguments import OF_ENV, Argument, one_of, option, type_option
from fuelclient.commands.base import Command, report
from fuelclient.commands.documents import OVERWRITING, STDOUT, output_options, overwrites
from fuelclient.commands.formatters import encoding_of
from fuelclient.commands.shell import LOG
from fuelclient.errors import InvalidGraph, UsageError
from fuelclient.support import supports

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.graph import MergedGraph


def _level_option(short: str, level: str, help: str) -> Argument:
    return option(short, f"--{level}", action="store_const", const=level, dest="level", help=help)


class GraphDownload(Command):
    """Write a graph, or a merge, to a file

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
        if parsed_args.file in ("yaml", "json"):  # a slip, because -f is --format in most commands
            raise UsageError(
                f"-f is --file in this command, and '{parsed_args.file}' is a format.",
                hint=f"Use --format {parsed_args.file}, or --file ./{parsed_args.file}.",
            )
        if parsed_args.format is None:
            parsed_args.format = "json" if (parsed_args.file or "").lower().endswith(".json") else "yaml"
        encoding = encoding_of(self.app.stdout) if parsed_args.file == STDOUT else "utf-8"
        text = self._text(parsed_args, encoding)
        if parsed_args.file == STDOUT:
            self.app.stdout.write(text)
            return
        from fuelclient import files

        default = f"{parsed_args.level}_graph_{parsed_args.env}.{parsed_args.format}"
        path = parsed_args.file or os.path.abspath(default)
        files.write(path, text, force=overwrites(self, parsed_args, path))
        self.say(f"Tasks were downloaded to {path}")

    def _text(self, parsed_args: argparse.Namespace, encoding: str) -> str:
        from fuelclient import files
        from fuelclient.serializers.graph import layer_to

        backend, env, graph_type = self.backend, parsed_args.env, parsed_args.graph_type
        if parsed_args.level in ("cluster", "release"):
            from fuelclient.model.graph import Level, OwnerRef

            if parsed_args.level == "cluster":
                owner = OwnerRef(Level.CLUSTER, env)
            else:
                owner = OwnerRef(Level.RELEASE, backend.clusters.get(env).release_id)
            graph = backend.graphs.get(owner, graph_type)
            layer = layer_to(graph.tasks, name=graph.name, metadata=graph.metadata)
            return files.dumps(layer, parsed_args.format, encoding=encoding)
        return self._merge(backend, parsed_args, encoding)

    def _merge(self, backend: Backend, parsed_args: argparse.Namespace, encoding: str) -> str:
        """Return the merge of several layers, in YAML with a warning not to upload it.

        Raise `InvalidGraph` with the findings if something could not be merged, because it would be missing.
        """
        from fuelclient import files
        from fuelclient.model.finding import errors_in
        from fuelclient.model.graph import Level
        from fuelclient.serializers.graph import layer_to

        if supports(backend.runs.act):
            return self._merge_of_master(backend, parsed_args, encoding)
        levels = (Level.PLUGIN,) if parsed_args.level == "plugins" else (Level.RELEASE, Level.PLUGIN, Level.CLUSTER)
        merged = backend.graphs.layers(parsed_args.env, levels, parsed_args.graph_type)
        if errors_in(merged.findings):
            raise InvalidGraph(
                f"The {parsed_args.graph_type} graph of environment {parsed_args.env} cannot be merged. Nothing was "
                "written.", findings=merged.findings,
            )  # fmt: skip
        report(merged.findings)
        _warn_of_variants(merged)
        tasks = [merged_task.task for merged_task in merged.tasks]
        text = files.dumps(layer_to(tasks, metadata=merged.metadata), parsed_args.format, encoding=encoding)
        owners = {owner for task in merged.tasks for owner in (task.owner, *task.overrides)}
        rank = list(Level)
        order = sorted(owners, key=lambda owner: (rank.index(owner.level), owner.name, owner.version))
        layers = ", ".join(owner.label for owner in order) or "none"
        if parsed_args.format != "yaml":
            return text
        return (
            f"# Merge of the layers: {layers} (environment {parsed_args.env}, graph type {parsed_args.graph_type}). "
            f"Do not upload it: as one layer it would hide the others.\n{text}"
        )

    def _merge_of_master(self, backend: Backend, parsed_args: argparse.Namespace, encoding: str) -> str:
        """Return the merge of a Fuel master, in its order. It is one request, and its layers would be many.

        Raise `NotFound` for an unknown graph type, of which the master itself has an empty merge.
        """
        from fuelclient import files
        from fuelclient.serializers.graph import layer_to

        env, graph_type, only_plugins = parsed_args.env, parsed_args.graph_type, parsed_args.level == "plugins"
        tasks = backend.graphs.merged(env, graph_type, only_plugins=only_plugins)
        if not tasks:
            backend.graphs.layers(env, (), graph_type)
        text = files.dumps(layer_to(tasks), parsed_args.format, encoding=encoding)
        if parsed_args.format != "yaml":
            return text
        layers = "the plugins' layers" if only_plugins else "all layers"
        return (
            f"# Merge of {layers} by the master (environment {env}, graph type {graph_type}). "
            f"Do not upload it: as one layer it would hide the others.\n{text}"
        )


def _warn_of_variants(merged: MergedGraph) -> None:
    """Warn about ids that several plugins define, which an upload refuses."""
    owners: dict[str, list[str]] = {}
    for merged_task in merged.tasks:
        owners.setdefault(merged_task.id, []).append(merged_task.owner.label)
    for task, labels in owners.items():
        if len(labels) > 1:
            LOG.warning("Several plugins define the task %s: %s. The file cannot be uploaded.", task, ", ".join(labels))
