"""What trials on corpora share, be it of taggers or of models of word senses."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from handful.core.catalogue import cards, get_card
from handful.core.errors import ParameterError
from handful.core.registry import Card, Takes
from handful.experiment.arena import Arena
from handful.experiment.entrants import Entrant, choose_entrants
from handful.experiment.splits import Budget
from handful.experiment.trial import Cost, Pilot, Task

_PILOT_SHARE = 10


class CorpusDraws:
    """Repeated draws of sentences or contexts: five folds are tested in turn, then dealt anew.

    Parameters
    ----------
    n_units : int
        Sentences or contexts in all.
    n_labels : int
        Labeled ones to learn from.
    seed : int
        Seed.

    Examples
    --------
    >>> train, hidden, test = CorpusDraws(20, 8, 0).parts(0, 4)
    >>> len(train), len(hidden), len(test)
    (4, 12, 4)
    """

    n_folds = 5
    pool_share = 0.25

    def __init__(self, n_units: int, n_labels: int, seed: int) -> None:
        self.n_units = n_units
        self.n_labels = n_labels
        self._seed = seed
        self.sizes = sorted({size for size in (n_labels // 4, n_labels // 2, n_labels) if size >= 2})

    @classmethod
    def of(cls, labels: str | int | None, n_units: int, seed: int, units: str) -> CorpusDraws:
        """Return draws with as many labels as were asked for; by default with all that are not tested."""
        pool = n_units - math.ceil(n_units / cls.n_folds)
        if labels is None:
            return cls(n_units, pool, seed)
        budget = Budget.parse(labels)
        if budget.unit == "per class":
            raise ParameterError(f"labels must be like 10% or 20 for {units}, got so many of each class.")
        wanted = round(budget.amount * n_units if budget.unit == "share" else budget.amount)
        if not 2 <= wanted <= pool:
            raise ParameterError(
                f"labels must be between 2 and the training part of the {units} ({pool}), got {wanted}."
            )
        return cls(n_units, int(wanted), seed)

    def parts(self, draw: int, n_labels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what to learn from, what has its labels hidden, and what is tested."""
        number, fold = divmod(draw, self.n_folds)
        order = np.random.default_rng([self._seed, number]).permutation(self.n_units)
        tested = np.arange(self.n_units) % self.n_folds == fold
        pool = np.random.default_rng([self._seed, number, fold]).permutation(order[~tested])
        return np.sort(pool[:n_labels]), np.sort(pool[n_labels:]), np.sort(order[tested])


class CorpusArena(Arena):
    """Trials on one corpus; what a trial is, a class for a kind of corpus says.

    Parameters
    ----------
    name : str
        Name of the corpus.
    metric : str
        What is scored.
    draws : CorpusDraws
        What is learned from and tested.
    seed : int
        Seed.
    """

    takes: Takes

    def __init__(self, name: str, metric: str, draws: CorpusDraws, seed: int) -> None:
        super().__init__(name, metric, seed)
        self.draws = draws

    @property
    @abstractmethod
    def facts(self) -> Mapping[str, Any]:
        """What a report says of the corpus."""

    @property
    @abstractmethod
    def key(self) -> Sequence[Any]:
        """All that outcomes depend on, for the journal."""

    @property
    def columns(self) -> Mapping[str, str]:
        """Columns of the corpus, where it has some."""
        return {}

    def entrants(self, methods: Sequence[str] | None) -> tuple[Entrant, ...]:
        """Return those who take part; see `choose_entrants`."""
        known = {card.name: card for card in cards(self.takes) if _has_recipe(card)}
        chosen = None if methods is None else [get_card(name, self.takes).name for name in methods]
        for name in chosen or ():
            if name not in known:
                raise ParameterError(f"compare: {name} must be fitted by hand, it has no recipe.")
        return choose_entrants(known, chosen)

    def pilot(self, pilot: Pilot) -> Cost:
        """Try a method on a tenth of the corpus.

        Parameters
        ----------
        pilot : Pilot
            Which one.

        Returns
        -------
        Cost
            Ten times what that took, as a guess; memory is not measured.
        """
        few = max(2, self.draws.n_labels // _PILOT_SHARE)
        self.run(Task(pilot.method, pilot.labels_only, 0, 2))  # compiles what it needs
        start = time.perf_counter()
        self.run(Task(pilot.method, pilot.labels_only, 0, few))
        return Cost((time.perf_counter() - start) * self.draws.n_labels / few, 0)


def _has_recipe(card: Card) -> bool:
    return card.train is not None or card.build is not None
