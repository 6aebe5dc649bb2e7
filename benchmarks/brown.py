"""Brown clusters and context similarity: time, average mutual information, counting speed, peak memory.

With HANDFUL_DATA set the text is the Brown corpus (1.16M tokens, lower case); without it a generated text of the same
size. The column "wcluster" repeats what Liang's C++ tool took on the same corpus and kind of machine with one thread,
where that was measured; the tool is in no package registry, so it is not run here.

    python benchmarks/brown.py [--quick] [--json] [--file-mb 1024]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from handful.representations.brown import BrownClusters
from handful.representations.similarity import ContextSimilarity
from handful.representations.text_stream import text_parts

WCLUSTER_SECONDS = {(50, 1): 12, (100, 1): 41, (50, 5): 4, (100, 5): 12, (320, 5): 129}


def brown_corpus(folder: Path) -> list[list[str]]:
    sentences: list[list[str]] = [[]]
    with gzip.open(folder / "brown-pos.tsv.gz", "rt", encoding="utf-8") as file:
        for line in file:
            if line.strip():
                sentences[-1].append(line.split("\t")[0].lower())
            elif sentences[-1]:
                sentences.append([])
    return [sentence for sentence in sentences if sentence]


def generated(n_tokens: int, seed: int = 0) -> list[list[str]]:
    """Return text of a class bigram model: 40 classes, Zipfian words, so that there is something to find."""
    random = np.random.default_rng(seed)
    n_classes, n_words = 40, 50_000
    home = random.integers(0, n_classes, n_words)
    weight = 1.0 / np.arange(2, n_words + 2)
    follow = random.dirichlet(np.full(n_classes, 0.1), n_classes)
    kinds = np.empty(n_tokens, dtype=np.int64)
    kind = 0
    draws = random.random(n_tokens)
    edges = follow.cumsum(axis=1)
    for position in range(n_tokens):
        kind = min(int(np.searchsorted(edges[kind], draws[position])), n_classes - 1)
        kinds[position] = kind
    words = np.empty(n_tokens, dtype=object)
    for number in range(n_classes):
        members = np.flatnonzero(home == number)
        places = np.flatnonzero(kinds == number)
        chosen = random.choice(members, len(places), p=weight[members] / weight[members].sum())
        words[places] = [f"w{word}" for word in chosen]
    return [words[start : start + 20].tolist() for start in range(0, n_tokens, 20)]


def clusterings(sentences: list[list[str]], plan: list[tuple[int, int]], real: bool) -> list[dict[str, object]]:
    BrownClusters(2).fit([["a", "b", "a", "c"]])  # compiles
    rows = []
    for n_clusters, min_count in plan:
        start = time.perf_counter()
        model = BrownClusters(n_clusters, min_count).fit(sentences)
        rows.append(
            {
                "task": "clusters",
                "n_clusters": n_clusters,
                "min_count": min_count,
                "words": len(model.paths_),
                "seconds": round(time.perf_counter() - start, 2),
                "information": round(model.mutual_information_, 6),
                "wcluster": WCLUSTER_SECONDS.get((n_clusters, min_count)) if real else None,
            }
        )
    return rows


def similarity(sentences: list[list[str]]) -> dict[str, object]:
    start = time.perf_counter()
    model = ContextSimilarity().fit(sentences)
    return {
        "task": "similarity",
        "words": len(model.vocabulary_),
        "seconds": round(time.perf_counter() - start, 2),
    }


def write_large(path: Path, sentences: list[list[str]], megabytes: int) -> None:
    """Repeat a text until it is large; each time one token in fifty becomes a new word."""
    random = np.random.default_rng(0)
    tokens = [token for sentence in sentences for token in (*sentence, "\n")]
    spots = np.array([number for number, token in enumerate(tokens) if token != "\n"])
    with open(path, "w", encoding="utf-8") as file:
        while file.tell() < megabytes << 20:
            varied = tokens.copy()
            chosen = random.choice(spots, len(spots) // 50, replace=False)
            for place, number in zip(chosen.tolist(), random.zipf(1.3, len(chosen)).tolist(), strict=True):
                varied[place] = f"{tokens[place]}-{number % 10_000_000}"
            file.write(" ".join(varied).replace(" \n ", "\n").removesuffix(" \n") + "\n")


def peak_mb() -> int:
    """Return the peak memory of this process; the kernel's own figure for getrusage includes the parent's at the fork."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) >> 10
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def count_file(path: str, what: str, jobs: int) -> dict[str, object]:
    """Count a file in this process and tell time and peak memory; clustering itself is left out."""
    from handful.representations import text_stream as token_stream

    small = BrownClusters(2).fit([["a", "b"]])
    ContextSimilarity().fit([["a", "b"]])  # compiles
    del small
    before = peak_mb()
    start = time.perf_counter()
    stream = token_stream.read_tokens(text_parts(path), who=what, max_types=2_000_000, n_jobs=jobs, progress=None)
    read = time.perf_counter() - start
    if what == "clusters":
        keys, _ = BrownClusters()._count_pairs(stream, stream.vocabulary(1), None)
        n_pairs = len(keys)
    else:
        from handful.representations.similarity import _context_words

        model = ContextSimilarity()
        model.context_words_ = _context_words(stream, model.n_context_words)
        n_pairs = model._count_contexts(stream, stream.vocabulary(1), None).nnz
    seconds = time.perf_counter() - start
    return {
        "task": f"count for {what}",
        "file_mb": os.path.getsize(path) >> 20,
        "jobs": jobs,
        "tokens": stream.n_tokens,
        "words": len(stream.index),
        "pairs": n_pairs,
        "read_seconds": round(read, 1),
        "seconds": round(seconds, 1),
        "tokens_per_second": round(stream.n_tokens / seconds),
        "start_mb": before,
        "peak_mb": peak_mb(),
    }


def counted_apart(path: Path, what: str, jobs: int) -> dict[str, object]:
    """Run `count_file` in a separate process to measure its peak memory."""
    command = [sys.executable, __file__, "--count", str(path), "--what", what, "--jobs", str(jobs)]
    result: dict[str, object] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the text, few clusters, a file of 32 MB")
    parser.add_argument("--json", action="store_true", help="one JSON list instead of lines")
    parser.add_argument("--file-mb", type=int, default=256, help="size of the file for the memory check (default 256)")
    parser.add_argument("--clusters", type=int, nargs="*", default=[50, 100, 320], help="numbers of clusters")
    parser.add_argument("--count", help=argparse.SUPPRESS)
    parser.add_argument("--what", default="clusters", help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, default=1, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.count:
        print(json.dumps(count_file(options.count, options.what, options.jobs)))
        return

    folder = os.environ.get("HANDFUL_DATA")
    sentences = brown_corpus(Path(folder)) if folder else generated(1_160_000)
    plan = [(n, min_count) for min_count in (1, 5) for n in options.clusters]
    file_mb = options.file_mb
    if options.quick:
        sentences, plan, file_mb = sentences[: len(sentences) // 10], [(20, 1), (50, 5)], 32
    rows = clusterings(sentences, plan, bool(folder) and not options.quick)
    rows.append(similarity(sentences))
    with tempfile.TemporaryDirectory() as place:
        large = Path(place) / "large.txt"
        write_large(large, sentences, file_mb)
        rows += [counted_apart(large, what, jobs) for what in ("clusters", "similarity") for jobs in (1, 2)]
    if options.json:
        print(json.dumps(rows, indent=1))
        return
    print(f"{'Brown corpus' if folder else 'generated text'}, {sum(map(len, sentences)):,} tokens")
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items() if value is not None))


if __name__ == "__main__":
    main()
