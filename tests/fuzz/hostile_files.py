"""Read hostile data files with every command: `python tests/fuzz/hostile_files.py 300 [--first 0]`.

Each command runs in a child with 2 GB of address space. Prints how runs ended; fails where one ended in a traceback or an abort.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

_LIMIT = 2 * 2**30
_SECONDS = 60

TABLE = "x,n,color,day,label\n" + "".join(
    f"{i % 7}.5,{i * 7 % 13},{('red', 'blue')[i % 3 == 0]},2020-01-{i % 28 + 1:02d},{'ab'[i % 2] if i < 12 else ''}\n"
    for i in range(40)
)
TAGS = "\n".join("the\tD\ndog\tN\nbarks\tV\n" for _ in range(12))
TREES = "".join(
    f"1\tthe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n2\tdog\tdog\tNOUN\tNN\t_\t3\tsubj\t_\t_\n3\truns{i}\trun\tVERB\tVB\t_\t0\troot\t_\t_\n\n"
    for i in range(8)
)
TEXT = "the dog barks at the cat\nthe cat sees a dog in the house\n" * 10
JSON = "".join(
    f'{{"x": {i}, "text": "a dog {i}", "label": {["null", chr(34) + "a" + chr(34)][i % 2]}}}\n' for i in range(20)
)
BASES = {
    "a.csv": TABLE,
    "b.tsv": TAGS,
    "c.conllu": TREES,
    "d.txt": TEXT,
    "e.jsonl": JSON,
    "f.csv": TABLE.replace(",", ";"),
}
PIECES = (
    *(
        "\0",
        "\ufeff",
        '"',
        "''",
        "\r",
        "\t",
        ",",
        ";",
        "\n\n\n",
        "nan",
        "-inf",
        "1e999",
        "9" * 400,
        "=1+1",
        "\x1b[2J",
        "label",
    ),
    *(
        "e\u0301" * 20,
        "\u200b",
        "\u202e",
        "\ud7ff",
        "x" * 70_000,
        "-1",
        "None",
        "{",
        "[" * 3_000,
        "<!ENTITY a 'b'>",
        "#",
        "\u2028",
    ),
)

Words = tuple[object, ...]


def hostile(number: int) -> tuple[str, bytes]:
    """Return the name and the content of a file; each number is always the same file."""
    rng = random.Random(number)
    name = rng.choice(list(BASES))
    data = bytearray(BASES[name].encode())
    for _ in range(rng.choice((1, 2, 5, 30))):
        place = rng.randrange(len(data) + 1)
        match rng.randrange(7):
            case 0:
                data[place:place] = rng.choice(PIECES).encode("utf-8", "surrogatepass")
            case 1:
                data[place : place + rng.randrange(1, 60)] = b""
            case 2:
                data[place:place] = rng.randbytes(rng.randrange(1, 30))
            case 3:
                data[place : place + 1] = bytes([rng.randrange(256)])
            case 4:
                data[place:place] = bytes(data[: rng.randrange(200)])
            case 5:
                data = data[: max(place, 1)]
            case 6:
                data = bytearray(
                    bytes(data).decode("utf-8", "ignore").encode(rng.choice(("utf-16", "utf-8-sig", "utf-32")))
                )
    ending = rng.choice(
        (name[1:],) * 4 + (".csv", ".json", ".parquet", ".xlsx", ".txt", ".tsv", ".csv.gz", ".conllu", ".jsonl", ".xml")
    )
    return f"h{number}{ending}", bytes(data)


def commands(data: Path, folder: Path) -> dict[str, Words]:
    """Return every command that reads data, with quick settings."""
    table, tagger, out = folder / "table.handful", folder / "tagger.handful", folder / "out"
    fit = ("-o", folder / "m.handful", "--force")
    target = ("--target", "label")
    return {
        "fit": ("fit", data, *target, "--method", "k-nn", *fit),
        "predict": ("predict", table, data, "-o", folder / "out.csv", "--force"),
        "explain": ("explain", table, data),
        "compare": ("compare", data, *target, "--methods", "k-nn", "--n-splits", 2, "--jobs", 1, "--fresh"),
        "next": ("next", data, *target, "--model", table, "-n", 2),
        "check": ("check", data, *target, "--method", "k-nn"),
        "merge": ("merge", folder / "a.csv", data, *target, "-o", folder / "merged.csv", "--force"),
        "prevalence": ("prevalence", data, *target),
        "fit tagger": ("fit", "tagger", data, "--max-iter", 2, "--jobs", 1, *fit),
        "fit parser": ("fit", "parser", data, "--max-iter", 1, "--jobs", 1, *fit),
        "fit senses": ("fit", "senses", data, *fit),
        "fit prototypes": ("fit", "prototypes", folder / "list.tsv", data, "--max-iter", 2, "--jobs", 1, *fit),
        "predict tags": ("predict", tagger, data, "-o", folder / "out.tsv", "--force", "--jobs", 1),
        "explain tags": ("explain", tagger, data),
        "clusters": ("clusters", data, "--n", 3, "-o", out, "--force", "--jobs", 1),
        "similar": ("similar", data, "--word", "dog", "--jobs", 1),
        "prototypes": ("prototypes", "check", data),
        "inspect": ("inspect", data),
        "condense": ("condense", tagger, folder / "b.tsv", data, *fit, "--jobs", 1),
    }


def run(words: Words, log: Path) -> tuple[int, str]:
    """Run a command in a forked child; return how it ended and what it wrote on stderr."""
    child = os.fork()
    if child == 0:
        with log.open("wb") as file:
            os.dup2(file.fileno(), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        resource.setrlimit(resource.RLIMIT_AS, (_LIMIT, _LIMIT))
        resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
        from handful.cli import main

        code = 99
        try:
            main([str(word) for word in words])
        except SystemExit as ended:
            code = int(ended.code or 0)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), log.read_bytes().decode(errors="replace")


def is_clean(code: int, err: str) -> bool:
    """Whether a command succeeded, or said in a sentence why it did not."""
    return code == 0 or (code in (1, 2) and "Traceback" not in err and "unexpected" not in err and "handful: " in err)


def trial(numbers: range, names: list[str] | None = None) -> tuple[Counter[str], list[str]]:
    """Run commands on files; return how often they ended in what way, and the unclean ends."""
    for module in ("data.table", "models.table_model", "comparison.compare", "tagging.crf", "persistence.model_file"):
        __import__(f"handful.{module}")  # once, before the children
    outcomes: Counter[str] = Counter()
    unclean = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for base, text in {**BASES, "list.tsv": "D\tthe\nN\tdog cat\n"}.items():
            (folder / base).write_text(text)
        fits: tuple[Words, ...] = (
            ("fit", folder / "a.csv", "--target", "label", "--method", "k-nn", "-o", folder / "table.handful"),
            ("fit", "tagger", folder / "b.tsv", "--max-iter", 2, "--jobs", 1, "-o", folder / "tagger.handful"),
        )
        for words in fits:
            code, err = run(words, folder / "log")
            assert code == 0, err
        for number in numbers:
            file, content = hostile(number)
            path = folder / file
            path.write_bytes(content)
            for what, words in commands(path, folder).items():
                if names is None or what in names:
                    code, err = run(words, folder / "log")
                    outcomes[{0: "done", 1: "refused", 2: "refused"}.get(code, str(code))] += 1
                    if not is_clean(code, err):
                        unclean.append(f"{number} {what}: {code} {err[-300:]}")
            path.unlink()
    return outcomes, unclean


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", nargs="+")
    options = parser.parse_args()
    begin = time.monotonic()
    outcomes, unclean = trial(range(options.first, options.first + options.count), options.only)
    seconds = time.monotonic() - begin
    print(f"{options.count} files, {outcomes.total()} runs: {dict(outcomes)}, unclean {len(unclean)}, {seconds:.0f} s")
    print("\n".join(unclean))
    return 1 if unclean else 0


if __name__ == "__main__":
    sys.exit(main())
