"""Deployment facts of environments: upload, download, delete, and the defaults."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import YES, Arguments, flag, id_of, nodes_option, option
from fuelclient.commands.base import Command
from fuelclient.commands.columns import some
from fuelclient.commands.documents import OVERWRITING, overwrites
from fuelclient.commands.env.fact_files import COMMON_FILE, DIRECTORY, directory_of, read_parts, write_parts
from fuelclient.errors import NotFound
from fuelclient.model.fact import uid_of

if TYPE_CHECKING:
    from fuelclient.model.fact import DeploymentFacts

_MASTER = "master"
"""The uid of the master: whichever nodes are wanted, its facts belong to them."""

_OURS = re.compile(r"(cluster|common|master|null|([\w-]+_)?[0-9]+)\.(yaml|json)")
"""The files that a download writes, and therefore may replace."""


class _Download(Command):
    """Write facts to a directory. `name` says in the result which facts, `hint` what to do without any."""

    name, hint = "", ""

    arguments: Arguments = (
        *DIRECTORY,
        nodes_option(required=False, help="only the facts of these nodes: 1 2 or 1,2"),
        flag("--no-split", help="repeat the common facts in the file of each node instead of writing common.FORMAT"),
        OVERWRITING,
    )

    def facts(self, env: int) -> DeploymentFacts:
        """Return the facts to write."""
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        facts = self.facts(parsed_args.env)
        if facts.is_empty:
            raise NotFound(
                "fact", f"of environment {parsed_args.env}", hint=self.hint,
                message=f"Environment {parsed_args.env} has no {self.name.lower()} deployment facts.",
            )  # fmt: skip
        parts = _whole(facts, parsed_args.nodes) if parsed_args.no_split else _parts(facts, parsed_args.nodes)
        directory = directory_of(parsed_args, "deployment")
        write_parts(directory, parts, parsed_args.format, ours=_OURS, overwrites=partial(overwrites, self, parsed_args))
        self.say(f"{self.name} deployment facts for the environment {parsed_args.env} were downloaded to {directory}")


class FactsDownload(_Download):
    """Write the uploaded deployment facts of an environment to files

    The files are DIR/deployment_ID/common.FORMAT with the common facts of all nodes, and a file for each node. With
    --no-split, only the files of the nodes are written, each with all facts. They replace the files of an earlier
    download; on a terminal the command asks first.

      fuel2 env deployment-facts download --env 1 -f yaml
    """

    name, hint = "User-defined", "Start from 'fuel2 env deployment-facts get-default'."

    def facts(self, env: int) -> DeploymentFacts:
        return self.backend.facts.get(env)


class FactsDefault(_Download):
    """Write the computed deployment facts of an environment to files

    The facts are computed as on a Fuel master: from its release, its settings and networks, its plugins, and its nodes
    with their roles, without uploaded facts. The files are named as by 'env deployment-facts download'.

      fuel2 env deployment-facts get-default --env 1

    --explain writes no files. It prints where a fact comes from, in the common part and on each node.

      fuel2 env deployment-facts get-default --env 1 --explain storage.pg_num
    """

    name, hint = "Default", "See whether it has nodes: 'fuel2 node list --env ID'."

    arguments = (
        *_Download.arguments,
        option("--explain", metavar="KEY", help="say where a fact comes from: storage.pg_num"),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        if not parsed_args.explain:
            super().take_action(parsed_args)
            return
        from fuelclient.facts.origin import COMMON, origins

        env = parsed_args.env
        default, uploaded = self.facts(env), self.backend.facts.get(env)
        wanted = None if parsed_args.nodes is None else {*_uids(default, parsed_args.nodes)}
        places: dict[tuple[bool, str], list[str]] = {}
        for origin in origins(self.backend.clusters.environment(env), default, uploaded, parsed_args.explain):
            is_common = origin.part == COMMON
            if wanted is None or origin.part in wanted or is_common:
                places.setdefault((is_common, origin.text), []).append(origin.part)
        for (is_common, text), parts in places.items():
            where = COMMON if is_common else f"node {', '.join(parts)}"
            self.say(f"{parsed_args.explain} ({where}): {text}")

    def facts(self, env: int) -> DeploymentFacts:
        return self.backend.facts.default(env)


class FactsUpload(Command):
    """Set the deployment facts of an environment from files

    They override the computed facts key by key. DIR/deployment_ID/common.FORMAT has the common facts of all nodes, and
    NODE.FORMAT (1.yaml, or compute_1.yaml) those of one node. Facts without a file stay as they were uploaded before.
    On a terminal the command asks before it replaces uploaded facts, unless you use --yes.

      fuel2 env deployment-facts upload --env 1 -f yaml
    """

    arguments = (*DIRECTORY, YES)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.model.fact import DeploymentFacts

        env = parsed_args.env
        parts = read_parts(self.load, directory_of(parsed_args, "deployment"), parsed_args.format)
        common = parts.pop(COMMON_FILE, None)
        before = self.backend.facts.get(env)
        held = set(map(uid_of, before.nodes))
        replaced = [f"node {uid}" for uid in dict.fromkeys(map(uid_of, parts)) if uid in held]
        replaced[:0] = ["all nodes"] * (common is not None and bool(before.common))
        question = f"Replace the uploaded facts of {some(replaced)} in environment {env}?" if replaced else ""
        self.ask(parsed_args, lambda: question)
        if common is None:
            common = before.common
        self.writable().facts.put(env, DeploymentFacts(common, parts))
        self.say(f"Deployment facts for the environment {env} were uploaded successfully.")


class FactsDelete(Command):
    """Delete the uploaded deployment facts of an environment

    Its nodes see the computed facts again. On a terminal the command asks first, unless you use --yes.

      fuel2 env deployment-facts delete 1
    """

    arguments = (id_of("environment"), YES)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self.ask(parsed_args, lambda: f"Delete the uploaded deployment facts of environment {parsed_args.id}?")
        self.writable().facts.delete(parsed_args.id)
        self.say(f"Deployment facts for the environment {parsed_args.id} were deleted successfully.")


def _parts(facts: DeploymentFacts, wanted: list[int] | None) -> dict[str, Mapping[str, Any]]:
    """Return facts by the names of their files. Raise `NotFound` for a wanted node without facts."""
    from fuelclient.serializers.fact import facts_to

    uids = _uids(facts, wanted)
    return dict(zip([*uids, COMMON_FILE], facts_to(facts, uids), strict=True))


def _whole(facts: DeploymentFacts, wanted: list[int] | None) -> dict[str, Mapping[str, Any]]:
    """Return all facts of each node by the names of their files. Raise `NotFound` as `_parts`, or without nodes."""
    from fuelclient.serializers.fact import facts_to_list

    uids = _uids(facts, wanted)
    if not uids:
        raise NotFound("fact", "of any node", hint="Leave --no-split out to get the common facts.")
    return dict(zip(uids, facts_to_list(facts, uids), strict=True))


def _uids(facts: DeploymentFacts, wanted: list[int] | None) -> list[str]:
    """Return the wanted nodes and the master (None: all nodes with facts). Raise `NotFound` for one without facts."""
    if wanted is None:
        return list(facts.nodes)
    uids = [*map(str, wanted), _MASTER]
    known = set(map(uid_of, facts.nodes))
    for uid in uids[:-1]:
        if uid not in known:
            raise NotFound("fact", f"of node {uid}", hint=f"Nodes with facts: {', '.join(facts.nodes) or 'none'}.")
    return [name for name in facts.nodes if uid_of(name) in uids]
