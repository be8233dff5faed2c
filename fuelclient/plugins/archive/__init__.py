"""Package archives, reading: `.fp` and `.rpm` become a directory, or one clear error and nothing at all.

::

    reading     the three public functions: which kind of archive, where to, what is reported
    tar, rpm    the two kinds; `rpm` reads the headers, `cpio` walks their payload
    stream      decompression, bit by bit, within limits
    unpack      what may be written where; links come last, and only when all of them stay inside
    names, links, limits   the rules, which `plugins.build` obeys as well

Nothing of a package is executed here, and no program of the system is asked for help.
"""

from fuelclient.plugins.archive.reading import PackageName, extract, package_name, scripts

__all__ = ["PackageName", "extract", "package_name", "scripts"]
