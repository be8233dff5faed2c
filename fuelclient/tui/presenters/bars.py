"""The bars above and below every screen: path, badges, tabs, keys, and the equivalent command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.blame import layer_name, letter
from fuelclient.tui.presenters.table import Tone
from fuelclient.tui.requests import GraphData
from fuelclient.tui.routes import TABS, Route, View


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a bar. A click runs `action`. If not all parts fit, high ranks are dropped first; rank 0 stays."""

    text: str
    tone: Tone = Tone.PLAIN
    action: str = ""
    rank: int = 0


def crumbs(route: Route, data: GraphData | None, glyphs: Glyphs) -> list[Part]:
    """The path to the screen. A click on a piece goes to its screen."""
    sign = Part(glyphs.crumb, Tone.DIM)
    parts = [Part("fuel2", Tone.STRONG), sign, Part("environments", Tone.PLAIN, "app.environments", 1)]
    if route.env:
        name = f"{route.env} {data.study.snapshot.cluster.name}" if data else str(route.env)
        parts += [sign, Part(name, Tone.PLAIN, "app.view('roles')")]
    if route.env or route.view is View.HISTORY:
        name = f"run {route.run}" if route.view is View.RUN else str(route.view)
        parts += [sign, Part(name, Tone.ACCENT)]
    return parts


def badges(route: Route, data: GraphData | None, room: int, *, armed: bool = False) -> list[Part]:
    """The graph type, the merged layers (as letters if `room` cells are too few), and whether the UI is armed."""
    state = Part("ARMED", Tone.BAD, "app.arm") if armed else Part("RO", Tone.ACCENT)
    if data is None or route.view in (View.HISTORY, View.RUN):
        return [state]
    owners = [layer.owner for layer in data.study.snapshot.layers]
    labels = {"cluster": "environment"}
    full = "  ".join(f"{letter(owner)} {labels.get(layer_name(owner), layer_name(owner))}" for owner in owners)
    layers = full if len(full) <= room else "".join(map(letter, owners))
    return [Part(route.graph_type, Tone.STRONG, "app.types", 2), Part(layers, Tone.DIM, rank=3), state]


def tabs(route: Route) -> list[Part]:
    if not route.env:
        if route.view is View.HISTORY:
            return [Part("The runs of all environments. Enter opens one, the key a shows one environment", Tone.DIM)]
        return [Part("Enter opens an environment, H shows all runs, / filters, ? helps", Tone.DIM)]
    here = View.HISTORY if route.view is View.RUN else route.view
    return [
        Part(f"{digit} {view}", Tone.ACCENT if view is here else Tone.DIM, f"app.view('{view}')")
        for digit, view in enumerate(TABS, start=1)
    ]


def keys(bindings: Sequence[tuple[str, str]]) -> list[Part]:
    """The keys that work here. If they do not fit, the last ones are dropped, except for help and quit."""
    last = len(bindings) - 2
    return [
        Part(f"{key} {meaning}", Tone.DIM, rank=index + 1 if index < last else 0)
        for index, (key, meaning) in enumerate(bindings)
    ]


def line(command: str, mark: str, picked: Mapping[str, Sequence[str]]) -> tuple[list[Part], list[Part]]:
    """The equivalent command line, the ids picked for executing, and the marked task."""
    kinds = "; ".join(f"{kind}: {' '.join(ids)}" for kind, ids in picked.items() if ids)
    right = [Part(f"picked {kinds}", Tone.ACCENT, rank=2)] if kinds else []
    right += [Part(f"marked: {mark}", Tone.ACCENT, rank=1)] if mark else []
    return [Part(f"$ {command}", Tone.DIM)], right
