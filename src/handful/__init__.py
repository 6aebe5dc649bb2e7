"""Accurate, small, fast models from a handful of labels and a lot of unlabeled data."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from handful.core.version import __version__

if TYPE_CHECKING:
    from handful.experiment.compare import compare as compare
    from handful.experiment.fitting import fit as fit
    from handful.methods import load as load
    from handful.methods import save as save

_FUNCTIONS = {
    "compare": "handful.experiment.compare",
    "fit": "handful.experiment.fitting",
    "save": "handful.methods",
    "load": "handful.methods",
}
_ROOMS = (
    "compute",
    "core",
    "corpora",
    "evaluation",
    "experiment",
    "features",
    "kernels",
    "labeling",
    "linear",
    "methods",
    "neighbors",
    "papers",
    "reports",
    "representations",
    "senses",
    "tagging",
)

__all__ = ["__version__", "compare", "fit", "load", "save"]


def __getattr__(name: str) -> Any:
    # Loaded on first use, so that `import handful` costs next to nothing.
    if name in _FUNCTIONS:
        return getattr(import_module(_FUNCTIONS[name]), name)
    if name in _ROOMS:
        return import_module(f"handful.{name}")
    raise AttributeError(f"module 'handful' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])
