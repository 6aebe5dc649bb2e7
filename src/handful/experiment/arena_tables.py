"""Where methods for tables are tried: label-free work is done once, and shared by all of them."""

from __future__ import annotations

import math
import pickle
import time
import tracemalloc
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from handful.core.catalogue import cards, get_card
from handful.core.labels import UNLABELED
from handful.core.registry import Card
from handful.evaluation.ranking import Setting
from handful.experiment.arena import Arena
from handful.experiment.entrants import FAVORITE, Entrant, choose_entrants, plain_methods
from handful.experiment.problem import Problem
from handful.experiment.search import search
from handful.experiment.splits import Draws
from handful.experiment.text_views import ON_VECTORS, WITH_VECTORS, TextView, base_name, remember_texts
from handful.experiment.trial import Cost, Outcome, Pilot, Task, as_bits, quiet_single_thread, score_of
from handful.features.rows import Rows
from handful.features.tables import TableEncoder
from handful.methods.class_shares import picked_by_class
from handful.methods.confidence import HeldOut, nearness, own_shares

Matrices: TypeAlias = tuple[Any, np.ndarray, Any, np.ndarray]
_PILOT_ROWS = (100, 200)
_PLENTY = 10  # unlabeled rows for each labeled one, so many that the encoder does not miss the labeled ones
_KEPT_SPLITS = 6
_FOR_TEXTS = ("text-team", "complement-nb")  # of no use where no column is a text
_HELD = 200  # tested rows of a trial whose confidence is kept


