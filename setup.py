"""Builds in a temporary directory; everything else about the package is in setup.cfg.

A directory `build` in the clone would keep modules that were deleted since, and put them into the next wheel.
"""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile

from setuptools import setup
from setuptools.command.build import build
from setuptools.command.egg_info import egg_info

TEMPORARY = tempfile.mkdtemp(prefix="fuelclient-build-")
atexit.register(shutil.rmtree, TEMPORARY, ignore_errors=True)


class Build(build):
    def initialize_options(self) -> None:
        super().initialize_options()
        self.build_base = TEMPORARY


class EggInfo(egg_info):
    def initialize_options(self) -> None:
        super().initialize_options()
        if "sdist" not in sys.argv:  # whose archive contains this directory
            self.egg_base = TEMPORARY


setup(cmdclass={"build": Build, "egg_info": EggInfo})
