"""``handful demo``: in a minute, two tables with few labels, ten rows to label next, and ads tagged from typical words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import console, emit_json, progress_bar
from handful.cli.live import live_ranking
from handful.cli.options import WholeNumber, run_option

if TYPE_CHECKING:
    import numpy as np

    from handful.experiment.compare import Comparison

# Two methods that show what unlabeled rows can do and need little compiling, and plain ones that may win; others of the plain ones
# take part by themselves.
_METHODS = ("label-spreading", "ordinal-knn", "extra-trees", "kernel-ridge", "logistic-regression", "svm-rbf")
_WINE_TRIALS = 24  # enough to see that nobody is far ahead
_N_ADS = 200
_SHOWN_AD_SEED = 7
_COLORS = (
    "bright_blue",
    "green",
    "yellow",
    "magenta",
    "cyan",
    "red",
    "bright_green",
    "bright_magenta",
    "bright_yellow",
    "bright_cyan",
    "blue",
    "bright_red",
)


@click.command("demo")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("handful-demo"),
    show_default=True,
    help="Where the report and the data go.",
)
@click.option(
    "--trials", type=WholeNumber(12), default=40, show_default=True, help="Trials of each comparison at most."
)
@run_option("jobs", default=-1)
@run_option("as_json")
def command(folder: Path, trials: int, jobs: int, as_json: bool) -> None:
    """Show what handful does, on data that comes with it.

    First two tables of which few rows have a label: digits, where unlabeled rows help, and wines, where they need not. Then the
    ten digits to label next, and what they bring. Last generated apartment ads: a tagger learns twelve fields from three typical
    words each, and no labels at all.
    """
    from handful.core.errors import FileError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: cannot be made ({error.strerror}).") from None
    if not _compiled():
        note = "The first run compiles the kernels, which takes half a minute; later runs do not."
        console(stderr=True).print(note, style="dim")
    _write_tables(folder)
    digits = _comparison(folder, "digits", "digit", "5-per-class", trials, jobs)
    digits.to_html(folder / "report.html")
    wine = _comparison(folder, "wine", "cultivar", "18", min(trials, _WINE_TRIALS), jobs)
    labels = _ten_more()
    ads = _ads(folder, jobs)
    if as_json:
        tables = {"digits": digits.content.as_dict(), "wine": wine.content.as_dict()}
        emit_json({"report": folder / "report.html", **tables, "next": labels, "ads": ads["facts"]})
        return
    out = console()
    _show_table(out, "1. Digits: 1,797 small images, 5 labels for each digit", digits)
    out.print(f"Report: {folder / 'report.html'}\n", markup=False)
    _show_table(out, "2. Wines: 178 rows, 18 of them labeled", wine)
    _show_ten_more(out, labels)
    _show_ad(out, ads)
    _show_next(out)


def _compiled() -> bool:
    import handful.kernels

    return any(Path(handful.kernels.__file__).parent.glob("__pycache__/*.nbi"))


def _write_tables(folder: Path) -> None:
    """Write two tables that come with scikit-learn, as a person would have them."""
    import polars as pl
    from sklearn.datasets import load_digits, load_wine

    from handful.core.files import atomic_writer

    wine, digits = load_wine(), load_digits()
    grower = pl.Series("cultivar", [f"grower {number + 1}" for number in wine.target.tolist()])
    digit = pl.Series("digit", [f"digit {number}" for number in digits.target.tolist()])
    frames = {
        "wine": pl.DataFrame(wine.data, schema=[name.replace("/", "_") for name in wine.feature_names]).with_columns(
            grower
        ),
        "digits": pl.DataFrame(digits.data, schema=digits.feature_names).with_columns(digit),
    }
    for name, frame in frames.items():
        with atomic_writer(folder / f"{name}.csv") as file:
            frame.write_csv(file)


def _comparison(folder: Path, name: str, target: str, labels: str, trials: int, jobs: int) -> Comparison:
    from handful.experiment.compare import compare

    table = folder / f"{name}.csv"
    line = f"handful compare {table} --target {target} --labels {labels} --methods {','.join(_METHODS)}"
    limits: dict[str, Any] = {"trials": trials, "n_jobs": jobs, "command": line}
    with live_ranking() as watch:
        return compare(table, target, labels=labels, methods=_METHODS, watch=watch, **limits)


def _ten_more() -> dict[str, Any]:
    """Label ten more digits, chosen and at random, and see what they bring."""
    import numpy as np
    from sklearn.datasets import load_digits

    from handful.labeling import LabelLoop

    X, truth = load_digits(return_X_y=True)
    X, names = X[:600], truth[:600].astype(str)
    rng = np.random.default_rng(0)
    given = rng.permutation(len(X))[:20]
    loop = LabelLoop(X)
    for row in given:
        loop.label(int(row), names[row])
    picks = loop.next(10)
    others = np.setdiff1d(np.arange(len(X)), given)
    random = [_accuracy(X, names, np.append(given, rng.permutation(others)[:10])) for _ in range(10)]
    return {
        "rows": [{"row": pick.row, "reason": pick.reason} for pick in picks],
        "labels": len(given),
        "before": _accuracy(X, names, given),
        "chosen": _accuracy(X, names, np.append(given, [pick.row for pick in picks])),
        "random": float(np.mean(random)),
    }


def _accuracy(X: np.ndarray, names: np.ndarray, rows: np.ndarray) -> float:
    import numpy as np
    from sklearn.svm import SVC

    rest = np.setdiff1d(np.arange(len(X)), rows)
    return float((SVC(C=10).fit(X[rows], names[rows]).predict(X[rest]) == names[rest]).mean())


def _ads(folder: Path, jobs: int) -> dict[str, Any]:
    import time

    import numpy as np

    from handful.corpora.make import APARTMENT_PROTOTYPES, make_apartment_ads
    from handful.methods import save
    from handful.tagging import PrototypeTeam

    ads = make_apartment_ads(_N_ADS, random_state=0)
    sentences = [ad.tokens for ad in ads]
    # For less time than by default, settings are named that suit such ads, and there are two starts, not three.
    tagger = PrototypeTeam(
        APARTMENT_PROTOTYPES,
        fields=True,
        similarity="nearby-roots",
        spelling=False,
        sticky=4.0,
        n_starts=2,
        boundary="BOUNDARY",
        n_jobs=jobs,
        random_state=0,
    )
    start = time.perf_counter()
    with progress_bar() as progress:
        tagger.fit(sentences, progress=progress)
    seconds = time.perf_counter() - start
    tags = tagger.predict(sentences)
    pairs = [
        (answer, right)
        for ad, answers in zip(ads, tags, strict=True)
        for answer, right in zip(answers, ad["field"], strict=True)
    ]
    save(tagger, folder / "ads.handful")
    facts = {
        "ads": len(ads),
        "words": len(pairs),
        "labels": 0,
        "prototypes": {field: list(words) for field, words in APARTMENT_PROTOTYPES.items()},
        "accuracy": sum(answer == right for answer, right in pairs) / len(pairs),
        "seconds": seconds,
    }
    number = int(np.random.default_rng(_SHOWN_AD_SEED).integers(len(ads)))
    return {"facts": facts, "tokens": sentences[number], "tags": tags[number]}


def _show_table(out: Any, heading: str, result: Comparison) -> None:
    from rich.text import Text

    from handful.reports.terminal import render_terminal

    # What came out stands before the figures; what else there is to say stands in the report.
    ranking, *_, best_bet, proven = render_terminal(result.content)
    for part in (Text(heading, style="bold"), proven, ranking, best_bet, ""):
        out.print(part)


def _show_ten_more(out: Any, found: dict[str, Any]) -> None:
    from collections import Counter

    from rich.text import Text

    between = "between two digits"
    reasons = Counter(between if pick["reason"].startswith("between") else pick["reason"] for pick in found["rows"])
    told = "; ".join(f"{count} {reason}" for reason, count in reasons.most_common(3))
    out.print(Text(f"3. Which ten of 600 digits to label next, after {found['labels']} at random?", style="bold"))
    out.print(f"   rows {', '.join(str(pick['row']) for pick in found['rows'])} ({told})", markup=False)
    out.print(
        f"A support vector machine goes from {100 * found['before']:.1f} % to {100 * found['chosen']:.1f} % with these ten, "
        f"and to {100 * found['random']:.1f} % with ten at random (mean of ten draws).\n",
        markup=False,
    )


def _show_ad(out: Any, ads: dict[str, Any]) -> None:
    from rich.text import Text

    facts = ads["facts"]
    fields = [field for field in facts["prototypes"] if field != "BOUNDARY"]
    color = dict(zip(fields, _COLORS, strict=False))
    out.print(
        Text(f"4. Text: {facts['ads']} generated apartment ads, no labels, twelve lines of typical words", style="bold")
    )
    for field, words in facts["prototypes"].items():
        out.print(Text(f"   {field:<13}", style=color.get(field, "dim")).append(" ".join(words), style="dim"))
    out.print("An ad, picked at random, as the tagger reads it:")
    told = Text("   ")
    last = None
    for token, tag in zip(ads["tokens"], ads["tags"], strict=True):
        if tag != last:
            told.append(f"[{tag}] ", style=f"dim {color.get(tag, '')}".strip())
            last = tag
        told.append(f"{token} ", style=f"bold {color.get(tag, '')}".strip())
    out.print(told)
    out.print(
        f"{100 * facts['accuracy']:.1f} % of {facts['words']:,} words get the right one of twelve fields, "
        f"after {facts['seconds']:.0f} s, from 36 typical words.\n",
        markup=False,
    )


def _show_next(out: Any) -> None:
    from rich.text import Text

    out.print(Text("5. Your own data", style="bold"))
    for line in (
        "handful fit YOURS.csv --target LABEL                 two minutes; an empty LABEL is an unlabeled row",
        "handful predict YOURS.handful NEW.csv --abstain 0.8  answers, blank where unsure",
        "handful next YOURS.csv --target LABEL -n 10          which rows to label next",
    ):
        out.print(f"   {line}", markup=False, soft_wrap=True)
