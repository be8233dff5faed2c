"""Executions over HTTP keep the contract of `test_transactions`: graphs really run, on the machine of the server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from contract.test_transactions import TransactionContract
from executions import Executions, executions

from fuelclient.backends.local import LocalBackend

pytest.importorskip("flask", reason="the server comes with the extra [server]")


class TestNailgun(TransactionContract):
    """A server of ours."""

    @pytest.fixture
    def env(self, tmp_path: Path) -> Iterator[Executions]:
        from served import served

        made = executions(tmp_path)
        for client in served(lambda: LocalBackend(str(made.engine))):
            yield replace(made, backend=client)
        made.backend.close()
