"""Facts of environments in files: deployment facts, and the provisioning facts of a Fuel master.

A directory has a file for each node, and a file for the facts that the nodes share.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fuelclient.commands.arguments import OF_ENV, YES, Arguments, flag, id_of, nodes_option, option
from fuelclient.commands.base import Changing, Command, MasterChange, MasterOnly, on_backend, on_master
from fuelclient.commands.documents import OVERWRITING, make_folder, overwrites, require
from fuelclient.commands.formatters import plain, some
from fuelclient.errors import Conflict, FuelError, InvalidDocument, NotFound
from fuelclient.grouping import grouped
from fuelclient.model.document import Document
from fuelclient.model.fact import DeploymentFacts, uid_of
from fuelclient.printing import ids_text
from fuelclient.serializers.answer import Answer

COMMON_FILE, OLD_COMMON_FILE = "common", "cluster"
"""The name of the file with the facts that all nodes share, and its earlier name. Other files are named after nodes."""


DIRECTORY = (
    OF_ENV,
    option("-d", "--directory", "--dir", default=".", metavar="DIR", help="directory of the files (default: .)"),
    option("-f", "--format", choices=("json", "yaml"), default="yaml", help="file format (default: yaml)"),
)
"""The environment, and where its facts are: `env`, `directory` and `format`."""


def directory_of(parsed_args: argparse.Namespace, kind: str) -> str:
    return os.path.abspath(os.path.join(parsed_args.directory, f"{kind}_{parsed_args.env}"))


def require_names(names: Iterable[str]) -> None:
    """Raise `InvalidDocument` for a name that would lead out of the directory."""
    for name in names:
        if "/" in name or "\0" in name or name in ("", ".", ".."):
            raise InvalidDocument(f"Node {name!r} cannot be the name of a file of facts.", hint="Nothing was written.")


def names_in(directory: str, form: str) -> list[str]:
    """The sorted names of files of this format. Raise `NotFound` if there are none, or no such directory."""
    try:
        names = sorted(name for name in os.listdir(directory) if name.endswith(f".{form}"))
    except OSError as error:
        raise NotFound("directory", directory, hint="Name the directory that contains it with --directory.") from error
    if not names:
        raise NotFound("file", os.path.join(directory, f"*.{form}"), hint="Name their format with --format.")
    return names


def read_parts(load: Callable[[str], Document], directory: str, form: str = "") -> dict[str, Mapping[str, Any]]:
    """The facts in the files of `directory` by node, or by ROLE_UID for a file of this name that states its role.

    Without `form`, YAML is read if there is any, else JSON.
    """
    form = form or ("json" if not any(name.endswith(".yaml") for name in os.listdir(directory)) else "yaml")
    parts: dict[str, Mapping[str, Any]] = {}
    for name in names_in(directory, form):
        path = os.path.join(directory, name)
        document = load(path)
        if not isinstance(document.data, Mapping):
            raise InvalidDocument(f"{path}: facts must be a mapping of names to values.", hint="Write {} for no facts.")
        stem = name.removesuffix(f".{form}")
        uid = uid_of(stem)
        uid = COMMON_FILE if uid == OLD_COMMON_FILE else uid
        part = plain(document.data)
        key = stem if stem == f"{part.get('role')}_{uid}" else uid
        duplicates = [other for other in parts if uid_of(other) == uid and uid in (key, other)]
        if key in parts or duplicates:
            raise Conflict(f"{path}: another file also has the facts of {uid}.", hint="Keep only one of them.")
        if (uid_in_file := str(part.pop("uid", uid))) != uid:
            hint = "Rename the file, or correct its uid."
            raise InvalidDocument(f"{path}: the facts in it are those of {uid_in_file}, not of {uid}.", hint=hint)
        parts[key] = part
    return parts


def _is_ours(path: str) -> bool:
    """Whether a download may have written this file, so that the next one may remove it.

    A downloaded file ROLE_UID states its role; a user's backup_2016.yaml does not.
    """
    from fuelclient import files

    if not (role := os.path.basename(path).rpartition("_")[0]):
        return True
    try:
        data = files.load(path).data
    except FuelError:
        return False
    return isinstance(data, Mapping) and data.get("role") == role


_MASTER = "master"


class _Download(Command):
    """Write facts of a `kind` to a directory.

    `default` is true for computed facts. Messages call the facts `name`, and `hint` says what to do if there are none.
    `pattern` matches the files that a download writes, and that the next one may replace.
    """

    kind, hint = "deployment", ""
    name, default = "User-defined", False
    pattern = re.compile(r"(cluster|common|master|null|([\w-]+_)?[0-9]+)\.(yaml|json)")
    no_split = "repeat the common facts in the file of each node instead of writing common.FORMAT"

    def all_arguments(self) -> Arguments:
        nodes = nodes_option(required=False, help="only the facts of these nodes: 1 2 or 1,2")
        return (*DIRECTORY, nodes, flag("--no-split", help=self.no_split), OVERWRITING, *self.arguments)

    def parts(self, parsed_args: argparse.Namespace) -> Mapping[str, Any]:
        """Facts by the name of their file, without its extension; empty if there are none."""
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient import files

        env, parts = parsed_args.env, self.parts(parsed_args)
        if not parts:
            message = f"Environment {env} has no {self.name.lower()} {self.kind} facts."
            raise NotFound("fact", f"of environment {env}", hint=self.hint, message=message)
        directory, form = directory_of(parsed_args, self.kind), parsed_args.format
        require_names(parts)
        texts = {f"{name}.{form}": files.dumps(plain(part), form) for name, part in parts.items()}
        force = self._clear_earlier(parsed_args, directory, keep=texts)
        for name, text in texts.items():
            files.write(os.path.join(directory, name), text, force=force)
        self.tell(f"{self.name} {self.kind} facts for the environment {env} were downloaded to {directory}")

    def _clear_earlier(self, parsed_args: argparse.Namespace, directory: str, *, keep: Mapping[str, str]) -> bool:
        """Create the directory, and remove facts of earlier downloads except `keep`, because the next upload would
        include them. Other files stay.

        Return whether there were such facts. Raise `Conflict` if they must not be overwritten, and `Unavailable` if
        permissions forbid it.
        """
        from fuelclient.files.writing import permitted

        if not os.path.lexists(directory):
            make_folder(os.path.join(directory, "facts"))  # the name of the file does not matter
            return False  # if its parent is missing, the first write will say so
        with permitted(directory, to="read"):
            listed = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
        stale = [name for name in listed if self.pattern.fullmatch(name) and _is_ours(os.path.join(directory, name))]
        if stale and not overwrites(self, parsed_args, directory, exists=True):
            raise Conflict(
                f"{directory} already has facts.", hint="Replace them with --force, or name another --directory."
            )
        for name in stale:
            if name not in keep:
                with permitted(os.path.join(directory, name), to="removed"):
                    os.unlink(os.path.join(directory, name))
        return bool(stale)


class _DeploymentDownload(_Download):
    def parts(self, parsed_args: argparse.Namespace) -> Mapping[str, Any]:
        from fuelclient.serializers.fact import facts_to, facts_to_list

        facet = self.backend.facts
        facts = facet.default(parsed_args.env) if self.default else facet.get(parsed_args.env)
        if facts.is_empty:
            return {}
        uids = _uids(facts, parsed_args.nodes)
        if not parsed_args.no_split:
            return dict(zip([*uids, COMMON_FILE], facts_to(facts, uids), strict=True))
        if not uids:
            raise NotFound("fact", "of any node", hint="Leave --no-split out to get the common facts.")
        return dict(zip(uids, facts_to_list(facts, uids), strict=True))


class EnvDeploymentFactsDownload(_DeploymentDownload):
    """Write the uploaded deployment facts of an environment to files

    The files are DIR/deployment_ID/common.FORMAT with the common facts of all nodes, and a file for each node. With
    --no-split, only the files of the nodes are written, each with all facts. They replace the files of an earlier
    download; on a terminal the command asks first.

      fuel2 env deployment-facts download --env 1 -f yaml
    """

    hint = "Start from 'fuel2 env deployment-facts get-default'."


class EnvDeploymentFactsGetDefault(_DeploymentDownload):
    """Write the computed deployment facts of an environment to files

    The facts are computed as on a Fuel master: from its release, its settings and networks, its plugins, and its nodes
    with their roles, without uploaded facts. The files are named as by 'env deployment-facts download'.

      fuel2 env deployment-facts get-default --env 1

    --explain writes no files. It prints where a fact comes from, in the common part and on each node.

      fuel2 env deployment-facts get-default --env 1 --explain storage.pg_num
    """

    name, default = "Default", True
    hint = "See whether it has nodes: 'fuel2 node list --env ID'."

    arguments = (option("--explain", metavar="KEY", help="say where a fact comes from: storage.pg_num"),)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        if not parsed_args.explain:
            super().take_action(parsed_args)
            return
        from fuelclient.facts.paths import COMMON, origins

        env = parsed_args.env
        default, uploaded = self.backend.facts.default(env), self.backend.facts.get(env)
        wanted = None if parsed_args.nodes is None else {*_uids(default, parsed_args.nodes)}
        found = origins(self.backend.clusters.environment(env), default, uploaded, parsed_args.explain)
        shown = [origin for origin in found if wanted is None or origin.part in (*wanted, COMMON)]
        places = grouped(((origin.part == COMMON, origin.text), origin.part) for origin in shown)
        for (is_common, text), parts in places.items():
            where = COMMON if is_common else f"node {', '.join(parts)}"
            self.say(f"{parsed_args.explain} ({where}): {text}")


class EnvDeploymentFactsUpload(Changing):
    """Set the deployment facts of an environment from files

    They override the computed facts key by key. DIR/deployment_ID/common.FORMAT has the common facts of all nodes, and
    NODE.FORMAT (1.yaml, or compute_1.yaml) those of one node. Facts without a file stay as they were uploaded before.
    On a terminal the command asks before it replaces uploaded facts, unless you use --yes.

      fuel2 env deployment-facts upload --env 1 -f yaml
    """

    arguments = (*DIRECTORY, YES)

    done = "Deployment facts for the environment {env} were uploaded successfully."

    def read(self, parsed_args: argparse.Namespace) -> None:
        parsed_args.parts = read_parts(self.load, directory_of(parsed_args, "deployment"), parsed_args.format)
        parsed_args.common = parsed_args.parts.pop(COMMON_FILE, None)
        parsed_args.before = self.backend.facts.get(parsed_args.env)

    def question_for(self, parsed_args: argparse.Namespace) -> str:
        held = set(map(uid_of, parsed_args.before.nodes))
        replaced = [f"node {uid}" for uid in dict.fromkeys(map(uid_of, parsed_args.parts)) if uid in held]
        replaced[:0] = ["all nodes"] * (parsed_args.common is not None and bool(parsed_args.before.common))
        return f"Replace the uploaded facts of {some(replaced)} in environment {parsed_args.env}?" if replaced else ""

    def change(self, parsed_args: argparse.Namespace) -> None:
        common = parsed_args.before.common if parsed_args.common is None else parsed_args.common
        self.backend.facts.put(parsed_args.env, DeploymentFacts(common, parsed_args.parts))


class EnvDeploymentFactsDelete(Changing):
    """Delete the uploaded deployment facts of an environment

    Its nodes see the computed facts again. On a terminal the command asks first, unless you use --yes.

      fuel2 env deployment-facts delete 1
    """

    arguments = (id_of("environment"), YES)

    question = "Delete the uploaded deployment facts of environment {id}?"
    done = "Deployment facts for the environment {id} were deleted successfully."
    change = on_backend(lambda backend, args: backend.facts.delete(args.id))


def _uids(facts: DeploymentFacts, wanted: list[int] | None) -> list[str]:
    """The names of the parts of the `wanted` nodes (None: of all), and always of the master.

    Raise `NotFound` for a node without facts."""
    if wanted is None:
        return list(facts.nodes)
    uids = [*map(str, wanted), _MASTER]
    known = set(map(uid_of, facts.nodes))
    for uid in uids[:-1]:
        if uid not in known:
            raise NotFound("fact", f"of node {uid}", hint=f"Nodes with facts: {ids_text(facts.nodes) or 'none'}.")
    return [name for name in facts.nodes if uid_of(name) in uids]


_KIND, _ENGINE, _NODES = "provisioning", "engine", "nodes"


class _Provisioning(MasterOnly):
    reason = "Only a Fuel master has provisioning facts: here a graph provisions nodes, and sees the deployment facts."
    instead = "See `fuel2 env deployment-facts get-default`."


class _ProvisioningDownload(_Provisioning, _Download):
    kind = _KIND
    pattern = re.compile(r"(engine|[0-9]+)\.(yaml|json)")
    no_split = "passed on to the master, which ignores it"

    def parts(self, parsed_args: argparse.Namespace) -> Mapping[str, Any]:
        facts = self.services.provisioning_facts(
            parsed_args.env, default=self.default, nodes=parsed_args.nodes, split=not parsed_args.no_split
        )
        return _provisioning_parts(facts) if _ENGINE in facts else {}


class EnvProvisioningFactsDownload(_ProvisioningDownload):
    """Write the uploaded provisioning facts of an environment to files

    The files are DIR/provisioning_ID/engine.FORMAT, for the service that provisions, and a file for each node. They
    replace the files of an earlier download; on a terminal the command asks first.

      fuel2 env provisioning-facts download --env 1 -f yaml
    """

    hint = "Start from 'fuel2 env provisioning-facts get-default'."


class EnvProvisioningFactsGetDefault(_ProvisioningDownload):
    """Write the computed provisioning facts of an environment to files

    The master computes them from settings, networks and disks. The files are named as by 'env provisioning-facts
    download'. They may contain passwords.

      fuel2 env provisioning-facts get-default --env 1 -f yaml
    """

    name, default = "Default", True
    hint = "See whether it has nodes with roles: 'fuel2 node list --env ID'."


class EnvProvisioningFactsUpload(_Provisioning, MasterChange):
    """Set the provisioning facts of an environment from files

    The files are those that 'env provisioning-facts download' writes. They replace the computed facts: engine.FORMAT,
    and for each node the file with its uid. On a terminal the command asks first, unless you use --yes.

      fuel2 env provisioning-facts upload --env 1 -f yaml
    """

    arguments = (*DIRECTORY, YES)

    question = "Replace the provisioning facts of environment {env}?"
    done = "Provisioning facts for the environment {env} were uploaded successfully."

    def read(self, parsed_args: argparse.Namespace) -> None:
        """A node without a file keeps its computed facts."""
        directory, form = directory_of(parsed_args, _KIND), parsed_args.format
        engine, nodes = None, []
        for name in names_in(directory, form):
            document = self.load(os.path.join(directory, name))
            part = require(dict, document, "provisioning facts", "Remove the file, or write a mapping.")
            if name == f"{_ENGINE}.{form}":
                engine = part
            elif "uid" not in part:
                raise InvalidDocument(f"{document.file}: the facts of a node need its uid.", hint='Add `uid: "1"`.')
            else:
                nodes.append(part)
        parsed_args.facts = {_ENGINE: engine, _NODES: nodes}

    change = on_master(lambda master, args: master.set_provisioning_facts(args.env, args.facts))


class EnvProvisioningFactsDelete(_Provisioning, MasterChange):
    """Delete the uploaded provisioning facts of an environment

    On a terminal the command asks first, unless you use --yes.

      fuel2 env provisioning-facts delete 1
    """

    arguments = (id_of("environment"), YES)

    question = "Delete the uploaded provisioning facts of environment {id}?"
    done = "Provisioning facts for the environment {id} were deleted successfully."
    change = on_master(lambda master, args: master.delete_provisioning_facts(args.id))


def _provisioning_parts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts by the names of their files.

    The keys that a master adds (`fault_tolerance`, `pre_provision`) are left out: it accepts none of them back.
    """
    nodes = [Answer(node, "node's provisioning facts") for node in Answer(facts, "provisioning facts").items(_NODES)]
    return {_ENGINE: facts[_ENGINE], **{node.required("uid"): node.data for node in nodes}}