class TableArena(Arena):
    """Trials of methods on one table.

    Parameters
    ----------
    problem : Problem
        The table.
    draws : Draws
        Which rows are learned from and tested.
    metric : {"accuracy", "balanced accuracy", "f1"}
        What is scored.
    max_unlabeled : int
        Unlabeled training rows of a draw at most.
    seed : int
        Seed of methods that use chance.
    extra : mapping of str to Card, optional
        Methods beside those of the catalogue.
    view : TextView, optional
        How texts are read.
    balance : float, default=0.0
        How far methods that can move their answers to rare classes do so.

    Notes
    -----
    Scales, values and word weights are learned from training rows, never from tested ones. Where at least ten rows
    are unlabeled for each labeled one, they are learned from these, once for all draws; otherwise once for each draw.
    """

    def __init__(
        self,
        problem: Problem,
        draws: Draws,
        metric: str,
        max_unlabeled: int,
        seed: int,
        extra: Mapping[str, Card] | None = None,
        view: TextView | None = None,
        balance: float = 0.0,
    ) -> None:
        super().__init__(problem.name, metric, seed)
        self.balance = balance
        self.problem = problem
        self.draws = draws
        self.max_unlabeled = max_unlabeled
        self.view = view or TextView()
        self.encoding_seconds = 0.0  # what it took to encode the rows of one draw; told for texts alone
        self._cards = dict(extra or {})
        self._everything: Any = None
        self._splits: dict[tuple[int, int], Matrices] = {}

    @property
    def setting(self) -> Setting:
        """What the scores are scores of."""
        draws = self.draws
        return Setting(
            draws.pool_share,
            draws.n_test,
            draws.n_labels,
            overlap=draws.overlap,
            tested=cache(lambda draw: draws[draw].test) if self.metric == "accuracy" else None,
            worth=None if self.metric == "accuracy" else self._rows_worth,
            even=self._labels_tell_no_shares,
            metric="F1" if self.metric == "f1" else self.metric,
        )

    @property
    def _rows_worth(self) -> float:
        """How many rows of one class would tell as much as those of a draw do, where each class counts alike."""
        counts = np.bincount(self.problem.codes[self.problem.labeled])
        tested = counts[counts > 0] * self.draws.n_test / counts.sum()
        # The variance of a mean over classes is the sum of theirs, over the square of their number.
        return float(len(tested) ** 2 / (1 / np.maximum(tested, 1.0)).sum())

    @property
    def _labels_tell_no_shares(self) -> bool:
        problem = self.problem
        known = problem.codes[problem.labeled].astype(np.int64)
        return (
            self.metric == "accuracy"
            and len(known) < len(problem.codes)
            and picked_by_class(known, len(problem.classes))
        )

    def card(self, name: str) -> Card:
        """Return the card of a method."""
        name = base_name(name)
        return self._cards[name] if name in self._cards else get_card(name, "table")

    def method(self, name: str) -> Any:
        """Return what to fit by this name: a classifier that was given, or the name of a method."""
        return getattr(self.card(name).build, "estimator", base_name(name))

    def entrants(self, methods: Sequence[str] | None, *, held_against: bool = True) -> tuple[Entrant, ...]:
        """Return those who take part; see `choose_entrants`."""
        known = {**{card.name: card for card in cards("table")}, **self._cards}
        chosen = None if methods is None else [self.card(name).name for name in methods]
        kinds = set(self.problem.kinds.values())
        if "text" not in kinds:
            known = {name: card for name, card in known.items() if name not in _FOR_TEXTS or name in (chosen or ())}
        if chosen is None and kinds == {"text"}:
            known.pop("text-team", None)  # without other columns the team is the same
        if self.view.optional:
            taking_part = known if chosen is None else [*chosen, *(plain_methods(known) if held_against else ())]
            twice = [name for name in ON_VECTORS if name in taking_part]
            chosen = [*(known if chosen is None else chosen), *(name + WITH_VECTORS for name in twice)]
            known |= {name + WITH_VECTORS: _with_vectors(known[name], twice) for name in twice}
        favorite = FAVORITE + WITH_VECTORS if self.view.optional else FAVORITE
        return choose_entrants(known, chosen, favorite, held_against=held_against)

    def seen_by(self, method: str, rows: Any) -> Any:
        """Return what a contender sees of rows: those without vectors see none where others do."""
        if self.view.optional and not method.endswith(WITH_VECTORS) and isinstance(rows, Rows):
            return rows.without("vectors")
        return rows

    def prepare(self) -> None:
        """Do what is the same for all draws, before trials are made."""
        problem = self.problem
        if self.view.encoder is not None:
            remember_texts(problem, self.view.encoder)
        start = time.perf_counter()
        if self.draws.hides_labels or len(problem.unlabeled) < _PLENTY * len(problem.labeled):
            if "text" in problem.kinds.values():
                self.matrices(0, self.draws.n_labels)
                self.encoding_seconds = time.perf_counter() - start
            return
        rng = np.random.default_rng([self.seed, 2])
        spare = np.sort(rng.permutation(problem.unlabeled)[: self.max_unlabeled])
        rows = np.sort(np.concatenate([problem.labeled, spare]))
        learned_from = problem.frame[spare]
        encoder = TableEncoder.learn(learned_from, problem.kinds, text=self.view.text)
        matrix = encoder.transform(learned_from)
        others = encoder.transform(problem.frame[problem.labeled])
        order = np.argsort(np.concatenate([spare, problem.labeled]), kind="stable")
        self._everything = (rows, _stacked(matrix, others)[order])
        if "text" in problem.kinds.values():
            self.encoding_seconds = time.perf_counter() - start

    def pilot(self, pilot: Pilot) -> Cost:
        """Try a method on few rows.

        Parameters
        ----------
        pilot : Pilot
            Which one.

        Returns
        -------
        Cost
            What a whole trial would cost, extrapolated from fits on 100 and 200 rows; it may well be wrong by a factor
            of two.
        """
        card = self.card(pilot.method)
        train, codes, _, _ = self.matrices(0, self.draws.n_labels)
        train = self.seen_by(pilot.method, train)
        labeled, spare = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
        alone = pilot.labels_only or not card.uses_unlabeled
        n_train = len(labeled) if alone else len(codes)
        params = card.usual
        rng = np.random.default_rng(self.seed)
        spent: list[tuple[int, float, float]] = []
        for limit in _PILOT_ROWS:
            few = rng.permutation(labeled)[:limit]
            rows = few if alone else np.concatenate([few, spare[: max(limit - len(few), 10)]])
            codes_of = np.unique(codes[rows][codes[rows] >= 0])
            dense = np.where(codes[rows] >= 0, np.searchsorted(codes_of, codes[rows]), UNLABELED)
            with quiet_single_thread():
                try:
                    spent.append((len(rows), *self._measure(card, params, train[rows], dense, warm=bool(spent))))
                except Exception:
                    return Cost(0.0, 0)  # the trials will tell why it fails
            if len(rows) >= n_train:
                break
        seconds = _extrapolate([(n, s) for n, s, _ in spent], n_train, 2.2)
        return Cost(seconds, int(_extrapolate([(n, b) for n, _, b in spent], n_train, 2.0)))

    def matrices(self, number: int, n_labels: int) -> Matrices:
        """Return the training rows of a draw, their codes, the tested rows and theirs."""
        key = (number, n_labels)
        if key not in self._splits:
            while len(self._splits) >= _KEPT_SPLITS:
                del self._splits[next(iter(self._splits))]
            self._splits[key] = self._encode(number, n_labels)
        return self._splits[key]

    def _run(self, task: Task) -> Outcome:
        start = time.perf_counter()
        card = self.card(task.method)
        train, codes, test, truth = self.matrices(task.draw, task.n_labels)
        train, test = self.seen_by(task.method, train), self.seen_by(task.method, test)
        if task.labels_only or not card.uses_unlabeled:
            train, codes = train[codes >= 0], codes[codes >= 0]
        params = search(card, train, codes, self.seed)
        model = card.make(train.shape[1], self.seed, params)
        settings = model.get_params(deep=False)
        if "share_power" in settings:
            model.set_params(share_power=0.0)  # the tested rows have the shares of the labels
        if self.balance and "balance" in settings:
            params = {**params, "balance": self.balance}
            model.set_params(balance=self.balance)
        # What a method costs is told in CPU time, which does not depend on what else the machine does.
        began = time.process_time()
        model.fit(train, codes)
        fitted = time.process_time()
        answers = np.asarray(model.predict(test)).astype(np.int64)
        done = time.process_time()
        n_classes = len(self.problem.classes)
        confusion = np.bincount(truth * n_classes + answers, minlength=n_classes**2).reshape(n_classes, n_classes)
        kept = getattr(model, "kept_", None)
        own = _all_shares(model, test, n_classes)
        few = slice(0, _HELD)
        labeled = codes >= 0
        near = nearness(test[few], answers[few], train[labeled], codes[labeled])
        return Outcome(
            task,
            score_of(confusion, self.metric),
            as_bits(answers == truth) if self.metric == "accuracy" else "",
            _brier(own, truth),
            confusion.tolist() if n_classes <= 50 else [],
            params,
            time.perf_counter() - start,
            fitted - began,
            (done - fitted) / len(truth) * 1_000,
            len(pickle.dumps(model, protocol=5)),
            None if kept is None else len(kept),
            sure=own[np.arange(len(truth)), answers][few].round(4).tolist(),
            near=near.round(4).tolist(),
            hits=as_bits(answers[few] == truth[few]),
        )

    def held_out_answers(self, outcomes: Sequence[Outcome]) -> HeldOut | None:
        """Return the answers of trials of one method, for `handful.methods.confidence`.

        Parameters
        ----------
        outcomes : sequence of Outcome
            Trials.

        Returns
        -------
        HeldOut or None
            None where no trial kept any.
        """
        parts = [
            HeldOut(
                np.array(outcome.sure),
                np.array(outcome.near),
                np.array([hit == "1" for hit in outcome.hits]),
                self.problem.codes[self.draws[outcome.task.draw].test][: len(outcome.sure)].astype(np.int64),
            )
            for outcome in outcomes
            if outcome.sure
        ]
        return HeldOut.together(parts) if parts else None

    def _encode(self, number: int, n_labels: int) -> Matrices:
        draw = self.draws[number]
        labeled, spare = draw.training(n_labels, self.max_unlabeled)
        if self._everything is not None:
            known, matrix = self._everything
            spare = known[self.problem.codes[known] < 0]
        rows = np.sort(np.concatenate([labeled, spare]))
        codes = np.full(len(rows), UNLABELED, dtype=np.int64)
        codes[np.searchsorted(rows, labeled)] = self.problem.codes[labeled]
        truth = self.problem.codes[draw.test].astype(np.int64)
        if self._everything is not None:
            return matrix[np.searchsorted(known, rows)], codes, matrix[np.searchsorted(known, draw.test)], truth
        learned_from = self.problem.frame[rows]
        encoder = TableEncoder.learn(learned_from, self.problem.kinds, text=self.view.text)
        return encoder.transform(learned_from), codes, encoder.transform(self.problem.frame[draw.test]), truth

    def _measure(
        self, card: Card, params: Mapping[str, Any], rows: Any, codes: np.ndarray, warm: bool
    ) -> tuple[float, float]:
        if not warm:
            card.make(rows.shape[1], self.seed, params).fit(rows, codes).predict(rows[:2])  # compiles what it needs
        start = time.perf_counter()
        card.make(rows.shape[1], self.seed, params).fit(rows, codes).predict(rows[:20])
        seconds = time.perf_counter() - start
        tracemalloc.start()
        try:
            card.make(rows.shape[1], self.seed, params).fit(rows, codes)
            return seconds, float(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()


def _with_vectors(card: Card, others: Sequence[str]) -> Card:
    """Return the card of a method that sees vectors; so does its twin."""
    twin = f"{card.twin}{WITH_VECTORS}" if card.twin in others else card.twin
    return replace(card, name=card.name + WITH_VECTORS, twin=twin)


def _stacked(first: Any, second: Any) -> Any:
    if isinstance(first, Rows):
        return Rows.stack(first, second)
    return sparse.csr_matrix(sparse.vstack([first, second])) if sparse.issparse(first) else np.vstack([first, second])


def _all_shares(model: Any, rows: Any, n_classes: int) -> np.ndarray:
    shares = np.zeros((rows.shape[0], n_classes))
    shares[:, np.asarray(model.classes_).astype(np.int64)] = own_shares(model, rows)
    return shares


def _brier(shares: np.ndarray, truth: np.ndarray) -> float:
    right = np.eye(shares.shape[1])[truth]
    return float(((shares - right) ** 2).sum(axis=1).mean())


def _extrapolate(points: Sequence[tuple[int, float]], n: int, most: float) -> float:
    (n1, v1), (n2, v2) = points[0], points[-1]
    if n <= n2:
        return v2
    power = math.log(max(v2, 1e-9) / max(v1, 1e-9)) / math.log(n2 / n1) if n2 > n1 else 1.0
    return float(v2 * (n / n2) ** min(max(power, 1.0), most))
