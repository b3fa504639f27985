"""`python -m skillpm`: the same as the command."""

import sys

from skillpm.cli.entry_point import main

if __name__ == "__main__":
    sys.exit(main())
