"""Lemmas and inflected forms of English words by rule, with the irregular ones listed."""

from __future__ import annotations

import re
from functools import lru_cache

# base: irregular forms
_VERBS = """
be am is are was were been being | have has had having | do does did done | go goes went gone | say said | get got gotten
make made | know knew known | think thought | take took taken | see saw seen | come came | find found | give gave given
tell told | feel felt | become became | leave left | put put | mean meant | keep kept | let let | begin began begun
show shown | hear heard | run ran | hold held | bring brought | write wrote written | sit sat | stand stood | lose lost
pay paid | meet met | set set | lead led | understand understood | speak spoke spoken | read read | spend spent
grow grew grown | win won | buy bought | send sent | build built | fall fell fallen | cut cut | sell sold | rise rose risen
drive drove driven | draw drew drawn | break broke broken | wear wore worn | choose chose chosen | seek sought
catch caught | deal dealt | fight fought | throw threw thrown | teach taught | eat ate eaten | drink drank drunk
sing sang sung | sleep slept | strike struck stricken | swim swam swum | ride rode ridden | shake shook shaken
steal stole stolen | stick stuck | tear tore torn | wake woke woken | beat beaten | bend bent | bind bound | bite bit bitten
blow blew blown | breed bred | burn burnt | cling clung | creep crept | dig dug | dream dreamt | feed fed | flee fled
fly flew flown | forbid forbade forbidden | forget forgot forgotten | forgive forgave forgiven | freeze froze frozen
grind ground | hang hung | hide hid hidden | hit hit | hurt hurt | lay laid | lean leant | leap leapt | learn learnt
lend lent | lie lay lain | light lit | ring rang rung | shine shone | shoot shot | shrink shrank shrunk | shut shut
sink sank sunk | slide slid | spin spun | split split | spread spread | spring sprang sprung | swear swore sworn
sweep swept | swing swung | weave wove woven | weep wept | wind wound | withdraw withdrew withdrawn
undergo undergoes underwent undergone | overcome overcame | arise arose arisen | awake awoke awoken | bear bore born borne
cast cast | cost cost | bid bid | bet bet | quit quit | rid rid | thrust thrust | burst burst | upset upset
"""
_NOUNS = """
man men | woman women | child children | foot feet | tooth teeth | mouse mice | goose geese | person people | life lives
wife wives | knife knives | half halves | leaf leaves | self selves | shelf shelves | thief thieves | wolf wolves
crisis crises | analysis analyses | basis bases | thesis theses | criterion criteria | phenomenon phenomena
datum data | medium media | index indices | ox oxen
"""
_ADJECTIVES = """
good better best | bad worse worst | far further furthest farther farthest | fine finer finest | simple simpler simplest
free freer freest | fit fitter fittest
"""
_ENDS_IN_E = re.compile(
    r"(?:(?<![eo])at|iz|iv|ov|uc|rc|rs|ns|nc|rg|dg|ng|bl|pl|tl|dl|gl|fl|kl|cl|zl|u|v|c|z|eas|aus|uir|her|hor)$"
)
_KEEPS_NG = re.compile(r"(?:[io]ng|lang|bang|(?<!c)hang)$")
_SHORT = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]$")
_DOUBLED = re.compile(r"([bdgklmnprt])\1$")
_PARTS = {"N": "n", "V": "v", "J": "a", "R": "r"}


def _table(text: str) -> dict[str, tuple[str, ...]]:
    entries = [entry.split() for line in text.strip().splitlines() for entry in line.split("|") if entry.strip()]
    return {entry[0]: tuple(entry[1:]) for entry in entries}


_IRREGULAR = {"v": _table(_VERBS), "n": _table(_NOUNS), "a": _table(_ADJECTIVES)}
_BASES = {part: {form: base for base, forms in table.items() for form in forms} for part, table in _IRREGULAR.items()}


@lru_cache(maxsize=200_000)
def lemma(word: str, tag: str = "") -> str:
    """Return the base form of a word in lower case.

    Parameters
    ----------
    word : str
        The word.
    tag : str, optional
        Its part of speech, of which the first letter counts: N, V, J or R, as in the Penn Treebank. Without it, the
        ending decides.

    Returns
    -------
    str
        The lemma; always something that all forms of a regular word share, if not always a word.

    Examples
    --------
    >>> lemma("Making", "VBG"), lemma("studies", "NNS"), lemma("stopped", "VBD"), lemma("bought", "VBD")
    ('make', 'study', 'stop', 'buy')
    """
    low = word.lower()
    part = _PARTS.get(tag[:1], "")
    irregular = _irregular(low, part)
    if irregular is not None or len(low) < 4 or not low.isalpha():
        return irregular or low
    if part == "v" or (not part and low.endswith(("ing", "ed"))):
        return _verb(low)
    if part == "n" or not part:
        return _noun(low)
    return low


def _irregular(low: str, part: str) -> str | None:
    bases = [_BASES.get(candidate, {}) for candidate in ((part,) if part else ("v", "n"))]
    return next((known[low] for known in bases if low in known), None)


def _noun(low: str) -> str:
    if low.endswith("ies"):
        return low[:-3] + "y"
    if low.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return low[:-2]
    if low.endswith("s") and not low.endswith(("ss", "us", "is")):
        return low[:-1]
    return low


def _verb(low: str) -> str:
    if low.endswith("ing") and re.search("[aeiouy]", low[:-3]):
        return _stem(low[:-3])
    if low.endswith("eed"):
        return low[:-1]
    if low.endswith("ied"):
        return low[:-3] + "y"
    if low.endswith("ed") and re.search("[aeiouy]", low[:-2]):
        return _stem(low[:-2])
    return _noun(low) if low.endswith("s") else low


def _stem(stem: str) -> str:
    if _DOUBLED.search(stem) and not stem.endswith(("all", "ell", "ill", "oll", "ull")):
        return stem[:-1]
    if _ENDS_IN_E.search(stem) and not _KEEPS_NG.search(stem):
        return stem + "e"
    return stem + "e" if _SHORT.match(stem) else stem


def forms(base: str, part: str) -> frozenset[str]:
    """Return the inflected forms of a word, in lower case, itself included.

    Parameters
    ----------
    base : str
        The word in its base form.
    part : {"n", "v", "a"}
        Noun, verb or adjective.

    Returns
    -------
    frozenset of str
        All forms; forms that do not exist (``"runned"``) may be among them.

    Examples
    --------
    >>> sorted(forms("carry", "v"))
    ['carried', 'carries', 'carry', 'carrying']
    """
    forms = {base, *_IRREGULAR.get(part, {}).get(base, ())}
    consonant_y = base.endswith("y") and base[-2:-1] not in "aeiou"
    stem = base[:-1] if base.endswith("e") else base
    if base.endswith("ee"):
        forms.add(base + "ing")
    endings = {"a": ("er", "est"), "n": (), "v": ("ed", "ing")}[part]
    for ending in endings:
        if consonant_y and ending != "ing":
            forms.add(base[:-1] + "i" + ending)
        else:
            forms.add(stem + ending)
            if re.search(r"[^aeiou][aeiou][bdgklmnprt]$", base):
                forms.add(base + base[-1] + ending)
    if part != "a":
        forms.add(_with_s(base, consonant_y))
    return frozenset(forms)


def _with_s(base: str, consonant_y: bool) -> str:
    if consonant_y:
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "sh", "ch", "x", "z")) else "s")
