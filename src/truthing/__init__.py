"""Grade classifiers with dirty answer keys.

The public names are listed in ``__init__.pyi`` and loaded when first used, so that ``import
truthing`` and ``truthing --help`` stay fast.
"""

import sys as _sys
from functools import partial
from importlib import import_module

from truthing import compiled as _compiled
from truthing.display import offer
from truthing.lazy import attach
from truthing.version import __version__ as __version__

__getattr__, __dir__, __all__ = attach(__name__, __file__)

for _way in ("arviz", "page", "figures", "pictures", "sheet", "words"):
    offer(_way, partial(import_module, f"truthing.render.{_way}"))

if _told := _compiled.settle():
    print(f"truthing: {_told}", file=_sys.stderr)
