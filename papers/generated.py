"""Generated samples: points and apartment ads."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate
from typing import Generic, TypeVar

import numpy as np

from handful.data.records import Sentence
from handful.errors import ParameterError

T = TypeVar("T")

RandomState = int | np.random.Generator | np.random.RandomState | None


def generator(who: str, random_state: RandomState) -> np.random.Generator:
    """Return numpy's generator for a seed, or the generator that was passed.

    Parameters
    ----------
    who : str
        Name of the function that asks, for the error message.
    random_state : int, Generator, RandomState or None
        The seed; None draws a fresh one.

    Returns
    -------
    numpy.random.Generator
        Where all randomness of one sample comes from.

    Examples
    --------
    >>> generator("doc", 7).integers(100) == generator("doc", 7).integers(100)
    np.True_
    """
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ParameterError(
            f"{who}: random_state must be None, a non-negative integer or a numpy generator, got {random_state!r}."
        ) from None


def source(who: str, random_state: RandomState) -> random.Random:
    """Return a source of single draws; for these the standard library is far quicker than numpy.

    Parameters
    ----------
    who : str
        Name of the function that asks, for the error message.
    random_state : int, Generator, RandomState or None
        The seed; None draws a fresh one.

    Returns
    -------
    random.Random
        Seeded from `random_state`.

    Examples
    --------
    >>> source("doc", 7).random() == source("doc", 7).random()
    True
    """
    return random.Random(int(generator(who, random_state).integers(2**63)))


def check_count(who: str, name: str, value: int, least: int = 0) -> None:
    """Raise if a number of things to make is no integer of at least `least`.

    Parameters
    ----------
    who, name : str
        The function and its parameter, for the error message.
    value : int
        What was passed.
    least : int, default=0
        Smallest legal value.

    Examples
    --------
    >>> check_count("make_things", "n_things", 3)
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(f"{who}: {name} must be an integer of at least {least}, got {value!r}.")


def zipf(n: int, exponent: float = 1.0, shift: float = 2.0) -> list[float]:
    """Return the weights ``1 / (rank + shift) ** exponent`` of `n` ranks (Zipf's law in Mandelbrot's form).

    Parameters
    ----------
    n : int
        Number of ranks.
    exponent, shift : float
        Steepness of the tail, flatness of the head.

    Returns
    -------
    list of float
        Weights that fall with the rank; not normalized.

    Examples
    --------
    >>> zipf(3, shift=0.0)
    [1.0, 0.5, 0.3333333333333333]
    """
    return [(rank + shift) ** -exponent for rank in range(1, n + 1)]


class Pool(Generic[T]):
    """Things to draw from, each with a weight.

    Parameters
    ----------
    items : iterable
        What can be drawn.
    weights : sequence of float or None
        As long as `items`; None means equal weights.

    Examples
    --------
    >>> Pool(["a", "b"], [1.0, 0.0]).pick(random.Random(0))
    'a'
    """

    __slots__ = ("_cumulative", "items")

    def __init__(self, items: Iterable[T], weights: Sequence[float] | None = None) -> None:
        self.items = tuple(items)
        self._cumulative = list(accumulate(weights or [1.0] * len(self.items)))

    def pick(self, rng: random.Random) -> T:
        """Draw one item.

        Parameters
        ----------
        rng : random.Random
            Source of randomness.

        Returns
        -------
        object
            One of `items`.
        """
        return self.items[bisect_right(self._cumulative, rng.random() * self._cumulative[-1])]


GAUSSIAN_MEANS = ((2.0, 5.0), (6.0, 5.0))
GAUSSIAN_SDS = (1.0, 2.0)
MOON_CENTERS = ((6.0, 5.5), (11.0, 6.5))
MOON_RADIUS = 5.0


