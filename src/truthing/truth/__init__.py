"""Labels + noise + predictions → the posterior of the truth."""
