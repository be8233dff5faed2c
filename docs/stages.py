"""Preview a release and draw the stages of its graph: how many tasks and generations each has, and who is busy.

    python docs/stages.py

This draws the packaged example, or newton from the corpus that FUEL_CORPUS names.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import fuelclient
from fuelclient import api, examples

_EXAMPLE, _NEWTON = "controller=3,compute=2", "controller=3,compute=8,cinder=3"
_WIDTH = 40


def newton(corpus: Path, backend: api.Backend) -> int:
    """Store the release newton with its graph, and return its id."""
    [release, *_] = backend.releases.create(
        api.read_releases(corpus / "fuel-web/newton/nailgun/nailgun/fixtures/openstack.yaml")
    )
    graph = api.read_graph(corpus / "fuel-library/newton/deployment/puppet")
    backend.graphs.upload(api.OwnerRef(api.Level.RELEASE, release.id), graph, api.DEFAULT_TYPE)
    return release.id


def example(backend: api.Backend) -> int:
    """Install the packaged release, and return its id."""
    return backend.plugins.install(str(examples.directory() / "release")).releases[0].id


def drawn(rows: Sequence[api.PreviewRow]) -> list[str]:
    """Return a line for each stage, in the order in which they begin: a bar from its first to its last generation."""
    ranks: dict[str, list[int]] = {}
    tasks: dict[str, int] = {}
    for row in rows:
        if row.first_generation is not None and row.last_generation is not None:
            name = row.stage or "before all stages"
            ranks.setdefault(name, []).extend((row.first_generation, row.last_generation))
            tasks[name] = tasks.get(name, 0) + 1
    last = max(max(own) for own in ranks.values())
    wide = max(map(len, ranks))
    lines = []
    for name, own in sorted(ranks.items(), key=lambda item: min(item[1])):
        begin, end = (_WIDTH * rank // (last + 1) for rank in (min(own), max(own) + 1))
        bar = " " * begin + "#" * max(1, end - begin)
        lines.append(f"{name:<{wide}}  |{bar:<{_WIDTH}}|  {tasks[name]:>3} tasks, generations {min(own)}-{max(own)}")
    return lines


def main() -> int:
    """Print the stages, and return the exit code."""
    corpus = os.environ.get("FUEL_CORPUS")
    with tempfile.TemporaryDirectory() as folder, fuelclient.connect(Path(folder, "engine.db")) as backend:
        release = newton(Path(corpus), backend) if corpus else example(backend)
        env = backend.clusters.create("drawn", release)
        snapshot = backend.graphs.snapshot(env.id)
    seen = api.preview(snapshot, api.PreviewOptions(assume=_NEWTON if corpus else _EXAMPLE))
    lines = drawn(seen.rows)
    lines.append(
        f"{len(seen.rows)} tasks, {seen.instances} instances in {seen.generations} generations on {seen.nodes} nodes"
    )
    sys.stdout.write("\n".join([*lines, ""]))
    return any(finding.is_error for finding in seen.findings)


if __name__ == "__main__":
    sys.exit(main())
