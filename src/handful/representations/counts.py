"""Counts of features over unlabeled inputs, shard by shard."""

from __future__ import annotations

import codecs
import hashlib
import io
import math
import os
import re
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
    decompressed,
    first_chunk,
    open_bytes,
)
from handful.data.formats import detect
from handful.errors import DataError, FileError, FormatError, ParameterError, Progress, Step
from handful.kernels.hashing import SortedSums
from handful.persistence.model_file import Storable, load, save
from handful.persistence.schema import Array, IfThere, Names, Number, Plain, Text, check_state, stored
from handful.registry import method
from handful.representations.potency import FeatureSpace
from handful.representations.text_stream import Counting, ExactSums, TextPart, sentence_parts, text_parts

_WRITTEN = re.compile(r"([1-9]\d{0,8})/([1-9]\d{0,8})")


@dataclass(frozen=True)
class Share:
    """Every n-th piece of a text.

    Parameters
    ----------
    number : int
        Which share, from 1 on.
    of : int
        How many there are.

    Examples
    --------
    >>> share = Share.parse("2/3")
    >>> [piece for piece in range(7) if share.has(piece)], str(share)
    ([1, 4], '2/3')
    """

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> Share:
        """Read ``2/8``: the second of eight."""
        if not cls.is_written(text):
            raise ParameterError(f"shard: must be I/N, with I from 1 to N, such as 2/8, got {text!r}.")
        number, of = map(int, text.split("/"))
        return cls(number, of)

    @staticmethod
    def is_written(text: str) -> bool:
        """Tell whether a text is a share."""
        written = _WRITTEN.fullmatch(text)
        return written is not None and int(written[1]) <= int(written[2])

    def has(self, piece: int) -> bool:
        """Tell whether a piece, numbered from 0 on, is in this share."""
        return piece % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


