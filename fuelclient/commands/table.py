"""The command table: every command with its class and its one-line help.

cliff would import the modules of all commands at every start. With this table, help imports nothing, and a command
imports only its own module. The entry points `fuelclient.cli` in setup.cfg say the same to other programs; a test
keeps both equal, and the one-line helps equal to the first lines of the classes' docstrings.
"""

from __future__ import annotations

_ROWS: dict[str, tuple[str, str]] = {
    "complete": ("complete:Complete", "Print a script that completes command lines in bash, zsh or fish"),
    "config show": ("config:ConfigShow", "Show the settings in effect, and where each comes from"),
    "demo": ("demo:Demo", "Load the packaged examples and print commands to try"),
    "doctor": ("doctor:Doctor", "Examine this installation and what it reaches"),
    "engine backup": ("engine:EngineBackup", "Copy the engine file while it is in use"),
    "engine check": ("engine:EngineCheck", "Check the engine file"),
    "engine compact": ("engine:EngineCompact", "Return unused space to the disk"),
    "engine export": ("engine:EngineExport", "Write everything in the engine file as YAML or JSON"),
    "engine import": ("engine:EngineImport", "Make an engine file from an export"),
    "engine restore": ("engine:EngineRestore", "Put a backup in the place of the engine file"),
    "env add nodes": ("env.environment:EnvAddNodes", "Add nodes with roles to an environment"),
    "env changes": ("env.redeploy:EnvChanges", "Show which tasks would run again now, and which facts made them"),
    "env clone": ("env.clone:EnvClone", "Copy an environment into an engine file"),
    "env create": ("env.environment:EnvCreate", "Create an environment from a release"),
    "env delete": ("env.environment:EnvDelete", "Delete an environment with its graphs"),
    "env deploy": ("env.deploy:EnvDeploy", "Deploy an environment"),
    "env deployment-facts delete": ("env.facts:FactsDelete", "Delete the uploaded deployment facts of an environment"),
    "env deployment-facts download": (
        "env.facts:FactsDownload",
        "Write the uploaded deployment facts of an environment to files",
    ),
    "env deployment-facts get-default": (
        "env.facts:FactsDefault",
        "Write the computed deployment facts of an environment to files",
    ),
    "env deployment-facts upload": ("env.facts:FactsUpload", "Set the deployment facts of an environment from files"),
    "env diff": ("env.clone:EnvDiff", "Compare an environment with its copy in an engine file"),
    "env drift": ("env.redeploy:EnvDrift", "Compare an environment with what its last run saw"),
    "env extension disable": ("resources:ExtensionDisable", "Disable extensions in an environment"),
    "env extension enable": ("resources:ExtensionEnable", "Enable extensions in an environment"),
    "env extension show": ("resources:ExtensionShow", "Show the extensions that are enabled in an environment"),
    "env facts diff": ("env.console:FactsDiff", "Compare the facts that two runs saw"),
    "env facts eval": ("env.console:FactsEval", "Evaluate an expression on the facts of an environment"),
    "env facts show": ("env.console:FactsShow", "Show a fact of an environment, and where it comes from"),
    "env list": ("env.environment:EnvList", "List all environments"),
    "env network download": (
        "configuration:NetworkDownload",
        "Write the network configuration of an environment to a file",
    ),
    "env network upload": (
        "configuration:NetworkUpload",
        "Change the network configuration of an environment from a file",
    ),
    "env network verify": ("configuration:NetworkVerify", "Let the nodes of an environment check its networks"),
    "env nodes deploy": ("env.deploy:EnvNodesDeploy", "Deploy some nodes of an environment"),
    "env nodes provision": ("env.deploy:EnvNodesProvision", "Provision some nodes of an environment"),
    "env provisioning-facts delete": (
        "env.provisioning:ProvisioningDelete",
        "Delete the uploaded provisioning facts of an environment",
    ),
    "env provisioning-facts download": (
        "env.provisioning:ProvisioningDownload",
        "Write the uploaded provisioning facts of an environment to files",
    ),
    "env provisioning-facts get-default": (
        "env.provisioning:ProvisioningDefault",
        "Write the computed provisioning facts of an environment to files",
    ),
    "env provisioning-facts upload": (
        "env.provisioning:ProvisioningUpload",
        "Set the provisioning facts of an environment from files",
    ),
    "env redeploy": ("env.deploy:EnvRedeploy", "Deploy an environment from scratch"),
    "env remove nodes": ("env.environment:EnvRemoveNodes", "Remove nodes from an environment"),
    "env reset": ("env.deploy:EnvReset", "Reset an environment"),
    "env settings download": ("configuration:SettingsDownload", "Write the settings of an environment to a file"),
    "env settings upload": ("configuration:SettingsUpload", "Set the settings of an environment from a file"),
    "env show": ("env.environment:EnvShow", "Show one environment"),
    "env spawn-vms": ("resources:VmsSpawn", "Start the virtual machines of an environment"),
    "env stop-deployment": ("env.deploy:EnvStopDeployment", "Stop the run on an environment"),
    "env update": ("env.environment:EnvUpdate", "Rename an environment, or move it to another version of its release"),
    "extension list": ("resources:ExtensionList", "List the extensions of the master"),
    "explain": ("explain:Explain", "Explain a finding or an exit code"),
    "fuel-version": ("version:FuelVersion", "Show the version of Fuel and of its API"),
    "graph blame": ("graph.blame:GraphBlame", "Show who set each attribute of a task, and what that overrode"),
    "graph delete": ("graph.graph:GraphDelete", "Delete one graph of an owner"),
    "graph diff": ("graph.diff:GraphDiff", "Compare two graphs: tasks, attributes, list elements, and the order"),
    "graph download": ("graph.download:GraphDownload", "Write a graph, or a merge, to a file"),
    "graph execute": ("graph.execute:GraphExecute", "Run graphs on the nodes of an environment"),
    "graph impact": ("graph.impact:GraphImpact", "Show which tasks run after a task, and so wait for it"),
    "graph list": ("graph.graph:GraphList", "List graphs with their tasks and owners"),
    "graph order": ("graph.order:GraphOrder", "Show all tasks in order, each with the reason for its position"),
    "graph preview": ("graph.preview:GraphPreview", "Show what would run where, in order"),
    "graph query": ("graph.query:GraphQuery", "Select tasks by name, neighbourhood or property, in execution order"),
    "graph render": ("graph.render:GraphRender", "Draw a graph as text, as a picture or as a web page"),
    "graph simulate": ("graph.simulate:GraphSimulate", "Show how a run would go, and how long it would take"),
    "graph stats": (
        "graph.stats:GraphStats",
        "Show the figures of a graph: its size, depth and width, who changes it, what most tasks wait for",
    ),
    "graph upload": ("graph.upload:GraphUpload", "Upload a graph to an owner"),
    "graph validate": ("graph.validate:GraphValidate", "Report everything wrong with a graph"),
    "graph why": ("graph.why:GraphWhy", "Show why one task runs before another, or that they have no order"),
    "health list": ("resources:HealthList", "List the sets of health checks for an environment"),
    "health restart": ("resources:HealthRestart", "Repeat a run of health checks"),
    "health start": ("resources:HealthStart", "Run sets of health checks for an environment"),
    "health status list": ("resources:HealthStatusList", "List all runs of health checks"),
    "health status show": ("resources:HealthStatusShow", "Show the results of a run of health checks"),
    "health stop": ("resources:HealthStop", "Stop a run of health checks"),
    "help": ("help:Help", "Show this overview, or the help of a command"),
    "network-group create": ("networks:GroupCreate", "Create a network group"),
    "network-group delete": ("networks:GroupDelete", "Delete a network group"),
    "network-group list": ("networks:GroupList", "List all network groups"),
    "network-group show": ("networks:GroupShow", "Show one network group"),
    "network-group update": ("networks:GroupUpdate", "Change a network group"),
    "network-template delete": ("networks:TemplateDelete", "Delete the network template of an environment"),
    "network-template download": (
        "networks:TemplateDownload",
        "Write the network template of an environment to a file",
    ),
    "network-template upload": (
        "networks:TemplateUpload",
        "Set the network template of an environment from a file",
    ),
    "node ansible-inventory": (
        "node.node:AnsibleInventory",
        "Print the nodes of an environment as an inventory for Ansible",
    ),
    "node attributes-download": ("configuration:AttributesDownload", "Write the attributes of a node to a file"),
    "node attributes-upload": ("configuration:AttributesUpload", "Set the attributes of a node from a file"),
    "node check": ("node.check:NodeCheck", "Examine whether nodes are ready for tasks"),
    "node create": ("node.node:NodeCreate", "Create one node"),
    "node create-vms-conf": ("resources:VmsCreate", "Configure the virtual machines on a node"),
    "node delete": ("node.node:NodeDelete", "Delete nodes"),
    "node disks download": ("configuration:DisksDownload", "Write the disks of a node, with their volumes, to a file"),
    "node disks get-default": (
        "configuration:DisksDefault",
        "Write the disks of a node, divided as its roles need it, to a file",
    ),
    "node disks upload": ("configuration:DisksUpload", "Set the disks of a node, with their volumes, from a file"),
    "node import": ("node.node:NodeImport", "Create all nodes of a file, or none"),
    "node interfaces download": (
        "configuration:InterfacesDownload",
        "Write the interfaces of a node, with their networks, to a file",
    ),
    "node interfaces get-default": (
        "configuration:InterfacesDefault",
        "Write the interfaces of a node, with the networks they have at first, to a file",
    ),
    "node interfaces upload": (
        "configuration:InterfacesUpload",
        "Set the interfaces of a node, with their networks, from a file",
    ),
    "node label delete": ("node.labels:LabelDelete", "Delete labels of nodes"),
    "node label list": ("node.labels:LabelList", "List the labels of nodes"),
    "node label set": ("node.labels:LabelSet", "Set labels of nodes"),
    "node list": ("node.node:NodeList", "List nodes"),
    "node list-vms-conf": ("resources:VmsList", "Show the virtual machines that are configured on a node"),
    "node show": ("node.node:NodeShow", "Show one node"),
    "node undiscover": ("node.node:NodeUndiscover", "Forget a node, or all nodes of an environment"),
    "node update": ("node.node:NodeUpdate", "Change the name or the hostname of a node"),
    "openstack-config delete": ("resources:ConfigDelete", "Delete an OpenStack configuration"),
    "openstack-config download": ("resources:ConfigDownload", "Write an OpenStack configuration to a file"),
    "openstack-config execute": (
        "resources:ConfigExecute",
        "Deploy the OpenStack configurations of an environment",
    ),
    "openstack-config list": ("resources:ConfigList", "List the OpenStack configurations of an environment"),
    "openstack-config upload": ("resources:ConfigUpload", "Store an OpenStack configuration from a file"),
    "plan apply": ("plan:PlanApply", "Execute a saved plan, unless it is stale"),
    "plan create": ("plan:PlanCreate", "Save what a run would do"),
    "plan show": ("plan:PlanShow", "Show a saved plan"),
    "plugins build": ("plugins.build:PluginsBuild", "Build the package of a plugin"),
    "plugins check": ("plugins.check:PluginsCheck", "Report everything wrong with plugin packages"),
    "plugins create": ("plugins.create:PluginsCreate", "Write a plugin to start from"),
    "plugins diff": ("plugins.diff:PluginsDiff", "Compare two versions of a plugin"),
    "plugins disable": ("plugins.enable:PluginsDisable", "Disable plugins on an environment"),
    "plugins enable": ("plugins.enable:PluginsEnable", "Enable plugins on an environment"),
    "plugins install": ("plugins.install:PluginsInstall", "Install a plugin, or a newer version of one"),
    "plugins list": ("plugins.plugins:PluginsList", "List all plugins"),
    "plugins matrix": (
        "plugins.matrix:PluginsMatrix",
        "Show which plugin packages can be enabled together on which releases",
    ),
    "plugins migrate": ("plugins.migrate:PluginsMigrate", "Bring a plugin of package version 3 or 4 to version 5"),
    "plugins remove": ("plugins.install:PluginsRemove", "Remove a plugin with its graphs and releases"),
    "plugins show": ("plugins.plugins:PluginsShow", "Show one plugin and what it brings"),
    "plugins sync": ("plugins.install:PluginsSync", "Read the files of installed plugins again"),
    "plugins watch": ("plugins.watch:PluginsWatch", "Check a plugin each time one of its files is saved"),
    "release component list": ("release:ComponentList", "List the components of a release"),
    "release create": ("release:ReleaseCreate", "Create one release"),
    "release delete": ("release:ReleaseDelete", "Delete a release with its graphs"),
    "release import": ("release:ReleaseImport", "Create all releases of a file, or none"),
    "release list": ("release:ReleaseList", "List all releases"),
    "release repos list": ("release:ReposList", "List the package repositories of a release"),
    "release repos update": ("release:ReposUpdate", "Set the package repositories of a release from a file"),
    "release show": ("release:ReleaseShow", "Show one release"),
    "role create": ("roles_and_tags:RoleCreate", "Create a role of a release or an environment from a file"),
    "role delete": ("roles_and_tags:RoleDelete", "Delete a role of a release or an environment"),
    "role download": ("roles_and_tags:RoleDownload", "Write the description of a role to a file"),
    "role list": ("roles_and_tags:RoleList", "List the roles of a release or an environment"),
    "role show": ("roles_and_tags:RoleShow", "Show one role of a release or an environment"),
    "role update": ("roles_and_tags:RoleUpdate", "Update a role of a release or an environment from a file"),
    "sequence create": ("sequence:SequenceCreate", "Create a sequence of graphs for the environments of a release"),
    "sequence delete": ("sequence:SequenceDelete", "Delete a sequence; its graphs stay"),
    "sequence download": ("sequence:SequenceDownload", "Print a sequence as a document, or write it to a file"),
    "sequence execute": ("sequence:SequenceExecute", "Run the graphs of a sequence on an environment"),
    "sequence list": (
        "sequence:SequenceList",
        "List the sequences of a release, or those that an environment can execute",
    ),
    "sequence show": ("sequence:SequenceShow", "Show one sequence with its graph types"),
    "sequence update": ("sequence:SequenceUpdate", "Change the name or the graph types of a sequence"),
    "sequence upload": ("sequence:SequenceUpload", "Create a sequence from a file"),
    "server run": ("server:ServerRun", "Serve the engine over HTTP with the API of a Fuel master"),
    "snapshot create": ("resources:SnapshotCreate", "Collect a diagnostic snapshot"),
    "snapshot get-default-config": (
        "resources:SnapshotConfig",
        "Write the default configuration of a snapshot to a file",
    ),
    "snapshot get-link": (
        "resources:SnapshotLink",
        "Show whether a snapshot is ready, and the URL from which to download it",
    ),
    "tag create": ("roles_and_tags:TagCreate", "Create a tag of a release or an environment from a file"),
    "tag delete": ("roles_and_tags:TagDelete", "Delete a tag of a release or an environment"),
    "tag download": ("roles_and_tags:TagDownload", "Write the description of a tag to a file"),
    "tag list": ("roles_and_tags:TagList", "List the tags of a release or an environment"),
    "tag update": ("roles_and_tags:TagUpdate", "Update a tag of a release or an environment from a file"),
    "task delete": ("task.task:TaskDelete", "Delete runs with their history and their files"),
    "task deployment-info download": (
        "task.downloads:DeploymentInfoDownload",
        "Write the facts that a run saw to a file",
    ),
    "task gantt": (
        "task.gantt:TaskGantt",
        "Show when a run did what: bars for each node, what they waited for, and the critical path",
    ),
    "task history show": ("task.history:HistoryShow", "Show what happened to the tasks of a run"),
    "task list": ("task.task:TaskList", "List runs and their parts"),
    "task logs": ("task.logs:TaskLogs", "Print what the task instances of a run printed"),
    "task network-configuration download": (
        "task.downloads:NetworkConfigurationDownload",
        "Write the networks that a run began with to a file",
    ),
    "task resume": ("task.task:TaskResume", "Resume a run whose runner was killed"),
    "task settings download": ("task.downloads:SettingsDownload", "Write the settings that a run began with to a file"),
    "task show": ("task.task:TaskShow", "Show one run, or one of its parts"),
    "task stop": ("task.task:TaskStop", "Stop a run"),
    "task watch": ("task.task:TaskWatch", "Follow a run to its end"),
    "tui": ("tui:Tui", "Browse environments, roles and graph order on the terminal"),
    "vip create": ("networks:VipCreate", "Create a virtual address in an environment"),
    "vip download": ("networks:VipDownload", "Write the virtual addresses of an environment to a file"),
    "vip upload": ("networks:VipUpload", "Change virtual addresses of an environment from a file"),
}
"""Command name -> (module of this package and class, one-line help)."""

COMMANDS = {name: (f"fuelclient.commands.{target}", text) for name, (target, text) in _ROWS.items()}
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
