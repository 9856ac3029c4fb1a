"""The local web page: drop files, see what they are, run, read; every computation is that of the
library.

Needs the extra `truthing[app]`. Imported by cli only.
"""
