"""The label loop held against chance and against scikit-activeml: which rows next, labels in doubt, forecasts, speed.

Run ``python benchmarks/labeling.py PART`` with PART one of ``next``, ``doubt``, ``tags``, ``forecast``, ``sentences``, ``speed``.
Without ``--tables`` and ``--texts`` the tables that come with scikit-learn are used. ``--tables FOLDER`` reads every
``FILE:TARGET`` of ``--sets`` that the folder has; TARGET is a column or ``last``, and columns to leave out follow after more
colons, with ``*`` for any letters. Every set has at least 15 rows a class. ``--texts FOLDER`` reads ``NAME.csv`` or
``NAME.csv.gz`` with the columns text and label. ``sentences`` needs ``--tagged TRAIN TEST``, or one file, of which 1,000
sentences are held back; ``tags`` needs ``--tagged FILE ...``, and changes a twentieth of the spans (or, without spans, of the
tags) of ``--rows`` sentences.
``--seeds 20`` is the full run. Every figure is of rows whose labels were hidden.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import time
import warnings
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from handful.corpora.tables import table_of
from handful.features.tables import TableEncoder
from handful.labeling import LabelLoop, doubtful_labels, doubtful_tags, next_sentences
from handful.labeling.committee import committee_shares
from handful.labeling.space import as_points, neighborhood, telling_columns

Rows = tuple[Any, np.ndarray]


def own_tables() -> dict[str, Callable[[], tuple[pl.DataFrame, str]]]:
    from sklearn import datasets

    def as_frame(load: Any) -> Callable[[], tuple[pl.DataFrame, str]]:
        def read() -> tuple[pl.DataFrame, str]:
            X, y = load(return_X_y=True)
            columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
            return pl.DataFrame({**columns, "target": [str(v) for v in y]}), "target"

        return read

    loads = {name: getattr(datasets, f"load_{name}") for name in ("iris", "wine", "breast_cancer", "digits")}
    return {name: as_frame(load) for name, load in loads.items()}


# Tables and texts as people have them; column names after the target are ids, or leak it.
TABLES = (
    "adult.data.csv:last,balance-scale.csv:last,bank.csv:last,car-insurance-claim.csv:CLAIM_FLAG:CLM_AMT:ID,"
    "cfpb-complaints.csv:Company response to consumer,credit-a.csv:last,dermatology.csv:last,"
    "ecommerce-churn.xlsx:Churn:CustomerID,eucalyptus.csv:last,german-credit.csv:last,haberman.csv:last,"
    "heart-cleveland.csv:last,hepatitis.csv:last,horse-colic.csv:column23:column24:column25:column26:column27:column28,"
    "hypothyroid.csv:last,lending-club-sample.csv:loan_status:id:url:pymnt_plan:out_prncp*:total_pymnt*:total_rec_*:recoveries:"
    "collection_recovery_fee:last_*:next_pymnt_d:hardship_*:deferral_term:payment_plan_*:orig_projected_*:debt_settlement_*:"
    "settlement_*,loans-percent.csv:Loan.Purpose,magic.csv:last,mushrooms.csv:edibility,new-thyroid.csv:last,page-blocks.csv:last,"
    "penguins_raw.csv:Species,phoneme.csv:last,pima-diabetes.csv:last,raisin.xlsx:last,soybean.csv:last,"
    "spambase.csv:last,splice.csv:last:Instance_name,steel-plates.csv:last,telco-churn.csv:last:customerID,"
    "titanic.csv:Survived,usps.csv:last,vote.csv:last,waveform.csv:last,wheat-seeds.csv:last,zoo.csv:last:animal"
)
TEXTS = (
    "rt-polarity,subj,sentiment-amazon,sentiment-imdb,sentiment-yelp,bbc-news,r8-train,snips-intent-train,10kgnad-test,"
    "germeval2018-train,cfpb-narratives,banking77-train,clinc150-small-train"
)


def folder_tables(folder: Path, sets: list[str]) -> dict[str, Callable[[], tuple[pl.DataFrame, str]]]:
    from handful.corpora.tables import table_frames

    def reader(file: str, target: str, skipped: list[str]) -> Callable[[], tuple[pl.DataFrame, str]]:
        def read() -> tuple[pl.DataFrame, str]:
            frame = pl.concat(list(table_frames(folder / file)), how="diagonal_relaxed")
            column = frame.columns[-1] if target == "last" else target
            frame = frame.drop([name for name in frame.columns if any(fnmatchcase(name, some) for some in skipped)])
            return frame.filter(~pl.col(column).cast(pl.String).is_in(["?", ""]).fill_null(True)), column

        return read

    parts = [entry.split(":") for entry in sets]
    return {file.split(".")[0]: reader(file, target, skipped) for file, target, *skipped in parts}


def folder_texts(folder: Path, names: list[str]) -> dict[str, Callable[[], tuple[pl.DataFrame, str]]]:
    def reader(name: str) -> Callable[[], tuple[pl.DataFrame, str]]:
        def read() -> tuple[pl.DataFrame, str]:
            path = folder / f"{name}.csv"
            data = path.read_bytes() if path.exists() else gzip.decompress((folder / f"{name}.csv.gz").read_bytes())
            frame = pl.read_csv(io.BytesIO(data), infer_schema_length=0).select("text", "label")
            return frame.filter(pl.col("text").is_not_null() & pl.col("label").is_not_null()), "label"

        return read

    return {name: reader(name) for name in names}


_LEAST_OF_A_CLASS = 15  # rows, so that eight of each class can be chosen and others are left to choose from


class Drawn:
    """Rows of a table, encoded once as the methods of handful see them (no label is looked at), of which seeds draw some."""

    def __init__(self, read: Callable[[], tuple[pl.DataFrame, str]], n_rows: int, trees: bool = True) -> None:
        frame, target = read()
        n_rows = max(n_rows, _LEAST_OF_A_CLASS * frame[target].n_unique())
        self.n_rows, self.trees = n_rows, trees
        frame = frame[np.random.default_rng(0).permutation(frame.height)[: 3 * n_rows]]
        self.codes = np.unique(frame[target].cast(pl.String).to_numpy(), return_inverse=True)[1]
        table = table_of("x", frame, target)
        kinds = telling_columns(table)
        self.cells = table.frame.select(list(kinds))
        self.matrix = TableEncoder.learn(self.cells, kinds).transform(self.cells)

    def drawn(self, seed: int) -> np.ndarray:
        return np.random.default_rng(seed).permutation(len(self.codes))[: self.n_rows]

    def rows(self, seed: int) -> Rows:
        chosen = self.drawn(seed)
        return self.matrix[chosen], np.unique(self.codes[chosen], return_inverse=True)[1]


def held_figures(store: Path | None) -> dict[str, Any]:
    """Return the figures of an earlier run, by set; these are not made again."""
    return dict(json.loads(store.read_text())) if store is not None and store.exists() else {}


def keep_figures(store: Path | None, figures: dict[str, Any]) -> None:
    if store is not None:
        store.write_text(json.dumps(figures, indent=1))


# --- which rows next ---


def learners() -> dict[str, Callable[[], Any]]:
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.linear_model import LogisticRegression

    return {
        "logistic regression": lambda: LogisticRegression(max_iter=300),
        "extra trees": lambda: ExtraTreesClassifier(50, random_state=0),
    }


def scores_of(X: Any, y: np.ndarray, rows: list[int], test: np.ndarray, points: np.ndarray, around: Any) -> list[float]:
    """Return the scores of plain learners, and last that of the committee of `next`, which learns from unlabeled rows too."""
    if len(set(y[rows].tolist())) == 1:
        return [float(np.mean(y[test] == y[rows[0]]))] * (len(learners()) + 1)
    answers = [make().fit(X[rows], y[rows]).predict(X[test]) for make in learners().values()]
    codes = np.full(len(y), -1)
    codes[rows] = y[rows]
    answers.append(committee_shares(points, codes, int(y.max()) + 1, around, 0)[test].argmax(axis=1))
    return [float(np.mean(answer == y[test])) for answer in answers]


def by_chance(loop: LabelLoop, y: np.ndarray, step: int, seed: int) -> Iterator[list[int]]:
    """Yield the rows of ``LabelLoop.next(strategy="random")``, without its suggestions."""
    order = np.random.default_rng(seed).permutation(len(y)).tolist()
    for start in range(0, len(order), step):
        yield order[start : start + step]


def by_handful(strategy: str) -> Callable[..., Iterator[list[int]]]:
    def choose(loop: LabelLoop, y: np.ndarray, step: int, seed: int) -> Iterator[list[int]]:
        while True:
            picks = [pick.row for pick in loop.next(step, strategy)]
            loop.update({row: int(y[row]) for row in picks})
            yield picks

    return choose


def by_activeml(name: str) -> Callable[..., Iterator[list[int]]]:
    def choose(loop: LabelLoop, y: np.ndarray, step: int, seed: int) -> Iterator[list[int]]:
        from skactiveml.classifier import SklearnClassifier
        from skactiveml.pool import TypiClust, UncertaintySampling
        from sklearn.linear_model import LogisticRegression

        rng = np.random.default_rng(seed)
        known = np.full(len(y), np.nan)
        first = True
        while True:
            if name == "typiclust":
                picks = TypiClust(random_state=seed).query(loop.points, known, batch_size=step)
            elif first:
                picks = rng.choice(len(y), step, replace=False)
            else:
                model = SklearnClassifier(LogisticRegression(max_iter=300), classes=np.unique(y))
                strategy = UncertaintySampling(method="margin_sampling", random_state=seed)
                picks = strategy.query(loop.points, known, clf=model, batch_size=step)
            first = False
            known[picks] = y[picks]
            yield [int(row) for row in picks]

    return choose


def every_row(loop: LabelLoop, y: np.ndarray, step: int, seed: int) -> Iterator[list[int]]:
    """Yield all rows at once: what is the most that labels can bring, however they are chosen."""
    yield list(range(len(y)))


CHOOSERS = {
    "random": by_chance,
    "auto": by_handful("auto"),
    "typical": by_handful("typical"),
    "margin": by_handful("margin"),
    "activeml margin": by_activeml("margin"),
    "activeml typiclust": by_activeml("typiclust"),
    "every row": every_row,
}


def run_next(
    sets: dict[str, Any], seeds: range, n_rows: int, store: Path | None, choosers: list[str]
) -> dict[str, Any]:
    """Choose rows of two thirds of a table, a few at a time, and score plain learners on the other third.

    All choosers see the same points: those that `LabelLoop` makes of the cells.
    """
    figures = held_figures(store)
    for name, read in sets.items():
        told = figures.setdefault(name, {})
        missing = {chooser: CHOOSERS[chooser] for chooser in choosers if f"4 {chooser}" not in told}
        if not missing:
            continue
        drawn = Drawn(read, n_rows)
        for seed in seeds:
            chosen = drawn.drawn(seed)
            X, y = drawn.rows(seed)
            n_classes, n_test = len(np.unique(y)), len(y) // 3
            test, pool = np.arange(n_test), np.arange(n_test, len(y))
            loop = LabelLoop(drawn.cells[chosen[pool]], random_state=seed)
            points = as_points(X, seed)
            around = neighborhood(points)
            for chooser, choose in missing.items():
                loop.update(dict.fromkeys(list(loop.labels)))
                rows: list[int] = []
                batches = choose(loop, y[pool], n_classes, seed)
                for size in (size for size in (4, 8) if size * n_classes <= 0.8 * len(pool)):
                    while len(rows) < size * n_classes:
                        rows += next(batches)
                    told.setdefault(f"{size} {chooser}", []).append(
                        scores_of(X, y, pool[rows].tolist(), test, points, around)
                    )
        keep_figures(store, figures)
        for size in (4, 8):
            tell_gains(f"{name:22s}", {name: told}, size, choosers)
    for kind, part in (("all", figures), ("tables", {k: v for k, v in figures.items() if k not in TEXTS.split(",")})):
        for size in (4, 8):
            tell_gains(f"mean of {kind}", part, size, choosers)
    return figures


def tell_gains(head: str, figures: dict[str, Any], size: int, choosers: list[str]) -> None:
    """Print the gain over chance in points: of the plain learners (mean, and each) and of the committee.

    With several sets also the error of the mean over sets, and the worst set with its error over seeds.
    """
    held = {name: told for name, told in figures.items() if all(f"{size} {one}" in told for one in choosers)}
    if not held:
        return
    base = {name: np.array(told[f"{size} random"]) for name, told in held.items()}
    usual = np.mean([chance.mean(axis=0) for chance in base.values()], axis=0)
    print(f"{head} {size} per class ({len(held)}): random {(100 * usual).round(1).tolist()}", end="")
    for chooser in choosers[1:]:
        gains = {name: 100 * (np.array(told[f"{size} {chooser}"]) - base[name]) for name, told in held.items()}
        by_set = np.array([gain.mean(axis=0) for gain in gains.values()])
        plain, by_learner = by_set[:, :-1].mean(axis=1), by_set.mean(axis=0)
        print(f"; {chooser} {plain.mean():+.2f} {by_learner.round(2).tolist()}", end="")
        if len(held) > 1:
            worst = list(gains)[int(plain.argmin())]
            line = gains[worst][:, :-1].mean(axis=1)
            error = line.std(ddof=1) / len(line) ** 0.5 if len(line) > 1 else float("nan")
            print(
                f" (error {plain.std(ddof=1) / len(plain) ** 0.5:.2f}), worst {worst} {plain.min():+.1f} (error {error:.1f}), "
                f"{(plain < -1).sum()} more than 1 below, of the committee {(by_set[:, -1] < -1).sum()}",
                end="",
            )
    print(flush=True)


# --- labels in doubt ---


def run_doubt(sets: dict[str, Any], seeds: range, n_rows: int, store: Path | None) -> dict[str, Any]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    figures = held_figures(store)
    for name, read in sets.items():
        if name in figures:
            continue
        drawn = Drawn(read, n_rows)
        ours, plain = [], []
        for seed in seeds:
            X, y = drawn.rows(seed)
            counts = np.bincount(y)
            kept = np.flatnonzero(counts[y] >= 10)
            cells = drawn.cells[drawn.drawn(seed)[kept]]
            X, y = X[kept], np.unique(y[kept], return_inverse=True)[1]
            rng = np.random.default_rng(seed)
            wrong = rng.choice(len(y), len(y) // 10, replace=False)
            given = y.copy()
            n_classes = int(y.max()) + 1
            given[wrong] = (y[wrong] + rng.integers(1, n_classes, len(wrong))) % n_classes
            told = doubtful_labels(cells, given, n=len(wrong), random_state=seed)
            ours.append(np.isin([doubt.row for doubt in told.doubts], wrong).sum() / len(wrong))
            folds = StratifiedKFold(5, shuffle=True, random_state=seed)
            shares = cross_val_predict(LogisticRegression(max_iter=500), X, given, cv=folds, method="predict_proba")
            first = np.argsort(shares[np.arange(len(y)), given], kind="stable")[: len(wrong)]
            plain.append(np.isin(first, wrong).mean())
        figures[name] = {"handful": round(float(np.mean(ours)), 3), "logistic": round(float(np.mean(plain)), 3)}
        keep_figures(store, figures)
        print(f"{name:22s} precision at the number of flips {figures[name]}", flush=True)
    for kind, part in (("all", figures), ("tables", {k: v for k, v in figures.items() if k not in TEXTS.split(",")})):
        for key in ("handful", "logistic") if part else ():
            print(f"mean of {kind} ({len(part)}) {key} {np.mean([value[key] for value in part.values()]):.3f}")
    return figures


# --- tags in doubt ---


def run_tags(files: list[Path], seeds: range, n_sentences: int, store: Path | None) -> dict[str, Any]:
    """Change some tags and count how many of as many doubts are of changed ones, by our order and by the tagger's lead."""
    from handful.corpora.tagged import read_tagged

    figures = held_figures(store)
    for file in files:
        if file.name in figures:
            continue
        corpus = read_tagged(file)
        ours, lead = [], []
        for seed in seeds:
            rng = np.random.default_rng(seed)
            drawn = rng.permutation(len(corpus.sentences))[:n_sentences].tolist()
            tags, changed, n_changed = with_changed_tags([list(corpus.tags[i]) for i in drawn], rng)
            told = doubtful_tags([corpus.sentences[i] for i in drawn], tags, random_state=seed).doubts
            for shares, order in (
                (ours, told),
                (lead, sorted(told, key=lambda doubt: doubt.given_share - doubt.suggested_share)),
            ):
                hits = [any((d.sentence, at) in changed for at in range(d.start, d.stop)) for d in order[:n_changed]]
                shares.append(sum(hits) / n_changed)
        figures[file.name] = {"handful": round(float(np.mean(ours)), 3), "lead": round(float(np.mean(lead)), 3)}
        keep_figures(store, figures)
        print(f"{file.name:28s} precision at the number of changes {figures[file.name]}", flush=True)
    for key in ("handful", "lead"):
        print(f"mean of {len(figures)} {key} {np.mean([value[key] for value in figures.values()]):.3f}")
    return figures


