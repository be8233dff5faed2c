"""The spool: the directory in which a command runs, so that its result outlives the process that started it.

`<root>/<run>/<node>/<task>/` contains `cmd` (the script), `out` and `err` (its outputs, one try after another), `pid`
(the leader of its session, with its start time), `rc` (one line for each try that ended) and `claim.<label>` for each
try that began. It is the same on this machine and on nodes, and only its owner can read it. `cmd` and its attachments
may contain passwords, so they are emptied at the end of each try.

The shell scripts need a POSIX shell, /proc, setsid and the usual small tools, but no Python. They are the same for this
machine and for nodes. Neither the scripts nor their arguments contain secrets.
"""

from __future__ import annotations

import asyncio
import math
import tarfile
import tempfile
import urllib.parse
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from fuelclient.executors.job import File, Job, Recipe, Tree
from fuelclient.executors.transport import CallExpired, Completed, Transport, Unreachable

_CHECK_PROCESS: Final = """
alive=0 pid= start= boot= running= up= used= before_out= before_err= ns= unseen=
read -r now _ < /proc/uptime
if [ -s pid ] && read -r pid start boot running up used before_out before_err ns < pid; then
  read -r this_boot < /proc/sys/kernel/random/boot_id
  if [ "$boot" != "$this_boot" ]; then
    pid= up=$now
  elif [ -n "$ns" ] && [ "$ns" != "${here:-$(readlink /proc/self/ns/pid)}" ]; then
    pid= unseen=1
  elif read -r stat 2>/dev/null < "/proc/$pid/stat"; then
    set -- ${stat##*) }
    if [ "${20}" = "$start" ]; then
      [ "$1" = Z ] || alive=1
    else
      pid=
    fi
  fi
else
  pid= running=
fi
"""
"""Sets `alive`: whether the process in the file `pid` still runs. If its number now belongs to another process or boot,
`pid` becomes empty. If the leader is gone, the rest of its session still belongs to the command. `unseen` is set if the
number belongs to another PID namespace of this boot, whose processes are invisible here. `here` is our own one, if it
is known already."""

_PRINT_STATE: Final = """
[ -z "$running" ] || echo "pid $running $alive $up $used $now"
for claim in claim.*; do [ ! -e "$claim" ] || echo "claim ${claim#claim.}"; done
if [ -s rc ]; then while read -r line; do echo "rc $line"; done < rc; fi
echo
[ ! -s out ] || tail -c "+$((${before_out:-0} + 1))" out | tail -c "$keep"
[ ! -s err ] || tail -c "+$((${before_err:-0} + 1))" err | tail -c "$keep" >&2
exit 0
"""
"""Prints the state of the spool. The result is read after the process, so that a command which ends in between does not
seem lost. Only the outputs of the newest try are printed, since those of earlier tries have their own errors."""

_COPIER: Final = """
umask 077
piece=1048576 before=$2 most=$((1048576 * $3)) last=0 gone=0 much= failed=
feed() {
  while :; do
    counts=$(LC_ALL=C dd bs=65536 count=16 2>&1 >> "$1") || failed=1
    counts=${counts%% records in*}
    counts=${counts##*[!0-9+]}
    [ "$((${counts%+*}0 + ${counts#*+}0))" -eq 160 ] || return 1
    much=1
    [ "$(wc -c < "$1")" -lt "$2" ] || return 0
  done
}
if feed "$1" $((before + most)); then
  while feed "$1.$last" $piece; do
    old=$1.$((last - $3)) last=$((last + 1))
    [ ! -e "$old" ] || { gone=$((gone + $(wc -c < "$old"))); rm -f "$old"; }
  done
fi
if [ -n "$much" ]; then
  : >> "$1.$last"
  parts= number=$((last > $3 ? last - $3 : 0))
  while [ $number -le $last ]; do parts="$parts $1.$number" number=$((number + 1)); done
  left=$(($(cat "$1" $parts | wc -c) - before + gone - most))
  if [ $left -gt 0 ]; then
    {
      head -c $((before + piece)) "$1"
      printf '\n[%d bytes are left out here: OUTPUT_MEGABYTES is %d]\n' $left "$3"
      tail -c +$((before + piece + 1)) "$1" | cat - $parts | tail -c $((most - piece))
    } > "$1.new" && mv -f "$1.new" "$1"
  else
    cat $parts >> "$1"
  fi
  rm -f $parts
fi
: > "$1.done"
[ -z "$failed" ] || exec cat > /dev/null
"""
"""Copies the output of a command to a file of the spool: its first megabyte and its last ones, and a line for the
bytes between them. On a full disk it reads on, so that the command does not fail for that. At the end, it creates
`.done`. It has its own session, since a process that outlives the command may go on writing. Arguments: the file, its
bytes from earlier tries, megabytes."""

