"""Do the intervals of a comparison of taggers on few sentences hold the truth, and is the score it expects the true one?

    python benchmarks/sentence_intervals.py mit-restaurant recipe-ingredients [--sentences 50] [--samples 10] [--first 0]

Of each corpus of HANDFUL_DEVDATA so many sentences are a person's file, again and again, as `handful compare` gets it: a fifth is
tested, in five draws, and a CRF learns from the others. The truth is the mean score of these taggers on 300 other
sentences. Told for comparisons that ended after one, two and five draws.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np

from handful.corpora.tagged import Tagged, read_tagged
from handful.evaluation.chunks import sentence_values
from handful.evaluation.ranking import Entry, rank
from handful.experiment.arena_corpora import CorpusDraws
from handful.experiment.compare_tagged import TaggedArena

DRAWS = (1, 2, 5)
OTHERS = 300


def part_of(data: Tagged, chosen: np.ndarray) -> Tagged:
    """Return some of the sentences."""
    return Tagged(tuple(data.sentences[i] for i in chosen), tuple(data.tags[i] for i in chosen), data.layout, data.tag)


def trials(data: Tagged, n_sentences: int, seed: int) -> tuple[TaggedArena, list[np.ndarray], list[float]]:
    """Return the comparison of one sample, what its draws scored, and the scores of the same taggers on other sentences."""
    order = np.random.default_rng(seed).permutation(len(data.sentences))
    mine, others = part_of(data, order[:n_sentences]), part_of(data, order[n_sentences : n_sentences + OTHERS])
    arena = TaggedArena("sample", mine, [], CorpusDraws.of(None, n_sentences, seed, "sentences"), "auto", seed)
    measured: list[np.ndarray] = []
    true: list[np.ndarray] = []
    for draw in range(max(DRAWS)):
        train, _, test = arena.draws.parts(draw, arena.draws.n_labels)
        tagger = arena.setup.fit_crf([mine.sentences[i] for i in train], [mine.tags[i] for i in train])
        for part, found in ((part_of(mine, test), measured), (others, true)):
            found.append(sentence_values(part.tags, tagger.predict(list(part.sentences)), data.has_spans))
    return arena, measured, [values.mean() for values in true]


def entry(measured: list[np.ndarray]) -> Entry:
    """Return what a comparison knows of the tagger after these draws."""
    return Entry("crf", {i: v.mean() for i, v in enumerate(measured)}, plain=True, right=dict(enumerate(measured)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--sentences", type=int, default=50)
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="seed of the first sample")
    given = parser.parse_args()
    for name in given.corpora:
        data = read_tagged(Path(os.environ["HANDFUL_DEVDATA"]) / "tagged" / f"{name}-train.tsv.gz")
        samples = [trials(data, given.sentences, given.first + i) for i in range(given.samples)]
        truth = float(np.mean([true for *_, true in samples]))
        for n in DRAWS:
            ranks = [rank([entry(values[:n])], arena.setting).best for arena, values, _ in samples]
            held = np.mean([one.low <= truth <= one.high for one in ranks])
            errors = [100 * (one.expected - truth) for one in ranks]
            print(
                f"{name}, {given.sentences} sentences, {n} of 5 draws: truth {100 * truth:.1f}, held by {100 * held:.0f} % of "
                f"{len(ranks)} intervals, {100 * np.mean([one.high - one.low for one in ranks]):.1f} wide in the mean; "
                f"expected {np.mean(errors):+.1f} (root mean square {np.sqrt(np.mean(np.square(errors))):.1f})",
                flush=True,
            )
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
