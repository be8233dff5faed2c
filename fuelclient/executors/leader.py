"""Lead commands on this machine: fork a leader for each, which does what `spool.WRAPPER` does on other machines.

This is a small process of its own, which imports little: a fork of it takes a fraction of the time that a shell takes
with the programs it needs. It ends with the process that started it; its leaders go on. The files of the spool, the
order in which they are written, and the reasons for that order are those of the wrapper.
"""

from __future__ import annotations

import os
import select
import signal
import socket
from contextlib import suppress

_MAX_REQUEST_BYTES = 1 << 17
_READ_BYTES = 1 << 16
_MEGABYTE = 1 << 20
_LONG_BYTES = _MEGABYTE // 2
"""From so many bytes on, an output is copied by the shell, which keeps its beginning and its end."""

_COPIER_SECONDS = 1.1
_FAILED, _NOT_FOUND = 120, 127


def serve(descriptor: int, copier: str) -> None:
    """Fork a leader for each request of a socket, until the socket is closed. `copier` is the shell's script for long
    outputs. A request has the arguments of `lead` and the end of a pipe, which is closed at the end of the leader."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that no leader becomes a zombie
    with socket.socket(fileno=descriptor) as requests:
        while (request := socket.recv_fds(requests, _MAX_REQUEST_BYTES, 1))[0]:
            words, (held,) = os.fsdecode(request[0]).split("\0"), request[1]
            os.set_inheritable(held, False)
            if not os.fork():
                requests.close()
                code = _FAILED
                try:
                    lead(held, copier, *words)
                    code = 0
                finally:
                    os._exit(code)
            os.close(held)


def lead(held: int, copier: str, label: str, used: str, directory: str, megabytes: str, *variables: str) -> None:
    """Lead one try: claim it, store its process, wait for its command, and store the exit code.

    No other process has `held`. `variables` (`NAME=value`) are added to the command's environment.
    """
    os.setsid()
    os.chdir(directory)
    os.umask(0o077)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: None)  # caught, not ignored: the command gets the default
    boot = _text("/proc/sys/kernel/random/boot_id")
    try:
        _write(f"claim.{label}", boot, os.O_EXCL)
    except FileExistsError:
        return
    up = _text("/proc/uptime").split()[0]
    start = _text("/proc/self/stat").rpartition(") ")[2].split()[19]
    for name in os.listdir():
        stem, _, end = name.partition(".")
        if stem in ("out", "err") and (end in ("pipe", "done") or end.isdigit()):
            os.unlink(name)
    outputs = [_Output(name, copier, megabytes) for name in ("out", "err")]
    sizes, namespace = [output.size_before for output in outputs], os.readlink("/proc/self/ns/pid")
    words = (str(os.getpid()), start, boot.strip(), label, up, used, *sizes, namespace)
    _write("pid", " ".join(words) + "\n")
    if os.path.exists(f"never.{label}"):
        return
    code, why = 137, "exit"
    if not _text(f"stop.{label}"):
        code = _run(held, outputs, dict(word.split("=", 1) for word in variables))
    why = _text(f"stop.{label}").partition("\n")[0] or why
    for name in os.listdir():
        if (name == "cmd" or name.startswith(("cmd.", "file."))) and os.path.isfile(name):
            os.truncate(name, 0)
    _write("rc.new", f"{_text('rc')}{label} {code} {why}\n")
    os.replace("rc.new", "rc")


class _Output:
    """An output of a command: the file for it, how many bytes of this try are copied there, and the arguments of the
    shell's copier."""

    def __init__(self, name: str, copier: str, megabytes: str) -> None:
        self.size_before = str(_size_before(name, megabytes))
        self.words = ("/bin/sh", "-c", copier, "fuel2-copy", name, self.size_before, megabytes)
        self.file = os.open(name, os.O_WRONLY | os.O_APPEND)
        self.count = 0