def with_changed_tags(
    tags: list[list[str]], rng: np.random.Generator
) -> tuple[list[list[str]], set[tuple[int, int]], int]:
    """Give a twentieth of the spans another type, or none; without spans, a twentieth of the tokens another tag."""
    has_spans = any(tag.startswith("B-") for line in tags for tag in line)
    units = []
    for number, line in enumerate(tags):
        for start, tag in enumerate(line):
            if has_spans and not tag.startswith("B-"):
                continue
            stop = start + 1
            while has_spans and stop < len(line) and line[stop] == f"I-{tag[2:]}":
                stop += 1
            units.append((number, start, stop))
    types = sorted({tag[2:] if has_spans else tag for line in tags for tag in line if not has_spans or tag != "O"})
    changed = set()
    chosen = rng.permutation(len(units))[: max(len(units) // 20, 1)].tolist()
    for number, start, stop in (units[unit] for unit in chosen):
        old = tags[number][start][2:] if has_spans else tags[number][start]
        others = [name for name in types if name != old] + ["O"] * has_spans
        new = others[int(rng.integers(len(others)))]
        for at in range(start, stop):
            tags[number][at] = new if new == "O" or not has_spans else f"{'B' if at == start else 'I'}-{new}"
            changed.add((number, at))
    return tags, changed, len(chosen)


# --- forecasts ---


def run_forecast(
    sets: dict[str, Any], seeds: range, n_rows: int, store: Path | None, trees: bool = True
) -> dict[str, Any]:
    """Learn curves of the first labels of a table, and the score with twice as many; then hold the band against it."""
    figures = held_figures(store)
    for name, read in sets.items():
        if name in figures:
            continue
        drawn = Drawn(read, n_rows, trees)
        figures[name] = [pair for seed in seeds for pair in curves_and_truths(drawn, seed)]
        keep_figures(store, figures)
        print(f"{name:22s} {held_truths(figures[name])}", flush=True)
    names = list(figures)
    for kind, part in (("even tables", names[::2]), ("odd tables", names[1::2]), ("all", names)):
        print(f"{kind} ({len(part)}): {held_truths([pair for name in part for pair in figures[name]])}")
    return figures


def curves_and_truths(drawn: Drawn, seed: int) -> Iterator[dict[str, Any]]:
    """Yield what `label_budget` sees of some labels, and what its best method scores with twice as many.

    The truth is the mean of ten draws of twice as many labels, each scored on all other rows.
    """
    from handful.labeling.curves import answer_or_only, learning_curves, quick_answerers
    from handful.labeling.space import as_matrix, as_points, neighborhood

    cells, (_, y) = drawn.cells[drawn.drawn(seed)], drawn.rows(seed)
    matrix = as_matrix(cells, who="forecast")
    points = as_points(matrix, seed)
    answerers = quick_answerers(matrix, points, neighborhood(points), len(np.unique(y)), seed)
    if not drawn.trees:
        del answerers["extra trees"]
    for n in (50, 100, 150):
        if len(y) < 4 * n or n < 5 * len(np.unique(y)) or len(np.unique(y[:n])) < 2:
            continue
        curves = learning_curves(y[:n], answerers, random_state=seed)
        truth = []
        for draw in range(10):
            order = np.random.default_rng([seed, draw]).permutation(len(y))
            train, test = order[: 2 * n], order[2 * n :]
            truth.append(float(np.mean(answer_or_only(answerers[curves.best], train, y[train], test) == y[test])))
        scores = curves.scores[curves.best].tolist()
        yield {"n": n, "seed": seed, "sizes": curves.sizes.tolist(), "scores": scores, "truth": float(np.mean(truth))}


def held_truths(pairs: list[dict[str, Any]]) -> str:
    """Tell how many forecasts were given, and how many of their bands hold the truth."""
    from handful.labeling.forecast import forecast, refusal

    count = {"given": 0, "held": 0, "below": 0, "refused": 0, "refused, but would have held": 0}
    widths = []
    for pair in pairs:
        sizes, scores = np.array(pair["sizes"]), np.array(pair["scores"])
        if len(sizes) < 2:
            count["refused"] += 1
            continue
        told = forecast(sizes, scores, pair["n"], pair["seed"])
        held = told.low[-1] <= pair["truth"] <= told.high[-1]
        if refusal(sizes, scores) is not None:
            count["refused"] += 1
            count["refused, but would have held"] += int(held)
            continue
        count["given"] += 1
        count["held"] += int(held)
        count["below"] += int(pair["truth"] < told.low[-1])
        widths.append(told.high[-1] - told.low[-1])
    share = f"{count['held'] / count['given']:.1%} held" if count["given"] else "none given"
    return f"{share}, {count}, band {100 * float(np.mean(widths or [0])):.1f} points wide"


# --- sentences for a tagger ---


def run_sentences(files: list[Path], seeds: range, n_sentences: int, store: Path | None) -> dict[str, Any]:
    """Choose sentences of 3,000, twenty at a time behind twenty random ones, and score a CRF on the test part.

    The whole of it: a file may be in order, and its beginning of another kind than the rest (that of MIT movie is).
    """
    from handful.corpora.tagged import read_tagged
    from handful.evaluation.chunks import chunk_f1
    from handful.tagging import CRF

    corpus = read_tagged(files[0])
    sentences, tags = list(corpus.sentences), [list(line) for line in corpus.tags]
    held = read_tagged(files[1]) if len(files) > 1 else None
    if held is None:
        order = np.random.default_rng(99).permutation(len(sentences)).tolist()
        sentences, tags = [sentences[i] for i in order], [tags[i] for i in order]
        test, test_tags, sentences, tags = sentences[:1000], tags[:1000], sentences[1000:], tags[1000:]
    else:
        test, test_tags = list(held.sentences), [list(line) for line in held.tags]
    figures = held_figures(store)
    told = figures.setdefault(files[0].name, {"random": [], "auto": []})
    for seed in seeds[len(told["auto"]) :]:
        order = np.random.default_rng(seed).permutation(len(sentences))[:3000].tolist()
        for strategy, lines in told.items():
            chosen = order[:20]
            while len(chosen) < n_sentences:
                tagger = CRF("ner", max_iter=60).fit([sentences[i] for i in chosen], [tags[i] for i in chosen])
                got = set(chosen)
                left = [i for i in order if i not in got]
                picks = next_sentences([sentences[i] for i in left], tagger, n=20, strategy=strategy, random_state=seed)
                chosen = chosen + [left[pick.sentence] for pick in picks]
            tagger = CRF("ner").fit([sentences[i] for i in chosen], [tags[i] for i in chosen])
            f1 = 100 * chunk_f1(test_tags, tagger.predict(test)).overall.f1
            lines.append([f1, sum(len(sentences[i]) for i in chosen)])
        keep_figures(store, figures)
    for name, both in figures.items():
        chance, auto = (np.array(both[strategy]) for strategy in ("random", "auto"))
        gain = auto[:, 0] - chance[:, 0]
        error = gain.std(ddof=1) / len(gain) ** 0.5 if len(gain) > 1 else float("nan")
        print(
            f"{name}: {auto[:, 0].mean():.1f} ({auto[:, 1].mean():.0f} tokens) against {chance[:, 0].mean():.1f} "
            f"({chance[:, 1].mean():.0f}), {gain.mean():+.1f} (error {error:.1f}, {len(gain)} seeds)",
            flush=True,
        )
    return figures


# --- speed ---


def label_next(loop: LabelLoop, labels: np.ndarray) -> None:
    pick = loop.next(1)[0]
    loop.label(pick.row, int(labels[pick.row]))


def run_speed() -> dict[str, float]:
    rng = np.random.default_rng(0)
    centers = rng.normal(0, 2, (4, 20))
    seconds: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        start, cpu = time.perf_counter(), time.process_time()
        result = work()
        seconds[name] = round(time.perf_counter() - start, 2)
        print(f"{name}: {seconds[name]} s ({time.process_time() - cpu:.2f} s of processor)", flush=True)
        return result

    codes = rng.integers(0, 4, 100_000)
    X = centers[codes] + rng.normal(size=(100_000, 20))
    timed("next of 100,000 rows, 20 columns", lambda: LabelLoop(X).next(20))
    words = np.array([f"word{i}" for i in range(3_000)])
    topics = rng.integers(0, 8, 10_000)
    texts = [" ".join(words[(rng.zipf(1.3, 12) * (topic + 1)) % 3_000]) for topic in topics]
    timed("next of 10,000 short texts", lambda: LabelLoop(texts).next(20))
    for kind, rows, labels in (("rows", X[:10_000], codes), ("short texts", texts, topics)):
        loop = timed(f"opening 10,000 {kind}", partial(LabelLoop, rows))
        loop.update({pick.row: int(labels[pick.row]) for pick in loop.next(20)})
        for number in range(3):
            timed(f"step {number + 1} of 10,000 {kind} after a new label", partial(label_next, loop, labels))
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "part", choices=["next", "doubt", "tags", "forecast", "sentences", "speed"], nargs="?", default="next"
    )
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--sets", default=TABLES, help="FILE:TARGET,... of the tables")
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--text-sets", default=TEXTS, help="NAME,... of the texts")
    parser.add_argument("--tagged", type=Path, nargs="+", metavar="FILE", help="to choose from, and to score")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0, help="to go on where another run has ended")
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--choosers", default=",".join(CHOOSERS), help="next: NAME,... of those to run, random first")
    parser.add_argument("--no-trees", action="store_true", help="forecast: leave extra trees out, for less time")
    parser.add_argument("--quick", action="store_true", help="two seeds, 400 rows")
    parser.add_argument("--json", type=Path, help="file for all figures; sets that it has are not run again")
    given = parser.parse_args()
    if given.quick:
        given.seeds, given.rows = 2, 400
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    warnings.simplefilter("ignore")
    sets: dict[str, Any] = {}
    if given.tables:
        sets |= folder_tables(given.tables, [entry for entry in given.sets.split(",") if entry])
    if given.texts:
        sets |= folder_texts(given.texts, [entry for entry in given.text_sets.split(",") if entry])
    sets = sets or own_tables()
    if given.part == "speed":
        figures: Any = run_speed()
    elif given.part == "sentences":
        if not given.tagged:
            parser.error("sentences needs --tagged TRAIN [TEST]")
        figures = run_sentences(given.tagged, seeds, 100, given.json)
    elif given.part == "tags":
        if not given.tagged:
            parser.error("tags needs --tagged FILE ...")
        figures = run_tags(given.tagged, seeds, given.rows, given.json)
    elif given.part == "forecast":
        figures = run_forecast(sets, seeds, given.rows, given.json, not given.no_trees)
    elif given.part == "next":
        figures = run_next(sets, seeds, given.rows, given.json, given.choosers.split(","))
    else:
        figures = run_doubt(sets, seeds, given.rows, given.json)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
