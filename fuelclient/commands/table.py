"""The command table: every command with the class that runs it and its one-line help.

cliff finds commands by importing the module of each one at every start. This table is known without
importing anything, so that help costs no more than printing it, and one command loads one module. The entry
points `fuelclient.cli` in setup.cfg say the same for whoever looks commands up from outside; a test keeps the
two equal, and the one-line helps equal to the first lines of the classes' docstrings.
"""

from __future__ import annotations

COMMANDS: dict[str, tuple[str, str]] = {
    "complete": ("fuelclient.commands.complete:Complete", "Print a script for bash that completes command lines"),
    "demo": ("fuelclient.commands.demo:Demo", "Load the packaged examples and say what to try next"),
    "env add nodes": ("fuelclient.commands.env.nodes:EnvAddNodes", "Give nodes to an environment with roles"),
    "env create": ("fuelclient.commands.env.environment:EnvCreate", "Create an environment from a release"),
    "env delete": ("fuelclient.commands.env.environment:EnvDelete", "Delete an environment with its graphs"),
    "env deployment-facts delete": (
        "fuelclient.commands.env.facts:FactsDelete",
        "Delete the uploaded deployment facts of an environment",
    ),
    "env deployment-facts download": (
        "fuelclient.commands.env.facts:FactsDownload",
        "Write the uploaded deployment facts of an environment to files",
    ),
    "env deployment-facts get-default": (
        "fuelclient.commands.env.facts:FactsDefault",
        "Write the deployment facts that an environment has by itself to files",
    ),
    "env deployment-facts upload": (
        "fuelclient.commands.env.facts:FactsUpload",
        "Set the deployment facts of an environment from files",
    ),
    "env list": ("fuelclient.commands.env.environment:EnvList", "List all environments"),
    "env remove nodes": ("fuelclient.commands.env.nodes:EnvRemoveNodes", "Take nodes out of an environment"),
    "env settings download": (
        "fuelclient.commands.env.settings:SettingsDownload",
        "Write the settings of an environment to a file",
    ),
    "env settings upload": (
        "fuelclient.commands.env.settings:SettingsUpload",
        "Set the settings of an environment from a file",
    ),
    "env show": ("fuelclient.commands.env.environment:EnvShow", "Show one environment"),
    "env stop-deployment": ("fuelclient.commands.env.stop:EnvStopDeployment", "Stop whatever runs on an environment"),
    "env update": ("fuelclient.commands.env.environment:EnvUpdate", "Rename an environment"),
    "graph delete": ("fuelclient.commands.graph.delete:GraphDelete", "Delete one graph of an owner"),
    "graph download": ("fuelclient.commands.graph.download:GraphDownload", "Write a graph, or a merge, to a file"),
    "graph execute": ("fuelclient.commands.graph.execute:GraphExecute", "Run graphs on the nodes of an environment"),
    "graph list": ("fuelclient.commands.graph.list:GraphList", "List graphs with their tasks and owners"),
    "graph preview": ("fuelclient.commands.graph.preview:GraphPreview", "Show what would run where, in order"),
    "graph simulate": (
        "fuelclient.commands.graph.simulate:GraphSimulate",
        "Show what would become of a run, and how long it would take",
    ),
    "graph upload": ("fuelclient.commands.graph.upload:GraphUpload", "Upload a graph to an owner"),
    "graph validate": ("fuelclient.commands.graph.validate:GraphValidate", "Report everything wrong with a graph"),
    "help": ("fuelclient.commands.help:Help", "Show this overview, or the help of a command"),
    "node create": ("fuelclient.commands.node:NodeCreate", "Create one node"),
    "node delete": ("fuelclient.commands.node:NodeDelete", "Delete nodes"),
    "node import": ("fuelclient.commands.node:NodeImport", "Create all nodes of a file, or none"),
    "node list": ("fuelclient.commands.node:NodeList", "List nodes"),
    "node show": ("fuelclient.commands.node:NodeShow", "Show one node"),
    "plugins build": ("fuelclient.commands.plugins.build:PluginsBuild", "Build the package of a plugin"),
    "plugins check": ("fuelclient.commands.plugins.check:PluginsCheck", "Report everything wrong with plugin packages"),
    "plugins create": ("fuelclient.commands.plugins.create:PluginsCreate", "Write a plugin to start from"),
    "plugins disable": ("fuelclient.commands.plugins.enable:PluginsDisable", "Disable plugins on an environment"),
    "plugins enable": ("fuelclient.commands.plugins.enable:PluginsEnable", "Enable plugins on an environment"),
    "plugins install": (
        "fuelclient.commands.plugins.install:PluginsInstall",
        "Install a plugin, or a newer version of one",
    ),
    "plugins list": ("fuelclient.commands.plugins.list:PluginsList", "List all plugins"),
    "plugins remove": (
        "fuelclient.commands.plugins.remove:PluginsRemove",
        "Remove a plugin with its graphs and releases",
    ),
    "plugins show": ("fuelclient.commands.plugins.show:PluginsShow", "Show one plugin and what it brings"),
    "plugins sync": ("fuelclient.commands.plugins.sync:PluginsSync", "Read the files of installed plugins again"),
    "release create": ("fuelclient.commands.release:ReleaseCreate", "Create one release"),
    "release delete": ("fuelclient.commands.release:ReleaseDelete", "Delete a release with its graphs"),
    "release import": ("fuelclient.commands.release:ReleaseImport", "Create all releases of a file, or none"),
    "release list": ("fuelclient.commands.release:ReleaseList", "List all releases"),
    "release show": ("fuelclient.commands.release:ReleaseShow", "Show one release"),
    "role list": ("fuelclient.commands.role:RoleList", "List the roles of a release or an environment"),
    "role show": ("fuelclient.commands.role:RoleShow", "Show one role of a release or an environment"),
    "sequence create": (
        "fuelclient.commands.sequence:SequenceCreate",
        "Create a sequence of graphs for the environments of a release",
    ),
    "sequence delete": ("fuelclient.commands.sequence:SequenceDelete", "Delete a sequence; its graphs stay"),
    "sequence execute": (
        "fuelclient.commands.sequence:SequenceExecute",
        "Run the graphs of a sequence on an environment",
    ),
    "sequence list": (
        "fuelclient.commands.sequence:SequenceList",
        "List the sequences of a release, or those that an environment can execute",
    ),
    "sequence show": ("fuelclient.commands.sequence:SequenceShow", "Show one sequence with its graph types"),
    "sequence update": (
        "fuelclient.commands.sequence:SequenceUpdate",
        "Give a sequence another name, or other graph types",
    ),
    "task delete": ("fuelclient.commands.task.task:TaskDelete", "Delete an execution with its history and its files"),
    "task history show": (
        "fuelclient.commands.task.history:HistoryShow",
        "Show what became of the tasks of an execution",
    ),
    "task list": ("fuelclient.commands.task.task:TaskList", "List executions and their parts"),
    "task logs": ("fuelclient.commands.task.task:TaskLogs", "Print what a task instance printed"),
    "task resume": ("fuelclient.commands.task.task:TaskResume", "Go on with an execution whose process was killed"),
    "task show": ("fuelclient.commands.task.task:TaskShow", "Show one execution, or one of its parts"),
    "task stop": ("fuelclient.commands.task.task:TaskStop", "Stop an execution"),
    "task watch": ("fuelclient.commands.task.task:TaskWatch", "Follow an execution to its end"),
    "tui": ("fuelclient.commands.tui:Tui", "Browse environments, roles and graph order on the terminal"),
}
"""Command name -> (module and class, one-line help)."""

ALIASES = {"plugin": "plugins"}
"""Other spellings of nouns; they stand nowhere in the overview."""

EXTENSIONS = "fuelclient.extensions"
"""The entry point group in which other packages offer commands. It is looked at only for a command that is not
in the table, and by `fuel2 help --all`: scanning the metadata of all installed packages takes longer than most
commands."""


def verbs(noun: str) -> list[str]:
    """The commands of one noun, in whatever spelling of it.

    >>> verbs("role")
    ['role list', 'role show']
    """
    return sorted(name for name in COMMANDS if name.split()[0] == ALIASES.get(noun, noun))
