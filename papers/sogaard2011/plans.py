"""The texts of the experiments: who trains the tagger, who the classifier, who is the test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from handful.data.records import Sentence
from handful.errors import MissingDataError, Step, require
from handful.neighbors.condensed import CondensedNN, SemiSupervisedCondensedNN
from handful.neighbors.rows import Categorical, StoredRowsClassifier, Ties, Vote, encode_rows
from handful.neighbors.tri_training import TriTraining
from handful.params import Count
from handful.representations.brown import BrownClusters
from handful.tagging.crf import CRF
from handful.tagging.stacked import token_rows
from papers.claims import Findings, Settings, cut_sections, save_picture
from papers.corpora import load
from papers.haghighi2006.plans import news
from papers.significance import error_reduction, mcnemar

Words = Sequence[Sequence[str]]
Tagged = tuple[Words, Words]
_SECTION_19 = 1_844, 5_527  # sentences of section 19, and of sections 19 to 21


@dataclass(frozen=True)
class Parts:
    """Words and tags of one corpus in three parts.

    Parameters
    ----------
    name : str
        Prefix of the corpus's claims.
    base : pair of lists
        Trains the input tagger.
    labeled : pair of lists
        Trains the classifier (T in the paper), tagged by the input tagger.
    test : pair of lists
        What accuracy is measured on.
    """

    name: str
    base: Tagged
    labeled: Tagged
    test: Tagged

    def first(self, n_sentences: int) -> Parts:
        """Return the same with at most `n` sentences in each part."""
        cut = [(words[:n_sentences], tags[:n_sentences]) for words, tags in (self.base, self.labeled, self.test)]
        return Parts(self.name, *cut)


def wsj_sample() -> Parts:
    """Return the WSJ sample in file order: 60% for the tagger, 15% for the classifier, 25% for the test."""
    words, tags = _columns(load("wsj-sample-pos"), "pos")
    a, b = len(words) * 60 // 100, len(words) * 75 // 100
    return Parts("wsj", (words[:a], tags[:a]), (words[a:b], tags[a:b]), (words[b:], tags[b:]))


def ewt() -> Parts:
    """Return UD English EWT with Penn tags: train for the tagger, dev for the classifier, test for the test."""
    parts = [_columns([t.sentence for t in load(f"en_ewt-ud-{p}")], "xpos") for p in ("train", "dev", "test")]
    return Parts("ewt", *parts)


def wsj_sections() -> Parts:
    """Return sections 0-18, 19 and 22-24 of the WSJ, where the user has put the treebank.

    A list of files defines where each of sections 19-21 ends (see `papers.claims`); without one, 19 is the
    first 1,844 of 5,527 sentences.
    """
    train, test = (_columns(load(f"ptb-wsj-pos-{p}"), "pos") for p in ("train", "test"))
    return Parts("ptb", train, _columns(_section_19(list(load("ptb-wsj-pos-dev"))), "pos"), test)


def _section_19(sentences: list[Sentence]) -> list[Sentence]:
    listed = cut_sections("ptb-wsj-pos-dev", sentences, range(19, 20))
    if listed is not None:
        return listed
    n, n_all = _SECTION_19
    if len(sentences) != n_all:
        raise MissingDataError(
            f"ptb-wsj-pos-dev: sections 19-21 must have {n_all:,} sentences, so that the first {n:,} are section 19, "
            f"got {len(sentences):,}. Or list the files that they are from in ptb-wsj-pos-dev.files.txt."
        )
    return sentences[:n]


def brown_words() -> Words:
    """Return the Brown corpus without its tags."""
    return [sentence.tokens for sentence in load("brown-pos")]


def clustering_text(brown: Words) -> list[Sequence[str]]:
    """Return what the words are clustered on: the Brown corpus, and the news if they are installed."""
    return [*brown, *news()]


def first_words(words: Words, n_words: int) -> Words:
    """Return the first sentences with at most `n_words` words in all, but at least one sentence.

    Examples
    --------
    >>> first_words([["a", "b"], ["c"], ["d", "e"]], 4)
    [['a', 'b'], ['c']]
    """
    ends = accumulate(map(len, words))
    return words[: max(1, sum(end <= n_words for end in ends))]


def _columns(sentences: Iterable[Sentence], name: str) -> Tagged:
    pairs = [(s.tokens, s[name]) for s in sentences]
    if not pairs:
        raise MissingDataError(f"sogaard2011: sentences with the column {name!r} are needed, got none.")
    return [words for words, _ in pairs], [tags for _, tags in pairs]


class PlainNN(StoredRowsClassifier):
    """Nearest neighbors that store every labeled row: what condensation starts from.

    Parameters
    ----------
    n_neighbors, vote, ties
        See `handful.neighbors.CondensedNN`.
    """

    categorical: Categorical = "auto"

    def __init__(self, n_neighbors: Count = 1, vote: Vote = "uniform", ties: Ties = "first") -> None:
        self.n_neighbors = n_neighbors
        self.vote = vote
        self.ties = ties

    def fit(self, X: Any, y: Any) -> Self:
        """Store the rows."""
        rows = encode_rows(self, X, reset=True)
        labels = self._labels(y, len(rows.dense))
        self.n_neighbors_ = self.n_neighbors
        self._keep(rows, labels.codes)
        return self


class Options(NamedTuple):
    """What the paper leaves open: number of neighbors, vote, ties, and how much the tag counts in a row."""

    n_neighbors: int
    vote: Vote
    ties: Ties
    tag_weight: int


GRID = (
    Options(1, "uniform", "all", 1),
    Options(5, "uniform", "first", 1),
    Options(2, "gaussian", "all", 1),
    Options(2, "rank", "all", 1),
    Options(3, "dudani", "all", 1),
    Options(2, "gaussian", "all", 2),
    Options(3, "dudani", "all", 2),
)
SHARES = (0.5, 0.7)
MAKERS: dict[str, Callable[[Options], Any]] = {
    "nn": lambda o: PlainNN(*o[:3]),
    "cnn": lambda o: CondensedNN(o.n_neighbors, vote=o.vote, ties=o.ties),
    "wcnn": lambda o: CondensedNN(o.n_neighbors, min_confidence=0.55, vote=o.vote, ties=o.ties),
    "scnn": lambda o: SemiSupervisedCondensedNN(o.n_neighbors, vote=o.vote, ties=o.ties),
    "scnn-weak": lambda o: SemiSupervisedCondensedNN(o.n_neighbors, final_pass="wcnn", vote=o.vote, ties=o.ties),
}


class Chosen(NamedTuple):
    """The options that did best, and from which share of the votes on the classifier should be believed."""

    options: Options
    min_share: float


def weigh(rows: np.ndarray, tag_weight: int) -> np.ndarray:
    """Repeat the first column of rows of two.

    Examples
    --------
    >>> weigh(np.array([["NN", "01"]]), 2).tolist()
    [['NN', 'NN', '01']]
    """
    return rows[:, [0] * tag_weight + [1]]


def fit(kind: str, options: Options, rows: np.ndarray, labels: np.ndarray, unlabeled: np.ndarray) -> Any:
    """Fit one classifier on rows of (tag, cluster); the semi-supervised ones see the unlabeled rows too."""
    if kind.startswith("scnn"):
        rows = np.concatenate([rows, unlabeled])
        labels = np.concatenate([labels, np.full(len(unlabeled), None)])
    return MAKERS[kind](options).fit(weigh(rows, options.tag_weight), labels)


def answers(model: Any, options: Options, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the winning label of each row and its share of the votes."""
    probabilities = model.predict_proba(weigh(rows, options.tag_weight))
    return model.classes_[probabilities.argmax(axis=1)], probabilities.max(axis=1)


