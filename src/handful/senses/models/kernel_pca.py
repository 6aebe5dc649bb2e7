"""Kernel PCA over the features of a context, with and without unlabeled contexts, and the composite of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handful.core.registry import Card, add_card

SETTINGS = ("n_neighbors", "degree", "n_components", "vote", "metric", "random_state")


def _build(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from handful.neighbors.kernel_pca import KernelPCAClassifier

    return KernelPCAClassifier(**{name: params[name] for name in SETTINGS if name in params})


def _build_composite(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from handful.neighbors.composite_kernel_pca import CompositeKernelPCA

    return CompositeKernelPCA(**{name: params[name] for name in (*SETTINGS, "margin") if name in params})


add_card(
    Card(
        "kernel-pca",
        "occurrences",
        paper="su2004",
        summary="Nearest contexts in the space of kernel PCA.",
        unit_rows=True,
        build=_build,
    )
)
add_card(
    Card(
        "semi-supervised-kernel-pca",
        "occurrences",
        learns_from=("labels", "unlabeled"),
        twin="kernel-pca",
        paper="su2004",
        summary="Kernel PCA whose space is learned from unlabeled contexts too.",
        cost="slow",
        unit_rows=True,
        build=_build,
    )
)
add_card(
    Card(
        "composite-kernel-pca",
        "occurrences",
        learns_from=("labels", "unlabeled"),
        twin="kernel-pca",
        paper="su2004",
        summary="Kernel PCA that asks its semi-supervised form where it is in doubt.",
        cost="slow",
        unit_rows=True,
        build=_build_composite,
    )
)
