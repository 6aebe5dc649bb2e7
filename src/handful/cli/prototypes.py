"""``handful prototypes``: the working loop of a person who has a few typical words and no labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import answers_to, emit_json
from handful.cli.options import WholeNumber, check_output, run_option
from handful.core.errors import ModelFileError, ParameterError
from handful.core.registry import name_of

if TYPE_CHECKING:
    from handful.core.records import Sentence
    from handful.tagging.prototypes.similarities import Kind

_TEXT = click.argument("text", type=click.Path(path_type=Path))
_LIST = click.argument("prototypes", type=click.Path(path_type=Path))
_WORDS = click.option("--words", type=WholeNumber(min=1), default=10, show_default=True, help="Words to name.")
MORE_TEXT = click.option(
    "--similarity-text", type=click.Path(path_type=Path), help="More raw text to learn similarity from, beside TEXT."
)
_FIELDS = click.option(
    "--fields",
    is_flag=True,
    help="For fields of documents, not parts of speech: --similarity is then nearby, not places.",
)
_SIMILARITY = click.option(
    "--similarity",
    type=click.Choice(["places", "nearby", "place-roots", "nearby-roots"]),
    help="Kind of similarity, as for 'handful fit prototypes', whose report names the best for a text.",
)


@dataclass(frozen=True)
class _Likeness:
    """What was given about how similarity of words is learned."""

    similarity_text: Path | None
    fields: bool
    similarity: Any

    def learn(self, sentences: list[Sentence]) -> tuple[Any, float]:
        """Learn similarity from sentences and a further file; return it and the least that counts as similar."""
        from handful.tagging.prototypes.similarities import learn_similarity, usual_threshold

        text = [*sentences, *([] if self.similarity_text is None else _read(self.similarity_text))]
        return learn_similarity(self.kind, text, sum(map(len, text))), usual_threshold(self.kind)

    @property
    def kind(self) -> Kind:
        """The kind of similarity."""
        return self.similarity or ("nearby" if self.fields else "places")


def _likeness_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `_Likeness`; it gets them together as ``likeness``."""

    @wraps(command)
    def collected(*args: Any, similarity_text: Any, fields: bool, similarity: Any, **values: Any) -> Any:
        return command(*args, likeness=_Likeness(similarity_text, fields, similarity), **values)

    return MORE_TEXT(_FIELDS(_SIMILARITY(collected)))


_JSON = run_option("as_json")


@click.group("prototypes")
def command() -> None:
    """Find, extend and check lists of typical words, label by label.

    A list is a TSV file with 'label TAB word word ...' on each line (or JSON, or TOML).
    """


@command.command("extract")
@click.argument("tagged", type=click.Path(path_type=Path))
@click.option("--column", metavar="COLUMN", help="Column of the labels, as for 'check --gold'; else the last.")
@click.option("--words", type=WholeNumber(min=1), default=3, show_default=True, help="Words of each label.")
@run_option("output")
def extract(tagged: Path, column: str | None, words: int, output: Path | None) -> None:
    """Take the most frequent words of each label from TAGGED, a column or CoNLL-U file."""
    from handful.corpora.formats import write_prototypes
    from handful.tagging.prototypes.lists import extract_prototypes

    check_output(output, tagged)
    sentences = _read(tagged)
    lists = extract_prototypes(sentences, _labels(tagged, sentences, column), words)
    if output is not None:
        write_prototypes(output, lists)
        return
    with answers_to(None) as file:
        file.writelines(f"{label}\t{' '.join(typical)}\n" for label, typical in lists.items())