WRAPPER: Final = (
    """
cd -- "$3" || exit 120
umask 077
exec 2>/dev/null
megabytes=${4:-16}
copiers='copy() {
"""
    + _COPIER.replace("'", "'\\''")
    + """}
copy out $1 $3 < out.pipe > /dev/null &
copy err $2 $3 < err.pipe > /dev/null'
copied() {
  tries=30
  until [ $tries = 0 ] || { [ -e out.done ] && [ -e err.done ]; }; do
    sleep 0.0$((tries > 20 ? 1 : 5))
    tries=$((tries - 1))
  done
  rm -f out.pipe err.pipe out.done err.done
}
read -r boot < /proc/sys/kernel/random/boot_id
set -C
echo "$boot" > "claim.$1" || exit 0
set +C
trap : TERM HUP INT
read -r up _ < /proc/uptime
read -r stat < "/proc/$$/stat"
label=$1 used=$2 before_out=0 before_err=0 here=${5:-$(readlink /proc/self/ns/pid)}
for file in out.[0-9]* err.[0-9]* out.pipe err.pipe out.done err.done; do [ ! -e "$file" ] || rm -f "$file"; done
for file in out err; do
  if [ -s $file ] && [ "$(wc -c < $file)" -ge $((1048576 * megabytes)) ]; then
    head -c 1048576 $file > $file.new && echo "
[The rest of earlier tries is left out here: OUTPUT_MEGABYTES is $megabytes]" >> $file.new && mv -f $file.new $file
  fi
done
[ ! -s out ] || before_out=$(wc -c < out)
[ ! -s err ] || before_err=$(wc -c < err)
set -- ${stat##*) }
echo "$$ ${20} $boot $label $up $used $before_out $before_err $here" > pid || exit 120
[ ! -e "never.$label" ] || exit 0
code=137 why=exit
if [ ! -s "stop.$label" ]; then
  if command -v setsid > /dev/null && mkfifo out.pipe err.pipe; then
    setsid /bin/sh -c "$copiers" fuel2-copy $before_out $before_err $megabytes > /dev/null &
    (umask 022; exec bash ./cmd > out.pipe 2> err.pipe)
    code=$?
    copied
  else
    (umask 022; exec bash ./cmd >> out 2>> err)
    code=$?
  fi
fi
[ ! -s "stop.$label" ] || read -r why < "stop.$label"
for file in cmd cmd.* file.*; do [ ! -f "$file" ] || : > "$file"; done
echo "$label $code $why" >> rc
"""
)
"""The leader of a command's session: it stores its number, waits for the command, and stores the exit code.

The claim makes a command run at most once: only the process that creates the file runs the command, and a process that
dies before that has not begun. The leader catches the signals that end its group, so that it can still store the
reason. `KILL` writes `stop` before it reads the number; the leader uses the opposite order, so that they cannot miss
each other. The script and its attachments may contain passwords, so they are emptied before the end is stored. The
outputs pass through copiers, which limit them. The leader waits for the copiers for about a second, since a process
that the command left behind may keep the outputs open. Arguments: label, seconds already
used, directory, megabytes of each output, the PID namespace.
"""

ENTER: Final = """
umask 077
[ -d "$2" ] || mkdir -p -- "$2" || exit 120
if [ ! -O "$2" ] || [ -L "$2" ]; then
  echo "$2 belongs to another user; remove it" >&2
  exit 123
fi
[ -d "$1" ] || mkdir -p -- "$1" || exit 120
cd -- "$1" || exit 120
"""
"""Creates the spool. Arguments: its directory, and the root of all spools. The root has to belong to us: everyone may
be able to write to its parent, so another user could have created it."""

