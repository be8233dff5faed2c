"""Files: documents in, documents out, and the trees that graphs are kept in.

The only place that reads or writes what users name on a command line. Reading never trusts its input: see
`reading` for the limits.
"""

from fuelclient.files.reading import load
from fuelclient.files.tree import metadata_file, task_files
from fuelclient.files.writing import dumps, write

__all__ = ["dumps", "load", "metadata_file", "task_files", "write"]
