"""upload_file, upload_files and copy_files: write texts or files of this machine to nodes."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fuelclient.executors.job import Attachment, File, Job, Recipe, Step
from fuelclient.graph.parameters import DIRECTORY_MODE, MODE, OWNER, read
from fuelclient.model.task import TaskType


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file that a task writes. The fields are parameters of upload_file, except `where`, the uid of the machine
    (empty: the job's own). The owners are set only if the script runs as root."""

    path: str
    data: bytes | File = field(repr=False)
    permissions: str = MODE
    dir_permissions: str = DIRECTORY_MODE
    user_owner: str = OWNER
    group_owner: str = OWNER
    parents: bool = True
    overwrite: bool = True
    where: str = ""


def file_to_upload(job: Job) -> list[PlannedFile]:
    """Read the file of an upload_file task. Raise `ValueError` for invalid parameters.

    With `overwrite: false`, an existing file is not changed, and the task succeeds.
    """
    return [PlannedFile(**read(TaskType.UPLOAD_FILE, job.parameters))]


def files_to_upload(job: Job) -> list[PlannedFile]:
    """Read the files of an upload_files task. Raise `ValueError` for invalid parameters and unknown nodes."""
    nodes = read(TaskType.UPLOAD_FILES, job.parameters)["nodes"]
    for node in nodes:
        if node["uid"] != job.node and node["uid"] not in job.peers:
            raise ValueError(f"the parameter nodes lists the node {node['uid']}, which is not in the environment")
    return [
        PlannedFile(file.pop("dst"), where="" if node["uid"] == job.node else node["uid"], **file)
        for node in nodes
        for file in node["files"]
    ]


def files_to_copy(job: Job) -> list[PlannedFile]:
    """Read the files of a copy_files task, with their own permissions or those of the task. Raise `ValueError` for
    invalid parameters."""
    values = read(TaskType.COPY_FILES, job.parameters)
    return [
        PlannedFile(file.pop("dst"), File(file.pop("src")), **{name: own or values[name] for name, own in file.items()})
        for file in values["files"]
    ]


FILE_READERS: Mapping[str, Callable[[Job], list[PlannedFile]]] = {
    TaskType.UPLOAD_FILE: file_to_upload,
    TaskType.UPLOAD_FILES: files_to_upload,
    TaskType.COPY_FILES: files_to_copy,
}
"""The task types that write files, each with the function that reads them from a job."""


def steps(job: Job) -> tuple[Step, ...]:
    """Make one recipe for each machine, in the order of the task. Raise `ValueError` for invalid parameters."""
    files = FILE_READERS[job.type](job)
    machines = dict.fromkeys(file.where for file in files)
    return tuple(_recipe([file for file in files if file.where == where], where) for where in machines)


def _recipe(files: list[PlannedFile], where: str) -> Recipe:
    lines = [_PLACE_FUNCTION]
    for number, file in enumerate(files):
        words = map(shlex.quote, (file.path, file.permissions, file.dir_permissions, file.user_owner, file.group_owner))
        lines.append(f"place file.{number} {int(file.parents)} {int(file.overwrite)} {' '.join(words)} || exit")
    attachments = tuple(Attachment(f"file.{number}", file.data) for number, file in enumerate(files))
    return Recipe("\n".join([*lines, ""]), attachments, where=where)


_PLACE_FUNCTION = """\
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
  # chown clears the setuid and setgid bits, so the mode is set afterwards
  cat -- "$from" > "$new" && { [ "$me" != 0 ] || chown -- "$user:$group" "$new"; } && chmod -- "$mode" "$new" &&
    mv -fT -- "$new" "$to" || { rm -f -- "$new"; return 1; }
  echo "$to written"
}"""
"""Defines `place`, which writes a file atomically. At no time can a user read the file who cannot read it in the end.

Existing directories keep their permissions, and links are followed. Source: Astute `mcagents/uploadfile.rb`.
"""