LAUNCH: Final = (
    ENTER
    + """
label=$3 size=$4 used=$5 keep=$6 here=$(readlink /proc/self/ns/pid)
cat > "cmd.$label.$$" || exit 122
if [ -e "claim.$label" ]; then
  rm -f "cmd.$label.$$"
elif [ "$(wc -c < "cmd.$label.$$")" -ne "$size" ]; then
  rm -f "cmd.$label.$$"
  if [ ! -e "claim.$label" ]; then
    echo "the script did not arrive as a whole" >&2
    exit 121
  fi
else
  mv -f "cmd.$label.$$" cmd || exit 122
  setsid /bin/sh -c "$7" fuel2-task "$label" "$used" "$1" "${8:-16}" "$here" < /dev/null >> out 2>> err &
  wait $!
fi
"""
    + _CHECK_PROCESS
    + _PRINT_STATE
)
"""Starts the script on stdin unless its label is claimed, waits for it, and prints the state of the spool.

An incomplete script, whose sender died, is not started. If the label is claimed while the size is checked, the leader
of another starter has emptied the script, which is not an error. Arguments: directory, root, label, size in bytes,
seconds already used, bytes of output to print, the wrapper, megabytes of each output.
"""

LOOK: Final = (
    """
cd -- "$1" 2>/dev/null || { echo; exit 0; }
keep=$2 here=
"""
    + _CHECK_PROCESS
    + _PRINT_STATE
)
"""Prints the state of the spool. Arguments: directory, bytes of output to print."""

KILL: Final = (
    ENTER
    + """
label=$3 why=$4 grace=$5 here=
ended() {
  [ -s rc ] || return 1
  while read -r name _; do [ "$name" != "$label" ] || return 0; done < rc
  return 1
}
finish() {
  for file in cmd cmd.* file.*; do [ ! -f "$file" ] || : > "$file"; done
  echo "$label 137 $why" >> rc
}
if (set -C; : > "claim.$label") 2>/dev/null; then
  finish
  exit 0
fi
ended && exit 0
echo "$why" > "stop.$label"
"""
    + _CHECK_PROCESS
    + """
if [ "$running" = "$label" ] && [ -n "$unseen" ] && [ "$why" = stopped ]; then
  rm -f "stop.$label"
  echo "its processes are in another PID namespace" >&2
  exit 124
fi
[ "$running" = "$label" ] && [ -n "$pid" ] || exit 0
members() {
  for file in /proc/[0-9]*/stat; do
    read -r stat 2>/dev/null < "$file" || continue
    number=${file#/proc/} number=${number%/stat}
    set -- ${stat##*) }
    [ "$4" != "$pid" ] || [ "$1" = Z ] || printf '%s ' "$number"
  done
}
left=$((grace * 10)) signal=TERM
while processes=$(members) && [ -n "$processes" ]; do
  [ $signal = none ] || kill -$signal $processes 2>/dev/null
  if [ "$left" -le 0 ]; then signal=KILL; else signal=none; fi
  left=$((left - 1))
  [ "$left" -ge -100 ] || break
  sleep 0.1
done
ended || finish
exit 0
"""
)
"""Kills the session of a command with SIGTERM, and with SIGKILL after a grace period, then stores its exit code.

A try that has not begun is claimed, so that it cannot begin. Processes in another PID namespace cannot be stopped, and
go on. The whole session is killed, because programs like timeout(1) create their own process groups. Processes that
left the session deliberately, such as daemons, go on. Arguments: directory, root, label, the reason in one word,
seconds of grace.
"""

FENCE: Final = (
    ENTER
    + """
label=$3 keep=$4 claimed= here=
: > "never.$label" || exit 120
"""
    + _CHECK_PROCESS
    + """
read -r this_boot < /proc/sys/kernel/random/boot_id
[ ! -s "claim.$label" ] || read -r claimed < "claim.$label"
if [ "$running" != "$label" ] && [ "$claimed" = "$this_boot" ] && { [ ! -s rc ] || ! grep -q "^$label " rc; }; then
  echo "$label 0 never" >> rc
fi
"""
    + _PRINT_STATE
)
"""Prevents a claimed try that has no process yet from beginning, stores that as its end, and prints the state of the
spool.

The leader writes its number before it looks for `never`, and this script uses the opposite order, so a leader without a
number now will not run the command. For a claim from before a restart of the machine, no end is stored: the disk may
have lost the number of a leader that did begin. Arguments: directory, root, label,
bytes of output to print.
"""

