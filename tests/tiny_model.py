"""A small registered model that has one attribute of every kind that a model file can hold."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from handful.params import Count
from handful.persistence.model_file import Storable
from handful.persistence.schema import IfThere, Kind, stored
from handful.registry import method


class Anything(Kind):
    """What a file can hold at all."""

    def form(self, where, value, sizes):
        pass


ANY = IfThere(Anything())


@method("tiny-model", paper=None, task="table")
class TinyModel(Storable):
    """Hold attributes."""

    STATE = stored(rows_=ANY, classes_=ANY, paths_=ANY, matrix_=ANY, objects_=ANY, scalar_=ANY, inner_=ANY)

    def __init__(self, size: Count = 3) -> None:
        self.size = size


def fitted_tiny() -> TinyModel:
    model = TinyModel()
    model.rows_ = np.arange(8, dtype=np.float32).reshape(4, 2)
    model.classes_ = np.array(["a", "ß", "\N{GRINNING FACE}"])
    model.paths_ = {"a": "01", "b": ("x", None, 2**70, float("inf"))}
    model.matrix_ = sparse.csr_matrix(np.eye(3))
    model.objects_ = np.array(["a", None, 3], dtype=object)
    model.scalar_ = np.float32(0.5)
    model.inner_ = TinyModel(5)
    model.inner_.rows_ = np.array([True, False])
    return model


def find_tiny(name: str) -> type | None:
    return TinyModel if name == "tiny-model" else None