@command.command("suggest")
@_LIST
@_TEXT
@_likeness_options
@_WORDS
@_JSON
def suggest(prototypes: Path, text: Path, likeness: _Likeness, words: int, as_json: bool) -> None:
    """Suggest more words for each label of PROTOTYPES, and frequent words of TEXT that no label covers."""
    from handful.corpora.formats import read_prototypes
    from handful.tagging.prototypes.lists import suggest_prototypes

    lists, sentences = read_prototypes(prototypes), _read(text)
    learned, threshold = likeness.learn(sentences)
    suggestions = suggest_prototypes(sentences, lists, learned, n_words=words, threshold=threshold)
    if as_json:
        emit_json({"near": suggestions.near, "uncovered": suggestions.uncovered})
        return
    from handful.cli.prototype_report import show_suggestions

    show_suggestions(suggestions)


@command.command("check")
@_LIST
@_TEXT
@_likeness_options
@click.option(
    "--tagger",
    "tagger_file",
    type=click.Path(path_type=Path),
    help="A model of 'handful fit prototypes': tells what it is unsure of.",
)
@click.option(
    "--gold",
    metavar="COLUMN",
    help="Column of TEXT with the correct labels, counted after the token or by its CoNLL-U name (upos): tells which "
    "prototypes are disputed and, with --tagger, the accuracy and what is taken for what.",
)
@_WORDS
@_JSON
def check(
    prototypes: Path,
    text: Path,
    likeness: _Likeness,
    tagger_file: Path | None,
    gold: str | None,
    words: int,
    as_json: bool,
) -> None:
    """Tell how much of TEXT the list PROTOTYPES reaches, and where it is weak."""
    from dataclasses import asdict

    from handful.cli.prototype_report import show_boundaries, show_coverage, show_mistakes, show_settings
    from handful.corpora.formats import read_prototypes
    from handful.evaluation.mapping import confusions
    from handful.methods import load
    from handful.tagging import PrototypeTagger, PrototypeTeam
    from handful.tagging.prototypes.coverage import check_prototypes

    lists, sentences = read_prototypes(prototypes), _read(text)
    correct = None if gold is None else _labels(text, sentences, gold)
    tagger = None if tagger_file is None else load(tagger_file)
    if tagger is not None and not isinstance(tagger, PrototypeTagger | PrototypeTeam):
        raise ModelFileError(f"{tagger_file}: a model of 'handful fit prototypes' is needed, got {name_of(tagger)}.")
    learned, threshold = likeness.learn(sentences)
    coverage = check_prototypes(
        sentences, lists, learned, tagger=tagger, gold=correct, n_words=words, threshold=threshold
    )
    facts = {**asdict(coverage), "settings": getattr(tagger, "trials_", [])}
    if tagger is not None and correct is not None:
        # A mark takes the label of the field before it, so that nothing could be right where the mark's own is asked for.
        fields = [[None if label == tagger.boundary else label for label in labels] for labels in correct]
        facts["accuracy"] = tagger.score(sentences, fields)
        facts["confusions"] = confusions(fields, tagger.predict(sentences), top=words)
        facts["boundary"], facts["boundaries"] = tagger.boundary, sum(labels.count(None) for labels in fields)
    if as_json:
        emit_json(facts)
        return
    show_coverage(coverage, likeness.kind)
    show_settings(facts["settings"])
    if "accuracy" in facts:
        show_mistakes(facts["accuracy"], facts["confusions"])
        if facts["boundaries"]:
            show_boundaries(facts["boundaries"], facts["boundary"])


def _read(text: Path) -> list[Sentence]:
    from handful.corpora.sentences import read_sentences

    return list(read_sentences(text))


def _labels(path: Path, sentences: list[Sentence], column: str | None) -> list[tuple[str, ...]]:
    """Return one column of every sentence: by number, by name, or the last."""
    names = list(sentences[0].columns)
    by_name = {**{str(number): name for number, name in enumerate(names, start=1)}, **{name: name for name in names}}
    wanted = column if column is not None else str(len(names))
    if wanted not in by_name:
        has = f"{len(names)} after the token: {', '.join(names)}" if names else "none after the token"
        raise ParameterError(f"{path}: there must be a column {column or 'of labels'}, got {has}.")
    return [sentence[by_name[wanted]] for sentence in sentences]
