"""Examine this installation and everything that it connects to, for `fuel2 doctor`.

    installation                Python, libraries and extras, settings, the program that the shell finds
    backends.engine_files       the engine file: permissions, room, integrity, plugins' files, interrupted runs
    reach                       the Fuel master, Dask, nodes over SSH, and the clocks of the machines

Nothing is changed, and no engine file is created or upgraded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fuelclient.model.diagnosis import Diagnosis
    from fuelclient.settings import Settings


def examine(settings: Callable[[], Settings], *, nodes: bool = True) -> Iterator[Diagnosis]:
    """Yield the results of all examinations, good ones too; connect to nodes only with `nodes`.

    `settings` loads the settings. If they cannot be used, only the installation is examined.
    """
    from fuelclient.backends.doctor import installation
    from fuelclient.errors import FuelError
    from fuelclient.model.diagnosis import Diagnosis, Health

    yield from installation.examine()
    try:
        loaded = settings()
    except FuelError as error:
        yield Diagnosis("settings", "sources", Health.ERROR, error.message, error.hint or "Correct it.")
        return
    yield from installation.sources(loaded)
    from fuelclient.backends import engine_files
    from fuelclient.backends.doctor import reach  # both load the engine, `reach` also the executors

    if loaded["SERVER_ADDRESS"].value:
        yield from reach.master(loaded)
        return
    is_usable = True
    for diagnosis in engine_files.examine(loaded.engine):
        is_usable = is_usable and diagnosis.health is not Health.ERROR
        yield diagnosis
    yield from reach.dask(loaded)
    if nodes and is_usable:
        yield from reach.nodes(loaded)