def choose(
    kind: str,
    rows: np.ndarray,
    labels: np.ndarray,
    unlabeled: np.ndarray,
    splits: Sequence[tuple[np.ndarray, np.ndarray]],
    grid: Sequence[Options] = GRID,
) -> Chosen:
    """Choose options by accuracy on held-out labeled rows.

    Parameters
    ----------
    kind : str
        Name of a classifier.
    rows, labels : ndarray
        Labeled rows of (tag, cluster).
    unlabeled : ndarray
        Unlabeled rows.
    splits : sequence of pairs of row numbers
        To train on, and to judge on.
    grid : sequence of Options
        What to try.

    Returns
    -------
    Chosen
        Of equally good ones the first. The share is the best of `SHARES` with these options.
    """
    best, most, found_shares = grid[0], -1, np.zeros(len(SHARES))
    for options in grid:
        right, with_share = 0, np.zeros(len(SHARES))
        for train, judge in splits:
            model = fit(kind, options, rows[train], labels[train], unlabeled)
            winners, probabilities = answers(model, options, rows[judge])
            right += int((winners == labels[judge]).sum())
            for i, least in enumerate(SHARES):
                kept = np.where(probabilities < least, rows[judge, 0], winners)
                with_share[i] += (kept == labels[judge]).sum()
        if right > most:
            best, most, found_shares = options, right, with_share
    return Chosen(best, SHARES[int(found_shares.argmax())])


