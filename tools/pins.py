"""Pin what the commands and algorithms answer now, and compare with it after a change.

``python tools/pins.py write FOLDER`` runs everything and keeps the answers; ``python tools/pins.py compare FOLDER
[--only NAME ...]`` runs it again and prints a line for each pin: same or differs. NAME is the beginning of a pin's name,
such as ``table/wine`` or ``algorithm``. Pins depend on the machine in the last digits, so they are kept outside the
repository. What is run is the source tree of this file.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCES = f"{ROOT / 'src'}{os.pathsep}{ROOT}"  # the package, and the papers beside it
ENVIRONMENT = {"PYTHONPATH": SOURCES, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "HANDFUL_DATA": ""}

# The command lines. A name in braces is a file of the run's folder; {method} is that of the table below.
TABLE_COMMANDS = {
    "fit": "fit {data} --target label {method} --jobs 1 --seed 0 --json --model {model}",
    "predict": "predict {model} {data} --json",
    "next": "next {data} --target label -n 8 --seed 0 --json -o {todo}",
    "merge": "merge {data} {todo} --target label --json -o {merged}",
    "doubt": "doubt {data} --target label -n 10 --seed 0 --json",
    "budget": "budget {data} --target label --draws 3 --seed 0 --json",
}
TABLE_METHODS = {
    "wine": "--method ensemble",
    "breast_cancer": "--trials 6",
    "digits": "--method label-spreading",
    "iris": "--trials 6",
    "numbers": "--method tri-training(extra-trees)",
    "mixed": "--method ensemble",
    "texts": "--method ensemble",
    "texts_and_numbers": "--trials 4",
    "dates": "--method ordinal-knn",
    "five_classes": "--method semi-supervised-condensed-nn",
    "categories": "--method composite-kernel-pca",
    "skewed": "--method extra-trees",
}
CRF_OPTIONS = "--iterations 15 --jobs 1 --seed 0 --json"
LISTS_OPTIONS = "--sticky 0 --iterations 15 --jobs 1 --seed 0 --json"
SENSE_OPTIONS = "--jobs 1 --seed 0 --json"
CORPUS_COMMANDS = {
    "sentences": {
        "fit-tagger": f"fit tagger pos.tsv --no-check --templates general {CRF_OPTIONS} --model pos.handful",
        "predict-tagger": "predict pos.handful new.txt --json",
        "fit-tagger-checked": f"fit tagger pos.tsv --unlabeled raw.txt {CRF_OPTIONS} --model clusters.handful",
        "next": "next pos.tsv --unlabeled raw.txt -n 5 --seed 0 --json -o todo.tsv",
        "merge": "merge pos.tsv todo.tsv --json -o pos-merged.tsv",
        "doubt": "doubt pos.tsv -n 10 --seed 0 --json",
        "condense-tagger": "condense pos.handful pos.tsv --json -o small.handful",
        "condense-tagger-bins": "condense pos.handful pos.tsv raw.txt --way bins --iterations 15 --json -o bins.handful",
        "predict-condensed-tagger": "predict bins.handful new.txt --json",
        "fit-parser": "fit parser trees.conllu --iterations 3 --jobs 1 --seed 0 --json --model parser.handful",
        "fit-parser-lbfgs": "fit parser trees.conllu --order 1 --algorithm lbfgs --iterations 5 --jobs 1 --seed 0 --json"
        " --model parser-1.handful",
        "predict-parser": "predict parser.handful new.conllu --json",
        "predict-pipeline": "predict pos.handful parser.handful new.txt --json",
        "condense-parser": "condense parser.handful trees.conllu raw.txt --pos pos.handful --iterations 3 --json"
        " -o small-parser.handful",
        "predict-condensed-parser": "predict small-parser.handful new.conllu --json",
        "fit-prototypes": f"fit prototypes tags-list.tsv raw.txt --similarity places {LISTS_OPTIONS} --model list.handful",
        "predict-prototypes": "predict list.handful new.txt --json",
        "clusters": "clusters raw.txt --n-clusters 12 -o paths.txt --json",
    },
    "names": {
        "fit-tagger": f"fit tagger names.tsv {CRF_OPTIONS} --model names.handful",
        "predict-tagger": "predict names.handful new.txt --json",
        "fit-stacked": "fit tagger names.tsv --method stacked --unlabeled raw.txt --jobs 1 --seed 0 --json"
        " --model stacked.handful",
        "predict-stacked": "predict stacked.handful new.txt --json",
        "next": "next names.tsv --unlabeled raw.txt -n 5 --seed 0 --json",
        "doubt": "doubt names.tsv -n 10 --seed 0 --json",
        "condense": "condense names.handful names.tsv --json -o small-names.handful",
        "predict-condensed": "predict small-names.handful new.txt --json",
    },
    "ads": {
        "fit-prototypes": "fit prototypes fields-list.tsv ads-raw.txt --fields --similarity nearby-roots"
        f" {LISTS_OPTIONS} --model fields.handful",
        "predict-prototypes": "predict fields.handful ads-new.txt --json",
        "fit-tagger": f"fit tagger ads.tsv --no-check {CRF_OPTIONS} --model ads.handful",
        "predict-tagger": "predict ads.handful ads-new.txt --json",
        "next": "next --unlabeled ads-raw.txt -n 5 --seed 0 --json",
        "doubt": "doubt ads.tsv -n 10 --seed 0 --json",
    },
    "senses": {
        "fit-kernel-pca": f"fit senses senses.tsv --method kernel-pca {SENSE_OPTIONS} --model kpca.handful",
        "predict-kernel-pca": "predict kpca.handful senses-new.tsv --json",
        "fit-composite": f"fit senses senses.tsv --unlabeled senses-raw.txt {SENSE_OPTIONS} --model composite.handful",
        "predict-composite": "predict composite.handful senses-new.tsv --json",
        "fit-naive-bayes": f"fit senses senses.tsv --method naive-bayes {SENSE_OPTIONS} --model bayes.handful",
        "predict-naive-bayes": "predict bayes.handful senses-new.tsv --json",
    },
}
WRITTEN = {"merge", "clusters"}  # commands on corpora whose output file is pinned too

# Keys of answers that have a new name since the pins were written, old to new.
RENAMED: dict[str, str] = {}
# Keys that are not kept: files, times and sizes; sentences meant for people; and what the inputs say.
FILES = {"model", "data", "output", "figure", "map", "unlabeled", "bytes", "bytes before"}
PROSE = {"chosen", "reason", "text", "refused"}
INPUTS = {"cells", "tokens", "start", "end", "label"}
NOTICES = {"notes", "notices"}  # kept by code where they have one, else by their number
ANSWER_DIGITS, ALGORITHM_DIGITS = 4, 10
MOST_SHOWN = 3


class Run(NamedTuple):
    """What a command printed, and how it ended."""

    code: int
    answer: Any
    error: str


def run_command(line: str, names: dict[str, str], folder: Path) -> Run:
    """Run one command line in a folder and read its JSON."""
    arguments = [part.format(**names) for part in line.split()]
    done = subprocess.run(
        [sys.executable, "-m", "handful", *arguments],
        cwd=folder,
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
    )
    return Run(done.returncode, _read_json(done.stdout), done.stderr)


def _read_json(text: str) -> Any:
    """Read one JSON value, or a list of one for each line."""
    try:
        return json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def kept(answer: Any, dropped: set[str]) -> Any:
    """Leave out what is not pinned and round numbers."""
    if isinstance(answer, dict):
        parts = {key: value for key, value in answer.items() if key not in dropped}
        return {key: _codes(v) if key in NOTICES else kept(v, dropped) for key, v in parts.items()}
    if isinstance(answer, list):
        return [kept(value, dropped) for value in answer]
    return round(answer, ANSWER_DIGITS) if isinstance(answer, float) else answer


def _codes(notices: list[Any]) -> Any:
    if all(isinstance(notice, dict) for notice in notices):
        return sorted(str(notice.get("code")) for notice in notices)
    return len(notices)


# -- golden runs ------------------------------------------------------------------------------------------------------


def table_pins(folder: Path, wanted: Wanted) -> Iterator[tuple[str, Any]]:
    """Run every command on every table."""
    from pin_inputs import make_tables, write_table

    for name, table in make_tables().items():
        if not wanted.any_of(f"table/{name}/"):
            continue
        write_table(folder / f"{name}.csv", table)
        names = {"data": f"{name}.csv", "model": f"{name}.handful", "todo": f"{name}-todo.csv"}
        names |= {"merged": f"{name}-merged.csv"}
        dropped = FILES | PROSE | INPUTS | set(table.columns)
        rows: list[int] = []
        for command, line in TABLE_COMMANDS.items():
            if command == "merge":
                _fill(folder / names["todo"], table.truth, rows)
            run = run_command(line.replace("{method}", TABLE_METHODS[name]), names, folder)
            result = kept(run.answer, dropped)
            if command == "next" and run.code == 0:
                rows = [row["row"] for row in run.answer["rows"]]
            if command == "merge" and run.code == 0:
                with (folder / names["merged"]).open(encoding="utf-8", newline="") as file:
                    result = {**result, "labels": [cells["label"] for cells in csv.DictReader(file)]}
            yield f"table/{name}/{command}", _outcome(run, result)


def _fill(path: Path, truth: list[str], rows: list[int]) -> None:
    """Fill in the labels of a file of rows to label; the last stays empty."""
    if not path.exists():  # 'next' failed, and so will 'merge'
        return
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        cells = list(reader)
        columns = list(reader.fieldnames or ())
    for row, number in zip(cells[:-1], rows, strict=False):
        row["label"] = truth[number]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(cells)


def corpus_pins(folder: Path, wanted: Wanted) -> Iterator[tuple[str, Any]]:
    """Run the commands on sentences, names, ads and senses."""
    from pin_inputs import write_corpora

    write_corpora(folder)
    for corpus, commands in CORPUS_COMMANDS.items():
        if not wanted.any_of(f"corpus/{corpus}/"):
            continue
        for command, line in commands.items():
            run = run_command(line, {}, folder)
            result = kept(run.answer, FILES | PROSE | INPUTS)
            if command in WRITTEN and run.code == 0:
                lines = (folder / line.split()[line.split().index("-o") + 1]).read_text(encoding="utf-8").splitlines()
                result = {"answer": result, "file": sorted(lines) if command == "clusters" else lines}
            yield f"corpus/{corpus}/{command}", _outcome(run, result)


def _outcome(run: Run, result: Any) -> Any:
    """Return the result, or how the command failed."""
    return result if run.code == 0 else {"exit": run.code, "error": run.error.strip().splitlines()[-1:]}


def algorithm_pins(wanted: Wanted) -> Iterator[tuple[str, Any]]:
    """Run the algorithms on fixed inputs."""
    if not wanted.any_of("algorithm/"):
        return
    from pin_algorithms import PINS, plain

    for name, compute in PINS.items():
        if wanted.any_of(f"algorithm/{name}"):
            yield f"algorithm/{name}", plain(compute(), ALGORITHM_DIGITS)


# -- writing and comparing --------------------------------------------------------------------------------------------


class Wanted:
    """Which pins are asked for: those whose name begins with one of some texts, or all."""

    def __init__(self, starts: list[str]) -> None:
        self.starts = starts

    def __contains__(self, name: str) -> bool:
        """Tell whether this pin is asked for."""
        return not self.starts or any(name.startswith(start) for start in self.starts)

    def any_of(self, group: str) -> bool:
        """Tell whether a pin of a group may be asked for."""
        return group in self or any(start.startswith(group) for start in self.starts)


def all_pins(folder: Path, wanted: Wanted) -> Iterator[tuple[str, Any]]:
    """Compute pins one after the other."""
    yield from algorithm_pins(wanted)
    yield from table_pins(folder, wanted)
    yield from corpus_pins(folder, wanted)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Walk through all values with their places."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        yield f"{path}.length", len(value)
        for number, item in enumerate(value):
            yield from leaves(item, f"{path}[{number}]")
    else:
        yield path, value


def renamed(value: Any) -> Any:
    """Give old keys their new names."""
    if isinstance(value, dict):
        return {RENAMED.get(key, key): renamed(item) for key, item in value.items()}
    return [renamed(item) for item in value] if isinstance(value, list) else value


def difference(old: Any, new: Any, digits: int) -> str:
    """Say how two pins differ, or nothing."""
    before, after = dict(leaves(renamed(old))), dict(leaves(new))
    gone, added = before.keys() - after.keys(), after.keys() - before.keys()
    differing, largest = [], 0.0
    for place, value in before.items():
        if place in after and not _equal(value, after[place], digits):
            differing.append(f"{place}: {value!r} -> {after[place]!r}")
            if _is_number(value) and _is_number(after[place]):
                largest = max(largest, abs(value - after[place]))
    parts = []
    if differing:
        parts.append(f"{len(differing)} of {len(before)} values, largest difference {largest:.3g}")
        parts += differing[:MOST_SHOWN]
    for word, places in (("gone", gone), ("new", added)):
        if places:
            parts.append(f"{len(places)} {word}: {', '.join(sorted(places)[:MOST_SHOWN])}")
    return "; ".join(parts)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(old: Any, new: Any, digits: int) -> bool:
    """Compare values; numbers may differ by one in the last digit that is kept, which rounding may turn."""
    if isinstance(old, float) and _is_number(new):
        return old == new or abs(old - new) <= 1.01 * 10.0**-digits * max(1.0, abs(old) if digits > 4 else 1.0)
    return bool(old == new) and type(old) is type(new)


def pin_file(folder: Path, name: str) -> Path:
    """Return the file of a pin."""
    return folder / f"{name.replace('/', '+')}.json"


def write(folder: Path, wanted: Wanted) -> int:
    """Keep all pins as files."""
    folder.mkdir(parents=True, exist_ok=True)
    n_failed = 0
    with tempfile.TemporaryDirectory() as work:
        for name, value in _timed(all_pins(Path(work), wanted)):
            text = json.dumps(value, separators=(",", ":"), sort_keys=True)
            pin_file(folder, name).write_text(text + "\n", encoding="utf-8")
            failed = isinstance(value, dict) and "error" in value
            n_failed += failed
            print(f"{name}: {f'FAILS: {value}' if failed else f'{len(text)} bytes'}", flush=True)
    return int(n_failed > 0)


def compare(folder: Path, wanted: Wanted) -> int:
    """Compare with what is kept; return 1 if anything differs."""
    n_same = n_differ = 0
    with tempfile.TemporaryDirectory() as work:
        for name, value in _timed(all_pins(Path(work), wanted)):
            if name not in wanted:
                continue
            path = pin_file(folder, name)
            if path.exists():
                old, new = json.loads(path.read_text(encoding="utf-8")), json.loads(json.dumps(value))
                digits = ALGORITHM_DIGITS if name.startswith("algorithm/") else ANSWER_DIGITS
                changed = difference(old, new, digits)
            else:
                changed = f"no such pin in {folder}"
            n_same, n_differ = n_same + (not changed), n_differ + bool(changed)
            print(f"{name}: {f'differs: {changed}' if changed else 'same'}", flush=True)
    print(f"{n_same} same, {n_differ} differ")
    return int(n_differ > 0)


def _timed(pins: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Pass pins on, and say at the end what each group cost."""
    seconds: dict[str, float] = {}
    before = _processor_seconds()
    for name, value in pins:
        now = _processor_seconds()
        group = name.split("/")[0]
        seconds[group] = seconds.get(group, 0.0) + now - before
        yield name, value
        before = _processor_seconds()
    costs = ", ".join(f"{group} {time_:.0f} s" for group, time_ in seconds.items())
    print(f"processor time: {costs}", file=sys.stderr)


def _processor_seconds() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main() -> int:
    """Read the arguments and do what they say."""
    parser = argparse.ArgumentParser(description="Pin the answers of commands and algorithms, or compare with pins.")
    parser.add_argument("verb", choices=["write", "compare"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="beginnings of names of pins")
    arguments = parser.parse_args()
    if ENVIRONMENT.items() - os.environ.items():  # threads are counted when numpy is imported
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ENVIRONMENT})
    verb = {"write": write, "compare": compare}[arguments.verb]
    started = time.monotonic()
    code = verb(arguments.folder, Wanted(arguments.only))
    print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
