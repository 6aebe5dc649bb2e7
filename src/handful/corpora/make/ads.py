"""Apartment ads whose words are labeled with the field they belong to."""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import cache

from handful.core.records import Sentence
from handful.corpora.make.ad_phrases import PHRASES, PROTOTYPES
from handful.corpora.make.draws import Pool, RandomState, check_count, source, zipf
from handful.corpora.make.lexicon import lexicon

APARTMENT_FIELDS: tuple[str, ...] = tuple(name for name in PHRASES if name.isupper())
"""The twelve labels of `make_apartment_ads`."""

APARTMENT_PROTOTYPES: dict[str, list[str]] = PROTOTYPES
"""Three words for each of eleven fields and for the marks between fields; OTHER has none.

BOUNDARY is no field: a token tagged so takes the field before it.
"""

# For each field: chances of a first, second, third run; mean number of phrases in a run; usual place in the ad.
_PLANS: dict[str, tuple[tuple[float, ...], float, float]] = {
    "SIZE": ((0.95, 0.35), 1.3, 1.0),
    "NEIGHBORHOOD": ((0.8, 0.35), 2.0, 2.5),
    "ADDRESS": ((0.5,), 1.1, 2.0),
    "RENT": ((0.9, 0.35), 1.8, 2.8),
    "FEATURES": ((1.0, 0.65, 0.25), 5.2, 4.0),
    "ROOMATES": ((0.16,), 3.0, 4.5),
    "UTILITIES": ((0.5,), 1.3, 5.5),
    "RESTRICTIONS": ((0.55,), 1.5, 6.0),
    "AVAILABLE": ((0.6,), 1.1, 6.0),
    "OTHER": ((0.3,), 1.4, 6.5),
    "PHOTOS": ((0.25,), 1.1, 7.0),
    "CONTACT": ((0.85, 0.15), 1.9, 8.0),
}
_PLACE_NOISE = 1.4
_STRAY_SHARE = 0.06  # phrases after the first of a run that really belong to another field
_STRAYS = Pool(["FEATURES", "NEIGHBORHOOD", "SIZE", "OTHER", "RENT", "UTILITIES"], [6, 4, 2, 2, 1, 1])
_WITHIN = Pool([",", ".", "!", "and", "-", ";", ""], [46, 22, 4, 8, 5, 4, 11])
_BETWEEN = Pool([".", ",", "!", ";", "-", "..", ""], [44, 14, 12, 8, 6, 4, 12])


def make_apartment_ads(n_ads: int = 100, random_state: RandomState = None) -> list[Sentence]:
    """Make apartment ads, each a sequence of runs of words that belong to one field.

    They stand in for the classified ads of Grenager, Klein and Manning (2005), which are not freely to be had:
    twelve fields, lower case, long sticky runs with FEATURES in almost half of all words, marks between the runs,
    some phrases that stray into a run of another field,
    telephone numbers and the like collapsed into ``*phone*``, ``*email*``, ``*url*``, ``*date*`` and ``*time*``.

    Parameters
    ----------
    n_ads : int, default=100
        How many.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the ads.

    Returns
    -------
    list of Sentence
        One for each ad, with the column ``field``. A mark after a run carries the label of that run.

    Notes
    -----
    Cost: linear in the number of words, a few microseconds each.

    Examples
    --------
    >>> ad = make_apartment_ads(1, random_state=0)[0]
    >>> len(ad) == len(ad["field"]), set(ad["field"]) <= set(APARTMENT_FIELDS)
    (True, True)
    """
    check_count("make_apartment_ads", "n_ads", n_ads)
    rng = source("make_apartment_ads", random_state)
    pools = _pools()
    return [_AdWriter(rng, pools).write() for _ in range(n_ads)]


class _AdWriter:
    """Writes one ad; no phrase or word follows its like at once ("gas and gas")."""

    def __init__(self, rng: random.Random, pools: dict[str, Pool[tuple[str, ...]]]) -> None:
        self._rng = rng
        self._pools = pools
        self._last: dict[str, tuple[str, ...]] = {}
        self._tokens: list[str] = []

    def write(self) -> Sentence:
        rng = self._rng
        runs = [
            (place + rng.gauss(0, _PLACE_NOISE), field)
            for field, (chances, _, place) in _PLANS.items()
            for chance in chances
            if rng.random() < chance
        ]
        fields: list[str] = []
        for _, field in sorted(runs):
            self._expand(field)
            while rng.random() < 1 - 1 / _PLANS[field][1]:
                self._tokens += filter(None, [_WITHIN.pick(rng)])
                self._expand(_STRAYS.pick(rng) if rng.random() < _STRAY_SHARE else field)
            self._tokens += filter(None, [_BETWEEN.pick(rng)])
            fields += [field] * (len(self._tokens) - len(fields))
        return Sentence(tuple(self._tokens), {"field": tuple(fields)})

    def _expand(self, symbol: str) -> None:
        pool = self._pools[symbol]
        line = pool.pick(self._rng)
        while line == self._last.get(symbol):
            line = pool.pick(self._rng)
        self._last[symbol] = line
        for part in line:
            if part[0] == "<":
                self._expand(part[1:-1])
            else:
                self._tokens.append(part)


# Numbers that advertisements name, from the smallest on.
_NUMBERS = {
    "number": range(100, 4000, 7),
    "rent": range(600, 3500, 25),
    "fee": range(200, 2500, 50),
    "bill": range(25, 200, 5),
    "feet": range(450, 2400, 25),
}


def _long(words: Iterable[str]) -> list[str]:
    return [word for word in words if len(word) > 6]


@cache
def _pools() -> dict[str, Pool[tuple[str, ...]]]:
    words = lexicon()
    lines = {name: [line.strip() for line in text.strip().split("\n")] for name, text in PHRASES.items()}
    for name, pool in (("area", words.places), ("street", words.last_names), ("person", words.first_names)):
        lines[name] = [item.lower() for item in pool.items]
    lines["thing"] = _long(noun.plural for noun in words.nouns["thing", 0].items)[:120]
    lines["quality"] = _long(words.adjectives["thing", 0].items)
    lines["ordinal"] = [f"{n}th" for n in range(4, 30)]
    lines |= {name: list(map(str, numbers)) for name, numbers in _NUMBERS.items()}
    shifts = {"rent": 400.0, "fee": 400.0, "number": 4000.0, "feet": 400.0, "bill": 100.0, "ordinal": 20.0}
    return {
        name: Pool([tuple(line.split()) for line in options], zipf(len(options), 0.9, shifts.get(name, 3.0)))
        for name, options in lines.items()
    }
