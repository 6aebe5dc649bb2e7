"""Observations that only unlabeled text has, above a count: found in two passes and bounded memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from handful.core.errors import ParameterError
from handful.features import Extractor, Predicates
from handful.features.vocabulary import hashes, in_order, joined, numbers_in
from handful.kernels.cooccurrence import count_keys, merge_runs
from handful.linear.tally import Tally
from handful.representations.condensed.feature_space import FeatureSpace
from handful.representations.condensed.shards import Reading
from handful.representations.counting import Counting, count_blocks

_BITS = 25
_MAX_KEYS = 1 << 26


@runtime_checkable
class Keyed(Protocol):
    """A space of features that only outputs tell, such as those of arcs: the base model's outputs say what is frequent."""

    def keys_chosen(self, inputs: Any) -> np.ndarray:
        """Return the keys of all features of the base model's outputs, as often as they are there."""
        ...

    def with_keys(self, keys: np.ndarray) -> FeatureSpace:
        """Return the space with further features."""
        ...


def widen(
    space: FeatureSpace,
    shards: Callable[[], Iterable[Any]],
    reading: Reading,
    min_count: int,
    counting: Counting,
) -> FeatureSpace:
    """Add every observation that occurs often enough in unlabeled text to a feature space.

    Parameters
    ----------
    space : FeatureSpace
        With `extractor` and `widened`, or `Keyed`.
    shards : callable
        Returns the shards of the text, each time anew.
    reading : Reading
        From a shard to sentences.
    min_count : int
        Least number of occurrences.
    counting : Counting
        Where it runs.

    Returns
    -------
    FeatureSpace
        The wider space; the same however the text is cut into shards.

    Notes
    -----
    The first pass counts hashed observations in 2 ** 25 buckets, which can only overestimate. The second pass counts
    exactly those observations whose bucket has enough, and drops the ones that have not: collisions of the hash cost
    memory on the way, but never show in the result.

    A space that is `Keyed` takes one pass, in which features of the base model's outputs are counted exactly; beyond 64
    million different ones the rarest are given up.
    """
    if isinstance(space, Keyed):
        name = f"keys {space.fingerprint} {reading.fingerprint}"
        keys, counts, _ = count_blocks(
            _Keys(space, reading), shards(), max_keys=_MAX_KEYS, fingerprint=name, counting=counting
        )
        return space.with_keys(keys[counts >= min_count])
    known: Extractor | None = getattr(space, "extractor", None)
    if known is None:
        return space
    if known.hash_bits is not None:
        raise ParameterError(
            'CondensedFeatures: vocabulary="all" needs a base model that keeps its vocabulary, got one with hash_bits, '
            'which has every observation anyway. Use vocabulary="labeled".'
        )
    templates, lookups = [str(t) for t in known.templates], known.lookups
    described = hashlib.sha256(repr([templates, sorted(lookups), reading.fingerprint]).encode()).hexdigest()
    buckets = np.zeros(1 << _BITS, dtype=np.uint32)
    for summary in counting.summaries(_Sketch(space, templates, lookups, reading), shards(), f"sketch {described}"):
        buckets[summary["buckets"]] += summary["counts"]
    frequent = np.packbits(buckets >= min_count)
    del buckets
    job = _Collect(space, templates, lookups, reading, frequent)
    name = f"vocabulary {described} {hashlib.sha256(frequent.tobytes()).hexdigest()}"
    whole = _merged(_Counted.unpacked(summary, lookups) for summary in counting.summaries(job, shards(), name))
    if whole is None:
        return space
    extractor, _ = in_order(whole.extractor.keep(whole.counts >= min_count))
    widened: FeatureSpace = space.widened(extractor)  # type: ignore[attr-defined]
    return widened


