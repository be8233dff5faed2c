"""sync: copy a directory of this machine or of an rsync server to the target, or one of the target to a server."""

from __future__ import annotations

import shlex

from fuelclient.executors.handlers.commands import PATH
from fuelclient.executors.job import Attachment, Job, Recipe, Sync, Tree
from fuelclient.graph.parameters import is_remote, read
from fuelclient.model.task import TaskType

RSYNC = "rsync -c -r --delete -l"
"""Copies trees by checksum, keeps links, and deletes files that the source lacks. Source: Astute `tasks/sync.rb`."""

_NAME = "tree.tar"


def steps(job: Job) -> tuple[Sync]:
    """Raise `ValueError` for a missing path, or a target directory that must never be emptied."""
    values = read(TaskType.SYNC, job.parameters)
    return (Sync(values["src"], values["dst"]),)


def on_target(sync: Sync, *, dry: bool = False) -> Recipe:
    """Create the recipe for a target that runs rsync itself, to copy from or to a server, or on this machine.

    With `dry`, rsync only reports what would change.
    """
    words = f"{RSYNC} {'-n -i ' if dry else ''}-- {shlex.quote(sync.src)} {shlex.quote(sync.dst)}"
    directory = "" if dry or is_remote(sync.dst) else f"mkdir -p -- {shlex.quote(sync.dst)} || exit\n"
    return Recipe(f"{PATH}{directory}{words}\n")


def as_archive(sync: Sync) -> Recipe:
    """Create the recipe without rsync: an archive is unpacked next to the files that it then replaces.

    As with rsync, a `src` that ends in a slash stands for the contents of the directory; only then, other entries of
    `dst` are deleted.
    """
    inside = sync.src.endswith("/")
    script = _UNPACK.format(to=shlex.quote(sync.dst), name=_NAME) + (_DELETE_OTHERS if inside else "")
    return Recipe(f"{script}{_MOVE}", (Attachment(_NAME, Tree(sync.src, inside)),))


_UNPACK = """\
to={to}
mkdir -p -- "$to" || exit
new=$(mktemp -d -- "$to/.fuel2.XXXXXX") || exit
trap 'rm -rf -- "$new" {name}' EXIT
tar -x --no-same-owner -f {name} -C "$new" || exit
shopt -s dotglob nullglob
"""

_DELETE_OTHERS = """\
for entry in "$to"/*; do
  [ "$entry" = "$new" ] || [ -e "$new/${entry##*/}" ] || [ -L "$new/${entry##*/}" ] || rm -rf -- "$entry" || exit
done
"""

_MOVE = """\
for entry in "$new"/*; do
  name=${entry##*/}
  rm -rf -- "${to:?}/$name" && mv -- "$entry" "$to/$name" || exit
done
"""