_PART_BYTES = 1 << 20
_SHARD_SENTENCES = 1 << 13
_SHARD_ROWS = 1 << 16
_PREPARED = 2_000
_TRIED_PIECES = 4
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
class UnpackedPart:
    """Lines of a compressed file; they travel to the worker, so that the file is unpacked only once.

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
            yield from _file_parts(as_source(path))
        return
    if hasattr(unlabeled, "shape") and len(unlabeled.shape) == 2:
        rows = unlabeled.tocsr() if hasattr(unlabeled, "tocsr") else unlabeled
        for start in range(0, rows.shape[0], _SHARD_ROWS):
            yield rows[start : start + _SHARD_ROWS]
        return
    for part in sentence_parts(unlabeled, who):
        for start in range(0, len(part), _SHARD_SENTENCES):
            yield part[start : start + _SHARD_SENTENCES]


def _file_parts(source: Source) -> Iterable[TextPart | UnpackedPart]:
    _refuse_columns(source)
    if source.is_compressed or source.is_stream:
        return unpacked_parts(source)
    return text_parts(source, part_bytes=_PART_BYTES)


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
    """Return about how many shards there will be, for progress; None if unknown.

    Notes
    -----
    Of a compressed file the first pieces are read; the rest is assumed to compress as well.
    """
    if not is_files(unlabeled):
        return None
    total = 0
    for path in [unlabeled] if isinstance(unlabeled, str | os.PathLike) else unlabeled:
        if not os.path.isfile(path):  # a stream can be read once only; what is missing is told when it is read
            return None
        try:
            size = float(os.path.getsize(path))
            with open(path, "rb") as raw, decompressed(path, raw) as file:
                if file is not raw:
                    size *= len(file.read(_TRIED_PIECES * _PART_BYTES)) / max(raw.tell(), 1)
        except (OSError, FileError):
            return None
        total += math.ceil(size / _PART_BYTES)
    return total


def unpacked_parts(path: str | os.PathLike[str]) -> Iterator[UnpackedPart]:
    """Divide a compressed text file at line ends, where `text_parts` would divide the same text unpacked.

    Parameters
    ----------
    path : path-like
        The file.

    Yields
    ------
    UnpackedPart
        The parts in file order.
    """
    with open_bytes(path) as file:
        first, mark = 1, file.read(len(codecs.BOM_UTF8))
        rest = b"" if mark == codecs.BOM_UTF8 else mark
        while data := rest + file.read(_PART_BYTES - len(rest)) + file.readline(MAX_LINE + 1):
            yield UnpackedPart(os.fspath(path), first, data)
            first += data.count(b"\n")
            rest = b""


def shard_digest(shard: Any) -> str | None:
    r"""Return the digest of the text of a piece of a file; None for what is no piece of a file.

    Examples
    --------
    >>> shard_digest(UnpackedPart("a.txt.gz", 1, b"one\n")) == shard_digest(UnpackedPart("b.txt.gz", 7, b"one\n"))
    True
    """
    if not isinstance(shard, TextPart | UnpackedPart):
        return None
    data = shard.data if isinstance(shard, UnpackedPart) else _bytes(shard)
    return hashlib.sha256(data).hexdigest()[:32]


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
        sentences = iter(_sentences(shard))
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


def _sentences(shard: Any) -> Iterable[Any]:
    return _lines(shard) if isinstance(shard, TextPart | UnpackedPart) else shard


def _lines(part: TextPart | UnpackedPart) -> Iterator[list[str]]:
    data = part.data if isinstance(part, UnpackedPart) else _bytes(part)
    try:
        text = decoded(part.path, 1, data)
    except FormatError:
        # The number of the line is looked for only where it is told.
        text = decoded(part.path, _first_line(part), data)
    for line in text.replace("\r\n", "\n").split("\n"):
        if len(line) > MAX_LINE:
            raise FormatError(part.path, None, f"expected lines of at most {MAX_LINE:,} bytes, got a longer one.")
        if tokens := [token for token in line.replace("\t", " ").split(" ") if token]:
            yield tokens


def _bytes(part: TextPart) -> bytes:
    with open(part.path, "rb") as file:
        file.seek(part.start)
        return file.read(min(part.stop - part.start, _PART_BYTES + MAX_LINE + 1))


def _first_line(part: TextPart | UnpackedPart) -> int:
    if isinstance(part, UnpackedPart):
        return part.first
    with open(part.path, "rb") as file:
        sizes = (min(_PART_BYTES, part.start - at) for at in range(0, part.start, _PART_BYTES))
        return 1 + sum(file.read(size).count(b"\n") for size in sizes)


_KIND = "feature-counts"
_BLOCK = 1 << 22
_STEPS = 1 << 20  # probabilities are counted in such parts of one, so that their sums are exact in whatever order


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
    basis_rest : ndarray of float64, optional
        What rounding took from `basis`.
    share : str
        Which share of the text this is, such as ``2/8``; empty for all of it.

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
        basis_rest=IfThere(Array("f8", "rest?")),
        share=IfThere(Text()),
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
        basis_rest: np.ndarray | None = None,
        share: str = "",
    ) -> None:
        self.fingerprint = fingerprint
        self.space = space
        self.chosen_ids = chosen_ids
        self.chosen = chosen
        self.basis = basis
        self.size = size
        self.n_shards_ = n_shards
        self.digests = np.empty(0, dtype="<U32") if digests is None else digests
        self.basis_rest = np.empty(0) if basis_rest is None or not basis_rest.any() else basis_rest
        self.share = share or ""
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
        return self._sum([self, other], np.concatenate([self.digests, other.digests]))

    def weighted(self, weight: float) -> FeatureCounts:
        """Return the counts of a text that counts for more, or less, than it is long.

        Parameters
        ----------
        weight : float
            Above 0; 0.1 lets ten tokens count for one.

        Returns
        -------
        FeatureCounts
            Every count times the weight; the size stays that of the text.

        Examples
        --------
        >>> counts = FeatureCounts("id", {}, np.array([3]), np.array([2.0]), np.array([1.0]), 5)
        >>> counts.weighted(0.5).chosen.tolist()
        [1.0]
        """
        if not 0.0 < weight < math.inf:
            raise ParameterError(f"CondensedFeatures: a weight of counts must be a number above 0, got {weight}.")
        scaled = self.chosen * weight, self.basis * weight
        return FeatureCounts(
            self.fingerprint, self.space, self.chosen_ids, *scaled, self.size, self.n_shards_, self.digests
        )

    def _check_same_space(self, other: FeatureCounts) -> None:
        if other.fingerprint != self.fingerprint:
            raise DataError(
                "CondensedFeatures: counts can be added only if they were made with the same base model and the same "
                "vocabulary, got counts of another one. Count the text again."
            )

    @staticmethod
    def _sum(several: Sequence[FeatureCounts], digests: np.ndarray) -> FeatureCounts:
        first, chosen = several[0], SortedSums()
        basis = ExactSums(len(first.basis))
        for counts in several:
            chosen.add(counts.chosen_ids, counts.chosen)
            counts.add_basis_to(basis)
        total, rest = basis.total()
        size, n_shards = sum(c.size for c in several), sum(c.n_shards_ for c in several)
        return FeatureCounts(
            first.fingerprint, first.space, *chosen.total(), total, size, n_shards, digests, basis_rest=rest
        )

    def add_basis_to(self, sums: ExactSums) -> None:
        """Add the basis, with what rounding took from it."""
        sums.add(self.basis)
        if len(self.basis_rest):
            sums.add(self.basis_rest)

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
        rest, share = state.get("basis_rest"), state.get("share")
        if (rest is not None and len(rest) not in (0, len(state["basis"]))) or (share and not Share.is_written(share)):
            raise DataError("FeatureCounts: the stored counts are damaged.")
        return cls(**state)


def merge_shares(counts: Mapping[str, FeatureCounts]) -> FeatureCounts:
    """Put the shares of a text together.

    Parameters
    ----------
    counts : mapping of str to FeatureCounts
        All shares, in any order, by the names that errors tell, such as those of their files.

    Returns
    -------
    FeatureCounts
        The same to the last bit as if one run had counted the whole text.

    Examples
    --------
    >>> one, other = (
    ...     FeatureCounts("id", {}, np.array([3]), np.array([2.0]), np.array([0.1]), 5, share=share)
    ...     for share in ("1/2", "2/2")
    ... )
    >>> merge_shares({"b": other, "a": one}).chosen.tolist()
    [4.0]
    """
    shares: dict[int, str] = {}
    n = 0
    for name, part in counts.items():
        if not part.share:
            raise ParameterError(f"{name}: must be the counts of a share (--shard I/N), got those of a whole text.")
        share = Share.parse(part.share)
        n = n or share.of
        if share.of != n:
            raise ParameterError(f"{name}: must be one of {n} shares as the other files are, got share {share}.")
        if share.number in shares:
            raise ParameterError(f"{name}: share {share} must be named once, but {shares[share.number]} is the same.")
        shares[share.number] = name
    if missing := [f"{number}/{n}" for number in range(1, n + 1) if number not in shares]:
        raise ParameterError(
            f"merge: all {n} shares must be there, but not {', '.join(missing)}. "
            f"Run --shard {missing[0]}{' and so on' * (len(missing) > 1)}."
        )
    ordered = [counts[shares[number]] for number in sorted(shares)]
    for part in ordered[1:]:
        ordered[0]._check_same_space(part)
    digests = np.empty(sum(len(part.digests) for part in ordered), dtype="<U32")
    for number, part in enumerate(ordered):
        places = digests[number::n]
        if len(places) != len(part.digests):
            raise ParameterError(f"{shares[number + 1]}: share {part.share} must be of the same text as the others.")
        places[:] = part.digests
    if len(np.unique(digests)) < len(digests):
        raise ParameterError("merge: shares must be of the same text, but some have pieces in common.")
    return FeatureCounts._sum(ordered, digests)


def count_features(
    space: FeatureSpace,
    shards: Iterable[Any],
    read: ShardReading,
    counting: Counting,
    start: FeatureCounts | None = None,
    *,
    again: bool = False,
    share: Share | None = None,
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
        Counts of earlier shards in the same space, to go on from.
    again : bool
        Count pieces of files again that have been counted before.
    share : Share, optional
        Count this share of the pieces alone, for `merge_shares`.
    expected : int, optional
        About how many shards there are, for `progress`, which receives tokens and tokens per second after each of them.

    Returns
    -------
    FeatureCounts
        The same to the last bit for the same shards, wherever they were counted, in one run or several.
    """
    chosen, basis = SortedSums(), ExactSums(space.n_basis)
    size = n_shards = 0
    pieces = _Pieces(set() if start is None else set(start.digests.tolist()), again, share or Share())
    if start is not None:
        chosen.add(start.chosen_ids, start.chosen)
        start.add_basis_to(basis)
        size, n_shards = start.size, start.n_shards_
    name = f"potency {space.fingerprint} {read.fingerprint}"
    clock = _Clock(counting.progress, None if expected is None else -(-expected // (share or Share()).of), size)
    for summary in replace(counting, progress=None).summaries(_Summarize(space, read), pieces.new(shards), name):
        chosen.add(summary["chosen_ids"], summary["chosen"])
        basis.add(summary["basis"], summary["basis_ids"])
        size += int(summary["size"])
        n_shards += 1
        clock.tell(size)
    before = np.empty(0, dtype="<U32") if start is None else start.digests
    total, rest = basis.total()
    counts = FeatureCounts(
        space.fingerprint,
        space.state(),
        *chosen.total(),
        total,
        size,
        n_shards,
        np.concatenate([before, np.array(pieces.fresh, dtype="<U32")]),
        rest,
        str(share) if share is not None and share.of > 1 else "",
    )
    counts._n_known = pieces.n_known
    return counts


class _Clock:
    """Progress and speed of counting."""

    def __init__(self, progress: Progress | None, total: int | None, size: int) -> None:
        self._progress = progress
        self._total = total
        self._done, self._size = 0, size
        self._start = time.monotonic()

    def tell(self, size: int) -> None:
        """Tell that one more shard is done, and the size of all."""
        self._done += 1
        if self._progress is None:
            return
        rate = (size - self._size) / max(time.monotonic() - self._start, 1e-9)
        total = None if self._total is None else max(self._total, self._done)
        self._progress(Step("count", self._done, total, {"tokens": size, "tokens/s": rate}))


class _Pieces:
    """Distinguishes new pieces of files from those counted before, by content."""

    def __init__(self, known: set[str], again: bool, share: Share) -> None:
        self._known = known
        self._again = again
        self._share = share
        self._n_new = 0
        self.fresh: list[str] = []
        self.n_known = 0

    def new(self, shards: Iterable[Any]) -> Iterator[Any]:
        """Yield what this share has not counted; what is no piece of a file is always new, and in the first share."""
        for shard in shards:
            digest = shard_digest(shard)
            if digest is None:
                if self._share.number == 1:
                    yield shard
            elif digest not in self._known:
                self._known.add(digest)
                self._n_new += 1
                if self._share.has(self._n_new - 1):
                    self.fresh.append(digest)
                    yield shard
            elif self._again:
                yield shard
            else:
                self.n_known += 1


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
        if self.space.marginals:
            counts = np.rint(counts * _STEPS) / _STEPS
            ids, counts = ids[counts != 0.0], counts[counts != 0.0]
        basis_ids, basis_found = _drain(basis)
        self._spare.append((chosen, basis))
        return {"chosen_ids": ids, "chosen": counts, "basis_ids": basis_ids, "basis": basis_found, "size": size}


def _drain(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where sums are not 0 and what they are, and set them to 0."""
    ids = np.flatnonzero(sums)
    values = sums[ids]
    sums[ids] = 0.0
    return ids, values