REMOVE: Final = """
[ -e "$1" ] || [ -L "$1" ] || exit 0
if [ ! -d "$1" ] || [ -L "$1" ] || [ ! -O "$1" ]; then
  echo "it belongs to another user" >&2
  exit 123
fi
read -r this_boot < /proc/sys/kernel/random/boot_id
root=$1 leaders=' '
for file in "$root"/*/*/*/pid; do
  [ -s "$file" ] && read -r pid start boot _ < "$file" && [ "$boot" = "$this_boot" ] || continue
  if read -r stat 2>/dev/null < "/proc/$pid/stat"; then
    set -- ${stat##*) }
    [ "${20}" = "$start" ] || continue
  fi
  leaders="$leaders$pid "
done
for file in /proc/[0-9]*/stat; do
  read -r stat 2>/dev/null < "$file" || continue
  set -- ${stat##*) }
  case "$leaders" in *" $4 "*) [ "$1" = Z ] || { echo "a command still runs there" >&2; exit 124; } ;; esac
done
cd / && rm -rf -- "$root" && exit 0
echo "not all of it can be removed" >&2
exit 1
"""
"""Removes all spools of a run, unless one of its commands still runs. Argument: their root."""

READ: Final = """
[ -f "$1" ] || exit 0
tail -c "+$(($2 + 1))" -- "$1" | head -c "$3"
"""
"""Prints a part of a file. Arguments: path, offset, bytes."""

KEPT_BYTES = 4096
"""How many bytes of each output are returned with a result. The spool has the whole output."""

MEGABYTES = 16
"""How many megabytes of each output are kept by default."""

STOPPED, TIMEOUT = "stopped", "timeout"
"""The reasons for killing a command."""

VANISHED = "vanished"
"""The reason for the end of a try whose leader was killed before it could store an end."""

NEVER = "never"
"""The reason for the end of a claimed try that never began: its starter died, and `FENCE` prevented a later start."""

_MAX_LENGTH = 200
_UNSEEN_CODE = 124
_FINAL_CODES = frozenset({120, 122, 123})  # no directory, no space, no permission: no retry can help


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a try: its exit code and the reason, which is `exit` if it ended by itself."""

    code: int
    why: str


@dataclass(frozen=True, slots=True)
class Seen:
    """The state of a spool: the ends of tries by label, the labels of claimed tries, the newest try with a process
    (`running`), whether that is alive, the seconds since the first try began, and the ends of the outputs."""

    ended: dict[str, Ended]
    claimed: frozenset[str]
    running: str = ""
    alive: bool = False
    age: float = 0
    out: str = ""
    err: str = ""


NOTHING_SEEN = Seen({}, frozenset())


def directory(job: Job, suffix: str = "") -> str:
    """Return the directory of a job's spool below the root, with special characters encoded."""
    return "/".join((str(job.run), _file_name(job.node), _file_name(job.task + suffix)))


def _file_name(name: str) -> str:
    part = urllib.parse.quote(name, safe="@ ").replace(" ", "_")
    part = f"%2E{part[1:]}" if part.startswith(".") else part or "_"
    return part if len(part) <= _MAX_LENGTH else f"{part[:_MAX_LENGTH]}-{sha256(name.encode()).hexdigest()[:16]}"


