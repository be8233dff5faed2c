"""`python -m fuelclient.main`, the same as `python -m fuelclient`."""

import sys

from fuelclient.main import main

if __name__ == "__main__":
    sys.exit(main())
