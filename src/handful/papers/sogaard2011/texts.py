"""The texts of the experiments: who trains the tagger, who the classifier, who is the test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from handful.core.errors import MissingDataError
from handful.core.records import Sentence
from handful.corpora import load
from handful.papers.haghighi2006.texts import news
from handful.papers.sections import cut_sections

Words = Sequence[Sequence[str]]
Tagged = tuple[Words, Words]
_SECTION_19 = 1_844, 5_527  # sentences of section 19, and of sections 19 to 21


@dataclass(frozen=True)
class Parts:
    """Words and tags of one corpus in three parts.

    Parameters
    ----------
    name : str
        Prefix of the corpus's claims.
    base : pair of lists
        Trains the input tagger.
    labeled : pair of lists
        Trains the classifier (T in the paper), tagged by the input tagger.
    test : pair of lists
        What accuracy is measured on.
    """

    name: str
    base: Tagged
    labeled: Tagged
    test: Tagged

    def first(self, n_sentences: int) -> Parts:
        """Return the same with at most so many sentences in each part."""
        cut = [(words[:n_sentences], tags[:n_sentences]) for words, tags in (self.base, self.labeled, self.test)]
        return Parts(self.name, *cut)


def wsj_sample() -> Parts:
    """Return the WSJ sample in file order: 60 % for the tagger, 15 % for the classifier, 25 % for the test."""
    words, tags = _columns(load("wsj-sample-pos"), "pos")
    a, b = len(words) * 60 // 100, len(words) * 75 // 100
    return Parts("wsj", (words[:a], tags[:a]), (words[a:b], tags[a:b]), (words[b:], tags[b:]))


def ewt() -> Parts:
    """Return UD English EWT with Penn tags: train for the tagger, dev for the classifier, test for the test."""
    parts = [_columns([t.sentence for t in load(f"en_ewt-ud-{p}")], "xpos") for p in ("train", "dev", "test")]
    return Parts("ewt", *parts)


def wsj_sections() -> Parts:
    """Return sections 0-18, 19 and 22-24 of the WSJ, where the user has put the treebank.

    Where a section of sections 19-21 ends is told by a list of files (see `handful.papers.sections`); without one, 19 is the
    first 1,844 of 5,527 sentences.
    """
    train, test = (_columns(load(f"ptb-wsj-pos-{p}"), "pos") for p in ("train", "test"))
    return Parts("ptb", train, _columns(_section_19(list(load("ptb-wsj-pos-dev"))), "pos"), test)


def _section_19(sentences: list[Sentence]) -> list[Sentence]:
    listed = cut_sections("ptb-wsj-pos-dev", sentences, range(19, 20))
    if listed is not None:
        return listed
    n, n_all = _SECTION_19
    if len(sentences) != n_all:
        raise MissingDataError(
            f"ptb-wsj-pos-dev: sections 19-21 must have {n_all:,} sentences, so that the first {n:,} are section 19, "
            f"got {len(sentences):,}. Or list the files that they are from in ptb-wsj-pos-dev.files.txt."
        )
    return sentences[:n]


def brown_words() -> Words:
    """Return the Brown corpus without its tags."""
    return [sentence.tokens for sentence in load("brown-pos")]


def clustering_text(brown: Words) -> list[Sequence[str]]:
    """Return what the words are clustered on: the Brown corpus, and the news where they are at hand."""
    return [*brown, *news()]


def first_words(words: Words, n_words: int) -> Words:
    """Return the first sentences with together at most so many words, but at least one sentence.

    Examples
    --------
    >>> first_words([["a", "b"], ["c"], ["d", "e"]], 4)
    [['a', 'b'], ['c']]
    """
    ends = accumulate(map(len, words))
    return words[: max(1, sum(end <= n_words for end in ends))]


def _columns(sentences: Iterable[Sentence], name: str) -> Tagged:
    pairs = [(s.tokens, s[name]) for s in sentences]
    if not pairs:
        raise MissingDataError(f"sogaard2011: sentences with the column {name!r} are needed, got none.")
    return [words for words, _ in pairs], [tags for _, tags in pairs]
