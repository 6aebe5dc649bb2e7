"""Counts of features over unlabeled inputs: made shard by shard, added up, kept in files, extended."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

import numpy as np

from handful.core.errors import DataError
from handful.core.registry import method
from handful.core.schema import Array, IfThere, Names, Number, Plain, Text, check_state, stored
from handful.core.store import Storable, read_model, write_model
from handful.linear.tally import Tally
from handful.representations.condensed.feature_space import FeatureSpace
from handful.representations.condensed.shards import Reading, digest_of
from handful.representations.counting import Counting

_KIND = "feature-counts"
_BLOCK = 1 << 22


@method(_KIND, paper="suzuki2011", takes="model")
class FeatureCounts(Storable):
    """How often a base model chose each feature over unlabeled inputs, and what chance would have given.

    Parameters
    ----------
    fingerprint : str
        Of the feature space that was counted in.
    space : dict
        State of that space beside the base model.
    chosen_ids, chosen : ndarray
        R of every feature that was chosen at all; `chosen_ids` rise.
    basis : ndarray of float64
        From which the space computes A.
    size : int
        Tokens or rows that were counted.

    n_shards : int
        Shards that were counted.
    digests : ndarray of str, optional
        Of the pieces of files that were counted, so that none is counted twice.

    Examples
    --------
    >>> one = FeatureCounts("id", {}, np.array([3]), np.array([2.0]), np.array([1.0]), 5)
    >>> both = one.plus(one)
    >>> both.chosen.tolist(), both.size, both.n_shards_
    ([4.0], 10, 2)
    """

    STATE = stored(
        fingerprint=Text(),
        space=Plain(),
        chosen_ids=Array("i8", "c?", low=0, rising=True),
        chosen=Array("f8", "c?"),
        basis=Array("f8", "_"),
        size=Number(int, low=0),
        n_shards=Number(int, low=0),
        digests=IfThere(Names("pieces?", only_text=True)),
    )

    def __init__(
        self,
        fingerprint: str,
        space: dict[str, Any],
        chosen_ids: np.ndarray,
        chosen: np.ndarray,
        basis: np.ndarray,
        size: int,
        n_shards: int = 1,
        digests: np.ndarray | None = None,
    ) -> None:
        self.fingerprint = fingerprint
        self.space = space
        self.chosen_ids = chosen_ids
        self.chosen = chosen
        self.basis = basis
        self.size = size
        self.n_shards_ = n_shards
        self.digests = np.empty(0, dtype="<U32") if digests is None else digests
        self._n_known = 0

    def plus(self, other: FeatureCounts) -> FeatureCounts:
        """Return the counts of both together.

        Parameters
        ----------
        other : FeatureCounts
            Made with the same base model and the same features.

        Returns
        -------
        FeatureCounts
            The sum.
        """
        if other.fingerprint != self.fingerprint:
            raise DataError(
                "CondensedFeatures: counts can be added only if they were made with the same base model and the same "
                "vocabulary, got counts of another one. Count the text again."
            )
        if len(both := np.intersect1d(self.digests, other.digests)):
            raise DataError(
                f"CondensedFeatures: counts can be added only if they are of different text, but {len(both):,} pieces are in "
                "both. Name one of them alone."
            )
        tally = Tally()
        tally.add(self.chosen_ids, self.chosen)
        tally.add(other.chosen_ids, other.chosen)
        return FeatureCounts(
            self.fingerprint,
            self.space,
            *tally.sorted(),
            self.basis + other.basis,
            self.size + other.size,
            self.n_shards_ + other.n_shards_,
            np.concatenate([self.digests, other.digests]),
        )

    @property
    def n_known(self) -> int:
        """Pieces that the last run left out, because they had been counted before."""
        return self._n_known

    def blocks(self, space: FeatureSpace) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield number of the first feature, R and A, for some million features at a time."""
        for start in range(0, space.n_features, _BLOCK):
            stop = min(start + _BLOCK, space.n_features)
            chosen = np.zeros(stop - start)
            low, high = np.searchsorted(self.chosen_ids, [start, stop])
            chosen[self.chosen_ids[low:high] - start] = self.chosen[low:high]
            yield start, chosen, space.even(self.basis, start, stop)

    def of(self, space: FeatureSpace, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return R and A of some features, which rise."""
        at = np.minimum(np.searchsorted(self.chosen_ids, ids), max(len(self.chosen_ids) - 1, 0))
        hit = self.chosen_ids[at] == ids if len(self.chosen_ids) else np.zeros(len(ids), dtype=bool)
        chosen = np.where(hit, self.chosen[at], 0.0) if len(self.chosen_ids) else np.zeros(len(ids))
        even = np.empty(len(ids))
        for start in range(0, space.n_features, _BLOCK):
            stop = min(start + _BLOCK, space.n_features)
            low, high = np.searchsorted(ids, [start, stop])
            if high > low:
                even[low:high] = space.even(self.basis, start, stop)[ids[low:high] - start]
        return chosen, even

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a file, replaced only when the new one is whole."""
        write_model(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> FeatureCounts:
        """Read a file that `save` wrote; a file can never run code."""
        found: FeatureCounts = read_model(path, lambda kind: cls if kind == _KIND else None)
        return found

    def _state(self) -> dict[str, Any]:
        state = super()._state()
        return state | {"n_shards": state.pop("n_shards_")}

    @classmethod
    def _from_state(cls, state: Mapping[str, Any]) -> Self:
        check_state(cls.__name__, cls.STATE, state)
        return cls(**state)


def count_features(
    space: FeatureSpace,
    shards: Iterable[Any],
    read: Reading,
    counting: Counting,
    start: FeatureCounts | None = None,
    *,
    again: bool = False,
) -> FeatureCounts:
    """Count features over shards by map-reduce.

    Parameters
    ----------
    space : FeatureSpace
        Numbering of the features, and the base model's decisions.
    shards : iterable
        Parts of the unlabeled inputs.
    read : Reading
        From a shard to what `FeatureSpace.batches` takes.
    counting : Counting
        Where it runs.
    start : FeatureCounts, optional
        Counts of earlier shards in the same space, to go on from.
    again : bool
        Count pieces of files again that have been counted before.

    Returns
    -------
    FeatureCounts
        The same to the last bit for the same shards, wherever they were counted, in one run or several.
    """
    chosen, basis = np.zeros(space.n_features), np.zeros(space.n_basis)
    size = n_shards = 0
    pieces = _Pieces(set() if start is None else set(start.digests.tolist()), again)
    if start is not None:
        chosen[start.chosen_ids] += start.chosen
        basis += start.basis
        size, n_shards = start.size, start.n_shards_
    name = f"potency {space.fingerprint} {read.fingerprint}"
    for found in counting.summaries(_Summarize(space, read), pieces.new(shards), name):
        chosen[found["chosen_ids"]] += found["chosen"]
        basis[found["basis_ids"]] += found["basis"]
        size += int(found["size"])
        n_shards += 1
    ids = np.flatnonzero(chosen)
    before = np.empty(0, dtype="<U32") if start is None else start.digests
    digests = np.concatenate([before, np.array(pieces.fresh, dtype="<U32")])
    counts = FeatureCounts(space.fingerprint, space.state(), ids, chosen[ids], basis, size, n_shards, digests)
    counts._n_known = pieces.n_known
    return counts


class _Pieces:
    """Tells pieces of files that are new from those that were counted before, by their content."""

    def __init__(self, known: set[str], again: bool) -> None:
        self._known = known
        self._again = again
        self.fresh: list[str] = []
        self.n_known = 0

    def new(self, shards: Iterable[Any]) -> Iterator[Any]:
        """Yield what has not been counted; what is no piece of a file is always new."""
        for shard in shards:
            digest = digest_of(shard)
            if digest is not None and digest in self._known and not self._again:
                self.n_known += 1
                continue
            if digest is not None and digest not in self._known:
                self._known.add(digest)
                self.fresh.append(digest)
            yield shard


class _Summarize:
    """Count one shard, batch by batch; travels to workers."""

    def __init__(self, space: FeatureSpace, read: Reading) -> None:
        self.space = space
        self.read = read

    def __call__(self, shard: Any) -> dict[str, Any]:
        chosen, basis, size = np.zeros(self.space.n_features), np.zeros(self.space.n_basis), 0
        for inputs in self.space.batches(self.read(shard)):
            size += self.space.count(inputs, chosen, basis)
        ids, basis_ids = np.flatnonzero(chosen), np.flatnonzero(basis)
        return {
            "chosen_ids": ids,
            "chosen": chosen[ids],
            "basis_ids": basis_ids,
            "basis": basis[basis_ids],
            "size": size,
        }
