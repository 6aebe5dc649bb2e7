"""Generated sentences of an invented English, with tags, heads, entities and senses."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from itertools import chain, zip_longest
from types import MappingProxyType
from typing import Literal

import numpy as np

from handful.data.records import Occurrence, Sentence, Tree
from handful.errors import ParameterError
from papers.generated import Pool, RandomState, check_count, source, zipf

_ONSETS = [
    "b", "bl", "br", "c", "cl", "cr", "d", "dr", "f", "fl", "g", "gl", "gr", "h", "j", "l", "m", "n", "p", "pl", "pr",
    "r", "s", "sl", "st", "str", "t", "tr", "v", "w",
]  # fmt: skip
_VOWELS = ["a", "e", "i", "o", "u", "a", "e", "i", "o", "ea", "ou", "ai"]
_MIDDLES = ["b", "d", "l", "ll", "m", "n", "nd", "r", "rr", "st", "v", "lb", "lt", "mp", "rl", "lm"]
_CODAS = ["l", "m", "n", "nd", "r", "st", "lt", "ch", "th", "v", "nk", "rk", "sk", "rm"]

_ODD_PLURALS = {"man": "men", "woman": "women", "child": "children"}
_IRREGULAR = {
    "say": ("said", "said"), "think": ("thought", "thought"), "know": ("knew", "known"), "sell": ("sold", "sold"),
    "meet": ("met", "met"), "lead": ("led", "led"), "sleep": ("slept", "slept"), "fall": ("fell", "fallen"),
    "shine": ("shone", "shone"), "drive": ("drove", "driven"), "pay": ("paid", "paid"), "arise": ("arose", "arisen"),
    "draw": ("drew", "drawn"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun's two forms.

    Parameters
    ----------
    singular, plural : str
        The forms.
    """

    singular: str
    plural: str


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb's forms, named by their tags, and its class.

    Parameters
    ----------
    VB, VBZ, VBD, VBN, VBG : str
        Bare form, third person, past, past participle, present participle.
    kind : int
        Row in `papers.generated_english.VERB_CLASSES`.
    """

    VB: str
    VBZ: str
    VBD: str
    VBN: str
    VBG: str
    kind: int


class WordMaker:
    """Makes words that are all different: a stem of one or two syllables and an ending.

    Parameters
    ----------
    rng : random.Random
        Source of randomness.

    Examples
    --------
    >>> new_word = WordMaker(random.Random(0))
    >>> word = new_word("ation", "ity")
    >>> word.endswith(("ation", "ity")), word == new_word("ation", "ity")
    (True, False)
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._taken: set[str] = set()

    def __call__(self, *endings: str) -> str:
        """Make a word that was not made before.

        Parameters
        ----------
        *endings : str
            One of them is drawn; an empty one gives a bare stem.

        Returns
        -------
        str
            The word, in lower case.
        """
        choice = self._rng.choice
        while True:
            ending = choice(endings)
            stem = choice(_ONSETS) + choice(_VOWELS)
            if not ending or self._rng.random() < 0.5:
                stem += choice(_MIDDLES) + choice(_VOWELS[:5])
            word = stem + choice(_CODAS) + ending
            if word not in self._taken:
                self._taken.add(word)
                return word


def with_s(word: str) -> str:
    """Return the plural of a noun, or the third person of a verb.

    Parameters
    ----------
    word : str
        The bare form.

    Returns
    -------
    str
        The form in -s.

    Examples
    --------
    >>> with_s("city"), with_s("valley"), with_s("branch")
    ('cities', 'valleys', 'branches')
    """
    if word in _ODD_PLURALS:
        return _ODD_PLURALS[word]
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "sh", "ch", "x", "z")) else "s")


def with_ly(adjective: str) -> str:
    """Return the adverb of an adjective.

    Parameters
    ----------
    adjective : str
        The adjective.

    Returns
    -------
    str
        The form in -ly.

    Examples
    --------
    >>> with_ly("heavy"), with_ly("simple"), with_ly("moral"), with_ly("quiet")
    ('heavily', 'simply', 'morally', 'quietly')
    """
    if adjective.endswith("y"):
        return adjective[:-1] + "ily"
    if adjective.endswith("le"):
        return adjective[:-1] + "y"
    return adjective + ("ally" if adjective.endswith("ic") else "ly")


