"""CPU time and memory of commands as the data grow, with exponents of growth.

Every line is one command in a process of its own on generated data; seconds are CPU seconds (user and system) with the half second
that Python takes to start. The exponent is the slope of log time over log size between the two largest sizes.

    python benchmarks/scale.py [--quick] [--json] [--only rows texts raw] [--mb 2 20 200] [--rows 100000 1000000]
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
from _shared import Rows, show_rows, usual_options

Command = tuple[object, ...]
_BLOCK = 50_000


def write_rows(path: Path, n: int) -> None:
    """Write rows with four numbers and two categories; 100 of them have one of three labels."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        file.write("a,b,c,d,color,place,label\n")
        for start in range(0, n, _BLOCK):
            size = min(_BLOCK, n - start)
            classes = rng.integers(0, 3, size)
            numbers = rng.normal(size=(size, 4)) + classes[:, None]
            colors, places = (classes + (rng.random(size) < 0.3)) % 3, rng.integers(0, 50, size)
            for i in range(size):
                label = "xyz"[classes[i]] if start + i < 100 else ""
                cells = ",".join(f"{number:.3f}" for number in numbers[i])
                file.write(f"{cells},c{colors[i]},p{places[i]},{label}\n")


def words_of(rng: np.random.Generator, n: int) -> Iterator[str]:
    """Yield words of a vocabulary that grows with the text, as frequent as in Zipf's law."""
    for start in range(0, n, _BLOCK):
        for rank in rng.zipf(1.3, min(_BLOCK, n - start)).tolist():
            yield f"w{rank % 1_000_000}"


def write_texts(path: Path, n: int) -> None:
    """Write short texts of ten words; 100 of them have one of two labels, told by one word."""
    rng = np.random.default_rng(1)
    words = words_of(rng, 10 * n)
    with path.open("w") as file:
        file.write("text,label\n")
        for number in range(n):
            topic = ("sun", "rain")[number % 2]
            label = topic if number < 100 else ""
            file.write(f"{topic} {' '.join(next(words) for _ in range(9))},{label}\n")


def write_raw(path: Path, n_bytes: int) -> None:
    """Write sentences of 15 words."""
    words = words_of(np.random.default_rng(2), n_bytes // 3)
    size = 0
    with path.open("w") as file:
        while size < n_bytes:
            line = " ".join(next(words) for _ in range(15)) + "\n"
            size += file.write(line)


def write_tags(path: Path) -> None:
    """Write 200 tagged sentences."""
    rng = np.random.default_rng(3)
    words = words_of(rng, 3_000)
    sentences = (
        "\n".join(f"{word}\t{'NVA'[len(word) % 3]}" for word, _ in zip(words, range(15), strict=False))
        for _ in range(200)
    )
    path.write_text("\n\n".join(sentences) + "\n")


def measured(command: Command) -> dict[str, object]:
    """Run a command; return its CPU seconds and its largest memory."""
    process = subprocess.Popen(
        [sys.executable, "-m", "handful", *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    begin = time.perf_counter()
    err = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command}: {err.splitlines()[-1]}")
    seconds = usage.ru_utime + usage.ru_stime
    return {
        "cpu_seconds": round(seconds, 1),
        "memory_mb": usage.ru_maxrss // 1024,
        "seconds": round(time.perf_counter() - begin, 1),
    }


def grown(what: str, sizes: Iterable[int], make: Callable[[int], Command]) -> Rows:
    """Measure a command at several sizes; the last has the exponent of growth."""
    rows: Rows = []
    for size in sizes:
        rows.append({"command": what, "size": size, **measured(make(size))})
        print(rows[-1], file=sys.stderr)
    if len(rows) > 1:
        (small, first), (large, last) = ((row["size"], row["cpu_seconds"]) for row in rows[-2:])
        rows[-1]["exponent"] = round(math.log(last / first) / math.log(large / small), 2)
    return rows


def tables(folder: Path, sizes: list[int], write: Callable[[Path, int], None], what: str, method: str | None) -> Rows:
    """Fit and predict tables."""
    model = folder / f"{what}.handful"

    def data(n: int) -> Path:
        path = folder / f"{what}{n}.csv"
        if not path.exists():
            write(path, n)
        return path

    chosen = () if method is None else ("--method", method)
    name = what if method is None else f"{what} ({method})"
    fit = grown(f"fit, {name}", sizes, lambda n: ("fit", data(n), "--target", "label", "-o", model, "--force", *chosen))
    out = folder / "out.csv"
    return fit + grown(f"predict, {name}", sizes, lambda n: ("predict", model, data(n), "-o", out, "--force"))


def raw_text(folder: Path, sizes: list[int]) -> Rows:
    """Train prototypes on raw text, cluster its words, and tag it."""
    write_tags(folder / "tags.tsv")
    (folder / "list.tsv").write_text("N\tw1 w4 w12\nV\tw2 w5 w21\nA\tw3 w6 w33\n")
    model, out = folder / "raw.handful", folder / "out"

    def text(n_bytes: int) -> Path:
        path = folder / f"raw{n_bytes}.txt"
        if not path.exists():
            write_raw(path, n_bytes)
        return path

    measured(("fit", "tagger", folder / "tags.tsv", "-o", folder / "tagger.handful", "--force"))
    commands: dict[str, Callable[[int], Command]] = {
        "fit prototypes": lambda n: ("fit", "prototypes", folder / "list.tsv", text(n), "-o", model, "--force"),
        "clusters": lambda n: ("clusters", text(n), "-o", out, "--force"),
        "predict, tagger": lambda n: (
            "predict",
            folder / "tagger.handful",
            text(n),
            "-o",
            out.with_suffix(".tsv"),
            "--force",
        ),
    }
    return [row for what, make in commands.items() for row in grown(what, sizes, make)]


def main() -> int:
    parser = usual_options(__doc__, "a tenth of the sizes")
    parser.add_argument("--only", nargs="+", choices=("rows", "texts", "raw"), default=("rows", "texts", "raw"))
    parser.add_argument("--rows", nargs="+", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--mb", nargs="+", type=int, default=[2, 20])
    options = parser.parse_args()
    part = 10 if options.quick else 1
    sizes = [n // part for n in options.rows]
    rows: Rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "rows" in options.only:
            rows += tables(folder, sizes, write_rows, "rows", None)
        if "texts" in options.only:
            rows += tables(folder, sizes, write_texts, "texts", None)
        if "raw" in options.only:
            rows += raw_text(folder, [mb * 10**6 // part for mb in options.mb])
    show_rows(rows, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
