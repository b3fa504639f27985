"""`python -m skillpm`: the same as the command."""

import sys

from skillpm.cli.entry_point import enter

if __name__ == "__main__":
    sys.exit(enter())
