"""JSON schemas of bodies. Requests are checked against them, and the OpenAPI document shows them.

Source: Nailgun's schemas of tasks, graphs, executions and sequences. Two things differ. A task may lack its type,
because such a task overrides a task in a lower layer; and the dots in the pattern of versions are escaped.
"""

from __future__ import annotations

from typing import Any

from fuelclient.model.node import DELETED, NodeStatus
from fuelclient.model.task import TaskType

Schema = dict[str, Any]

LARGEST = 2**63 - 1
"""The largest number that can be stored."""

LARGEST_CHOSEN = 2**31 - 1
"""The largest id that a client may choose, as in Nailgun. It is smaller than `LARGEST`, because new ids are counted up
from the largest one."""

STRING: Schema = {"type": "string"}
LIST: Schema = {"type": "array"}
GRAPH_TYPE = "[A-Za-z0-9_-]+"
TEXT: Schema = {"type": "string", "maxLength": 100_000, "pattern": "^[^\\x00\\ud800-\\udfff]*$"}
NAME: Schema = {"type": "string", "minLength": 1, "maxLength": 1000, "pattern": "^[^\\x00\\ud800-\\udfff]*$"}
GRAPH_TYPE_TEXT: Schema = {"type": "string", "pattern": f"^{GRAPH_TYPE}$", "maxLength": 1000}
NUMBER: Schema = {"type": "integer", "minimum": 1, "maximum": LARGEST}
BOOLEAN: Schema = {"type": "boolean"}
MAPPING: Schema = {"type": "object"}


def closed(required: tuple[str, ...] = (), /, **properties: Schema) -> Schema:
    """An object with these properties and no others."""
    return {**opened(required, **properties), "additionalProperties": False}


def whole(**properties: Schema) -> Schema:
    """An object that has all of these properties, and possibly others."""
    return opened(tuple(properties), **properties)


def opened(required: tuple[str, ...] = (), /, **properties: Schema) -> Schema:
    """An object with these properties and possibly others."""
    schema: Schema = {"type": "object", "properties": properties}
    return {**schema, "required": list(required)} if required else schema


def listed(item: Schema, least: int = 0) -> Schema:
    return {"type": "array", "items": item, **({"minItems": least} if least else {})}


def one_or_several(schema: Schema, least: int = 0) -> Schema:
    return {"anyOf": [schema, listed(schema, least)]}


def maybe(schema: Schema) -> Schema:
    """The schema, or null."""
    return {**schema, "type": [schema["type"], "null"]}


EXPRESSION = whole(yaql_exp=STRING)
RELATION = opened(
    ("name",),
    name={"anyOf": [STRING, EXPRESSION]},
    role={"anyOf": [{"type": ["string", "array", "null"]}, EXPRESSION]},
    policy={"enum": ["all", "any"]},
)
RELATIONS: Schema = {"anyOf": [listed({"anyOf": [RELATION, EXPRESSION]}), EXPRESSION]}
STRATEGY = opened(
    ("type",), type={"enum": ["parallel", "one_by_one"]}, amount={"anyOf": [{"type": "integer"}, EXPRESSION]}
)
TASK = opened(
    id=NAME,
    type={"enum": list(map(str, TaskType))},
    version={"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
    parameters=opened(strategy=STRATEGY),
    required_for=LIST,
    requires=LIST,
    **{"cross-depends": RELATIONS, "cross-depended-by": RELATIONS},
)
ATTRIBUTES = opened(
    status={"enum": [*map(str, NodeStatus), DELETED]},
    pending_addition=BOOLEAN,
    pending_deletion=BOOLEAN,
    error_msg=STRING,
)
CALLBACK = opened(node_attributes=ATTRIBUTES)
TASKS = listed({**TASK, "required": ["id"]})
PLUGIN_TASKS = listed({**TASK, "anyOf": [{"required": ["id"]}, {"required": ["stage"]}]})


def graph_body(tasks: Schema = TASKS) -> Schema:
    """A graph to upload. `id` and `relations` are accepted, because responses have them, and ignored."""
    return closed(
        name=maybe(TEXT),
        tasks=tasks,
        node_filter=maybe(TEXT),
        on_success=maybe(CALLBACK),
        on_error=maybe(CALLBACK),
        on_stop=maybe(CALLBACK),
        id={"type": "integer"},
        relations=LIST,
    )


RELATED = whole(type=TEXT, model={"enum": ["release", "plugin", "cluster"]}, model_id=NUMBER)
GRAPH = whole(id=NUMBER, name=maybe(TEXT), tasks=listed(whole(id=STRING)), relations=listed(RELATED))
RUN_FLAGS: dict[str, Schema] = dict.fromkeys(("dry_run", "noop_run", "force", "debug"), BOOLEAN)
BOUNDARY: Schema = {"type": ["string", "array", "null"], "items": {"type": ["string", "null"]}, "maxItems": 1}
EXECUTION = closed(
    ("cluster", "graphs"),
    cluster=NUMBER,
    graphs=listed(closed(("type",), type=GRAPH_TYPE_TEXT, nodes=maybe(listed(NUMBER)), tasks=maybe(listed(NAME))), 1),
    subgraphs=listed(closed(start=BOUNDARY, end=BOUNDARY)),
    **RUN_FLAGS,
)
RUN = opened(
    ("id", "cluster", "uuid", "name", "status", "progress", "dry_run", "graph_type", "message"),
    id=NUMBER,
    cluster=NUMBER,
    uuid=STRING,
    name={"enum": ["deploy", "deployment"]},
    status={"enum": ["pending", "running", "ready", "error"]},
    progress={"type": "integer", "minimum": 0, "maximum": 100},
    dry_run=BOOLEAN,
    graph_type=maybe(STRING),
    parent_id=maybe(NUMBER),
    message=maybe(STRING),
    time_start=maybe(STRING),
    time_end=maybe(STRING),
)
TASK_RUN = {**RUN, "required": [*RUN["required"], "parent_id"]}
"""A run that also has the id of its parent."""

HISTORY_ROW = opened(
    ("task_name", "node_id", "status", "time_start", "time_end"),
    task_name=STRING,
    node_id={"type": ["string", "null"]},
    status={"enum": ["pending", "running", "ready", "error", "skipped"]},
)
SEQUENCE_GRAPHS = listed(whole(type=GRAPH_TYPE_TEXT), 1)
SEQUENCE = whole(id=NUMBER, name=NAME, release_id=NUMBER, graphs=SEQUENCE_GRAPHS)
CLUSTER = opened(
    ("id", "name", "status", "release_id"),
    id=NUMBER, name=NAME, status=STRING, release_id=NUMBER, fuel_version=STRING,
    is_customized=BOOLEAN, changes=LIST,
)  # fmt: skip
RELEASE = whole(id=NUMBER, name=NAME, version=NAME, state=STRING, operating_system=STRING)
NODE = whole(
    id=NUMBER, name=NAME, status={"enum": list(map(str, NodeStatus))}, cluster=maybe(NUMBER),
    roles=listed(NAME), pending_roles=listed(NAME), online=BOOLEAN,
)  # fmt: skip
PLUGIN = whole(id=NUMBER, name=NAME, version=NAME, package_version=STRING, releases=LIST)
ROLE = opened(("name", "meta"), name=NAME, meta=MAPPING, volumes_roles_mapping=LIST)
TAG = whole(name=NAME, meta=MAPPING)
ERROR = whole(message=STRING, errors=LIST)
