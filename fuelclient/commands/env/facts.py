"""Deployment facts of environments: upload, download, delete, and what they are without any."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import add_env, add_nodes, identifier, stated
from fuelclient.commands.base import Command, report
from fuelclient.commands.columns import plain
from fuelclient.commands.output import make_folder
from fuelclient.errors import Conflict, InvalidDocument, NotFound

if TYPE_CHECKING:
    from fuelclient.model.fact import DeploymentFacts

_COMMON = "cluster"
"""The name of the file with the common part; the other files are named by the node."""

_OURS = re.compile(r"(cluster|master|null|[0-9]+)\.(yaml|json)")
"""The files that a download writes, and so may replace."""


class _Download(Command):
    """Writes facts to a directory."""

    told = ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_directory(parser)
        add_nodes(parser, required=False, help="only the parts of these nodes: 1 2 or 1,2")
        parser.add_argument(
            "--no-split", action="store_true", help="no file of what nodes share: all of it in the file of each node"
        )
        parser.add_argument("--force", action="store_true", help="replace the facts of an earlier download")
        return parser

    def facts(self, env: int) -> DeploymentFacts:
        """What to write."""
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient import files

        facts = self.facts(parsed_args.env)
        parts = _whole(facts, parsed_args.nodes) if parsed_args.no_split else _parts(facts, parsed_args.nodes)
        form = parsed_args.format
        require_names(parts)
        texts = {f"{name}.{form}": files.dumps(plain(part), form) for name, part in parts.items()}
        directory = _directory(parsed_args)
        _prepare(directory, keep=texts, force=parsed_args.force)
        for name, text in texts.items():
            files.write(os.path.join(directory, name), text, force=parsed_args.force)
        self.say(f"{self.told} deployment facts for the environment {parsed_args.env} were downloaded to {directory}")


class FactsDownload(_Download):
    """Write the uploaded deployment facts of an environment to files

    The files are DIR/deployment_ID/cluster.FORMAT with what all nodes share, and one for each node; with --no-split
    only these, and each has everything. With --force they replace those of an earlier download.

      fuel2 env deployment-facts download --env 1 -f yaml
    """

    told = "User-defined"

    def facts(self, env: int) -> DeploymentFacts:
        found = self.backend.facts.get(env)
        if found.is_empty:
            raise NotFound(
                "upload", f"of facts for environment {env}", hint="Start from 'fuel2 env deployment-facts get-default'."
            )
        return found


class FactsDefault(_Download):
    """Write the deployment facts that an environment has by itself to files

    They are computed from its settings and its nodes, without what was uploaded. The files are as in 'env
    deployment-facts download'.
    """

    told = "Default"

    def facts(self, env: int) -> DeploymentFacts:
        return self.backend.facts.default(env)


class FactsUpload(Command):
    """Set the deployment facts of an environment from files

    They override what the environment says of itself, key by key. DIR/deployment_ID/cluster.FORMAT has what all nodes
    share, and NODE.FORMAT (1.yaml, or compute_1.yaml) what one node has. Parts whose file is not there stay as they
    were uploaded before.

      fuel2 env deployment-facts upload --env 1 -f yaml
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_directory(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.model.fact import DeploymentFacts

        env = parsed_args.env
        parts = self._read(_directory(parsed_args), parsed_args.format)
        common = parts.pop(_COMMON, None)
        if common is None:
            common = self.backend.facts.get(env).common
        self.writable().facts.put(env, DeploymentFacts(common, parts))
        self.say(f"Deployment facts for the environment {env} were uploaded successfully.")

    def _read(self, directory: str, form: str) -> dict[str, Mapping[str, Any]]:
        """The parts that the files of `directory` hold, by node."""
        from fuelclient import files

        try:
            found = sorted(name for name in os.listdir(directory) if name.endswith(f".{form}"))
        except OSError as error:
            hint = "Name the directory that holds it with --directory."
            raise NotFound("directory", directory, hint=hint) from error
        if not found:
            raise NotFound("file", os.path.join(directory, f"*.{form}"), hint="Is the --format another one?")
        parts: dict[str, Mapping[str, Any]] = {}
        for name in found:
            path = os.path.join(directory, name)
            document = files.load(path, stdin=self.app.stdin)
            report(document.findings)
            if not isinstance(document.data, Mapping):
                raise InvalidDocument(f"{path}: facts are a mapping of names to values.", hint="Write {} for none.")
            uid = name.removesuffix(f".{form}").rpartition("_")[2]
            if uid in parts:
                raise Conflict(f"{path}: another file has the facts of {uid} too.", hint="Keep one of them.")
            parts[uid] = plain(document.data)
        return parts


class FactsDelete(Command):
    """Delete the uploaded deployment facts of an environment"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("id", type=identifier, help="id of the environment")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self.writable().facts.delete(parsed_args.id)
        self.say(f"Deployment facts for the environment {parsed_args.id} were deleted successfully.")


def _add_directory(parser: argparse.ArgumentParser) -> None:
    add_env(parser, required=True)
    parser.add_argument(
        "-d", "--directory", "--dir", type=stated, default=".", metavar="DIR", help="default: the current directory"
    )
    parser.add_argument("-f", "--format", choices=("json", "yaml"), default="yaml", help="default: yaml")


def _directory(parsed_args: argparse.Namespace) -> str:
    """Where the files of one environment lie."""
    return os.path.abspath(os.path.join(parsed_args.directory, f"deployment_{parsed_args.env}"))


def _parts(facts: DeploymentFacts, wanted: list[int] | None) -> dict[str, Mapping[str, Any]]:
    """The parts of facts by the names of their files; `NotFound` for a wanted node that has none."""
    return {_COMMON: facts.common, **{uid: facts.nodes[uid] for uid in _uids(facts, wanted)}}


def _whole(facts: DeploymentFacts, wanted: list[int] | None) -> dict[str, Mapping[str, Any]]:
    """All that each node sees, by the names of their files; `NotFound` as in `_parts`, and for no node at all."""
    from fuelclient.serializers.fact import facts_to_list

    uids = _uids(facts, wanted)
    if not uids:
        raise NotFound("fact", "of any node", hint="Leave --no-split out: what nodes share is there.")
    return {str(part["uid"]): part for part in facts_to_list(facts, uids)}


def require_names(names: Iterable[str]) -> None:
    """Each is the name of a file in its directory; `InvalidDocument` for one that leads elsewhere."""
    for name in names:
        if "/" in name or "\0" in name or name in ("", ".", ".."):
            raise InvalidDocument(
                f"There are facts of node {name!r}, which is no name of a file.", hint="Nothing was written."
            )


def _uids(facts: DeploymentFacts, wanted: list[int] | None) -> list[str]:
    """The wanted nodes (None: all) that have facts."""
    uids = list(facts.nodes) if wanted is None else [str(one) for one in wanted]
    for uid in uids:
        if uid not in facts.nodes:
            raise NotFound("fact", f"of node {uid}", hint=f"Facts there are of: {', '.join(facts.nodes) or 'no node'}.")
    return uids


def _prepare(directory: str, *, keep: Mapping[str, str], force: bool) -> None:
    """The directory is there and has no facts but those of `keep`, which the next upload would take for meant.

    Raises `Conflict` when it has facts and not `force`, `Unavailable` when permissions refuse. Files that no download
    writes stay.
    """
    from fuelclient.files.writing import permitted

    if not os.path.lexists(directory):
        make_folder(os.path.join(directory, "facts"))
        return  # where there is no place for it, the first write says so
    with permitted(directory, to="read"):
        listed = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    stale = [name for name in listed if _OURS.fullmatch(name)]
    if stale and not force:
        raise Conflict(
            f"{directory} has facts already.", hint="Replace them with --force, or name another --directory."
        )
    for name in stale:
        if name not in keep:
            with permitted(os.path.join(directory, name), to="removed"):
                os.unlink(os.path.join(directory, name))
