"""``handful prototypes``: the working loop of a person who has a few typical words and no labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import console, emit_json, progress_bar
from handful.cli.sentences import fit_text, read_sentences

if TYPE_CHECKING:
    from handful.core.records import Sentence

_TEXT = click.argument("text", type=click.Path(path_type=Path))
_LIST = click.argument("prototypes", type=click.Path(path_type=Path))
_WORDS = click.option("--words", type=click.IntRange(min=1), default=10, show_default=True, help="Words to name.")
_RAW = click.option(
    "--similarity-text", type=click.Path(path_type=Path), help="More raw text to learn similarity from; else TEXT."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")


@click.group("prototypes")
def command() -> None:
    """Find, extend and check lists of typical words, label by label.

    A list is a TSV file with 'label TAB word word ...' a line (or JSON, or TOML).
    """


@command.command("extract")
@click.argument("tagged", type=click.Path(path_type=Path))
@click.option("--column", type=click.IntRange(min=1), help="Column of the labels, counted after the token; else last.")
@click.option("--words", type=click.IntRange(min=1), default=3, show_default=True, help="Words of each label.")
@click.option("--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="File to write; else stdout.")
def extract(tagged: Path, column: int | None, words: int, output: Path | None) -> None:
    """Take the most frequent words of each label from TAGGED, a column file."""
    from handful.corpora.formats import write_prototypes
    from handful.tagging.prototype_lists import extract_prototypes

    sentences = list(read_sentences(tagged))
    names = list(sentences[0].columns)
    if not names or (column is not None and column > len(names)):
        raise click.UsageError(f"{tagged} has {len(names)} columns after the token.")
    name = names[-1] if column is None else names[column - 1]
    found = extract_prototypes(sentences, [s[name] for s in sentences], words)
    if output is not None:
        write_prototypes(output, found)
        return
    for label, mine in found.items():
        click.echo(f"{label}\t{' '.join(mine)}")


@command.command("suggest")
@_LIST
@_TEXT
@_RAW
@_WORDS
@_JSON
def suggest(prototypes: Path, text: Path, similarity_text: Path | None, words: int, as_json: bool) -> None:
    """Suggest more words for each label of PROTOTYPES, and frequent words of TEXT that no label covers."""
    from handful.corpora.formats import read_prototypes
    from handful.tagging.prototype_lists import suggest_prototypes

    lists, sentences = read_prototypes(prototypes), _read(text)
    found = suggest_prototypes(sentences, lists, learn_similarity(similarity_text or text), n_words=words)
    if as_json:
        emit_json({"near": found.near, "uncovered": found.uncovered})
        return
    out = console()
    for label, near in found.near.items():
        out.print(f"{label}: " + ("  ".join(f"{w} {s:.2f}" for w, s, _ in near) or "-"), markup=False)
    out.print("covered by none: " + ("  ".join(f"{w} ({n})" for w, n in found.uncovered) or "-"), markup=False)


@command.command("check")
@_LIST
@_TEXT
@_RAW
@click.option("--model", type=click.Path(path_type=Path), help="A fitted prototype tagger: tells what it is unsure of.")
@_WORDS
@_JSON
def check(
    prototypes: Path, text: Path, similarity_text: Path | None, model: Path | None, words: int, as_json: bool
) -> None:
    """Tell how much of TEXT the list PROTOTYPES reaches, and where it is weak."""
    from dataclasses import asdict

    from handful.corpora.formats import read_prototypes
    from handful.methods import load
    from handful.tagging.prototype_lists import check_prototypes

    lists, sentences = read_prototypes(prototypes), _read(text)
    tagger = None if model is None else load(model)
    similarity = learn_similarity(similarity_text or text)
    found = check_prototypes(sentences, lists, similarity, tagger=tagger, n_words=words)
    if as_json:
        emit_json(asdict(found))
        return
    out = console()
    out.print(
        f"{found.n_tokens:,} tokens: {found.prototype_share:.1%} are prototypes, {found.linked_share:.1%} are linked to one."
    )
    for label, mine in found.missing.items():
        out.print(f"not in the text: {label}: {' '.join(mine)}", markup=False)
    for word, labels in found.ambiguous.items():
        out.print(f"under several labels: {word}: {' '.join(labels)}", markup=False)
    out.print("covered by none: " + ("  ".join(f"{w} ({n})" for w, n in found.uncovered) or "-"), markup=False)
    if tagger is not None:
        out.print("unsure: " + ("  ".join(f"{w} ({n}, {e:.1f} bits)" for w, n, e in found.unsure) or "-"), markup=False)


def learn_similarity(text: Path) -> Any:
    """Fit context similarity to a file, with a progress bar."""
    from handful.representations import ContextSimilarity

    similarity = ContextSimilarity()
    with progress_bar() as progress:
        fit_text(similarity, text, progress)
    return similarity


def _read(text: Path) -> list[Sentence]:
    return list(read_sentences(text))
