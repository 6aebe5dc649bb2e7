"""Settings of a prototype tagger that the text itself chooses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from handful.core.progress import Progress, Step
from handful.tagging.prototypes.quality import STEPS, recovered_shares
from handful.tagging.prototypes.similarities import Kind, usual_threshold


@dataclass(frozen=True)
class Setting:
    """What is tried: how words are linked, whether their spelling counts, how sticky labels are.

    Parameters
    ----------
    similarity : str
        One of `handful.tagging.prototypes.similarities.KINDS`.
    threshold : float or None
        Words less similar are not linked; None is what is usual for the kind.
    spelling : bool
        Whether the spelling counts.
    sticky : float
        See `PrototypeTagger`.
    """

    similarity: Kind
    threshold: float | None
    spelling: bool
    sticky: float

    def parameters(self, similarities: Callable[[Kind], Any]) -> dict[str, Any]:
        """Return the parameters of a `PrototypeTagger`."""
        threshold = usual_threshold(self.similarity) if self.threshold is None else self.threshold
        return {**asdict(self), "similarity": similarities(self.similarity), "threshold": threshold}


@dataclass(frozen=True)
class Trial:
    """How a setting did.

    Parameters
    ----------
    setting : Setting
        What was tried.
    n_iter : int
        Iterations after which it did best.
    recovered : float
        How probable the label of hidden prototypes became; see `handful.tagging.prototypes.quality.recovered_shares`.
    """

    setting: Setting
    n_iter: int
    recovered: float


def choose_setting(
    first: Setting,
    grid: Mapping[str, Sequence[Any]],
    make: Callable[[Setting], Any],
    sentences: Sequence[Any],
    *,
    steps: Sequence[int] = STEPS,
    random_state: int = 0,
    progress: Progress | None = None,
) -> list[Trial]:
    """Try settings one field after the other, each time going on from the best so far.

    Parameters
    ----------
    first : Setting
        Where to begin.
    grid : mapping of str to sequence
        Values to try of each field of `Setting`, in this order; of values that do equally well the first wins.
    make : callable
        From a setting to an unfitted `PrototypeTagger` with a fitted similarity.
    sentences : list of lists of str
        The text.
    steps, random_state
        See `recovered_shares`.
    progress : callable, optional
        Told of every trial.

    Returns
    -------
    list of Trial
        The best first. Where no prototype can be hidden, the first setting alone.

    Examples
    --------
    >>> from handful.tagging.prototypes import PrototypeTagger
    >>> text = [f"{d} {n} {v}".split() for d in ("the", "a") for n in ("dog", "cat", "cow") for v in ("sat", "ran")]
    >>> lists = {"D": ["the", "a"], "N": ["dog", "cat"], "V": ["sat", "ran"]}
    >>> def make(setting):
    ...     return PrototypeTagger(lists, spelling=setting.spelling)
    >>> first = Setting("none", None, True, 0.0)
    >>> trials = choose_setting(first, {"spelling": (True, False)}, make, text, steps=(20,))
    >>> len(trials), round(trials[0].recovered, 1)
    (2, 1.0)
    """
    total = 1 + sum(len(values) - 1 for values in grid.values())
    trials: dict[Setting, Trial] = {}

    def attempt(setting: Setting) -> Trial:
        if setting not in trials:
            shares = recovered_shares(make(setting), sentences, steps=steps, random_state=random_state)
            best = max(steps, key=lambda step: shares[step])
            trials[setting] = Trial(setting, best, shares[best])
            if progress is not None:
                progress(Step("settings", len(trials), total))
        return trials[setting]

    best = attempt(first)
    if np.isnan(best.recovered):
        return [best]
    for name, values in grid.items():
        tried = [attempt(replace(best.setting, **{name: value})) for value in values]
        best = max([best, *tried], key=lambda trial: trial.recovered)
    return sorted(trials.values(), key=lambda trial: -trial.recovered)
