"""The command table: every command with its class and its one-line help.

cliff would import the modules of all commands at every start. With this table, help imports nothing, and a command
imports only its own module. The entry points `fuelclient.cli` in setup.cfg say the same to other programs; a test
keeps both equal, and the one-line helps equal to the first lines of the classes' docstrings.
"""

from __future__ import annotations

_ROWS = {
    "complete": ("complete", "Print a script that completes command lines in bash, zsh or fish"),
    "config show": ("installation", "Show the settings in effect, and where each comes from"),
    "demo": ("demo", "Load the packaged examples and print commands to try"),
    "doctor": ("installation", "Examine this installation and what it reaches"),
    "engine backup": ("engine", "Copy the engine file while it is in use"),
    "engine check": ("engine", "Check the engine file"),
    "engine compact": ("engine", "Return unused space to the disk"),
    "engine export": ("engine", "Write everything in the engine file as YAML or JSON"),
    "engine import": ("engine", "Make an engine file from an export"),
    "engine restore": ("engine", "Put a backup in the place of the engine file"),
    "env add nodes": ("env.environment", "Add nodes with roles to an environment"),
    "env changes": ("env.redeploy", "Show which tasks would run again now, and which facts made them"),
    "env clone": ("env.clone", "Copy an environment into an engine file"),
    "env create": ("env.environment", "Create an environment from a release"),
    "env delete": ("env.environment", "Delete an environment with its graphs"),
    "env deploy": ("env.deploy", "Deploy an environment"),
    "env deployment-facts delete": ("env.facts", "Delete the uploaded deployment facts of an environment"),
    "env deployment-facts download": ("env.facts", "Write the uploaded deployment facts of an environment to files"),
    "env deployment-facts get-default": ("env.facts", "Write the computed deployment facts of an environment to files"),
    "env deployment-facts upload": ("env.facts", "Set the deployment facts of an environment from files"),
    "env diff": ("env.clone", "Compare an environment with its copy in an engine file"),
    "env drift": ("env.redeploy", "Compare an environment with what its last run saw"),
    "env extension disable": ("resources", "Disable extensions in an environment"),
    "env extension enable": ("resources", "Enable extensions in an environment"),
    "env extension show": ("resources", "Show the extensions that are enabled in an environment"),
    "env facts diff": ("env.console", "Compare the facts that two runs saw"),
    "env facts eval": ("env.console", "Evaluate an expression on the facts of an environment"),
    "env facts show": ("env.console", "Show a fact of an environment, and where it comes from"),
    "env list": ("env.environment", "List all environments"),
    "env network download": ("configuration", "Write the network configuration of an environment to a file"),
    "env network upload": ("configuration", "Change the network configuration of an environment from a file"),
    "env network verify": ("configuration", "Let the nodes of an environment check its networks"),
    "env nodes deploy": ("env.deploy", "Deploy some nodes of an environment"),
    "env nodes provision": ("env.deploy", "Provision some nodes of an environment"),
    "env provisioning-facts delete": ("env.facts", "Delete the uploaded provisioning facts of an environment"),
    "env provisioning-facts download": (
        "env.facts",
        "Write the uploaded provisioning facts of an environment to files",
    ),
    "env provisioning-facts get-default": (
        "env.facts",
        "Write the computed provisioning facts of an environment to files",
    ),
    "env provisioning-facts upload": ("env.facts", "Set the provisioning facts of an environment from files"),
    "env redeploy": ("env.deploy", "Deploy an environment from scratch"),
    "env remove nodes": ("env.environment", "Remove nodes from an environment"),
    "env reset": ("env.deploy", "Reset an environment"),
    "env settings download": ("configuration", "Write the settings of an environment to a file"),
    "env settings upload": ("configuration", "Set the settings of an environment from a file"),
    "env show": ("env.environment", "Show one environment"),
    "env spawn-vms": ("resources", "Start the virtual machines of an environment"),
    "env stop-deployment": ("env.deploy", "Stop the run on an environment"),
    "env update": ("env.environment", "Rename an environment, or move it to another version of its release"),
    "extension list": ("resources", "List the extensions of the master"),
    "explain": ("explain", "Explain a finding or an exit code"),
    "fuel-version": ("installation", "Show the version of Fuel and of its API"),
    "graph blame": ("graph.blame", "Show who set each attribute of a task, and what that overrode"),
    "graph delete": ("graph.graph", "Delete one graph of an owner"),
    "graph diff": ("graph.diff", "Compare two graphs: tasks, attributes, list elements, and the order"),
    "graph download": ("graph.graph", "Write a graph, or a merge, to a file"),
    "graph execute": ("graph.execute", "Run graphs on the nodes of an environment"),
    "graph impact": ("graph.ordering", "Show which tasks run after a task, and so wait for it"),
    "graph list": ("graph.graph", "List graphs with their tasks and owners"),
    "graph order": ("graph.ordering", "Show all tasks in order, each with the reason for its position"),
    "graph preview": ("graph.preview", "Show what would run where, in order"),
    "graph query": ("graph.query", "Select tasks by name, neighbourhood or property, in execution order"),
    "graph render": ("graph.render", "Draw a graph as text, as a picture or as a web page"),
    "graph simulate": ("graph.simulate", "Show how a run would go, and how long it would take"),
    "graph stats": (
        "graph.stats",
        "Show the figures of a graph: its size, depth and width, who changes it, what most tasks wait for",
    ),
    "graph upload": ("graph.graph", "Upload a graph to an owner"),
    "graph validate": ("graph.validate", "Report everything wrong with a graph"),
    "graph why": ("graph.ordering", "Show why one task runs before another, or that they have no order"),
    "health list": ("resources", "List the sets of health checks for an environment"),
    "health restart": ("resources", "Repeat a run of health checks"),
    "health start": ("resources", "Run sets of health checks for an environment"),
    "health status list": ("resources", "List all runs of health checks"),
    "health status show": ("resources", "Show the results of a run of health checks"),
    "health stop": ("resources", "Stop a run of health checks"),
    "help": ("help", "Show this overview, or the help of a command"),
    "network-group create": ("networks", "Create a network group"),
    "network-group delete": ("networks", "Delete a network group"),
    "network-group list": ("networks", "List all network groups"),
    "network-group show": ("networks", "Show one network group"),
    "network-group update": ("networks", "Change a network group"),
    "network-template delete": ("networks", "Delete the network template of an environment"),
    "network-template download": ("networks", "Write the network template of an environment to a file"),
    "network-template upload": ("networks", "Set the network template of an environment from a file"),
    "node ansible-inventory": ("node.node", "Print the nodes of an environment as an inventory for Ansible"),
    "node attributes-download": ("configuration", "Write the attributes of a node to a file"),
    "node attributes-upload": ("configuration", "Set the attributes of a node from a file"),
    "node check": ("node.check", "Examine whether nodes are ready for tasks"),
    "node create": ("node.node", "Create one node"),
    "node create-vms-conf": ("resources", "Configure the virtual machines on a node"),
    "node delete": ("node.node", "Delete nodes"),
    "node disks download": ("configuration", "Write the disks of a node, with their volumes, to a file"),
    "node disks get-default": ("configuration", "Write the disks of a node, divided as its roles need it, to a file"),
    "node disks upload": ("configuration", "Set the disks of a node, with their volumes, from a file"),
    "node import": ("node.node", "Create all nodes of a file, or none"),
    "node interfaces download": ("configuration", "Write the interfaces of a node, with their networks, to a file"),
    "node interfaces get-default": (
        "configuration",
        "Write the interfaces of a node, with the networks they have at first, to a file",
    ),
    "node interfaces upload": ("configuration", "Set the interfaces of a node, with their networks, from a file"),
    "node label delete": ("node.node", "Delete labels of nodes"),
    "node label list": ("node.node", "List the labels of nodes"),
    "node label set": ("node.node", "Set labels of nodes"),
    "node list": ("node.node", "List nodes"),
    "node list-vms-conf": ("resources", "Show the virtual machines that are configured on a node"),
    "node show": ("node.node", "Show one node"),
    "node undiscover": ("node.node", "Forget a node, or all nodes of an environment"),
    "node update": ("node.node", "Change the name or the hostname of a node"),
    "openstack-config delete": ("resources", "Delete an OpenStack configuration"),
    "openstack-config download": ("resources", "Write an OpenStack configuration to a file"),
    "openstack-config execute": ("resources", "Deploy the OpenStack configurations of an environment"),
    "openstack-config list": ("resources", "List the OpenStack configurations of an environment"),
    "openstack-config upload": ("resources", "Store an OpenStack configuration from a file"),
    "plan apply": ("plan", "Execute a saved plan, unless it is stale"),
    "plan create": ("plan", "Save what a run would do"),
    "plan show": ("plan", "Show a saved plan"),
    "plugins build": ("plugins.author", "Build the package of a plugin"),
    "plugins check": ("plugins.check", "Report everything wrong with plugin packages"),
    "plugins create": ("plugins.author", "Write a plugin to start from"),
    "plugins diff": ("plugins.diff", "Compare two versions of a plugin"),
    "plugins disable": ("plugins.install", "Disable plugins on an environment"),
    "plugins enable": ("plugins.install", "Enable plugins on an environment"),
    "plugins install": ("plugins.install", "Install a plugin, or a newer version of one"),
    "plugins list": ("plugins.plugins", "List all plugins"),
    "plugins matrix": ("plugins.matrix", "Show which plugin packages can be enabled together on which releases"),
    "plugins migrate": ("plugins.author", "Bring a plugin of package version 3 or 4 to version 5"),
    "plugins remove": ("plugins.install", "Remove a plugin with its graphs and releases"),
    "plugins show": ("plugins.plugins", "Show one plugin and what it brings"),
    "plugins sync": ("plugins.install", "Read the files of installed plugins again"),
    "plugins watch": ("plugins.watch", "Check a plugin each time one of its files is saved"),
    "release component list": ("release", "List the components of a release"),
    "release create": ("release", "Create one release"),
    "release delete": ("release", "Delete a release with its graphs"),
    "release import": ("release", "Create all releases of a file, or none"),
    "release list": ("release", "List all releases"),
    "release repos list": ("release", "List the package repositories of a release"),
    "release repos update": ("release", "Set the package repositories of a release from a file"),
    "release show": ("release", "Show one release"),
    "role create": ("roles_and_tags", "Create a role of a release or an environment from a file"),
    "role delete": ("roles_and_tags", "Delete a role of a release or an environment"),
    "role download": ("roles_and_tags", "Write the description of a role to a file"),
    "role list": ("roles_and_tags", "List the roles of a release or an environment"),
    "role show": ("roles_and_tags", "Show one role of a release or an environment"),
    "role update": ("roles_and_tags", "Update a role of a release or an environment from a file"),
    "sequence create": ("sequence", "Create a sequence of graphs for the environments of a release"),
    "sequence delete": ("sequence", "Delete a sequence; its graphs stay"),
    "sequence download": ("sequence", "Print a sequence as a document, or write it to a file"),
    "sequence execute": ("sequence", "Run the graphs of a sequence on an environment"),
    "sequence list": ("sequence", "List the sequences of a release, or those that an environment can execute"),
    "sequence show": ("sequence", "Show one sequence with its graph types"),
    "sequence update": ("sequence", "Change the name or the graph types of a sequence"),
    "sequence upload": ("sequence", "Create a sequence from a file"),
    "server run": ("server", "Serve the engine over HTTP with the API of a Fuel master"),
    "snapshot create": ("resources", "Collect a diagnostic snapshot"),
    "snapshot get-default-config": ("resources", "Write the default configuration of a snapshot to a file"),
    "snapshot get-link": ("resources", "Show whether a snapshot is ready, and the URL from which to download it"),
    "tag create": ("roles_and_tags", "Create a tag of a release or an environment from a file"),
    "tag delete": ("roles_and_tags", "Delete a tag of a release or an environment"),
    "tag download": ("roles_and_tags", "Write the description of a tag to a file"),
    "tag list": ("roles_and_tags", "List the tags of a release or an environment"),
    "tag update": ("roles_and_tags", "Update a tag of a release or an environment from a file"),
    "task delete": ("task.task", "Delete runs with their history and their files"),
    "task deployment-info download": ("task.downloads", "Write the facts that a run saw to a file"),
    "task gantt": (
        "task.gantt",
        "Show when a run did what: bars for each node, what they waited for, and the critical path",
    ),
    "task history show": ("task.history", "Show what happened to the tasks of a run"),
    "task list": ("task.task", "List runs and their parts"),
    "task logs": ("task.logs", "Print what the task instances of a run printed"),
    "task network-configuration download": ("task.downloads", "Write the networks that a run began with to a file"),
    "task resume": ("task.task", "Resume a run whose runner was killed"),
    "task settings download": ("task.downloads", "Write the settings that a run began with to a file"),
    "task show": ("task.task", "Show one run, or one of its parts"),
    "task stop": ("task.task", "Stop a run"),
    "task watch": ("task.task", "Follow a run to its end"),
    "tui": ("tui", "Browse environments, roles and graph order on the terminal"),
    "vip create": ("networks", "Create a virtual address in an environment"),
    "vip download": ("networks", "Write the virtual addresses of an environment to a file"),
    "vip upload": ("networks", "Change virtual addresses of an environment from a file"),
}
"""Command name -> (module of this package, one-line help)."""


