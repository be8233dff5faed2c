"""`python -m fuelclient`: `fuel2` of this Python, whatever the PATH."""

import sys

from fuelclient.main import main

if __name__ == "__main__":
    sys.exit(main())
