"""Compare methods on a table with few labels."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.active.estimates import MIN_RANDOM, selected_at_random
from handful.comparison.search import SuccessiveHalving, run_search
from handful.comparison.splits import LabelCount, Splits
from handful.comparison.statistics import score_interval
from handful.comparison.tables import TableExperiment, labeled_table, majority_class
from handful.comparison.trials import DEFAULT_METHOD, METRICS, Experiment, Limits, TrialResult
from handful.data.checks import is_lopsided
from handful.data.table import Table
from handful.errors import DataError, ParameterError, counted
from handful.models.table_model import TableModel, spec_for
from handful.preprocessing.table_encoder import choose_text
from handful.registry import MethodSpec
from handful.report import content as words
from handful.report.content import Confusion, Curve, MajorityClass, MethodScore, Report
from handful.version import versions

if TYPE_CHECKING:
    import polars as pl

_TRIAL_ROWS = 2_000  # unlabeled rows of a trial at most


class Comparison:
    """Result of a comparison.

    Parameters
    ----------
    experiment : Experiment
        The data.
    search : SuccessiveHalving
        Trials and their results.
    state : {"finished", "out of time", "out of trials", "interrupted"}
        How it ended.
    command : str
        How to repeat it.

    Attributes
    ----------
    scores : tuple of MethodScore
        The methods, the best first.
    best : str
        Name of the selected model.
    best_estimator_ : TableModel
        The selected model fitted to all rows; for tables.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> limits = Limits(trials=20)
    >>> result = compare(X, y, labels="5-per-class", methods=["self-training"], limits=limits)
    >>> result.best
    'self-training'
    """

    def __init__(self, experiment: Experiment, search: SuccessiveHalving, state: str, command: str) -> None:
        self.experiment = experiment
        self.name = experiment.name
        self.search = search
        self.state = state
        self.command = command

    @cached_property
    def scores(self) -> tuple[MethodScore, ...]:
        """The methods, the best first."""
        scores = self.search.scores()
        if not scores:
            reason = next(iter(self.search.left_out.values()), "no trial was run.")
            raise DataError(f"compare: no method could be scored: {reason}")
        return scores

    @property
    def selected(self) -> MethodScore:
        """The selected model and its scores."""
        return next(score for score in self.scores if score.is_selected)

    @property
    def best(self) -> str:
        """Name of the selected model."""
        return self.selected.method

    @cached_property
    def report(self) -> Report:
        """All that a report contains."""
        return report_of(self)

    @property
    def verdict(self) -> str:
        """The conclusion in two sentences."""
        return self.report.verdict

    @cached_property
    def best_estimator_(self) -> TableModel:
        """The selected model fitted to all rows."""
        return self.fit_best()

    def fit_best(self, table: Table | None = None) -> TableModel:
        """Fit the selected model to all rows, or to another table."""
        from handful.comparison.fit import fit_method

        experiment = self.experiment
        if not isinstance(experiment, TableExperiment):
            raise DataError(
                "best_estimator_: only comparisons on tables give a model. Use 'handful fit tagger' or 'handful fit senses'."
            )
        table = experiment.table if table is None else table
        return fit_method(table, experiment.method(self.best), text=experiment.text, seed=experiment.seed)

    @property
    def frame(self) -> pl.DataFrame:
        """The ranking as a polars data frame."""
        import polars as pl

        rows = []
        for score in self.scores:
            plain = asdict(score)
            for name in ("difference", "gain"):
                interval = plain.pop(name) or dict.fromkeys(("mean", "low", "high"))
                plain |= {name: interval["mean"], f"{name}_low": interval["low"], f"{name}_high": interval["high"]}
            rows.append(plain | {"scores": list(score.scores.values()), "params": words.settings(score.params)})
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the report as one self-contained HTML page, and write it if a path is given."""
        from handful.report.html import render_html

        return _written(render_html(self.report), path)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the report as JSON, and write it if a path is given."""
        import json

        return _written(json.dumps(self.report.as_dict(), ensure_ascii=False, indent=2, default=str) + "\n", path)

    def _repr_html_(self) -> str:
        from handful.report.html import render_fragment

        return render_fragment(self.report)

    def __repr__(self) -> str:
        return f"Comparison({self.name}, {counted(len(self.scores), 'method')}: {self.verdict})"


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        from handful.data.files import atomic_writer

        with atomic_writer(path) as file:
            file.write(text.encode())
    return text


def report_of(comparison: Comparison) -> Report:
    """Return the report on a comparison."""
    experiment, search, scores = comparison.experiment, comparison.search, comparison.scores
    design = experiment.design
    selected = comparison.selected
    missing = "no time was left" if comparison.state != "finished" else "not tried"
    scored = {score.method for score in scores}
    late = {name: missing for name in search.remaining if name not in scored}
    facts: dict[str, Any] = {
        **experiment.facts,
        f"{design.unit} used for training": design.n_labels,
        "tested in a split": experiment.splits.n_test,
        "splits": max(score.n_splits for score in scores),
        "trials": len(search.results),
        "seed": experiment.seed,
    }
    majority: MajorityClass | None = None
    confusions: tuple[Confusion, ...] = ()
    warnings = [
        f"{design.unlabeled.capitalize()} make {score.method} worse: {_with_interval(score, gain=True)} against {score.gain.other}."
        for score in scores
        if score.gain is not None and score.gain.is_negative
    ]
    notes = list(experiment.notes)
    if len({score.n_splits for score in scores}) > 1:
        notes.append(
            "Methods have different numbers of splits; means of fewer splits are adjusted by the difference to the leader."
        )
    if isinstance(experiment, TableExperiment) and (chosen := selected_at_random(experiment.table)) is not None:
        n_random = int(chosen[experiment.table.labeled].sum())
        if n_random < MIN_RANDOM:
            warnings.append(
                f"Only {counted(n_random, 'label')} of random rows: scores are of rows chosen as difficult."
            )
        else:
            notes.append(f"Tested on the {counted(n_random, 'row')} chosen at random.")
    if comparison.state != "finished":
        notes.append(f"The comparison ended early ({comparison.state}), after {counted(len(search.results), 'trial')}.")
    if isinstance(experiment, TableExperiment):
        table = experiment.table
        majority = majority_class(table.codes, table.classes, experiment.metric)
        sentence = majority.sentence(selected.low)
        (notes if selected.low > majority.score else warnings).append(sentence)
        confusions = _confusions(search, scores, table.classes)
    sentence, unlabeled_help = unlabeled_benefit(scores, comparison)
    baseline = next((score.method for score in scores if score.is_baseline), None)
    return Report(
        title=comparison.name,
        metric=design.metric,
        state=comparison.state,
        selected=selected.method,
        selection=selection_sentence(comparison),
        unlabeled=sentence,
        unlabeled_help=unlabeled_help,
        warnings=tuple(warnings),
        notes=tuple(notes),
        baseline=baseline,
        unit=design.unit,
        n_labels=design.n_labels,
        facts=facts,
        columns=experiment.columns,
        methods=scores,
        curves=_curves(comparison),
        confusions=confusions,
        left_out={**search.left_out, **late},
        command=comparison.command,
        versions=versions(),
        majority=majority,
        summary=usability(comparison),
    )


_GOAL = 0.9  # of predictions that are correct
_FEWEST_TESTED = 20  # predictions: with fewer an interval is wider than 40 points


def usability(comparison: Comparison) -> str:
    """Return for how many rows the selected model is good enough, and how many more labels it needs for all of them.

    The share is the largest group of most confident predictions of which 90% were correct, in all splits together.
    """
    from handful.active.curve import labels_needed, refusal

    selected, design = comparison.selected, comparison.experiment.design
    results = comparison.search.results_of(selected.method)
    sure = np.array([value for result in results for value in result.confidence])
    correct = np.array([mark == "1" for result in results for mark in result.correct])
    if len(sure) < _FEWEST_TESTED:
        return ""
    order = np.argsort(-sure, kind="stable")
    reached = np.flatnonzero(np.cumsum(correct[order]) / np.arange(1, len(sure) + 1) >= _GOAL) + 1
    share = reached[-1] / len(sure) if len(reached) and reached[-1] >= _FEWEST_TESTED else 0.0
    if share == 1:
        return f"Usable now: yes, {correct.mean():.0%} of the predictions are correct."
    start = (
        f"Usable now: yes for {share:.0%} of rows at {_GOAL:.0%}." if share else f"Usable now: no, not at {_GOAL:.0%}."
    )
    sizes, scores = _shared_scores([one for one in comparison.search.results if one.trial.line == selected.method])
    if refusal(sizes, scores) is not None:
        return start
    return f"{start} {labels_needed(sizes, scores, design.n_labels, _GOAL, comparison.experiment.seed).text}"


def _shared_scores(results: Sequence[TrialResult]) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of labels, and the scores of one method with each in the splits that all of them share."""
    by_size: dict[int, dict[int, float]] = defaultdict(dict)
    for result in results:
        if result.score is not None:
            by_size[result.trial.n_labels][result.trial.split] = result.score
    sizes = sorted(size for size in by_size if len(by_size[size]) > 1)
    shared = sorted(set.intersection(*(set(by_size[size]) for size in sizes))) if sizes else []
    return np.array(sizes), np.array([[by_size[size][split] for size in sizes] for split in shared])


