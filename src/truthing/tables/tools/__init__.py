"""What evaluation and annotation tools write: one short reader for each.

Only `truthing.tables` imports from here; a reader hands back rows and what it left out.
"""
