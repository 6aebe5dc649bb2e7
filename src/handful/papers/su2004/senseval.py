"""The data of Su, Carpuat and Wu 2004: Senseval-2, a tagger for its features, and unlabeled contexts."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import NamedTuple

from handful.core.progress import Progress
from handful.core.records import Occurrence
from handful.corpora import load
from handful.senses import harvest, largest_words
from handful.tagging.crf import CRF

QUICK_WORDS = ("art.n", "bar.n", "collaborate.v", "drift.v", "ferret.v", "natural.a", "spade.n", "wash.v")
TEXTS = ("brown-pos", "unlabeled-news-bbc", "unlabeled-news-abc", "unlabeled-news-reuters21578")
QUICK_TEXTS = ("unlabeled-news-bbc",)


class Senseval(NamedTuple):
    """The English lexical sample: training and test instances, and the map to coarse senses."""

    train: list[Occurrence]
    test: list[Occurrence]
    coarse: Mapping[str, str]

    @property
    def words(self) -> list[str]:
        """All target words, sorted."""
        return sorted({o.word for o in self.train})

    def groups(self) -> dict[str, list[str]]:
        """Return the words that are scored together: 16 verbs with the most training instances, all verbs, all words."""
        return {
            "largest-verbs": largest_words(self.train, "v", 16),
            "verbs": [word for word in self.words if word.endswith(".v")],
            "words": self.words,
        }


def read_senseval(*, quick: bool = False) -> Senseval:
    """Read Senseval-2 from the data folder; a quick run takes eight words.

    Parameters
    ----------
    quick : bool
        Whether to take `QUICK_WORDS` only.

    Returns
    -------
    Senseval
        Training and test instances.
    """
    train, test = (
        [o for o in load(f"senseval2-{part}") if not quick or o.word in QUICK_WORDS] for part in ("train", "test")
    )
    return Senseval(train, test, load("senseval2-sensemap"))


def train_tagger(*, quick: bool = False) -> CRF:
    """Train the part-of-speech tagger of the context features on CoNLL-2000; a quick run takes 2,000 sentences.

    Parameters
    ----------
    quick : bool
        Whether to take fewer sentences.

    Returns
    -------
    CRF
        A fitted tagger.
    """
    sentences = list(load("conll2000-chunk-train"))[: 2_000 if quick else None]
    return CRF(algorithm="pa", max_iter=8).fit([s.tokens for s in sentences], [s["pos"] for s in sentences])


def unlabeled_contexts(
    data: Senseval, tagger: CRF, *, quick: bool = False, progress: Progress | None = None
) -> list[Occurrence]:
    """Collect up to 1,500 unlabeled contexts of each word from Brown and news; a quick run up to 200 from one collection.

    Parameters
    ----------
    data : Senseval
        Its words are looked for, its contexts are not collected again.
    tagger : CRF
        Tells the part of speech of what was found.
    quick : bool
        Whether to read less.
    progress : callable or None
        Told of the sentences read.

    Returns
    -------
    list of Occurrence
        Contexts by word.
    """
    text = chain.from_iterable(load(name) for name in (QUICK_TEXTS if quick else TEXTS))
    return harvest(
        text,
        data.words,
        tagger=tagger.predict,
        exclude=[*data.train, *data.test],
        before=3,  # Senseval contexts hold a few sentences before that of the word
        limit=200 if quick else 1_500,
        progress=progress,
    )
