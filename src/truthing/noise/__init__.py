"""How a truth becomes a label: the noise models, p(label | truth).

`known.py` has noise that is given, `learned.py` noise to be learned, `em.py` its point estimates,
`steps.py` the E and M steps that every fit shares. Uses data only; imported by everything from
`truth` up.
"""

from truthing.noise.base import NoiseModel
from truthing.noise.known import Confusion, Difficulty, Joint, Symmetric
from truthing.noise.learned import DawidSkene, OneCoin, Strata
from truthing.noise.ordinal import Ordinal

__all__ = [
    "Confusion",
    "DawidSkene",
    "Difficulty",
    "Joint",
    "NoiseModel",
    "OneCoin",
    "Ordinal",
    "Strata",
    "Symmetric",
]