class Spool:
    """The spool of one job on one machine. It keeps `megabytes` of each output of a try: the first one and the last
    ones."""

    def __init__(self, transport: Transport, root: str, directory: str) -> None:
        self.transport, self.root, self.directory = transport, root, directory
        self.megabytes = MEGABYTES

    async def attach(self, recipe: Recipe) -> None:
        """Write the attachments of a recipe to the spool. Raise `Unreachable` (final) if one cannot be read."""
        if not recipe.attachments:
            return
        await self._call(ENTER, self.root)
        for attachment in recipe.attachments:
            path = f"{self.directory}/{attachment.name}"
            match attachment.content:
                case Tree() as tree:
                    await send_tree(self.transport, path, tree)
                case File(name):
                    source = Path(name)
                    if not source.is_file():
                        what = "is not a file" if source.exists() else "does not exist"
                        raise Unreachable(f"{source} {what} on this machine.", final=True)
                    await self.transport.put(path, source)
                case content:
                    await self.transport.put(path, content)

    async def launch(self, recipe: Recipe, label: str, used: float) -> Seen:
        """Start the script of a recipe as the try `label`, unless it has begun, and wait for its end as long as the
        transport allows."""
        script = recipe.script.encode()
        numbers = (str(len(script)), str(math.ceil(used)), str(KEPT_BYTES))
        launch = (LAUNCH, self.root, label, *numbers, WRAPPER, str(self.megabytes))
        try:
            return _seen(await self._call(*launch, stdin=script))
        except CallExpired:
            return await self.look()

    async def look(self) -> Seen:
        return _seen(await self._call(LOOK, str(KEPT_BYTES)))

    async def kill(self, label: str, why: str, grace: float) -> None:
        """Kill the try `label` with its whole session; `why` is stored with its exit code.

        Raise `Unreachable` (final) if `why` is `STOPPED` and its processes are in another PID namespace.
        """
        answer = await self.transport.call(KILL, (self.directory, self.root, label, why, str(math.ceil(grace))))
        if answer.rc == _UNSEEN_CODE:
            raise Unreachable(answer.error, final=True)

    async def fence(self, label: str) -> Seen:
        """Prevent the try `label`, which is claimed but has no process, from beginning: its end is `NEVER`. Return the
        state of the spool after that, because the try may just have begun."""
        return _seen(await self._call(FENCE, self.root, label, str(KEPT_BYTES)))

    async def _call(self, script: str, *arguments: str, stdin: bytes = b"") -> Completed:
        """Run a script in the directory of the spool. Raise `Unreachable` if it fails."""
        answer = await self.transport.call(script, (self.directory, *arguments), stdin)
        if answer.rc:
            message = f"Nothing can be started on {self.transport.place}: {answer.error}."
            raise Unreachable(message, final=answer.rc in _FINAL_CODES)
        return answer

    async def read(self, stream: str, offset: int, limit: int) -> bytes:
        """Read a part of an output; empty if there is no output."""
        return (await self.transport.call(READ, (f"{self.directory}/{stream}", str(offset), str(limit)))).out


def _seen(answer: Completed) -> Seen:
    head, _, out = answer.out.partition(b"\n\n") if not answer.out.startswith(b"\n") else (b"", b"", answer.out[1:])
    return seen_from(head.decode("utf-8", "replace").splitlines(), out, answer.err)


def seen_from(lines: Iterable[str], out: bytes, err: bytes) -> Seen:
    """Parse the state of a spool from the lines that its scripts print."""
    ended: dict[str, Ended] = {}
    claimed: set[str] = set()
    running, alive, age = "", False, 0.0
    for line in lines:
        match line.split():
            case ["rc", label, code, why]:
                ended.setdefault(label, Ended(int(code), why))
            case ["claim", label]:
                claimed.add(label)
            case ["pid", label, living, up, used, now]:
                running, alive = label, living == "1"
                age = float(now) - float(up) + float(used)
    texts = (output.decode("utf-8", "replace") for output in (out, err))
    return Seen(ended, frozenset(claimed), running, alive, age, *texts)


async def send_tree(transport: Transport, path: str, tree: Tree) -> None:
    """Write a tree to a tar archive on a machine, and keep links. Raise `Unreachable` (final) if it cannot be
    read."""
    with tempfile.NamedTemporaryFile(suffix=".tar") as archive:
        await asyncio.to_thread(_pack, tree, Path(archive.name))
        await transport.put(path, Path(archive.name))


def _pack(tree: Tree, archive: Path) -> None:
    source = Path(tree.path)
    if not source.exists():
        raise Unreachable(f"{source} does not exist on this machine.", final=True)
    try:
        with tarfile.open(archive, "w", format=tarfile.GNU_FORMAT) as tar:
            if tree.inside and source.is_dir():
                for entry in sorted(source.iterdir()):
                    tar.add(entry, entry.name)
            else:
                tar.add(source, source.name)
    except OSError as error:
        raise Unreachable(f"{error.filename or source} cannot be read: {error.strerror}.", final=True) from error
