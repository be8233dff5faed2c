"""Read and write the documents that users name on a command line.

`reading` never trusts its input, `limits` has the largest that is read, `writing` leaves a whole file or none.
"""

from fuelclient.files.reading import load, metadata_file, task_files
from fuelclient.files.writing import dumps, write

__all__ = ["dumps", "load", "metadata_file", "task_files", "write"]
