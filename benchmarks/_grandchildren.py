"""Grandchildren for the parser of order 2 (Carreras 2007), as far as `parser.py --only grandchildren` needs them to be measured.

A tree scores the arcs and pairs of order 2, and beside them triples of a word, its head and the head of that: of all words or, as
in the paper, of the outermost child on each side of a head. Order 2 is decoded exactly; from its tree the search climbs by single
changes (another head for a word, or a word and its head turned round) as long as the score with triples rises. All weights are
learned together, by the same passive-aggressive steps, with costs, from trees found in the same way. Climbing can miss the best
tree: how often the right tree would have scored more than the one that was found is told as well.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from handful.core.records import Tree
from handful.kernels import njit
from handful.kernels.online import catch_up
from handful.kernels.tree_parts import add_costs, decode, parts_of_tree, score_parts
from handful.linear.online import OnlineRule, train_online
from handful.linear.structure import Lazy
from handful.linear.tree import Tree as TreeStructure
from handful.linear.tree_steps import TreeSteps
from handful.parsing import DependencyParser
from handful.parsing.encoding import Encoder
from handful.parsing.features import CACHE_BYTES, SentenceFeatures, TreeFeatures
from handful.parsing.inputs import choose_columns, read_trees, with_columns
from handful.parsing.templates import ATTRIBUTES, TemplateSet

_BITS = 24
_WORD, _POS, _COARSE = (ATTRIBUTES.index(name) for name in ("word", "pos", "coarse"))
# What is seen of the head's head, the head and the word (-1: nothing), as templates of pairs see sibling, head and word.
_TRIPLES = np.array(
    [
        (_POS, _POS, _POS),
        (_POS, -1, _POS),
        (_WORD, -1, _WORD),
        (_WORD, -1, _POS),
        (_POS, -1, _WORD),
        (_WORD, _POS, _POS),
        (_POS, _WORD, _POS),
        (_POS, _POS, _WORD),
        (_COARSE, _COARSE, _COARSE),
    ]
)


@njit(cache=True, nogil=True)
def triple_slots(codes: np.ndarray, root: int, g: int, h: int, m: int, triples: np.ndarray) -> np.ndarray:
    """Return where each template of a triple has its number."""
    out = np.empty(len(triples), dtype=np.int64)
    directions = 2 * (g < h) + (h < m)
    for t in range(len(triples)):
        key = np.uint64(t * 4 + directions + 1)
        for place, word in enumerate((g, h, m)):
            attribute = triples[t, place]
            code = codes[root + word, attribute] + 1 if attribute >= 0 else 0
            key = (key ^ np.uint64(code)) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(29)
        out[t] = np.int64(key >> np.uint64(64 - _BITS))
    return out


@njit(cache=True, nogil=True)
def is_outermost(heads: np.ndarray, m: int) -> bool:
    """Tell whether no child of the same head lies further out on the same side."""
    h = heads[m - 1]
    others = heads[m:] if m > h else heads[: m - 1]
    return not (others == h).any()


@njit(cache=True, nogil=True)
def triples_score(
    heads: np.ndarray, known: np.ndarray, codes: np.ndarray, root: int, triples: np.ndarray, numbers: np.ndarray,
    weights: np.ndarray, outermost: bool,
) -> float:  # fmt: skip
    """Add up the weights of the triples of a tree; scores of triples that were met before are in `known`."""
    total = 0.0
    for m in range(1, len(heads) + 1):
        h = heads[m - 1]
        if h == 0 or (outermost and not is_outermost(heads, m)):
            continue
        g = heads[h - 1]
        score = known[g, h, m]
        if np.isnan(score):
            score = 0.0
            for slot in triple_slots(codes, root, g, h, m, triples):
                if numbers[slot] >= 0:
                    score += weights[numbers[slot]]
            known[g, h, m] = score
        total += score
    return total


@njit(cache=True, nogil=True)
def is_projective_tree(heads: np.ndarray) -> bool:
    """Tell whether there is neither a circle nor a crossing."""
    n = len(heads)
    for m in range(1, n + 1):
        h, steps = heads[m - 1], 0
        while h != 0:
            h = heads[h - 1]
            steps += 1
            if steps > n:
                return False
        a, b = min(m, heads[m - 1]), max(m, heads[m - 1])
        for k in range(a + 1, b):
            if heads[k - 1] < a or heads[k - 1] > b:
                return False
    return True


@njit(cache=True, nogil=True)
def climb(
    heads: np.ndarray, scores: np.ndarray, starts: np.ndarray, known: np.ndarray, codes: np.ndarray, root: int,
    triples: np.ndarray, numbers: np.ndarray, weights: np.ndarray, outermost: bool, n_heads: int,
) -> np.ndarray:  # fmt: skip
    """Change a tree as long as its score rises; a word tries so many heads, those whose arcs score highest."""
    n = len(heads)
    size = n + 1
    heads = heads.copy()
    rest = known, codes, root, triples, numbers, weights, outermost
    best = scores[parts_of_tree(heads, starts, True)].sum() + triples_score(heads, *rest)
    arcs = scores[: size * size].reshape(size, size)
    ranked = np.empty((n, min(n_heads, n)), dtype=np.int64)
    for m in range(1, size):
        column = arcs[:, m].copy()
        column[m] = -np.inf
        ranked[m - 1] = np.argsort(-column)[: ranked.shape[1]]
    while True:
        found = heads
        for m in range(1, size):
            h = heads[m - 1]
            for k in range(ranked.shape[1] + 1):
                trial = heads.copy()
                if k == ranked.shape[1]:  # turn the word and its head round
                    if h == 0:
                        continue
                    trial[m - 1], trial[h - 1] = heads[h - 1], m
                else:
                    new = ranked[m - 1, k]
                    if new == h or new == 0 or h == 0:  # one word hangs from the root, before and after
                        continue
                    trial[m - 1] = new
                if not is_projective_tree(trial):
                    continue
                score = scores[parts_of_tree(trial, starts, True)].sum() + triples_score(trial, *rest)
                if score > best + 1e-9:
                    best, found = score, trial
        if found is heads:
            return heads
        heads = found


class GrandchildSteps:
    """Sentences one at a time, with arcs, pairs and triples; see `handful.linear.structure.Sweeping`.

    Features of triples are those of the right trees, numbered after those of arcs and pairs.
    """

    def __init__(self, tree: TreeStructure, codes: np.ndarray, outermost: bool, numbers: np.ndarray) -> None:
        self.tree, self.codes, self.outermost = tree, codes, outermost
        self.steps = TreeSteps(tree)
        self.n_inputs = tree.n_inputs
        self.n_features = tree.n_features + int(numbers.max()) + 1
        self.numbers = np.where(numbers >= 0, numbers + tree.n_features, -1).astype(np.int32)

    def find(self, number: int, weights: np.ndarray, gold: np.ndarray | None = None) -> np.ndarray:
        """Return the tree that climbing finds; with right heads, wrong ones gain 1 each."""
        n = int(self.tree.offsets[number + 1] - self.tree.offsets[number])
        scores = score_parts(*self.tree.features(number), weights)
        if gold is not None:
            add_costs(scores, gold)
        starts = self.tree.starts(n)
        heads, _ = decode(scores, n, starts, True, True, True)
        known = np.full((n + 1, n + 1, n + 1), np.nan)
        return climb(heads, scores, starts, known, *self._triples(number), weights, self.outermost, 8)

    def score(self, number: int, heads: np.ndarray, weights: np.ndarray) -> float:
        """Return the score of a tree."""
        ids, amounts = self.parts_at(number, heads)
        return float(weights[ids] @ amounts)

    def parts_at(self, number: int, heads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of a tree and their amounts."""
        ids, amounts = self.steps.parts_at(number, heads)
        numbers = self.numbers[slots_of(heads, *self._triples(number)[:3], self.outermost)]
        more = numbers[numbers >= 0]
        return np.concatenate([ids, more]), np.concatenate([amounts, np.ones(len(more))])

    def sweep(self, order: np.ndarray, outputs: np.ndarray, lazy: Lazy, size: float, passive: bool) -> float:
        """Make a passive-aggressive step for each sentence in order; return the summed loss."""
        loss = 0.0
        for step, number in enumerate(order, start=lazy.n_steps):
            gold = self.steps.take(number, outputs)
            heads = self.find(number, lazy.weights, gold)
            cost = float((heads != gold).sum())
            if cost == 0.0:
                continue
            right, wrong = self.parts_at(number, gold), self.parts_at(number, heads)
            ids, place = np.unique(np.concatenate([right[0], wrong[0]]), return_inverse=True)
            amounts = np.bincount(place, np.concatenate([right[1], -wrong[1]]), minlength=len(ids))
            lost = max(cost - float(lazy.weights[ids] @ amounts), 0.0)
            loss += lost
            catch_up(ids, step, lazy.shrink, lazy.weights, lazy.sums, lazy.steps)
            lazy.weights[ids] += min(size, lost / max(float(amounts @ amounts), 1e-9)) * amounts
        return loss

    def _triples(self, number: int) -> tuple[np.ndarray, int, np.ndarray, np.ndarray]:
        return self.codes, 2 + int(self.tree.offsets[number]) + int(number), _TRIPLES, self.numbers


