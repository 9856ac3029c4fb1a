"""Which model is better: draws of the truth shared by all models, and what follows from them."""
