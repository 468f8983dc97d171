"""`python -m choreograph`: the command line."""

import sys

from choreograph.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