@njit(cache=True, nogil=True)
def slots_of(heads: np.ndarray, codes: np.ndarray, root: int, triples: np.ndarray, outermost: bool) -> np.ndarray:
    """Return the slots of all triples of a tree."""
    n_templates = len(triples)
    out = np.empty(len(heads) * n_templates, dtype=np.int64)
    n = 0
    for m in range(1, len(heads) + 1):
        h = heads[m - 1]
        if h != 0 and not (outermost and not is_outermost(heads, m)):
            out[n : n + n_templates] = triple_slots(codes, root, heads[h - 1], h, m, triples)
            n += n_templates
    return out[:n]


class GrandchildParser:
    """A parser of order 2 with triples of "all" words, of the "outermost" children, or of "no" words; heads alone."""

    def __init__(self, *, of: str, max_iter: int) -> None:
        self.of, self.outermost, self.max_iter = of, of == "outermost", max_iter

    def fit(self, trees: Sequence[Tree]) -> GrandchildParser:
        known, heads, _ = read_trees(trees, projective=True, single_root=True)
        sentences = [tree.sentence for tree in known]
        self.columns = list(choose_columns(sentences, None))
        sentences = with_columns(sentences, self.columns)
        templates = TemplateSet.ready(order=2, clusters=False)
        encoder = Encoder.learn(sentences, self.columns, None, templates)
        rules = {"order": 2, "single_root": True}
        self.features = TreeFeatures.learn(sentences, heads, templates, encoder, min_count=1, **rules)
        of_sentences = SentenceFeatures(self.features, sentences, CACHE_BYTES)
        slots = np.zeros(1 << _BITS, dtype=bool)
        for number in range(len(sentences) if self.of != "no" else 0):
            root = 2 + int(of_sentences.offsets[number]) + number
            own = heads[of_sentences.offsets[number] : of_sentences.offsets[number + 1]]
            slots[slots_of(own, of_sentences.codes, root, _TRIPLES, self.outermost)] = True
        self.numbers = np.where(slots, np.cumsum(slots) - 1, -1)
        steps = self._steps(of_sentences)
        self.weights = train_online(steps, heads, OnlineRule("pa", 0.01), max_passes=self.max_iter).weights
        return self

    def steps_of(self, trees: Sequence[Tree]) -> GrandchildSteps:
        """Return sentences ready to be parsed."""
        sentences = with_columns([tree.sentence for tree in trees], self.columns)
        return self._steps(SentenceFeatures(self.features, sentences))

    def _steps(self, of_sentences: SentenceFeatures) -> GrandchildSteps:
        structure = DependencyParser(order=2).structure(self.features, of_sentences)
        return GrandchildSteps(structure, of_sentences.codes, self.outermost, self.numbers)
