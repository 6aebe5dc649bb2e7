"""Kill commands at random moments, run them again to their end, and compare: ``python tests/cli_kills.py 30``.

Prints a line for each command with a checkpoint: how many kills struck while it worked, and how many of the runs that went
on afterwards gave the very bytes of a run that nobody disturbed. Names of commands after the number choose some of them;
``--minutes`` is when to stop with one of them, and another ``--seed`` kills at other moments.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from quick_start import PIPE, Process

from handful.data.conll import write_conllu
from handful.data.records import Sentence
from papers.generated import APARTMENT_PROTOTYPES, make_apartment_ads
from papers.generated_english import make_tagged_sentences

MODEL, PREDICTIONS = "model.handful", "predictions.tsv"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_PATIENCE = 20.0  # seconds in which processes end that have lost their parent
_BEFORE = 0.5  # seconds in which Python starts and nothing is at stake


def make_data(folder: Path) -> Path:
    """Write small files for all commands."""
    trees = make_tagged_sentences(150, random_state=0)
    rows = [
        "\n".join(f"{w}\t{t}" for w, t in zip(x.sentence.tokens, x.sentence["pos"], strict=True)) for x in trees[:60]
    ]
    (folder / "tags.tsv").write_text("\n\n".join(rows) + "\n")
    (folder / "raw.txt").write_text("\n".join(" ".join(tree.sentence.tokens) for tree in trees) + "\n")
    long = "\n".join(f"the cat{i % 70} sees a dog{i % 50} in house{i % 90}" for i in range(15_000))
    (folder / "long.txt").write_text(long + "\n")
    tagged = [replace(t, sentence=Sentence(t.sentence.tokens, {"xpos": t.sentence["pos"]})) for t in trees]
    write_conllu(folder / "trees.conllu", tagged[:40])
    table = "\n".join(f"{i % 7},{(i * i) % 11},{'ab'[i % 2] if i < 30 else ''}" for i in range(60))
    (folder / "table.csv").write_text(f"x,y,label\n{table}\n")
    (folder / "list.tsv").write_text("".join(f"{name}\t{' '.join(w)}\n" for name, w in APARTMENT_PROTOTYPES.items()))
    ads = make_apartment_ads(25, random_state=0)
    (folder / "ads.txt").write_text("\n".join(" ".join(ad.tokens) for ad in ads) + "\n")
    finish("fit", "tagger", folder / "tags.tsv", "-o", folder / "base.handful", "--max-iter", 10)
    return folder


Words = Callable[[Path, Path], tuple[object, ...]]
COMMANDS: dict[str, Words] = {
    "fit tagger": lambda data, out: (
        *("fit", "tagger", data / "tags.tsv", "-o", out / MODEL, "--force"),
        *("--max-iter", 100, "--resume", out / "kept"),
    ),
    "fit parser": lambda data, out: (
        *("fit", "parser", data / "trees.conllu", "-o", out / MODEL, "--force", "--jobs", 1),
        *("--max-iter", 8, "--resume", out / "kept"),
    ),
    "fit prototypes": lambda data, out: (
        *("fit", "prototypes", data / "list.tsv", data / "ads.txt", "-o", out / MODEL, "--force", "--jobs", 1),
        *("--fields", "--similarity", "none", "--sticky", 0, "--no-spelling", "--max-iter", 20),
        *("--resume", out / "kept"),
    ),
    "clusters": lambda data, out: (
        *("clusters", data / "long.txt", "-o", out / MODEL, "--force", "--n", 60, "--resume", out / "kept"),
    ),
    "similar": lambda data, out: (
        *("similar", data / "long.txt", "--word", "cat1", "--word", "dog1", "--json", "--resume", out / "kept"),
    ),
    "condense": lambda data, out: (
        *("condense", data / "base.handful", data / "tags.tsv", data / "raw.txt", "--mode", "bins"),
        *("-o", out / MODEL, "--force", "--counts", out / "counts", "--resume", out / "kept"),
    ),
    "fit": lambda data, out: (
        *("fit", data / "table.csv", "--target", "label", "-o", out / MODEL, "--force", "--trials", 12, "--jobs", 2),
    ),
    "predict": lambda data, out: (
        *("predict", data / "base.handful", data / "long.txt", "-o", out / PREDICTIONS, "--force", "--jobs", 2),
    ),
    "compare": lambda data, out: (
        *("compare", data / "table.csv", "--target", "label", "--methods", "k-nn,ordinal-knn,label-spreading"),
        *("--n-splits", 12, "--jobs", 1, "--resume", out / "kept", "--json"),
    ),
}


def start(words: tuple[object, ...], temporary: Path | None = None) -> Process | subprocess.Popen[bytes]:
    environment = dict(os.environ) if temporary is None else {**os.environ, "TMPDIR": str(temporary)}
    if __name__ != "__main__":
        return Process(words, env=environment)
    command = [sys.executable, "-m", "handful", *map(str, words)]
    return subprocess.Popen(command, stdout=PIPE, stderr=PIPE, env=environment, start_new_session=True)


def finish(*words: object) -> bytes:
    """Run a command to its end and return what it printed."""
    process = start(words)
    out, err = process.communicate()
    assert process.returncode == 0, (words, err)
    return out


def kill(words: tuple[object, ...], seconds: float, number: int, out: Path) -> bool:
    """Run a command and send it a signal after some seconds; tell whether it was still at work.

    Raises
    ------
    AssertionError
        If a process or a temporary file of it is left.
    """
    temporary = out.with_name("temporary")
    temporary.mkdir(exist_ok=True)
    process = start(words, temporary)
    try:
        process.communicate(timeout=seconds)
        return False
    except subprocess.TimeoutExpired:
        process.send_signal(number)
        _, err = process.communicate()
    assert b"Traceback" not in err, err
    end = time.monotonic() + _PATIENCE
    while (left := leftovers(process.pid, out, temporary)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not left, (words, signal.Signals(number).name, left)
    return True


def leftovers(group: int, out: Path, temporary: Path) -> list[str]:
    """Return what a command that has ended left: temporary files, and processes of its group."""
    left = [str(path) for path in (*out.rglob("*.part"), *temporary.iterdir())]
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, 0)
        left.append("a process")
    return left


def result(out: Path, printed: bytes) -> bytes:
    """Return what must be the same: the file that was written, or what was printed, but for measured times."""
    for path in (out / MODEL, out / PREDICTIONS):
        if path.is_file():
            return path.read_bytes()
    content = json.loads(printed)
    for row in content.get("methods", []):
        del row["fit_seconds"], row["predict_seconds"], row["n_bytes"]
    return json.dumps(content).encode()


def killed_runs(
    name: str, data: Path, folder: Path, n_runs: int, n_kills: int, minutes: float = math.inf, seed: int = 0
) -> tuple[int, int, int]:
    """Run a command again and again, each time from the start and with some kills before its end.

    Parameters
    ----------
    name : str
        A command of `COMMANDS`.
    data, folder : Path
        What `make_data` wrote, and a place to work in.
    n_runs, n_kills : int
        How many runs, and how many kills in each.
    minutes : float
        Time after which no further run is begun.
    seed : int
        Chooses the moments.

    Returns
    -------
    n_done, n_struck, n_same : int
        Runs, kills that met a command at work, and runs that ended as if there had been none.
    """
    end = time.monotonic() + 60 * minutes
    out = folder / "out"  # model files tell the command, so it must be the same each time
    words = COMMANDS[name](data, out)
    out.mkdir()
    begin = time.monotonic()
    expected = result(out, finish(*words))
    seconds = 0.75 * (time.monotonic() - begin)  # a machine that is less busy later is quicker
    generator = random.Random(f"{name} {seed}")
    n_done = n_struck = n_same = 0
    while n_done < n_runs and time.monotonic() < end:
        shutil.rmtree(out)
        out.mkdir()
        for _ in range(n_kills):
            if kill(words, generator.uniform(min(_BEFORE, seconds / 2), seconds), generator.choice(SIGNALS), out):
                n_struck += 1
            else:  # it was done before: the machine is less busy now
                seconds /= 2
                shutil.rmtree(out)
                out.mkdir()
        n_same += result(out, finish(*words)) == expected
        n_done += 1
    shutil.rmtree(out)
    return n_done, n_struck, n_same


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int)
    parser.add_argument("names", nargs="*", metavar="command", choices=[[], *COMMANDS])
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}\n| command | kills | struck | runs with the same result |\n|---|---|---|---|")
    lost = 0
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir()
        make_data(data)
        for name in options.names or COMMANDS:
            done, struck, same = killed_runs(name, data, Path(folder), options.runs, 1, options.minutes, options.seed)
            lost += done - same
            print(f"| {name} | {done} | {struck} | {same} of {done} |", flush=True)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
