"""The race: who gets the next trial. More for those still in question, none for the beaten ones."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from handful.evaluation.best_bet import Bet
from handful.evaluation.ranking import Entry, Gain, Ranking, Setting, bets_on, rank
from handful.experiment.entrants import Entrant
from handful.experiment.trial import Cost, Outcome, Pilot, Task

ENOUGH = 0.001
"""Expected gain, as a share of rows, below which measuring a method further is not worth a trial."""

LEAST_DRAWS = 3
_CLEAR = 0.95  # chance to be the best from which on a ranking is clear
_CHANCE = 0.05  # chance to be the best from which on a method is measured further while there is time
_AHEAD = 5  # draws by which a quick method may run ahead of a slow one
_CURVE_DRAWS = 3
_CURVE_METHODS = 3


@dataclass(frozen=True)
class Standing:
    """How a race stands.

    Parameters
    ----------
    bets : tuple of Bet
        The methods that were measured, the best bet first.
    waiting : tuple of str
        Methods that were not measured yet.
    in_question : tuple of str
        Methods that still may turn out to be the best.
    n_trials : int
        Trials made.
    seconds : float
        Time since the start.
    doing : str
        What is done at present: ``"race"``, or a sentence about what comes after it.
    """

    bets: tuple[Bet, ...]
    waiting: tuple[str, ...]
    in_question: tuple[str, ...]
    n_trials: int
    seconds: float
    doing: str = "race"


@dataclass
class Race:
    """What is known of the entrants, and which trials would teach most.

    Parameters
    ----------
    entrants : sequence of Entrant
        Who takes part.
    setting : Setting
        What scores are scores of.
    n_labels : int
        Number of labels of a trial.
    draws : int
        Trials of one entrant at most.
    round_size : int
        Draws after which every labeled row was tested once.
    prove : bool
        Whether to measure twins, and to go on until it is settled whether unlabeled data help; otherwise only until
        the best bet is clear.
    curve : tuple of int
        Other numbers of labels to try the best methods with, when all else is done.
    use_time : bool
        Whether the leaders are measured further where nothing else is left to learn, as long as there is time.

    Notes
    -----
    A race goes in laps. Everyone is tried once: the cheapest first, then the favorite, then the others. Then each
    entrant that is still in question gets its next draw, and so does the leader. Before its first round is over an
    entrant falls out if it is beaten by two standard errors; later, if the expected gain from measuring it without
    end is below a tenth of a point. With few labels that is soon: draws share their rows, and no number of them makes
    up for that. The best plain method and the best that uses unlabeled data go on with the leader all the same, since their
    difference is what may be proven.

    With `use_time`, that is not the end: all that have a chance of 5 % or more to be the best, and the best plain method, get
    further draws, until one has a chance of 95 % or all of these had `draws` draws.
    """

    entrants: Sequence[Entrant]
    setting: Setting
    n_labels: int
    draws: int = 30
    round_size: int = 5
    prove: bool = True
    curve: tuple[int, ...] = ()
    use_time: bool = False
    outcomes: list[Outcome] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    costs: dict[str, Cost] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._by_name = {entrant.name: entrant for entrant in self.entrants}
        self._scores: dict[str, dict[int, float]] = defaultdict(dict)
        self._right: dict[str, dict[int, np.ndarray]] = defaultdict(dict)
        self._sizes: set[tuple[str, int, int]] = set()
        for outcome in self.outcomes:
            self._take(outcome)

    def add(self, outcome: Outcome) -> None:
        """Take in what came of a trial."""
        self.outcomes.append(outcome)
        self._take(outcome)

    def leave_out(self, name: str, why: str) -> None:
        """Take an entrant out of the race."""
        self.left_out[name] = why

    def seconds(self, name: str) -> float | None:
        """Return the time of one trial of an entrant, if it was tried or had a pilot."""
        spent = [o.seconds for o in self.outcomes if o.task.entry == name and o.error is None]
        if spent:
            return median(spent)  # the first may have compiled kernels
        return self.costs[name].seconds if name in self.costs else None

    def n_done(self, name: str) -> int:
        """Return the number of draws an entrant was measured on."""
        return len(self._scores[name])

    @property
    def active(self) -> list[Entrant]:
        """Entrants that are ranked and take part still."""
        return [e for e in self.entrants if e.ranked and e.name not in self.left_out]

    @property
    def bets(self) -> list[Bet]:
        """The best bet first."""
        return bets_on(self._entries(), self.setting)

    @property
    def ranking(self) -> Ranking:
        """All that were measured, with intervals and tests."""
        return rank(self._entries(), self.setting)

    def in_question(self, bets: Sequence[Bet]) -> list[str]:
        """Return the leader, and all that may still turn out to be better."""
        going = []
        for number, bet in enumerate(bets):
            open_still = not bet.beaten if bet.n_draws < self.round_size else bet.hope > ENOUGH
            if number == 0 or open_still:
                going.append(bet.name)
        return going

    def standing(self, n_trials: int, seconds: float, doing: str = "race") -> Standing:
        """Return how it stands after so many trials and seconds."""
        bets = self.bets
        measured = {bet.name for bet in bets}
        waiting = tuple(e.name for e in self.active if e.name not in measured)
        return Standing(tuple(bets), waiting, tuple(self.in_question(bets)), n_trials, seconds, doing)

    @property
    def why_over(self) -> str:
        """Why nothing is left to learn, in words."""
        best = max(self.bets, key=lambda bet: bet.p_best)
        if sum(e.candidate for e in self.active) == 1:
            return f"nothing else was held against {best.name}"
        if best.p_best >= _CLEAR:
            return f"the ranking is clear, {best.name} is {min(round(100 * best.p_best), 99)} % likely to be the best"
        return "what may be the best had all its draws, and more of the same labels tell little"

    def pilots(self) -> list[Pilot]:
        """Return pilots for entrants whose cards say that they take time; nobody else needs one."""
        return [
            Pilot(e.method, e.labels_only)
            for e in self.active
            if e.cost in ("fair", "slow") and not (e.favorite or self._scores[e.name] or e.name in self.costs)
        ]

    def lap(self, pending: Collection[Task] = ()) -> list[Task]:
        """Return the next trials, the most wanted first; none where nothing is left to learn.

        Parameters
        ----------
        pending : collection of Task
            Trials under way.

        Returns
        -------
        list of Task
            They depend on nothing but the outcomes so far (and on what is pending).
        """
        busy = {task.entry for task in pending}
        opening = self._opening()
        if opening:
            return [self._task(e, 0) for e in opening if e.name not in busy]
        bets = self.bets
        if not bets:
            return []
        going = self.in_question(bets)
        # A leader that nobody challenges needs no more draws than make its score known.
        if len(going) == 1 and self.n_done(going[0]) >= self.round_size:
            going = []
        tasks = self._further(going, busy)
        if self.prove:
            tasks += self._rivals(bets, going, busy)
            tasks += self._twins(going, busy)
            if not tasks and not busy:
                tasks = self._proof() or self._curves(bets)
        if not tasks and not busy and self.use_time:
            tasks = self._longer(bets)
        return tasks

    def _opening(self) -> list[Entrant]:
        """Return those who were never measured: where some were named, these before those they are held against."""
        # The favorite comes second, right after the first sign of life: without time for more, it should be measured.
        active = sorted(self.active, key=lambda e: not e.candidate)
        opening = [e for e in active if not self._scores[e.name]]
        return sorted(opening, key=lambda e: (not e.candidate, not (e.favorite or e is active[0])))

    def _further(self, going: Sequence[str], busy: set[str]) -> list[Task]:
        """Return the next draw of everybody in the race, but for those who are ahead of the others."""
        floor = min((self.n_done(name) for name in going), default=0)
        return [
            self._task(self._by_name[name], self.n_done(name))
            for name in going
            if self.n_done(name) < min(self.draws, floor + _AHEAD) and name not in busy
        ]

    def _longer(self, bets: Sequence[Bet]) -> list[Task]:
        """Return further draws of the leaders and of the best plain method, for the time that nothing else needs."""
        top = max(bet.p_best for bet in bets)
        leaders = [bet.name for bet in bets if bet.p_best >= min(_CHANCE, top)]
        baseline = self.ranking.baseline
        names = list(dict.fromkeys([*leaders, *([] if baseline is None else [baseline])]))
        most = min(self.draws, self.round_size) if top >= _CLEAR else self.draws
        floor = min(map(self.n_done, names))
        return [
            self._task(self._by_name[name], self.n_done(name))
            for name in names
            if self.n_done(name) < min(most, floor + _AHEAD)
        ]

    def _take(self, outcome: Outcome) -> None:
        task = outcome.task
        if task.n_labels != self.n_labels:
            self._sizes.add((task.entry, task.draw, task.n_labels))
        elif outcome.error is not None:
            self.left_out.setdefault(task.entry, outcome.error)
        elif outcome.score is not None:
            self._scores[task.entry][task.draw] = outcome.score
            if outcome.right:
                self._right[task.entry][task.draw] = np.frombuffer(outcome.right.encode(), dtype=np.uint8) == ord("1")
            elif outcome.values:
                self._right[task.entry][task.draw] = np.array(outcome.values)

    def _task(self, entrant: Entrant, draw: int) -> Task:
        return Task(entrant.method, entrant.labels_only, draw, self.n_labels)

    def _entries(self) -> list[Entry]:
        return [
            Entry(
                e.name,
                self._scores[e.name],
                e.uses_unlabeled,
                e.plain,
                e.twin,
                e.ranked,
                e.favorite,
                self._right[e.name],
                e.candidate,
            )
            for e in self.entrants
            if e.name not in self.left_out or not e.ranked
        ]

    def _rivals(self, bets: Sequence[Bet], going: Sequence[str], busy: set[str]) -> list[Task]:
        """Return the next draws of the best plain method and of the best that uses unlabeled data, where they are behind.

        One of the two may be beaten as a bet; but what is proven is their difference, over the draws that they share.
        """
        semi = next((bet for bet in bets if self._by_name[bet.name].uses_unlabeled), None)
        plain = [bet for bet in bets if self._by_name[bet.name].plain and bet.n_draws >= LEAST_DRAWS]
        if semi is None or not plain:
            return []
        pair = (semi.name, max(plain, key=lambda bet: bet.leveled).name)
        wanted = min(max(map(self.n_done, (*pair, *going))), self.draws)
        return [
            self._task(self._by_name[name], self.n_done(name))
            for name in pair
            if name not in going and name not in busy and LEAST_DRAWS <= self.n_done(name) < wanted
        ]

    def _twins(self, going: Sequence[str], busy: set[str]) -> list[Task]:
        """Return trials of the twins of those in the race, on the draws that these were measured on."""
        tasks = []
        for name in going:
            twin = self._twin(name)
            if twin is not None and twin.name not in busy and LEAST_DRAWS <= self.n_done(name) > self.n_done(twin.name):
                tasks.append(self._task(twin, self.n_done(twin.name)))
        return list(dict.fromkeys(tasks))

    def _twin(self, name: str) -> Entrant | None:
        twin = self._by_name[name].twin
        return None if twin is None or twin in self.left_out else self._by_name[twin]

    def _proof(self) -> list[Task]:
        """Return trials that may settle whether unlabeled data help: of the best that uses them, the best plain, the twin."""
        ranking = self.ranking
        semi = next((r for r in ranking.ranks if r.uses_unlabeled), None)
        if semi is None or ranking.baseline is None or ranking.baseline == semi.name:
            return []
        twin = self._twin(semi.name)
        names = [semi.name, ranking.baseline, *([] if twin is None else [twin.name])]
        counts = list(map(self.n_done, names))
        wanted = max(counts)
        if min(counts) == wanted:
            if semi.helped or not all(self._conceivable(gain, wanted) for gain in (semi.against, semi.gain)):
                return []
            wanted = min(wanted + self.round_size, self.draws)
        return [
            self._task(self._by_name[name], draw)
            for name, count in zip(names, counts, strict=True)
            for draw in range(count, wanted)
        ]

    def _conceivable(self, gain: Gain | None, n_draws: int) -> bool:
        """Tell whether a difference could be proven with all draws, if it went on as it is."""
        if gain is None:
            return True
        share = self.setting.test_share
        narrower = math.sqrt((1 / self.draws + share) / (1 / n_draws + share))
        return gain.mean - 0.6 * narrower * (gain.mean - gain.low) > 0

    def _curves(self, bets: Sequence[Bet]) -> list[Task]:
        """Return trials of the best few with other numbers of labels, once all else is settled."""
        names = [bet.name for bet in bets[:_CURVE_METHODS]]
        ranking = self.ranking
        names += [name for name in (ranking.best.name, ranking.baseline) if name is not None and name not in names]
        names = list(dict.fromkeys(names))
        return [
            Task(self._by_name[name].method, False, draw, size)
            for draw in range(min(_CURVE_DRAWS, self.draws))
            for size in self.curve
            for name in names
            if size != self.n_labels and (name, draw, size) not in self._sizes
        ]
