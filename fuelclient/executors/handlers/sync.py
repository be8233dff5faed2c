"""sync: a directory of the target is made like one of this machine, or of an rsync server."""

from __future__ import annotations

import shlex

from fuelclient.executors.base import MASTER, Job, Target
from fuelclient.executors.handlers.parameters import absolute, path, quoted
from fuelclient.executors.handlers.shell import PATH
from fuelclient.executors.recipe import Attachment, Recipe, Step, Sync, Tree

RSYNC = "rsync -c -r --delete -l"
"""Whole trees by checksum, links as links, and nothing else stays there. Source: Astute `tasks/sync.rb`."""

_NAME = "tree.tar"


def steps(job: Job) -> tuple[Step, ...]:
    """Raises `ValueError` for paths that are missing, or a target directory that nobody can want emptied."""
    source = path(job.parameters, "src")
    if "://" in source and not is_remote(source):
        raise ValueError(f"the parameter src is a path or an rsync:// address, not {source!r}")
    if not is_remote(source):
        absolute(job.parameters, "src")
    return (Sync(source, absolute(job.parameters, "dst")),)


def is_remote(source: str) -> bool:
    """Whether the target itself fetches from an rsync server."""
    return source.startswith("rsync://")


def on_target(sync: Sync, *, dry: bool = False) -> Recipe:
    """The target runs rsync: from a server, or because it is this machine. `dry` only tells what would change."""
    words = f"{RSYNC} {'-n -i ' if dry else ''}-- {quoted(sync.src)} {quoted(sync.dst)}"
    made = "" if dry else f"mkdir -p -- {quoted(sync.dst)} || exit\n"
    return Recipe(f"{PATH}{made}{words}\n")


def over_ssh(sync: Sync, target: Target, options: tuple[str, ...], *, dry: bool = False) -> Recipe:
    """This machine runs rsync over the SSH client of the system; `options` are more words for that."""
    ssh = ["ssh", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", *options]
    settings = (("-p", str(target.ssh.port or "")), ("-i", target.ssh.key), ("-l", target.ssh.user))
    for option, value in (*settings, ("-J", target.ssh.jump)):
        ssh += [option, value] if value else []
    host = f"[{target.ip}]" if ":" in target.ip else target.ip
    there = "" if dry else f"--rsync-path={quoted(f'mkdir -p -- {quoted(sync.dst)} && rsync')} "
    words = f"-e {quoted(shlex.join(ssh))} {there}{'-n -i ' if dry else ''}-s"
    return Recipe(f"{PATH}{RSYNC} {words} -- {quoted(sync.src)} {quoted(f'{host}:{sync.dst}')}\n", where=MASTER)


def as_archive(sync: Sync) -> Recipe:
    """The same without rsync: an archive, unpacked beside what is there, which it then replaces.

    As with rsync, a `src` that ends in a slash means what is in the directory, and only then nothing else stays in
    `dst` itself.
    """
    inside = sync.src.endswith("/")
    script = _UNPACK.format(to=quoted(sync.dst), name=_NAME) + (_NOTHING_ELSE if inside else "")
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