def conjugate(base: str, kind: int = 0, strong: bool = False) -> Verb:
    """Return all forms of a verb.

    Parameters
    ----------
    base : str
        The bare form.
    kind : int, default=0
        The verb's class, passed on.
    strong : bool, default=False
        Whether the vowel changes in the past, in a verb that is not known as irregular.

    Returns
    -------
    Verb
        Its forms.

    Examples
    --------
    >>> know = conjugate("know")
    >>> know.VBD, know.VBN, know.VBG
    ('knew', 'known', 'knowing')
    """
    core = base[:-1] if base.endswith("e") else base
    if base in _IRREGULAR:
        past, participle = _IRREGULAR[base]
    elif base in ("drop", "plan"):
        core += base[-1]
        past = participle = core + "ed"
    elif strong and base[-1] not in "ey":
        cut = max(base.rfind(vowel) for vowel in "aeiou")
        past = base[:cut] + ("o" if base[cut] != "o" else "u") + base[cut + 1 :]
        participle = past + "en"
    else:
        past = participle = base[:-1] + "ied" if base.endswith("y") else core + "ed"
    return Verb(base, with_s(base), past, participle, core + "ing", kind)


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


_SINGULAR_DETERMINERS = Pool(["the", "a", "this", "every", "no", "that", "another"], [50, 30, 5, 4, 3, 3, 3])
_PLURAL_DETERMINERS = Pool(["the", "", "some", "these", "all", "no"], [38, 40, 8, 5, 5, 4])
_POSSESSIVES = Pool(["his", "her", "its", "their", "our"], [4, 3, 4, 4, 1])
_PRONOUNS = {
    "subject": Pool([("he", False), ("she", False), ("they", True), ("we", True), ("it", False)], [5, 4, 5, 2, 2]),
    "object": Pool([("him", False), ("her", False), ("them", True), ("us", True)], [4, 4, 4, 1]),
}
_ORGANIZATION_ENDS = Pool(["Corp.", "Inc.", "Group", "Bank", "University", "Party", "Council"], [6, 5, 4, 3, 3, 2, 2])
_NUMBER_WORDS = Pool(["two", "three", "four", "five", "six", "ten", "hundred"], [8, 6, 4, 4, 2, 2, 2])
_NAME_SHARE = {"person": 0.36, "group": 0.42, "place": 0.5}

# Prepositions that hang on a noun, with the class of noun that follows. Several of them hang on verbs too.
_AFTER_NOUN = {
    "person": Pool([("from", "place"), ("of", "group"), ("with", "thing"), ("in", "group")], [4, 3, 2, 2]),
    "group": Pool([("of", "person"), ("in", "place"), ("for", "idea")], [3, 5, 2]),
    "place": Pool([("of", "group"), ("in", "place"), ("near", "place")], [2, 4, 3]),
    "thing": Pool([("of", "person"), ("with", "thing"), ("from", "place"), ("for", "event")], [4, 3, 2, 2]),
    "idea": Pool([("of", "thing"), ("of", "idea"), ("about", "event"), ("for", "group")], [5, 4, 3, 1]),
    "event": Pool([("of", "thing"), ("between", "group"), ("in", "place"), ("about", "idea")], [5, 3, 3, 2]),
}


