"""The pages of docs/ are correct: generated ones are up to date, links work, codes and keys are complete."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from pkgutil import resolve_name

import pytest
from textual.binding import Binding

from docs.reference import documents
from fuelclient.commands.base import MasterOnly
from fuelclient.commands.exits import Exit
from fuelclient.commands.shell import FuelShell
from fuelclient.commands.table import COMMANDS
from fuelclient.files.reading import load
from fuelclient.graph.parameters import SHAPES, Entries, names_of
from fuelclient.graph.validate import check_document
from fuelclient.model.task import DEPENDENCIES, KNOWN, TaskType
from fuelclient.plugins.constraints import KEYS
from fuelclient.serializers.graph import document_from
from fuelclient.settings import SPECS
from fuelclient.tui.app import FuelUI, screen_class
from fuelclient.tui.routes import TABS, View
from fuelclient.tui.screens.base import ViewScreen, key_name
from fuelclient.tui.widgets.virtual_table import VirtualTable

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.M)
_FENCED = re.compile(r"^```.*?^```$", re.M | re.S)


def text_of(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name",
    [
        "docs/cli.md",
        "docs/rest.md",
        "etc/fuel/fuel_client.yaml",
        "setup.cfg",
        "fuelclient/commands/table.tsv",
        "fuelclient/commands/completion/options.json",
        "fuelclient/commands/explanations.json",
        "fuelclient/commands/topics.json",
    ],
)
def test_a_generated_document_is_up_to_date(name: str) -> None:
    fresh, kept = documents()[name].splitlines(), (ROOT / name).read_text(encoding="utf-8").splitlines()

    differing = list(unified_diff(kept, fresh, "as it is", "as it should be", lineterm="", n=0))[:20]
    assert fresh == kept, "\n".join([f"{name} is out of date: run .venv/bin/python docs/reference.py", *differing])


def test_every_command_is_documented() -> None:
    text = text_of("cli.md")
    told = set(re.findall(r"^###? (.+)$", text, re.M))

    assert set(COMMANDS) <= told
    section = text.partition("\n### graph execute\n")[2].partition("\n### ")[0]
    assert "fuel2 graph execute --env ID|NAME [--type TYPE ...]" in section
    assert r"| `-n`, `--nodes`, `--node` `ID\|NAME ...` |" in section


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as forges make them."""
    headings = _HEADING.findall(_FENCED.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def broken(page: Path) -> Iterator[str]:
    """Yield the broken links of a page; external addresses are not followed."""
    for link in _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8"))):
        target, _, anchor = link.partition("#")
        if "://" in link:
            continue
        linked = (page.parent / target).resolve() if target else page
        if not linked.exists() or (anchor and anchor not in anchors(linked)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    assert list(broken(page)) == []


def test_every_page_is_in_the_contents() -> None:
    listed = set(re.findall(r"^   (?:.*<)?([\w-]+)>?$", text_of("contents.rst"), re.M))

    assert listed == {page.stem for page in PAGES}


def test_every_exit_code_is_documented() -> None:
    section = text_of("scripting.md").partition("## Exit codes")[2].partition("\n## ")[0]

    assert re.findall(r"^\| (\d+) \|", section, re.M) == [str(int(code)) for code in Exit]


def test_every_key_of_the_terminal_ui_is_documented() -> None:
    told = set(re.findall(r"`([^`\n]+)`", text_of("tui.md")))
    alike = {"down": "j", "up": "k", "left": "h", "right": "l"}  # the page says "arrows"

    missing = set()
    places: tuple[type, ...] = (FuelUI, ViewScreen, VirtualTable, *map(screen_class, View))
    for where in places:
        for binding in where.__dict__.get("BINDINGS", ()):
            assert isinstance(binding, Binding)
            keys = {key_name(alike.get(key, key)) for key in binding.key.split(",")} | {binding.key_display}
            if not keys & told:
                missing.add(f"{where.__name__}: {binding.key} ({binding.description})")
    assert missing == set()


def test_every_view_is_documented_with_its_key() -> None:
    rows = dict(re.findall(r"^\| `(\d)` \| (\w+) \|", text_of("tui.md"), re.M))

    assert rows == {"0": "environments"} | {str(key): str(view) for key, view in enumerate(TABS, start=1)}


def test_settings_that_pages_name_exist() -> None:
    known = {name for spec in SPECS for name in (*spec.names, *spec.environment)}
    known |= {"FUELCLIENT_CUSTOM_SETTINGS", "NO_COLOR", "FUEL_CORPUS"}

    for page in PAGES:
        if page.name in ("cli.md", "rest.md"):
            continue
        named = re.findall(r"\b(?:OS|HTTP|DASK|SERVER|FUEL|FUELCLIENT|HANDLER)_[A-Z_]+\b", page.read_text("utf-8"))
        assert set(named) <= known, page.name


def test_findings_that_pages_name_are_documented() -> None:
    known = set(re.findall(r"^\| ([GPR]\d{3}) \|", text_of("findings.md"), re.M))

    assert len(known) > 20
    for page in PAGES:
        assert set(re.findall(r"\b[GPR]\d{3}\b", page.read_text("utf-8"))) <= known, page.name


_SPELLINGS = {"cross_depends": "cross-depends", "cross_depended_by": "cross-depended-by"}


def test_every_key_of_a_task_is_documented_with_an_example() -> None:
    text = text_of("tasks.md")
    sections = dict(re.findall(r"^### (`[^\n]+`)\n(.*?)(?=^##? |^### |\Z)", text, re.M | re.S))
    told = {key for heading in sections for key in re.findall(r"`([\w-]+)`", heading)}

    assert told == {_SPELLINGS.get(key, key) for key in KNOWN} | set(KEYS)
    for heading, body in sections.items():
        key = heading.strip("`")
        assert key in KEYS or "`, `" in heading or re.search(rf"^```yaml\n(?:.*\n)*?.*\b{key}: ", body, re.M), key
    assert set(DEPENDENCIES) <= set(KNOWN)


def test_every_type_and_parameter_of_a_task_is_documented() -> None:
    text = text_of("tasks.md")
    types = re.findall(
        r"^\| ((?:`\w+`(?:, )?)+) \|", text.partition("### `type`")[2].partition("### `version`")[0], re.M
    )
    assert sorted(re.findall(r"\w+", " ".join(types))) == sorted(TaskType)
    general, _, special = text.partition("### `parameters`")[2].partition("\n#### ")
    for name in names_of(TaskType.REBOOT):
        assert f"`{name}`" in general, name
    for kind, shape in SHAPES.items():
        section = next(part for part in special.split("\n#### ") if kind in re.findall(r"\w+", part.split("\n")[0]))
        nested = [name for reader in shape.values() if isinstance(reader, Entries) for name in reader.shape]
        assert {name for name in (*shape, *nested) if f"`{name}`" not in section} == set(), kind


def test_every_example_of_a_task_is_a_graph_without_findings(tmp_path: Path) -> None:
    examples = re.findall(r"(?<!:\n\n)^```yaml\n(.*?)^```$", text_of("tasks.md"), re.M | re.S)
    assert len(examples) > 25
    for example in examples:
        path = tmp_path / "example.yaml"
        path.write_text(example, encoding="utf-8")
        document = document_from(load(path), owner_label="tasks.md")
        assert check_document(document, None, None) == (), example


def commands_in(section: str) -> list[str]:
    """Return the commands in the tables of a section, in the order of the text."""
    rows = re.findall(r"^\| (`[^|]*`) \|", section, re.M)
    rows += [cells for _, cells in re.findall(r"^\| ([\w ,]+) \| (`[^|]*`) \|", section, re.M)]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_the_page_about_the_original_client_has_every_command_once() -> None:
    text = text_of("from-python-fuelclient.md")
    original = commands_in(text.partition("## Command by command")[2].partition("\n## ")[0])
    master = commands_in(text.partition("### Only with a Fuel master")[2].partition("\n## ")[0])
    new = commands_in(text.partition("## What is new")[2].partition("\n## ")[0])

    assert len(original) == 115
    assert sorted(original + new) == sorted({*COMMANDS, "help"})
    only = {name for name, (where, _) in COMMANDS.items() if issubclass(resolve_name(where), MasterOnly)}
    assert set(master) == only


def test_the_lines_for_users_of_the_original_are_understood() -> None:
    lines = re.findall(r"`fuel2 ([^`]+)`", text_of("from-python-fuelclient.md"))
    assert len(lines) > 30
    for line in lines:
        shell = FuelShell()
        shell.options, rest = shell.parser.parse_known_args(shlex.split(line))
        factory, name, words = shell.command_manager.find_command(rest)
        factory(shell, shell.options, cmd_name=name).get_parser(name).parse_args(words)
