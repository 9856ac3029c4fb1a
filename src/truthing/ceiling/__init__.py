"""The ceiling: the Bayes error from labels that show uncertainty, and whether a model is too good
to be true.

`bayes_error.py` is the front door; `sources.py` knows each kind of label, `certificate.py` and
`votes.py` bound the error from few votes per item, `verdict.py` judges a model. Uses data, metrics
and papers; imported by render, reproduce, app and cli.
"""
