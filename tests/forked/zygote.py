"""A process that has imported everything, and forks for each runner that a test starts.

A runner imports for a quarter of a second of processor time, and the tests start more than five hundred. It is forked
when the interpreter of a real one starts (`sitecustomize.py`), and has what that one was given: arguments, environment,
directory, umask, ignored signals, open files and a session of its own. Its command line, as `ps` shows it, is ours.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import marshal
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from forked.sitecustomize import ADDRESS, COMMANDS, RUNNERS, WHICH, inherited

_HERE = Path(__file__).resolve().parent
_MOST = 64
"""More files than any process is started with."""
_OF_COMMANDS = ("fuelclient.backends.local", "fuelclient.commands.shell", "tabulate", "yaml")
_LATER = ("asyncssh", "fuelclient.executors.local", "fuelclient.executors.noop", "fuelclient.executors.ssh")
"""What commands and runners import when they need it."""


@contextlib.contextmanager
def zygote() -> Iterator[None]:
    """Have one, for all processes that are started with our environment."""
    with tempfile.TemporaryDirectory(prefix="zygote-") as directory:
        address = f"{directory}/socket"
        paths = os.pathsep.join(filter(None, [str(_HERE), os.environ.get("PYTHONPATH")]))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen(64)
            process = subprocess.Popen(
                [sys.executable, "-m", "forked.zygote", str(listener.fileno())],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=[listener.fileno()], start_new_session=True,
                env={**os.environ, "PYTHONPATH": f"{_HERE.parents[1]}{os.pathsep}{_HERE.parent}"}, cwd="/",
            )  # fmt: skip
        os.environ.update({ADDRESS: address, "PYTHONPATH": paths})
        try:
            yield
        finally:
            process.communicate()  # it ends when nobody can write to its stdin any more


def forking() -> dict[str, str]:
    """Return variables with which a shell's commands of `fuel2` are forked, too."""
    names = (ADDRESS, "PYTHONPATH")
    return {WHICH: "1", **{name: os.environ[name] for name in names if name in os.environ}}


def _serve(listener: socket.socket) -> int:
    """Fork for each process that asks, and return its exit code, in the process that was forked."""
    ours = inherited()
    while True:
        ready, _, _ = select.select([listener.fileno(), 0], [], [])
        if 0 in ready:
            return 0
        asking, _ = listener.accept()
        if os.fork():
            asking.close()
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        listener.close()
        return _live(asking, ours)


def _live(asking: socket.socket, ours: tuple[object, ...]) -> int:
    """Be the process that asks."""
    head, files, _, _ = socket.recv_fds(asking, 4, _MOST)
    data = asking.recv(int.from_bytes(head, "little"), socket.MSG_WAITALL)
    theirs, module, arguments, environ, directory, mask, ignored, numbers, is_awaited = marshal.loads(data)  # noqa: S302
    if theirs != ours:
        return 1
    os.setsid()
    asking = _with_files(files, numbers, asking)
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    os.chdir(directory)
    os.umask(mask)
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
    sys.argv = arguments
    _open_streams()
    asking.send(b"+")
    code = 1
    try:
        code = importlib.import_module(module).main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        if is_awaited:
            sys.stdout.flush()
            asking.send(bytes([code]))
    return code


def _with_files(files: list[int], numbers: list[int], asking: socket.socket) -> socket.socket:
    """Give the files that were sent the numbers that they had; return the socket, which may get another one."""
    free = max(*numbers, *files, asking.fileno()) + 1
    moved = socket.socket(fileno=fcntl.fcntl(asking, fcntl.F_DUPFD_CLOEXEC, free))
    asking.close()
    aside = [fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, free) for file in files]
    for file in files:
        os.close(file)
    for file, number in zip(aside, numbers, strict=True):
        os.dup2(file, number)
        os.close(file)
    return moved


def _open_streams() -> None:
    """Open the three streams anew: what ours know of their files, such as whether they can seek, is about others."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        old = getattr(sys, name)
        stream = open(number, mode, 1 if name == "stderr" else -1, old.encoding, old.errors, closefd=False)  # noqa: SIM115 (it lives as long as the process)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def main() -> None:
    """Import everything, and wait for processes that ask."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody collects what is forked
    for module in (*RUNNERS, COMMANDS, *_OF_COMMANDS, *_LATER):
        with contextlib.suppress(ImportError):  # of an extra that is not installed
            importlib.import_module(module)
    gc.collect()
    gc.freeze()
    code = _serve(socket.socket(fileno=int(sys.argv[1])))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # to take the interpreter down would look at everything that was imported


if __name__ == "__main__":
    main()
