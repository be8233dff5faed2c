"""Sequences: the graphs of a release that run one after another."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import OF_ENV, SCOPE, YES, Arguments, id_of, option, release_option, types_option
from fuelclient.commands.base import Changing, Command, Lister, ShowOne, on_backend, report
from fuelclient.commands.documents import OVERWRITING, STDOUT, format_of, output_options, put
from fuelclient.commands.formatters import Names
from fuelclient.commands.graph.execute import run_flags
from fuelclient.commands.shell import LOG
from fuelclient.commands.task.start import Starter, run_options
from fuelclient.errors import FuelError, nearest

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.sequence import DeploymentSequence

_MAX_NAMES = 8
_TYPES = "graph types in the order in which they run"


class _Create(ShowOne):
    columns = ("id", "release_id", "name")

    arguments: Arguments = (release_option(),)

    def name_and_types(self, parsed_args: argparse.Namespace) -> tuple[str, Sequence[str]]:
        raise NotImplementedError

    def values(self, parsed_args: argparse.Namespace) -> DeploymentSequence:
        name, types = self.name_and_types(parsed_args)
        created = self.writable().sequences.create(parsed_args.release, name, types)
        report_unknown(self.backend, created.release_id, types)
        # The original client prints this on stdout, where it breaks readers of JSON.
        LOG.info("Sequence was successfully created:")
        return created


class SequenceCreate(_Create):
    """Create a sequence of graphs for the environments of a release

    A graph type that no graph has yet only causes a warning, because its graph may be uploaded later.

      fuel2 sequence create --release 1 --name upgrade --type prepare default verify
    """

    arguments = (
        *_Create.arguments,
        option("-n", "--name", required=True, help="its name, unique within the release"),
        types_option(_TYPES, required=True),
    )

    def name_and_types(self, parsed_args: argparse.Namespace) -> tuple[str, Sequence[str]]:
        return parsed_args.name, list(chain.from_iterable(parsed_args.graph_types))


class SequenceUpload(_Create):
    """Create a sequence from a file

    The file contains what 'sequence download' wrote, or just a name and graphs. The sequence gets a new id.

      name: upgrade
      graphs: [{type: prepare}, {type: default}]

      fuel2 sequence upload --release 1 --file upgrade.yaml
      fuel2 sequence download 1 | fuel2 sequence upload --release 2 --file -
    """

    arguments = (
        *_Create.arguments,
        option("--file", required=True, metavar="FILE", help="YAML or JSON file of the sequence; - is stdin"),
    )

    def name_and_types(self, parsed_args: argparse.Namespace) -> tuple[str, Sequence[str]]:
        from fuelclient.serializers.sequence import sequence_document_from

        return sequence_document_from(self.load(parsed_args.file))


class SequenceList(Lister):
    """List the sequences of a release, or those that an environment can execute

    fuel2 sequence list --release 1
    fuel2 sequence list --env prod
    """

    columns = ("id", "release_id", "name")

    arguments = (SCOPE,)
    rows = on_backend(lambda backend, args: backend.sequences.list(release_id=args.release, cluster_id=args.env))


class SequenceShow(ShowOne):
    """Show one sequence with its graph types

    fuel2 sequence show 1
    """

    columns = ("id", "release_id", "name", "graphs")

    arguments = (id_of("sequence"),)
    values = on_backend(lambda backend, args: backend.sequences.get(args.id))

    def fields_of(self, value: DeploymentSequence) -> Sequence[Any]:
        return value.id, value.release_id, value.name, Names(value.graph_types)


class SequenceUpdate(ShowOne):
    """Change the name or the graph types of a sequence

    fuel2 sequence update 1 --name rollout --type default verify
    """

    columns = ("id", "name")

    arguments = (id_of("sequence"), option("-n", "--name", help="its new name"), types_option(_TYPES))

    def values(self, parsed_args: argparse.Namespace) -> DeploymentSequence:
        types = parsed_args.graph_types
        types = types and list(chain.from_iterable(types))
        updated = self.writable().sequences.update(parsed_args.id, name=parsed_args.name, graph_types=types)
        if types is not None:
            report_unknown(self.backend, updated.release_id, updated.graph_types)
        LOG.info("Sequence was successfully updated:")
        return updated


class SequenceDelete(Changing):
    """Delete a sequence; its graphs stay

    On a terminal the command asks first, unless you use --yes.

      fuel2 sequence delete 1
    """

    arguments = (id_of("sequence"), YES)

    done = "Sequence with id {id} was deleted"

    def question_for(self, parsed_args: argparse.Namespace) -> str:
        sequence = self.backend.sequences.get(parsed_args.id)
        return f"Delete sequence {sequence.id} ({sequence.name}: {', '.join(sequence.graph_types)})?"

    change = on_backend(lambda backend, args: backend.sequences.delete(args.id))


class SequenceDownload(Command):
    """Print a sequence as a document, or write it to a file

    Without --file it is printed. The name of the file decides its format, and YAML is the default. An existing file
    is overwritten; on a terminal the command asks first.

      fuel2 sequence download 1 --file upgrade.json
    """

    arguments = (id_of("sequence"), *output_options("--file", default="stdout"), OVERWRITING)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.serializers.sequence import sequence_to

        path = parsed_args.file or STDOUT
        form = format_of(path, parsed_args.format)
        sequence = self.backend.sequences.get(parsed_args.id)
        put(self, parsed_args, sequence_to(sequence), path, form)
        if path != STDOUT:
            LOG.info("Sequence with id %d was downloaded to %s", sequence.id, path)


class SequenceExecute(Starter):
    """Run the graphs of a sequence on an environment

    The first graph that fails ends the run. Waiting and exit codes are those of 'graph execute'.

      fuel2 sequence execute 1 --env 1 --wait
    """

    arguments = (id_of("sequence"), OF_ENV, *run_options())

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.model.run import RunRequest

        sequence = self.backend.sequences.for_cluster(parsed_args.id, parsed_args.env)
        self.execute(RunRequest(parsed_args.env, sequence.graph_types, **run_flags(parsed_args)), parsed_args)


def report_unknown(backend: Backend, release_id: int, graph_types: Iterable[str]) -> None:
    """Warn on stderr about graph types for which no environment of the release has a graph.

    This is not an error, because graphs may be uploaded later. But otherwise only a run would reveal a mistyped type,
    and only after the graphs before it. The graphs of all plugins count, because an environment may enable any of them.
    If graphs cannot be listed, the sequence is valid all the same.
    """
    from fuelclient.model.finding import Finding, Severity

    try:
        known = sorted(backend.graphs.types(release_id))
    except FuelError as error:
        LOG.info("Could not check whether its graph types exist: %s", error)
        return
    names = ", ".join(known[:_MAX_NAMES]) + (", ..." if len(known) > _MAX_NAMES else "")
    findings = []
    for graph_type in dict.fromkeys(graph_types):
        if graph_type in known:
            continue
        close = nearest(graph_type, known)
        hint = f"Did you mean {close}?" if close else f"Known: {names}." if known else "There are no graphs at all."
        owners = f"neither release {release_id}, nor an environment of it, nor a plugin"
        message = f"{owners} has a graph of type {graph_type} yet"
        hint = f"{hint} Upload one before you execute the sequence."
        findings.append(Finding(Severity.WARNING, "G051", message, hint=hint))
    report(findings)
