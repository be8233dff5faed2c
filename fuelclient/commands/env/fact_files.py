"""The directories in which commands write facts, a file for each node, and from which they read them."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import OF_ENV, option
from fuelclient.commands.columns import plain
from fuelclient.commands.documents import make_folder
from fuelclient.errors import Conflict, FuelError, InvalidDocument, NotFound
from fuelclient.model.fact import uid_of

if TYPE_CHECKING:
    from fuelclient.model.document import Document

Overwrites = Callable[..., bool]
"""`output.overwrites` of a command."""

COMMON_FILE, OLD_COMMON_FILE = "common", "cluster"
"""The name of the file with the facts that all nodes share, and the one it had before; the other files have the name of
a node."""


DIRECTORY = (
    OF_ENV,
    option("-d", "--directory", "--dir", default=".", metavar="DIR", help="directory of the files (default: .)"),
    option("-f", "--format", choices=("json", "yaml"), default="yaml", help="file format (default: yaml)"),
)
"""The environment, and where its facts are: `env`, `directory` and `format`."""


def directory_of(parsed_args: argparse.Namespace, kind: str) -> str:
    """Return the directory of the facts of this kind (`deployment`, `provisioning`) of the environment."""
    return os.path.abspath(os.path.join(parsed_args.directory, f"{kind}_{parsed_args.env}"))


def require_names(names: Iterable[str]) -> None:
    """Raise `InvalidDocument` for a name that would lead out of the directory."""
    for name in names:
        if "/" in name or "\0" in name or name in ("", ".", ".."):
            raise InvalidDocument(
                f"There are facts of node {name!r}, which is not a file name.", hint="Nothing was written."
            )


def write_parts(
    directory: str, parts: Mapping[str, Any], form: str, *, ours: re.Pattern[str], overwrites: Overwrites
) -> None:
    """Write each part to the file of its name, in place of the facts of an earlier download.

    If the directory has files whose names match `ours`, which are those that a download writes, ask `overwrites`; raise
    `Conflict` if it says no. Other files stay.
    """
    from fuelclient import files

    require_names(parts)
    texts = {f"{name}.{form}": files.dumps(plain(part), form) for name, part in parts.items()}
    replaces = _prepare(directory, keep=texts, ours=ours, overwrites=overwrites)
    for name, text in texts.items():
        files.write(os.path.join(directory, name), text, force=replaces)


def names_in(directory: str, form: str) -> list[str]:
    """Return the names of the files of one format. Raise `NotFound` if there are none, or no directory."""
    try:
        names = sorted(name for name in os.listdir(directory) if name.endswith(f".{form}"))
    except OSError as error:
        raise NotFound("directory", directory, hint="Name the directory that contains it with --directory.") from error
    if not names:
        raise NotFound("file", os.path.join(directory, f"*.{form}"), hint="Name their format with --format.")
    return names


def read_parts(load: Callable[[str], Document], directory: str, form: str = "") -> dict[str, Mapping[str, Any]]:
    """Return the facts in the files of `directory` by node, or by role and node where ROLE_UID states that role.

    Without `form`, YAML is read if there is any, else JSON.
    """
    form = form or ("json" if not any(name.endswith(".yaml") for name in os.listdir(directory)) else "yaml")
    parts: dict[str, Mapping[str, Any]] = {}
    for name in names_in(directory, form):
        path = os.path.join(directory, name)
        document = load(path)
        if not isinstance(document.data, Mapping):
            raise InvalidDocument(f"{path}: facts must be a mapping of names to values.", hint="Write {} for no facts.")
        stem = name.removesuffix(f".{form}")
        uid = uid_of(stem)
        uid = COMMON_FILE if uid == OLD_COMMON_FILE else uid
        part = plain(document.data)
        key = stem if stem == f"{part.get('role')}_{uid}" else uid
        same = [other for other in parts if uid_of(other) == uid and uid in (key, other)]
        if key in parts or same:
            raise Conflict(f"{path}: another file also has the facts of {uid}.", hint="Keep only one of them.")
        inside = str(part.pop("uid", uid))
        if inside != uid:
            hint = "Rename the file, or correct its uid."
            raise InvalidDocument(f"{path}: the facts in it are those of {inside}, not of {uid}.", hint=hint)
        parts[key] = part
    return parts


def _is_ours(path: str) -> bool:
    """Return whether a download may have written this file.

    The facts of a role, ROLE_UID, state that role; a user's backup_2016.yaml does not.
    """
    from fuelclient import files

    role = os.path.basename(path).rpartition("_")[0]
    if not role:
        return True
    try:
        data = files.load(path).data
    except FuelError:
        return False
    return isinstance(data, Mapping) and data.get("role") == role


def _prepare(directory: str, *, keep: Mapping[str, str], ours: re.Pattern[str], overwrites: Overwrites) -> bool:
    """Make the directory, and remove facts of earlier downloads except `keep`, or the next upload would include them.

    Return whether there were any. Raise `Conflict` if they are not to be overwritten, and `Unavailable` if permissions
    forbid it.
    """
    from fuelclient.files.writing import permitted

    if not os.path.lexists(directory):
        make_folder(os.path.join(directory, "facts"))
        return False  # if its parent is missing, the first write will say so
    with permitted(directory, to="read"):
        listed = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    stale = [name for name in listed if ours.fullmatch(name) and _is_ours(os.path.join(directory, name))]
    if not stale:
        return False
    if not overwrites(directory, exists=True):
        raise Conflict(
            f"{directory} already has facts.", hint="Replace them with --force, or name another --directory."
        )
    for name in stale:
        if name not in keep:
            with permitted(os.path.join(directory, name), to="removed"):
                os.unlink(os.path.join(directory, name))
    return True
