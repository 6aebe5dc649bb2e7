"""Sentences that a cheap witness has tagged, such as a large language model or rules, next to few reliable ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from handful.data.records import Sentence
from handful.errors import DataError, Progress, Step, counted
from handful.tagging.evaluation import score_tags
from handful.tagging.recipes import Sentences, TaggerSetup, Tags

_COLUMN = "witness"
# Of a CRF that corrects tags: few, since it learns from few sentences.
_TEMPLATES = ["u", "b", "word.lower[0]", f"{_COLUMN}[0]|word.lower[0]"]
_TEMPLATES += [f"{_COLUMN}[{k}]" for k in (-1, 0, 1)] + [f"{_COLUMN}[{k - 1}]|{_COLUMN}[{k}]" for k in (0, 1)]
_FEWEST_BOTH = 10
_MOST_OTHERS = 1_000  # sentences of the witness alone
_N_FOLDS = 3


@dataclass(frozen=True)
class TaggedWitness:
    """What was learned about sentences that a witness has tagged.

    Parameters
    ----------
    metric : {"f1", "accuracy"}
        F1 of spans, or accuracy of tags.
    agreement : float
        Score of the witness in sentences with reliable tags.
    scores : dict of {"alone", "corrected", "as tagged"} to float
        Cross-validated scores of a tagger of the reliable sentences alone, and of taggers that learned from the tags of the
        witness too, corrected or as they are.
    n_both, n_others : int
        Sentences with tags of both, and of the witness alone.
    """

    metric: str
    agreement: float
    scores: dict[str, float]
    n_both: int
    n_others: int

    @property
    def is_used(self) -> bool:
        """Whether the witness improves the tagger."""
        return self.best != "alone"

    @property
    def best(self) -> str:
        """What has the best score."""
        return max(self.scores, key=lambda name: self.scores[name])


def fit_tagged_witness(
    setup: TaggerSetup,
    sentences: Sentences,
    tags: Tags,
    witness: Mapping[Sequence[str], Sequence[str]],
    *,
    with_spans: bool,
    lookups: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> tuple[Any, TaggedWitness]:
    """Fit a CRF to few sentences with reliable tags, and many that only a witness has tagged.

    Parameters
    ----------
    setup : TaggerSetup
        Settings of the CRF.
    sentences, tags
        Sentences with reliable tags.
    witness : mapping of tuple of str to sequence of str
        The tags of a witness for sentences by their tokens. Ten reliable sentences must be among them.
    with_spans : bool
        Whether the tags are those of spans.
    lookups : mapping, optional
        Clusters of words; see `CRF`.
    progress : callable, optional
        Receives a `Step` after each fold.

    Returns
    -------
    tagger : CRF
        It reads the words alone; a witness is not needed for new sentences. Without a witness that helps, it has learned
        from the reliable sentences alone.
    learned : TaggedWitness
        How good the witness is, and what it adds.

    Notes
    -----
    How the witness errs is learned by a CRF that reads its tags next to the words, from the reliable sentences. This CRF
    corrects the other sentences, and the tagger learns from them and the reliable ones. Three-fold cross-validation on the
    reliable sentences decides between corrected tags, tags as they are, and none; held-out sentences are tagged without them.

    Examples
    --------
    >>> gold = [["a", "dog"], ["the", "cat"]] * 8
    >>> llm = {tuple(words): ["N", "D"] for words in gold} | {("one", "cow"): ["N", "D"]}  # always the wrong way around
    >>> _, learned = fit_tagged_witness(TaggerSetup("general"), gold, [["D", "N"]] * 16, llm, with_spans=False)
    >>> learned.agreement, learned.n_both, learned.n_others
    (0.0, 16, 1)
    """
    sentences = [s if isinstance(s, Sentence) else Sentence(tuple(s)) for s in sentences]
    tags = [list(row) for row in tags]
    both = np.array([at for at, sentence in enumerate(sentences) if sentence.tokens in witness], dtype=np.int64)
    if len(both) < _FEWEST_BOTH:
        raise DataError(
            f"also: it has tags for {counted(len(both), 'sentence')} with reliable tags, fewer than {_FEWEST_BOTH}, so its errors "
            "are unknown. Let it tag these sentences too."
        )
    known = {sentence.tokens for sentence in sentences}
    rng = np.random.default_rng(setup.random_state)
    texts = sorted(tokens for tokens in map(tuple, witness) if tokens not in known)
    others = [Sentence(texts[at]) for at in np.sort(rng.permutation(len(texts))[:_MOST_OTHERS])]
    trainer = _Trainer(setup.tuned_crf(sentences, tags, lookups), sentences, tags, others, witness)
    predicted: dict[str, dict[int, Sequence[str]]] = {"alone": {}, "corrected": {}, "as tagged": {}}
    order = rng.permutation(len(sentences))
    for k in range(_N_FOLDS):
        held = order[k::_N_FOLDS]
        for use, part in predicted.items():
            tagger = trainer.fit(np.setdiff1d(order, held), use)
            part |= dict(zip(held.tolist(), tagger.predict([sentences[at] for at in held]), strict=True))
        if progress is not None:
            progress(Step("check", k + 1, _N_FOLDS))
    metric = "f1" if with_spans else "accuracy"
    every = range(len(sentences))
    scores = {use: score_tags(tags, [part[at] for at in every], with_spans)[metric] for use, part in predicted.items()}
    said = [list(witness[sentences[at].tokens]) for at in both]
    agreement = score_tags([tags[at] for at in both], said, with_spans)[metric]
    learned = TaggedWitness(metric, agreement, scores, len(both), len(others))
    return trainer.fit(np.arange(len(sentences)), learned.best), learned


@dataclass(frozen=True, eq=False)
class _Trainer:
    """Fits taggers to some reliable sentences, and to those that only the witness has tagged."""

    crf: Any
    sentences: Sentences
    tags: Tags
    others: Sentences
    witness: Mapping[Sequence[str], Sequence[str]]

    def fit(self, rows: np.ndarray, use: str) -> Any:
        """Fit to reliable sentences, and to the others with corrected tags, with tags as they are, or not at all."""
        chosen, known = [self.sentences[at] for at in rows], [self.tags[at] for at in rows]
        if use == "alone":
            return clone(self.crf).fit(chosen, known)
        more = self._corrected(rows) if use == "corrected" else [list(self.witness[s.tokens]) for s in self.others]
        return clone(self.crf).fit([*(Sentence(one.tokens) for one in chosen), *self.others], [*known, *more])

    def _corrected(self, rows: np.ndarray) -> list[list[str]]:
        """Return the tags of the others by a CRF that has learned from the given rows how the witness errs."""
        both = [at for at in rows if self.sentences[at].tokens in self.witness]
        corrector = clone(self.crf).set_params(templates=_TEMPLATES, lookups=None)
        corrector.fit([_with_tags(self.sentences[at], self.witness) for at in both], [self.tags[at] for at in both])
        corrected: list[list[str]] = corrector.predict([_with_tags(one, self.witness) for one in self.others])
        return corrected


def _with_tags(sentence: Sentence, witness: Mapping[Sequence[str], Sequence[str]]) -> Sentence:
    return Sentence(sentence.tokens, {_COLUMN: tuple(witness[sentence.tokens])})
