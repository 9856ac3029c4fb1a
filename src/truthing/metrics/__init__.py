"""What is asked of a truth: pure functions of confusion counts, curves, and estimates of them.

Knows labels and nothing of noise or samplers, so that any method can be asked the same. Imported by
everything from `truth` up.
"""
