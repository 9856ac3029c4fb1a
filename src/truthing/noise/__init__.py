"""How a truth becomes a label: the noise models, p(label | truth)."""

from truthing.noise.base import NoiseModel
from truthing.noise.known import Confusion, Difficulty, Joint, Symmetric

__all__ = ["Confusion", "Difficulty", "Joint", "NoiseModel", "Symmetric"]
