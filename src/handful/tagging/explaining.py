"""Why tokens got their tags: observations with weights, and prototypes that words are linked to."""

from __future__ import annotations

from typing import Any

import numpy as np

from handful.core.explanation import Evidence, Explanation
from handful.tagging.written_tags import speakers, written_tag

_MOST = 6
_HOW = "weight for the tag rather than the runner-up"


def explain_crf(model: Any, sentence: Any) -> list[Explanation]:
    """Explain the tags of a CRF.

    Parameters
    ----------
    model : CRF
        Fitted.
    sentence : list of str, or Sentence
        The tokens.

    Returns
    -------
    list of Explanation
        One for each token, with tags as they were written in training. The tag before, which counts too, stands as
        ``after TAG``.
    """
    (tags,), (shares,) = model.predict_with_shares([sentence])
    observed = model.extractor.transform([sentence]).ids
    layout = model.layout
    nodes = layout.split(model.weights_)[0]
    pairs = layout.pair_matrix(model.weights_)
    scheme = getattr(model, "scheme_", None)
    written = np.array([written_tag(label, scheme) for label in model.classes_])
    told = []
    before = -1
    for token, tag, line, ids in zip(list(sentence), tags, shares, observed, strict=True):
        own = speakers(tag, model.classes_.tolist(), scheme)
        runner_up = _runner_up(line, written, own)
        best = own[int(line[own].argmax())]
        rivals = np.flatnonzero(written == runner_up)
        second = rivals[line[rivals].argmax()] if len(rivals) else best
        evidence = []
        known = ids[ids >= 0]
        for name, predicate in zip(model.extractor.in_words(known, sentence), known.tolist(), strict=True):
            span = slice(layout.node_offsets[predicate], layout.node_offsets[predicate + 1])
            weights = dict(zip(layout.node_targets[span].tolist(), nodes[span].tolist(), strict=True))
            evidence.append(Evidence(name, weights.get(int(best), 0.0) - weights.get(int(second), 0.0)))
        if before >= 0:
            evidence.append(Evidence(f"after {written[before]}", float(pairs[before, best] - pairs[before, second])))
        sure = min(float(line[own].sum()), 1.0)
        told.append(Explanation(tag, sure, runner_up, _strongest(evidence), _HOW, subject=token))
        before = int(best)
    return told


def _runner_up(line: np.ndarray, written: np.ndarray, own: list[int]) -> str | None:
    """Return the most probable tag, as people write it, that is not the answer."""
    others = np.setdiff1d(np.arange(len(line)), own)
    shares = {tag: line[others][written[others] == tag].sum() for tag in written[others].tolist()}
    return max(shares, key=lambda tag: float(shares[tag]), default=None)


def explain_prototypes(model: Any, sentence: Any) -> list[Explanation]:
    """Explain the tags of a prototype tagger.

    Parameters
    ----------
    model : PrototypeTagger
        Fitted.
    sentence : list of str, or Sentence
        The tokens.

    Returns
    -------
    list of Explanation
        One for each token, with the prototypes that its word is linked to and the label of each.
    """
    (tags,), (shares,) = model.predict_with_shares([sentence])
    place = {predicate: at for at, predicate in enumerate(model.predicates_)}
    n_labels = len(model.classes_)
    weights = model.weights_[: len(place) * n_labels].reshape(len(place), n_labels)
    told = []
    for token, tag, line in zip(list(sentence), tags, shares, strict=True):
        second, best = np.argsort(line, kind="stable")[-2:]
        evidence = [
            Evidence(
                _in_words(predicate, token),
                float(weights[place[predicate], best] - weights[place[predicate], second]),
            )
            for predicate in model.observe(token)
            if predicate in place
        ]
        near = [word for word in model.links_.get(token, ()) if word != token]
        links = [f"{word} ({', '.join(model.lexicon_.get(word, ()))})" for word in near]
        told.append(
            Explanation(
                tag,
                float(line.max()),
                str(model.classes_[second]),
                _strongest(evidence),
                _HOW,
                subject=token,
                links=tuple(links),
                prototype_of=tuple(model.lexicon_.get(token, ())),
            )
        )
    return told


def _in_words(predicate: str, word: str) -> str:
    """Say of a word what `handful.tagging.prototypes.features.word_predicates` observed."""
    kind, _, value = predicate.partition("=")
    if not value:
        return "the word starts with a capital" if kind == "capital" else f"the word has a {kind}"
    if kind == "prototype" and value == word:
        return "the word is a prototype"
    verb = {"word": "is", "suffix": "ends in", "prototype": "is linked to"}[kind]
    return f'the word {verb} "{value}"'


def _strongest(evidence: list[Evidence]) -> tuple[Evidence, ...]:
    """Return what speaks most; what is one thing in words, though observed in several ways, counts together."""
    weights: dict[str, float] = {}
    for item in evidence:
        weights[item.what] = weights.get(item.what, 0.0) + item.weight
    told = [Evidence(what, weight) for what, weight in weights.items() if weight]
    return tuple(sorted(told, key=lambda e: (-abs(e.weight), e.what))[:_MOST])
