"""The command line: parse, call, print; no arithmetic."""

from truthing.cli.main import main

__all__ = ["main"]
