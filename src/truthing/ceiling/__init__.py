"""The ceiling: the Bayes error from labels that show uncertainty, and whether a model is too good to be true."""
