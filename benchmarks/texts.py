"""Texts of which few have a label: the team and what ``handful fit`` saves, against plain lines of scikit-learn.

``HANDFUL_DEVDATA=folder python benchmarks/texts.py``: 50 labels (3 per class where there are more than 20 classes), the
same draws for all, accuracy on the texts whose labels were hidden, which handful never sees. By default the team is fitted
without a race; ``--race MINUTES`` asks the command instead. ``--encoder FOLDER`` adds vectors (of a folder, or of a package
that carries a model), and a plain line on the same vectors. ``--neighbors`` times ordinal k-NN instead. Without the data, or
with ``--quick``, texts are generated.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

from handful.models.table_model import TableModel
from handful.preprocessing.sentence_encoders import ENVIRONMENT, find_encoder

SETS = (
    *("rt-polarity", "subj", "sentiment-amazon", "sentiment-imdb", "sentiment-yelp", "bbc-news", "r8-train"),
    *("snips-intent-train", "banking77-train", "clinc150-small-train", "10kgnad-test", "cfpb-narratives"),
    "germeval2018-train",
)
MOST_TEXTS = 6_000
LABELS, PER_CLASS, MANY_CLASSES = 50, 3, 20
SURE = 0.8


def read(name: str) -> tuple[list[str], np.ndarray]:
    """Return texts and labels, in an order of chance."""
    folder = Path(os.environ["HANDFUL_DEVDATA"]) / "text"
    frame = pl.read_csv(next(folder.glob(f"{name}.csv*")), infer_schema=False).fill_null("")
    frame = frame.sample(fraction=1.0, shuffle=True, seed=0).head(MOST_TEXTS)
    return frame["text"].to_list(), frame["label"].to_numpy()


def generate(n_texts: int = 2_000, n_classes: int = 6) -> tuple[list[str], np.ndarray]:
    """Return texts whose words come from topics, half of them from a common one."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, n_classes, n_texts)
    common = rng.dirichlet(np.full(3_000, 0.1))
    topics = rng.dirichlet(np.full(3_000, 0.02), n_classes)
    texts = []
    for label in labels:
        length = rng.integers(8, 40)
        words = rng.choice(3_000, length, p=0.6 * common + 0.4 * topics[label])
        texts.append(" ".join(f"w{word:x}" for word in words))
    return texts, np.array([f"class {label}" for label in labels])


def draw_few(labels: np.ndarray, seed: int) -> np.ndarray:
    """Return the texts whose label is known: some of every class, where they are many, else at least one."""
    rng = np.random.default_rng(seed)
    classes = np.unique(labels)
    per_class = PER_CLASS if len(classes) > MANY_CLASSES else 1
    few = np.concatenate([rng.permutation(np.flatnonzero(labels == c))[:per_class] for c in classes])
    others = rng.permutation(np.setdiff1d(np.arange(len(labels)), few))
    return np.concatenate([few, others[: max(LABELS - len(few), 0) if per_class == 1 else 0]])


def plain_lines(texts: list[str], encoder: Any) -> dict[str, tuple[Any, Any]]:
    """Return a matrix of all texts and a classifier for each plain line."""
    words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2, max_features=50_000).fit_transform(texts)
    topics = make_pipeline(TruncatedSVD(100, random_state=0), Normalizer()).fit_transform(words)
    lines = {
        "tf-idf, linear SVM": (words, LinearSVC()),
        "tf-idf, SVD, logistic": (topics, LogisticRegression(C=10, max_iter=2_000)),
    }
    if encoder is not None:
        lines["vectors, logistic"] = (encoder.encode(texts), LogisticRegression(C=10, max_iter=2_000))
    return lines


def fit_team(texts: list[str], known: list[Any], encoder: Any) -> tuple[np.ndarray, np.ndarray, str]:
    """Return the answers of the team, how sure it is of them, and its name."""
    frame = pl.DataFrame({"text": texts})
    model = TableModel("team", kinds={"text": "text"}, text="lsa" if encoder is None else encoder).fit(frame, known)
    answers, sure = model.calibrate(frame, known).predict_with_confidence(frame)
    return answers, sure, "team"


