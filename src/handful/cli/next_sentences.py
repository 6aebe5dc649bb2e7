"""Sentences that a tagger should learn from next, written with its suggestions to be corrected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from handful.cli.console import COUNTED_FROM, console, emit_json, progress_bar
from handful.cli.options import Run, shell_name
from handful.core.counted import counted

if TYPE_CHECKING:
    from handful.core.progress import Progress
    from handful.corpora.tagged import Tagged
    from handful.corpora.token_style import Cut
    from handful.labeling.sentences import SentencePick
    from handful.tagging import CRF


def choose_sentences(data: Path | None, unlabeled: Path, n: int, strategy: str, run: Run, tokens: Cut | None) -> None:
    """Train a tagger on tagged sentences, if there are any, and choose raw ones.

    Parameters
    ----------
    data, unlabeled : Path
        Tagged and raw sentences; without tagged ones frequent words are covered.
    n : int
        How many.
    strategy : str
        See `handful.labeling.next_sentences`.
    run : Run
        Column file to write (token and suggested tag), seed, and whether to print JSON.
    tokens : {"blanks", "words"} or None
        Where raw text is cut; by default as the tagged sentences are.
    """
    from handful.corpora.tagged import read_tagged
    from handful.labeling import next_sentences

    if strategy not in ("auto", "random"):
        raise click.UsageError(f"--strategy {strategy} is for tables; sentences are chosen by auto or random.")
    train = None if data is None else read_tagged(data)
    raw = _new_sentences(unlabeled, data, train, tokens)
    with progress_bar() as progress:
        tagger = None if train is None else _trained(train, progress)
        picks = next_sentences(raw, tagger, n=n, strategy=strategy, random_state=run.seed, progress=progress)
    output = run.output
    if output is not None:
        _write(output, picks, raw)
    all_there = counted(len(picks), "new sentence", "is there; it was/are there; all of them were")
    notes = [f"Only {all_there} chosen."] if len(picks) < n else []
    if run.as_json:
        facts = [{**vars(pick), "tokens": raw[pick.sentence]} for pick in picks]
        named = {"data": data, "unlabeled": str(unlabeled), "output": output}
        emit_json({**named, **COUNTED_FROM, "sentences": facts, "notes": notes})
        return
    _show(picks, raw)
    for note in notes:
        console(stderr=True).print(note, style="yellow", markup=False, soft_wrap=True)
    if output is not None:
        console().print(f"\n{output}: {_what_to_do(output, data)}", markup=False, soft_wrap=True)


def _new_sentences(
    unlabeled: Path, data: Path | None, train: Tagged | None, tokens: Cut | None
) -> list[tuple[str, ...]]:
    """Return the raw sentences that are not tagged yet, each once."""
    from handful.cli.sentences import cut_of
    from handful.core.errors import DataError
    from handful.corpora.opening import Source
    from handful.corpora.sentences import read_sentences

    source = Source(unlabeled)
    style = None if train is None else train.style
    cut = cut_of(source, tokens, style)
    known = set() if train is None else {sentence.tokens for sentence in train.sentences}
    raw = dict.fromkeys(
        sentence.tokens for sentence in read_sentences(source, cut, () if style is None else style.abbreviations)
    )
    fresh = [tokens for tokens in raw if tokens not in known]
    if not fresh:
        such = "none" if data is None else f"only such as {data} has"
        raise DataError(f"{unlabeled}: at least one sentence must be new, got {such}. Add raw text.")
    return fresh


def _write(output: Path, picks: list[SentencePick], raw: list[tuple[str, ...]]) -> None:
    from handful.core.records import Sentence
    from handful.corpora.formats import write_conll
    from handful.labeling.tagged_merging import NO_TAG

    filled = [
        Sentence(raw[pick.sentence], {"tag": tuple(pick.suggestion) or (NO_TAG,) * len(raw[pick.sentence])})
        for pick in picks
    ]
    write_conll(output, filled, ("token", "tag"))


def _what_to_do(output: Path, data: Path | None) -> str:
    from handful.labeling.tagged_merging import NO_TAG

    if data is None:
        return f"put a tag in place of every {NO_TAG}; these are your first tagged sentences."
    return f"correct the suggested tags, then: handful merge {shell_name(data)} {shell_name(output)}"


def _trained(train: Tagged, progress: Progress) -> CRF:
    from handful.tagging import CRF

    tagger = CRF("ner" if train.has_spans else "pos", max_iter=100)
    return tagger.fit([s.tokens for s in train.sentences], [list(t) for t in train.tags], progress=progress)


def _show(picks: list[SentencePick], raw: list[tuple[str, ...]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("why", "margin", "sentence"):
        table.add_column(name, overflow="fold")
    for pick in picks:
        margin = "-" if pick.margin is None else f"{pick.margin:.2f}"
        table.add_row(Text(pick.reason), margin, Text(" ".join(raw[pick.sentence])[:120]))
    console().print(table)