def make_two_gaussians(
    n_samples: int = 400, random_state: RandomState = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make two Gaussian clouds with one labeled point each (simulated set 1 of Liu et al.).

    The means are (2, 5) and (6, 5); the standard deviations are 1 along the first axis and 2 along the second, so
    the clouds are tall, and near each other where it matters.

    Parameters
    ----------
    n_samples : int, default=400
        Number of points, at least 2; an odd one goes to the first class.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the points and of the order of the rows.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points, in random order.
    y : ndarray of shape (n_samples,)
        0 or 1 for the labeled point of each class, -1 for all others.
    y_true : ndarray of shape (n_samples,)
        The class of every point.

    Notes
    -----
    The paper does not say which points are labeled. Here it is the point nearest to the mean of its class; of
    equally near ones the first row.

    Examples
    --------
    >>> X, y, y_true = make_two_gaussians(random_state=0)
    >>> X.shape, sorted(y[y != -1].tolist()), np.bincount(y_true).tolist()
    ((400, 2), [0, 1], [200, 200])
    """
    check_count("make_two_gaussians", "n_samples", n_samples, 2)
    rng = generator("make_two_gaussians", random_state)
    y_true = rng.permutation(np.arange(n_samples) % 2)
    centers = np.array(GAUSSIAN_MEANS)
    X = centers[y_true] + np.array(GAUSSIAN_SDS) * rng.standard_normal((n_samples, 2))
    return X, _label_nearest(X, y_true, centers), y_true


def make_two_moons(n_samples: int = 102, random_state: RandomState = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make two interleaved half circles with one labeled point each (simulated set 2 of Liu et al.).

    The centers are (6, 5.5) and (11, 6.5), the radius is 5.

    Parameters
    ----------
    n_samples : int, default=102
        Number of points, at least 2; an odd one goes to the first moon.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of the rows; the points themselves are fixed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points, in random order.
    y : ndarray of shape (n_samples,)
        0 or 1 for the labeled point of each moon, -1 for all others.
    y_true : ndarray of shape (n_samples,)
        The moon of every point.

    Notes
    -----
    The paper gives centers, radius and number of points only. Here the first moon is an upper, the second a lower
    half circle, both ends included, with points at equal angles and no noise. The labeled point is the one nearest
    to the middle of its arc; of equally near ones the first row.

    Examples
    --------
    >>> X, y, y_true = make_two_moons(random_state=0)
    >>> X[y == 0].round(6).tolist(), X[y == 1].round(6).tolist()
    ([[6.0, 10.5]], [[11.0, 1.5]])
    """
    check_count("make_two_moons", "n_samples", n_samples, 2)
    rng = generator("make_two_moons", random_state)
    moons = []
    for (x, y0), size, side in zip(MOON_CENTERS, ((n_samples + 1) // 2, n_samples // 2), (1, -1), strict=True):
        angles = np.linspace(np.pi, 0, size)
        moons.append(np.column_stack([x + MOON_RADIUS * np.cos(angles), y0 + side * MOON_RADIUS * np.sin(angles)]))
    order = rng.permutation(n_samples)
    X = np.concatenate(moons)[order]
    y_true = np.repeat([0, 1], [len(moon) for moon in moons])[order]
    middles = np.array(MOON_CENTERS) + [[0.0, MOON_RADIUS], [0.0, -MOON_RADIUS]]
    return X, _label_nearest(X, y_true, middles), y_true


def _label_nearest(X: np.ndarray, y_true: np.ndarray, centers: np.ndarray) -> np.ndarray:
    y = np.full(len(X), -1)
    for label, center in enumerate(centers):
        members = np.flatnonzero(y_true == label)
        y[members[np.argmin(((X[members] - center) ** 2).sum(axis=1))]] = label
    return y


PHRASES: dict[str, str] = {
    "FEATURES": """
        <adj> <room> with <item>
        <item>
        <adj> <item>
        <item> and <item>
        <adj> <room>
        <room> has <adj> <item> and <item>
        <item> in <room>
        <item> throughout
        plenty of <item>
        newly remodeled <room>
        lots of <light>
        <light>
        <parking>
        <laundry>
        the <place> has <item> , <item> and <item>
        <item> , <item>
        <view> view from the <room>
        <floor> floor unit in a <adj> <adj> building
        several <adj> closets
        shared <outside>
        private <outside>
        <adj> <adj> <place> with <item> and <adj> <item>
        high ceilings and <item>
        you will love the <adj> <room>
    """,
    "SIZE": """
        <num> <bed> / <num> <bath>
        <num> <bed> <num> <bath>
        <num> <bed> <place>
        <adj> <num> <bed> <num> <bath> <place>
        <feet> sq ft
        approx <feet> square feet
        <adj> studio
        <num> <adj> bedrooms and <num> full <bath>
        <num> <bed> , <num> <bath> , <feet> sq ft
        one <bed> in a <num> <bed> <place>
    """,
    "RENT": """
        $ <rent> / month
        $ <rent> per month
        rent is $ <rent> a month
        $ <rent> rent plus $ <fee> <security> deposit
        asking $ <rent> / mo
        $ <rent>
        <security> deposit is $ <fee>
        <term> lease
        first and last month plus deposit due at move in
        only $ <rent> with a <term> lease
        rent reduced to $ <rent>
        pet deposit $ <fee>
    """,
    "NEIGHBORHOOD": """
        close to <amenity> and <amenity>
        near <amenity>
        walking distance to <amenity> , <amenity> and <amenity>
        <adj> <adj> neighborhood
        in the heart of <area>
        minutes from <area> and <amenity>
        easy access to <amenity>
        <num> blocks to <amenity>
        just <num> blocks from <area> <amenity>
        <adj> tree lined street in <area>
        located in <adj> <area>
        <amenity> , <amenity> and <amenity> nearby
        on a <adj> street near <amenity>
        convenient to <amenity> and <amenity>
    """,
    "CONTACT": """
        call <person> at *phone*
        please call *phone*
        email *email*
        call <person> or email *email*
        to view call *phone* after *time*
        please leave a message for <person>
        contact <person> for an appointment
        open house <day> *time* to *time*
        shown by appointment only
        call today to see this <place>
        ask for <person> at *phone* ext <num>
        fax application to *phone*
    """,
    "AVAILABLE": """
        available now
        available *date*
        available immediately
        ready to move in *date*
        move in <when>
        vacant and ready <when>
        <term> lease begins *date*
        available <when> or *date*
    """,
    "UTILITIES": """
        <utility> and <utility> included
        tenant pays <utility> and <utility>
        owner pays <utility>
        all utilities included
        <utility> , <utility> and <utility> are paid
        utilities are about $ <bill> a month
        includes <utility>
        utilities not included
    """,
    "RESTRICTIONS": """
        no pets
        no smoking
        no pets or smoking please
        <pet> ok with deposit
        <pet> considered with extra rent
        sorry no <pet>
        credit check and references required
        non smoker only
        no <pet> , no smoking , no drugs
        must have good credit and <adj> references
        <pet> negotiable
    """,
    "ROOMATES": """
        looking for a <manner> <mate> to share the <place>
        i am a <manner> <job> who works in <area>
        share <room> and <room> with <num> <manner> <mate>
        we are <num> <manner> people with <pet>
        seeking a <manner> and <manner> <mate>
        the <mate> should be <manner> and employed
        you would have your own <room>
        must be <manner> and like <pet>
    """,
    "PHOTOS": """
        photos at *url*
        see pictures at *url*
        click here for more photos
        for a virtual tour visit *url*
        email for pictures
        floor plan and images at *url*
    """,
    "ADDRESS": """
        <number> <street> <way>
        <number> <street> <way> # <num>
        located at <number> <street> <way> in <area>
        <street> <way> at <ordinal> <way>
        <street> near <ordinal> <way>
        cross streets are <street> and <ordinal>
    """,
    "OTHER": """
        this one will not last
        equal housing opportunity
        thank you for looking
        must see to appreciate
        a rare find
        this is the one you want
        sorry no agents
        serious people only please
        you will love it here
        new on the market
    """,
    "adj": "large\nspacious\nnew\nquiet\nsunny\nbeautiful\nclean\ngreat\nnice\ncozy\nbright\nlovely\nupdated\n"
    "safe\ncharming\n<quality>\nmodern\nfull\nsecluded\nelegant\nhuge",
    "room": "kitchen\nliving room\nbedroom\nbathroom\ndining room\nmaster bedroom\nfamily room\nhallway\nden\nstudy",
    "item": "hardwood floors\nnew carpet\ndishwasher\ngas stove\nrefrigerator\nfireplace\nwalk in closets\n"
    "<parking>\n<laundry>\ngranite counters\n<thing>\nceiling fans\nnew paint\ncentral heat\n"
    "air conditioning\nlarge windows\nmicrowave\n<outside>\ntile floors\nfrench doors\nstorage room\n"
    "cable ready\nhigh speed internet\noak cabinets\nbreakfast bar\nmini blinds\nskylights\ngas heat\n"
    "hot tub\nsecurity system\ncrown molding\n<quality> <thing>",
    "light": "natural light\nmorning sun\nlight and air\nsunny windows\nstorage space",
    "parking": "<num> car garage\noff street parking\ncovered parking\nparking available for $ <bill> a month\n"
    "street parking\ngarage parking\nassigned parking space\ncarport",
    "laundry": "laundry in building\nwasher and dryer\ncoin laundry\nlaundry room\nwasher dryer hookups\n"
    "laundry on site",
    "outside": "deck\npatio\nyard\nbalcony\ngarden\npool\nbackyard\ncourtyard\nrooftop terrace\ngym",
    "view": "bay\ngarden\ncity\nwater\nstreet\npark\nhill",
    "place": "apartment\nunit\nhouse\nhome\ncondo\nflat\nduplex\ncottage\nloft\ntownhouse",
    "floor": "top\n2nd\nground\n3rd\nupper",
    "bed": "br\nbedroom\nbed\nbd\nbedrooms",
    "bath": "ba\nbath\nbaths\nbathroom\nbath\nhalf bath",
    "security": "security\n\nrefundable\ncleaning",
    "term": "1 year\n6 month\nmonth to month\none year\nshort term\n12 month",
    "amenity": "shopping\nparks\npublic transportation\ndowntown\nrestaurants\nfreeway\nthe bus\nschools\n"
    "the train\ncafes\n<thing>\nthe beach\nthe university\ngrocery stores\n<area>\nhospital\nthe park\n"
    "highway <ordinal>\nlibrary\nmovie theater\nbike trails\nthe lake\nfarmers market",
    "day": "saturday\nsunday\nweekends\nfriday\ntomorrow",
    "when": "now\nimmediately\nthis weekend\nnext month\nsoon\ntoday\nafter *date*",
    "utility": "water\ngarbage\ngas\nelectricity\nheat\ncable\ntrash\nhot water\ninternet\nsewer\nphone",
    "pet": "cats\ndogs\npets\nsmall dog\ncat\nlarge dogs\nbirds",
    "manner": "clean\nquiet\nresponsible\nfriendly\nrespectful\neasy going\nneat\nmature\ntidy",
    "mate": "roommate\nhousemate\nperson\ntenant\nprofessional\nstudent",
    "job": "student\nteacher\nprofessional\nnurse\nartist\nengineer",
    "way": "st\nave\nstreet\nblvd\nroad\nlane\ndrive\ncourt",
    "num": "2\n1\n3\n4\ntwo\n5\n6\n1.5\nthree",
}

PROTOTYPES: dict[str, list[str]] = {
    "FEATURES": ["floors", "garage", "closets"],
    "SIZE": ["sq", "ft", "br"],
    "RENT": ["rent", "asking", "per"],
    "NEIGHBORHOOD": ["close", "blocks", "neighborhood"],
    "CONTACT": ["call", "*phone*", "appointment"],
    "AVAILABLE": ["available", "immediately", "*date*"],
    "UTILITIES": ["utilities", "garbage", "pays"],
    "RESTRICTIONS": ["smoking", "credit", "references"],
    "ROOMATES": ["roommate", "share", "responsible"],
    "PHOTOS": ["photos", "pictures", "*url*"],
    "ADDRESS": ["ave", "st", "#"],
    "BOUNDARY": [".", "!", ";"],
}


APARTMENT_FIELDS: tuple[str, ...] = tuple(name for name in PHRASES if name.isupper())
"""The twelve labels of `make_apartment_ads`."""

APARTMENT_PROTOTYPES: dict[str, list[str]] = PROTOTYPES
"""Three words for each of eleven fields and for the punctuation between fields; OTHER has none.

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
    twelve fields, lower case, long sticky runs with FEATURES in almost half of all words, punctuation between the runs,
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
    from papers.generated_english import lexicon  # which draws its words with `Pool`

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