def _run(held: int, outputs: list[_Output], variables: dict[str, str]) -> int:
    """Run the command, and return its exit code when its outputs are copied, or a second after its end: a process that
    it left behind may keep them open."""
    (killed, wake), (copied, copying) = os.pipe(), os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    pipes, ends = zip(*(os.pipe() for _ in outputs), strict=True)
    os.umask(0o022)
    try:
        command = os.posix_spawnp(
            "bash", ["bash", "./cmd"], {**os.environ, **variables},
            file_actions=[(os.POSIX_SPAWN_DUP2, end, number) for number, end in enumerate(ends, 1)],
            setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),  # Python ignores these signals, but commands must not
        )  # fmt: skip
    except FileNotFoundError as error:
        os.write(outputs[1].file, f"bash: {error.strerror}\n".encode())
        return _NOT_FOUND
    finally:
        os.umask(0o077)
    for end in ends:
        os.close(end)
    left = dict(zip(pipes, outputs, strict=True))
    os.set_inheritable(copying, True)  # all that copy hold it
    _copy(left, os.pidfd_open(command), killed)
    if not select.select([killed], [], [], 0)[0]:
        code = os.waitpid(command, 0)[1]
        _copy(left, milliseconds=0)
        _leave(left, held)
    else:
        _leave(left, held)  # a kill ends with SIGKILL for the whole session, but what left it may go on writing
        code = os.waitpid(command, 0)[1]
    os.close(copying)
    select.select([copied], [], [], _COPIER_SECONDS)
    for name in ("out.done", "err.done"):
        with suppress(FileNotFoundError):
            os.unlink(name)
    exit_code = os.waitstatus_to_exitcode(code)
    return exit_code if exit_code >= 0 else 128 - exit_code


def _copy(outputs: dict[int, _Output], *until: int, milliseconds: int | None = None) -> None:
    """Copy outputs from their pipes until all are closed, one of `until` can be read, or nothing came for a time. On a
    full disk, read on, so that the command does not fail for that."""
    waiting = select.poll()
    for descriptor in (*outputs, *until):
        waiting.register(descriptor, select.POLLIN)
    while outputs or until:
        ready = [descriptor for descriptor, _ in waiting.poll(milliseconds)]
        for pipe in outputs.keys() & ready:
            output, data = outputs[pipe], os.read(pipe, _READ_BYTES)
            with suppress(OSError):
                os.write(output.file, data)
            output.count += len(data)
            if output.count >= _LONG_BYTES:
                stdin = (os.POSIX_SPAWN_DUP2, pipe, 0)
                os.posix_spawn(output.words[0], output.words, os.environ, file_actions=[stdin], setsid=True)
            if not data or output.count >= _LONG_BYTES:
                waiting.unregister(pipe)
                os.close(pipe)
                del outputs[pipe]
        if not ready or any(descriptor in ready for descriptor in until):
            return


def _leave(outputs: dict[int, _Output], held: int) -> None:
    """Leave copying to a process with a session of its own."""
    if outputs and not os.fork():
        os.setsid()
        os.close(held)
        _copy(outputs)
        os._exit(0)
    for pipe in outputs:
        os.close(pipe)


def _size_before(name: str, megabytes: str) -> int:
    """Return how many bytes an output has from earlier tries. If they are too many, keep its first megabyte."""
    with open(name, "ab") as file:
        size = file.tell()
    if size < _MEGABYTE * int(megabytes):
        return size
    with open(name, "rb") as file:
        head = file.read(_MEGABYTE)
    note = f"\n[The rest of earlier tries is left out here: OUTPUT_MEGABYTES is {megabytes}]\n"
    with open(f"{name}.new", "wb") as file:
        file.write(head + note.encode())
    os.replace(f"{name}.new", name)
    return os.stat(name).st_size


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _write(path: str, text: str, flags: int = os.O_TRUNC) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | flags, 0o600)
    os.write(handle, text.encode())
    os.close(handle)
