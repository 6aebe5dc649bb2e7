"""Noun phrases of the small grammar: names, pronouns, and common nouns with all that hangs on them."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from typing import Literal

from handful.corpora.make.draws import Pool
from handful.corpora.make.lexicon import N_TOPICS, Lexicon

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
        """Write one or two more phrases beside the head: "and B", or ", B and C"."""
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
