"""Package archives, writing: a directory becomes an `.fp` or an `.rpm`, the same bytes wherever it is built.

::

    fp, rpm        the two kinds of archive; `rpm_header` encodes what an RPM says of itself
    source         what is packed: hook -> files -> repositories -> checksums
    files          the tree of a package as entries, in one order, with normal modes
    repositories   the index of a Debian repository; `deb` reads a `.deb`
    checksums      checksums.sha1
    output         a file that is there whole or not at all

No program of the system is called, but for the package's own `pre_build_hook`, and only when asked for.
"""

from fuelclient.plugins.build.fp import build_fp
from fuelclient.plugins.build.repositories import repository_findings
from fuelclient.plugins.build.rpm import build_rpm
from fuelclient.plugins.build.source import run_pre_build_hook

__all__ = ["build_fp", "build_rpm", "repository_findings", "run_pre_build_hook"]