def selection_sentence(comparison: Comparison) -> str:
    """Return which model is selected, its score, and how it compares with the others."""
    selected, design = comparison.selected, comparison.experiment.design
    experiment = comparison.experiment
    n = len(experiment.table.labeled) if isinstance(experiment, TableExperiment) else None
    interval = words.score_range(selected.low, selected.high, n)
    basis = f"95% CI {interval}, {design.n_labels} {design.unit}, {counted(selected.n_splits, 'random split')}"
    score = f"Selected: {selected.method}, {words.in_percent(selected.mean, n)}% {design.metric} ({basis})."
    return f"{score}{why_not_best(comparison.scores, n)}"


def why_not_best(scores: Sequence[MethodScore], n: int | None = None) -> str:
    """Return why the selected model is not the one with the best score; empty if it is."""
    selected = next(score for score in scores if score.is_selected)
    best = scores[0]
    if best.mean <= selected.mean:
        equal = [score.method for score in scores if score.candidate and score.mean == selected.mean]
        if len(equal) < 2 or selected.method != equal[0]:
            return ""
        return f" {equal[1]} scored the same; of equals the cheaper one is selected."
    scored = f" {best.method} scored {words.in_percent(best.mean, n)}%"
    if not best.candidate:
        return f"{scored}, but was only run as a baseline."
    return f"{scored}; the difference is within one standard error, so the default is kept."


