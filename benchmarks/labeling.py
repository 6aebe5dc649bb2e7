"""Simulated labeling sessions: accuracy of chosen labels against random ones, honesty of estimates, precision of label errors.

python -m benchmarks.labeling wine digits texts/snips-intent.csv.gz tagged/mit-restaurant.tsv.gz --sessions 20

A set is a table of scikit-learn, a CSV file with the columns text and label, or tagged sentences. Every session labels 100 rows or
sentences, every fifth at random, and is judged on the rows that it could not choose. With more, sessions are compared with random
labels, and label errors are looked for. True probabilities of the clouds are known, so an oracle shows the best precision there is.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.special import softmax

from handful.active.estimates import estimate_accuracy
from handful.active.label_errors import find_label_errors
from handful.active.query import ActiveLearner
from handful.active.sentences import estimate_tagging, suggest_sentences
from handful.models.table_model import TableModel

SIZES, SENTENCE_SIZES = (50, 100), (40, 100)
BATCHES = (10, 20, 35, 40, 50, 75, 100)  # labels after which a session learns anew
FLIPPED = 0.1
N_DRAWS = 100  # of random sentences, for the expected estimate
N_ROWS = 600
CENTERS = np.array([[0, 0], [2.2, 0], [0, 2.2], [2.2, 2.2]])  # of the clouds, which are normal with unit variance
Results = dict[str, float]


def rows_of(name: str) -> tuple[Any, np.ndarray]:
    """Return the rows of a set and their classes."""
    from sklearn import datasets

    if name == "clouds":  # four that overlap
        rng = np.random.default_rng(0)
        codes = rng.integers(0, 4, 1500)
        return CENTERS[codes] + rng.normal(size=(1500, 2)), codes.astype(str)
    if "." in name:
        import polars as pl

        frame = pl.read_csv(name)
        return frame["text"].to_numpy(), frame["label"].cast(pl.String).to_numpy()
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X, y.astype(str)


def session(X: Any, y: np.ndarray, seed: int, strategy: str, model: Any) -> Iterator[tuple[ActiveLearner, list[int]]]:
    """Yield the learner and its random rows whenever a number of `SIZES` is reached."""
    learner, at_random = ActiveLearner(X, model=model, random_state=seed), []
    for size in BATCHES if strategy == "auto" else SIZES:
        picked = learner.next(size - len(learner.labels), strategy)
        learner.update({one.row: str(y[one.row]) for one in picked})
        at_random += [one.row for one in picked if one.random]
        if size in SIZES:
            yield learner, at_random


def true_proba(X: np.ndarray) -> np.ndarray:
    """Return the probabilities of the four clouds."""
    return np.asarray(softmax(-((X[:, None, :] - CENTERS) ** 2).sum(axis=2) / 2, axis=1))


def simulate_rows(X: Any, y: np.ndarray, seed: int, options: argparse.Namespace, true: Any) -> Results:
    """Return what is measured in one session on rows; `true` returns their true probabilities where these are known."""
    drawn = np.random.default_rng(seed).permutation(len(y))[: 2 * N_ROWS]
    some, new = np.array_split(drawn, 2)  # of the second half none can be chosen
    X, y, X_new, y_new = X[some], y[some], X[new], y[new]
    if X.ndim == 1:
        X, X_new = list(X), list(X_new)
    results: Results = {}
    for strategy in ("auto", "random") if options.more else ("auto",):
        for learner, at_random in session(X, y, seed, strategy, options.model):
            size = len(learner.labels)
            labels = [learner.labels.get(row) for row in range(len(y))]
            fitted = TableModel(learner.method, random_state=seed).fit(X, labels)
            truth = float(np.mean(np.asarray(fitted.predict(X_new)) == y_new))
            results[f"accuracy, {size} {strategy}"] = truth
            if strategy == "auto" and (estimate := estimate_accuracy(learner, at_random)) and size == SIZES[-1]:
                results |= judged(estimate.accuracy, estimate.low, estimate.high, truth)
        if options.more:
            rng = np.random.default_rng([seed, 1])
            results |= flipped(X, y, learner, strategy, rng, None if true is None else true(X))
    return results


def judged(score: float, low: float, high: float, truth: float) -> Results:
    """Return the error of an estimate, and whether its interval holds the truth."""
    return {"bias of the estimate": score - truth, "90% interval holds": float(low <= truth <= high)}


def flipped(
    X: Any, y: np.ndarray, learner: ActiveLearner, strategy: str, rng: np.random.Generator, true: np.ndarray | None
) -> Results:
    """Look for label errors where there are none, and where a tenth of the labels was flipped."""
    labeled = np.array(sorted(learner.labels))
    wrong = rng.choice(labeled, int(FLIPPED * len(labeled)), replace=False)
    names, labels = np.unique(y), [learner.labels.get(row) for row in range(len(y))]
    listed = len(find_label_errors(X, labels)) / len(labeled)
    for row in wrong:
        labels[row] = rng.choice(names[names != y[row]])
    errors = find_label_errors(X, labels, n=len(wrong))
    hits = np.isin([error.row for error in errors], wrong)
    by_default = hits[: max(errors.n_judged // 20, 1)]
    results = {
        f"correct labels listed, {strategy}": listed,
        f"flips among the first as many, {strategy}": hits.sum() / len(wrong),
        f"flips listed, {strategy}": by_default.sum() / len(wrong),
    }
    if len(by_default):
        results[f"precision of listed errors, {strategy}"] = by_default.mean()
    if true is not None:  # Bayes' rule: ranked by these probabilities no method does better on average
        own = true[labeled, np.searchsorted(names, [labels[row] for row in labeled])]
        first = labeled[np.argsort(own)[: len(wrong)]]
        results[f"flips among the first as many, oracle, {strategy}"] = float(np.isin(first, wrong).mean())
    return results


def sentences_of(name: str) -> tuple[list[list[str]], list[list[str]]]:
    """Return the tokens and tags of a file."""
    from pathlib import Path

    from handful.data.chunks import to_iob2
    from handful.data.tagged import read_tagged

    corpus = read_tagged(Path(name))
    tags = [to_iob2(one) if corpus.has_spans else list(one) for one in corpus.tags]
    return [list(sentence.tokens) for sentence in corpus.sentences], tags


def simulate_sentences(
    sentences: list[list[str]], tags: list[list[str]], seed: int, options: argparse.Namespace
) -> Results:
    """Return what is measured in one session on sentences."""
    from handful.tagging.evaluation import score_tags
    from handful.tagging.recipes import TaggerSetup

    drawn = np.random.default_rng(seed).permutation(len(sentences))[: 2 * N_ROWS].tolist()
    sentences, tags = [sentences[i] for i in drawn], [tags[i] for i in drawn]
    with_spans = any(tag.startswith("B-") for line in tags for tag in line)

    def fit(tokens: list[Any], own: list[Any]) -> Any:
        if len({tag for line in own for tag in line}) < 2:
            return None
        return TaggerSetup("general", outside_bias=0.0, max_iter=40, random_state=seed).fit_crf(tokens, own)

    rest = range(N_ROWS, len(sentences))  # those that cannot be chosen

    def tags_of(tagger: Any) -> list[list[str]]:
        return list(tagger.predict([sentences[i] for i in rest]))

    def score(said: list[list[str]], of: Iterable[int] = rest) -> float:
        held = list(of)
        scores = score_tags([tags[i] for i in held], [said[i - N_ROWS] for i in held], with_spans)
        return scores["f1" if with_spans else "accuracy"]

    results: Results = {}
    labeled: list[int] = []
    at_random: list[int] = []
    tagger: Any = None
    for size in BATCHES:
        left = [i for i in range(N_ROWS) if i not in labeled]
        raw, n = [sentences[i] for i in left], size - len(labeled)
        picked = suggest_sentences(raw, tagger, n=n, n_labeled=len(labeled), random_state=seed + len(labeled))
        at_random += [left[one.sentence] for one in picked if one.random]
        labeled += [left[one.sentence] for one in picked]
        tagger = fit([sentences[i] for i in labeled], [tags[i] for i in labeled])
        if size in SENTENCE_SIZES:
            results[f"score, {size} auto"] = score(tags_of(tagger))
            for name, rows in {"auto": labeled, "random": list(range(size))}.items() if options.more else ():
                tokens: list[Any] = [sentences[i] for i in rows]
                exported = TaggerSetup(random_state=seed).fit_crf(tokens, [tags[i] for i in rows])
                results[f"score of 'fit tagger', {size} {name}"] = score(tags_of(exported))

    held_out: list[list[list[str]]] = []  # the tags of the rest, as each fold's tagger has them

    def predict(train: list[int], test: list[int]) -> list[list[str]]:
        model = fit([sentences[labeled[i]] for i in train], [tags[labeled[i]] for i in train])
        held_out.append(tags_of(model))
        return list(model.predict([sentences[labeled[i]] for i in test]))

    places, truth = [labeled.index(i) for i in at_random], results[f"score, {SENTENCE_SIZES[-1]} auto"]
    estimate = estimate_tagging([tags[i] for i in labeled], places, predict, with_spans)
    # What the estimate is on average over other random sentences: each fold's tagger tags its share of as many of the rest.
    rng, expected = np.random.default_rng([seed, 2]), []
    for _ in range(N_DRAWS):
        drawn = rng.choice(rest, len(places), replace=False).tolist()
        mixed = {i: held_out[k % len(held_out)][i - N_ROWS] for k, i in enumerate(drawn)}
        expected.append(score([mixed.get(i, []) for i in rest], drawn))
    results |= judged(estimate.score, estimate.low, estimate.high, truth)
    return results | {"expected bias of the estimate": float(np.mean(expected)) - truth}


def main() -> None:
    """Print means over sessions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=["wine", "digits", "breast_cancer", "clouds"])
    parser.add_argument("--sessions", type=int, default=20, help="sessions of each set")
    parser.add_argument("--first", type=int, default=0, help="seed of the first session")
    parser.add_argument("--model", help="method for rows, such as logistic-regression; the ensemble by default")
    parser.add_argument("--more", action="store_true", help="compare with random labels, look for label errors")
    parser.add_argument("--quick", action="store_true", help="one session of each set")
    options = parser.parse_args()
    for name in options.sets:
        is_tagged = name.removesuffix(".gz").endswith(".tsv")
        data: tuple[Any, Any] = sentences_of(name) if is_tagged else rows_of(name)
        true = true_proba if name == "clouds" else None
        simulate: Any = (
            partial(simulate_sentences, options=options)
            if is_tagged
            else partial(simulate_rows, options=options, true=true)
        )
        results: dict[str, list[float]] = {}
        for seed in range(options.first, options.first + (1 if options.quick else options.sessions)):
            for key, value in simulate(*data, seed).items():
                results.setdefault(key, []).append(value)
        print(name)
        for key, values in results.items():
            error = 100 * np.std(values) / np.sqrt(len(values))
            print(f"  {key:40} {100 * np.mean(values):6.1f}%  ± {error:.1f}  (n = {len(values)})", flush=True)


if __name__ == "__main__":
    main()
