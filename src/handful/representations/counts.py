"""Counts of features over unlabeled inputs, shard by shard."""

from __future__ import annotations

import codecs
import hashlib
import io
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np

from handful.data.files import (
    MAX_LINE,
    Source,
    as_source,
    decoded,
    first_chunk,
    open_bytes,
)
from handful.data.formats import detect
from handful.errors import DataError, FormatError, Step
from handful.kernels.hashing import SortedSums
from handful.persistence.model_file import Storable, load, save
from handful.persistence.schema import Array, IfThere, Names, Number, Plain, Text, check_state, stored
from handful.registry import method
from handful.representations.potency import FeatureSpace
from handful.representations.text_stream import Counting, sentence_parts

_PART_BYTES = 1 << 20
_SHARD_SENTENCES = 1 << 13
_SHARD_ROWS = 1 << 16
_PREPARED = 2_000
Prepare = Callable[[list[Any]], Iterable[Any]]
Preparing = Prepare | Sequence[Prepare]


@dataclass(frozen=True)
class Ready:
    """Inputs that need no preparation, such as labeled ones that are counted too.

    Parameters
    ----------
    inputs : Any
        The inputs.
    """

    inputs: Any


@dataclass(frozen=True)
class TextPiece:
    """Lines of a file; they travel to the worker, so that a compressed file is unpacked only once.

    Parameters
    ----------
    path : str
        The file.
    first : int
        Number of the first line, from 1 on.
    data : bytes
        The lines.
    """

    path: str
    first: int
    data: bytes = field(repr=False)

    def identity(self) -> str:
        """Return what distinguishes this part from others in a checkpoint: name, place and content."""
        return f"{Path(self.path).name} {self.first} {len(self.data)} {hashlib.sha256(self.data).hexdigest()}"


def shards_of(unlabeled: Any, who: str) -> Iterator[Any]:
    """Cut unlabeled inputs into shards.

    Parameters
    ----------
    unlabeled : list of sentences, path or list of paths, or matrix
        A file holds one sentence a line, tokens between spaces. Text is cut about every million bytes, compressed or not,
        and lists every 8,192 sentences.
    who : str
        Name of the caller, for errors.

    Yields
    ------
    shard
        For `ShardReading`.

    Examples
    --------
    >>> [len(shard) for shard in shards_of([["Rome", "fell"], ["Yes"]], "example")]
    [2]
    """
    if is_files(unlabeled):
        for path in [unlabeled] if isinstance(unlabeled, str | os.PathLike) else unlabeled:
            yield from _file_pieces(as_source(path))
        return
    if hasattr(unlabeled, "shape") and len(unlabeled.shape) == 2:
        rows = unlabeled.tocsr() if hasattr(unlabeled, "tocsr") else unlabeled
        for start in range(0, rows.shape[0], _SHARD_ROWS):
            yield rows[start : start + _SHARD_ROWS]
        return
    for part in sentence_parts(unlabeled, who):
        for start in range(0, len(part), _SHARD_SENTENCES):
            yield part[start : start + _SHARD_SENTENCES]


def _file_pieces(source: Source) -> Iterable[TextPiece]:
    _refuse_columns(source)
    return text_pieces(source)


def is_files(unlabeled: Any) -> bool:
    """Tell whether unlabeled inputs are the path of a text file, or several.

    Examples
    --------
    >>> is_files("news.txt"), is_files(["a.txt", "b.txt"]), is_files([["Rome", "fell"]])
    (True, True, False)
    """
    several = isinstance(unlabeled, list | tuple) and len(unlabeled) > 0
    paths = unlabeled if several else [unlabeled]
    return all(isinstance(path, str | os.PathLike) for path in paths)


def expected_pieces(unlabeled: Any) -> int | None:
    """Return about how many shards there will be, for progress; None if unknown, as for compressed files."""
    if not is_files(unlabeled):
        return None
    total = 0
    for path in [unlabeled] if isinstance(unlabeled, str | os.PathLike) else unlabeled:
        if not os.path.isfile(path):  # a stream can be read once only; what is missing is told when it is read
            return None
        with open_bytes(path) as file:
            if not isinstance(file.raw, io.FileIO):
                return None
        total += math.ceil(os.path.getsize(path) / _PART_BYTES)
    return total


def text_pieces(path: str | os.PathLike[str]) -> Iterator[TextPiece]:
    """Divide a text file, compressed or not, at line ends.

    Parameters
    ----------
    path : path-like
        The file.

    Yields
    ------
    TextPiece
        The pieces in file order.
    """
    with open_bytes(path) as file:
        first, mark = 1, file.read(len(codecs.BOM_UTF8))
        rest = b"" if mark == codecs.BOM_UTF8 else mark
        while data := rest + file.read(_PART_BYTES - len(rest)) + file.readline(MAX_LINE + 1):
            yield TextPiece(os.fspath(path), first, data)
            first += data.count(b"\n")
            rest = b""