def unlabeled_benefit(scores: Sequence[MethodScore], comparison: Comparison) -> tuple[str, bool]:
    """Return whether unlabeled rows help, in a sentence and as a flag.

    Unlabeled rows help if a method that uses them is significantly better than the best supervised baseline and than its own
    supervised control, and no supervised method scores higher.
    """
    name = comparison.experiment.design.unlabeled.capitalize()
    users = [score for score in scores if score.uses_unlabeled]
    if not users:
        return f"{name}: no method that uses them was scored.", False
    supervised = max((score.mean for score in scores if not score.uses_unlabeled), default=0.0)
    for score in users:
        if score.is_better and score.gain is not None and score.gain.is_positive and score.mean >= supervised:
            assert score.difference is not None
            return (
                f"{name}: significant benefit, {score.method} is {_with_interval(score)} above {score.difference.other} "
                f"(p {_p(score.p_value)}) and {_with_interval(score, gain=True)} above {score.gain.other}.",
                True,
            )
    first = users[0]
    if first.gain is None:
        return f"{name}: no significant benefit.", False
    return (
        f"{name}: no significant benefit ({first.method} {_with_interval(first, gain=True)} against {first.gain.other}).",
        False,
    )


def _p(p: float | None) -> str:
    return "< .001" if p is not None and p < 0.001 else f"= {words.p_value(p)}"


def _with_interval(score: MethodScore, *, gain: bool = False) -> str:
    difference = score.gain if gain else score.difference
    return "" if difference is None else f"{words.signed(difference.mean)} points ({words.bounds(difference)})"


def _curves(comparison: Comparison) -> tuple[Curve, ...]:
    by_line: dict[str, list[TrialResult]] = defaultdict(list)
    for result in comparison.search.results:
        by_line[result.trial.line].append(result)
    curves = (_curve(score.method, by_line[score.method], comparison.experiment) for score in comparison.scores)
    return tuple(curve for curve in curves if curve is not None)