def ask_the_command(texts: list[str], known: list[Any], minutes: float) -> tuple[np.ndarray, np.ndarray, str]:
    """Return what ``handful fit`` and ``handful predict`` answer, how sure they are, and the method."""
    with tempfile.TemporaryDirectory() as folder:
        data, model, out = (str(Path(folder) / name) for name in ("t.csv", "m.handful", "p.csv"))
        pl.DataFrame({"text": texts, "label": known}).write_csv(data)
        summary = _handful("fit", data, "--target", "label", "--minutes", minutes, "--model", model, "--json")
        _handful("predict", model, data, "-o", out)
        frame = pl.read_csv(out, schema_overrides={"predicted": pl.String})
    return frame["predicted"].to_numpy(), frame["confidence"].to_numpy(), json.loads(summary)["method"]


def _handful(*words: object) -> str:
    done = subprocess.run([sys.executable, "-m", "handful", *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"handful {' '.join(map(str, words))}: {done.stderr.strip()[-300:]}")
    return done.stdout


def measure(name: str, draws: int, race: float | None, encoder: Any) -> dict[str, Any]:
    """Return mean accuracies on one set, and the share of answers above a confidence of 0.8 with theirs."""
    texts, labels = generate() if name == "generated" else read(name)
    lines = plain_lines(texts, encoder)
    scores: dict[str, list[float]] = {line: [] for line in lines}
    ours, answered, right_of_sure, seconds, methods = [], [], [], [], set()
    for seed in range(draws):
        few = draw_few(labels, seed)
        rest = np.setdiff1d(np.arange(len(labels)), few)
        for line, (rows, model) in lines.items():
            scores[line].append(float((model.fit(rows[few], labels[few]).predict(rows[rest]) == labels[rest]).mean()))
        known = [labels[row] if row in set(few.tolist()) else None for row in range(len(labels))]
        start = time.process_time() if race is None else time.perf_counter()
        answers, sure, method = fit_team(texts, known, encoder) if race is None else ask_the_command(texts, known, race)
        seconds.append((time.process_time() if race is None else time.perf_counter()) - start)
        right = answers[rest] == labels[rest]
        ours.append(float(right.mean()))
        answered.append(float((sure[rest] >= SURE).mean()))
        right_of_sure.append(float(right[sure[rest] >= SURE].mean()) if (sure[rest] >= SURE).any() else np.nan)
        methods.add(method)
    return {
        "texts": name,
        "rows": len(texts),
        "classes": len(np.unique(labels)),
        "handful": round(100 * float(np.mean(ours)), 1),
        **{line: round(100 * float(np.mean(values)), 1) for line, values in scores.items()},
        "answered at 0.8": round(100 * float(np.mean(answered)), 1),
        "right of these": round(100 * float(np.nanmean([*right_of_sure, np.nan])), 1) if any(answered) else None,
        "methods": sorted(methods),
        "seconds" if race is not None else "CPU seconds": round(float(np.mean(seconds)), 1),
        "load": round(os.getloadavg()[0], 1),
    }


def time_neighbors(name: str) -> dict[str, Any]:
    """Return CPU seconds of one fit of ordinal k-NN to 1,000 texts, on sparse words and on directions."""
    texts, labels = generate() if name == "generated" else read(name)
    texts, labels = texts[:1_000], labels[:1_000]
    few = set(draw_few(labels, 0).tolist())
    known = [labels[row] if row in few else None for row in range(len(labels))]
    spent = {}
    for text in ("words", "lsa"):
        for _ in range(2):  # the first compiles
            start = time.process_time()
            model = TableModel("ordinal-knn", kinds={"text": "text"}, text=text).fit(
                pl.DataFrame({"text": texts}), known
            )
            spent[text] = time.process_time() - start
        spent[f"{text}, accuracy"] = 100 * float((model.predict(pl.DataFrame({"text": texts})) == labels).mean())
    return {
        "texts": name,
        **{key: round(value, 2) for key, value in spent.items()},
        "load": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--race", type=float, metavar="MINUTES")
    parser.add_argument("--encoder", metavar="FOLDER")
    parser.add_argument("--neighbors", action="store_true")
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    os.environ[ENVIRONMENT] = options.encoder or ""
    encoder = find_encoder(options.encoder) if options.encoder else None
    here = "HANDFUL_DEVDATA" in os.environ and not options.quick
    names = (options.only or SETS) if here else ("generated",)
    if options.neighbors:
        for name in names:
            print(json.dumps(time_neighbors(name)), flush=True)
        return
    lines = []
    for name in names:
        lines.append(measure(name, 1 if options.quick else options.draws, options.race, encoder))
        print(json.dumps(lines[-1]), flush=True)
    numbers = [key for key in lines[0] if key == "handful" or "," in key]
    print(json.dumps({"means": {key: round(float(np.mean([line[key] for line in lines])), 2) for key in numbers}}))


if __name__ == "__main__":
    main()