def shard_digest(shard: Any) -> str | None:
    r"""Return the digest of the text of a piece of a file; None for what is no piece of a file.

    Examples
    --------
    >>> shard_digest(TextPiece("a.txt.gz", 1, b"one\n")) == shard_digest(TextPiece("b.txt.gz", 7, b"one\n"))
    True
    """
    return hashlib.sha256(shard.data).hexdigest()[:32] if isinstance(shard, TextPiece) else None


def _refuse_columns(source: Source) -> None:
    """Raise if a file is no text at all, or has columns, of which all would be counted as words."""
    data = first_chunk(source, io.BytesIO(source.head))
    lines = [line for line in data.split(b"\n") if line.strip() and not line.startswith((b"#", b"-DOCSTART-"))]
    if not source.is_whole:
        del lines[-1:]
    if lines and all(b"\t" in line for line in lines) and detect(source) in ("conll", "conllu", "table"):
        raise FormatError(
            source, 1, "expected raw text, one sentence a line, got columns between tabs. Name a file of words alone."
        )


class ShardReading:
    """Turn a shard into inputs, prepared some thousand at a time; travels to workers.

    Parameters
    ----------
    prepare : callable or sequence of callables, optional
        From a list of sentences to sentences, for example with a column more; several are applied one after the other.

    Examples
    --------
    >>> list(ShardReading(lambda batch: [s[:1] for s in batch])([["Rome", "fell"], ["Yes"]]))
    [['Rome'], ['Yes']]
    """

    def __init__(self, prepare: Preparing | None = None) -> None:
        several = () if prepare is None else (prepare,) if callable(prepare) else tuple(prepare)
        self.prepare: tuple[Prepare, ...] = several

    def __call__(self, shard: Any) -> Any:
        """Return the inputs of a shard: rows, or an iterator of sentences."""
        if isinstance(shard, Ready):
            return shard.inputs
        if hasattr(shard, "shape"):
            return shard
        sentences = _lines(shard) if isinstance(shard, TextPiece) else iter(shard)
        return self._prepared(sentences) if self.prepare else sentences

    def _prepared(self, sentences: Iterator[Any]) -> Iterator[Any]:
        while batch := list(islice(sentences, _PREPARED)):
            for prepare in self.prepare:
                batch = list(prepare(batch))
            yield from batch

    @property
    def fingerprint(self) -> str:
        """Name of the preparation, for checkpoints."""
        return " ".join(
            str(getattr(one, "fingerprint", getattr(one, "__qualname__", repr(one)))) for one in self.prepare
        )


def _lines(part: TextPiece) -> Iterator[list[str]]:
    text = decoded(part.path, part.first, part.data)
    for line in text.replace("\r\n", "\n").split("\n"):
        if len(line) > MAX_LINE:
            raise FormatError(part.path, None, f"expected lines of at most {MAX_LINE:,} bytes, got a longer one.")
        if tokens := [token for token in line.replace("\t", " ").split(" ") if token]:
            yield tokens


_KIND = "feature-counts"
_BLOCK = 1 << 22


