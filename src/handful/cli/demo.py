"""``handful demo``: in a minute, a table with 18 labels compared, and ads tagged from a list of twelve lines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import console, emit_json, progress_bar
from handful.cli.live import live_ranking

if TYPE_CHECKING:
    from handful.experiment.compare import Comparison

_N_ADS = 400
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
@click.option("--minutes", type=float, default=0.5, show_default=True, help="Time of the comparison at most.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Worker processes; -1 uses every core.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
def command(folder: Path, minutes: float, jobs: int, as_json: bool) -> None:
    """Show what handful does, on data that comes with it.

    First a table of wines of which 18 have a label: all methods are compared and a report is written. Then apartment ads:
    a tagger learns twelve fields from three typical words each, and no labels at all.
    """
    from handful.core.errors import FileError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: cannot be made ({error.strerror}).") from None
    if not _compiled():
        note = "The first run compiles the kernels, which takes a minute or two; later runs do not."
        console(stderr=True).print(note, style="dim")
    comparison = _wine(folder, minutes, jobs)
    ads = _ads(folder)
    if as_json:
        emit_json({"report": folder / "report.html", "wine": comparison.content.as_dict(), "ads": ads["facts"]})
        return
    from rich.text import Text

    from handful.reports.terminal import render_terminal

    out = console()
    out.print(Text("1. A table: 178 wines, 18 of them labeled", style="bold"))
    for part in render_terminal(comparison.content):
        out.print(part)
    out.print(f"Report: {folder / 'report.html'}\n", markup=False)
    _show_ad(out, ads)
    _show_next(out, folder)


def _compiled() -> bool:
    import handful.kernels

    return any(Path(handful.kernels.__file__).parent.glob("__pycache__/*.nbi"))


def _wine(folder: Path, minutes: float, jobs: int) -> Comparison:
    import polars as pl
    from sklearn.datasets import load_wine

    from handful.core.files import atomic_writer
    from handful.experiment.compare import compare

    wine = load_wine()
    names = [name.replace("/", "_") for name in wine.feature_names]
    cultivar = pl.Series("cultivar", [f"grower {number + 1}" for number in wine.target.tolist()])
    frame = pl.DataFrame(wine.data, schema=names).with_columns(cultivar)
    with atomic_writer(folder / "wine.csv") as file:
        frame.write_csv(file)
    line = f"handful compare {folder / 'wine.csv'} --target cultivar --labels 18"
    with live_ranking() as watch:
        result = compare(
            folder / "wine.csv", "cultivar", labels=18, minutes=minutes, n_jobs=jobs, command=line, watch=watch
        )
    result.to_html(folder / "report.html")
    return result


def _ads(folder: Path) -> dict[str, Any]:
    import time

    from handful.corpora.make import APARTMENT_PROTOTYPES, make_apartment_ads
    from handful.methods import save
    from handful.representations import ContextSimilarity
    from handful.tagging import PrototypeTagger

    ads = make_apartment_ads(_N_ADS, random_state=0)
    sentences = [ad.tokens for ad in ads]
    similarity = ContextSimilarity(n_context_words=200, window=3, directional=False, n_components=50)
    tagger = PrototypeTagger(
        APARTMENT_PROTOTYPES, order=1, boundary="BOUNDARY", similarity=similarity, max_iter=40, random_state=0
    )
    start = time.perf_counter()
    with progress_bar() as progress:
        tagger.fit(sentences, progress=progress)
    seconds = time.perf_counter() - start
    tags = tagger.predict(sentences)
    pairs = [
        (answer, right)
        for ad, given in zip(ads, tags, strict=True)
        for answer, right in zip(given, ad["field"], strict=True)
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
    number = next(i for i, ad in enumerate(ads) if 40 <= len(ad) <= 70 and len(set(tags[i])) >= 6)
    return {"facts": facts, "tokens": sentences[number], "tags": tags[number]}


def _show_ad(out: Any, ads: dict[str, Any]) -> None:
    from rich.text import Text

    facts = ads["facts"]
    fields = [field for field in facts["prototypes"] if field != "BOUNDARY"]
    color = dict(zip(fields, _COLORS, strict=False))
    out.print(Text(f"2. Text: {facts['ads']} apartment ads, no labels, twelve lines of typical words", style="bold"))
    for field, words in facts["prototypes"].items():
        out.print(Text(f"   {field:<13}", style=color.get(field, "dim")).append(" ".join(words), style="dim"))
    out.print("An ad as the tagger reads it:")
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


def _show_next(out: Any, folder: Path) -> None:
    from rich.text import Text

    out.print(Text("3. Your own data", style="bold"))
    for line in (
        "handful compare YOURS.csv --target LABEL          which method? (rows with an empty LABEL are unlabeled)",
        "handful fit YOURS.csv --target LABEL              the winner, saved as YOURS.handful",
        "handful predict YOURS.handful NEW.csv --abstain 0.8",
        f"handful compare {folder / 'wine.csv'} --target cultivar --labels 5-per-class",
        "handful methods                                   all methods",
    ):
        out.print(f"   {line}", markup=False, soft_wrap=True)
