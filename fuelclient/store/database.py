"""Open the engine file, create and upgrade it safely among many processes, and run transactions.

A new file is created under another name, under a lock, with its journal mode and its schema, and then moved into place,
so that no process ever opens an incomplete one. Upgrades of the schema take the same lock. With WAL, readers and one
writer work at the same time. Transactions are explicit: `read` sees one state of the file from its first query to its
end, and `write` holds the write lock from its beginning, because a transaction that reads first and then writes fails
if another process wrote in between. An operation opens one and passes its connection on. `together` joins several
operations that write, and `reading` several that read.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from typing import Any, TypeVar, cast

from fuelclient.errors import Gone, Unavailable
from fuelclient.store import access, migrations
from fuelclient.store.access import ELSEWHERE, translated, unavailable
from fuelclient.store.locks import Queue, lock

_Value = TypeVar("_Value")


class Connection(sqlite3.Connection):
    """A connection to an engine file, which only this package creates.

    A transaction that only reads sees one state of the file, so its results can be remembered until it ends.
    """

    remembered: dict[Hashable, Any] | None = None

    def once(self, key: Hashable, read: Callable[[], _Value]) -> _Value:
        """Call `read` once in a transaction that only reads, and remember its result."""
        if self.remembered is None:
            return read()
        if key not in self.remembered:
            self.remembered[key] = read()
        return cast("_Value", self.remembered[key])


BUSY_SECONDS = 30.0
"""How many seconds a process waits for the write of another process before it gives up."""


class Locked(Unavailable):
    """Another process holds the write lock; nothing was done."""


class Database:
    """An engine file. The first transaction opens it, and the first one that writes creates it if it does not exist;
    until then it reads as an empty one.

    Errors are `Unavailable`, with the reason and the path: no permission, not a regular file, not a database, a schema
    of a later version, a full disk, a lock that was held for longer than `busy_seconds`. With `patience` a transaction
    keeps trying for that many more seconds, and reports each try to `tell`. A file that is removed or replaced while it
    is in use is `Gone`, because data written to it would be lost.
    """

    def __init__(
        self,
        path: str,
        *,
        busy_seconds: float = BUSY_SECONDS,
        patience: float = 0.0,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.path = path
        self.busy_seconds = busy_seconds
        self._patience, self._tell = patience, tell
        self._connection: Connection | None = None
        self._empty: Connection | None = None
        self._closing: list[Callable[[], object]] = []
        self._identity: tuple[int, int] | None = None
        self._joined: Connection | None = None
        self._moment: ExitStack | None = None
        self._read_in: Connection | None = None
        self._queue: Queue | None = None

    def read(self) -> AbstractContextManager[Connection]:
        """Begin a transaction that sees one state of the file.

        It works for files that can only be read, and on a full disk. A missing file reads as an empty one.
        """
        if self._joined is not None:
            return _savepoint(self._joined)
        if self._read_in is not None:
            return self._nested(self._read_in)
        if self._connection is None and not _exists(self.path):
            transaction = self._empty_tables()
        else:
            transaction = self._immutable() if self._must_be_immutable else self._transaction("BEGIN")
        if self._moment is None:
            return self._remembering(transaction)
        return self._nested(self._moment.enter_context(self._remembering(transaction)))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read in one transaction until the block writes something: all data are from one moment, and are read only
        once."""
        if self._moment is not None or self._joined is not None:
            yield
            return
        self._moment = moment = ExitStack()
        try:
            with moment:
                yield
        finally:
            self._moment = None

    def commits(self) -> int:
        """A number that has changed if another connection has committed since the last call.

        It describes the state that the open transaction sees, or else the current state.
        """
        with translated(self.path):
            return _commits(self._open())

    @staticmethod
    def state(connection: Connection) -> Hashable:
        """What differs from all earlier values if the file that an open transaction sees has changed, or is another."""
        return connection, _commits(connection), connection.total_changes

    @property
    def is_reading(self) -> bool:
        return self._read_in is not None

    @contextmanager
    def _remembering(self, transaction: AbstractContextManager[Connection]) -> Iterator[Connection]:
        with transaction as connection:
            self._read_in = connection
            connection.remembered = {}
            try:
                yield connection
            finally:
                self._read_in = None
                connection.remembered = None

    @contextmanager
    def _nested(self, connection: Connection) -> Iterator[Connection]:
        with translated(self.path):
            yield connection

    @property
    def _must_be_immutable(self) -> bool:
        """Whether the file can only be read as immutable, and this is safe."""
        if self._connection is not None or not os.path.exists(self.path):
            return False
        if access.is_read_only(self.path):
            return access.is_quiet(self.path)
        return access.is_full(self.path) and access.is_whole(self.path)

    def write(self, *, at_once: bool = False) -> AbstractContextManager[Connection]:
        """Begin a transaction that holds the write lock. An exception rolls it back.

        With `at_once`, raise `Locked` instead of waiting if another process holds the lock.
        """
        if self._joined is not None:
            return _savepoint(self._joined)
        self.end_reading()
        return self._transaction("BEGIN IMMEDIATE", at_once=at_once)

    def end_reading(self) -> None:
        """End the transaction of a `reading` block before a write, or a long wait."""
        if self._moment is not None:
            self._moment.close()
            self._moment = None

    @contextmanager
    def undone(self) -> Iterator[Connection]:
        """Begin a transaction as `write` does, and roll it back at its end, to compute the effect of a change."""
        with suppress(_Undone), self.write() as connection:
            yield connection
            raise _Undone

    @contextmanager
    def together(self) -> Iterator[None]:
        """Join all transactions that begin in the block, so that all of it is stored, or nothing."""
        self.end_reading()
        with self.alone(), self._transaction("BEGIN IMMEDIATE") as connection:
            self._joined = connection
            try:
                yield
            finally:
                self._joined = None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Exclude other callers of `alone`, for work on the files beside the engine file.

        Transactions are not excluded. The lock is the one for creating the file, so the file is opened first.
        """
        if self._joined is not None:  # `together` holds the lock
            yield
            return
        with translated(self.path):
            self._open()
        with ExitStack() as stack:
            try:
                stack.enter_context(lock(os.path.realpath(self.path)))
            except OSError as error:
                raise _no_access(self.path, error) from error
            yield

    def close(self) -> None:
        """Close the file; the next transaction opens it again."""
        for finalize in self._closing:
            finalize()
        self._closing.clear()
        self._connection = self._empty = self._queue = None

    def _close_later(self, connection: Connection) -> Connection:
        """Register a connection to be closed with this object, so that callers need not close it."""
        self._closing.append(weakref.finalize(self, _close, connection))
        return connection

    def still_waiting(self, waited: float) -> None:
        """Report the seconds that a transaction has waited for the lock. Raise `Unavailable` if that is too long."""
        if waited >= self._patience + self.busy_seconds:
            raise unavailable(self.path, sqlite3.SQLITE_BUSY)
        if self._tell is not None:
            self._tell(f"{self.path} has been locked by another process for {waited:.0f} s; waiting for it.")

    @contextmanager
    def _transaction(self, begin: str, *, at_once: bool = False) -> Iterator[Connection]:
        with translated(self.path):
            connection = self._open()
            try:
                if at_once:
                    self._begin_at_once(connection, begin)
                elif begin == "BEGIN" or not self._begin_in_turn(connection, begin):
                    self._begin(connection, begin)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            finally:
                if self._queue is not None:
                    self._queue.leave()

    def _begin_in_turn(self, connection: Connection, begin: str) -> bool:
        """Wait for our turn among writers. Return whether the transaction has begun meanwhile.

        Without a queue (another user's file, a full disk) writers still exclude each other, in no particular order.
        """

        def overtake() -> bool:
            with suppress(Locked):
                self._begin_at_once(connection, begin)
            if not connection.in_transaction and time.monotonic() - began >= self.busy_seconds * (reports[0] + 1):
                reports[0] += 1
                self.still_waiting(time.monotonic() - began)
            return connection.in_transaction

        began, reports = time.monotonic(), [0]
        with suppress(OSError):
            if self._queue is None:
                self._queue = Queue(f"{os.path.realpath(self.path)}.lock")
                self._closing.append(weakref.finalize(self, self._queue.close))
            self._queue.enter()
            return self._queue.wait(overtake)
        return False

    def _begin(self, connection: Connection, begin: str) -> None:
        """Begin a transaction; if the file is locked, try again until `still_waiting` raises."""
        began = time.monotonic()
        while True:
            try:
                connection.execute(begin)
            except sqlite3.OperationalError as error:
                if not _is_busy(error):
                    raise
                self.still_waiting(time.monotonic() - began)
            else:
                return

    def _begin_at_once(self, connection: Connection, begin: str) -> None:
        """Begin a transaction. Raise `Locked` if that would mean waiting."""
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            connection.execute(begin)
        except sqlite3.OperationalError as error:
            if _is_busy(error):
                raise Locked(f"Engine file {self.path} is locked by another process.") from error
            raise
        finally:
            connection.execute(f"PRAGMA busy_timeout = {round(self.busy_seconds * 1000)}")

    @contextmanager
    def _empty_tables(self) -> Iterator[Connection]:
        """Yield the empty tables of a new file. They are in memory, and made only once."""
        if self._empty is None:
            self._empty = self._close_later(_connect(":memory:", self.busy_seconds))
            migrations.migrate(self._empty, self.path)
        self._empty.execute("BEGIN")
        try:
            yield self._empty
        finally:
            self._empty.execute("ROLLBACK")

    @contextmanager
    def _immutable(self) -> Iterator[Connection]:
        """Yield the file as immutable. It is opened for only one transaction, because its owner may write soon."""
        with translated(self.path):
            if not access.size_of(self.path):
                raise access.read_only(self.path, ", and it is empty")
            with access.unchanging(self.path, Connection) as connection:
                if migrations.version(connection, self.path) != migrations.LATEST:
                    raise access.read_only(self.path, ", and it has to be upgraded from an earlier version of fuel2")
                connection.execute("BEGIN")
                yield connection

    def _open(self) -> Connection:
        if self._connection is None:
            self._connection = self._close_later(self._open_existing() or self._create_or_upgrade())
            with suppress(OSError):
                self._identity = _identity(self.path)
        elif self._identity is not None and _is_another(self.path, self._identity):
            raise Gone(
                f"Engine file {self.path} was removed or replaced while it was in use.",
                hint="Restore it, and start again.",
            )
        return self._connection

    def _open_existing(self) -> Connection | None:
        """Open the file; None if it is missing, empty or of an earlier version."""
        try:
            if not access.size_of(self.path):
                return None
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _no_access(self.path, error) from error
        with ExitStack() as stack:
            connection = _connect(self.path, self.busy_seconds)
            stack.callback(connection.close)
            if migrations.version(connection, self.path) != migrations.LATEST:
                return None
            stack.pop_all()
            return connection

    def _create_or_upgrade(self) -> Connection:
        """Create or upgrade the file, unless another process just did, and open it."""
        target = os.path.realpath(self.path)
        try:
            with lock(target):
                if os.path.exists(target) and access.size_of(self.path):
                    with closing(_connect(target, self.busy_seconds)) as connection:
                        earlier = migrations.version(connection, self.path)
                        if 0 < earlier < migrations.LATEST:
                            from fuelclient.store import backups

                            backups.copy(self.path, f"{target}.schema-{earlier}")
                        migrations.migrate(connection, self.path)
                else:
                    _create(target, self.path, self.busy_seconds)
        except OSError as error:
            raise _no_access(self.path, error) from error
        return _connect(self.path, self.busy_seconds)


def _commits(connection: Connection) -> int:
    (number,) = connection.execute("PRAGMA data_version").fetchone()
    return int(number)


class _Undone(Exception):
    """Roll back a transaction without an error."""


@contextmanager
def _savepoint(connection: Connection) -> Iterator[Connection]:
    """Begin a part of a transaction. An exception rolls back this part."""
    connection.execute("SAVEPOINT part")
    try:
        yield connection
    except BaseException:
        connection.execute("ROLLBACK TO part")
        raise
    finally:
        connection.execute("RELEASE part")


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


def _exists(path: str) -> bool:
    """Whether something is at `path`, even if it cannot be examined."""
    try:
        os.stat(path)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # opening it raises the reason
    return True


def _identity(path: str) -> tuple[int, int]:
    """The numbers that distinguish a file from a later file with the same name."""
    status = os.stat(path)
    return status.st_dev, status.st_ino


def _is_another(path: str, identity: tuple[int, int]) -> bool:
    """Whether the file is gone or was replaced; false if it cannot be examined just now."""
    try:
        return _identity(path) != identity
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _close(connection: Connection) -> None:
    with suppress(sqlite3.ProgrammingError):  # the last reference may be in another thread, which may not close it
        connection.close()


def _connect(path: str, busy_seconds: float) -> Connection:
    connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, factory=Connection)
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        # With WAL, commits survive a killed process; after a power cut the last ones may be missing.
        connection.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.Error:  # not an engine file: leave it closed
        connection.close()
        raise
    return connection


def _no_access(path: str, error: OSError) -> Unavailable:
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS) and access.is_read_only(path):
        return access.read_only(path)
    return Unavailable(f"Engine file {path} cannot be opened: {error.strerror}.", hint=ELSEWHERE)


def _create(target: str, path: str, busy_seconds: float) -> None:
    """Create the file under another name and move it into place. Leftovers of an interrupted attempt are removed first,
    and the log of a deleted file, which SQLite would apply to the new one."""
    fresh = f"{target}.new"
    for leftover in (fresh, *(f"{path}{ending}" for path in (fresh, target) for ending in ("-wal", "-shm"))):
        with suppress(FileNotFoundError):
            os.unlink(leftover)
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with closing(_connect(fresh, busy_seconds)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        migrations.migrate(connection, path)
    os.replace(fresh, target)
