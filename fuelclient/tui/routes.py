"""Routes (what a screen shows), the history of visited routes, and the command line of a route."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace
from enum import StrEnum

from fuelclient.insight.query import named
from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.plan.study import TaskKey


class View(StrEnum):
    """The screens. `why` is opened from a marked task, `run` from the history or by executing a graph."""

    ENVIRONMENTS = "environments"
    ROLES = "roles"
    NODES = "nodes"
    PREVIEW = "preview"
    LANES = "lanes"
    BROWSE = "browse"
    PROBLEMS = "problems"
    PLUGINS = "plugins"
    HISTORY = "history"
    RUN = "run"
    WHY = "why"


TABS = (View.ROLES, View.NODES, View.PREVIEW, View.LANES, View.BROWSE, View.PROBLEMS, View.PLUGINS, View.HISTORY)
"""The views of an environment, in the order of their keys 1 to 8."""


@dataclass(frozen=True, slots=True)
class Looks:
    """How rows are shown: `sort` is the column and whether descending; `inverted` inverts the filter; `switched` turns
    the switch of the view on (task instances, all edges, faults only, or an assumed plugin)."""

    sort: tuple[int, bool] | None = None
    inverted: bool = False
    switched: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """A view of an environment and a graph type; `focus` is the id of the task, role or node that it is about.

    `query` is its filter. `task` is the task under the cursor, `instance` its instance if rows are instances, `other`
    the first task of `why`, `run` the id of a run. In the history, environment 0 means all. For the command line,
    `select` is a query for the filtered tasks, and `beside` is set if it shows the details of `focus` or `run`.
    """

    view: View = View.ENVIRONMENTS
    env: int = 0
    graph_type: str = DEFAULT_TYPE
    focus: str = ""
    query: str = ""
    task: TaskKey | None = None
    instance: str = ""
    other: TaskKey | None = None
    run: int = 0
    looks: Looks = Looks()
    select: str = ""
    beside: bool = False

    def to(self, view: View, focus: str = "", query: str = "", task: TaskKey | None = None) -> Route:
        """Another view of the same environment."""
        return Route(view, self.env, self.graph_type, focus, query, task)

    def of(self, graph_type: str) -> Route:
        """The same view of another graph."""
        return replace(self, graph_type=graph_type, focus="", query="", task=None, instance="", other=None)


MAX_BACK = 200
"""The largest number of routes to which the user can go back."""


@dataclass(slots=True)
class Trail:
    """The visited routes, with back and forward as in a browser."""

    here: Route
    _back: list[Route] = field(default_factory=list)
    _forward: list[Route] = field(default_factory=list)

    def go(self, route: Route) -> None:
        """Go to another route, and forget the routes to which `forward` would go."""
        self._back.append(self.here)
        del self._back[:-MAX_BACK]
        self._forward.clear()
        self.here = route

    def back(self) -> bool:
        """Go back; return False at the beginning."""
        return self._step(self._back, self._forward)

    def forward(self) -> bool:
        """Undo `back`; return False at the end."""
        return self._step(self._forward, self._back)

    def _step(self, source: list[Route], target: list[Route]) -> bool:
        if not source:
            return False
        target.append(self.here)
        self.here = source.pop()
        return True


def command_line(route: Route, program: str = "fuel2") -> str:
    """The command that prints what a route shows.

    >>> command_line(Route(View.PREVIEW, 1))
    'fuel2 graph preview --env 1'
    """
    env = f"--env {route.env}"
    type_option = "" if route.graph_type == DEFAULT_TYPE else f" --type {shlex.quote(route.graph_type)}"
    commands = {
        View.ENVIRONMENTS: f"env show {_argument(route.focus)}" if route.beside and route.focus else "env list",
        View.ROLES: f"role show {env} {_argument(route.focus)}" if route.focus else f"role list {env}",
        View.NODES: f"node show {shlex.quote(route.focus)}" if route.focus.isdigit() else f"node list {env}",
        View.PREVIEW: _preview(route, f"{env}{type_option}"),
        View.LANES: f"graph render {env}{type_option}{f' {_argument(route.select)}' if route.select else ''}",
        View.BROWSE: f"graph query {_neighbourhood_query(route)} {env}{type_option} --explain",
        View.PROBLEMS: f"graph validate {env}{type_option}",
        View.PLUGINS: _plugins(route, type_option),
        View.WHY: f"graph why {env}{type_option} {_ends(route)}" if _ends(route) else f"graph order {env}{type_option}",
        View.HISTORY: _history(route),
        View.RUN: f"task history show {route.run} --why" if route.run else f"task list {env}",
    }
    return f"{program} {commands[route.view]}"


def _preview(route: Route, options: str) -> str:
    if route.beside and route.task is not None:
        return f"graph blame {options} {_argument(route.task.id)}"
    return f"graph preview {options}" + (f" --select={shlex.quote(route.select)}" if route.select else "")


def _history(route: Route) -> str:
    if route.beside and route.run:
        return f"task history show {route.run} --why"
    return f"task list --env {route.env} --names deploy" if route.env else "task list --names deploy"


def _plugins(route: Route, type_option: str) -> str:
    if route.focus and route.looks.switched:
        return f"graph diff env:{route.env} --with plugin:{shlex.quote(route.focus)}{type_option}"
    return f"plugins show {_argument(route.focus)}" if route.focus else "plugins list"


def _neighbourhood_query(route: Route) -> str:
    """The query for a task with all tasks before and after it; without a task, for all tasks.

    >>> _neighbourhood_query(Route(View.BROWSE, focus="db")), _neighbourhood_query(Route(View.BROWSE, focus="a b"))
    ('+db+', '\\'+"a b"+\\'')
    """
    task = route.task.id if route.task else route.focus
    return shlex.quote(f"+{named(task)}+") if task else "/./"


def _ends(route: Route) -> str:
    if route.task is None or route.other is None:
        return ""
    return " ".join(_argument(key.id) for key in (route.task, route.other))


def _argument(word: str) -> str:
    """A word quoted for a shell, so that it is not read as an option.

    >>> _argument("two words"), _argument("-x")
    ("'two words'", '-- -x')
    """
    return f"{'-- ' if word.startswith('-') else ''}{shlex.quote(word)}"
