"""Fit one small model of every kind and save it, with its answers, as files of this version of handful.

Run once at a release, before anything is renamed: ``python tests/models/write.py``. Files of old versions are never
written again: `test_old_files.py` proves that they still load and still answer the same.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from asking import answers_of, inputs_of
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import handful
from handful.data.records import Sentence
from handful.neighbors.condensed import CondensedNN, SemiSupervisedCondensedNN
from handful.neighbors.kernel_pca import CompositeKernelPCA, KernelPCAClassifier
from handful.neighbors.ordinal import OrdinalKNN
from handful.neighbors.tri_training import TriTraining
from handful.parsing.parser import DependencyParser
from handful.representations.brown import BrownClusters
from handful.representations.condensed_classifier import CondensedFeatureClassifier
from handful.representations.condensed_features import CondensedFeatures
from handful.representations.similarity import ContextSimilarity
from handful.senses.classifier import SenseClassifier
from handful.tagging.crf import CRF
from handful.tagging.prototypes.tagger import PrototypeTagger
from handful.tagging.stacked import StackedTagger
from handful.version import __version__
from papers.generated_english import make_sense_contexts, make_tagged_sentences

FOLDER = Path(__file__).parent
FEW = ["word[0]", "word.suffix2[0]"]
TABLE_METHODS = (
    "k-nn",
    "logistic-regression",
    "self-training",
    "label-propagation",
    "label-spreading",
    "condensed-nn",
    "semi-supervised-condensed-nn",
    "ordinal-knn",
    "kernel-pca",
    "composite-kernel-pca",
    "tri-training",
    "condensed-feature-classifier",
)
SENSE_METHODS = (
    "kernel-pca",
    "semi-supervised-kernel-pca",
    "composite-kernel-pca",
    "naive-bayes",
    "maximum-entropy",
    "linear-svm",
    "most-frequent",
)


def rows(n: int = 24) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 3)).round(3) + 2 * y[:, None]
    return X, np.where(np.arange(n) < 12, np.array(["ash", "elm", "oak"])[y], "").astype(object)


def counts(n: int = 36) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    y = np.arange(n) % 3
    X = rng.poisson(0.4, size=(n, 6)).astype(float)
    X[np.arange(n), y] += rng.poisson(1.5, size=n)
    return X, np.array(["ash", "elm", "oak"])[y]


def frame_and_labels() -> tuple[pl.DataFrame, list[str | None]]:
    X, y = rows()
    colors = [["red", "blue", None][i % 3] for i in range(len(X))]
    labels = [label or None for label in y.tolist()]
    return pl.DataFrame({"size": X[:, 0], "weight": X[:, 1], "color": colors}), labels


def texts_and_labels() -> tuple[list[str], list[str | None]]:
    words = {"pet": ["dog", "cat", "fur", "paw"], "sea": ["boat", "wave", "salt", "sail"]}
    rng = np.random.default_rng(5)
    names = ["pet", "sea"] * 6
    texts = [" ".join([*rng.choice(words[name], 4), "the"]) for name in names]
    return texts, [name if i < 6 else None for i, name in enumerate(names)]


TREES = make_tagged_sentences(40, random_state=1)
TEXT = [Sentence(t.sentence.tokens, {"pos": t.sentence["pos"]}) for t in TREES[:20]]
POS, NER = ([list(t.sentence[name]) for t in TREES[:20]] for name in ("pos", "ner"))
RAW = [list(t.sentence.tokens) for t in TREES[20:]]
OCCURRENCES = make_sense_contexts({"bank.n": 2}, n_labeled=14, n_unlabeled=8, random_state=0)


def table_models() -> dict[str, Any]:
    X, y = rows()
    some = np.array([label or None for label in y], dtype=object)
    frame, labels = frame_and_labels()
    texts, marks = texts_and_labels()
    from handful.models.table_model import TableModel

    models: dict[str, Any] = {
        "rows.condensed-nn": CondensedNN(n_neighbors=3, vote="distance", max_passes=None).fit(X[:12], y[:12]),
        "rows.semi-supervised-condensed-nn": SemiSupervisedCondensedNN().fit(X, some),
        "rows.ordinal-knn": OrdinalKNN(n_neighbors=2).fit(X, some),
        "rows.kernel-pca": KernelPCAClassifier(kernel="rbf", n_components=5).fit(X, some),
        "rows.composite-kernel-pca": CompositeKernelPCA().fit(X, some),
        "rows.tri-training": TriTraining(GaussianNB(), random_state=0).fit(X, some),
        "rows.condensed-feature-classifier": CondensedFeatureClassifier(resolution=2.0).fit(X, some),
    }
    for name in TABLE_METHODS:
        models[f"table.{name}"] = TableModel(name).fit(frame, labels)
    for name in ("k-nn", "ordinal-knn", "logistic-regression"):
        models[f"texts.{name}"] = TableModel(name, kinds={"text": "text"}).fit(pl.DataFrame({"text": texts}), marks)
    return models


def tagger_models() -> dict[str, Any]:
    clusters = BrownClusters(8).fit([*RAW, *(list(s.tokens) for s in TEXT)])
    brown = {"brown": clusters.paths_}
    lists = {"D": ["the", "a"], "N": [POS_WORD["NN"]], "V": [POS_WORD["VBD"]]}
    few: dict[str, Any] = {"strength": 0.5, "max_iter": 15}
    base = CRF(FEW, **few).fit(TEXT, POS)
    features = CondensedFeatures(base, 0.1, 4.0).fit(RAW, labeled=TEXT)
    kept = CondensedFeatures(base, 0.1, 4.0, base_step=0.1).fit(RAW, labeled=TEXT)
    similarity = ContextSimilarity(20, n_components=5).fit(RAW)
    return {
        "tagger.crf": base,
        "tagger.crf-ner": CRF([*FEW, "pos[0]", "b"], encoding="iobes", **few).fit(TEXT, NER),
        "tagger.crf-ready-templates": CRF("chunk", penalty="l1", strength=2.0, max_iter=15).fit(TEXT, POS),
        "tagger.crf-order-2": CRF(FEW, order=2, **few).fit(TEXT, NER),
        "tagger.crf-hashed": CRF(FEW, hash_bits=6, **few).fit(TEXT, NER),
        "tagger.crf-lookups": CRF([*FEW, "brown.prefix2[0]"], lookups=brown, **few).fit(TEXT, NER),
        "tagger.crf-pa": CRF(FEW, algorithm="pa", max_iter=3).fit(TEXT, NER),
        "tagger.crf-fobos": CRF(FEW, algorithm="fobos", strength=0.05, max_iter=3, constraints="seen").fit(TEXT, NER),
        "tagger.crf-condensed": features.retrain(TEXT, POS, max_iter=15),
        "tagger.crf-condensed-kept-base": kept.retrain(TEXT, POS, max_iter=15),
        "tagger.prototypes": PrototypeTagger(lists, order=1, similarity=similarity, max_iter=5).fit(RAW),
        "tagger.prototypes-order-2": PrototypeTagger(lists, max_iter=5, decode="viterbi").fit(RAW),
        "tagger.prototypes-labeled": PrototypeTagger(
            None, order=1, labels=sorted({t for tags in NER for t in tags}), max_iter=5
        ).fit([*map(list, (s.tokens for s in TEXT)), *RAW], [*NER, *[None] * len(RAW)]),
        "tagger.stacked": StackedTagger(
            CRF(FEW, **few), SemiSupervisedCondensedNN(), clusters=clusters, held_out=0.5
        ).fit(TEXT, NER, unlabeled=RAW),
        "clusters.brown": clusters,
        "similarity.context": similarity,
        "condensed.chain": features,
        "condensed.chain-kept-base": kept,
        "feature-counts.chain": features.counts_,
    }


def parser_models() -> dict[str, Any]:
    trees = TREES[:8]
    first = DependencyParser(order=1, max_iter=2, min_count=3).fit(trees)
    features = CondensedFeatures(first, 0.5, 1.0).fit(RAW_TAGGED[:4], labeled=trees[:2])
    return {
        "parser.order-1": first,
        "parser.order-2": DependencyParser(order=2, max_iter=2, min_count=4).fit(trees),
        "parser.crossing": DependencyParser(order=1, projective=False, max_iter=2, min_count=4).fit(trees),
        "parser.condensed": features.retrain(trees[2:], None, algorithm="pa", max_iter=2),
        "condensed.tree": features,
    }


def other_models() -> dict[str, Any]:
    X, y = counts()
    base = LogisticRegression().fit(X[:20], y[:20])
    features = CondensedFeatures(base, 0.5, 2.0).fit(X)
    kept = CondensedFeatures(base, 0.5, 2.0, base_step=0.25).fit(X)
    models: dict[str, Any] = {"condensed.flat": features, "condensed.flat-kept-base": kept}
    for method in SENSE_METHODS:
        models[f"senses.{method}"] = SenseClassifier(method, n_neighbors=3).fit(OCCURRENCES)  # type: ignore[arg-type]
    tagger = CRF(FEW, strength=0.5, max_iter=10).fit(TEXT, POS)
    models["senses.with-tagger"] = SenseClassifier(tagger=tagger, n_neighbors=3).fit(OCCURRENCES)
    return models


POS_WORD = {tag: word for t in TREES[20:] for word, tag in zip(t.sentence.tokens, t.sentence["pos"], strict=True)}
RAW_TAGGED = [t.sentence for t in TREES[20:]]


def main() -> None:
    folder = FOLDER / __version__
    if (folder / "expected.json").exists():
        sys.exit(f"{folder} is there: files of a version are written once.")
    folder.mkdir(exist_ok=True)
    frame, _ = frame_and_labels()
    asked = [Sentence(t.sentence.tokens, dict(t.sentence.columns)) for t in make_tagged_sentences(4, random_state=9)]
    stored = {
        "rows": rows()[0].tolist(),
        "counts": counts()[0].tolist(),
        "frame": frame.to_dict(as_series=False),
        "texts": texts_and_labels()[0],
        "sentences": [{"tokens": s.tokens, "columns": dict(s.columns)} for s in asked],
        "occurrences": [{"word": o.word, "id": o.id, "tokens": o.tokens, "target": o.target} for o in OCCURRENCES[-8:]],
    }
    inputs = inputs_of(stored)
    answers = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = {**table_models(), **tagger_models(), **parser_models(), **other_models()}
        for name, model in models.items():
            path = folder / f"{name}.handful"
            model.save(path) if name.startswith("feature-counts") else handful.save(model, path)
            answers[name] = answers_of(name, model, inputs)
    text = json.dumps({"inputs": stored, "answers": answers}, indent=None, separators=(",", ":"))
    (folder / "expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
