"""Labels + noise + predictions → the posterior of the truth.

`labelers.py` describes the labelers (choice of model, `samplers/`), `answer.py` sets the interval
(`link/`). Uses data, noise and metrics; imported by papers, grading and all front doors above.
"""
