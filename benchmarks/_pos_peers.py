"""Other taggers for `scale.py --only pos --peers`: each learns from the same sentences and tags the same words.

Settings are fixed, none was chosen here: python-crfsuite and spaCy as in `text.py` (spaCy with 10 epochs, since the corpora are
large), NLTK's averaged perceptron with 8 passes, as ours has, and its TnT, a trigram model, with words that it does not know
tagged by their last letters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Words = list[list[str]]


def crfsuite(words: Words, tags: Words, test: Words) -> Words:
    from text import crfsuite

    return crfsuite(words, tags, test)


def spacy(words: Words, tags: Words, test: Words) -> Words:
    from text import spacy_blank

    return spacy_blank(words, tags, test, False, n_epochs=10)


def perceptron(words: Words, tags: Words, test: Words) -> Words:
    import random

    from nltk.tag.perceptron import PerceptronTagger

    random.seed(0)
    tagger = PerceptronTagger(load=False)
    tagger.train(_pairs(words, tags), nr_iter=8)
    return [[tag for _, tag in tagger.tag(sentence)] for sentence in test]


def tnt(words: Words, tags: Words, test: Words) -> Words:
    from nltk.tag import AffixTagger, DefaultTagger
    from nltk.tag.tnt import TnT

    pairs = _pairs(words, tags)
    unknown: Any = DefaultTagger("NN" if any("NN" in row for row in tags) else "NOUN")
    for n_letters in (1, 2, 3, 4):
        unknown = AffixTagger(pairs, affix_length=-n_letters, min_stem_length=1, backoff=unknown)
    tagger = TnT(unk=unknown, Trained=True, N=100)
    tagger.train(pairs)
    return [[tag for _, tag in tagger.tag(sentence)] for sentence in test]


PEERS: dict[str, Callable[[Words, Words, Words], Words]] = {
    "crfsuite": crfsuite,
    "spacy": spacy,
    "perceptron": perceptron,
    "tnt": tnt,
}


def _pairs(words: Words, tags: Words) -> list[list[tuple[str, str]]]:
    return [list(zip(*both, strict=True)) for both in zip(words, tags, strict=True)]
