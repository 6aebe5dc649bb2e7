"""Sentences that a tagger should learn from next, written with its suggestions to be corrected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from handful.cli.console import console, emit_json, progress_bar

if TYPE_CHECKING:
    from handful.corpora.tagged import Tagged
    from handful.labeling.sentences import SentencePick
    from handful.tagging import CRF


def choose_sentences(
    data: Path | None, unlabeled: Path, n: int, strategy: str, output: Path | None, seed: int, as_json: bool
) -> None:
    """Train a tagger on tagged sentences, if there are any, and choose raw ones.

    Parameters
    ----------
    data, unlabeled : Path
        Tagged and raw sentences; without tagged ones frequent words are covered.
    n : int
        How many.
    strategy : str
        See `handful.labeling.next_sentences`.
    output : Path or None
        Column file to write: token and suggested tag.
    seed : int
        Seed.
    as_json : bool
        Print JSON.
    """
    from handful.core.errors import DataError
    from handful.core.records import Sentence
    from handful.corpora.formats import write_conll
    from handful.corpora.sentences import read_sentences
    from handful.corpora.tagged import read_tagged
    from handful.labeling import next_sentences
    from handful.labeling.tagged_merging import NO_TAG

    if strategy not in ("auto", "random"):
        raise click.UsageError(f"--strategy {strategy} is for tables; sentences are chosen by auto or random.")
    train = None if data is None else read_tagged(data)
    known = set() if train is None else {sentence.tokens for sentence in train.sentences}
    raw = [
        s.tokens for s in dict.fromkeys(Sentence(s.tokens) for s in read_sentences(unlabeled)) if s.tokens not in known
    ]
    if not raw:
        such = "none" if data is None else f"only such as {data} has"
        raise DataError(f"{unlabeled}: at least one sentence must be new, got {such}. Add raw text.")
    tagger = None if train is None else _trained(train)
    picks = next_sentences(raw, tagger, n=n, strategy=strategy, random_state=seed)
    if output is not None:
        filled = [
            Sentence(raw[p.sentence], {"tag": tuple(p.suggestion) or (NO_TAG,) * len(raw[p.sentence])}) for p in picks
        ]
        write_conll(output, filled, ("token", "tag"))
    notes = [f"Only {len(picks):,} new sentences are there; all of them were chosen."] if len(picks) < n else []
    if as_json:
        facts = [{**vars(pick), "tokens": raw[pick.sentence]} for pick in picks]
        emit_json({"data": data, "unlabeled": str(unlabeled), "output": output, "sentences": facts, "notes": notes})
        return
    _show(picks, raw)
    for note in notes:
        console(stderr=True).print(note, style="yellow", markup=False, soft_wrap=True)
    if output is None:
        return
    if data is None:
        told = f"{output}: put a tag in place of every {NO_TAG}; these are your first tagged sentences."
    else:
        told = f"{output}: correct the suggested tags, then: handful merge {data} {output}"
    console().print(f"\n{told}", markup=False, soft_wrap=True)


def _trained(train: Tagged) -> CRF:
    from handful.tagging import CRF

    with progress_bar() as progress:
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
