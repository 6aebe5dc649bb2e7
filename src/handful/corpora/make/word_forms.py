"""Words of the made-up English: new stems, and the forms of nouns, adjectives and verbs."""

from __future__ import annotations

import random
from dataclasses import dataclass

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
        Row in `handful.corpora.make.lexicon.VERB_CLASSES`.
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
