"""Results for people: terminal, JSON, pictures, pages. Imported only when something is shown.

May look at every result; results reach it through `truthing.display` alone.
"""
