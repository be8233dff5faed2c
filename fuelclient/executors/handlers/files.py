"""upload_file, upload_files and copy_files: write texts and files of this machine on a node."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fuelclient.executors.handlers.parameters import absolute, entries, flag, mode, path, text
from fuelclient.executors.job import Job
from fuelclient.executors.recipe import Attachment, File, Recipe, Step

MODE, DIRECTORY_MODE, OWNER = "0644", "0755", "root"


@dataclass(frozen=True, slots=True)
class Placed:
    """A file as a task wants it: its content, where it goes, and who may do what with it.

    `where` is the uid of the machine, or empty for the job's own. Owners are set only if we are root.
    """

    path: str
    content: bytes | File = field(repr=False)
    permissions: str = MODE
    directory: str = DIRECTORY_MODE
    user: str = OWNER
    group: str = OWNER
    parents: bool = True
    overwrite: bool = True
    where: str = ""


def uploaded(job: Job) -> list[Placed]:
    """Return the file of an upload_file task. Raise `ValueError`.

    With `overwrite: false`, an existing file stays as it is, and the task succeeds.
    """
    parameters = job.parameters
    return [
        Placed(
            absolute(parameters, "path"),
            _data(parameters),
            mode(parameters, "permissions", MODE),
            mode(parameters, "dir_permissions", DIRECTORY_MODE),
            text(parameters, "user_owner", OWNER),
            text(parameters, "group_owner", OWNER),
            flag(parameters, "parents", True),
            flag(parameters, "overwrite", True),
        )
    ]


def uploaded_to_nodes(job: Job) -> list[Placed]:
    """Return the files of an upload_files task, each on its node. Raise `ValueError`, for an unknown node, too."""
    nodes = [(text(node, "uid"), node) for node in entries(job.parameters.get("nodes"), "nodes")]
    for uid, _ in nodes:
        if uid != job.node and uid not in job.peers:
            raise ValueError(f"the parameter nodes names node {uid}, which is not in the environment")
    return [
        Placed(
            absolute(file, "dst"),
            _data(file),
            mode(file, "permissions", MODE),
            mode(file, "dir_permissions", DIRECTORY_MODE),
            where="" if uid == job.node else uid,
        )
        for uid, node in nodes
        for file in entries(node.get("files"), f"files of node {uid}")
    ]


def copied(job: Job) -> list[Placed]:
    """Return the files of a copy_files task, read from this machine. Raise `ValueError`.

    A file can state its own permissions, else those of the task apply.
    """
    parameters = job.parameters
    return [
        Placed(
            absolute(file, "dst"),
            File(path(file, "src")),
            mode(file, "permissions", mode(parameters, "permissions", MODE)),
            mode(file, "dir_permissions", mode(parameters, "dir_permissions", DIRECTORY_MODE)),
        )
        for file in entries(parameters.get("files"), "files")
    ]


def _data(parameters: Mapping[str, Any]) -> bytes:
    value = parameters.get("data")
    if value is None:
        raise ValueError("the parameter data is missing")
    if isinstance(value, bytes):
        return value
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(  # noqa: TRY004 - what a handler refuses is a ValueError
            "the parameter data must be a string; mappings become one with toYaml() or toJson()"
        )
    return str(value).encode("utf-8", "surrogateescape")


def steps(files: list[Placed]) -> tuple[Step, ...]:
    """Return one recipe for each machine, in the order in which the task names them."""
    machines = dict.fromkeys(file.where for file in files)
    return tuple(_recipe([file for file in files if file.where == where], where) for where in machines)


def _recipe(files: list[Placed], where: str) -> Recipe:
    lines = [_INSTALL]
    for number, file in enumerate(files):
        words = map(shlex.quote, (file.path, file.permissions, file.directory, file.user, file.group))
        lines.append(f"place file.{number} {int(file.parents)} {int(file.overwrite)} {' '.join(words)} || exit")
    attachments = tuple(Attachment(f"file.{number}", file.content) for number, file in enumerate(files))
    return Recipe("\n".join([*lines, ""]), attachments, where=where)


_INSTALL = """\
me=$(id -u)
fail() { echo "$1" >&2; return 1; }
place() {
  local from=$1 parents=$2 overwrite=$3 to=$4 mode=$5 directory_mode=$6 user=$7 group=$8 directory new
  [ ! -L "$to" ] || to=$(readlink -m -- "$to")
  [ ! -d "$to" ] || { fail "$to is a directory"; return; }
  if [ -e "$to" ] && [ "$overwrite" = 0 ]; then
    echo "$to exists and stays as it is"
    return 0
  fi
  directory=$(dirname -- "$to")
  if [ ! -d "$directory" ]; then
    [ "$parents" = 1 ] || { fail "$directory does not exist, and parents is false"; return; }
    mkdir -p -- "$directory" && chmod -- "$directory_mode" "$directory" || return
  fi
  new=$(mktemp -- "$directory/.fuel2.XXXXXX") || return
  cat -- "$from" > "$new" && chmod -- "$mode" "$new" || { rm -f -- "$new"; return 1; }
  if [ "$me" = 0 ]; then
    chown -- "$user:$group" "$new" || { rm -f -- "$new"; return 1; }
  fi
  mv -fT -- "$new" "$to" || { rm -f -- "$new"; return 1; }
  echo "$to written"
}"""
"""Writes a file whole or not at all, and at no time readable for more users than in the end.

Existing directories keep their permissions; a link is followed. Source: Astute `mcagents/uploadfile.rb`.
"""
