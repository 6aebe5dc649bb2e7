"""Numbers for the words, tags, clusters and morphology of tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from handful.data.records import Sentence
from handful.errors import DataError
from handful.parsing.templates import ATTRIBUTES, TemplateSet, bits_of, word_bits

# Codes below the values: nothing observed, the root, outside of the sentence, no sibling.
SPECIAL = ("", "<root>", "<outside>", "<none>")
_EMPTY = "_"
_VERBS = frozenset({"VERB", "AUX", "MD"})
_PUNCTUATION = frozenset({"PUNCT", "``", "''", ":", ",", ".", "-LRB-", "-RRB-", "(", ")", "$,", "$.", "$(", "PU"})
_CONJUNCTIONS = frozenset({"CCONJ", "CONJ", "CC"})
_PREFIX = 5
_MOST_FEATS = 1_000  # different values of FEATS, the most frequent ones
_CLUSTER_BITS = {"bits4": 4, "bits6": 6, "bits": None}


class TokenEncoder:
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
    >>> encoder = TokenEncoder.learn(sentences, ("xpos",), None, TemplateSet.ready(order=1, clusters=False))
    >>> encoder.encode(sentences)[:, ATTRIBUTES.index("pos")].tolist()
    [2, 3, 1, 4, 5]
    """

    def __init__(
        self, values: Mapping[str, Sequence[str]], columns: Sequence[str], clusters: Mapping[str, str] | None
    ) -> None:
        self.values = {name: list(strings) for name, strings in values.items()}
        self.columns = tuple(columns)
        self.clusters = clusters
        self._codes = {
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
    ) -> TokenEncoder:
        """Learn codes for the values in training sentences; only the most frequent ones, if keys are too short for all."""
        reads_feats = any(".feats" in text for text in templates.arcs)
        values = {}
        for name, (items, value_of) in _sources(sentences, columns, clusters, reads_feats).items():
            counts: Counter[str] = Counter()
            for item, count in Counter(items).items():
                counts[value_of(item)] += count
            values[name] = sorted(filter(None, counts), key=lambda value: (-counts[value], value))
        for name in {"feats", "form"} & values.keys():
            values[name] = values[name][:_MOST_FEATS]
        texts = (*templates.arcs, *templates.pairs)
        for name in ("bits", "prefix", "word"):
            if name in values:
                others = {other: len(SPECIAL) + len(strings) for other, strings in values.items()}
                room = (1 << max(word_bits(texts, others, name), 0)) - len(SPECIAL)
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
        """Number of codes of each attribute."""
        return {name: len(SPECIAL) + len(strings) for name, strings in self.values.items()}

    def encode(self, sentences: Sequence[Sentence]) -> np.ndarray:
        """Return one row of codes a token, the root before each sentence, after two rows for outside and no sibling."""
        lengths = np.array([len(s) for s in sentences], dtype=np.int64)
        roots = 2 + np.cumsum(lengths + 1) - lengths - 1
        codes = np.zeros((2 + lengths.sum() + len(lengths), len(ATTRIBUTES)), dtype=np.int32)
        filled = [ATTRIBUTES.index(name) for name in self.values if name != "prefix"]
        codes[0, filled], codes[1, filled] = 2, 3
        codes[roots[:, None], filled] = 1
        inner = np.ones(len(codes), dtype=bool)
        inner[:2] = inner[roots] = False
        sources = _sources(sentences, self.columns, self.clusters, "feats" in self.values)
        for name, (items, value_of) in sources.items():
            known = self._codes[name]
            code_of = {item: known.get(value_of(item), 0) for item in dict.fromkeys(items)}
            codes[inner, ATTRIBUTES.index(name)] = [code_of[item] for item in items]
        tags = sources["pos"][0]
        bits_of_tags = {item: tag_bits(item) for item in dict.fromkeys(tags)}
        codes[inner, ATTRIBUTES.index("mark")] = [bits_of_tags[item] for item in tags]
        return codes


_Source = tuple[list[Any], Callable[[Any], str]]


def _sources(
    sentences: Sequence[Sentence], columns: Sequence[str], clusters: Mapping[str, str] | None, feats: bool
) -> dict[str, _Source]:
    """Return for each attribute an item of every token, and a function from an item to the value of the attribute."""
    words = list(chain.from_iterable(s.tokens for s in sentences))
    tags = list(chain.from_iterable(zip(*(s[c] for c in columns), strict=True) for s in sentences))
    sources: dict[str, _Source] = {
        "word": (words, str),
        "prefix": (words, prefix_of),
        "pos": (tags, _first),
        "coarse": (tags, coarse_of),
    }
    if clusters is not None:
        for name, length in _CLUSTER_BITS.items():
            paths = {word: clusters.get(word, "")[:length] for word in dict.fromkeys(words)}
            sources[name] = (words, paths.__getitem__)
    if feats:
        cells = list(chain.from_iterable(s.columns.get("feats", (_EMPTY,) * len(s)) for s in sentences))
        sources["feats"] = (cells, _filled)
        sources["form"] = (cells, form_of)
    return sources


def form_of(feats: str) -> str:
    """Return the features that decide most about the role of a word: case, and form and mood of a verb.

    Examples
    --------
    >>> form_of("Case=Gen|Number=Sing"), form_of("Mood=Ind|Number=Sing|VerbForm=Fin"), form_of("_")
    ('Gen', 'Ind|Fin', '')
    """
    cells = (part.partition("=") for part in feats.split("|"))
    return "|".join(value for name, _, value in cells if name in ("Case", "Mood", "VerbForm"))


def _filled(feats: str) -> str:
    return "" if feats == _EMPTY else feats


def _first(tags: tuple[str, ...]) -> str:
    return tags[0]


def prefix_of(word: str) -> str:
    """Return the first five letters of a longer word, empty for others.

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


def tag_bits(tags: tuple[str, ...]) -> int:
    """Return 1 for the tag of a verb, 2 for that of punctuation, 4 for that of a conjunction, or their sum.

    Examples
    --------
    >>> tag_bits(("VBD",)), tag_bits((",", "PUNCT")), tag_bits(("NN",))
    (1, 2, 0)
    """
    is_verb = any(tag in _VERBS or tag.startswith("VB") for tag in tags)
    return is_verb + 2 * any(tag in _PUNCTUATION for tag in tags) + 4 * any(tag in _CONJUNCTIONS for tag in tags)