def _curve(name: str, results: Sequence[TrialResult], experiment: Experiment) -> Curve | None:
    """Return the scores of a method by number of labels over the same splits, if there are two such numbers."""
    sizes, scores = _shared_scores(results)
    if len(sizes) < 2 or not len(scores):
        return None
    lows, highs = zip(*(score_interval(column, experiment.design) for column in scores.T), strict=True)
    return Curve(name, tuple(sizes.tolist()), tuple(scores.mean(axis=0).tolist()), lows, highs)


def _confusions(search: SuccessiveHalving, scores: Sequence[MethodScore], classes: np.ndarray) -> tuple[Confusion, ...]:
    shown = [score.method for score in scores if score.is_selected]
    shown += [score.method for score in scores if score.is_baseline]
    shown += [score.method for score in scores if score.uses_unlabeled][:1]
    names = tuple(map(str, classes.tolist()))
    confusions = []
    for name in dict.fromkeys(shown):
        matrices = [np.array(result.confusion) for result in search.results_of(name) if result.confusion]
        counts = np.sum(matrices, axis=0).tolist() if matrices else []
        confusions.append(Confusion(name, names, tuple(tuple(line) for line in counts)))
    return tuple(confusions)


def compare(
    X: Any,
    y: Any = None,
    *,
    methods: Sequence[Any] | None = None,
    labels: str | int | None = None,
    metric: str = "auto",
    limits: Limits | None = None,
    columns: Any = None,
    text: Any = "auto",
) -> Comparison:
    """Compare methods on rows of which few have a label.

    Parameters
    ----------
    X : path, data frame, array of shape (n_rows, n_columns), sparse matrix, or list of texts
        A table in a file (CSV, TSV, JSON lines, Parquet), or rows in memory.
    y : array-like of shape (n_rows,), or str
        Labels; ``None``, ``NaN`` or (among integers) -1 mark unlabeled rows. Or the name of the label column, where X is a file
        or a data frame.
    methods : sequence of str or classifier, optional
        Names of methods, or scikit-learn classifiers; all that fit by default. One of these is selected; supervised baselines
        are compared in any case.
    labels : str or int, optional
        Hide labels, to see what few would do: ``"10%"``, ``"5-per-class"`` or ``20``. Needed where every row has a label.
    metric : {"auto", "accuracy", "balanced_accuracy", "f1_macro"}, default="auto"
        scikit-learn's names. ``"auto"`` is accuracy, or balanced accuracy if more than four fifths of the labels are of one
        class.
    limits : Limits, optional
        Time, trials, splits, processes, seed, log. By default two minutes in this process.
    columns : mapping of str to kind, optional
        Kinds of columns, where the inferred ones are wrong; ``"skip"`` leaves a column out.
    text : {"auto", "words", "lsa", "vectors"}, path, name or encoder, default="auto"
        How text columns are encoded: weighted words, LSA, or embeddings of an encoder, which is installed, in a folder, on the
        hub, or any object with ``encode(list of str)``. ``"auto"`` is embeddings where an encoder is installed that knows the
        language, and else LSA.

    Returns
    -------
    Comparison
        Scores with intervals, the selected model, and reports. An interrupt (Ctrl-C) returns what is done.

    See Also
    --------
    handful.fit : Fit one model, with an estimate of its accuracy.

    Notes
    -----
    In each random split a fifth of the labeled rows is tested; of the others as many as asked for keep their label, and the
    rest are unlabeled. Encoders and parameters are learned from training rows alone. Methods are eliminated by successive
    halving (see `handful.comparison.search.SuccessiveHalving`). Every method that uses unlabeled rows is compared with its
    supervised control, which does the same without them. At most 2,000 unlabeled rows take part in a trial.

    The default ensemble is selected unless another method is better by more than one standard error.

    Examples
    --------
    Hide all but five labels of each class of a table, and see which method copes best:

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = compare(X, y, labels="5-per-class", methods=["self-training"], limits=Limits(trials=30))
    >>> [score.method for score in result.scores if score.uses_unlabeled]
    ['self-training']
    >>> result.to_html("report.html")  # doctest: +SKIP
    """
    limits = limits or Limits()
    table = labeled_table(X, y, columns=columns, max_unlabeled=limits.max_unlabeled, seed=limits.seed)
    return compare_table(table, labels=labels, methods=methods, metric=metric, text=text, limits=limits)


