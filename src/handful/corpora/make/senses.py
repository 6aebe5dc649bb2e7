"""Ambiguous words in context, some with their sense and some without."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType

import numpy as np

from handful.core.errors import ParameterError
from handful.core.records import Occurrence
from handful.corpora.make.draws import Pool, RandomState, check_count, source, zipf
from handful.corpora.make.grammar import SentenceWriter
from handful.corpora.make.lexicon import N_TOPICS, NOUN_CLASSES, Lexicon, lexicon
from handful.corpora.make.word_forms import Noun, Verb, conjugate, with_s

DEFAULT_WORD_SENSES: Mapping[str, int] = MappingProxyType({"bank.n": 3, "line.n": 5, "call.v": 4, "draw.v": 6})
"""Words of `make_sense_contexts` and how many senses each has."""

_TARGET_TAGS = {"n": ("NN", "NNS"), "v": ("VB", "VBD", "VBZ", "VBP", "VBN", "VBG"), "a": ("JJ",)}
_MOST_SENSES = 100
_N_FIELDS = 3  # groups of topical words of a sense; a context draws on two of them
_TOPICAL_SHARE = 0.4  # content words that are topical words of the sense
_COLLOCATION_SHARE = 0.4  # contexts with a collocation on the left; as many have one on the right


@dataclass(frozen=True, slots=True)
class _Field:
    nouns: Pool[Noun]
    verbs: Pool[Verb]
    adjectives: Pool[str]


@dataclass(frozen=True, slots=True)
class _Sense:
    name: str
    topic: int
    fields: tuple[_Field, ...]
    left: Pool[str]
    right: Pool[str]
    particle: str


def make_sense_contexts(
    word_senses: Mapping[str, int | Sequence[str]] | None = None,
    n_labeled: int = 100,
    n_unlabeled: int = 500,
    random_state: RandomState = None,
) -> list[Occurrence]:
    """Make contexts of ambiguous words, in the manner of a lexical-sample task.

    A sense shows in the topic of the context, in topical words and in the words beside the target. Senses share
    part of their collocations, and the first sense has about half of all contexts. The words of one sense occur
    together in changing pairs of groups, so unlabeled contexts link what the labeled ones leave apart.

    Parameters
    ----------
    word_senses : mapping of str to int or sequence of str, optional
        For each word the number of its senses, at least 2, or their names, the most frequent first. A word that
        ends in ``.v`` (or ``.a``) stands where a verb (an adjective) stands and is inflected, any other word where
        a noun stands. The default is `DEFAULT_WORD_SENSES`.
    n_labeled, n_unlabeled : int, default=100, 500
        Contexts of each word, with and without their sense.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the contexts. What a sense means depends on the word alone, so samples with different seeds serve
        as training and test data.

    Returns
    -------
    list of Occurrence
        Word after word: first the labeled contexts, then the unlabeled ones, whose ``senses`` are empty. The
        particle of a phrasal verb is a satellite. An ``id`` has a mark of the random state in it, so that those of
        two samples differ.

    Examples
    --------
    >>> made = make_sense_contexts({"bank.n": 3}, n_labeled=2, n_unlabeled=1, random_state=0)
    >>> [len(one.senses) for one in made], {one.tokens[one.target] for one in made} <= {"bank", "banks"}
    ([1, 1, 0], True)
    """
    who = "make_sense_contexts"
    check_count(who, "n_labeled", n_labeled)
    check_count(who, "n_unlabeled", n_unlabeled)
    rng = source(who, random_state)
    words = lexicon()
    made = []
    mark = f"{copy(rng).getrandbits(32):08x}"  # from a copy, since ids are no part of the sample
    chosen = DEFAULT_WORD_SENSES if word_senses is None else word_senses
    if not isinstance(chosen, Mapping):
        raise ParameterError(f"{who}: word_senses must be a mapping, such as {{'bank.n': 3}}, got {chosen!r}.")
    for word, given in chosen.items():
        names = _sense_names(who, word, given)
        senses = _senses(word, names, words)
        for i in range(n_labeled + n_unlabeled):
            made.append(_context(word, f"{word}.{mark}.{i + 1:05d}", senses.pick(rng), i < n_labeled, words, rng))
    return made


def _sense_names(who: str, word: str, given: int | Sequence[str]) -> list[str]:
    if not isinstance(word, str) or not word.strip():
        raise ParameterError(f"{who}: a word must be a filled string, such as 'bank.n', got {word!r}.")
    names = _listed(word, given)
    if not 2 <= len(set(names)) == len(names) <= _MOST_SENSES:
        raise ParameterError(
            f"{who}: each word must have 2 to {_MOST_SENSES} different senses, got {given!r} for {word!r}."
        )
    if not all(isinstance(name, str) and name.strip() for name in names):
        raise ParameterError(f"{who}: the senses of {word!r} must have names, got {given!r}.")
    return names


def _listed(word: str, given: int | Sequence[str]) -> list[str]:
    """Return the names that were given, or as many as were asked for; none if it is neither."""
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return [f"{word}%{i}" for i in range(1, min(int(given), _MOST_SENSES + 1) + 1)]
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []


def _senses(word: str, names: Sequence[str], words: Lexicon) -> Pool[_Sense]:
    """Fix what the senses of a word look like; the word is the seed."""
    rng = random.Random(f"senses of {word}")
    nouns = list(dict.fromkeys(chain.from_iterable(words.nouns[name, 0].items[10:150] for name in NOUN_CLASSES)))
    verbs = words.verbs["any", 0].items[50:350]
    adjectives = list(dict.fromkeys(chain.from_iterable(words.adjectives[name, 0].items[5:] for name in NOUN_CLASSES)))
    neighbors = rng.sample(adjectives, 2 * len(names) + 2)
    followers = [noun.singular for noun in rng.sample(nouns, 2 * len(names) + 2)]
    senses = []
    for i, name in enumerate(names):
        fields = tuple(
            _Field(
                Pool(rng.sample(nouns, 8), zipf(8)),
                Pool(rng.sample(verbs, 6), zipf(6)),
                Pool(rng.sample(adjectives, 6), zipf(6)),
            )
            for _ in range(_N_FIELDS)
        )
        particle = rng.choice(("up", "out", "off", "in")) if word.endswith(".v") and i % 3 == 1 else ""
        left, right = (Pool(rng.sample(collocates, 5), zipf(5)) for collocates in (neighbors, followers))
        senses.append(_Sense(name, rng.randrange(N_TOPICS), fields, left, right, particle))
    first = 0.4 + 0.4 / len(names)
    rest = zipf(len(names) - 1)
    return Pool(senses, [first] + [(1 - first) * weight / sum(rest) for weight in rest])


def _context(word: str, name: str, sense: _Sense, labeled: bool, words: Lexicon, rng: random.Random) -> Occurrence:
    lemma, _, part = word.rpartition(".")
    tokens, tags, place = _text_with(_TARGET_TAGS.get(part, _TARGET_TAGS["n"]), sense.topic, words, rng)
    fields = rng.sample(sense.fields, 2)
    for i, tag in enumerate(tags):
        if rng.random() < _TOPICAL_SHARE:
            tokens[i] = _topical(rng.choice(fields), tag, rng) or tokens[i]
    tokens[place] = _inflect(lemma or word, tags[place])
    before, after = (_collocate(pool, rng) for pool in (sense.left, sense.right))
    particle = [sense.particle] if sense.particle and rng.random() < 0.7 else []
    target = place + len(before)
    return Occurrence(
        word,
        name,
        (*tokens[:place], *before, tokens[place], *particle, *after, *tokens[place + 1 :]),
        target,
        (sense.name,) if labeled else (),
        (target + 1,) if particle else (),
    )


def _collocate(pool: Pool[str], rng: random.Random) -> list[str]:
    return [pool.pick(rng)] if rng.random() < _COLLOCATION_SHARE else []


def _text_with(
    target_tags: Collection[str], topic: int, words: Lexicon, rng: random.Random
) -> tuple[list[str], list[str], int]:
    """Write sentences until a word in them may be the target; return tokens, tags and its place."""
    places: list[int] = []
    while not places:
        tokens, tags = _sentences(topic, words, rng)
        places = [i for i, tag in enumerate(tags) if tag in target_tags]
    return tokens, tags, rng.choice(places)


def _sentences(topic: int, words: Lexicon, rng: random.Random) -> tuple[list[str], list[str]]:
    """Write some sentences; words that must stay as they are (the first, auxiliaries) get no tag."""
    tokens: list[str] = []
    tags: list[str] = []
    for _ in range(rng.choice((2, 2, 3))):
        writer = SentenceWriter(words, rng, topic if rng.random() < 0.4 else None)
        writer.write()
        tokens += writer.tokens
        open_tags = ["" if label == "aux" else tag for tag, label in zip(writer.tags, writer.labels, strict=True)]
        tags += ["", *open_tags[1:]]
    return tokens, tags


def _topical(field: _Field, tag: str, rng: random.Random) -> str:
    if tag == "NN":
        return field.nouns.pick(rng).singular
    if tag == "NNS":
        return field.nouns.pick(rng).plural
    if tag == "JJ":
        return field.adjectives.pick(rng)
    if tag in ("VBD", "VBN", "VBG", "VBZ", "VB"):
        form: str = getattr(field.verbs.pick(rng), tag)
        return form
    return ""


def _inflect(lemma: str, tag: str) -> str:
    if tag == "NNS":
        return with_s(lemma)
    if tag.startswith("VB"):
        form: str = getattr(conjugate(lemma), "VB" if tag == "VBP" else tag)
        return form
    return lemma
