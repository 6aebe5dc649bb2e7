"""Classifiers of rows by nearness: condensed, semi-supervised, ordinal, kernel PCA, tri-training."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handful.neighbors.composite_kernel_pca import CompositeKernelPCA as CompositeKernelPCA
    from handful.neighbors.condensed import CondensedNN as CondensedNN
    from handful.neighbors.kernel_pca import KernelPCAClassifier as KernelPCAClassifier
    from handful.neighbors.ordinal import OrdinalKNN as OrdinalKNN
    from handful.neighbors.rows import ScalingWarning as ScalingWarning
    from handful.neighbors.semi_supervised_condensed import SemiSupervisedCondensedNN as SemiSupervisedCondensedNN
    from handful.neighbors.tri_training import TriTraining as TriTraining

_HOME = {
    "CompositeKernelPCA": "composite_kernel_pca",
    "CondensedNN": "condensed",
    "KernelPCAClassifier": "kernel_pca",
    "OrdinalKNN": "ordinal",
    "ScalingWarning": "rows",
    "SemiSupervisedCondensedNN": "semi_supervised_condensed",
    "TriTraining": "tri_training",
}

__all__ = [
    "CompositeKernelPCA",
    "CondensedNN",
    "KernelPCAClassifier",
    "OrdinalKNN",
    "ScalingWarning",
    "SemiSupervisedCondensedNN",
    "TriTraining",
]


def __getattr__(name: str) -> Any:
    # Loaded on first use: who needs one classifier does not wait for the kernels of all.
    if name in _HOME:
        return getattr(import_module(f"handful.neighbors.{_HOME[name]}"), name)
    raise AttributeError(f"module 'handful.neighbors' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
