"""A small grammar of English that writes words, tags, entities and heads in one pass from left to right.

Every phrase is written as one unbroken stretch of words, and all of it hangs on the word that the phrase's method
returns; therefore the trees are projective by construction.
"""

from __future__ import annotations

from handful.corpora.make.draws import Pool
from handful.corpora.make.lexicon import NOUN_CLASSES, VERB_CLASSES
from handful.corpora.make.nouns import NounWriter
from handful.corpora.make.word_forms import Verb

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
    >>> from handful.corpora.make.lexicon import lexicon
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
