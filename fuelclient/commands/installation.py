"""This program and its installation: `help`, `fuel-version`, `config show` and `doctor`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

import autopage.argparse

from fuelclient.commands.arguments import flag, option
from fuelclient.commands.base import Command, DiagnosisCheck, Lister, ShowOne, on_backend
from fuelclient.commands.formatters import Fields
from fuelclient.commands.global_options import PROGRAM, listing, overview, show, topics
from fuelclient.commands.table import COMMANDS, verbs
from fuelclient.errors import UsageError
from fuelclient.similar import close


class FuelVersion(ShowOne):
    """Show the version of Fuel and of its API

    For the embedded engine this is the version of Fuel whose API 'server run' offers. 'fuel2 --version' shows the
    version of this program.

      fuel2 fuel-version
    """

    columns = ("api", "auth_required", "feature_groups", "openstack_version", "release")
    values = on_backend(lambda backend, _: backend.version())


class ConfigShow(Lister):
    """Show the settings in effect, and where each comes from

    Settings come from, in rising precedence: the defaults, fuel/fuel_client.yaml in $XDG_CONFIG_HOME, the file that
    FUELCLIENT_CUSTOM_SETTINGS names, environment variables, and the options of the command line. The command writes
    nothing and connects to nothing. Passwords, tokens and secrets are masked.

      fuel2 config show --origin
      SERVER_ADDRESS=10.20.0.2 fuel2 config show --origin -f json
    """

    columns, by_weight = ("name", "value", "origin"), ("name", "origin")
    sort_by = "name"

    arguments = (flag("--origin", help="also say where each value comes from"),)

    def shown_columns(self, parsed_args: argparse.Namespace) -> Sequence[str]:
        return self.columns if parsed_args.origin else self.columns[:2]

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:  # noqa: ARG002 (all settings)
        from fuelclient.redact import MASK, scrubbed
        from fuelclient.settings import SPECS

        settings = self.shell.read_settings(chooses=False)
        for spec in SPECS:
            setting = settings[spec.name]
            value = MASK if spec.secret and setting.value else setting.value
            shown = scrubbed(value) if isinstance(value, str) else value
            yield spec.name, Fields(shown) if isinstance(shown, dict) else shown, setting.origin


class Doctor(DiagnosisCheck):
    """Examine this installation and what it reaches

    It looks at versions, extras, settings, paths and permissions, at the engine file with its plugins and interrupted
    runs, and at whether the Fuel master, the Dask scheduler and the nodes answer and have the same time. Every problem
    is shown with its fix. Nothing is changed. The exit code is 7 if anything is an error.

      fuel2 doctor
      fuel2 doctor --no-nodes
      fuel2 doctor -f json
    """

    arguments = (flag("--no-nodes", help="connect to no nodes"),)

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        from fuelclient.backends.doctor import examine

        return self.diagnosis_rows(examine(lambda: self.shell.settings, nodes=not parsed_args.no_nodes))


_TOPICS = {"filter": "queries", "query": "queries", "select": "queries"}
"""The topics that other words mean."""


class Help(Command):
    """Show this overview, or the help of a command or a topic

    A noun alone lists its commands. The topics are layers, stages, facts, queries and exit-codes. --all adds the
    commands of other installed packages.

      fuel2 help graph
      fuel2 help graph upload
      fuel2 help layers
    """

    arguments = (
        option("command", type=str, nargs="*", metavar="COMMAND", help="the words of a command, its noun, or a topic"),
        flag("--all", help="also list the commands of other packages"),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        show(self._text(parsed_args), self.app.stdout, quiet=self.shell.is_quiet)

    def _text(self, parsed_args: argparse.Namespace) -> str:
        words, known = parsed_args.command, topics()
        if not words:
            return overview(everything=parsed_args.all)
        topic = "-".join(words)
        if found := known.get(_TOPICS.get(topic, topic)):
            return found
        if len(words) == 1 and words[0] not in COMMANDS and (names := verbs(words[0])):
            return "\n".join([f"usage: {PROGRAM} {names[0].split()[0]} COMMAND ...", "", *listing(names), ""])
        try:
            factory, name, others = self.app.command_manager.find_command(words)
        except UsageError as error:
            from fuelclient.commands.explain import explanations  # only a misspelt topic needs these

            near = close(topic, known) or next((name for name in known if name.startswith(topic.lower())), "")
            meant = f"help {near}" * bool(near) or f"explain {topic}" * (topic.upper() in explanations())
            error.hint = f"Did you mean '{PROGRAM} {meant}'?" if meant else error.hint
            raise
        if others:
            raise UsageError(f"'{' '.join(words)}' is not a command.", hint=f"Did you mean '{PROGRAM} help {name}'?")
        parser = factory(self.app, self.app_args, cmd_name=name).get_parser(f"{PROGRAM} {name}")
        autopage.argparse.use_color_for_parser(parser, getattr(self.app.stdout, "coloured", False))
        return str(parser.format_help())
