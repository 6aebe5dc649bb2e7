"""The joint field over words and labels: its likelihood, gradient and posteriors (Haghighi and Klein 2006)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from handful.tagging.prototypes.chains import Chain, FirstOrder, SecondOrder, TokenArrays

LengthNorm = Literal["histogram", "mean"]


class PrototypeField:
    """A Markov field that scores words and labels together: p(x, y) = exp(theta . f(x, y)) / Z.

    Parameters
    ----------
    features : csr_array of shape (n_words, n_predicates)
        Predicates of each word.
    legal : ndarray of bool, shape (n_words, n_labels)
        Labels each word may carry, at least one.
    order : {1, 2}
        How many labels before the present one count.

    Attributes
    ----------
    size : int
        Number of weights: one for each predicate and label, then those of label sequences.

    Examples
    --------
    >>> field = PrototypeField(sparse.csr_array(np.eye(3)), np.ones((3, 2), dtype=bool), order=1)
    >>> sums = field.log_partitions(np.zeros(field.size), longest=2)  # (3 words times 2 labels) to the power of l
    >>> np.exp(sums).round(6).tolist()
    [6.0, 36.0]
    """

    def __init__(self, features: sparse.csr_array, legal: np.ndarray, order: Literal[1, 2]) -> None:
        self._features = features
        self._turned = features.T.tocsr()
        self._barred = np.where(legal, 0.0, -np.inf)
        n_labels = legal.shape[1]
        self._chain: Chain = FirstOrder(n_labels) if order == 1 else SecondOrder(n_labels)
        self._shapes = ((features.shape[1], n_labels), *self._chain.shapes)
        self.size = int(sum(np.prod(shape) for shape in self._shapes))

    @property
    def feature_arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Which predicates each word has, as two arrays."""
        return self._features.indices, self._features.indptr

    def split(self, weights: np.ndarray) -> list[np.ndarray]:
        """Return the weights as arrays: predicates by labels, then those of label sequences (views)."""
        ends = np.cumsum([int(np.prod(shape)) for shape in self._shapes])
        return [part.reshape(shape) for part, shape in zip(np.split(weights, ends[:-1]), self._shapes, strict=True)]

    def self_transitions(self, value: float) -> np.ndarray:
        """Return weights that are this value where a label follows itself, and 0 elsewhere."""
        weights = np.zeros(self.size)
        for part in self.split(weights)[1:]:
            if part.ndim > 1:
                part[..., np.arange(part.shape[-1]), np.arange(part.shape[-1])] = value
        return weights

    def objective(
        self, weights: np.ndarray, tokens: TokenArrays, length_norm: LengthNorm, n_jobs: int = 1
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return minus the log-likelihood, its gradient, and the label marginals of every token.

        Parameters
        ----------
        weights : ndarray of shape (size,)
            The weights theta.
        tokens : TokenArrays
            The sentences.
        length_norm : {"histogram", "mean"}
            ``histogram``: each sentence is normalized over all sentences of its own length. ``mean``: over all
            sentences of at most the mean length.
        n_jobs : int
            Threads.

        Returns
        -------
        value : float
            Minus the sum of log p(x).
        gradient : ndarray of shape (size,)
            Its derivative.
        marginals : ndarray of shape (n_tokens, n_labels)
            Posterior label probabilities.
        """
        emission, *edges = self.split(weights)
        scores = self._features @ emission + self._barred
        log_sums, marginals, observed = self._chain.sums(tokens, scores, edges, n_jobs)
        lengths = np.diff(tokens.offsets)
        n_sentences = len(lengths)
        longest = max(1, int(lengths.mean())) if length_norm == "mean" else int(lengths.max())
        histogram = np.bincount(lengths, minlength=longest + 1)[1:].astype(np.float64)

        def weigh(log_partitions: np.ndarray) -> np.ndarray:
            if length_norm == "mean":
                # p(|x| = l) = Z_l / Z, once for each sentence
                shares: np.ndarray = np.exp(log_partitions - logsumexp(log_partitions))
                return n_sentences * shares
            return histogram

        totals = logsumexp(scores, axis=0)
        log_partitions, labels, expected = self._chain.lattice(totals, edges, longest, weigh)
        if length_norm == "mean":
            log_z = n_sentences * float(logsumexp(log_partitions))
        else:
            log_z = float(histogram @ np.where(histogram > 0, log_partitions, 0.0))
        # The gradient is E[f | x] summed over sentences, minus E[f] as often; E[f] of predicate g with label y is
        # labels[y] * sum over words of p(w | y) g(w).
        words = _sum_by_word(tokens.words, marginals, len(scores))
        with np.errstate(invalid="ignore"):
            words -= np.where(np.isneginf(scores), 0.0, np.exp(scores - totals)) * labels
        gradient = [self._turned @ words, *(o - e for o, e in zip(observed, expected, strict=True))]
        value = log_z - float(log_sums.sum())
        return value, -np.concatenate([part.ravel() for part in gradient]), marginals

    def marginals(self, weights: np.ndarray, tokens: TokenArrays, n_jobs: int = 1) -> np.ndarray:
        """Return the posterior label probabilities of every token, shape (n_tokens, n_labels)."""
        emission, *edges = self.split(weights)
        return self._chain.sums(tokens, self._features @ emission + self._barred, edges, n_jobs)[1]

    def best(self, weights: np.ndarray, tokens: TokenArrays, n_jobs: int = 1) -> np.ndarray:
        """Return the label of every token in the best labeling of its sentence."""
        emission, *edges = self.split(weights)
        return self._chain.best(tokens, self._features @ emission + self._barred, edges, n_jobs)

    def log_partitions(self, weights: np.ndarray, longest: int) -> np.ndarray:
        """Return log Z_l for every length l up to the longest."""
        emission, *edges = self.split(weights)
        totals = logsumexp(self._features @ emission + self._barred, axis=0)
        return self._chain.lattice(totals, edges, longest, np.zeros_like)[0]


def _sum_by_word(words: np.ndarray, marginals: np.ndarray, n_words: int) -> np.ndarray:
    ones = np.ones(len(words))
    table = sparse.csr_array((ones, (words, np.arange(len(words)))), shape=(n_words, len(words)))
    result: np.ndarray = table @ marginals
    return result
