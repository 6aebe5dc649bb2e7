"""What a report on a comparison contains, and how its numbers are written."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from handful.errors import counted

MINUS = "\N{MINUS SIGN}"
LEVEL = 0.05
# C0, DEL, C1, and what turns the direction of writing.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_ENOUGH_SPLITS = 5  # the interval of fewer says little more than that they are few
CURVE_NOTE = "Learning curves use a few splits, the same at every size; the scores in the table use all splits."


@dataclass(frozen=True)
class Difference:
    """Mean difference of two methods over the splits that they share, with its 95% interval."""

    other: str
    mean: float
    low: float
    high: float
    p_value: float
    n_splits: int

    @property
    def is_positive(self) -> bool:
        """Whether the interval lies above zero."""
        return self.low > 0

    @property
    def is_negative(self) -> bool:
        """Whether the interval lies below zero."""
        return self.high < 0

    @property
    def effect(self) -> str:
        """What it says of unlabeled rows: "helps", "harms", or nothing that is significant."""
        return "harms" if self.is_negative else "helps" if self.is_positive else ""


@dataclass(frozen=True)
class MethodScore:
    """One line of a comparison: a method and its scores.

    Parameters
    ----------
    method : str
        Name of the method.
    uses_unlabeled : bool
        Whether it learns from unlabeled rows.
    control : str or None
        Name of its supervised control: the line that does the same without unlabeled rows.
    cost : str
        Cost class of the method.
    supervised_baseline : bool
        Whether it is one of the supervised methods that others are compared with.
    candidate : bool
        Whether it may be selected.
    listed : bool
        False for a line that is there only as the control of another one.
    scores : mapping of int to float
        Score by split.
    mean, low, high : float
        Mean score with its 95% interval. Methods that were eliminated early have fewer splits: their mean is that of the leader
        plus their difference to it on shared splits.
    p_best : float
        Probability that it is the best candidate.
    p_value : float or None
        Of the difference to the baseline, adjusted for the number of methods.
    difference, gain : Difference or None
        To the best supervised baseline, and to the supervised control.
    is_baseline, is_selected : bool
        Whether it is the best supervised baseline, and the selected model.
    fit_seconds, predict_seconds : float
        CPU time of a fit and of 1,000 predictions.
    n_bytes, n_kept : int
        Size of the model, and rows that it stores.
    params : mapping of str to value
        Its parameters.
    """

    method: str
    uses_unlabeled: bool = False
    control: str | None = None
    cost: str = "quick"
    supervised_baseline: bool = False
    candidate: bool = True
    listed: bool = True
    scores: Mapping[int, float] = field(default_factory=dict)
    mean: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p_best: float = 0.0
    p_value: float | None = None
    difference: Difference | None = None
    gain: Difference | None = None
    is_baseline: bool = False
    is_selected: bool = False
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    n_bytes: int = 0
    n_kept: int | None = None
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_splits(self) -> int:
        """Number of splits that it was scored on."""
        return len(self.scores)

    @property
    def is_better(self) -> bool:
        """Whether it is significantly better than the best supervised baseline."""
        return self._is_significant and self.difference is not None and self.difference.mean > 0

    @property
    def is_worse(self) -> bool:
        """Whether it is significantly worse than the best supervised baseline."""
        return self._is_significant and self.difference is not None and self.difference.mean < 0

    @property
    def _is_significant(self) -> bool:
        return self.p_value is not None and self.p_value < LEVEL

    def as_dict(self) -> dict[str, Any]:
        """Return its fields as plain values."""
        return {**asdict(self), "scores": {str(split): score for split, score in self.scores.items()}}


@dataclass(frozen=True)
class MajorityClass:
    """The most frequent class, how many labels it has, and the score of always predicting it."""

    label: str
    n_labels: int
    n_all: int
    score: float

    def sentence(self, low: float | None = None) -> str:
        """Return the score in words, and a warning if the interval of the selected model does not begin above it.

        Examples
        --------
        >>> MajorityClass("kept", 35, 45, 0.778).sentence(0.8)
        "Always predicting 'kept' (35 of 45 labels) scores 78%."
        """
        labels = f"{self.n_labels:,} of {counted(self.n_all, 'label')}"
        text = f"lways predicting {self.label!r} ({labels}) scores {in_percent(self.score, self.n_all)}%."
        if low is None or low > self.score:
            return f"A{text}"
        return f"The selected model may be no better than guessing: a{text}"


@dataclass(frozen=True)
class Curve:
    """Score of one method by number of labels."""

    name: str
    n_labels: tuple[int, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Confusion:
    """Confusion matrix over all splits: true classes by predictions."""

    name: str
    classes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Report:
    """All that a report on a comparison contains.

    Parameters
    ----------
    title, metric, state : str
        Name of the data, what is scored, and how the run ended.
    selected : str
        The selected model.
    selection, unlabeled : str
        One sentence each on the selected model and on the benefit of unlabeled rows.
    unlabeled_help : bool
        Whether that benefit is significant.
    warnings, notes : tuple of str
        What else to know.
    baseline : str or None
        The best supervised baseline.
    unit : str
        What is counted along a learning curve: labels, sentences or contexts.
    n_labels : int
        How many were used for training.
    facts : mapping of str to value
        Numbers of rows, labels, classes, splits.
    columns : mapping of str to str
        Kind of each feature column.
    methods : tuple of MethodScore
        The ranking.
    curves : tuple of Curve
        Learning curves.
    confusions : tuple of Confusion
        Of the selected model, the baseline and the best method that uses unlabeled rows.
    left_out : mapping of str to str
        Methods that were not scored, and why.
    command : str
        How to repeat it.
    versions : mapping of str to str
        Versions of packages.
    majority : MajorityClass or None
        The most frequent class.
    summary : str
        One line that says whether the selected model is usable.
    """

    title: str
    metric: str
    state: str
    selected: str
    selection: str
    unlabeled: str
    unlabeled_help: bool
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    baseline: str | None
    unit: str
    n_labels: int
    facts: Mapping[str, Any]
    columns: Mapping[str, str]
    methods: tuple[MethodScore, ...]
    curves: tuple[Curve, ...]
    confusions: tuple[Confusion, ...]
    left_out: Mapping[str, str]
    command: str
    versions: Mapping[str, str]
    majority: MajorityClass | None = None
    summary: str = ""

    @property
    def n_all(self) -> int | None:
        """Number of labels that scores are of; None if unknown."""
        return None if self.majority is None else self.majority.n_all

    @property
    def verdict(self) -> str:
        """Both sentences."""
        return f"{self.selection} {self.unlabeled}".strip()

    @property
    def absences(self) -> list[str]:
        """One sentence for all methods that were left out for the same reason."""
        by_reason: dict[str, list[str]] = {}
        for name, reason in self.left_out.items():
            by_reason.setdefault(reason, []).append(name)
        return [f"Not compared: {', '.join(names)} ({reason.rstrip('.')})." for reason, names in by_reason.items()]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {**asdict(self), "methods": [score.as_dict() for score in self.methods], "verdict": self.verdict}


def in_percent(score: float, n: int | None = None) -> str:
    """Return a score between 0 and 1 as percent, in whole percents where it is of fewer than 100 labels.

    Examples
    --------
    >>> in_percent(0.8271), in_percent(0.8271, 40)
    ('82.7', '83')
    """
    return f"{100 * score:.0f}" if n is not None and n < 100 else f"{100 * score:.1f}"


def score_range(low: float, high: float, n: int | None = None) -> str:
    """Return an interval of scores.

    Examples
    --------
    >>> score_range(0.8, 0.9)
    '80.0\N{EN DASH}90.0'
    """
    return f"{in_percent(low, n)}\N{EN DASH}{in_percent(high, n)}"


def signed(difference: float) -> str:
    """Return a difference of scores in points, with its sign.

    Examples
    --------
    >>> signed(0.041), signed(-0.0001), signed(0.0)
    ('+4.1', '0.0', '0.0')
    """
    text = f"{100 * difference:+.1f}"
    return "0.0" if float(text) == 0 else text.replace("-", MINUS)


def p_value(p: float | None) -> str:
    """Return a p-value.

    Examples
    --------
    >>> p_value(0.0004), p_value(0.034), p_value(None)
    ('<.001', '.034', '')
    """
    if p is None:
        return ""
    if p < 0.001:
        return "<.001"
    return "1" if p > 0.9995 else f"{p:.3f}".lstrip("0")


def size(n_bytes: float) -> str:
    """Return a number of bytes.

    Examples
    --------
    >>> size(2_300), size(5_000_000), size(3_000_000_000)
    ('2.3 kB', '5.0 MB', '3.0 GB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.1f} {unit}"
    return f"{n_bytes / 1e3:.0f} kB" if n_bytes >= 9_500 else f"{n_bytes / 1e3:.1f} kB"


def seconds(value: float) -> str:
    """Return a duration.

    Examples
    --------
    >>> seconds(0.0123), seconds(2.5), seconds(150)
    ('12 ms', '2.5 s', '2.5 min')
    """
    if value < 0.9995:
        return f"{1000 * value:.{1 if value < 0.0095 else 0}f} ms"
    return f"{value:.1f} s" if value < 100 else f"{value / 60:.1f} min"


def bounds(difference: Difference) -> str:
    """Return the interval of a difference, or the number of its splits where they are too few for one.

    Examples
    --------
    >>> bounds(Difference("k-nn", 0.02, 0.01, 0.03, 0.04, 5))
    '+1.0 to +3.0'
    >>> bounds(Difference("k-nn", 0.02, -0.91, 0.95, 0.9, 3))
    '3 splits'
    """
    if difference.n_splits < _ENOUGH_SPLITS:
        return counted(difference.n_splits, "split")
    return f"{signed(difference.low)} to {signed(difference.high)}"


def probability(value: float) -> str:
    """Return a probability as percent.

    Examples
    --------
    >>> probability(0.714), probability(0.001)
    ('71%', '<1%')
    """
    return "<1%" if value < 0.005 else f"{100 * value:.0f}%"


def mark(score: MethodScore) -> str:
    """Return "baseline", or "better" or "worse" where the difference to it is significant."""
    if score.is_baseline:
        return "baseline"
    return "better" if score.is_better else "worse" if score.is_worse else ""


def difference(score: MethodScore) -> str:
    """Return the difference to the baseline in points."""
    if score.is_baseline:
        return "baseline"
    return "" if score.difference is None else signed(score.difference.mean)


def gain(score: MethodScore) -> str:
    """Return what unlabeled rows add to a method, with the interval."""
    return "" if score.gain is None else f"{signed(score.gain.mean)} ({bounds(score.gain)})"


RANKING = ("score", "95% CI", "P(best)", "vs. baseline", "p", "unlabeled rows add", "splits", "model", "fit")
"""Headings of the ranking."""


def ranking_cells(score: MethodScore, n: int | None = None) -> dict[str, str]:
    """Return the cells of a method in the ranking, by heading."""
    cells = (
        in_percent(score.mean, n),
        score_range(score.low, score.high, n),
        probability(score.p_best),
        difference(score),
        p_value(score.p_value),
        gain(score),
        str(score.n_splits),
        size(score.n_bytes),
        seconds(score.fit_seconds),
    )
    return dict(zip(RANKING, cells, strict=True))


def visible_line(text: str) -> str:
    r"""Return a text in one line, its control characters written out.

    Examples
    --------
    >>> visible_line("a\nb\x1b[31m")
    'a\\nb\\x1b[31m'
    """
    return _CONTROL.sub(lambda match: match.group().encode("unicode_escape").decode("ascii"), text)


def clipped(name: str, n_letters: int) -> str:
    """Return a name of at most `n_letters` characters.

    Examples
    --------
    >>> clipped("country road", 9), clipped("flat", 9)
    ('country \N{HORIZONTAL ELLIPSIS}', 'flat')
    """
    return name if len(name) <= n_letters else name[: n_letters - 1] + "\N{HORIZONTAL ELLIPSIS}"


def settings(params: Mapping[str, Any]) -> str:
    """Return parameters as ``name=value``.

    Examples
    --------
    >>> settings({"n_neighbors": 3})
    'n_neighbors=3'
    """
    return ", ".join(f"{name}={value}" for name, value in params.items())


def curve_table(curves: Sequence[Curve]) -> tuple[list[int], list[list[str]]]:
    """Return the numbers of labels of learning curves, and each curve's name with its score at each of them."""
    sizes = sorted({size for curve in curves for size in curve.n_labels})
    lines = []
    for curve in curves:
        score_at = dict(zip(curve.n_labels, curve.mean, strict=True))
        lines.append([curve.name, *(in_percent(score_at[size]) if size in score_at else "" for size in sizes)])
    return sizes, lines
