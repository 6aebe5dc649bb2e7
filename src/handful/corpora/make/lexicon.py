"""A made-up English: pseudo-words with real endings, in semantic classes and topics, used by Zipf's law.

The lexicon is the same in every run, whatever the seed of a sample, so that two samples speak one language.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest

from handful.corpora.make.draws import Pool, zipf
from handful.corpora.make.word_forms import Noun, Verb, WordMaker, conjugate, with_ly, with_s

N_TOPICS = 6
NOUN_CLASSES = ("person", "group", "place", "thing", "idea", "event")

_OFF_TOPIC = 0.12  # weight of a word outside its topic, against 1 inside
# The most frequent words of each class are plain English, so that a sentence can be read.
_COMMON_NOUNS = {
    "person": "man woman worker teacher doctor leader child driver writer friend",
    "group": "company team family government committee union crowd school army",
    "place": "city town street village valley market river country station",
    "thing": "book car house table letter machine bread stone bottle ship",
    "idea": "idea law truth price theory freedom reason value rule",
    "event": "meeting war plan trip vote strike race talk walk election",
}
_COMMON_VERBS = (
    "say think believe know",
    "want hope try plan",
    "carry drop paint sell",
    "help call visit meet",
    "fund train join lead",
    "reject support explain discuss",
    "change affect divide follow",
    "sleep fall turn shine",
    "fail end continue matter",
    "walk travel drive return",
    "pay wait vote work",
    "arise differ emerge result",
)
_COMMON_ADJECTIVES = {
    "person": "old young tired famous clever",
    "group": "large local foreign powerful rich",
    "place": "small distant quiet cold green",
    "thing": "heavy red cheap broken wooden",
    "idea": "new simple clear common moral",
    "event": "long recent public sudden final",
}
_NOUN_ENDINGS = {
    "person": ("er", "or", "ist", "ian", "", ""),
    "group": ("", "ry", "hood", "ion", ""),
    "place": ("", "ery", "age", "", ""),
    "thing": ("", "", "", "et", "er"),
    "idea": ("ity", "ness", "ism", "ation", ""),
    "event": ("ment", "ation", "al", "ing", ""),
}
_ADJECTIVE_ENDINGS = ("al", "ous", "ive", "able", "ic", "y", "", "", "", "", "ian", "ing")
_SIZES = {"person": 260, "group": 160, "place": 180, "thing": 340, "idea": 260, "event": 240}
_N_VERBS = 540

# What a verb takes: class of the subject, shape of the complement, class of the object, preposition.
VERB_CLASSES: tuple[tuple[tuple[str, ...], str, tuple[str, ...], str], ...] = (
    (("person", "group"), "clause", (), ""),
    (("person", "group"), "infinitive", (), ""),
    (("person", "group"), "object", ("thing",), ""),
    (("person",), "object", ("person",), ""),
    (("group",), "object", ("group", "person"), ""),
    (("person", "group"), "object", ("idea",), ""),
    (("event", "idea"), "object", ("group", "place", "event"), ""),
    (("person", "thing"), "none", (), ""),
    (("event", "idea"), "none", (), ""),
    (("person",), "preposition", ("place",), "to"),
    (("person", "group"), "preposition", ("thing", "idea"), "for"),
    (("thing", "event"), "preposition", ("event", "idea"), "from"),
)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All pools of words; the second half of a key is the topic of the sentence.

    Parameters
    ----------
    nouns, adjectives : dict of (class, topic) to Pool
        Nouns of a semantic class, adjectives that go with it.
    verbs : dict of (shape, topic) to Pool
        Verbs by the shape of their complement; the shape ``"any"`` holds them all.
    adverbs : dict of topic to Pool
        Adverbs in -ly, and a few plain ones.
    first_names, last_names, places : Pool
        Parts of names. Some last names are also names of places.
    """

    nouns: dict[tuple[str, int], Pool[Noun]]
    adjectives: dict[tuple[str, int], Pool[str]]
    verbs: dict[tuple[str, int], Pool[Verb]]
    adverbs: dict[int, Pool[str]]
    first_names: Pool[str]
    last_names: Pool[str]
    places: Pool[str]


def _topics(rng: random.Random, n: int, n_common: int) -> list[list[float]]:
    """Weights of `n` words in each topic: Zipf's law, and every word but the commonest at home in one topic."""
    home = [-1] * n_common + [rng.randrange(N_TOPICS) for _ in range(n - n_common)]
    weights = zipf(n, 1.4, shift=6.0)
    return [
        [w * (0.3 if home[i] < 0 else 1.0 if home[i] == topic else _OFF_TOPIC) for i, w in enumerate(weights)]
        for topic in range(N_TOPICS)
    ]


