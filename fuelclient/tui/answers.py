"""Answers: what a backend has said so far. Of each kind those that were looked at last are kept, so that a day of
looking at logs and runs needs no more memory than the first minutes."""

from __future__ import annotations

from fuelclient.tui.requests import AskLog, AskRun, AskSource, AskSubject, Request

KEPT: dict[type, int] = {AskLog: 32, AskRun: 6, AskSource: 64, AskSubject: 12}
"""How many answers of a kind are kept. A run may have a hundred thousand instances; those that have no number here are
few and small."""


class Answers:
    """Answers by their requests, those that were wanted last at the end. What is *old* is shown and asked for again."""

    def __init__(self) -> None:
        self._known: dict[Request[object], object] = {}
        self._old: set[Request[object]] = set()

    def __contains__(self, request: object) -> bool:
        return request in self._known

    def __len__(self) -> int:
        return len(self._known)

    def get(self, request: Request[object]) -> object | None:
        """What is known. Whoever looks at it wants it kept."""
        if request not in self._known:
            return None
        found = self._known[request] = self._known.pop(request)
        return found

    def put(self, request: Request[object], value: object) -> None:
        """Know an answer, and forget the one of its kind that nobody has looked at for the longest time."""
        self._known.pop(request, None)
        self._known[request] = value
        self._old.discard(request)
        most = KEPT.get(type(request))
        if most is not None:
            same = [one for one in self._known if type(one) is type(request)]
            for one in same[:-most]:
                self.drop(one)

    def drop(self, request: Request[object]) -> None:
        """Know nothing about it any more."""
        self._known.pop(request, None)
        self._old.discard(request)

    def clear(self) -> None:
        """Know nothing any more."""
        self._known.clear()
        self._old.clear()

    def age(self, request: Request[object]) -> None:
        """Let one answer be old, if there is one."""
        if request in self._known:
            self._old.add(request)

    def age_all(self) -> None:
        """Let all answers be old."""
        self._old.update(self._known)

    def renewing(self, request: Request[object]) -> None:
        """Somebody has asked for it again."""
        self._old.discard(request)

    def is_old(self, request: Request[object]) -> bool:
        return request in self._old
