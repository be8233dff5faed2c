"""Other names for the files of a package: an installed one is known by name and version, not by where it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fuelclient.model.graph import GraphDocument
from fuelclient.model.package import Contents, Package, PackagedRelease, ReleaseRecord
from fuelclient.model.task import Task


@dataclass(frozen=True, slots=True)
class Naming:
    """Calls the directory `before` of a package `after`, wherever tasks remember their files.

    >>> Naming("/tmp/new-1/", "lma-0.10.2").file("/tmp/new-1/deployment_tasks.yaml")
    'lma-0.10.2/deployment_tasks.yaml'
    """

    before: str
    after: str

    def file(self, name: str) -> str:
        """The new name of a file; that of a file elsewhere stays."""
        start = f"{self.before.rstrip('/')}/"
        return f"{self.after}/{name.removeprefix(start)}" if name.startswith(start) else name

    def graph(self, graph: GraphDocument) -> GraphDocument:
        """The graph with its tasks in files of the new name; its findings belong to the moment, and are gone."""
        return replace(graph, tasks=tuple(map(self._task, graph.tasks)), findings=())

    def package(self, package: Package) -> Package:
        """The package with all tasks in files of the new name."""
        records = tuple(map(self._record, package.records))
        releases = tuple(PackagedRelease(one.release, self._graphs(one.graphs)) for one in package.releases)
        contents = self._contents(package.contents)
        return replace(package, contents=contents, records=records, releases=releases, findings=())

    def _task(self, task: Task) -> Task:
        return replace(task, source=replace(task.source, file=self.file(task.source.file)))

    def _graphs(self, graphs: Mapping[str, GraphDocument]) -> dict[str, GraphDocument]:
        return {kind: self.graph(graph) for kind, graph in graphs.items()}

    def _contents(self, contents: Contents) -> Contents:
        return replace(contents, graphs=self._graphs(contents.graphs))

    def _record(self, record: ReleaseRecord) -> ReleaseRecord:
        return record if record.contents is None else replace(record, contents=self._contents(record.contents))
