"""Looking at condensed features: what original features are, what was counted of them, and where they fell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from handful.core.errors import ParameterError
from handful.representations.condensed.counts import FeatureCounts
from handful.representations.condensed.feature_space import FeatureSpace
from handful.representations.condensed.potency import discounted, quantized

_BLOCK = 1 << 16


class FeatureRecord(NamedTuple):
    """One original feature: what it is, its counts, and where it fell."""

    type: str
    name: str
    labels: tuple[str, ...]
    chosen: float
    even: float
    potency: float
    bin: int


class Inspectable:
    """Mixin of `handful.representations.CondensedFeatures`: its features, one by one or by bin."""

    discount: float
    resolution: float
    counts_: FeatureCounts
    type_names_: list[str]
    kept_: np.ndarray
    members_: np.ndarray
    condensed_types_: np.ndarray
    condensed_bins_: np.ndarray
    _space: FeatureSpace

    def features(self, ids: Iterable[int] | None = None) -> Iterator[FeatureRecord]:
        """Tell about original features, one at a time.

        Parameters
        ----------
        ids : iterable of int, optional
            Which; by default all that fell into a bin.

        Yields
        ------
        FeatureRecord
            Type, name, labels, R, A, potency and bin.
        """
        check_is_fitted(self, "counts_")
        wanted = self.kept_ if ids is None else np.asarray(list(ids), dtype=np.int64)
        for start in range(0, len(wanted), _BLOCK):
            yield from self._records(wanted[start : start + _BLOCK])

    def bin_members(self, type: str, bin: int) -> list[FeatureRecord]:
        """Return the original features behind one condensed feature, by falling potency.

        Parameters
        ----------
        type : str
            One of `type_names_`.
        bin : int
            The bin.

        Returns
        -------
        list of FeatureRecord
            The members.
        """
        in_bin = (self.condensed_types_ == self._type(type)) & (self.condensed_bins_ == bin)
        members = self._records(self.kept_[in_bin[self.members_]])
        return sorted(members, key=lambda record: -record.potency)

    def top(self, type: str, n: int = 10, *, lowest: bool = False) -> list[FeatureRecord]:
        """Return the features of a type with the biggest potency.

        Parameters
        ----------
        type : str
            One of `type_names_`.
        n : int
            How many.
        lowest : bool
            The most negative ones instead.

        Returns
        -------
        list of FeatureRecord
            Biggest first.
        """
        number = self._type(type)
        ids = self.kept_[self.condensed_types_[self.members_] == number]
        potency = discounted(*self.counts_.of(self._space, ids), self.discount)
        order = np.argsort(potency if lowest else -potency, kind="stable")[:n]
        return [next(iter(self._records(ids[k : k + 1]))) for k in order]

    def _records(self, ids: np.ndarray) -> list[FeatureRecord]:
        order = np.argsort(ids, kind="stable")
        rising = ids[order]
        chosen, even = self.counts_.of(self._space, rising)
        potency = discounted(chosen, even, self.discount)
        bins, types = quantized(potency, self.resolution), self._space.types(rising)
        words = self._space.describe(rising)
        records = [
            FeatureRecord(self.type_names_[t], *word, *figures)
            for t, word, *figures in zip(
                types.tolist(), words, chosen.tolist(), even.tolist(), potency.tolist(), bins.tolist(), strict=True
            )
        ]
        back = np.empty(len(ids), dtype=np.int64)
        back[order] = np.arange(len(ids))
        return [records[k] for k in back]

    def _type(self, name: str) -> int:
        check_is_fitted(self, "counts_")
        if name not in self.type_names_:
            known = ", ".join(map(repr, self.type_names_[:20]))
            raise ParameterError(f"CondensedFeatures: type must be one of {known}, got {name!r}.")
        return self.type_names_.index(name)
