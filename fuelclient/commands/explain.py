"""`fuel2 explain`: what a finding or an exit code means, with an example."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from fuelclient.commands.arguments import option
from fuelclient.commands.base import Command
from fuelclient.commands.fitting import align
from fuelclient.commands.graph.question import FORMAT, FORMAT_VERSION
from fuelclient.errors import NotFound

EXPLANATIONS = Path(__file__).with_name("explanations.json")
"""The texts of docs/findings.md and docs/scripting.md, generated from them."""


class Explain(Command):
    """Explain a finding or an exit code

    CODE is the code of a finding, which messages show in brackets, or an exit code. The answer says what it means, what
    leads to it, and what to do about it. Without CODE, all codes are listed.

      fuel2 explain G050
      fuel2 explain 9
      fuel2 explain -f json
    """

    arguments = (
        option("code", type=str, nargs="?", metavar="CODE", help="such as G050, P012 or 7 (default: list all)"),
        FORMAT,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        known = explanations()
        code = parsed_args.code and parsed_args.code.strip("[]").upper()
        if code and code not in known:
            raise NotFound("code", code, known=list(known), hint="`fuel2 explain` lists all codes.")
        listed = {code: known[code]} if code else known
        if parsed_args.format != "text":
            document = {"format_version": FORMAT_VERSION, "codes": [{"code": key, **listed[key]} for key in listed]}
            self.app.stdout.write(self.dumps(document, parsed_args.format))
        elif code:
            for line in _explanation_lines(code, listed[code]):
                self.tell(line)
        else:
            for line in align((f"{key:<4}", entry["means"]) for key, entry in listed.items()):
                self.tell(line)


def explanations() -> dict[str, dict[str, str]]:
    """The explanation of each code: what it `means`; for findings also `severity`, `do` and `example`."""
    read: dict[str, dict[str, str]] = json.loads(EXPLANATIONS.read_text(encoding="utf-8"))
    return read


def _explanation_lines(code: str, entry: dict[str, str]) -> list[str]:
    parts = [f"{code}, {entry['severity']}" if "severity" in entry else f"Exit code {code}", f"  {entry['means']}"]
    if "do" in entry:
        parts += ["", "What to do:", f"  {entry['do']}"]
    if "example" in entry:
        parts += ["", "Example:", *(f"  {line}" for line in entry["example"].splitlines())]
    return parts
