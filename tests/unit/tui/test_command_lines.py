"""Every command line that the UI shows is one that the command line knows."""

from __future__ import annotations

import shlex

import pytest

from fuelclient.commands.shell import FuelShell, TableManager
from fuelclient.tui.routes import Route, Trail, View, command_line


@pytest.mark.parametrize("view", View)
@pytest.mark.parametrize("kind", ["default", "custom graph"])
@pytest.mark.parametrize("focus", ["", "3"])
def test_it_parses(view: View, kind: str, focus: str) -> None:
    words = shlex.split(command_line(Route(view, 1, kind, focus)))
    factory, name, rest = TableManager().find_command(words[1:])
    parsed = factory(FuelShell(), None, cmd_name=name).get_parser(name).parse_args(rest)
    everywhere = view in (View.ENVIRONMENTS, View.PLUGINS) or (view is View.NODES and focus)
    assert getattr(parsed, "env", None) == (None if everywhere else 1)
    if view in (View.PREVIEW, View.LANES, View.BROWSE, View.PROBLEMS, View.WHY):
        assert (parsed.graph_type or "default") == kind


def test_trail_goes_back_and_forward_and_drops_what_was_ahead() -> None:
    trail = Trail(Route())
    one, other = Route(View.ROLES, 1), Route(View.LANES, 1)
    trail.go(one)
    trail.go(other)
    assert trail.back()
    assert trail.here == one
    trail.here = one.to(View.ROLES, "compute")
    assert trail.forward()
    assert trail.here == other
    assert not trail.forward()
    assert trail.back()
    assert trail.here.focus == "compute"
    trail.go(Route(View.NODES, 1))
    assert not trail.forward()
    assert [trail.back(), trail.back(), trail.back()] == [True, True, False]
