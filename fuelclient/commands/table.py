"""The command table: every command with its class and its one-line help.

cliff would import the modules of all commands at every start. With this table, help imports nothing, and a command
imports only its own module. The entry points `fuelclient.cli` in setup.cfg say the same to other programs; a test
keeps both equal, and the one-line helps equal to the first lines of the classes' docstrings.
"""

from __future__ import annotations

COMMANDS: dict[str, tuple[str, str]] = {
    "complete": ("fuelclient.commands.complete:Complete", "Print a bash script that completes command lines"),
    "config show": (
        "fuelclient.commands.config:ConfigShow",
        "Show the settings in effect, and where each comes from",
    ),
    "demo": ("fuelclient.commands.demo:Demo", "Load the packaged examples and print commands to try"),
    "env add nodes": ("fuelclient.commands.env.environment:EnvAddNodes", "Add nodes with roles to an environment"),
    "env create": ("fuelclient.commands.env.environment:EnvCreate", "Create an environment from a release"),
    "env delete": ("fuelclient.commands.env.environment:EnvDelete", "Delete an environment with its graphs"),
    "env deploy": ("fuelclient.commands.env.deploy:EnvDeploy", "Deploy an environment"),
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
        "Write the computed deployment facts of an environment to files",
    ),
    "env deployment-facts upload": (
        "fuelclient.commands.env.facts:FactsUpload",
        "Set the deployment facts of an environment from files",
    ),
    "env extension disable": (
        "fuelclient.commands.unsupported:Extensions",
        "Not supported: Nailgun extensions, which manage disks and networks",
    ),
    "env extension enable": (
        "fuelclient.commands.unsupported:Extensions",
        "Not supported: Nailgun extensions, which manage disks and networks",
    ),
    "env extension show": (
        "fuelclient.commands.unsupported:Extensions",
        "Not supported: Nailgun extensions, which manage disks and networks",
    ),
    "env list": ("fuelclient.commands.env.environment:EnvList", "List all environments"),
    "env nodes deploy": ("fuelclient.commands.env.deploy:EnvNodesDeploy", "Deploy some nodes of an environment"),
    "env nodes provision": (
        "fuelclient.commands.env.deploy:EnvNodesProvision",
        "Provision some nodes of an environment",
    ),
    "env provisioning-facts delete": (
        "fuelclient.commands.unsupported:ProvisioningFacts",
        "Not supported: provisioning facts for Cobbler; graphs provision nodes here",
    ),
    "env provisioning-facts download": (
        "fuelclient.commands.unsupported:ProvisioningFacts",
        "Not supported: provisioning facts for Cobbler; graphs provision nodes here",
    ),
    "env provisioning-facts get-default": (
        "fuelclient.commands.unsupported:ProvisioningFacts",
        "Not supported: provisioning facts for Cobbler; graphs provision nodes here",
    ),
    "env provisioning-facts upload": (
        "fuelclient.commands.unsupported:ProvisioningFacts",
        "Not supported: provisioning facts for Cobbler; graphs provision nodes here",
    ),
    "env redeploy": ("fuelclient.commands.env.deploy:EnvRedeploy", "Deploy an environment from scratch"),
    "env remove nodes": ("fuelclient.commands.env.environment:EnvRemoveNodes", "Remove nodes from an environment"),
    "env reset": ("fuelclient.commands.env.deploy:EnvReset", "Reset an environment"),
    "env settings download": (
        "fuelclient.commands.env.settings:SettingsDownload",
        "Write the settings of an environment to a file",
    ),
    "env settings upload": (
        "fuelclient.commands.env.settings:SettingsUpload",
        "Set the settings of an environment from a file",
    ),
    "env show": ("fuelclient.commands.env.environment:EnvShow", "Show one environment"),
    "env spawn-vms": (
        "fuelclient.commands.unsupported:Vms",
        "Not supported: virtual machines on nodes of the role virt",
    ),
    "env stop-deployment": ("fuelclient.commands.env.deploy:EnvStopDeployment", "Stop the run on an environment"),
    "env update": ("fuelclient.commands.env.environment:EnvUpdate", "Rename an environment"),
    "extension list": (
        "fuelclient.commands.unsupported:Extensions",
        "Not supported: Nailgun extensions, which manage disks and networks",
    ),
    "fuel-version": ("fuelclient.commands.version:FuelVersion", "Show the version of Fuel and of its API"),
    "graph delete": ("fuelclient.commands.graph.graph:GraphDelete", "Delete one graph of an owner"),
    "graph download": ("fuelclient.commands.graph.download:GraphDownload", "Write a graph, or a merge, to a file"),
    "graph execute": ("fuelclient.commands.graph.execute:GraphExecute", "Run graphs on the nodes of an environment"),
    "graph list": ("fuelclient.commands.graph.graph:GraphList", "List graphs with their tasks and owners"),
    "graph preview": ("fuelclient.commands.graph.preview:GraphPreview", "Show what would run where, in order"),
    "graph simulate": (
        "fuelclient.commands.graph.simulate:GraphSimulate",
        "Show how a run would go, and how long it would take",
    ),
    "graph upload": ("fuelclient.commands.graph.upload:GraphUpload", "Upload a graph to an owner"),
    "graph validate": ("fuelclient.commands.graph.validate:GraphValidate", "Report everything wrong with a graph"),
    "help": ("fuelclient.commands.help:Help", "Show this overview, or the help of a command"),
    "node ansible-inventory": (
        "fuelclient.commands.node.attributes:AnsibleInventory",
        "Print the nodes of an environment as an inventory for Ansible",
    ),
    "node attributes-download": (
        "fuelclient.commands.node.attributes:AttributesDownload",
        "Write the attributes of a node to a file",
    ),
    "node attributes-upload": (
        "fuelclient.commands.node.attributes:AttributesUpload",
        "Set the attributes of a node from a file",
    ),
    "node create": ("fuelclient.commands.node.node:NodeCreate", "Create one node"),
    "node create-vms-conf": (
        "fuelclient.commands.unsupported:Vms",
        "Not supported: virtual machines on nodes of the role virt",
    ),
    "node delete": ("fuelclient.commands.node.node:NodeDelete", "Delete nodes"),
    "node import": ("fuelclient.commands.node.node:NodeImport", "Create all nodes of a file, or none"),
    "node label delete": ("fuelclient.commands.node.labels:LabelDelete", "Delete labels of nodes"),
    "node label list": ("fuelclient.commands.node.labels:LabelList", "List the labels of nodes"),
    "node label set": ("fuelclient.commands.node.labels:LabelSet", "Set labels of nodes"),
    "node list": ("fuelclient.commands.node.node:NodeList", "List nodes"),
    "node list-vms-conf": (
        "fuelclient.commands.unsupported:Vms",
        "Not supported: virtual machines on nodes of the role virt",
    ),
    "node show": ("fuelclient.commands.node.node:NodeShow", "Show one node"),
    "node undiscover": (
        "fuelclient.commands.node.node:NodeUndiscover",
        "Forget a node, or all nodes of an environment",
    ),
    "node update": ("fuelclient.commands.node.node:NodeUpdate", "Change the name or the hostname of a node"),
    "plugins build": ("fuelclient.commands.plugins.build:PluginsBuild", "Build the package of a plugin"),
    "plugins check": ("fuelclient.commands.plugins.check:PluginsCheck", "Report everything wrong with plugin packages"),
    "plugins create": ("fuelclient.commands.plugins.create:PluginsCreate", "Write a plugin to start from"),
    "plugins disable": ("fuelclient.commands.plugins.enable:PluginsDisable", "Disable plugins on an environment"),
    "plugins enable": ("fuelclient.commands.plugins.enable:PluginsEnable", "Enable plugins on an environment"),
    "plugins install": (
        "fuelclient.commands.plugins.install:PluginsInstall",
        "Install a plugin, or a newer version of one",
    ),
    "plugins list": ("fuelclient.commands.plugins.plugins:PluginsList", "List all plugins"),
    "plugins remove": (
        "fuelclient.commands.plugins.install:PluginsRemove",
        "Remove a plugin with its graphs and releases",
    ),
    "plugins show": ("fuelclient.commands.plugins.plugins:PluginsShow", "Show one plugin and what it brings"),
    "plugins sync": ("fuelclient.commands.plugins.install:PluginsSync", "Read the files of installed plugins again"),
    "release component list": ("fuelclient.commands.release:ComponentList", "List the components of a release"),
    "release create": ("fuelclient.commands.release:ReleaseCreate", "Create one release"),
    "release delete": ("fuelclient.commands.release:ReleaseDelete", "Delete a release with its graphs"),
    "release import": ("fuelclient.commands.release:ReleaseImport", "Create all releases of a file, or none"),
    "release list": ("fuelclient.commands.release:ReleaseList", "List all releases"),
    "release repos list": ("fuelclient.commands.release:ReposList", "List the package repositories of a release"),
    "release repos update": (
        "fuelclient.commands.release:ReposUpdate",
        "Set the package repositories of a release from a file",
    ),
    "release show": ("fuelclient.commands.release:ReleaseShow", "Show one release"),
    "role create": (
        "fuelclient.commands.roles_and_tags:RoleCreate",
        "Create a role of a release or an environment from a file",
    ),
    "role delete": ("fuelclient.commands.roles_and_tags:RoleDelete", "Delete a role of a release or an environment"),
    "role download": ("fuelclient.commands.roles_and_tags:RoleDownload", "Write the description of a role to a file"),
    "role list": ("fuelclient.commands.roles_and_tags:RoleList", "List the roles of a release or an environment"),
    "role show": ("fuelclient.commands.roles_and_tags:RoleShow", "Show one role of a release or an environment"),
    "role update": (
        "fuelclient.commands.roles_and_tags:RoleUpdate",
        "Update a role of a release or an environment from a file",
    ),
    "sequence create": (
        "fuelclient.commands.sequence:SequenceCreate",
        "Create a sequence of graphs for the environments of a release",
    ),
    "sequence delete": ("fuelclient.commands.sequence:SequenceDelete", "Delete a sequence; its graphs stay"),
    "sequence download": (
        "fuelclient.commands.sequence:SequenceDownload",
        "Print a sequence as a document, or write it to a file",
    ),
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
        "Change the name or the graph types of a sequence",
    ),
    "sequence upload": ("fuelclient.commands.sequence:SequenceUpload", "Create a sequence from a file"),
    "server run": (
        "fuelclient.commands.server:ServerRun",
        "Serve the engine over HTTP with the API of a Fuel master",
    ),
    "tag create": (
        "fuelclient.commands.roles_and_tags:TagCreate",
        "Create a tag of a release or an environment from a file",
    ),
    "tag delete": ("fuelclient.commands.roles_and_tags:TagDelete", "Delete a tag of a release or an environment"),
    "tag download": ("fuelclient.commands.roles_and_tags:TagDownload", "Write the description of a tag to a file"),
    "tag list": ("fuelclient.commands.roles_and_tags:TagList", "List the tags of a release or an environment"),
    "tag update": (
        "fuelclient.commands.roles_and_tags:TagUpdate",
        "Update a tag of a release or an environment from a file",
    ),
    "task delete": ("fuelclient.commands.task.task:TaskDelete", "Delete a run with its history and its files"),
    "task deployment-info download": (
        "fuelclient.commands.task.downloads:DeploymentInfoDownload",
        "Write the facts that a run saw to a file",
    ),
    "task history show": (
        "fuelclient.commands.task.history:HistoryShow",
        "Show what happened to the tasks of a run",
    ),
    "task list": ("fuelclient.commands.task.task:TaskList", "List runs and their parts"),
    "task logs": ("fuelclient.commands.task.task:TaskLogs", "Print what a task instance printed"),
    "task network-configuration download": (
        "fuelclient.commands.task.downloads:NetworkConfigurationDownload",
        "Write the networks that a run began with to a file",
    ),
    "task resume": ("fuelclient.commands.task.task:TaskResume", "Resume a run whose runner was killed"),
    "task settings download": (
        "fuelclient.commands.task.downloads:SettingsDownload",
        "Write the settings that a run began with to a file",
    ),
    "task show": ("fuelclient.commands.task.task:TaskShow", "Show one run, or one of its parts"),
    "task stop": ("fuelclient.commands.task.task:TaskStop", "Stop a run"),
    "task watch": ("fuelclient.commands.task.task:TaskWatch", "Follow a run to its end"),
    "tui": ("fuelclient.commands.tui:Tui", "Browse environments, roles and graph order on the terminal"),
}
"""Command name -> (module and class, one-line help)."""

ALIASES = {"plugin": "plugins"}
"""Other spellings of nouns, which the overview does not show."""

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
    return sorted(name for name in COMMANDS if name.split()[0] == ALIASES.get(noun, noun))
