"""Answers on well-known scales, such as never, sometimes, often: names that have an order."""

from __future__ import annotations

from collections.abc import Collection, Sequence

SCALES = (
    (
        "strongly disagree|totally disagree|completely disagree",
        "disagree",
        "somewhat disagree|slightly disagree|rather disagree",
        "neutral|undecided|neither agree nor disagree",
        "somewhat agree|slightly agree|rather agree",
        "agree",
        "strongly agree|totally agree|completely agree",
    ),
    (
        "never",
        "rarely|seldom|hardly ever|almost never",
        "sometimes|occasionally",
        "often|frequently",
        "very often|usually|mostly",
        "always",
    ),
    ("very low", "low", "medium|moderate|middle", "high", "very high"),
    ("very small", "small", "medium", "large|big", "very large|very big"),
    ("very poor|very bad|terrible", "poor|bad", "fair|average|okay|ok", "good", "very good", "excellent"),
    (
        "very dissatisfied|very unsatisfied",
        "dissatisfied|unsatisfied",
        "neutral|neither satisfied nor dissatisfied",
        "satisfied",
        "very satisfied",
    ),
    ("very unlikely", "unlikely", "neutral|undecided", "likely", "very likely"),
    (
        "not important|not at all important|unimportant",
        "slightly important",
        "somewhat important|moderately important",
        "important",
        "very important",
        "extremely important",
    ),
    (
        "stimme gar nicht zu|stimme überhaupt nicht zu|trifft gar nicht zu|trifft überhaupt nicht zu",
        "stimme nicht zu|trifft nicht zu",
        "stimme eher nicht zu|trifft eher nicht zu",
        "teils teils|teils/teils|weder noch|neutral",
        "stimme eher zu|trifft eher zu",
        "stimme zu|trifft zu",
        "stimme voll zu|stimme voll und ganz zu|trifft voll zu|trifft voll und ganz zu",
    ),
    ("nie|niemals", "selten", "manchmal|gelegentlich", "oft|häufig", "sehr oft|meistens", "immer"),
    ("sehr niedrig|sehr gering", "niedrig|gering", "mittel", "hoch", "sehr hoch"),
    (
        "sehr schlecht|ungenügend",
        "schlecht|mangelhaft",
        "ausreichend|mittelmäßig",
        "befriedigend",
        "gut",
        "sehr gut",
    ),
    (
        "pas du tout d'accord",
        "pas d'accord|plutôt pas d'accord",
        "neutre|ni d'accord ni pas d'accord",
        "d'accord|plutôt d'accord",
        "tout à fait d'accord",
    ),
    ("jamais", "rarement", "parfois|quelquefois", "souvent", "très souvent", "toujours"),
    ("très faible", "faible", "moyen|moyenne", "élevé|élevée", "très élevé|très élevée"),
    ("très mauvais", "mauvais", "moyen|passable", "bon", "très bon", "excellent"),
)
"""The steps of each scale, the lowest first; spellings of one step are parted by a bar."""

_NO_ANSWER = frozenset(
    {
        "don't know",
        "not applicable",
        "no answer",
        "prefer not to say",
        "weiß nicht",
        "keine angabe",
        "ne sait pas",
        "sans réponse",
    }
)
_FEWEST_STEPS = 3
_SIGNS = str.maketrans("-_\N{RIGHT SINGLE QUOTATION MARK}", "  '")


def find_scale(values: Collection[str]) -> tuple[str, ...] | None:
    """Return the steps of the scale that all values of a column are on.

    Parameters
    ----------
    values : collection of str
        The different values; upper case, hyphens and underscores make no difference, and ways to give no answer are let be.

    Returns
    -------
    tuple of str or None
        The steps that the column has, in order; None where the values are on no scale, or on three steps of none.

    Examples
    --------
    >>> find_scale(["Often", "never", "Sometimes", "don't know"])
    ('never', 'sometimes|occasionally', 'often|frequently')
    >>> find_scale(["low", "high"]), find_scale(["low", "medium", "tall"])
    (None, None)
    """
    answers = {plain(value) for value in values} - _NO_ANSWER
    if not _FEWEST_STEPS <= len(answers) <= _MOST_ANSWERS:
        return None
    for steps in SCALES:
        spelled = places_of(steps)
        if answers <= spelled.keys():
            taken = sorted({spelled[answer] for answer in answers})
            return tuple(steps[place] for place in taken) if len(taken) >= _FEWEST_STEPS else None
    return None


def places_of(steps: Sequence[str]) -> dict[str, int]:
    """Return the place of each spelling of the steps of a scale.

    Examples
    --------
    >>> places_of(["poor|bad", "good"])
    {'poor': 0, 'bad': 0, 'good': 1}
    """
    return {spelling: place for place, step in enumerate(steps) for spelling in step.split("|")}


def plain(value: str) -> str:
    """Return an answer as scales spell it.

    Examples
    --------
    >>> plain("Strongly_Disagree "), plain("D\N{RIGHT SINGLE QUOTATION MARK}accord")
    ('strongly disagree', "d'accord")
    """
    return " ".join(value.lower().translate(_SIGNS).split())


_MOST_ANSWERS = max(len(places_of(steps)) for steps in SCALES)
