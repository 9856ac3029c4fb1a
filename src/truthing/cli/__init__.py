"""The command line: parse, call, print; no arithmetic. One file for each command; nothing imports
it.
"""

from truthing.cli.main import main

__all__ = ["main"]
