"""Releases of a master."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.backends.nailgun.errors import About
from fuelclient.backends.nailgun.session import Session
from fuelclient.errors import Conflict, FuelError, UsageError
from fuelclient.model.release import Release
from fuelclient.serializers.answer import Answer, objects
from fuelclient.serializers.release import release_record_from, release_to, repositories_in, with_repositories

LARGEST_ID = 2**31 - 1
"""The largest id that Nailgun's database takes."""

_ATTRIBUTES = "attributes_metadata"


class Releases:
    """Releases; see `base.Releases`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self) -> Sequence[Release]:
        found = [release_record_from(one) for one in objects(self._session.get("releases/"), "release")]
        return sorted(found, key=lambda one: one.id)

    def get(self, release_id: int) -> Release:
        return release_record_from(self._session.get(f"releases/{release_id}/", About("release", release_id)))

    def create(self, releases: Sequence[Release]) -> Sequence[Release]:
        """As `base.Releases`. A Fuel master takes one release at a time, and gives the ids itself: when one is
        refused, those before it are removed again."""
        for one in releases:
            if not 0 <= one.id <= LARGEST_ID:
                hint = f"Ids are numbers from 1 to {LARGEST_ID}."
                raise UsageError(f"{one.id} cannot be the id of a release.", hint=hint)
        releases = _with_ids_once(releases)
        records = [{key: value for key, value in release_to(one).items() if key != "id" or value} for one in releases]
        if self._session.capabilities.batches:
            if not records:
                return []
            data = self._session.post("releases/", records)
            return [release_record_from(one) for one in objects(data, "release")]
        self._require_new(releases)
        created: list[Release] = []
        try:
            for record in records:
                made = release_record_from(self._session.post("releases/", record))
                created.append(made)
        except BaseException:
            for done in created:
                with contextlib.suppress(FuelError):  # the first error is the one to tell
                    self.delete(done.id)
            raise
        return created

    def delete(self, release_id: int) -> None:
        self._session.delete(f"releases/{release_id}/", About("release", release_id))

    def components(self, release_id: int) -> Sequence[Mapping[str, Any]]:
        data = self._session.get(f"releases/{release_id}/components/", About("release", release_id))
        return [Answer(one, "component").rest() for one in objects(data, "component")]

    def repositories(self, release_id: int) -> Sequence[Mapping[str, Any]]:
        return repositories_in(self._attributes(release_id))

    def set_repositories(self, release_id: int, repositories: Sequence[Mapping[str, Any]]) -> None:
        body = with_repositories(self._attributes(release_id), repositories)[_ATTRIBUTES]
        self._session.put(f"releases/{release_id}/{_ATTRIBUTES}/", body, About("release", release_id))

    def _attributes(self, release_id: int) -> dict[str, Any]:
        """The settings that a release has by itself, as its metadata has them."""
        data = self._session.get(f"releases/{release_id}/{_ATTRIBUTES}/", About("release", release_id))
        return {_ATTRIBUTES: Answer(data, "release's attributes").rest()}

    def _require_new(self, releases: Sequence[Release]) -> None:
        """Nothing happens for releases that can be made; `Conflict` for one that is there or given twice, before any
        is made."""
        known = {(one.name, one.version) for one in self.list()}
        seen: set[tuple[str, str]] = set()
        for one in releases:
            key = (one.name, one.version)
            if key in known or key in seen:
                verb = "exists already" if key in known else "is given twice"
                raise Conflict(f"Release {one.name} {one.version} {verb}.", hint="Leave it out, or rename it.")
            seen.add(key)


def _with_ids_once(releases: Sequence[Release]) -> list[Release]:
    """`releases` where only the first one of an id has it; the others get free ones."""
    seen: set[int] = set()
    found = []
    for one in releases:
        found.append(replace(one, id=0) if one.id in seen else one)
        seen.add(one.id)
    return found