def blocks(n_rows: int, n_folds: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the splits of a cross-validation with folds of neighboring rows, as text is not shuffled.

    Examples
    --------
    >>> [judge.tolist() for _, judge in blocks(4, 2)]
    [[0, 1], [2, 3]]
    """
    fold = np.arange(n_rows) * n_folds // n_rows
    for f in range(n_folds):
        yield np.flatnonzero(fold != f), np.flatnonzero(fold == f)


def draw_curve(path: Path, curve: Sequence[tuple[int, float, int]]) -> Path:
    """Draw both curves of Figure 5 into one file.

    Parameters
    ----------
    path : Path
        An SVG file.
    curve : sequence of (int, float, int)
        Unlabeled words, accuracy in percent, stored points.

    Returns
    -------
    Path
        The file.
    """
    require("matplotlib", extra="plots", why="python -m papers KEY --figures").use("Agg")
    import matplotlib.pyplot as plt

    words, scores, points = zip(*curve, strict=True)
    figure, left = plt.subplots(figsize=(7, 4), layout="constrained")
    right = left.twinx()
    (first,) = left.plot(words, scores, "-o", color="#0072b2", markersize=4, label="accuracy %")
    (second,) = right.plot(words, points, "--s", color="#d55e00", markersize=4, label="stored points")
    left.set_xscale("symlog", linthresh=1000)
    left.set_xlabel("unlabeled words")
    left.set_ylabel("accuracy %")
    right.set_ylabel("stored points")
    left.legend(handles=[first, second])
    return save_picture(figure, path)


_PUBLISHED = ("cnn", "cnn-points", "scnn", "scnn-points", "scnn-error-reduction", "base", "tri",
              "figure5-lowest", "figure5-highest", "figure5-fewest", "figure5-most")  # fmt: skip
_ORDERINGS = ("scnn-over-cnn", "scnn-fewer", "scnn-log-p", "scnn-over-base", "fallback-over-base", "crossed-over-base")
_CURVE_WORDS = 5_000
_CURVE = (0, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_200_000)
_CHOICE_WORDS = 30_000  # unlabeled words while options are chosen
_TRI_WORDS = 200_000
_TRI: dict[str, Literal["bounded", "agreed"]] = {"tri": "bounded", "tri-agreed": "agreed"}
_N_FOLDS = 3  # of the choice
_N_CROSSED = 4  # taggers that tag each other's sentences

# amount of unlabeled words, accuracy in percent, stored points
Curve = list[tuple[int, float, int]]


def run(settings: Settings) -> Findings:
    """Measure every claim of ``paper.toml``.

    Parameters
    ----------
    settings : Settings
        ``quick`` takes fewer sentences, less unlabeled text, fewer clusters and options, and only the WSJ sample;
        ``n_jobs`` is the number of threads of the tagger.

    Returns
    -------
    Findings
        Numbers by claim, and further ones by the same scheme.
    """
    values: dict[str, float] = {}
    quoted = "a system of others that the paper quotes; it is not part of this library"
    not_run = {"ptb-suzuki": quoted, "ptb-spoustova": quoted}
    unlabeled = cache(lambda: _unlabeled(settings))
    ids = {
        "wsj": [*_ORDERINGS, "figure5-rise", "figure5-shrink"],
        "ewt": _ORDERINGS,
        "ptb": [*_PUBLISHED, *_ORDERINGS],
    }
    loaders: dict[str, Callable[[], Parts]] = {
        "wsj": wsj_sample,
        "ewt": ewt,
        "ptb": wsj_sections,
    }
    for name, loader in loaders.items():
        own_ids = [f"{name}-{end}" for end in ids[name]]
        if settings.quick and name != "wsj":
            not_run |= dict.fromkeys(own_ids, "left out of the quick run")
            continue
        try:
            values |= settings.kept(f"sogaard2011 {name}", partial(_measure, loader, unlabeled, settings))
        except MissingDataError as error:
            not_run |= dict.fromkeys(own_ids, str(error))
    return Findings(values, not_run)


def _measure(
    loader: Callable[[], Parts], unlabeled: Callable[[], tuple[Words, dict[str, str]]], settings: Settings
) -> dict[str, float]:
    parts = loader()
    return Experiment(parts.first(600) if settings.quick else parts, *unlabeled(), settings).values()


def _unlabeled(settings: Settings) -> tuple[Words, dict[str, str]]:
    brown = brown_words()
    if settings.quick:
        brown = first_words(brown, 100_000)
    return brown, cluster(brown, settings)


def cluster(brown: Words, settings: Settings) -> dict[str, str]:
    """Cluster the words of the unlabeled text, in the role of the paper's unsupervised tagger.

    Parameters
    ----------
    brown : list of lists of str
        The Brown corpus.
    settings : Settings
        A quick run clusters only that.

    Returns
    -------
    dict of str to str
        Cluster of each word.
    """
    if settings.quick:
        return BrownClusters(100, min_count=2).fit(brown).paths_
    return BrownClusters(320, min_count=3).fit(clustering_text(brown), progress=settings.progress).paths_


class Experiment:
    """The experiment on one corpus.

    Parameters
    ----------
    parts : Parts
        The corpus.
    brown : list of lists of str
        Unlabeled sentences.
    clusters : mapping of str to str
        Cluster of each word.
    settings : Settings
        How to run it.
    """

    def __init__(self, parts: Parts, brown: Words, clusters: Mapping[str, str], settings: Settings) -> None:
        self.parts, self.clusters, self.settings = parts, clusters, settings
        self.grid: Sequence[Options] = (GRID[0], GRID[2], GRID[5]) if settings.quick else GRID
        tagger = self._train(parts.base, 20 if settings.quick else None)
        self.T, self.gold_T = self._rows(tagger, parts.labeled)
        self.test, self.gold = self._rows(tagger, parts.test)
        self.U, _ = self._rows(tagger, (brown, brown))

    def values(self) -> dict[str, float]:
        """Return accuracies in percent, stored points, and what follows from them, by claim."""
        scores: dict[str, float] = {}
        base = self.test[:, 0]
        right = {"base": base == self.gold}
        chosen = {}
        splits = list(blocks(len(self.T), 2 if self.settings.quick else _N_FOLDS))
        some = self.U[:_CHOICE_WORDS]
        for kind in MAKERS:
            self._tell(f"{self.parts.name}: {kind}")
            chosen[kind] = choose(kind, self.T, self.gold_T, some, splits, self.grid)
            options = chosen[kind].options
            model = fit(kind, options, self.T, self.gold_T, self.U)
            winners, probabilities = answers(model, options, self.test)
            right[kind] = winners == self.gold
            scores[f"{kind}-points"] = len(model.stored_codes_)
            if kind == "scnn":
                kept = np.where(probabilities < chosen[kind].min_share, base, winners)
                right["fallback"] = kept == self.gold
                scores["fallback-changed"] = int((kept != base).sum())
        self._tri_training(chosen["wcnn"].options, right, scores)
        right |= self._crossed(scores)
        scores |= {kind: 100 * float(verdicts.mean()) for kind, verdicts in right.items()}
        scores |= _comparisons(scores, right)
        scores |= self._figure_five(chosen["scnn"].options)
        return {f"{self.parts.name}-{end}": value for end, value in scores.items()}

    def _train(self, tagged: Tagged, n_iterations: int | None) -> CRF:
        """Train a tagger, without a number of iterations until its objective stops falling."""
        self._tell(f"{self.parts.name}: tagger")
        return CRF(max_iter=n_iterations, n_jobs=self.settings.n_jobs).fit(*tagged, progress=self.settings.progress)

    def _rows(self, tagger: CRF, tagged: Tagged) -> tuple[np.ndarray, np.ndarray]:
        words, tags = tagged
        gold = np.array([*chain.from_iterable(tags), None], dtype=object)[:-1]
        return token_rows(words, tagger.predict(words), self.clusters), gold

    def _tri_training(self, options: Options, right: dict[str, np.ndarray], scores: dict[str, float]) -> None:
        """Note answers, stored points, and the unlabeled rows that taught one of the three."""
        more = self.U[:_TRI_WORDS]
        rows = weigh(np.concatenate([self.T, more]), options.tag_weight)
        labels = np.concatenate([self.gold_T, np.full(len(more), None)])
        for kind, admit in _TRI.items():
            self._tell(f"{self.parts.name}: {kind}")
            model = TriTraining(MAKERS["wcnn"](options), random_state=0, admit=admit).fit(rows, labels)
            right[kind] = model.predict(weigh(self.test, options.tag_weight)) == self.gold
            scores[f"{kind}-points"] = sum(len(part.kept_) for part in model.estimators_)
            scores[f"{kind}-taken"] = int((model.labeled_iter_ > 0).sum())

    def _crossed(self, scores: dict[str, float]) -> dict[str, np.ndarray]:
        """Also train the classifier on the tagger's own training sentences, tagged by taggers that did not see them."""
        words, tags = self.parts.base
        n, n_folds = len(words), 2 if self.settings.quick else _N_CROSSED
        rows, gold = [], []
        for f in range(n_folds):
            start, stop = n * f // n_folds, n * (f + 1) // n_folds
            others = [*words[:start], *words[stop:]], [*tags[:start], *tags[stop:]]
            tagger = self._train(others, 20 if self.settings.quick else None)
            X, y = self._rows(tagger, (words[start:stop], tags[start:stop]))
            rows.append(X)
            gold.append(y)
        X, y = np.concatenate([*rows, self.T]), np.concatenate([*gold, self.gold_T])
        n_crossed = len(X) - len(self.T)
        split = [(np.arange(n_crossed), np.arange(n_crossed, len(X)))]  # judged on T
        right = {}
        for kind in ("cnn", "wcnn", "scnn", "scnn-weak"):
            self._tell(f"{self.parts.name}: crossed {kind}")
            options = choose(kind, X, y, self.U[:_CHOICE_WORDS], split, self.grid).options
            model = fit(kind, options, X, y, self.U)
            right[f"crossed-{kind}"] = answers(model, options, self.test)[0] == self.gold
            scores[f"crossed-{kind}-points"] = len(model.stored_codes_)
        return right

    def _figure_five(self, options: Options) -> dict[str, float]:
        """Vary the amount of unlabeled text, with few labeled words."""
        curve: Curve = []
        judged, gold = self.test[:_CURVE_WORDS], self.gold[:_CURVE_WORDS]
        few = slice(0, _CURVE_WORDS)
        for amount in _CURVE:
            model = fit("scnn", options, self.T[few], self.gold_T[few], self.U[:amount])
            accuracy = 100 * float(np.mean(answers(model, options, judged)[0] == gold))
            curve.append((min(amount, len(self.U)), accuracy, len(model.stored_codes_)))
            if amount >= len(self.U):
                break
        if self.settings.figures is not None:
            draw_curve(self.settings.figures / f"figure5-{self.parts.name}.svg", curve)
        scores, points = [c[1] for c in curve], [c[2] for c in curve]
        return {
            "figure5-lowest": min(scores),
            "figure5-highest": max(scores),
            "figure5-fewest": min(points),
            "figure5-most": max(points),
            "figure5-rise": max(scores) - scores[0],
            "figure5-shrink": points[0] - min(points[1:]),
        }

    def _tell(self, stage: str) -> None:
        if self.settings.progress is not None:
            self.settings.progress(Step(stage, 0))


def _comparisons(scores: Mapping[str, float], right: Mapping[str, np.ndarray]) -> dict[str, float]:
    accuracy: dict[str, Any] = {kind: scores[kind] / 100 for kind in right}
    p_value = mcnemar(right["scnn"], right["cnn"])
    return {
        "scnn-over-cnn": scores["scnn"] - scores["cnn"],
        "scnn-fewer": scores["cnn-points"] - scores["scnn-points"],
        "scnn-error-reduction": 100 * error_reduction(accuracy["scnn"], accuracy["cnn"]),
        "scnn-base-error-reduction": 100 * error_reduction(accuracy["scnn"], accuracy["base"]),
        "scnn-log-p": -float(np.log10(max(p_value, 1e-300))),
        "scnn-over-base": scores["scnn"] - scores["base"],
        "scnn-base-p": mcnemar(right["scnn"], right["base"]),
        "fallback-over-base": scores["fallback"] - scores["base"],
        "crossed-over-base": scores["crossed-scnn-weak"] - scores["base"],
        "crossed-base-p": mcnemar(right["crossed-scnn-weak"], right["base"]),
    }
