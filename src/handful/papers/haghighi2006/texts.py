"""The texts of the experiments, from the data folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

from handful.core.errors import MissingDataError
from handful.core.records import Sentence
from handful.corpora import load
from handful.papers.sections import cut_sections

Tagged = tuple[list[tuple[str, ...]], list[tuple[str, ...]]]

# Smith and Eisner's 17 coarse tags.
COARSE = {
    "ADJ": "$ # CD JJ JJR JJS PRP$",
    "ADV": "RB RBR RBS",
    "DET": "DT PDT",
    "INPUNC": ", : SYM",
    "LPUNC": "`` -LRB-",
    "RPUNC": "'' -RRB-",
    "N": "EX FW LS NN NNP NNPS NNS PRP UH",
    "V": "MD VB VBD VBP VBZ",
    "W": "WDT WP WP$ WRB",
    "PREP": "IN",
    "PRT": "RP",
    "CONJ": "CC",
    "ENDPUNC": ".",
}
_COARSE_OF = {fine: coarse for coarse, several in COARSE.items() for fine in several.split()}
_NEWS = ("unlabeled-news-reuters21578", "unlabeled-news-abc", "unlabeled-news-bbc")
_BRACKETS = {"(": "-LRB-", ")": "-RRB-", "{": "-LCB-", "}": "-RCB-"}


def wsj_sample() -> Tagged:
    """Return words and tags of the WSJ sample."""
    return _columns(load("wsj-sample-pos"), "pos")


def wsj_sections(n_sentences: int) -> Tagged:
    """Return words and tags from section 2 of the WSJ on, where the user has put the treebank.

    Where section 2 begins is told by a list of files (see `handful.papers.sections`); without one, after 3,914 sentences,
    which sections 00 and 01 hold.
    """
    sentences = list(load("ptb-wsj-pos-train"))
    later = cut_sections("ptb-wsj-pos-train", sentences, range(2, 25))
    words, tags = _columns((sentences[3914:] if later is None else later)[:n_sentences], "pos")
    if len(words) < n_sentences:
        raise MissingDataError(
            f"ptb-wsj-pos-train: {n_sentences} sentences from section 2 on are needed, got {len(words)}."
        )
    return words, tags


def coarse(tags: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return coarse tags for fine ones.

    Examples
    --------
    >>> coarse([["DT", "NN", "VBG", "."]])
    [('DET', 'N', 'VBG', 'ENDPUNC')]
    """
    return [tuple(_COARSE_OF.get(tag, tag) for tag in row) for row in tags]


def news() -> list[list[str]]:
    """Return all news text at hand, with quotes and brackets as the treebank writes them."""
    sentences = []
    for name in _NEWS:
        try:
            sentences += [treebank_marks(sentence.tokens) for sentence in load(name)]
        except MissingDataError:
            continue
    return sentences


def treebank_marks(words: Iterable[str]) -> list[str]:
    """Write quotes and brackets as the treebank does; quotes open and close in turn.

    Examples
    --------
    >>> treebank_marks(['"', 'Yes', '"', '(', 'no', ')'])
    ['``', 'Yes', "''", '-LRB-', 'no', '-RRB-']
    """
    result, opens = [], True
    for word in words:
        if word == '"':
            result.append("``" if opens else "''")
            opens = not opens
        else:
            result.append(_BRACKETS.get(word, word))
    return result


def chinese(n_tokens: int) -> tuple[Tagged, list[tuple[str, ...]]]:
    """Return the first sentences of UD Chinese GSD with their tags, and the words of the whole treebank."""
    sentences = [tree.sentence for part in ("train", "dev", "test") for tree in load(f"zh_gsd-ud1-{part}")]
    ends = accumulate(map(len, sentences))
    n_sentences = next((n for n, end in enumerate(ends, start=1) if end >= n_tokens), len(sentences))
    return _columns(sentences[:n_sentences], "xpos"), [s.tokens for s in sentences]


def citations(part: str) -> Tagged:
    """Return words and fields of one part of the citations; every digit is written as 0."""
    sentences = list(load(f"citations-{part}"))
    words = [tuple(re.sub("[0-9]", "0", word) for word in s.tokens) for s in sentences]
    return words, [s.columns.get("field", ()) for s in sentences]


def _columns(sentences: Iterable[Sentence], name: str) -> Tagged:
    pairs = [(s.tokens, s[name]) for s in sentences]
    return [words for words, _ in pairs], [tags for _, tags in pairs]