class NounWriter(ABC):
    """Writes words with their analysis, and noun phrases out of them.

    Parameters
    ----------
    words : Lexicon
        The open word classes.
    rng : random.Random
        Source of randomness.
    topic : int or None, default=None
        What the sentence is about; None draws a topic.

    Attributes
    ----------
    tokens, tags, entities, labels : list of str
        Words, part-of-speech tags, entities (IOB2) and relations.
    heads : list of int
        One-based heads; 0 is the root.
    """

    def __init__(self, words: Lexicon, rng: random.Random, topic: int | None = None) -> None:
        self.words = words
        self.rng = rng
        self.topic = rng.randrange(N_TOPICS) if topic is None else topic
        self.tokens: list[str] = []
        self.tags: list[str] = []
        self.entities: list[str] = []
        self.heads: list[int] = []
        self.labels: list[str] = []

    def _put(self, token: str, tag: str, label: str = "", head: int = -1, entity: str = "O") -> int:
        """Write one word and return its position; label and head may be set later."""
        self.tokens.append(token)
        self.tags.append(tag)
        self.entities.append(entity)
        self.labels.append(label)
        self.heads.append(head + 1)
        return len(self.tokens) - 1

    def _hang(self, head: int, label: str, *dependents: int) -> None:
        for dependent in dependents:
            self.heads[dependent] = head + 1
            self.labels[dependent] = label

    def _may(self, probability: float) -> bool:
        return self.rng.random() < probability

    @abstractmethod
    def _relative_clause(self, noun: int, noun_class: str, plural: bool, depth: int) -> None: ...

    def _prepositional(self, preposition: str, noun_class: str, depth: int) -> int:
        head = self._put(preposition, "IN")
        self._hang(head, "pobj", self._noun_phrase(noun_class, depth)[0])
        return head

    def _noun_phrase(
        self, noun_class: str, depth: int, pronouns: Literal["subject", "object"] | None = None
    ) -> tuple[int, bool]:
        """Write a noun phrase; return its head and whether it is plural."""
        if pronouns and noun_class in ("person", "group") and self._may(0.2):
            word, plural = _PRONOUNS[pronouns].pick(self.rng)
            return self._put(word, "PRP"), plural
        if self._may(_NAME_SHARE.get(noun_class, 0.0)):
            head, plural = self._name(noun_class), False
            if noun_class == "person" and depth < 2 and self._may(0.12):
                self._apposition(head, noun_class)
        else:
            plural = self._may(0.35)
            head = self._common(noun_class, plural, depth)
        if depth < 3 and self._may(0.07):
            self._conjuncts(head, noun_class)
            plural = True
        return head, plural

    def _apposition(self, head: int, noun_class: str) -> None:
        self._put(",", ",", "punct", head)
        self._hang(head, "appos", self._common(noun_class, False, 2))
        self._put(",", ",", "punct", head)

    def _conjuncts(self, head: int, noun_class: str) -> None:
        """Write one or two more phrases after the head: "and B", or ", B and C"."""
        if self._may(0.2):
            self._put(",", ",", "punct", head)
            self._hang(head, "conj", self._simple(noun_class))
        self._put("and", "CC", "cc", head)
        self._hang(head, "conj", self._simple(noun_class))

    def _simple(self, noun_class: str) -> int:
        if self._may(_NAME_SHARE.get(noun_class, 0.0)):
            return self._name(noun_class)
        return self._common(noun_class, self._may(0.4), 4)

    def _name(self, noun_class: str) -> int:
        """Write a name; its last word is the head."""
        kind, parts = self._name_parts(noun_class)
        # A title is no part of the entity, as in the usual annotation of news.
        start = 1 if parts[0].endswith(".") else 0
        marks = ["O"] * start + ["B-" + kind] + ["I-" + kind] * (len(parts) - start - 1)
        places = [self._put(word, "NNP", entity=mark) for word, mark in zip(parts, marks, strict=True)]
        self._hang(places[-1], "nn", *places[:-1])
        return places[-1]

    def _name_parts(self, noun_class: str) -> tuple[str, list[str]]:
        """Return the kind of entity and the words of a new name."""
        rng, words = self.rng, self.words
        chance = rng.random()
        if noun_class == "person":
            if chance < 0.2:
                return "PER", [rng.choice(("Mr.", "Ms.", "Dr.")), words.last_names.pick(rng)]
            first = [words.first_names.pick(rng)] if chance < 0.65 else []
            return "PER", [*first, words.last_names.pick(rng)]
        if noun_class == "place" or chance < 0.12:
            place = words.places.pick(rng)
            return "LOC", [rng.choice(("New", "North", "South", "East")), place] if self._may(0.1) else [place]
        founder = words.places.pick(rng) if chance < 0.35 else words.last_names.pick(rng)
        return "ORG", [founder, _ORGANIZATION_ENDS.pick(rng)] if chance < 0.75 else [founder]

    def _common(self, noun_class: str, plural: bool, depth: int) -> int:
        """Write a phrase around a common noun."""
        rng = self.rng
        before = [*self._determiner(plural, depth), *self._numeral(plural), *self._modifiers(noun_class)]
        noun = self.words.nouns[noun_class, self.topic].pick(rng)
        head = self._put(noun.plural, "NNS") if plural else self._put(noun.singular, "NN")
        for position, label in before:
            self._hang(head, label, position)
        if depth < 4 and self._may(0.4 / (1 + depth)):
            self._hang(head, "prep", self._prepositional(*_AFTER_NOUN[noun_class].pick(rng), depth + 1))
        if depth < 2 and self._may(0.06):
            self._relative_clause(head, noun_class, plural, depth)
        return head

    def _numeral(self, plural: bool) -> list[tuple[int, str]]:
        if not plural or not self._may(0.1):
            return []
        number = _NUMBER_WORDS.pick(self.rng) if self._may(0.5) else str(int(self.rng.lognormvariate(4, 2)) + 2)
        return [(self._put(number, "CD"), "num")]

    def _modifiers(self, noun_class: str) -> list[tuple[int, str]]:
        """Write what stands right before a noun: an adjective or a participle, another noun, or nothing."""
        rng, before = self.rng, []
        chance = rng.random()
        adjectives = self.words.adjectives[noun_class, self.topic]
        if chance < 0.27:
            before.append((self._put(adjectives.pick(rng), "JJ"), "amod"))
        elif chance < 0.31:
            adverb = self._put(self.words.adverbs[self.topic].pick(rng), "RB")
            before.append((self._put(adjectives.pick(rng), "JJ"), "amod"))
            self._hang(before[-1][0], "advmod", adverb)
        elif chance < 0.35:
            before.append((self._compared(adjectives.pick(rng)), "amod"))
        elif chance < 0.39:
            verb = self.words.verbs["object", self.topic].pick(rng)
            form, tag = (verb.VBN, "VBN") if self._may(0.5) else (verb.VBG, "VBG")
            before.append((self._put(form, tag), "amod"))
        if self._may(0.08):
            other = self.words.nouns["thing" if self._may(0.5) else "idea", self.topic].pick(rng)
            before.append((self._put(other.singular, "NN"), "nn"))
        return before

    def _compared(self, adjective: str) -> int:
        """Write a comparative or superlative: long adjectives with more and most, short ones with -er and -est."""
        superlative = self._may(0.4)
        if len(adjective) > 7:
            adverb = self._put("most", "RBS") if superlative else self._put("more", "RBR")
            head = self._put(adjective, "JJ")
            self._hang(head, "advmod", adverb)
            return head
        core = adjective[:-1] + "i" if adjective.endswith("y") else adjective.removesuffix("e")
        return self._put(core + "est", "JJS") if superlative else self._put(core + "er", "JJR")

    def _determiner(self, plural: bool, depth: int) -> list[tuple[int, str]]:
        chance = self.rng.random()
        if chance < 0.08:
            return [(self._put(_POSSESSIVES.pick(self.rng), "PRP$"), "poss")]
        if chance < 0.13 and depth < 3:
            owner = self._name("group" if self._may(0.5) else "person")
            self._put("'s", "POS", "possessive", owner)
            return [(owner, "poss")]
        word = (_PLURAL_DETERMINERS if plural else _SINGULAR_DETERMINERS).pick(self.rng)
        return [(self._put(word, "DT"), "det")] if word else []