def _class_of(name: str) -> str:
    """Return the class of a command, which has its name.

    >>> _class_of("env spawn-vms")
    'EnvSpawnVms'
    """
    return "".join(word.capitalize() for word in name.replace("-", " ").split())


COMMANDS = {name: (f"fuelclient.commands.{module}:{_class_of(name)}", text) for name, (module, text) in _ROWS.items()}
"""Command name -> (module and class, one-line help)."""

ALIASES = {"plugin": "plugins", "environment": "env"}
"""Other spellings of nouns, which the overview does not show."""

PLURALS = {
    "envs": "env", "environments": "env", "graphs": "graph", "nodes": "node", "releases": "release", "roles": "role",
    "sequences": "sequence", "tags": "tag", "tasks": "task",
}  # fmt: skip
"""Plurals of nouns. Alone, they list what they name."""

EXTENSIONS = "fuelclient.extensions"
"""The entry point group in which other packages offer commands.

It is read only for a command that is not in the table, and by `fuel2 help --all`: scanning the metadata of all
installed packages takes longer than most commands.
"""


def verbs(noun: str) -> list[str]:
    """Return the commands of a noun or of its alias.

    >>> verbs("server")
    ['server run']
    """
    noun = {**ALIASES, **PLURALS}.get(noun, noun)
    return sorted(name for name in COMMANDS if name.split()[0] == noun)
