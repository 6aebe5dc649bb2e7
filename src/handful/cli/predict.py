"""``handful predict``: label new rows or tag new sentences with a saved model."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli import console as ui
from handful.cli import options as opt
from handful.cli.files import check_outputs, cut_of, write_rows
from handful.errors import DataError, FormatError, ModelFileError, ParameterError, counted
from handful.registry import spec_of

if TYPE_CHECKING:
    import polars as pl

    from handful.data.records import Tree
    from handful.data.tagged import Form
    from handful.data.text import Cut
    from handful.models.pipeline import Pipeline
    from handful.models.table_model import TableModel

_ENOUGH_CELLS = 10  # a few odd cells are a notice, a whole column of them is refused


def predict_table(
    model: TableModel,
    data: Path,
    run: opt.Run,
    abstain: float | None,
    names: tuple[str, str],
    *,
    safe_csv: bool = False,
) -> None:
    """Write a table with two more columns: prediction and confidence.

    Parameters
    ----------
    model : TableModel
        The model.
    data : Path
        The table.
    run : opt.Run
        The output, a table of the kind that its name says; or stdout, as CSV or JSON lines.
    abstain : float or None
        Predictions of less confidence are left blank.
    names : tuple of str
        Names of the two columns.
    safe_csv : bool
        Whether texts that a spreadsheet would run as formulas get an apostrophe.
    """
    import polars as pl

    from handful.data.csv import TIMESTAMP
    from handful.data.formats import format_for
    from handful.data.table import table_frames
    from handful.data.tabular import without_formulas
    from handful.preprocessing.table_encoder import unread_notices

    if run.output is not None:
        format_for(run.output, "table")  # refuses a name of no kind of table, before any work
    n_rows = n_blank = n_empty = 0
    unread: dict[str, tuple[int, int]] = {}

    def predicted() -> Iterator[pl.DataFrame]:
        nonlocal n_rows, n_blank, n_empty
        for frame in table_frames(data):
            _check_columns(data, frame, model.columns_, names)
            counts = _unread(model, data, frame)
            labels, confidence = model.predict_with_confidence(frame)
            for name, (n, filled) in counts.items():
                before = unread.get(name, (0, 0))
                unread[name] = (before[0] + n, before[1] + filled)
            n_empty += _n_empty(frame, model.columns_)
            column = pl.Series(names[0], labels.tolist(), strict=False)
            if abstain is not None:
                blank = ~(confidence >= abstain)
                column = column.set(pl.Series(blank), None)
                n_blank += int(blank.sum())
            n_rows += frame.height
            probabilities = pl.Series(names[1], confidence).round(4).fill_nan(None)
            # An empty cell stays as it was, without quotes.
            full = frame.with_columns(pl.col(pl.String).replace({"": None})).with_columns(column, probabilities)
            yield without_formulas(full) if safe_csv else full

    if run.output is not None:
        write_rows(run.output, predicted(), like=data)
    else:
        for number, frame in enumerate(predicted()):
            csv: dict[str, Any] = {"include_header": number == 0, "datetime_format": TIMESTAMP}
            text = frame.write_ndjson() if run.as_json else frame.write_csv(**csv)
            if sys.stdout.isatty() or not hasattr(sys.stdout, "buffer"):
                sys.stdout.write(ui.visible(text))
            else:
                sys.stdout.buffer.write(text.encode())
    ui.show_notices(unread_notices(unread), prefix=f"{data}: ")
    if n_empty:
        ui.notice(f"{data}: {counted(n_empty, 'row')} empty in all columns of the model; ignore these predictions.")
    blank_text = f", {n_blank:,} left blank (confidence below {abstain:g})" if abstain is not None else ""
    ui.notice(f"{counted(n_rows, 'row')} predicted{blank_text}{_where(run.output)}.")


def _where(output: Path | None) -> str:
    return f", written to {output}" if output is not None else ""


def _unread(model: TableModel, data: Path, frame: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """Count the cells that cannot be read; raise if a column has many and none can, or they contradict its reading."""
    try:
        counts = model.unread(frame)
    except DataError as error:
        raise FormatError(data, None, str(error)) from None
    unreadable = {name: filled for name, (n, filled) in counts.items() if n == filled}
    if sum(unreadable.values()) >= _ENOUGH_CELLS:
        listed = ", ".join(map(repr, list(unreadable)[:5]))
        raise FormatError(
            data, None, f"no cell of {listed} can be read. Is this the kind of table that the model was trained on?"
        )
    return counts


def _n_empty(frame: pl.DataFrame, columns: Collection[str]) -> int:
    """Count the rows that are empty in some columns."""
    import polars as pl
    import polars.selectors as cs

    from handful.data.table import frame_like

    cells = frame_like(frame, columns).select(list(columns))
    cells = cells.with_columns(cs.string().str.strip_chars().replace({"": None}))
    return int(cells.select(pl.all_horizontal(pl.all().is_null()).sum()).item())


def _check_columns(data: Path, frame: pl.DataFrame, columns: Collection[str], names: tuple[str, str]) -> None:
    from difflib import get_close_matches

    from handful.data.table import frame_like

    for name, option in zip(names, ("--column", "--confidence"), strict=True):
        if name in frame.columns:
            raise ParameterError(f"{data}: has a column {name!r} already. Choose another name with {option}.")
    missing = [name for name in columns if name not in frame_like(frame, columns).columns]
    if missing:
        others = {name.casefold(): name for name in frame.columns if name not in columns}
        near = get_close_matches(missing[0].casefold(), others, n=1)
        hint = f" Is {missing[0]!r} called {others[near[0]]!r} there?" if near else ""
        listed = ", ".join(map(repr, missing[:5]))
        raise FormatError(data, None, f"no column {listed}, which the model needs.{hint}")


_BATCH = 500
_Shard = list[tuple[Any, tuple[str, ...]]]


def predict_sentences(
    models: Sequence[Any], data: Path, run: opt.Run, abstain: float | None, tokens: Cut | None = None
) -> None:
    """Write sentences with the tags of taggers, and the trees of a parser behind them.

    Parameters
    ----------
    models : sequence of models
        Taggers, at the end perhaps a parser.
    data : Path
        Text, columns, CoNLL-U or annotated texts, read as a stream.
    run : opt.Run
        The output (stdout by default), and the workers. JSON lines if the name of the file or `as_json` asks for it;
        CoNLL-U if there are trees in the input or output; else columns.
    abstain : float or None
        Tags of less confidence become ``_``.
    tokens : {"spaces", "words"} or None
        How text is tokenized; by default like the training tokens of the first tagger.
    """
    from handful.models.pipeline import Pipeline
    from handful.parallel import map_parts

    form: Any = "jsonl" if run.as_json else _form(run.output)
    pipeline = Pipeline(models)
    if abstain is not None and pipeline.parser is not None:
        raise ParameterError("--abstain: not with a parser, which needs all tags. Leave it out.")
    sentences = _read(pipeline, data, tokens)
    first = next(sentences, None)
    if first is None:
        return
    # Columns cannot hold a tree, so a parser is not asked by the name of the file.
    if form == "columns" and (_has_place(first[0]) or pipeline.parser is not None):
        form = "conllu"
    tally = _Answers()
    rows = chain([first], sentences)
    shards = iter(lambda: list(islice(rows, _BATCH)), [])
    answer = partial(_answered, pipeline, form, abstain)
    with closing(map_parts(answer, shards, n_jobs=run.jobs, engine=run.engine)) as parts:
        _write(run.output, tally.counting(parts))
    ui.notice(_summary(tally, pipeline, abstain, run.output))


@dataclass
class _Answers:
    """What came of some sentences; of those that have heads or tags already, these next to the predictions."""

    header: str = ""
    text: str = ""
    n_sentences: int = 0
    n_words: int = 0
    n_blank: int = 0
    tags: Counter[str] = field(default_factory=Counter)
    trees: list[tuple[Tree, Tree]] = field(default_factory=list)
    tagged: list[tuple[Sequence[str], Sequence[str]]] = field(default_factory=list)

    def counting(self, parts: Iterable[_Answers]) -> Iterator[_Answers]:
        """Add up parts that pass, without their texts."""
        for part in parts:
            yield part
            for name in ("n_sentences", "n_words", "n_blank", "tags", "trees", "tagged"):
                setattr(self, name, getattr(self, name) + getattr(part, name))


def _write(output: Path | None, parts: Iterator[_Answers]) -> None:
    with ui.open_output(output) as file:
        for number, part in enumerate(parts):
            file.write(part.text if number else part.header + part.text)


def _read(pipeline: Pipeline, data: Path, tokens: Cut | None) -> Iterator[tuple[Tree, tuple[str, ...]]]:
    from handful.data.conll import read_conllu
    from handful.data.files import Source
    from handful.data.formats import format_of
    from handful.data.tagged import read_untagged
    from handful.data.text import TokenStyle

    if not pipeline.taggers:
        if format_of(source := Source(data)).yields != "trees":
            raise ParameterError(
                f"{data}: not CoNLL-U. Put a tagger before the parser: handful predict TAGGER PARSER {data}."
            )
        return ((tree, ("token",)) for tree in read_conllu(source))
    training = getattr(pipeline.taggers[0], "training_", {})
    layout, tag = training.get("layout", ("token",)), training.get("tag", "tag")
    source = Source(data)
    if source.suffix == ".csv" and format_of(source).yields == "text":
        ui.notice(f"{data}: read as text, since it does not look like a table.")
    style = TokenStyle.remembered(pipeline.taggers[0])
    cut = cut_of(source, tokens, style)
    return read_untagged(source, layout, tag, pipeline.needed, cut, () if style is None else style.abbreviations)


def _has_place(tree: Tree) -> bool:
    """Tell whether a sentence came from CoNLL-U."""
    return {"lemma", "upos", "xpos", "feats", "deps", "misc"} <= set(tree.sentence.columns)


def _form(output: Path | None) -> Any:
    """Return what the name of the file asks for, and refuse what cannot be written."""
    from handful.data.files import bare_suffix
    from handful.data.tagged import ENDINGS

    suffix = bare_suffix(output) if output is not None else ""
    if suffix not in ENDINGS:
        raise ParameterError(
            f"{output}: not a name for sentences. Use .tsv, .txt, .conll, .bio or .iob (columns), .conllu or .jsonl."
        )
    return ENDINGS[suffix]


def _answered(pipeline: Pipeline, form: Form, abstain: float | None, shard: _Shard) -> _Answers:
    from handful.data.tagged import header_text, sentence_text
    from handful.models.pipeline import BLANK

    filled = pipeline.columns
    last = filled[-1] if filled else ""
    done = _Answers(n_sentences=len(shard))
    texts = []
    for (before, names), (tree, sure) in zip(shard, pipeline.annotate([tree for tree, _ in shard]), strict=True):
        # Tags that stand beside a confidence are answers themselves.
        if last in before.sentence.columns and "confidence" not in names:
            done.tagged.append((before.sentence[last], tree.sentence[last]))
        if abstain is not None:
            tree = _blanked(tree, last, sure, abstain)
            done.n_blank += tree.sentence[last].count(BLANK)
        written = _written(names, filled, with_confidence=bool(sure))
        done.header = done.header or header_text(form, written)
        texts.append(sentence_text(form, tree, written, filled, sure))
        done.n_words += len(tree)
        if pipeline.parser is not None:
            done.tags.update(tree.sentence.columns.get(pipeline.parser.columns_[0], ()))
            if -1 not in before.heads:
                done.trees.append((before, tree))
    done.text = "".join(texts)
    return done


def _blanked(tree: Tree, column: str, sure: Sequence[float], abstain: float) -> Tree:
    """Leave out the tags that a tagger is not sure of."""
    from handful.data.records import Sentence
    from handful.models.pipeline import BLANK

    old = tree.sentence
    tags = [tag if share >= abstain else BLANK for tag, share in zip(old[column], sure, strict=True)]
    return replace(tree, sentence=Sentence(old.tokens, {**old.columns, column: tuple(tags)}, old.comments))


def _written(names: Sequence[str], filled: Sequence[str], *, with_confidence: bool) -> list[str]:
    """Return the columns to write: those of the file, a given one of the same name under another, then the new ones.

    Of answers that are answered once more, the confidence and what had been given before them are replaced by the new ones.
    """
    again = bool(filled) and filled[-1] in names
    replaced = {"given"} if again else set()
    replaced |= {"confidence"} if with_confidence else set()
    old = ["given" if again and name == filled[-1] else name for name in names if name not in replaced]
    return [*old, *(name for name in filled if name not in old), *(["confidence"] if with_confidence else [])]


def _summary(tally: _Answers, pipeline: Pipeline, abstain: float | None, output: Path | None) -> str:
    sentences = counted(tally.n_sentences, "sentence")
    if pipeline.parser is None:
        blank = f", {tally.n_blank:,} left blank (confidence below {abstain:g})" if abstain is not None else ""
        text = f"{counted(tally.n_words, 'token')} of {sentences} tagged{blank}{_where(output)}."
        return text + _tag_scores(tally, pipeline)
    how = "tagged and parsed" if pipeline.taggers else "parsed"
    text = f"{counted(tally.n_words, 'word')} of {sentences} {how}{_where(output)}."
    return text + _tree_scores(tally) + _unseen(tally, set(pipeline.parser.values_["pos"].tolist()))


def _tag_scores(tally: _Answers, pipeline: Pipeline) -> str:
    """Return how good the tags are, those left blank too, if the file has tags of their kind."""
    from handful.tagging.evaluation import score_given

    gold, predicted = [tags for tags, _ in tally.tagged], [tags for _, tags in tally.tagged]
    known = getattr(pipeline.taggers[-1], "classes_", None)
    tags = {tag for row in predicted for tag in row} if known is None else set(known)
    scores, n_scored, low, high = score_given(gold, predicted, tags)
    if not scores:
        return ""
    which = "" if n_scored == tally.n_sentences else f" of {counted(n_scored, 'sentence')}"
    limits = f" (95% interval of {'f1' if 'f1' in scores else 'accuracy'} {ui.interval(low, high)})"
    return f" Against the tags{which} in the file: {_listed(scores)}{limits}."


def _listed(scores: dict[str, float]) -> str:
    return ", ".join(f"{name} {ui.percent(value)}" for name, value in scores.items())


def _tree_scores(tally: _Answers) -> str:
    """Return how many heads are correct, if the file has them all."""
    from handful.parsing.scoring import score_trees

    if not tally.trees or len(tally.trees) < tally.n_sentences:
        return ""
    predicted = [tree for _, tree in tally.trees]
    gold = [tree for tree, _ in tally.trees]
    scores = score_trees(gold, [t.heads for t in predicted], [t.labels for t in predicted]).as_dict()
    return f" Against the heads in the file: {_listed(scores)}."


def _unseen(tally: _Answers, known: set[str]) -> str:
    """Return a warning if most tags are not those of the training trees."""
    strange = Counter({tag: n for tag, n in tally.tags.items() if tag not in known})
    if 2 * strange.total() < tally.tags.total() or not strange:
        return ""
    return (
        f" Most tags were not seen in training: the file has {', '.join(sorted(strange)[:3])}, training had "
        f"{', '.join(sorted(known)[:3])}. The trees are unreliable; use the same tags."
    )


# Options that only some kinds of models have a use for.
_OPTIONS = {
    "abstain": ("tables", "sentences"),
    "column": ("tables",),
    "confidence": ("tables",),
    "safe_csv": ("tables",),
    "jobs": ("sentences", "trees"),
    "engine": ("sentences", "trees"),
    "tokens": ("sentences",),
}


@click.command("predict")
@click.argument("models", nargs=-1, required=True, type=opt.INPUT)
@click.argument("data", type=opt.INPUT)
@click.option(
    "--abstain", type=opt.NumberRange(0, 1), metavar="CONFIDENCE", help="Leave predictions of less confidence blank."
)
@click.option("--column", default="predicted", show_default=True, help="Column of predictions, for tables.")
@click.option("--confidence", default="confidence", show_default=True, help="Column of confidence, for tables.")
@click.option("--safe-csv", is_flag=True, help="Put an apostrophe before texts that a spreadsheet runs as formulas.")
@opt.tokens_option
@opt.run_options("output", "engine", jobs={"default": 1}, as_json={"help": "Print JSON lines on stdout."})
@click.pass_context
def predict_command(
    ctx: click.Context,
    models: tuple[Path, ...],
    data: Path,
    abstain: float | None,
    column: str,
    confidence: str,
    safe_csv: bool,
    tokens: Any,
    run: opt.Run,
) -> None:
    """Predict labels for every row or sentence of DATA with MODELS, files of 'handful fit'.

    All columns are kept; prediction and confidence are added. Several models are taggers, with a parser last. The ending
    of -o sets the format: .csv, .tsv, .jsonl, .parquet, .xlsx for tables; .tsv, .conllu, .jsonl for sentences.

    \b
    Examples:
      handful predict customers.handful new.csv -o predictions.csv
      handful predict customers.handful new.csv --abstain 0.8
      handful predict tagger.handful parser.handful text.txt -o trees.conllu
    """
    from handful.persistence.model_file import load

    check_outputs(run.output, inputs=[*models, data], force=run.force)
    if run.as_json and run.output is not None:
        raise ParameterError("--json: not with -o. Use a name that ends in .jsonl.")
    if column == confidence:
        raise ParameterError(f"--confidence: the same name as --column ({column}). Choose another one.")
    fitted = [load(model) for model in models]
    kinds = [_kind_of(model, name) for model, name in zip(fitted, models, strict=True)]
    if len(models) > 1:
        _check_chain(models, kinds)
    kind = kinds[0]
    _check_options(ctx, kind)
    if kind == "tables":
        predict_table(fitted[0], data, run, abstain, (column, confidence), safe_csv=safe_csv)
    elif kind == "contexts":
        _predict_senses(fitted[0], data, run)
    else:
        predict_sentences(fitted, data, run, abstain, tokens)


def _kind_of(model: Any, path: Path) -> str:
    """Return what a model takes: tables, sentences, contexts or trees."""
    spec = spec_of(type(model))
    name, task = (spec.name, str(spec.task)) if spec else ("this model", "")
    kind = {"table-model": "tables", "condensed-rows": "tables", "senses": "contexts"}.get(name, task)
    if kind not in ("tables", "sentences", "contexts", "trees"):
        raise ModelFileError(f"{path}: {name} makes no predictions here. Use it from Python.")
    return kind


def _check_chain(models: tuple[Path, ...], kinds: list[str]) -> None:
    """Refuse several models that cannot work one after another."""
    allowed = [*["sentences"] * (len(kinds) - 1), kinds[-1] if kinds[-1] == "trees" else "sentences"]
    for model, kind, wanted in zip(models, kinds, allowed, strict=True):
        if kind != wanted:
            raise ModelFileError(f"{model}: a model of {kind}. Name taggers first, then the parser, then the data.")


def _check_options(ctx: click.Context, kind: str) -> None:
    """Refuse options that this kind of model has no use for."""
    for param in ctx.command.params:
        kinds = _OPTIONS.get(str(param.name), (kind,))
        if kind not in kinds and opt.is_given(ctx, param):
            raise ParameterError(f"{param.opts[0]}: only for models of {' and '.join(kinds)}. Leave it out.")


def _predict_senses(model: Any, data: Path, run: opt.Run) -> None:
    """Write one line of ``word instance sense`` for every context, as answer keys have it, or an object of the three."""
    import json

    from handful.data.senses import read_occurrences

    occurrences = list(read_occurrences(data))
    senses = model.predict(occurrences)
    with ui.open_output(run.output) as file:
        for occurrence, sense in zip(occurrences, senses, strict=True):
            line = {"word": occurrence.word, "id": occurrence.id, "sense": str(sense)}
            file.write((json.dumps(line, ensure_ascii=False) if run.as_json else " ".join(line.values())) + "\n")
    if run.output is not None:
        n_words = len({occurrence.word for occurrence in occurrences})
        contexts = counted(len(occurrences), "context")
        ui.notice(f"{contexts} of {counted(n_words, 'word')} predicted{_where(run.output)}.")