_MODALS = Pool(["will", "would", "could", "may", "can", "should", "must", "might"], [9, 8, 5, 5, 6, 4, 2, 2])
_UNSHORTENED = ("will", "can", "may", "might")  # no "will n't"
_LINKS = Pool(["because", "while", "if", "although", "after", "before", "when"], [4, 4, 3, 3, 3, 2, 4])
_COORDINATORS = Pool(["and", "but", "or"], [8, 3, 1])
_DAYS = Pool(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"])
_TENSES = Pool(["past", "present", "modal", "perfect", "progressive", "negated", "passive"], [44, 16, 13, 9, 6, 4, 8])

_AFTER_VERB = Pool(
    [("in", "place"), ("at", "event"), ("with", "thing"), ("by", "event"), ("for", "person"), ("during", "event"),
     ("under", "idea"), ("near", "place")],
    [8, 4, 4, 2, 3, 3, 2, 2],
)  # fmt: skip
_BE = {"past": ("was", "were", "VBD", "VBD"), "present": ("is", "are", "VBZ", "VBP")}


class SentenceWriter(NounWriter):
    """Writes one sentence and its analysis.

    Parameters
    ----------
    words : Lexicon
        The open word classes.
    rng : random.Random
        Source of randomness.
    topic : int or None, default=None
        What the sentence is about; None draws a topic.

    Attributes
    ----------
    tokens, tags, entities, labels : list of str
        Words, part-of-speech tags, entities (IOB2) and relations.
    heads : list of int
        One-based heads; 0 is the root.

    Examples
    --------
    >>> import random
    >>> from papers.generated_english import lexicon
    >>> writer = SentenceWriter(lexicon(), random.Random(0))
    >>> writer.write()
    >>> len(writer.tokens) == len(writer.heads), writer.heads.count(0)
    (True, 1)
    """

    def write(self) -> None:
        """Write the whole sentence into the attributes."""
        chance = self.rng.random()
        end = "."
        if chance < 0.05:
            root, end = self._question(), "?"
        elif chance < 0.11:
            root = self._quotation()
        elif chance < 0.13:
            root, _ = self._noun_phrase(self.rng.choice(NOUN_CLASSES), 0)
        else:
            root = self._statement()
        self._put(end, end if end == "." else ".", "punct", root)
        self.labels[root] = "root"
        for i, following in enumerate(self.tokens[1:]):
            if self.tokens[i] == "a" and following[0] in "aeiou":
                self.tokens[i] = "an"
        self.tokens[0] = self.tokens[0][0].upper() + self.tokens[0][1:]

    # Clauses

    def _statement(self) -> int:
        comma = opening = -1
        chance = self.rng.random()
        if chance < 0.08:
            opening, label = self._prepositional(*_AFTER_VERB.pick(self.rng), 1), "prep"
        elif chance < 0.13:
            opening, label = self._put(self.words.adverbs[self.topic].pick(self.rng), "RB"), "advmod"
        elif chance < 0.18:
            opening, label = self._subordinate(1), "advcl"
        if opening >= 0:
            comma = self._put(",", ",")
        root = self._clause(0)
        if opening >= 0:
            self._hang(root, label, opening)
            self._hang(root, "punct", comma)
        chance = self.rng.random()
        if chance < 0.08:
            self._put(",", ",", "punct", root)
            self._put(_COORDINATORS.pick(self.rng), "CC", "cc", root)
            self._hang(root, "conj", self._clause(1))
        elif chance < 0.15:
            self._hang(root, "advcl", self._subordinate(1))
        return root

    def _clause(self, depth: int) -> int:
        verb = self.words.verbs["any", self.topic].pick(self.rng)
        subject, plural = self._noun_phrase(self.rng.choice(VERB_CLASSES[verb.kind][0]), depth, pronouns="subject")
        root = self._predicate(verb, plural, depth)
        self._hang(root, "sbj", subject)
        return root

    def _subordinate(self, depth: int) -> int:
        mark = self._put(_LINKS.pick(self.rng), "IN")
        root = self._clause(depth + 1)
        self._hang(root, "mark", mark)
        return root

    def _question(self) -> int:
        verb = self.words.verbs["any", self.topic].pick(self.rng)
        first = self._put("did", "VBD") if self._may(0.5) else self._put(_MODALS.pick(self.rng), "MD")
        subject, _ = self._noun_phrase(self.rng.choice(VERB_CLASSES[verb.kind][0]), 1, pronouns="subject")
        root = self._put(verb.VB, "VB")
        self._complements(root, verb, 1)
        self._hang(root, "aux", first)
        self._hang(root, "sbj", subject)
        return root

    def _quotation(self) -> int:
        said = self._clause(1)
        comma = self._put(",", ",")
        root = self._put(self.words.verbs["clause", self.topic].pick(self.rng).VBD, "VBD")
        subject, _ = self._noun_phrase("person", 1)
        self._hang(root, "ccomp", said)
        self._hang(root, "punct", comma)
        self._hang(root, "sbj", subject)
        return root

    # Verbs

    def _predicate(self, verb: Verb, plural: bool, depth: int) -> int:
        tense = _TENSES.pick(self.rng)
        subjects, shape, *_ = VERB_CLASSES[verb.kind]
        if tense == "passive" and shape != "object":
            tense = "past"
        adverbs = self._adverb(0.06)
        auxiliaries, form, tag = self._verb_group(verb, tense, plural)
        if auxiliaries and (tense == "negated" or self._may(0.06)):
            adverbs.append(self._negation())
        adverbs += self._adverb(0.07)
        head = self._put(form, tag)
        self._hang(head, "aux", *auxiliaries)
        self._hang(head, "advmod", *adverbs)
        if tense != "passive":
            self._complements(head, verb, depth)
        elif self._may(0.55):
            self._hang(head, "agent", self._prepositional("by", self.rng.choice(subjects), depth + 1))
        if depth == 0 and tense in ("past", "present"):
            self._second_verb(head, tense, plural)
        return head

    def _negation(self) -> int:
        short = self.tokens[-1] not in _UNSHORTENED and self._may(0.5)
        return self._put("n't" if short else "not", "RB")

    def _adverb(self, share: float) -> list[int]:
        return [self._put(self.words.adverbs[self.topic].pick(self.rng), "RB")] if self._may(share) else []

    def _verb_group(self, verb: Verb, tense: str, plural: bool) -> tuple[list[int], str, str]:
        """Write the auxiliary of a tense, if any; return it, and form and tag of the verb that is still to come."""
        match tense:
            case "past":
                return [], verb.VBD, "VBD"
            case "present":
                return [], *_present(verb, plural)
            case "modal":
                return [self._put(_MODALS.pick(self.rng), "MD")], verb.VB, "VB"
            case "perfect":
                return [self._auxiliary(0.3, "had", "have" if plural else "has", plural)], verb.VBN, "VBN"
            case "negated":
                return [self._auxiliary(0.6, "did", "do" if plural else "does", plural)], verb.VB, "VB"
        be = _BE["past" if self._may(0.6) else "present"]
        auxiliary = [self._put(be[plural], be[2 + plural])]
        return auxiliary, *((verb.VBN, "VBN") if tense == "passive" else (verb.VBG, "VBG"))

    def _auxiliary(self, share: float, past: str, present: str, plural: bool) -> int:
        if self._may(share):
            return self._put(past, "VBD")
        return self._put(present, "VBP" if plural else "VBZ")

    def _second_verb(self, head: int, tense: str, plural: bool) -> None:
        """Now and then, write another verb with the same subject."""
        if not self._may(0.08):
            return
        self._put(_COORDINATORS.pick(self.rng), "CC", "cc", head)
        second = self.words.verbs["object", self.topic].pick(self.rng)
        other = self._put(second.VBD, "VBD") if tense == "past" else self._put(*_present(second, plural))
        self._complements(other, second, 1)
        self._hang(head, "conj", other)

    def _complements(self, head: int, verb: Verb, depth: int) -> None:
        """Write what follows a verb: its complement, then adjuncts."""
        rng = self.rng
        _, shape, classes, preposition = VERB_CLASSES[verb.kind]
        if shape == "clause":
            self._clause_complement(head, depth)
            return
        if shape == "infinitive":
            to = self._put("to", "TO")
            lower = self.words.verbs["object" if depth else "any", self.topic].pick(rng)
            infinitive = self._put(lower.VB, "VB", "xcomp", head)
            self._hang(infinitive, "aux", to)
            self._complements(infinitive, lower, depth + 1)
            return
        if shape == "object":
            self._hang(head, "obj", self._noun_phrase(rng.choice(classes), depth + 1, pronouns="object")[0])
        elif shape == "preposition":
            self._hang(head, "prep", self._prepositional(preposition, rng.choice(classes), depth + 1))
        if self._may(0.35 if depth < 2 else 0.1):
            self._hang(head, "prep", self._prepositional(*_AFTER_VERB.pick(rng), depth + 1))
        if self._may(0.07):
            day = self._put("on", "IN", "prep", head)
            self._put(_DAYS.pick(rng), "NNP", "pobj", day)
        else:
            self._hang(head, "advmod", *self._adverb(0.08))

    def _clause_complement(self, head: int, depth: int) -> None:
        if depth > 1:
            self._hang(head, "obj", self._noun_phrase("idea", depth + 1)[0])
            return
        mark = [self._put("that", "IN")] if self._may(0.7) else []
        clause = self._clause(depth + 1)
        self._hang(head, "ccomp", clause)
        self._hang(clause, "mark", *mark)

    def _relative_clause(self, noun: int, noun_class: str, plural: bool, depth: int) -> None:
        rng = self.rng
        person = noun_class == "person"
        if self._may(0.65):
            fitting = self.words.verbs["object", self.topic].pick(rng)
            pronoun = self._put("who", "WP") if person else self._put(rng.choice(("that", "which")), "WDT")
            verb, role = self._predicate(fitting, plural, depth + 1), "sbj"
        else:
            pronoun = self._put("whom", "WP") if person else self._put(rng.choice(("that", "which")), "WDT")
            fitting = self.words.verbs["object", self.topic].pick(rng)
            subject, _ = self._noun_phrase(rng.choice(VERB_CLASSES[fitting.kind][0]), 3, pronouns="subject")
            verb, role = self._put(fitting.VBD, "VBD"), "obj"
            self._hang(verb, "sbj", subject)
        self._hang(verb, role, pronoun)
        self._hang(noun, "rcmod", verb)


def _present(verb: Verb, plural: bool) -> tuple[str, str]:
    return (verb.VB, "VBP") if plural else (verb.VBZ, "VBZ")


def make_tagged_sentences(n_sentences: int = 1000, random_state: RandomState = None) -> list[Tree]:
    """Make sentences with part-of-speech tags, named entities and dependency trees.

    A small grammar (coordination, relative and subordinate clauses, questions, passives, several prepositional
    phrases) draws from a Zipfian lexicon of some thousands of pseudo-words with English endings. Words depend on
    their tag, on what the verb or preposition asks for (persons, places, things, ...) and on the topic of the
    sentence, so clusters and context similarity have something to find. Many words are ambiguous (noun and verb,
    past and participle, surname and place), and any sample leaves part of the lexicon unseen.

    Parameters
    ----------
    n_sentences : int, default=1000
        How many.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the sentences. The language itself is always the same, so samples with different seeds serve as
        training, test and raw text.

    Returns
    -------
    list of Tree
        Projective trees in which prepositions are the heads of their nouns and main verbs those of their
        auxiliaries; each sentence has the columns ``pos`` (Penn Treebank tags) and ``ner`` (IOB2 with PER, LOC
        and ORG).

    Notes
    -----
    Cost: linear in the number of words, a few microseconds each.

    Examples
    --------
    >>> tree = make_tagged_sentences(1, random_state=3)[0]
    >>> sorted(tree.sentence.columns), tree.heads.count(0)
    (['ner', 'pos'], 1)
    """
    check_count("make_tagged_sentences", "n_sentences", n_sentences)
    rng = source("make_tagged_sentences", random_state)
    words = lexicon()
    trees = []
    for _ in range(n_sentences):
        writer = SentenceWriter(words, rng)
        writer.write()
        sentence = Sentence(tuple(writer.tokens), {"pos": tuple(writer.tags), "ner": tuple(writer.entities)})
        trees.append(Tree(sentence, tuple(writer.heads), tuple(writer.labels)))
    return trees


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

    A sense shows in the topic of the context, in topical words and in the words next to the target. Senses share
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
    caller = "make_sense_contexts"
    check_count(caller, "n_labeled", n_labeled)
    check_count(caller, "n_unlabeled", n_unlabeled)
    rng = source(caller, random_state)
    words = lexicon()
    made = []
    mark = f"{copy(rng).getrandbits(32):08x}"  # from a copy, since ids are no part of the sample
    chosen = DEFAULT_WORD_SENSES if word_senses is None else word_senses
    if not isinstance(chosen, Mapping):
        raise ParameterError(f"{caller}: word_senses must be a mapping, such as {{'bank.n': 3}}, got {chosen!r}.")
    for word, wanted in chosen.items():
        names = _sense_names(caller, word, wanted)
        senses = _senses(word, names, words)
        for i in range(n_labeled + n_unlabeled):
            made.append(_context(word, f"{word}.{mark}.{i + 1:05d}", senses.pick(rng), i < n_labeled, words, rng))
    return made


def _sense_names(caller: str, word: str, senses: int | Sequence[str]) -> list[str]:
    if not isinstance(word, str) or not word.strip():
        raise ParameterError(f"{caller}: a word must be a filled string, such as 'bank.n', got {word!r}.")
    names = _listed(word, senses)
    if not 2 <= len(set(names)) == len(names) <= _MOST_SENSES:
        raise ParameterError(
            f"{caller}: each word must have 2 to {_MOST_SENSES} different senses, got {senses!r} for {word!r}."
        )
    if not all(isinstance(name, str) and name.strip() for name in names):
        raise ParameterError(f"{caller}: the senses of {word!r} must have names, got {senses!r}.")
    return names


def _listed(word: str, senses: int | Sequence[str]) -> list[str]:
    """Return the names that were given, or as many as were asked for; none if it is neither."""
    if isinstance(senses, int | np.integer) and not isinstance(senses, bool):
        return [f"{word}%{i}" for i in range(1, min(int(senses), _MOST_SENSES + 1) + 1)]
    return list(senses) if isinstance(senses, Iterable) and not isinstance(senses, str) else []


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