@dataclass(frozen=True, eq=False)
class _Counted:
    """A vocabulary and how often each of its predicates occurred."""

    extractor: Extractor
    counts: np.ndarray

    @classmethod
    def of(cls, templates: list[str], lookups: Any, sentences: Any) -> _Counted:
        extractor = Extractor(templates, lookups=lookups)
        return cls(extractor, _occurrences(extractor.fit_transform(sentences, who="CondensedFeatures"), extractor))

    def only(self, wanted: np.ndarray) -> _Counted:
        return _Counted(self.extractor.keep(wanted), self.counts[wanted])

    def plus(self, other: _Counted) -> _Counted:
        both = joined([self.extractor, other.extractor])
        counts = np.zeros(both.n_predicates, dtype=np.int64)
        for part in (self, other):
            counts[numbers_in(part.extractor, both)] += part.counts
        return _Counted(both, counts)

    def packed(self) -> dict[str, Any]:
        """Return a summary of plain arrays and lists."""
        state = self.extractor.state()
        keys = {f"keys_{number}": keys for number, keys in enumerate(state["keys"])}
        return {"templates": state["templates"], "strings": state["strings"], "counts": self.counts} | keys

    @classmethod
    def unpacked(cls, packed: dict[str, Any], lookups: Any) -> _Counted:
        n_slots = sum(name.startswith("keys_") for name in packed)
        state = {"templates": packed["templates"], "min_count": 1, "hash_bits": None, "strings": packed["strings"]}
        state["keys"] = [packed[f"keys_{number}"] for number in range(n_slots)]
        return cls(Extractor.from_state(state, lookups), packed["counts"])


@dataclass(frozen=True, eq=False)
class _Keys:
    """Features of the outputs that the base model gives a shard."""

    space: Any
    reading: Reading

    def __call__(self, shard: Any) -> dict[str, np.ndarray]:
        keys, counts = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        for batch in self.space.batches(self.reading(shard)):
            keys, counts = merge_runs(keys, counts, *count_keys(self.space.keys_chosen(batch)))
        return {"keys": keys, "counts": counts}


@dataclass(frozen=True, eq=False)
class _Sketch:
    """First pass: hashed observations of a shard."""

    space: Any
    templates: list[str]
    lookups: Any
    reading: Reading

    def __call__(self, shard: Any) -> dict[str, np.ndarray]:
        tally = Tally()
        for batch in self.space.batches(self.reading(shard)):
            counted = _Counted.of(self.templates, self.lookups, batch)
            tally.add(_buckets(counted.extractor), counted.counts.astype(np.float64))
        buckets, counts = tally.sorted()
        return {"buckets": buckets.astype(np.uint32), "counts": counts.astype(np.uint32)}


@dataclass(frozen=True, eq=False)
class _Collect:
    """Second pass: observations of a shard whose bucket is full enough, as strings, with exact counts."""

    space: Any
    templates: list[str]
    lookups: Any
    reading: Reading
    frequent: np.ndarray

    def __call__(self, shard: Any) -> dict[str, Any]:
        whole = _merged(self._batches(shard))
        return (whole or _Counted.of(self.templates, self.lookups, [])).packed()

    def _batches(self, shard: Any) -> Iterator[_Counted]:
        for batch in self.space.batches(self.reading(shard)):
            counted = _Counted.of(self.templates, self.lookups, batch)
            bucket = _buckets(counted.extractor)
            yield counted.only(((self.frequent[bucket >> 3] >> (7 - (bucket & 7)).astype(np.uint8)) & 1).astype(bool))


def _merged(parts: Iterable[_Counted]) -> _Counted | None:
    """Add up vocabularies, small ones first, so that none is copied more often than the logarithm of their number."""
    waiting: list[_Counted] = []
    for part in parts:
        waiting.append(part)
        while len(waiting) > 1 and 2 * len(waiting[-1].counts) >= len(waiting[-2].counts):
            last = waiting.pop()
            waiting[-1] = waiting[-1].plus(last)
    while len(waiting) > 1:
        last = waiting.pop()
        waiting[-1] = waiting[-1].plus(last)
    return waiting[0] if waiting else None


def _buckets(extractor: Extractor) -> np.ndarray:
    return (hashes(extractor) >> np.uint64(64 - _BITS)).astype(np.int64)


def _occurrences(observed: Predicates, extractor: Extractor) -> np.ndarray:
    """Return how often each predicate was observed."""
    n_rows = len(observed.row_offsets) - 1
    of_row = np.bincount(observed.rows.ravel(), minlength=n_rows)
    counts = np.bincount(observed.row_ids, weights=np.repeat(of_row, np.diff(observed.row_offsets)), minlength=1)
    whole = np.zeros(extractor.n_predicates, dtype=np.int64)
    whole[: len(counts)] += counts.astype(np.int64)[: len(whole)]
    named = np.bincount(observed.direct[observed.direct >= 0], minlength=extractor.n_predicates)
    return np.asarray(whole + named)
