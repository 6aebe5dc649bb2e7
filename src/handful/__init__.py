"""Accurate, small, fast models from a handful of labels and a lot of unlabeled data."""

import lazy_loader

from handful.version import __version__

# Loaded on first use, so that `import handful` costs next to nothing. The names stand in __init__.pyi.
_load, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)
_RENAMED = {
    "next_rows": "suggest",
    "doubtful_labels": "find_label_errors",
    "label_budget": "learning_curve",
}  # names of version 0.2, to go with 0.4


def __getattr__(name: str) -> object:
    return _load(_RENAMED.get(name, name))


__all__ = [
    "HandfulClassifier",
    "Limits",
    "__version__",
    "compare",
    "condense_model",
    "export_html",
    "find_label_errors",
    "fit",
    "fit_with_witnesses",
    "learning_curve",
    "load",
    "merge_labels",
    "prevalence",
    "save",
    "shots",
    "suggest",
    "witness_errors",
]
