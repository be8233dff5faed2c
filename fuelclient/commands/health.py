"""Health checks of deployed environments, which the OSTF service of a Fuel master runs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from cliff.columns import FormattableColumn

from fuelclient.commands.arguments import OF_ENV, env_option, flag, id_of, names, option
from fuelclient.commands.base import Lister, ShowOne
from fuelclient.commands.master_only import MasterOnly
from fuelclient.commands.shell import LOG

if TYPE_CHECKING:
    from fuelclient.model.services import TestRun

_STATUS = ("id", "testset", "cluster_id", "status", "started_at", "ended_at")


class Results(FormattableColumn[list[dict[str, str]]]):
    """The results of health checks; as text, a line for each, as the original client writes it.

    >>> Results([{"status": "failure", "name": "Create volume", "message": "Time out"}]).human_readable()
    "\\n* failure - Create volume, ('Time out')"
    """

    def human_readable(self) -> str:
        lines = [f"\n* {test['status']} - {test['name']}, ('{test['message']}')" for test in self._value]
        return " ".join(lines)


class _OfMaster(MasterOnly):
    """A command about health checks."""

    reason = "Only a Fuel master has health checks: its OSTF service runs them."
    instead = "Write a graph that checks the nodes, and run it with `fuel2 graph execute --type TYPE`."


class HealthList(_OfMaster, Lister):
    """List the sets of health checks for an environment

    fuel2 health list --env 1
    """

    columns = ("id", "name")

    arguments = (OF_ENV,)

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        return [(test_set.id, test_set.name) for test_set in self.services.test_sets(parsed_args.env)]


class HealthStart(_OfMaster, Lister):
    """Run sets of health checks for an environment

    Without --tests all sets run. They run as the OpenStack user that the --ostf options name, by default the
    environment's administrator. An environment that is not deployed, or whose facts were uploaded, is refused without
    --force. 'fuel2 health status show' shows the results.

      fuel2 health start --env 1 --tests sanity smoke
    """

    columns = ("id", "testset", "cluster_id")

    arguments = (
        OF_ENV,
        flag("--force", help="run them even if they will likely fail"),
        option(
            "-t", "--tests", nargs="+", type=names, default=[], metavar="SET", help="sets: sanity smoke or sanity,smoke"
        ),
        option("--ostf-username", type=str, metavar="NAME", help="OpenStack user"),
        option("--ostf-password", type=str, metavar="PASSWORD", help="password of that user"),
        option("--ostf-tenant-name", type=str, metavar="NAME", help="project of that user"),
    )

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        from fuelclient.model.services import OstfCredentials

        env = parsed_args.env
        credentials = OstfCredentials(
            parsed_args.ostf_username, parsed_args.ostf_password, parsed_args.ostf_tenant_name
        )
        chosen = list(dict.fromkeys(name for part in parsed_args.tests for name in part))
        services = self.writable_services()
        # The original client prints these lines on stdout, where they break readers of JSON.
        if not credentials.stated:
            LOG.warning("WARNING: ostf credentials are going to be mandatory in the next release.")
        runs = services.start_tests(env, chosen, credentials, force=parsed_args.force)
        LOG.info("Health check tests for environment with id %d has been started:", env)
        return [(run.id, run.testset, run.cluster_id) for run in runs]


class StatusList(_OfMaster, Lister):
    """List all runs of health checks

    fuel2 health status list --env 1
    """

    columns = _STATUS

    arguments = (env_option(required=False, help="only runs on this environment"),)

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        runs = self.services.test_runs()
        return [_row(run) for run in runs if parsed_args.env in (None, run.cluster_id)]


class _OfRun(_OfMaster, ShowOne):
    """A command about one run of health checks."""

    columns: tuple[str, ...] = ("id", "testset", "cluster_id", "status")

    arguments = (id_of("run, as 'health status list' shows it"),)


class StatusShow(_OfRun):
    """Show the results of a run of health checks

    fuel2 health status show 3
    """

    columns = (*_STATUS, "tests")

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        run = self.services.test_run(parsed_args.id)
        tests = [{"name": test.name, "status": test.status, "message": test.message} for test in run.tests]
        return (*_row(run), Results(tests))


class HealthStop(_OfRun):
    """Stop a run of health checks

    fuel2 health stop 3
    """

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        return _row(self.writable_services().stop_tests(parsed_args.id))[:4]


class HealthRestart(_OfRun):
    """Repeat a run of health checks

    fuel2 health restart 3
    """

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        return _row(self.writable_services().restart_tests(parsed_args.id))[:4]


def _row(run: TestRun) -> tuple[Any, ...]:
    return (run.id, run.testset, run.cluster_id, run.status, run.started_at, run.ended_at)
