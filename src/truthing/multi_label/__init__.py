"""Several labels at once: each tag is a question of its own, jointly reported
(docs/multi-label.md).

Uses what grades, rates and compares one question; imported by those facades, cli, render and app.
"""
