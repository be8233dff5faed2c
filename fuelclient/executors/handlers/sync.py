"""sync: make a directory of the target like one of this machine or of an rsync server, or one of a server like it."""

from __future__ import annotations

import shlex

from fuelclient.executors.handlers.commands import PATH
from fuelclient.executors.job import Attachment, Job, Recipe, Sync, Tree
from fuelclient.graph.parameters import is_remote, read
from fuelclient.model.task import TaskType

RSYNC = "rsync -c -r --delete -l"
"""Whole trees by checksum, links as links, and what is not in the source goes. Source: Astute `tasks/sync.rb`."""

_NAME = "tree.tar"


def steps(job: Job) -> tuple[Sync]:
    """Raise `ValueError` for a path that is missing, or a target directory that must never be emptied."""
    values = read(TaskType.SYNC, job.parameters)
    return (Sync(values["src"], values["dst"]),)


def on_target(sync: Sync, *, dry: bool = False) -> Recipe:
    """The recipe for a target that runs rsync itself: it copies from or to a server, or it is this machine.

    With `dry`, rsync only reports what would change.
    """
    words = f"{RSYNC} {'-n -i ' if dry else ''}-- {shlex.quote(sync.src)} {shlex.quote(sync.dst)}"
    directory = "" if dry or is_remote(sync.dst) else f"mkdir -p -- {shlex.quote(sync.dst)} || exit\n"
    return Recipe(f"{PATH}{directory}{words}\n")


def as_archive(sync: Sync) -> Recipe:
    """The recipe without rsync: an archive, unpacked beside what it then replaces.

    As with rsync, a `src` that ends in a slash means what is in the directory, and only then everything else in `dst`
    itself goes.
    """
    inside = sync.src.endswith("/")
    script = _UNPACK.format(to=shlex.quote(sync.dst), name=_NAME) + (_NOTHING_ELSE if inside else "")
    return Recipe(f"{script}{_MOVE}", (Attachment(_NAME, Tree(sync.src, inside)),))


_UNPACK = """\
to={to}
mkdir -p -- "$to" || exit
new=$(mktemp -d -- "$to/.fuel2.XXXXXX") || exit
trap 'rm -rf -- "$new" {name}' EXIT
tar -x --no-same-owner -f {name} -C "$new" || exit
shopt -s dotglob nullglob
"""

_NOTHING_ELSE = """\
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
