"""Releases of a master."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.backends.nailgun.facet import Facet, by_id
from fuelclient.environment.checks import require_id
from fuelclient.errors import Conflict, FuelError
from fuelclient.model.release import Release
from fuelclient.serializers.answer import Answer, objects
from fuelclient.serializers.release import release_record_from, release_to, repositories_in, with_repositories

_ATTRIBUTES = "attributes_metadata"


class Releases(Facet):
    """Releases; see `base.Releases`."""

    noun = "release"

    def list(self) -> Sequence[Release]:
        return by_id(release_record_from, self._session.get("releases/"), "release")

    def get(self, release_id: int) -> Release:
        return release_record_from(self._at(release_id).get())

    def create(self, releases: Sequence[Release]) -> Sequence[Release]:
        """As `base.Releases`.

        A Fuel master takes one release at a time. Ids are not sent to it: a fixture has those of the master that it was
        written for, and one that is taken makes the request fail. If it refuses a release, those before it are removed.
        """
        for release in releases:
            require_id("release", release.id)
        records = [{key: value for key, value in release_to(release).items() if key != "id"} for release in releases]
        self._require_new(releases)
        created: list[Release] = []
        try:
            for record in records:
                stored = release_record_from(self._session.post("releases/", record))
                created.append(stored)  # at once, so that an error removes it
        except BaseException:
            for release in created:
                with contextlib.suppress(FuelError):  # the first error is the one to report
                    self.delete(release.id)
            raise
        return created

    def update(self, release: Release) -> Release:
        return release_record_from(self._at(release.id).put(release_to(release)))

    def delete(self, release_id: int) -> None:
        self._at(release_id).delete()

    def components(self, release_id: int) -> Sequence[Mapping[str, Any]]:
        data = self._at(release_id, "components/").get()
        return [Answer(component, "component").rest() for component in objects(data, "component")]

    def repositories(self, release_id: int) -> Sequence[Mapping[str, Any]]:
        return repositories_in(self._attributes(release_id))

    def set_repositories(self, release_id: int, repositories: Sequence[Mapping[str, Any]]) -> None:
        body = with_repositories(self._attributes(release_id), repositories)[_ATTRIBUTES]
        self._at(release_id, f"{_ATTRIBUTES}/").put(body)

    def _attributes(self, release_id: int) -> dict[str, Any]:
        """Return the settings of a release in the form of its metadata."""
        return {_ATTRIBUTES: Answer(self._at(release_id, f"{_ATTRIBUTES}/").get(), "release's attributes").rest()}

    def _require_new(self, releases: Sequence[Release]) -> None:
        """Raise `Conflict` if a name and version exists or is given twice."""
        known = {(release.name, release.version) for release in self.list()}
        seen: set[tuple[str, str]] = set()
        for key in ((release.name, release.version) for release in releases):
            if key in known or key in seen:
                verb = "exists already" if key in known else "is given twice"
                raise Conflict(f"Release {' '.join(key)} {verb}.", hint="Leave it out, or rename it.")
            seen.add(key)
