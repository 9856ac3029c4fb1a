"""The link from consensus to truth: how far a panel may be wrong together, and what gold says
about it.
"""
