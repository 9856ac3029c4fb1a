"""The command line: parse, call, print; no arithmetic. One file for each command; nothing imports
it.
"""

import sys

try:
    from truthing.cli.main import main
except KeyboardInterrupt:  # while the command is being loaded
    print("truthing: stopped.", file=sys.stderr)
    raise SystemExit(130) from None

__all__ = ["main"]
