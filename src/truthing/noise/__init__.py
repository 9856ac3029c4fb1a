"""How a truth becomes a label: the noise models, p(label | truth)."""

from truthing.noise.base import NoiseModel
from truthing.noise.known import Confusion, Difficulty, Joint, Symmetric
from truthing.noise.learned import DawidSkene, OneCoin, Strata

__all__ = [
    "Confusion",
    "DawidSkene",
    "Difficulty",
    "Joint",
    "NoiseModel",
    "OneCoin",
    "Strata",
    "Symmetric",
]
