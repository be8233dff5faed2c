"""Commands for a Fuel master only: extensions, OpenStack configurations, health checks, virtual machines, snapshots."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from fuelclient.commands.arguments import (
    OF_ENV,
    OUTPUT_SPELLINGS,
    YES,
    Arguments,
    env_option,
    flag,
    id_of,
    identifier,
    json_value,
    names_option,
    nodes_option,
    option,
)
from fuelclient.commands.base import Lister, MasterChange, MasterOnly, ShowOne, on_master
from fuelclient.commands.documents import OVERWRITING, Download, file_of, file_options, format_of, require
from fuelclient.commands.formatters import Fields, Names, Shown, cells, plain
from fuelclient.commands.shell import LOG
from fuelclient.errors import InvalidDocument
from fuelclient.model.services import OstfCredentials

_ENV_ARGUMENT = (id_of("environment"),)


class _ExtensionCommand(MasterOnly):
    reason = "Only a Fuel master has extensions: the engine stores disks and networks without them."
    instead = "To extend an environment, enable a plugin: `fuel2 plugins enable`."


class ExtensionList(_ExtensionCommand, Lister):
    """List the extensions of the master

    fuel2 extension list
    """

    columns = ("name", "version", "description", "provides")
    sort_by = "name"

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Any]:  # noqa: ARG002 (no options)
        for extension in self.services.extensions():
            provides = list(extension.provides)
            as_in_original_client = Shown(provides, str(provides))
            yield extension.name, extension.version, extension.description, as_in_original_client


class EnvExtensionShow(_ExtensionCommand, ShowOne):
    """Show the extensions that are enabled in an environment

    fuel2 env extension show 1
    """

    columns = ("extensions",)
    arguments = _ENV_ARGUMENT
    values = on_master(lambda master, args: [Names(master.extensions_of(args.id))])


class _Switch(_ExtensionCommand, MasterChange):
    """Enable or disable extensions. `verb` is the participle in the message."""

    verb = ""
    arguments = (
        *_ENV_ARGUMENT,
        names_option("-E", "--extensions", required=True, metavar="NAME", help="names of the extensions: a b or a,b"),
    )
    done = "The following extensions: {result} have been {command.verb} for the environment with id {id}."

    def change(self, parsed_args: argparse.Namespace) -> str:
        services = self.services
        switch = services.enable_extensions if self.verb == "enabled" else services.disable_extensions
        switch(parsed_args.id, parsed_args.extensions)
        return ", ".join(parsed_args.extensions)


class EnvExtensionEnable(_Switch):
    """Enable extensions in an environment

    fuel2 env extension enable 1 --extensions volume_manager
    """

    verb = "enabled"


class EnvExtensionDisable(_Switch):
    """Disable extensions in an environment

    fuel2 env extension disable 1 --extensions volume_manager
    """

    verb = "disabled"


_KEY = "configuration"
_CONFIG = option("config", type=identifier, help="id of the configuration")
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def _target(verb: str) -> Arguments:
    """The options `env`, `nodes` and `role`, which say to which nodes a configuration applies."""
    return (
        OF_ENV,
        nodes_option(required=False, help=f"{verb} only for these nodes: 1 2 or 1,2"),
        option("-r", "--role", metavar="ROLE", help=f"{verb} only for nodes of this role"),
    )


def _boolean(word: str) -> bool:
    """Read a boolean in one of its usual spellings.

    >>> _boolean("True"), _boolean("no")
    (True, False)
    """
    if word.lower() not in _BOOLEANS:
        raise argparse.ArgumentTypeError(f"'{word}' is neither true nor false")
    return _BOOLEANS[word.lower()]


class _ConfigCommand(MasterOnly):
    reason = "Only a Fuel master keeps and deploys OpenStack configurations."
    instead = "Write a graph that applies them, and run it with `fuel2 graph execute --type TYPE`."
    columns: tuple[str, ...] = ("id", "is_active", "config_type", "cluster_id", "node_id", "node_role")


class OpenstackConfigList(_ConfigCommand, Lister):
    """List the OpenStack configurations of an environment

    With --deleted, those that were deleted or replaced are listed instead.

      fuel2 openstack-config list --env 1
    """

    arguments = (
        *_target("list those that are"),
        option(
            "-D", "--deleted", type=_boolean, nargs="?", const=True, default=False, metavar="true|false",
            help="list deleted ones (default: false)",
        ),
    )  # fmt: skip

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Any]:
        return self.services.openstack_configs(
            parsed_args.env, node_ids=parsed_args.nodes, role=parsed_args.role, active=not parsed_args.deleted
        )


class OpenstackConfigUpload(_ConfigCommand, Lister):
    """Store an OpenStack configuration from a file

    The file has the configuration below the key 'configuration', as 'openstack-config download' writes it. It is for
    the whole environment, for some nodes, or for the nodes of a role, and replaces an active one for the same.

      fuel2 openstack-config upload --env 1 --role compute --file nova.yaml
    """

    arguments = (*_target("store it"), option("--file", required=True, metavar="FILE", help="YAML or JSON; - is stdin"))

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Any]:
        self.require_master()
        document = self.load(parsed_args.file)
        data = document.data
        if not isinstance(data, Mapping) or not isinstance(data.get(_KEY), Mapping):
            raise InvalidDocument(
                f"{document.file}: an OpenStack configuration is a mapping below the key '{_KEY}'.",
                hint="Write it as configuration: {nova_config: {DEFAULT/debug: {value: true}}}.",
            )
        self.writable()
        return self.services.create_openstack_config(
            parsed_args.env, plain(data[_KEY]), node_ids=parsed_args.nodes, role=parsed_args.role
        )


class OpenstackConfigDownload(_ConfigCommand, Download):
    """Write an OpenStack configuration to a file

    An existing file is overwritten; on a terminal the command asks first. '--file -' prints the document, and
    nothing else, on stdout.

      fuel2 openstack-config download 2 --file nova.yaml
    """

    arguments = (
        _CONFIG,
        option("--file", *OUTPUT_SPELLINGS, required=True, metavar="FILE", help="the file to write; - is stdout"),
        OVERWRITING,
    )
    done = "OpenStack configuration with id={config} downloaded to {path}."

    def file_for(self, parsed_args: argparse.Namespace) -> tuple[str, str]:
        return parsed_args.file, format_of(parsed_args.file, None)

    document = on_master(lambda master, args: {_KEY: master.openstack_config(args.config).configuration})


class OpenstackConfigExecute(_ConfigCommand, MasterChange):
    """Deploy the OpenStack configurations of an environment

    The environment must be deployed. Follow the task with 'fuel2 task show'.

      fuel2 openstack-config execute --env 1 --role compute
    """

    arguments = (*_target("deploy them"), flag("-f", "--force", help="also deploy what has not changed"))
    done = "Deployment of the OpenStack configuration was started within task with id {result}."

    def change(self, parsed_args: argparse.Namespace) -> Any:
        return self.services.execute_openstack_configs(
            parsed_args.env, node_ids=parsed_args.nodes, role=parsed_args.role, force=parsed_args.force
        )


class OpenstackConfigDelete(_ConfigCommand, MasterChange):
    """Delete an OpenStack configuration

    The master keeps it as inactive; what it configured stays on the nodes. On a terminal the command asks first, unless
    you use --yes.

      fuel2 openstack-config delete 2
    """

    arguments = (_CONFIG, YES)
    question = "Delete the OpenStack configuration {config}?"
    done = "Openstack configuration with id {config} was deleted."
    change = on_master(lambda master, args: master.delete_openstack_config(args.config))


def results(tests: list[dict[str, str]]) -> Shown:
    """The results of health checks; as text, a line for each, as the original client writes it.

    >>> results([{"status": "failure", "name": "Create volume", "message": "Time out"}]).human_readable()
    "\\n* failure - Create volume, ('Time out')"
    """
    lines = [f"\n* {test['status']} - {test['name']}, ('{test['message']}')" for test in tests]
    return Shown(tests, " ".join(lines))


_STATUS = ("id", "testset", "cluster_id", "status")
_TIMES = ("started_at", "ended_at")


class _HealthCommand(MasterOnly):
    reason = "Only a Fuel master has health checks: its OSTF service runs them."
    instead = "Write a graph that checks the nodes, and run it with `fuel2 graph execute --type TYPE`."


class HealthList(_HealthCommand, Lister):
    """List the sets of health checks for an environment

    fuel2 health list --env 1
    """

    columns = ("id", "name")
    arguments = (OF_ENV,)
    rows = on_master(lambda master, args: master.test_sets(args.env))


class HealthStart(_HealthCommand, Lister):
    """Run sets of health checks for an environment

    Without --tests all sets run. They run as the OpenStack user that the --ostf options name, by default the
    environment's administrator. An environment that is not deployed, or whose facts were uploaded, is refused without
    --force. 'fuel2 health status show' shows the results.

      fuel2 health start --env 1 --tests sanity smoke
    """

    columns = _STATUS[:3]
    arguments = (
        OF_ENV,
        flag("--force", help="run them even if they will likely fail"),
        names_option("-t", "--tests", default=[], metavar="SET", help="sets: sanity smoke or sanity,smoke"),
        option("--ostf-username", type=str, metavar="NAME", help="OpenStack user"),
        option("--ostf-password", type=str, metavar="PASSWORD", help="password of that user"),
        option("--ostf-tenant-name", type=str, metavar="NAME", help="project of that user"),
    )

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Any]:
        credentials = OstfCredentials(
            parsed_args.ostf_username, parsed_args.ostf_password, parsed_args.ostf_tenant_name
        )
        services = self.writable().services
        # The original client prints these lines on stdout, where they break readers of JSON.
        if not credentials.any_given:
            LOG.warning("WARNING: ostf credentials are going to be mandatory in the next release.")
        tests, force = parsed_args.tests, parsed_args.force
        runs: Iterable[Any] = services.start_tests(parsed_args.env, tests, credentials, force=force)
        LOG.info("Health check tests for environment with id %d has been started:", parsed_args.env)
        return runs


class HealthStatusList(_HealthCommand, Lister):
    """List all runs of health checks

    fuel2 health status list --env 1
    """

    columns = (*_STATUS, *_TIMES)
    arguments = (env_option(required=False, help="only runs on this environment"),)
    rows = on_master(lambda master, args: [run for run in master.test_runs() if args.env in (None, run.cluster_id)])


class _HealthRunCommand(_HealthCommand, ShowOne):
    columns: tuple[str, ...] = _STATUS
    arguments = (id_of("run, as 'health status list' shows it"),)


class HealthStatusShow(_HealthRunCommand):
    """Show the results of a run of health checks

    fuel2 health status show 3
    """

    columns = (*_STATUS, *_TIMES, "tests")
    values = on_master(lambda master, args: master.test_run(args.id))

    def fields_of(self, value: Any) -> Any:
        return (*cells(value, self.columns[:-1]), results(list(map(asdict, value.tests))))


class HealthStop(_HealthRunCommand):
    """Stop a run of health checks

    fuel2 health stop 3
    """

    def values(self, parsed_args: argparse.Namespace) -> Any:
        return self.writable().services.stop_tests(parsed_args.id)


class HealthRestart(_HealthRunCommand):
    """Repeat a run of health checks

    fuel2 health restart 3
    """

    def values(self, parsed_args: argparse.Namespace) -> Any:
        return self.writable().services.restart_tests(parsed_args.id)


def _machines(word: str) -> list[Mapping[str, Any]]:
    """The virtual machines in a JSON text: one mapping, or a list of mappings.

    >>> _machines('{"id": 1, "mem": 2}')
    [{'id': 1, 'mem': 2}]
    """
    value = json_value(word)
    items = value if isinstance(value, list) else [value]
    if not items or not all(isinstance(item, Mapping) for item in items):
        raise argparse.ArgumentTypeError(f"'{word}' is neither a mapping nor a list of mappings")
    return items


class _VmCommand(MasterOnly):
    reason = "Only a Fuel master starts virtual machines: the engine manages graphs and existing nodes."
    instead = "Write a graph that starts them, and run it with `fuel2 graph execute --type TYPE`."


class NodeListVmsConf(_VmCommand, ShowOne):
    """Show the virtual machines that are configured on a node

    fuel2 node list-vms-conf 1
    """

    columns = ("vms_conf",)
    arguments = (id_of("node"),)
    values = on_master(lambda master, args: [Fields(master.vms(args.id))])


class NodeCreateVmsConf(_VmCommand, MasterChange):
    """Configure the virtual machines on a node

    They replace those that are configured; 'fuel2 env spawn-vms' starts them. The answer of the master is printed as
    JSON.

      fuel2 node create-vms-conf 1 --conf '{"id": 1, "mem": 4, "cpu": 2}'
    """

    arguments = (
        id_of("node"),
        option(
            "--conf", nargs="+", type=_machines, required=True, metavar="JSON",
            help="virtual machines: JSON mappings, or lists of them",
        ),
    )  # fmt: skip
    done = "{result}"

    def change(self, parsed_args: argparse.Namespace) -> str:
        machines = [machine for part in parsed_args.conf for machine in part]
        return json.dumps(self.services.set_vms(parsed_args.id, machines), ensure_ascii=False)


class EnvSpawnVms(_VmCommand, MasterChange):
    """Start the virtual machines of an environment

    They are those that 'fuel2 node create-vms-conf' configured on its nodes of the role virt.

      fuel2 env spawn-vms 1
    """

    arguments = _ENV_ARGUMENT
    change = on_master(lambda master, args: master.spawn_vms(args.id))


class _SnapshotCommand(MasterOnly):
    reason = "Only a Fuel master collects diagnostic snapshots: they have its logs and those of its nodes."
    instead = "See what tasks of a run printed with `fuel2 task logs`."


class SnapshotCreate(_SnapshotCommand, MasterChange):
    """Collect a diagnostic snapshot

    Without --config the master decides what is in it. 'fuel2 snapshot get-link' shows where it is.

      fuel2 snapshot create --config snapshot_conf.yaml
    """

    arguments = (option("-c", "--config", metavar="FILE", help="YAML or JSON with what to collect; - is stdin"),)
    done = "Diagnostic snapshot generation task with id {result} was started"

    def read(self, parsed_args: argparse.Namespace) -> None:
        hint = "Start from 'fuel2 snapshot get-default-config'."
        if parsed_args.config is not None:
            parsed_args.config = require(dict, self.load(parsed_args.config), "the configuration of a snapshot", hint)

    change = on_master(lambda master, args: master.create_snapshot(args.config or {}))


class SnapshotGetDefaultConfig(_SnapshotCommand, Download):
    """Write the default configuration of a snapshot to a file

    Without --file the file is DIR/snapshot_conf.FORMAT. An existing file is overwritten; on a terminal the command
    asks first.

      fuel2 snapshot get-default-config -f yaml
    """

    arguments = file_options("write")
    done = "Configuration was stored in {path}"

    def file_for(self, parsed_args: argparse.Namespace) -> tuple[str, str]:
        return file_of(parsed_args, "", "snapshot_conf")[0], parsed_args.format or "yaml"

    document = on_master(lambda master, _: master.snapshot_config())


class SnapshotGetLink(_SnapshotCommand, ShowOne):
    """Show whether a snapshot is ready, and the URL from which to download it

    fuel2 snapshot get-link 12
    """

    columns = ("status", "link")
    arguments = (id_of("task that 'snapshot create' printed"),)

    def values(self, parsed_args: argparse.Namespace) -> Any:
        snapshot = self.services.snapshot(parsed_args.id)
        if snapshot.message:
            LOG.warning("Snapshot task %d is %s: %s", parsed_args.id, snapshot.status, snapshot.message)
        return snapshot
