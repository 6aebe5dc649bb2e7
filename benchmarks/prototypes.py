"""Prototype taggers: floating-point rate of one evaluation, training time, accuracy.

With HANDFUL_DATA set the text is the first 2,000 sentences of the WSJ sample with its 45 tags; similarity is counted on the
sample and on all news text of the folder. Without it, generated sentences of the same size take their place.

The rate is that of the dense algorithm, six operations for each of labels ** 3 triples at each token: what prototypes
make superfluous is not done, and counts as done. The line "nothing locked" is the same evaluation without prototypes, where
nothing is superfluous. Rates are per second of processor time, for the plain product as for the evaluation, since other work
on the machine would spoil a clock on the wall; seconds are those of the wall.

    python benchmarks/prototypes.py [--quick] [--json] [--jobs 2]
    python benchmarks/prototypes.py --training    # the whole PROTO+SIM training alone, counting of contexts included
"""

from __future__ import annotations

import argparse
import json
import os
import time

import numpy as np

from handful.corpora.make import make_tagged_sentences
from handful.papers.haghighi2006.texts import news, wsj_sample
from handful.representations import ContextSimilarity
from handful.tagging.prototypes import PrototypeTagger
from handful.tagging.prototypes.chains import TokenArrays
from handful.tagging.prototypes.features import feature_table, word_predicates
from handful.tagging.prototypes.field import PrototypeField
from handful.tagging.prototypes.lists import extract_prototypes

N_LABELS, WIDTH = 45, 128


def product_rate(repeats: int = 40) -> float:
    """Return GFlop per processor second of 45 products of 128x45 by 45x45 in float64, best of five."""
    left, right = np.random.default_rng(0).random((2, N_LABELS, WIDTH, N_LABELS))
    right = np.ascontiguousarray(right[:, :N_LABELS])
    out = np.empty((N_LABELS, WIDTH, N_LABELS))
    best = np.inf
    for _ in range(5):
        start = time.process_time()
        for _ in range(repeats):
            np.matmul(left, right, out=out)
        best = min(best, (time.process_time() - start) / repeats)
    return 2 * N_LABELS * WIDTH * N_LABELS**2 / best / 1e9


def make_field(sentences, prototypes, labels):
    words = sorted({word for sentence in sentences for word in sentence})
    observed = [word_predicates(word, (), True, 3) for word in words]
    columns = {p: i for i, p in enumerate(dict.fromkeys(p for mine in observed for p in mine))}
    legal = np.ones((len(words), len(labels)), dtype=bool)
    rows = {word: row for row, word in enumerate(words)}
    for word in {word for mine in prototypes.values() for word in mine}:
        legal[rows[word]] = [word in prototypes.get(label, ()) for label in labels]
    ids = np.array([rows[word] for sentence in sentences for word in sentence], dtype=np.int32)
    offsets = np.cumsum([0, *map(len, sentences)])
    return PrototypeField(feature_table(observed, columns), legal, 2), TokenArrays(
        ids, offsets, np.full(len(ids), -1, np.int32)
    )


def evaluation_seconds(field, tokens, n_jobs: int, repeats: int = 5) -> tuple[float, float]:
    """Return seconds of the wall and of the processor, each the best of several."""
    weights = 0.1 * np.random.default_rng(0).standard_normal(field.size)
    field.objective(weights, tokens, "histogram", n_jobs)
    wall, processor = [], []
    for _ in range(repeats):
        start, start_processor = time.perf_counter(), time.process_time()
        field.objective(weights, tokens, "histogram", n_jobs)
        wall.append(time.perf_counter() - start)
        processor.append(time.process_time() - start_processor)
    return min(wall), min(processor)


def measure_rates(sentences, prototypes, labels, n_jobs: int) -> dict[str, float]:
    n_tokens = sum(map(len, sentences))
    operations = 6 * n_tokens * len(labels) ** 3
    found: dict[str, float] = {"tokens": n_tokens, "labels": len(labels)}
    for name, lists in (("prototypes locked", prototypes), ("nothing locked", {})):
        field, tokens = make_field(sentences, lists, labels)
        for jobs in sorted({1, n_jobs}):
            reference = product_rate()
            seconds, processor = evaluation_seconds(field, tokens, jobs)
            reference = max(reference, product_rate())
            rate = operations / processor / 1e9
            key = f"{name}, {jobs} thread{'s' * (jobs > 1)}"
            found[f"{key}: seconds"] = seconds
            found[f"{key}: GFlop/s"] = rate
            found[f"{key}: share of plain product ({reference:.1f} GFlop/s)"] = rate / reference
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="rates and ten iterations only")
    parser.add_argument("--training", action="store_true", help="nothing but the training of PROTO+SIM")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    found: dict[str, float] = {"load average before": os.getloadavg()[0]}
    if os.environ.get("HANDFUL_DATA"):
        sentences, tags = wsj_sample()
        text = [*sentences, *([] if options.quick else news())]
    else:
        trees = make_tagged_sentences(3914, random_state=0)
        sentences, tags = [t.sentence.tokens for t in trees], [t.sentence["pos"] for t in trees]
        text = sentences
    labels = sorted({tag for mine in tags for tag in mine})
    # where the tags are fewer, rates are measured with 45 labels all the same; training takes the labels there are
    labels += [f"unused {n}" for n in range(N_LABELS - len(labels))]
    sentences, gold = sentences[:2000], tags[:2000]
    prototypes = extract_prototypes(sentences, gold)
    if not options.training:
        found |= measure_rates(sentences, prototypes, labels, options.jobs)
    start = time.perf_counter()
    similarity = ContextSimilarity().fit(text)
    counting = time.perf_counter() - start
    found["similarity: tokens"] = sum(map(len, text))
    found["similarity: seconds"] = counting
    for name, links in (("PROTO", None), ("PROTO+SIM", similarity)):
        if options.training and links is None:
            continue
        tagger = PrototypeTagger(
            prototypes, similarity=links, max_iter=10 if options.quick else 100, n_jobs=options.jobs
        )
        start, start_processor = time.perf_counter(), time.process_time()
        tagger.fit(sentences)
        seconds = time.perf_counter() - start
        found[f"{name}: seconds of training ({tagger.n_iter_} iterations)"] = seconds
        found[f"{name}: processor seconds of training"] = time.process_time() - start_processor
        if links is not None:
            found[f"{name}: seconds of training and similarity"] = seconds + counting
        found[f"{name}: accuracy %"] = 100 * tagger.score(sentences, gold)
    found["load average after"] = os.getloadavg()[0]
    if options.json:
        print(json.dumps(found, indent=1))
        return
    for name, value in found.items():
        print(f"{name:75s} {value:12,.2f}")


if __name__ == "__main__":
    main()
