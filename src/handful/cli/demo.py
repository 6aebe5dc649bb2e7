"""``handful demo``: the commands of a user on files that come with the package."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Collection, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from importlib import resources
from pathlib import Path
from typing import Any

import click
import polars as pl

from handful.cli import console as ui
from handful.cli import options as opt
from handful.errors import FileError

_LABELED = {"digits": 50, "wine": 18}
# The design of the second part is fixed; its result is printed as it comes out.
_POOL = 1000  # rows to choose from; the others are for testing alone
_START = 20  # labels at the start
_MORE = 20  # labels that `next` chooses, or chance
_RANDOM = 5  # times that as many labels are chosen at random
_QUICK = "logistic-regression"  # for the seven fits
_BAR = 40  # characters of a bar of 100%
_FIELDS = [
    "--similarity",
    "nearby-roots",
    "--sticky",
    "4",
    "--no-spelling",
    "--boundary",
    "BOUNDARY",
]


@click.command("demo")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("handful-demo"),
    show_default=True,
    help="Folder of the demo's files; with --force, its commands can be run there again.",
)
@opt.run_option("force")
@opt.run_option("as_json")
def demo_command(folder: Path, force: bool, as_json: bool) -> None:
    """Run five short examples on bundled data: few labels, active learning, unlabeled rows, readable rows, prototypes.

    \b
    Example:
      handful demo
    """
    if folder.exists() and not (folder / ".handful-demo").exists() and not force:
        raise FileError(f"{folder}: exists already. Add --force to write into it, or name another --folder.")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".handful-demo").write_text("Files of 'handful demo'.\n", encoding="utf-8")
    ui.notice("The first run compiles the kernels, which takes about half a minute.")
    with chdir(folder):
        demo = _Demo(quiet=as_json)
        facts = {"few_labels": demo.few_labels(), "next": demo.chosen_labels()}
        facts |= {"wine": demo.unlabeled_data(), "rows": demo.readable_rows(), "ads": demo.prototypes()}
    if as_json:
        ui.emit_json(facts)
        return
    ui.echo(f"\nThe files are in {folder}. On your own data:")
    ui.suggest_command("handful fit YOURS.csv --target LABEL_COLUMN")


class _Demo:
    """The five parts; each prints its command lines and returns its figures."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.truth = {name: _write_table(name) for name in _LABELED}

    def say(self, text: str, style: str | None = None) -> None:
        """Print a line."""
        if not self.quiet:
            ui.echo(text, style=style)

    def run(self, *words: str, show: Sequence[str] = (), silent: bool = False) -> None:
        """Run a command, print its line, and of what it prints the lines that begin in a certain way."""
        from handful.cli import group

        if not silent:
            self.say(f"$ handful {' '.join(words)}", "cyan")
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with redirect_stdout(out), redirect_stderr(io.StringIO()):
            group.main(
                [*words, *(["--force"] if "--force" not in words else [])],
                "handful",
                standalone_mode=False,
                obj=list(words),
            )
        ui.begin()
        out.seek(0)
        for line in out.read().splitlines():
            if line.strip().startswith(tuple(show)) and show:
                self.say(line.rstrip())

    def accuracy(self, name: str, target: str) -> float:
        """Return the share of correct predictions for the rows without a label."""
        rows = _read("predicted.csv").with_columns(truth=pl.Series(self.truth[name])).filter(pl.col(target).is_null())
        return int((rows["predicted"] == rows["truth"]).sum()) / rows.height

    def few_labels(self) -> dict[str, Any]:
        """Fit digits with 50 labels, and reveal the true accuracy."""
        self.say(f"1. Few labels: 1,797 images of digits, {_LABELED['digits']} labeled", "bold")
        self.run("fit", "digits.csv", "--target", "digit", show=("Model", "Accuracy"))
        self.run("predict", "digits.handful", "digits.csv", "-o", "predicted.csv")
        accuracy = self.accuracy("digits", "digit")
        self.say(f"  True accuracy of the unlabeled rows: {ui.percent(accuracy)}\n")
        return {"labeled": _LABELED["digits"], "accuracy": accuracy}

    def chosen_labels(self) -> dict[str, Any]:
        """Label more digits, chosen by `next` and at random, and compare the accuracy on rows that neither can choose."""
        self.say(f"2. Active learning: {_START} labels, and {_MORE} more, chosen by 'next' or at random", "bold")
        pool, self.truth["test"] = _split_digits()
        before = self._fit_and_score("pool.csv")
        self.run("next", "pool.csv", "--target", "digit", "-n", str(_MORE), "-o", "pool-todo.csv")
        todo = _read("pool-todo.csv")  # where a person would fill in the labels
        numbers = todo["next_row"].str.split(" ").list.get(1).cast(int) - 1
        todo.with_columns(digit=pl.Series(pool)[numbers]).write_csv("pool-todo.csv")
        self.run("merge", "pool.csv", "pool-todo.csv", "-o", "chosen.csv")
        chosen = self._fit_and_score("chosen.csv", silent=False)
        draws, rows = [], _read("pool.csv")
        for seed in range(_RANDOM):
            more = random.Random(seed).sample(rows["digit"].is_null().arg_true().to_list(), _MORE)
            rows.with_columns(pl.Series("digit", _keep(pool, {*range(_START), *more}))).write_csv("random.csv")
            draws.append(self._fit_and_score("random.csv"))
        mean = sum(draws) / len(draws)
        bars = ((f"{_START} labels", before), (f"+{_MORE} at random", mean), (f"+{_MORE} by 'next'", chosen))
        for title, value in bars:
            self.say(f"  {title:<14} {'█' * round(_BAR * value)} {ui.percent(value)}")
        n_tested = len(self.truth["test"])
        self.say(
            f"  'next' against random: {100 * (chosen - mean):+.1f} points of true accuracy on {n_tested} other rows"
        )
        spread = f"{ui.percent(min(draws))} to {ui.percent(max(draws))}"
        self.say(f"  Method: {_QUICK}; at random: mean of {_RANDOM} draws ({spread})\n", "dim")
        scores = {"before": before, "chosen": chosen, "random": mean, "random_draws": draws}
        return {"method": _QUICK, "tested": n_tested, **scores}

    def _fit_and_score(self, data: str, *, silent: bool = True) -> float:
        fit = ("fit", data, "--target", "digit", "--method", _QUICK, "-o", "quick.handful")
        self.run(*fit, silent=silent)
        self.run("predict", "quick.handful", "test.csv", "-o", "predicted.csv", silent=True)
        return self.accuracy("test", "digit")

    def unlabeled_data(self) -> dict[str, Any]:
        """Compare a method that uses unlabeled rows with one that does not."""
        self.say(f"3. With and without unlabeled rows: 178 wines, {_LABELED['wine']} labeled", "bold")
        scores = {}
        for method in ("label-spreading", "logistic-regression"):
            fit = ("fit", "wine.csv", "--target", "cultivar", "--method", method, "-o", "quick.handful")
            self.run(*fit)
            self.run("predict", "quick.handful", "wine.csv", "-o", "predicted.csv", silent=True)
            scores[method] = self.accuracy("wine", "cultivar")
        spread, plain = scores.values()
        self.say(f"  True accuracy with unlabeled rows {ui.percent(spread)}, with labels only {ui.percent(plain)}")
        if spread <= plain:
            self.say("  Unlabeled rows did not help here; 'handful compare' shows where they do")
        self.say("")
        return {"label_spreading": spread, "logistic_regression": plain}

    def readable_rows(self) -> dict[str, Any]:
        """Replace a model by forty rows that a person can read."""
        self.say("4. A readable model: forty wines, and the prediction of the nearest one", "bold")
        condense = ("condense", "quick.handful", "wine.csv", "--rows", "40", "--yes", "-o", "rows.handful")
        self.run(*condense, show=("Fidelity",))
        self.run("predict", "rows.handful", "wine.csv", "-o", "predicted.csv", silent=True)
        accuracy = self.accuracy("wine", "cultivar")
        self.say(f"  True accuracy of the forty rows: {ui.percent(accuracy)}\n")
        return {"kept": 40, "accuracy": accuracy}

    def prototypes(self) -> dict[str, Any]:
        """Tag ads with fields from three example words per field."""
        content = json.loads(
            gzip.decompress((resources.files("handful.data") / "samples" / "ads.json.gz").read_bytes())
        )
        ads, lists = content["ads"], content["prototypes"]
        lines = [" ".join(ad["tokens"]) for ad in ads]
        Path("ads.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        Path("fields.tsv").write_text("".join(f"{k}\t{' '.join(v)}\n" for k, v in lists.items()), encoding="utf-8")
        n_words = sum(map(len, lists.values()))
        self.say(f"5. No labels: fields of {len(ads)} apartment ads (generated) from {n_words} prototypes", "bold")
        self.run("fit", "prototypes", "fields.tsv", "ads.txt", "--fields", *_FIELDS)
        self.run("predict", "ads.handful", "ads.txt", "--tokens", "spaces", "-o", "ads.jsonl")
        tagged = [json.loads(line)["tag"] for line in Path("ads.jsonl").read_text(encoding="utf-8").splitlines()]
        pairs = [pair for ad, tags in zip(ads, tagged, strict=True) for pair in zip(tags, ad["field"], strict=True)]
        accuracy = sum(tag == true for tag, true in pairs) / len(pairs)
        shown, previous = [], None
        for token, tag in list(zip(ads[0]["tokens"], tagged[0], strict=True))[:18]:
            shown += ([f"[{tag}]"] if tag != previous else []) + [token]
            previous = tag
        self.say(f"  {' '.join(shown)} …")
        self.say(f"  True accuracy: {ui.percent(accuracy)} of {len(pairs):,} words")
        return {"ads": len(ads), "prototypes": n_words, "accuracy": accuracy}


def _read(path: str) -> pl.DataFrame:
    return pl.read_csv(path, infer_schema=False)


def _bundled(name: str) -> tuple[pl.DataFrame, str, list[str]]:
    """Return a table of scikit-learn, the name of its label column, and the labels."""
    from sklearn.datasets import load_digits, load_wine

    bunch, target = (load_digits(), "digit") if name == "digits" else (load_wine(), "cultivar")
    names = [column.replace("/", "_") for column in bunch.feature_names]
    return pl.DataFrame(bunch.data, schema=names), target, [f"{target} {label}" for label in bunch.target.tolist()]


def _keep(truth: Sequence[str], kept: Collection[int]) -> list[str | None]:
    return [label if number in kept else None for number, label in enumerate(truth)]


def _write_table(name: str) -> list[str]:
    """Write a table of scikit-learn with a few labels, and return all labels."""
    rows, target, truth = _bundled(name)
    kept = random.Random(0).sample(range(len(truth)), _LABELED[name])
    rows.with_columns(pl.Series(target, _keep(truth, kept), dtype=pl.String)).write_csv(f"{name}.csv")
    return truth


def _split_digits() -> tuple[list[str], list[str]]:
    """Write digits in random order, rows to choose from with a few labels and rows for testing; return the labels of both."""
    rows, target, truth = _bundled("digits")
    order = random.Random(0).sample(range(len(truth)), len(truth))
    truth = [truth[number] for number in order]
    rows = rows[order].with_columns(pl.Series(target, _keep(truth, range(_START)), dtype=pl.String))
    rows[:_POOL].write_csv("pool.csv")
    rows[_POOL:].write_csv("test.csv")
    return truth[:_POOL], truth[_POOL:]