@cache
def lexicon() -> Lexicon:
    """Return the one lexicon, made at the first call.

    Returns
    -------
    Lexicon
        Always the same words with the same weights.

    Examples
    --------
    >>> lexicon() is lexicon()
    True
    """
    rng = random.Random(20061)
    new_word = WordMaker(rng)
    verbs = _make_verbs(rng, new_word)
    bases = [verb.VB for verb in verbs["any", 0].items]
    nouns: dict[tuple[str, int], Pool[Noun]] = {}
    adjectives: dict[tuple[str, int], Pool[str]] = {}
    all_adjectives: list[str] = []
    for name in NOUN_CLASSES:
        words = _noun_words(name, bases, all_adjectives, rng, new_word)
        for topic, weights in enumerate(_topics(rng, len(words), len(_COMMON_NOUNS[name].split()))):
            nouns[name, topic] = Pool([Noun(word, with_s(word)) for word in words], weights)
        shared = rng.sample(all_adjectives, min(30, len(all_adjectives)))
        own = _COMMON_ADJECTIVES[name].split() + [new_word(*_ADJECTIVE_ENDINGS) for _ in range(65)]
        mixed = own[:5] + [word for pair in zip_longest(own[5:], shared) for word in pair if word]
        for topic, weights in enumerate(_topics(rng, len(mixed), 5)):
            adjectives[name, topic] = Pool(mixed, weights)
        all_adjectives += own
    return Lexicon(nouns, adjectives, verbs, *_adverbs_and_names(all_adjectives, rng, new_word))


def _noun_words(
    name: str, bases: Sequence[str], adjectives: Sequence[str], rng: random.Random, new_word: WordMaker
) -> list[str]:
    """Make the nouns of a class; some are verbs or adjectives too."""
    words = _COMMON_NOUNS[name].split()
    while len(words) < _SIZES[name]:
        if name in ("event", "thing", "idea") and rng.random() < 0.4:
            word = bases[len(words) * 2 % len(bases)]  # noun and verb in one, such as "plan"
        elif adjectives and rng.random() < 0.1:
            word = rng.choice(adjectives)  # noun and adjective in one, such as "official"
        else:
            word = new_word(*_NOUN_ENDINGS[name])
        if word not in words:
            words.append(word)
    return words


def _adverbs_and_names(
    adjectives: Sequence[str], rng: random.Random, new_word: WordMaker
) -> tuple[dict[int, Pool[str]], Pool[str], Pool[str], Pool[str]]:
    """Make adverbs by topic, first names, last names and places."""
    plain = ["also", "now", "often", "again", "never", "still", "soon", "already", "here", "there", "even", "once"]
    adverbs = plain + [with_ly(word) for word in adjectives[5::2]]
    places = [new_word("ton", "ville", "land", "burg", "ia", "ford", "", "").capitalize() for _ in range(220)]
    first_names = [new_word("a", "o", "us", "ie", "en", "y").capitalize() for _ in range(160)]
    last_names = [new_word("son", "man", "er", "ov", "ez", "", "", "").capitalize() for _ in range(480)]
    last_names[5::9] = rng.sample(places, len(last_names[5::9]))
    by_topic = {topic: Pool(adverbs, weights) for topic, weights in enumerate(_topics(rng, len(adverbs), len(plain)))}
    first, last, towns = (Pool(names, zipf(len(names), 1.0)) for names in (first_names, last_names, places))
    return by_topic, first, last, towns


def _make_verbs(rng: random.Random, new_word: WordMaker) -> dict[tuple[str, int], Pool[Verb]]:
    n_kinds = len(VERB_CLASSES)
    common = [words.split()[i] for i in range(4) for words in _COMMON_VERBS]
    bases = common + [new_word("", "", "", "ate", "ize", "ify") for _ in range(_N_VERBS - len(common))]
    made = [conjugate(base, i % n_kinds, i >= len(common) and rng.random() < 0.25) for i, base in enumerate(bases)]
    by_shape = _by_shape(made)
    return {
        (shape, topic): Pool([made[i] for i in numbers], [weights[i] for i in numbers])
        for topic, weights in enumerate(_topics(rng, len(made), len(common)))
        for shape, numbers in by_shape.items()
    }


def _by_shape(verbs: list[Verb]) -> dict[str, list[int]]:
    """Return the places of verbs that take the same objects, and of all of them."""
    places: dict[str, list[int]] = {"any": list(range(len(verbs)))}
    for place, verb in enumerate(verbs):
        places.setdefault(VERB_CLASSES[verb.kind][1], []).append(place)
    return places
