"""A CRF as the base model of condensed features."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain as chained
from itertools import pairwise
from typing import Any

import numpy as np

from handful.errors import DataError
from handful.kernels.hashing import add_pairs, spread_rows
from handful.linear.chain import ChainStructure
from handful.linear.chain_layout import ChainLayout, LegalParts, labels_before
from handful.preprocessing.extractor import Extractor, Predicates, in_order, joined, numbers_in
from handful.preprocessing.templates import Tokens
from handful.tagging.base import check_sentences

_BATCH_TOKENS = 200_000
_MOST_CELLS = 1 << 24
_OWN = np.empty(0, dtype=np.int64)  # every number is its own rank
_ANY_TOKEN = np.array([-1])  # the last line of the sums, for bare label pairs and triples


class ChainSpace:
    """Every observation with every label and every legal label pair; see `handful.representations.potency`.

    Features are numbered as `handful.linear.build_layout` does with ``all_labels``: observations with a label, then
    observations with a label pair, then bare label pairs, then label triples.

    Parameters
    ----------
    model : CRF
        The fitted base model.
    extractor : Extractor
        Knows every observation that may gain potency, those of the model included.

    Notes
    -----
    A part is a label with the label before it (with both labels before it for order 2), as in `Chain.parts`; illegal
    label pairs are no parts. How much of a feature chance would give depends on the observation only through the
    positions it was seen at, so two or three sums an observation stand for all its labels.
    """

    def __init__(self, model: Any, extractor: Extractor) -> None:
        self.model = model
        self.extractor = extractor
        n = self.n_labels = len(model.classes_)
        self.legal = np.flatnonzero(model.allowed_.ravel())
        self._legal_rank = np.full(n * n + 1, -1, dtype=np.int64)
        self._legal_rank[self.legal] = np.arange(len(self.legal))
        allowed = model.allowed_
        triples = allowed[:, :, None] & allowed[None, :, :]
        has_pairs = any(t.pairs and not t.atoms for t in extractor.templates)
        self._pairs = self.legal if has_pairs else self.legal[:0]
        self._triples = np.flatnonzero(triples.ravel()) if model.order == 2 else self.legal[:0]
        self.node_wanted = extractor.predicates_with(pairs=False)
        self.edge_wanted = extractor.predicates_with(pairs=True)
        self._nodes, self._edges = np.flatnonzero(self.node_wanted), np.flatnonzero(self.edge_wanted)
        self._node_rank = np.where(self.node_wanted, np.cumsum(self.node_wanted) - 1, -1)
        self._edge_rank = np.where(self.edge_wanted, np.cumsum(self.edge_wanted) - 1, -1)
        sizes = [len(self._nodes) * n, len(self._edges) * len(self.legal), len(self._pairs), len(self._triples)]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.n_features = int(self.starts[-1])
        even = self._even = LegalParts(allowed, model.allowed_first_, model.order)
        self._of_labels = even.labels.T
        self._of_pairs = even.pairs.reshape(even.n_classes, -1).T[self.legal]
        self._of_triples = even.triples.reshape(even.n_classes, -1).T[self._triples]
        self.n_basis = even.n_classes * (extractor.n_predicates + 1)
        self._name_types()
        self._base_number = np.full(extractor.n_predicates + 1, -1, dtype=np.int32)
        places = numbers_in(model.extractor, extractor)
        if (places < 0).any():
            raise DataError("CondensedFeatures: the stored vocabulary lacks observations of the base model.")
        self._base_number[places] = np.arange(len(places))
        self.fingerprint = self._fingerprint()

    @classmethod
    def of(cls, model: Any, sentences: Sequence[Tokens] | None) -> ChainSpace:
        """Return the space of a model's own observations and those of some sentences."""
        known = model.extractor
        if sentences is None or known.hash_bits is not None:
            return cls(model, known)
        sentences, _ = check_sentences(sentences, "CondensedFeatures")
        fresh = Extractor(map(str, known.templates), min_count=model.min_count, lookups=known.lookups)
        vocabulary = joined([fresh.fit(sentences, who="CondensedFeatures"), known])
        return cls(model, vocabulary)

    def state(self) -> dict[str, Any]:
        """Return what a model file needs in addition to the base model."""
        return {"vocabulary": self.extractor.state()}

    def batches(self, part: Iterable[Tokens]) -> Iterator[list[Tokens]]:
        """Cut sentences."""
        batch: list[Tokens] = []
        n_tokens = 0
        for sentence in part:
            batch.append(sentence)
            n_tokens += len(sentence)
            if n_tokens >= _BATCH_TOKENS:
                yield batch
                batch, n_tokens = [], 0
        if batch:
            yield batch

    def count(self, inputs: Sequence[Tokens], chosen: np.ndarray, basis: np.ndarray) -> int:
        """Count observations with the labels that the base model gives them."""
        observed = self.extractor.transform(inputs, who="CondensedFeatures")
        self._count_best(observed, chosen)
        # A: how often it would be there if all outputs were equally likely.
        place = self._even.classes(observed.offsets)
        amounts = np.repeat(self._even.r_bar(observed.offsets, place), np.diff(observed.offsets))
        width = self._even.n_classes
        _add(observed, place, amounts, _OWN, width, basis)
        basis[-width:] += np.bincount(place, weights=amounts, minlength=width)
        return int(observed.offsets[-1])

    def _count_best(self, observed: Predicates, chosen: np.ndarray) -> None:
        model = self.model
        numbers = _renumbered(observed, self._base_number)
        codes = model.chain(model.extractor, model.layout, numbers).argmax(model.weights_).astype(np.int64)
        before = labels_before(observed.offsets, codes)
        pair = self._legal_rank[np.where(before >= 0, before * self.n_labels + codes, -1)]
        node, edge, pairs, triples = (chosen[a:b] for a, b in pairwise(self.starts))
        # R of Suzuki et al., Fig. 2: how often a feature is in the best outputs.
        ones = np.ones(len(codes))
        _add(observed, codes, ones, _OWN if self.node_wanted.all() else self._node_rank, self.n_labels, node)
        if len(edge):
            _add(observed.only(self.edge_wanted), pair, ones, self._edge_rank, len(self.legal), edge)
        if len(pairs):
            pairs += np.bincount(pair[pair >= 0], minlength=len(pairs))
        if len(triples):
            two_before = labels_before(observed.offsets, before)
            triple = (two_before * self.n_labels + before) * self.n_labels + codes
            ids, times = np.unique(triple[two_before >= 0], return_counts=True)
            triples[np.searchsorted(self._triples, ids)] += times

    def even(self, basis: np.ndarray, start: int, stop: int) -> np.ndarray:
        """Return A from the sums of each observation at first, second and later positions."""
        sums = basis.reshape(-1, self._even.n_classes)
        kinds = (
            (self._nodes, self._of_labels),
            (self._edges, self._of_pairs),
            (_ANY_TOKEN, self._of_pairs),
            (_ANY_TOKEN, self._of_triples),
        )
        parts = [np.empty(0)]
        for (predicates, fractions), (low, high) in zip(kinds, pairwise(self.starts.tolist()), strict=True):
            first, end = max(start - low, 0), min(stop, high) - low
            if first < end:
                width = len(fractions)
                line = first // width
                here = sums[predicates[line : -(-end // width)]]
                even = here[:, :1] * fractions[:, 0]
                for place in range(1, fractions.shape[1]):
                    even += here[:, place, None] * fractions[:, place]
                parts.append(even.ravel()[first - line * width : end - line * width])
        return np.concatenate(parts)

    def types(self, ids: np.ndarray) -> np.ndarray:
        """Return the template of each feature."""
        group, first, _ = self._place(ids)
        slot = np.searchsorted(self.extractor.starts, np.maximum(first, 0), side="right") - 1
        types = np.where(group == 0, self._node_type[slot], self._edge_type[slot])
        return np.asarray(np.where(group == 2, self._pair_type, np.where(group == 3, self._triple_type, types)))

    def describe(self, ids: np.ndarray) -> list[tuple[str, tuple[str, ...]]]:
        """Return observations and labels in words."""
        group, first, second = self._place(ids)
        out: list[tuple[str, tuple[str, ...]]] = []
        names = iter(self.extractor.names(first[group < 2].tolist()))
        n, labels = self.n_labels, self.model.classes_.tolist()
        for kind, number in zip(group.tolist(), second.tolist(), strict=True):
            if kind == 0:
                out.append((next(names), (labels[number],)))
            elif kind < 3:
                a, b = divmod(int(self.legal[number]), n)
                out.append((next(names) if kind == 1 else "b", (labels[a], labels[b])))
            else:
                rest, c = divmod(int(self._triples[number]), n)
                out.append(("triple", (labels[rest // n], labels[rest % n], labels[c])))
        return out

    def observations(self, ids: np.ndarray) -> np.ndarray:
        """Return the observation of each feature; -1 for label pairs and triples."""
        return self._place(ids)[1]

    def seen(self, ids: np.ndarray, inputs: Sequence[Tokens]) -> np.ndarray:
        """Return which observations the sentences have; label pairs and triples count as seen."""
        observed = self.extractor.transform(inputs, who="CondensedFeatures")
        here = np.zeros(self.extractor.n_predicates + 1, dtype=bool)
        here[observed.row_ids] = True
        here[observed.direct] = True
        here[-1] = True
        _, first, _ = self._place(ids)
        return np.asarray(here[first])

    def structure(self, ids: np.ndarray, inputs: Sequence[Tokens]) -> ChainStructure:
        """Return the sentences with some features alone."""
        inputs, _ = check_sentences(inputs, "CondensedFeatures")
        observed = self.extractor.transform(inputs, who="CondensedFeatures")
        return self.model.chain(self.extractor, self.layout(ids), observed)  # type: ignore[no-any-return]

    def encode(self, inputs: Sequence[Tokens], outputs: Any) -> np.ndarray:
        """Return tags as codes."""
        return self.model.encode(inputs, outputs)  # type: ignore[no-any-return]

    def base_weights(self, ids: np.ndarray) -> np.ndarray:
        """Return weights of the base model."""
        layout: ChainLayout = self.model.layout
        places = numbers_in(self.model.extractor, self.extractor)
        predicate, target = layout.predicate_of(), layout.targets()
        full = np.empty(layout.n_features, dtype=np.int64)
        a, b, c, d, _ = layout.starts
        full[a:b] = self._node_rank[places[predicate[a:b]]] * self.n_labels + target[a:b]
        pairs = self._legal_rank[target[b:d]]
        full[b:c] = self.starts[1] + self._edge_rank[places[predicate[b:c]]] * len(self.legal) + pairs[: c - b]
        full[c:d] = self.starts[2] + pairs[c - b :]
        full[d:] = self.starts[3] + np.searchsorted(self._triples, target[d:])
        weights = np.zeros(self.n_features)
        weights[full] = self.model.weights_
        return np.asarray(weights[ids])

    def build(self, ids: np.ndarray, weights: np.ndarray) -> Any:
        """Return a CRF with these weights."""
        hashed = self.extractor.hash_bits is not None
        layout, left = self.layout(ids).keep(np.ones(len(ids), dtype=bool), all_predicates=hashed)
        extractor = self.extractor.keep(left)
        if not hashed:
            extractor, layout, weights = _in_order(extractor, layout, weights)
        return self.model.with_features(extractor, layout, weights)

    def layout(self, ids: np.ndarray) -> ChainLayout:
        """Return the numbering of some features, which rise, for `ChainStructure`."""
        group, first, second = self._place(ids)
        n_predicates = self.extractor.n_predicates

        def offsets(numbers: np.ndarray) -> np.ndarray:
            return np.concatenate([[0], np.cumsum(np.bincount(first[numbers], minlength=n_predicates))]).astype(
                np.int64
            )

        node, edge = group == 0, group == 1
        return ChainLayout(
            self.n_labels,
            offsets(node),
            second[node].astype(np.int32),
            offsets(edge),
            self.legal[second[edge]].astype(np.int32),
            self.legal[second[group == 2]],
            self._triples[second[group == 3]],
        )

    def _place(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the group of each feature (0 to 3), its predicate (-1 for none), and its label, pair or triple."""
        group = np.searchsorted(self.starts[1:-1], ids, side="right")
        within = ids - self.starts[group]
        first, second = np.full(len(ids), -1, dtype=np.int64), within.copy()
        for kind, known, width in ((0, self._nodes, self.n_labels), (1, self._edges, len(self.legal))):
            of_kind = group == kind
            rank, second[of_kind] = np.divmod(within[of_kind], width)
            first[of_kind] = known[rank]
        return group, first, second

    def _name_types(self) -> None:
        templates, slots = self.extractor.templates, self.extractor.slots
        self.type_names = [str(t) for t in templates]
        self._node_type, self._edge_type = np.full((2, len(slots)), -1, dtype=np.int64)
        self._pair_type = self._triple_type = -1
        for number, template in enumerate(templates):
            if template.pairs and not template.atoms:
                self._pair_type = number
            else:
                of_slot = self._edge_type if template.pairs else self._node_type
                of_slot[slots.index(template.atoms)] = number
        if self.model.order == 2:
            self._triple_type = len(templates)
            self.type_names.append("triple")

    def _fingerprint(self) -> str:
        state, model = self.extractor.state(), self.model
        digest = hashlib.sha256(repr([state["templates"], state["hash_bits"], model.order]).encode())
        digest.update("\0".join(chained.from_iterable(state["strings"].values())).encode("utf-8", "surrogatepass"))
        layout = [value for value in model.layout_.values() if isinstance(value, np.ndarray)]
        for array in (*state["keys"], model.weights_, *layout, model.allowed_, model.allowed_first_):
            digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(repr(model.classes_.tolist()).encode())
        return digest.hexdigest()


def _add(
    observed: Predicates, targets: np.ndarray, amounts: np.ndarray, ranks: np.ndarray, width: int, out: np.ndarray
) -> None:
    """Add the amount of each token to the cells of its predicates and its target."""
    size = (len(observed.row_offsets) - 1) * width
    if size > _MOST_CELLS:
        add_pairs(observed.ids, targets, amounts, ranks, width, out)
        return
    sums = np.zeros(size)
    add_pairs(observed.rows, targets, amounts, _OWN, width, sums)
    spread_rows(sums, observed.row_offsets, observed.row_ids, ranks, width, out)
    add_pairs(observed.direct, targets, amounts, ranks, width, out)


def _renumbered(observed: Predicates, numbers: np.ndarray) -> Predicates:
    """Return what was observed under other numbers, without predicates whose number is -1."""
    ids = numbers[observed.row_ids]
    kept = ids >= 0
    row_offsets = np.concatenate([[0], np.cumsum(kept)])[observed.row_offsets]
    return Predicates(observed.rows, row_offsets, ids[kept], numbers[observed.direct], observed.offsets)


def _in_order(
    extractor: Extractor, layout: ChainLayout, weights: np.ndarray
) -> tuple[Extractor, ChainLayout, np.ndarray]:
    """Give observations numbers by their strings: keys that rise take a byte or two in a model file, instead of eight."""
    ordered, numbers = in_order(extractor)
    old = np.argsort(numbers)
    node, node_offsets = _rows_in_order(layout.node_offsets, old)
    edge, edge_offsets = _rows_in_order(layout.edge_offsets, old)
    n_node, n_edge = len(layout.node_targets), len(layout.edge_targets)
    moved = ChainLayout(
        layout.n_labels,
        node_offsets,
        layout.node_targets[node],
        edge_offsets,
        layout.edge_targets[edge],
        layout.pairs,
        layout.triples,
    )
    return ordered, moved, np.concatenate([weights[node], weights[n_node + edge], weights[n_node + n_edge :]])


def _rows_in_order(offsets: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where the entries of rows stand when the rows come in another order, and the offsets of these rows."""
    lengths = np.diff(offsets)[order]
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return np.arange(ends[-1]) + np.repeat(offsets[:-1][order] - ends[:-1], lengths), ends
