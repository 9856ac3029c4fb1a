"""Which model is better: draws of the truth shared by all models, and what follows from them.

`compare.py` is the front door. Uses everything up to `grading`; imported by render, app and cli.
"""
