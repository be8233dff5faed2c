"""What the tests with real nodes share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from integration.ssh_fleet import Fleet
from sshd import SSHD, Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A place for nodes, which end with the test."""
    if SSHD is None:
        pytest.skip("sshd is not installed (Debian: openssh-server)")
    pytest.importorskip("asyncssh", reason="the extra ssh is not installed")
    site = Site.at(tmp_path)
    yield site
    for daemon in site.daemons:
        daemon.stop()


@pytest.fixture
def fleet(site: Site, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    """An environment whose nodes are added by the test."""
    return Fleet.at(site, monkeypatch)
