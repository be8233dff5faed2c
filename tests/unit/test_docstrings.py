"""The examples in the docstrings of all modules are true."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import fuelclient


def test_the_examples_in_the_docstrings_are_true() -> None:
    attempted, wrong, left_out = 0, [], set()
    for found in pkgutil.walk_packages(fuelclient.__path__, "fuelclient."):
        try:
            module = import_module(found.name)
        except ModuleNotFoundError as error:
            left_out.add(str(error.name).partition(".")[0])
            continue
        result = doctest.testmod(module)
        attempted += result.attempted
        wrong += [found.name] * bool(result.failed)
    assert wrong == []
    assert attempted > 370
    assert left_out.isdisjoint({"fuelclient", "None"}), "only the libraries of extras may be missing"
