"""Why tokens got their tags: observations with weights, and prototypes that words are linked to."""

from __future__ import annotations

from typing import Any

import numpy as np

from handful.core.explanation import Evidence, Explanation

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
        One for each token. The tag before, which counts too, stands as ``after TAG``.
    """
    (tags,), (shares,) = model.predict_with_shares([sentence])
    observed = model.extractor.transform([sentence]).ids
    layout = model.layout
    nodes = layout.split(model.weights_)[0]
    pairs = layout.pair_matrix(model.weights_)
    told = []
    before = -1
    for token, tag, line, ids in zip(list(sentence), tags, shares, observed, strict=True):
        second, best = np.argsort(line, kind="stable")[-2:] if len(line) > 1 else (0, 0)
        evidence = []
        known = ids[ids >= 0]
        for name, predicate in zip(model.extractor.names(known), known.tolist(), strict=True):
            span = slice(layout.node_offsets[predicate], layout.node_offsets[predicate + 1])
            weights = dict(zip(layout.node_targets[span].tolist(), nodes[span].tolist(), strict=True))
            evidence.append(Evidence(name, weights.get(int(best), 0.0) - weights.get(int(second), 0.0)))
        if before >= 0:
            evidence.append(
                Evidence(f"after {model.classes_[before]}", float(pairs[before, best] - pairs[before, second]))
            )
        told.append(_explanation(model, token, tag, line, evidence))
        before = int(best)
    return told


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
            Evidence(predicate, float(weights[place[predicate], best] - weights[place[predicate], second]))
            for predicate in model.observe(token)
            if predicate in place
        ]
        if token in model.lexicon_:
            links = [f"itself a prototype of {', '.join(model.lexicon_[token])}"]
        else:
            links = [f"{word} ({', '.join(model.lexicon_.get(word, ()))})" for word in model.links_.get(token, ())]
        told.append(_explanation(model, token, tag, line, evidence, tuple(links)))
    return told


def _explanation(
    model: Any, token: str, tag: str, line: np.ndarray, evidence: list[Evidence], links: tuple[str, ...] = ()
) -> Explanation:
    order = np.argsort(-line, kind="stable")
    strong = sorted((e for e in evidence if e.weight), key=lambda e: (-abs(e.weight), e.what))[:_MOST]
    runner_up = str(model.classes_[order[1]]) if len(order) > 1 else None
    return Explanation(tag, float(line.max()), runner_up, tuple(strong), _HOW, subject=token, links=links)
