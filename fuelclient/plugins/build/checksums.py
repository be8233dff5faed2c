"""`checksums.sha1`: the SHA-1 of every file of a package, as Fuel's own builder lists them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from fuelclient.plugins.build.files import CHECKSUMS, Entry, Kind, generated


def checksums(entries: Iterable[Entry]) -> Entry:
    """The entry `checksums.sha1`: a line `<sha1> <path>` for each file, by path; it does not list itself.

    Links are left out: what they lead to is listed already.

    >>> checksums([generated("a", b"fake file content")]).content
    b'5083c27641e7e4ae287d690cb3fafb4dd6e8f6ab a\\n'
    """
    files = sorted((entry for entry in entries if entry.kind is Kind.FILE), key=lambda entry: entry.path)
    text = "".join(f"{_sha1(entry)} {entry.path}\n" for entry in files)
    return generated(CHECKSUMS, text.encode())


def _sha1(entry: Entry) -> str:
    # The format says SHA-1; it tells damage from no damage, not friend from foe.
    digest = hashlib.sha1(usedforsecurity=False)
    for chunk in entry.chunks():
        digest.update(chunk)
    return digest.hexdigest()
