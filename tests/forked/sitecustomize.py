"""Where Python looks while it starts: let a process that is ready (`zygote.py`) fork a runner, in place of this one.

It is found through PYTHONPATH, imports next to nothing, and does nothing unless `FORKED_FROM` names a socket and
everything that a process inherits is as usual: then the command line, the environment, the directory, the umask, the
ignored signals and all open files go there. Otherwise this process goes on as any other. Where a test also sets
`FORKED_COMMANDS`, `fuel2` is forked as well, and this process waits for its exit code.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` would take as long as everything else here
    from typing import Any

ADDRESS, WHICH = "FORKED_FROM", "FORKED_COMMANDS"
RUNNERS = ("fuelclient.engine.runs.runner", "fuelclient.engine.runs.sweep")
COMMANDS = "fuelclient.main"
_HERE = os.path.dirname(os.path.abspath(__file__))
_OURS = {"", _HERE, os.path.dirname(_HERE), os.path.dirname(os.path.dirname(_HERE))}
_SIGNALS = range(1, 32)
_NAMESPACES = ("mnt", "net", "pid", "user")
_LIMITS = 16
"""RLIM_NLIMITS of Linux, which Python does not tell."""


def inherited() -> tuple[Any, ...]:
    """Return what a forked process has from where it was forked, and cannot or need not change."""
    import resource

    limits = [resource.getrlimit(number) for number in range(_LIMITS)]
    namespaces = [os.readlink(f"/proc/self/ns/{name}") for name in _NAMESPACES]
    users = (os.getuid(), os.geteuid(), os.getgid(), os.getegid(), os.getgroups())
    return sys.version, sys.prefix, tuple(sys.flags), sys.warnoptions, limits, namespaces, users


def _asked() -> tuple[str, list[str], bool] | None:
    """Return the module that this process is to run with its arguments, and whether somebody waits for its end."""
    words = sys.orig_argv[1:]
    if words[:1] == ["-m"] and words[1] in RUNNERS:
        return words[1], words[1:], False
    # the signal with which a shell ends a server would end this process, and not the one that is forked
    if WHICH in os.environ and "server" not in words:
        if words[:2] == ["-m", COMMANDS]:
            return COMMANDS, words[1:], True
        if words and os.path.basename(words[0]) == "fuel2":
            return COMMANDS, words, True
    return None


def _is_usual() -> bool:
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return _OURS.issuperset(paths) and "PYTHONHASHSEED" not in os.environ and not any(map(os.isatty, range(3)))


def _hand_over(address: str, module: str, arguments: list[str], is_awaited: bool) -> None:
    import _signal  # type: ignore[import-not-found]  # `signal` would import enumerations
    import _socket
    import array
    import marshal

    there = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    there.connect(address)
    files = sorted({int(name) for name in os.listdir("/proc/self/fd")} - {there.fileno()})
    files = [number for number in files if _is_open(number)]
    mask = os.umask(0o077)
    ignored = [number for number in _SIGNALS if _signal.getsignal(number) == _signal.SIG_IGN]
    data = marshal.dumps(
        (inherited(), module, arguments, dict(os.environ), os.getcwd(), mask, ignored, files, is_awaited)
    )
    rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", files))]
    there.sendmsg([len(data).to_bytes(4, "little")], rights)
    there.sendall(data)
    if there.recv(1) != b"+":
        os.umask(mask)
        there.close()
        return
    code = there.recv(1) if is_awaited else b"\0"
    os._exit(code[0] if code else 137)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:  # the listing of the directory itself
        return False
    return True


def _become() -> None:
    address = os.environ.get(ADDRESS)
    asked = _asked() if address else None
    if address and asked and _is_usual():
        try:
            _hand_over(address, *asked)
        except OSError:  # nobody answers: this process does it
            return


if __name__ == "sitecustomize":
    _become()
