"""``python -m papers``: rerun the experiments of a paper, and manage the corpora."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import console, emit_json, progress_bar
from handful.cli.options import WholeNumber, run_option
from handful.errors import HandfulError, Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from papers.claims import Outcome
    from papers.corpora import CheckReport, Corpus

_COLORS = {"reproduced": "green", "close": "yellow", "not reproduced": "red", "stand-in": "cyan", "not run": "dim"}
_ROWS = 24  # of claims, so that the table fits a screen


@click.command("paper")
@click.argument("key")
@click.option("--quick", is_flag=True, help="A reduced version, in minutes; every row says so.")
@click.option("--seeds", type=WholeNumber(min=1), help="Number of repetitions with different seeds.")
@run_option("jobs")
@click.option("--figures", type=click.Path(path_type=Path, file_okay=False), help="Write the paper's figures here.")
@run_option("resume")
@run_option("as_json")
@click.option("--all", "everything", is_flag=True, help="Show all claims, with reasons.")
@click.option("--pin", is_flag=True, help="Write the numbers of this run into the paper's folder (a full run only).")
def paper_command(
    key: str,
    quick: bool,
    seeds: int | None,
    jobs: int,
    figures: Path | None,
    resume: Path | None,
    as_json: bool,
    everything: bool,
    pin: bool,
) -> None:
    """Run the experiments of a paper and hold them against what was printed.

    KEY is one of the papers that 'python -m papers --help' of your version knows, such as liu2013.
    """
    from papers.claims import Settings, run_paper

    if pin and quick:
        raise click.UsageError("--pin needs a full run; leave out --quick.")
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    with progress_bar() as progress:
        outcomes = run_paper(key, Settings(quick, seeds, jobs, figures, progress, resume))
    if pin:
        _pin(key, outcomes)
    if as_json:
        emit_json({"paper": key, "claims": [outcome.as_dict() for outcome in outcomes]})
        return
    _show(key, outcomes, everything)


def _pin(key: str, outcomes: list[Outcome]) -> None:
    import json

    from papers.claims import load_paper, paper_folder, render_readme

    folder = Path(str(paper_folder(key)))
    measured = {outcome.claim.id: round(outcome.ours, 6) or 0.0 for outcome in outcomes if outcome.ours is not None}
    (folder / "measured.json").write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
    because = {outcome.claim.id: outcome.because for outcome in outcomes if outcome.ours is not None}
    (folder / "README.md").write_text(render_readme(load_paper(key), because), encoding="utf-8")


def _show(key: str, outcomes: list[Outcome], everything: bool) -> None:
    from collections import Counter

    from rich.table import Table

    numbers = sorted((o for o in outcomes if o.ours is not None), key=lambda outcome: outcome.is_stand_in)
    shown = outcomes if everything else numbers[:_ROWS]
    table = Table(title=key, box=None, pad_edge=False)
    for heading in ("claim", "metric", "paper", "ours", "state"):
        table.add_column(
            heading,
            justify="right" if heading in ("paper", "ours") else "left",
            no_wrap=not everything,
            ratio={"claim": 5, "metric": 3}.get(heading),
        )
    if everything:
        table.add_column("reason", ratio=4)
    for outcome in shown:
        claim = outcome.claim
        row = [
            claim.says,
            claim.metric,
            f"{'≥ ' if claim.rule == 'at least' else ''}{claim.paper:.4g}",
            "-" if outcome.ours is None else f"{outcome.ours:.4g}",
            f"[{_COLORS[outcome.state]}]{outcome.state}[/]",
        ]
        table.add_row(*row, outcome.because) if everything else table.add_row(*row)
    out = console()
    out.print(table)
    counts = Counter(outcome.state for outcome in outcomes)
    out.print(f"{len(outcomes)} claims: " + ", ".join(f"{n} {state}" for state, n in counts.most_common()) + ".")
    if counts["stand-in"]:
        out.print("stand-in: measured on generated data, because the corpus is not in the data folder; not comparable.")
    if len(shown) < len(outcomes):
        out.print(f"Show all claims with reasons: python -m papers {key} --all")


@click.group("data")
def data_command() -> None:
    """Find, fetch and check the corpora.

    They are looked up in the folder HANDFUL_DATA, else in your cache folder.
    """


@data_command.command("list")
@run_option("as_json")
def list_corpora(as_json: bool) -> None:
    """List all corpora: what they are, their licence, and whether they are here."""
    from papers.corpora import all_corpora, data_folder, refuse_false_folder

    refuse_false_folder()
    entries = [(entry, _state(entry)) for entry in all_corpora().values()]
    if as_json:
        rows = [_row(entry, state) for entry, state in entries]
        emit_json({"folder": data_folder(), "corpora": rows})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("name", no_wrap=True)
    table.add_column("what", ratio=3)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("licence", ratio=2)
    table.add_column("state", no_wrap=True)
    for entry, state in entries:
        table.add_row(entry.name, entry.what, _size(entry.size), entry.license, state)
    console().print(table)


@data_command.command("where")
@click.argument("name", required=False)
@run_option("as_json")
def where(name: str | None, as_json: bool) -> None:
    """Print the data folder, or the path of the corpus NAME."""
    from papers.corpora import data_folder, find

    path = data_folder() if name is None else find(name)
    if as_json:
        emit_json({"name": name, "path": path})
    else:
        click.echo(str(path))


@data_command.command("get")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@run_option("as_json")
def get(names: tuple[str, ...], as_json: bool) -> None:
    """Download corpora into the data folder.

    One that is there already is left alone; one that may not be downloaded is named, with the place to put it.
    """
    from papers.corpora import corpus, download

    entries = [corpus(name) for name in names]
    failures: list[HandfulError] = []
    rows: list[dict[str, Any]] = []
    with progress_bar() as bar:
        for entry in entries:
            try:
                path = download(entry.name, progress=bar)
            except HandfulError as error:
                failures.append(error)
                rows.append({"name": entry.name, "path": None, "problem": str(error)})
            else:
                rows.append({"name": entry.name, "path": path, "problem": ""})
                if not as_json:
                    click.echo(str(path))
    if as_json:
        emit_json({"ok": not failures, "corpora": rows})
    for failure in failures[:-1]:
        click.echo(f"handful: {failure}", err=True)
    if failures:
        raise failures[-1]


@data_command.command("check")
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option("--fast", is_flag=True, help="Compare checksums only; do not load and count.")
@run_option("as_json")
def check_corpora(names: tuple[str, ...], fast: bool, as_json: bool) -> int:
    """Check the corpora: checksums of the files, then counts of what they load as.

    Fails if one is damaged, or if one that you name is missing.
    """
    from papers.corpora import all_corpora, check, corpus, data_folder, refuse_false_folder

    refuse_false_folder()
    entries = list(map(corpus, names)) or [entry for entry in all_corpora().values() if entry.files]
    reports = []
    with progress_bar() as bar:
        for done, entry in enumerate(entries, start=1):
            reports.append(check(entry.name, counting=not fast))
            bar(Step("check", done, len(entries)))
    failures = ("damaged", "missing") if names else ("damaged",)
    wrong = [report for report in reports if report.state in failures]
    if as_json:
        rows = list(map(_as_row, entries, reports))
        emit_json({"folder": data_folder(), "ok": not wrong, "corpora": rows})
    else:
        _tell(reports)
    for report in wrong:
        click.echo(f"handful: {report.problem}", err=True)
    return int(bool(wrong))


def _as_row(entry: Corpus, report: CheckReport) -> dict[str, Any]:
    return {
        "name": report.name,
        "state": report.state,
        "files": dict(report.files),
        "counts": dict(report.counts),
        "expected": dict(entry.counts),
        "problem": report.problem,
    }


def _tell(reports: Sequence[CheckReport]) -> None:
    from rich.table import Table

    from papers.corpora import data_folder

    table = Table(box=None, pad_edge=False)
    for heading in ("name", "state", "counts"):
        table.add_column(heading)
    for report in reports:
        counts = ", ".join(f"{what}: {number:,}" for what, number in report.counts.items())
        table.add_row(report.name, report.state, counts)
    states = [report.state for report in reports]
    summary = ", ".join(f"{states.count(state)} {state}" for state in ("here", "missing", "damaged"))
    out = console()
    out.print(table)
    out.print(f"{summary} in {data_folder()}", soft_wrap=True, markup=False)


def _state(entry: Corpus) -> str:
    from papers.corpora import corpus_state

    state = corpus_state(entry)
    if state != "missing":
        return state
    return {"download": "can be downloaded", "supply": "missing", "replaced": "replaced"}[entry.access]


def _row(entry: Corpus, state: str) -> dict[str, Any]:
    from dataclasses import fields

    known = {field.name: getattr(entry, field.name) for field in fields(entry)}
    files = [{field.name: getattr(file, field.name) for field in fields(file)} for file in entry.files]
    return {
        **known,
        "counts": dict(entry.counts),
        "files": files,
        "access": entry.access,
        "size": entry.size,
        "state": state,
    }


def _size(size: int | None) -> str:
    if size is None:
        return "-"
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