@method(_KIND, paper="suzuki2011", task="model")
class FeatureCounts(Storable):
    """How often a base model chose each feature over unlabeled inputs, and what chance would have given.

    Parameters
    ----------
    fingerprint : str
        Of the feature space that was counted in.
    space : dict
        State of that space besides the base model.
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
        basis_rest=IfThere(Array("f8", "rest?")),  # in files of earlier versions, as is `share`
        share=IfThere(Text("")),
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
        self._check_same_space(other)
        if len(both := np.intersect1d(self.digests, other.digests)):
            raise DataError(
                f"CondensedFeatures: counts can be added only if they are of different text, but {len(both):,} pieces are in "
                "both. Name one of them alone."
            )
        chosen = SortedSums()
        chosen.add(self.chosen_ids, self.chosen)
        chosen.add(other.chosen_ids, other.chosen)
        return FeatureCounts(
            self.fingerprint,
            self.space,
            *chosen.total(),
            self.basis + other.basis,
            self.size + other.size,
            self.n_shards_ + other.n_shards_,
            np.concatenate([self.digests, other.digests]),
        )

    def _check_same_space(self, other: FeatureCounts) -> None:
        if other.fingerprint != self.fingerprint:
            raise DataError(
                "CondensedFeatures: counts can be added only if they were made with the same base model and the same "
                "vocabulary, got counts of another one. Count the text again."
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
        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> FeatureCounts:
        """Read a file that `save` wrote; a file can never run code."""
        counts: FeatureCounts = load(path, lambda kind: cls if kind == _KIND else None)
        return counts

    def _state(self) -> dict[str, Any]:
        state = super()._state()
        return state | {"n_shards": state.pop("n_shards_")}

    @classmethod
    def _from_state(cls, state: Mapping[str, Any]) -> Self:
        check_state(cls.__name__, cls.STATE, state)
        return cls(**{name: value for name, value in state.items() if name not in ("basis_rest", "share")})


def count_features(
    space: FeatureSpace,
    shards: Iterable[Any],
    read: ShardReading,
    counting: Counting,
    start: FeatureCounts | None = None,
    *,
    expected: int | None = None,
) -> FeatureCounts:
    """Count features over shards by map-reduce.

    Parameters
    ----------
    space : FeatureSpace
        Numbering of the features, and the base model's decisions.
    shards : iterable
        Parts of the unlabeled inputs.
    read : ShardReading
        From a shard to what `FeatureSpace.batches` takes.
    counting : Counting
        Where it runs.
    start : FeatureCounts, optional
        Counts of earlier shards in the same space, to go on from; their pieces of files are left out.
    expected : int, optional
        About how many shards there are, for `progress`, which receives tokens and tokens per second after each of them.

    Returns
    -------
    FeatureCounts
        The same to the last bit for the same shards, wherever they were counted.
    """
    begin = time.monotonic()
    first = start or FeatureCounts(
        space.fingerprint, space.state(), np.empty(0, dtype=np.int64), np.empty(0), np.zeros(space.n_basis), 0, 0
    )
    chosen, basis = SortedSums(), first.basis.copy()
    chosen.add(first.chosen_ids, first.chosen)
    size, n_shards = first.size, 0
    pieces = _Pieces(set(first.digests.tolist()))
    name = f"potency {space.fingerprint} {read.fingerprint}"
    for summary in replace(counting, progress=None).summaries(_Summarize(space, read), pieces.new(shards), name):
        chosen.add(summary["chosen_ids"], summary["chosen"])
        basis[summary["basis_ids"]] += summary["basis"]
        size += int(summary["size"])
        n_shards += 1
        if counting.progress is not None:
            rate = (size - first.size) / max(time.monotonic() - begin, 1e-9)
            total = None if expected is None else max(expected, n_shards)
            counting.progress(Step("count", n_shards, total, {"tokens": size, "tokens/s": rate}))
    digests = np.concatenate([first.digests, np.array(pieces.fresh, dtype="<U32")])
    counts = FeatureCounts(
        space.fingerprint, space.state(), *chosen.total(), basis, size, first.n_shards_ + n_shards, digests
    )
    counts._n_known = pieces.n_known
    return counts


class _Pieces:
    """Tells new pieces of files from those counted before, by content."""

    def __init__(self, known: set[str]) -> None:
        self._known = known
        self.fresh: list[str] = []
        self.n_known = 0

    def new(self, shards: Iterable[Any]) -> Iterator[Any]:
        """Yield what has not been counted; what is no piece of a file is always new."""
        for shard in shards:
            digest = shard_digest(shard)
            if digest in self._known:
                self.n_known += 1
                continue
            if digest is not None:
                self._known.add(digest)
                self.fresh.append(digest)
            yield shard


class _Summarize:
    """Count one shard, batch by batch; travels to workers."""

    def __init__(self, space: FeatureSpace, read: ShardReading) -> None:
        self.space = space
        self.read = read
        self._spare: list[tuple[np.ndarray, np.ndarray]] = []  # sums that are 0 again, one pair for each thread

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_spare": []}

    def __call__(self, shard: Any) -> dict[str, Any]:
        try:  # in one step, as several threads may count
            chosen, basis = self._spare.pop()
        except IndexError:
            chosen, basis = np.zeros(self.space.n_features), np.zeros(self.space.n_basis)
        size = 0
        for inputs in self.space.batches(self.read(shard)):
            size += self.space.count(inputs, chosen, basis)
        ids, counts = _drain(chosen)
        basis_ids, basis_found = _drain(basis)
        self._spare.append((chosen, basis))
        return {"chosen_ids": ids, "chosen": counts, "basis_ids": basis_ids, "basis": basis_found, "size": size}


def _drain(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where sums are not 0 and what they are, and set them to 0."""
    ids = np.flatnonzero(sums)
    values = sums[ids]
    sums[ids] = 0.0
    return ids, values
