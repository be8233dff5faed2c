"""The examples in the docstrings of all modules are true."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import fuelclient


def test_the_examples_in_the_docstrings_are_true() -> None:
    wrong, left_out = [], set()
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    for found in pkgutil.walk_packages(fuelclient.__path__, "fuelclient."):
        try:
            module = import_module(found.name)
        except ModuleNotFoundError as error:
            left_out.add(str(error.name).partition(".")[0])
            continue
        # to run a text without examples takes as long as any other
        tests = [test for test in finder.find(module) if test.examples]
        wrong += [test.name for test in tests if runner.run(test).failed]
    assert wrong == []
    assert runner.tries > 370
    assert left_out.isdisjoint({"fuelclient", "None"}), "only the libraries of extras may be missing"