def compare_table(
    table: Table,
    *,
    labels: str | int | None = None,
    methods: Sequence[Any] | None = None,
    metric: str = "auto",
    text: Any = "auto",
    limits: Limits | None = None,
) -> Comparison:
    """Compare methods on a table that has been read; see `compare`."""
    limits = limits or Limits()
    if labels is None and not len(table.unlabeled):
        raise ParameterError(
            f"compare: some rows must be unlabeled, got a label in all {len(table.codes):,}. "
            "Say how many to keep, for example --labels 10% (labels='10%' in Python)."
        )
    count = None if labels is None else LabelCount.parse(labels)
    experiment, names = table_experiment(table, methods, metric=metric, text=text, labels=count, limits=limits)
    lines = experiment.lines(names)
    search = SuccessiveHalving(
        lines, experiment.design, limits.splits, preferred=DEFAULT_METHOD, sizes=experiment.splits.sizes
    )
    state = run_search(experiment, search, limits)
    return Comparison(experiment, search, state, limits.command or _python_call(labels, names, limits))


def table_experiment(
    table: Table,
    methods: Sequence[Any] | None,
    *,
    metric: str,
    text: Any,
    limits: Limits,
    labels: LabelCount | None = None,
) -> tuple[TableExperiment, list[str] | None]:
    """Return what runs trials on a table, and the names of the methods."""
    if metric not in ("auto", *METRICS):
        raise ParameterError(f"metric: must be one of auto, {', '.join(METRICS)}, got {metric!r}.")
    names, extra = named_methods(methods)
    text, table = choose_text(table, text, seconds=limits.deadline - limits.started, seed=limits.seed)
    splits = Splits(table.codes, labels, limits.seed, testable=_testable(table))
    auto = "balanced_accuracy" if is_lopsided(table.codes) else "accuracy"
    experiment = TableExperiment(
        table,
        splits,
        auto if metric == "auto" else metric,
        min(limits.max_unlabeled, _TRIAL_ROWS),
        limits.seed,
        extra=extra,
        text=text,
        is_default_metric=metric == "auto",
    )
    return experiment, names


def _testable(table: Table) -> np.ndarray | None:
    """Return the rows that were chosen at random, if `handful next` chose others, and there are enough of them."""
    at_random = selected_at_random(table)
    if at_random is None or at_random[table.labeled].sum() < MIN_RANDOM:
        return None
    return at_random


def named_methods(methods: Sequence[Any] | None) -> tuple[list[str] | None, dict[str, MethodSpec]]:
    """Return the names of methods, and descriptions of those that are not registered.

    Parameters
    ----------
    methods : sequence of str or classifier, or None
        What was asked for; None is everything.

    Returns
    -------
    names : list of str or None
        Their names.
    specs : dict of str to MethodSpec
        Descriptions of classifiers, and of methods around others.
    """
    if methods is None:
        return None, {}
    if isinstance(methods, str):
        methods = [methods]
    if not len(methods):
        raise ParameterError("methods: at least one must be named, got none. Leave it out for all that fit.")
    names: list[str] = []
    specs: dict[str, MethodSpec] = {}
    for one in methods:
        spec = spec_for(one)
        if not isinstance(one, str) and spec.name in names:
            spec = replace(spec, name=f"{spec.name} {1 + sum(name.startswith(spec.name) for name in names)}")
        if not isinstance(one, str) or "(" in one:
            specs[spec.name] = spec
        names.append(spec.name)
    return names, specs


def _python_call(labels: Any, methods: Sequence[str] | None, limits: Limits) -> str:
    chosen = "" if methods is None else f", methods={list(methods)!r}"
    limit = f"trials={limits.trials}" if limits.trials is not None else f"minutes={limits.minutes}"
    return f"handful.compare(X, y, labels={labels!r}{chosen}, limits=Limits({limit}, splits={limits.splits}, seed={limits.seed}))"
