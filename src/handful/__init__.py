"""Accurate, small, fast models from a handful of labels and a lot of unlabeled data."""

import lazy_loader

from handful.core.version import __version__

# Loaded on first use, so that `import handful` costs next to nothing. The names stand in __init__.pyi.
__getattr__, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)

__all__ = [
    "__version__",
    "compare",
    "doubtful_labels",
    "fit",
    "label_budget",
    "load",
    "merge_labels",
    "next_rows",
    "save",
]
