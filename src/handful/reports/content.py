"""What a report on a comparison says, apart from how it looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from handful.core.counted import counted

USED = " used for training"
"""How the fact ends that tells how many labels, sentences or contexts were learned from."""


@dataclass(frozen=True)
class Row:
    """One method in the table.

    Parameters
    ----------
    name : str
        Name of the method.
    uses_unlabeled : bool
        Whether it learns from unlabeled rows.
    score, low, high : float
        Mean score as if it had been measured on all draws, with its interval.
    measured : float
        Mean score over its own draws.
    expected : float
        The mean score, shrunk toward what was expected beforehand.
    p_best : float
        Probability that it is the best.
    n_draws : int
        Draws it was measured on.
    against : tuple of float or None
        Mean, low and high of the difference to the baseline; None for the baseline.
    p : float or None
        Adjusted p-value of that difference.
    gain : tuple of float or None
        Mean, low and high of the gain over its twin.
    twin : str or None
        That twin.
    n_bytes : int
        Size of the model.
    n_kept : int or None
        Rows that it stores, if it tells.
    fit_seconds, predict_seconds : float
        Time of a fit, and of a thousand answers.
    params : mapping of str to value
        The parameters that were chosen most often.
    """

    name: str
    uses_unlabeled: bool
    score: float
    low: float
    high: float
    measured: float
    expected: float
    p_best: float
    n_draws: int
    against: tuple[float, float, float] | None
    p: float | None
    gain: tuple[float, float, float] | None
    twin: str | None
    n_bytes: int
    n_kept: int | None
    fit_seconds: float
    predict_seconds: float
    params: Mapping[str, Any]


@dataclass(frozen=True)
class BlindGuess:
    """What one scores who always gives the most frequent label.

    Parameters
    ----------
    label : str
        That label.
    n_labels, n_all : int
        How many of all labels it has.
    score : float
        Its score.
    """

    label: str
    n_labels: int
    n_all: int
    score: float

    def sentence(self, low: float | None = None) -> str:
        """Return the score in words, and a warning if the interval of the best bet begins at `low`, not above it.

        Examples
        --------
        >>> BlindGuess("kept", 35, 45, 0.778).sentence(0.8)
        "Always answering 'kept', which 35 of 45 labels are, would score 77.8."
        """
        of = f"which {self.n_labels:,} of {counted(self.n_all, 'label')} are"
        told = f"lways answering {self.label!r}, {of}, would score {100 * self.score:.1f}."
        return (
            f"A{told}"
            if low is None or low > self.score
            else f"The best bet may be no better than a blind guess: a{told}"
        )


@dataclass(frozen=True)
class Curve:
    """Score of one method against the number of labels."""

    name: str
    n_labels: tuple[int, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Confusion:
    """Right classes (lines) against answers (columns), over all draws."""

    name: str
    classes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class DecisionMap:
    """Rows in two dimensions, with the answers of a method and of its twin that saw labels alone.

    Parameters
    ----------
    method, twin : str
        Whose answers.
    x, y : tuple of float
        Place of each row: its first two principal components.
    before, after : tuple of int
        Class by the twin and by the method.
    labeled : tuple of bool
        Whether the row had a label in training.
    classes : tuple of str
        Names of the classes.
    n_rows, n_changed, n_better, n_worse : int
        Rows asked, and how many answers differ; of these, how many of known class became right or wrong.
    """

    method: str
    twin: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    labeled: tuple[bool, ...]
    classes: tuple[str, ...]
    n_rows: int
    n_changed: int
    n_better: int
    n_worse: int


@dataclass(frozen=True)
class Content:
    """All that a report says.

    Parameters
    ----------
    title : str
        Name of the data.
    metric : str
        What is scored.
    state : str
        How the run ended.
    best_bet, proven : str
        What to do, and what is certain of it: one sentence each.
    use : str
        The method to use.
    unlabeled_help : bool
        Whether unlabeled rows help.
    warnings, notes : tuple of str
        What else to know.
    baseline : str or None
        The best plain supervised method.
    facts : mapping of str to value
        Numbers of rows, labels, classes, draws.
    columns : mapping of str to str
        Kind of each feature column.
    rows : tuple of Row
        The ranking, the best first.
    curves : tuple of Curve
        Learning curves.
    confusions : tuple of Confusion
        Of the best methods and the baseline.
    decisions : DecisionMap or None
        Where unlabeled rows changed answers.
    left_out : mapping of str to str
        Methods that did not take part, and why.
    command : str
        How to do it again.
    versions : mapping of str to str
        What it was done with.
    blind_guess : BlindGuess or None
        What one would score who never looks at a row, if that is known.
    """

    title: str
    metric: str
    state: str
    best_bet: str
    proven: str
    use: str
    unlabeled_help: bool
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    baseline: str | None
    facts: Mapping[str, Any]
    columns: Mapping[str, str]
    rows: tuple[Row, ...]
    curves: tuple[Curve, ...]
    confusions: tuple[Confusion, ...]
    decisions: DecisionMap | None
    left_out: Mapping[str, str]
    command: str
    versions: Mapping[str, str]
    blind_guess: BlindGuess | None = None

    @property
    def verdict(self) -> str:
        """Both sentences."""
        return f"{self.best_bet} {self.proven}".strip()

    @property
    def learned_from(self) -> str:
        """What is counted along a learning curve: labels, sentences or contexts."""
        return next((what.removesuffix(USED) for what in self.facts if what.endswith(USED)), "labels")

    @property
    def absences(self) -> list[str]:
        """One sentence for all methods that stayed out for the same reason."""
        by_reason: dict[str, list[str]] = {}
        for name, why in self.left_out.items():
            by_reason.setdefault(why, []).append(name)
        return [f"{', '.join(names)} did not take part: {why}" for why, names in by_reason.items()]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {**asdict(self), "verdict": self.verdict}
