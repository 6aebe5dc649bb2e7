"""Words, tags and clusters of sentences as integer codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from handful.core.errors import DataError
from handful.core.records import Sentence
from handful.parsing.templates import ATTRIBUTES, TemplateSet, bits_of, word_bits

# Codes below the values: nothing observed, the root, outside of the sentence, no sibling.
SPECIAL = ("", "<root>", "<outside>", "<none>")
_VERBS = frozenset({"VERB", "AUX", "MD"})
_PUNCTUATION = frozenset({"PUNCT", "``", "''", ":", ",", ".", "-LRB-", "-RRB-", "(", ")", "$,", "$.", "$(", "PU"})
_JOINS = frozenset({"CCONJ", "CONJ", "CC"})
_PREFIX = 5


class Encoder:
    """Numbers for the words, tags and clusters of training sentences.

    Parameters
    ----------
    values : mapping of str to sequence of str
        For each attribute its strings; code 4 is the first, lower codes are special.
    columns : sequence of str
        Columns that tags are read from, the fine one first.
    clusters : mapping of str to str or None
        Cluster path of each word.

    Examples
    --------
    >>> sentences = [Sentence(("Rome", "fell"), {"xpos": ("NNP", "VBD")})]
    >>> encoder = Encoder.learn(sentences, ("xpos",), None, TemplateSet.ready(order=1, clusters=False))
    >>> encoder.encode(sentences)[:, ATTRIBUTES.index("pos")].tolist()
    [2, 3, 1, 4, 5]
    """

    def __init__(
        self, values: Mapping[str, Sequence[str]], columns: Sequence[str], clusters: Mapping[str, str] | None
    ) -> None:
        self.values = {name: list(strings) for name, strings in values.items()}
        self.columns = tuple(columns)
        self.clusters = clusters
        self._numbers = {
            name: {value: code for code, value in enumerate(strings, start=len(SPECIAL))}
            for name, strings in self.values.items()
        }

    @classmethod
    def learn(
        cls,
        sentences: Sequence[Sentence],
        columns: Sequence[str],
        clusters: Mapping[str, str] | None,
        templates: TemplateSet,
    ) -> Encoder:
        """Give numbers to what is in training sentences; where keys have no room for all words, to the most frequent."""
        seen = _count(sentences, columns, clusters)
        # The most frequent first; nothing needs no number.
        values = {name: _by_frequency(counts) for name, counts in seen.items()}
        texts = (*templates.arcs, *templates.pairs)
        for name in ("bits", "prefix", "word"):
            others = {other: len(SPECIAL) + len(strings) for other, strings in values.items()}
            room = (1 << max(word_bits(texts, others, name), 0)) - len(SPECIAL)
            if name in values:
                values[name] = values[name][: max(room, 0)]
        new = cls(values, columns, clusters)
        if max(word_bits(texts, new.n_codes, name) < bits_of(new.n_codes[name]) for name in ("word", "pos", "coarse")):
            raise DataError(
                f"DependencyParser: there must be at most some thousand different tags, got {len(values['pos']):,}. "
                "Use a coarser column of tags."
            )
        return new

    @property
    def n_codes(self) -> dict[str, int]:
        """How many codes each attribute has."""
        return {name: len(SPECIAL) + len(strings) for name, strings in self.values.items()}

    def encode(self, sentences: Sequence[Sentence]) -> np.ndarray:
        """Return one row of codes a token, the root before each sentence, after two rows for outside and no sibling."""
        n_rows = 2 + sum(len(s) + 1 for s in sentences)
        codes = np.zeros((n_rows, len(ATTRIBUTES)), dtype=np.int32)
        lengths = np.array([len(s) for s in sentences], dtype=np.int64)
        roots = 2 + np.cumsum(lengths + 1) - lengths - 1
        filled = [ATTRIBUTES.index(name) for name in self.values if name != "prefix"]
        codes[0, filled], codes[1, filled] = 2, 3
        codes[roots[:, None], filled] = 1
        inner = np.ones(n_rows, dtype=bool)
        inner[:2] = inner[roots] = False
        words = list(chain.from_iterable(s.tokens for s in sentences))
        tags = list(chain.from_iterable(zip(*(s[c] for c in self.columns), strict=True) for s in sentences))
        sources: dict[str, tuple[Iterable[Any], dict[Any, int]]] = {
            "word": (words, self._numbers["word"]),
            "prefix": _through(words, prefix_of, self._numbers["prefix"]),
            "pos": _through(tags, _first, self._numbers["pos"]),
            "coarse": _through(tags, coarse_of, self._numbers["coarse"]),
            "mark": _through(tags, marks_of, None),
        }
        if self.clusters is not None:
            paths = self.clusters
            for name, length in (("bits4", 4), ("bits6", 6), ("bits", None)):
                cut = slice(length)
                sources[name] = _through(words, lambda w, cut=cut: paths.get(w, "")[cut], self._numbers[name])
        for name, (items, numbers) in sources.items():
            item_codes = np.fromiter((numbers.get(item, 0) for item in items), dtype=np.int32, count=len(words))
            codes[inner, ATTRIBUTES.index(name)] = item_codes
        return codes


def _through(items: list[Any], function: Any, numbers: Mapping[Any, int] | None) -> tuple[list[Any], dict[Any, int]]:
    """Return a table from each distinct item to its code, by way of a function of the item."""
    distinct = dict.fromkeys(items)
    if numbers is None:
        return items, {item: function(item) for item in distinct}
    return items, {item: numbers.get(function(item), 0) for item in distinct}


def _first(tags: tuple[str, ...]) -> str:
    return tags[0]


def prefix_of(word: str) -> str:
    """Return the first five letters of a longer word, nothing of others.

    Examples
    --------
    >>> prefix_of("parsing"), prefix_of("tree")
    ('parsi', '')
    """
    return word[:_PREFIX] if len(word) > _PREFIX else ""


def coarse_of(tags: tuple[str, ...]) -> str:
    """Return the coarse tag: the second one, or two letters of the only one.

    Examples
    --------
    >>> coarse_of(("VBD", "VERB")), coarse_of(("VBD",))
    ('VERB', 'VB')
    """
    return tags[1] if len(tags) > 1 else tags[0][:2]


def marks_of(tags: tuple[str, ...]) -> int:
    """Return whether a tag is that of a verb (1), of punctuation (2) or of a conjunction (4).

    Examples
    --------
    >>> marks_of(("VBD",)), marks_of((",", "PUNCT")), marks_of(("NN",))
    (1, 2, 0)
    """
    verb = any(tag in _VERBS or tag.startswith("VB") for tag in tags)
    return verb + 2 * any(tag in _PUNCTUATION for tag in tags) + 4 * any(tag in _JOINS for tag in tags)


def _count(
    sentences: Sequence[Sentence], columns: Sequence[str], clusters: Mapping[str, str] | None
) -> dict[str, Counter[str]]:
    """Count words, their prefixes, tags and clusters."""
    words = Counter(chain.from_iterable(s.tokens for s in sentences))
    seen: dict[str, Counter[str]] = {"word": words, "prefix": Counter(), "pos": Counter(), "coarse": Counter()}
    for word, count in words.items():
        seen["prefix"][prefix_of(word)] += count
    tags = Counter(chain.from_iterable(zip(*(s[c] for c in columns), strict=True) for s in sentences))
    for pair, count in tags.items():
        seen["pos"][pair[0]] += count
        seen["coarse"][coarse_of(pair)] += count
    return seen if clusters is None else seen | _count_bits(words, clusters)


def _count_bits(words: Mapping[str, int], clusters: Mapping[str, str]) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {"bits4": Counter(), "bits6": Counter(), "bits": Counter()}
    for word, count in words.items():
        if word in clusters:
            for name, length in (("bits4", 4), ("bits6", 6), ("bits", None)):
                counts[name][clusters[word][:length]] += count
    return counts


def _by_frequency(counts: Mapping[str, int]) -> list[str]:
    return sorted(filter(None, counts), key=lambda value: (-counts[value], value))
