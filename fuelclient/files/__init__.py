"""Read and write the documents that users name on a command line.

`reading` does not trust its input, `limits` has the limits of what is read, and `writing` leaves a whole file or none.
"""

from fuelclient.files.reading import load, metadata_file, task_files
from fuelclient.files.writing import dumps, write

__all__ = ["dumps", "load", "metadata_file", "task_files", "write"]
