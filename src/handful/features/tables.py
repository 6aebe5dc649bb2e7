"""Columns of a table as a matrix: numbers scaled, names as indicators, text as weighted words."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np
from scipy import sparse

from handful.core.counted import counted
from handful.core.errors import DataError
from handful.core.number_forms import MISSING, Form, commas_like_others, guess_form, to_numbers, unit_of
from handful.core.records import Kind
from handful.core.schema import Array, DictOf, Either, IfThere, ListOf, Names, Number, Record, Text, stored
from handful.features.scales import find_scale, places_of, plain

if TYPE_CHECKING:
    import polars as pl

    from handful.features.new_forms import NewForms
    from handful.features.rows import Rows

_MOST_WORDS = 2**14
_MOST_VALUES = 100
_DENSE_WIDTH = 1_000
_LEAST_TEXTS = 50
PARTS = ("vectors", "lsa", "letters")
"""Parts of a text that is more than words, in the order of their columns."""

TextParts = tuple[dict[str, np.ndarray], Any]  # matrices of a text column by span, and counts of its words
_FARTHEST = 1e30
_HALF = 1 / math.sqrt(2)  # two rows that differ in a name are then 1 apart
_PLACE_HEIGHT = 0.5  # of a place on a scale, beside the answers: these may mean more than their order says


class UnreadableWarning(UserWarning):
    """Cells of numeric columns are no numbers, or infinite, and count as missing."""


def warn_of_unreadable(counts: Mapping[str, int], n_rows: int, filled: Mapping[str, int] | None = None) -> None:
    """Warn of cells that `TableEncoder.unreadable` found.

    Parameters
    ----------
    counts : mapping of str to int
        Columns that have such cells, and how many.
    n_rows : int
        Rows of the table.
    filled : mapping of str to int, optional
        What `TableEncoder.filled` tells, so that columns with more such cells than others are told first.
    """
    if counts:
        told = " ".join([*told_mostly_unreadable(counts, filled or {}), told_unreadable(counts, n_rows)])
        warnings.warn(f"X: {told}", UnreadableWarning, stacklevel=3)


def told_mostly_unreadable(counts: Mapping[str, int], filled: Mapping[str, int]) -> list[str]:
    """Return a sentence on columns in which more than half of the filled cells cannot be read, if there are any.

    Examples
    --------
    >>> told_mostly_unreadable({"age": 3}, {"age": 4})
    ["most cells of 'age' (3 of 4 filled) cannot be read as numbers, so the answers mean little."]
    >>> told_mostly_unreadable({"age": 3}, {"age": 6})
    []
    """
    worst = sorted(((-n, name) for name, n in counts.items() if 2 * n > filled.get(name, 2 * n)))
    if not worst:
        return []
    told = ", ".join(f"{name!r} ({-n:,} of {filled[name]:,} filled)" for n, name in worst[:5])
    told += f" and {counted(len(worst) - 5, 'more column')}" if worst[5:] else ""
    return [f"most cells of {told} cannot be read as numbers, so the answers mean little."]


def told_unreadable(counts: Mapping[str, int], n_rows: int) -> str:
    """Return a sentence on cells that `TableEncoder.unreadable` found.

    Examples
    --------
    >>> told_unreadable({"age": 3}, 30)
    "cells of numeric columns that are no numbers, or infinite, count as missing: 'age' (3 of 30)."
    """
    worst = sorted(counts.items(), key=lambda pair: -pair[1])
    told = ", ".join(f"{name!r} ({n:,} of {n_rows:,})" for name, n in worst[:5])
    told += f" and {counted(len(worst) - 5, 'more column')}" if worst[5:] else ""
    return f"cells of numeric columns that are no numbers, or infinite, count as missing: {told}."


class TableEncoder:
    """Turn rows of a table into vectors, in a way learned from the training rows alone.

    A *numeric* column is shifted and scaled to mean 0 and standard deviation 1; a missing or unreadable cell becomes the
    mean. Numbers may be written as amounts, percentages, dates and the like (see `handful.core.number_forms`). A *nominal*
    column becomes one indicator for each of its hundred most frequent values, of such a height that two rows that differ
    are 1 apart; other values and missing cells are all zeros. Answers on a well-known scale (never, sometimes, often; see
    `handful.features.scales`) have their place on it beside them, as a number.

    A *text* column becomes, by the view that is asked for, its words and word pairs (the 16,384 most frequent ones of the
    training rows, weighted by inverse document frequency, at length 1), the leading directions of words and letters (see
    `handful.features.texts`), or these and the vectors of an encoder (see `handful.features.vectors`).

    Parameters
    ----------
    columns : mapping of str to mapping
        What was learned about each column, as `state` returns it.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"size": [1.0, 3.0, None], "color": ["red", "blue", "red"]})
    >>> encoder = TableEncoder.learn(frame, {"size": "numeric", "color": "nominal"})
    >>> encoder.names
    ['size', 'color=red', 'color=blue']
    >>> encoder.transform(frame).round(2).tolist()
    [[-1.0, 0.71, 0.0], [1.0, 0.0, 0.71], [0.0, 0.71, 0.0]]
    """

    STATE = DictOf(
        Either(
            Record(
                stored(
                    kind=Text("numeric"),
                    center=Number(float),
                    scale=Number(float),
                    form=IfThere(Text(*get_args(Form))),
                    unit=IfThere(Text()),
                )
            ),
            Record(stored(kind=Text("nominal"), values=ListOf(Text()))),
            Record(
                stored(
                    kind=Text("nominal"),
                    values=ListOf(Text()),
                    steps=ListOf(Text()),
                    center=Number(float),
                    scale=Number(float),
                )
            ),
            Record(
                stored(
                    kind=Text("text"),
                    view=IfThere(Text("words")),
                    words=ListOf(Text(), "w?"),
                    weights=Array("f8", "w?", low=0, high=1e100),  # their squares must not run over
                )
            ),
            Record(
                stored(
                    kind=Text("text"),
                    view=Text("lsa", "vectors"),
                    cut=Number(int, low=0),
                    words=Names("w?", only_text=True),
                    letters=Array("i4 i8", "l?", low=0, rising=True),
                    word_weights=Array("f4 f8", "w?"),
                    letter_weights=Array("f4 f8", "l?"),
                    directions=Array("f2 f4 f8", "_", "_"),
                    letter_directions=Array("f2 f4 f8", "l?", "_"),
                    encoder=IfThere(Record(stored(name=Text(), hash=Text(), probe=Array("f4 f8", "_", "_")))),
                    width=IfThere(Number(int, low=1)),
                )
            ),
        )
    )

    def __init__(self, columns: Mapping[str, Mapping[str, Any]]) -> None:
        self._columns = {name: dict(column) for name, column in columns.items()}
        # The rows it was learned from, and what was made of their texts by the way: they are usually asked for next.
        self._fresh: tuple[pl.DataFrame, dict[str, TextParts]] | None = None
        "".join(
            value for column in columns.values() for value in column.get("values", ())
        ).encode()  # half letters fail
        for name, column in self._columns.items():
            if len(set(column.get("values", ()))) < len(column.get("values", ())):
                raise DataError(f"TableEncoder: the values of column {name!r} must differ.")
            if _is_viewed(column):
                from handful.features.texts import check_texts

                check_texts(column)
                if column["view"] == "vectors":
                    from handful.features.vectors import check_mark

                    check_mark(column["encoder"], column["width"])
            elif column["kind"] == "text":
                column["weights"] = np.asarray(column["weights"], dtype=np.float64)
                if not len(set(column["words"])) == len(column["words"]) == len(column["weights"]):
                    raise DataError(f"TableEncoder: the words of column {name!r} must differ and have a weight each.")

    @classmethod
    def learn(cls, frame: pl.DataFrame, kinds: Mapping[str, Kind], *, text: Any = "lsa") -> Self:
        """Learn scales, values and word weights.

        Parameters
        ----------
        frame : polars.DataFrame
            The training rows.
        kinds : mapping of str to {"numeric", "nominal", "text"}
            The columns to use.
        text : {"words", "lsa", "vectors"} or encoder, default="lsa"
            View of text columns. An encoder has ``encode(list of str)``, which returns one vector for each text. Columns
            with fewer than 50 texts come as words.

        Returns
        -------
        TableEncoder
            Ready to `transform`.
        """
        learners: dict[str, Callable[[pl.Series], dict[str, Any]]] = {
            "numeric": lambda cells: _learn_numbers(cells, forms[cells.name]),
            "nominal": _learn_values,
        }
        numbers = {name: frame[name] for name, kind in kinds.items() if kind == "numeric"}
        forms = {name: _form(cells) for name, cells in numbers.items()}
        forms |= commas_like_others(numbers, forms)
        columns: dict[str, dict[str, Any]] = {}
        made: dict[str, TextParts] = {}
        for name, kind in kinds.items():
            if kind == "text":
                learned, parts = _learn_texts(frame[name], text)
                if parts is not None:
                    made[name] = parts
            else:
                learned = learners[kind](frame[name])
            columns[name] = {"kind": kind, **learned}
        encoder = cls(columns)
        encoder._fresh = (frame, made) if made else None
        return encoder

    @property
    def kinds(self) -> dict[str, Kind]:
        """Kind of each column."""
        return {name: column["kind"] for name, column in self._columns.items()}

    @property
    def names(self) -> list[str]:
        """Name of each column of the matrix."""
        names: list[str] = []
        for name, part, width in self.layout:
            column = self._columns[name]
            if part:
                names.extend(f"{name}~{part} {number + 1}" for number in range(width))
            elif column["kind"] == "numeric":
                names.append(name)
            elif column["kind"] == "nominal":
                names.extend(f"{name}={value}" for value in column["values"])
                names.extend([f"{name} on its scale"] if "steps" in column else [])
            else:
                names.extend(f"{name}~{word}" for word in column["words"])
        return names

    @property
    def vector_columns(self) -> list[str]:
        """Text columns that come as vectors, in which no direction is a word."""
        return [name for name, column in self._columns.items() if _is_viewed(column)]

    def places(self, name: str, part: str | None = None) -> np.ndarray:
        """Return which columns of the matrix a column of the table has, or one of the `PARTS` of its text."""
        places, start = [np.zeros(0, dtype=np.int64)], 0
        for other, its_part, width in self.layout:
            if other == name and part in (None, its_part):
                places.append(np.arange(start, start + width))
            start += width
        return np.concatenate(places)

    def word_parts(self, name: str, vector: np.ndarray) -> np.ndarray:
        """Return how much each word of a text column points where a row points, as far as its vector tells.

        Parameters
        ----------
        name : str
            One of `vector_columns`.
        vector : ndarray
            A row of the matrix.

        Returns
        -------
        ndarray of float
            One number for each of the words that were learned; 0 of a word and below speak for its absence.
        """
        column = self._columns[name]
        directions = np.asarray(column["directions"], dtype=np.float64)
        along = np.asarray(vector)[self.places(name, "lsa")]
        return np.asarray(directions[: len(column["words"])] @ along)

    @property
    def layout(self) -> list[tuple[str, str, int]]:
        """Column of the table, part of its text (if it is more than words) and width of each block of the matrix.

        Blocks of the same part stand side by side, behind all others: several text columns are read as one.
        """
        blocks = [(name, "", _width(column)) for name, column in self._columns.items() if not _is_viewed(column)]
        viewed = {name: _parts(column) for name, column in self._columns.items() if _is_viewed(column)}
        return blocks + [(name, part, parts[part]) for part in PARTS for name, parts in viewed.items() if part in parts]

    def get_feature_names_out(self) -> np.ndarray:
        """Return the name of each column of the matrix, as scikit-learn's transformers do."""
        return np.array(self.names, dtype=object)

    @property
    def width(self) -> int:
        """Number of columns of the matrix."""
        return len(self.names)

    def state(self) -> dict[str, dict[str, Any]]:
        """Return what was learned, as plain values and arrays."""
        return self._columns

    def transform(self, frame: pl.DataFrame) -> Any:
        """Return the matrix of some rows.

        Parameters
        ----------
        frame : polars.DataFrame
            Rows; columns that the encoder does not know are ignored.

        Returns
        -------
        ndarray or csr_matrix of shape (n_rows, n_names)
            Sparse where there are more than a thousand columns, as of words; `handful.features.rows.Rows`, which also
            carry counts of words, where texts are not only words.

        Raises
        ------
        DataError
            If a column is missing.
        """
        missing = [name for name in self._columns if name not in frame.columns]
        if missing:
            raise DataError(
                f"X: the rows must have the columns that the model was trained on, got none named "
                f"{', '.join(map(repr, missing[:5]))}."
            )
        if any(_is_viewed(column) for column in self._columns.values()):
            return self._with_texts(frame)
        if self.width <= _DENSE_WIDTH:
            return self._dense(frame)
        encoders = {"numeric": _encode_numbers, "nominal": _encode_values, "text": _encode_words}
        blocks = [encoders[column["kind"]](frame[name], column) for name, column in self._columns.items()]
        return sparse.csr_matrix(sparse.hstack([sparse.csr_matrix(block) for block in blocks]))

    def _with_texts(self, frame: pl.DataFrame) -> Rows:
        """Put the views of texts beside the other columns, and the counts of their words behind them."""
        from handful.features.rows import Rows

        texts = self._texts(frame)
        blocks: list[Any] = []
        spans: dict[str, tuple[int, int]] = {}
        start = 0
        for name, part, width in self.layout:
            if part:
                blocks.append(texts[name][0][part])
                spans[part] = (spans.get(part, (start, start))[0], start + width)
            else:
                blocks.append(TableEncoder({name: self._columns[name]}).transform(frame))
            start += width
        dense = np.hstack([block.toarray() if sparse.issparse(block) else block for block in blocks])
        return Rows.of(dense, spans, sparse.csr_matrix(sparse.hstack([words for _, words in texts.values()])))

    def _texts(self, frame: pl.DataFrame) -> dict[str, TextParts]:
        made = self._fresh[1] if self._fresh is not None and self._fresh[0] is frame else {}
        self._fresh = None
        return {
            name: made[name] if name in made else _encode_texts(frame[name], column)
            for name, column in self._columns.items()
            if _is_viewed(column)
        }

    def _dense(self, frame: pl.DataFrame) -> np.ndarray:
        rows = np.zeros((frame.height, self.width))
        start = 0
        for name, column in self._columns.items():
            if column["kind"] == "numeric":
                rows[:, start : start + 1] = _encode_numbers(frame[name], column)
                start += 1
            elif column["kind"] == "nominal":
                codes = _codes(frame[name], column["values"])
                filled = np.flatnonzero(codes >= 0)
                rows[filled, start + codes[filled]] = _HALF
                start += len(column["values"])
                if "steps" in column:
                    rows[:, start : start + 1] = _encode_places(frame[name], column)
                    start += 1
            else:
                rows[:, start : start + len(column["words"])] = _encode_words(frame[name], column).toarray()
                start += len(column["words"])
        return rows

    def forms_of_new(self, frame: pl.DataFrame) -> NewForms:
        """Tell how the numbers of new rows are written; see `handful.features.new_forms`.

        Parameters
        ----------
        frame : polars.DataFrame
            Rows.

        Returns
        -------
        NewForms
            For `reading`.
        """
        from handful.features.new_forms import forms_of_new

        learned: dict[str, Form] = {
            name: column.get("form", "plain")
            for name, column in self._columns.items()
            if column["kind"] == "numeric" and name in frame.columns
        }
        units = {name: self._columns[name]["unit"] for name in learned if "unit" in self._columns[name]}
        return forms_of_new(frame, learned, units)

    def reading(self, forms: Mapping[str, Form]) -> TableEncoder:
        """Return an encoder that reads numeric columns in other forms, and is the same in all else.

        Parameters
        ----------
        forms : mapping of str to str
            Form of some columns, as `forms_of_new` tells.

        Returns
        -------
        TableEncoder
            This one, where nothing changes.
        """
        changed = {name: form for name, form in forms.items() if form != self._columns[name].get("form", "plain")}
        if not changed:
            return self
        other = copy.copy(self)
        other._columns = self._columns | {name: {**self._columns[name], "form": form} for name, form in changed.items()}
        other._fresh = None
        return other

    def filled(self, frame: pl.DataFrame) -> dict[str, int]:
        """Count the cells of numeric columns that are not empty, ``?`` or the like."""
        return {
            name: int(_without_missing(frame[name]).is_not_null().sum())
            for name, kind in self.kinds.items()
            if kind == "numeric" and name in frame.columns
        }

    def unreadable(self, frame: pl.DataFrame) -> dict[str, int]:
        """Count the cells of numeric columns that are neither empty nor a finite number; `transform` takes the mean.

        Parameters
        ----------
        frame : polars.DataFrame
            Rows.

        Returns
        -------
        dict of str to int
            Columns that have such cells, and how many.
        """
        columns = {
            name: frame[name] for name, kind in self.kinds.items() if kind == "numeric" and name in frame.columns
        }
        counts = {name: _unreadable(cells, self._columns[name]) for name, cells in columns.items()}
        return {name: n for name, n in counts.items() if n}


def _unreadable(cells: pl.Series, column: Mapping[str, Any]) -> int:
    cells = cells.fill_nan(None) if cells.dtype.is_float() else _without_missing(cells)
    return int((np.isnan(_numbers(cells, column)) & cells.is_not_null().to_numpy()).sum())


def _without_missing(cells: pl.Series) -> pl.Series:
    import polars as pl

    if cells.dtype != pl.String:
        return cells
    return cells.set(cells.str.strip_chars().str.to_lowercase().is_in(list(MISSING)), None)


def _learn_numbers(series: pl.Series, form: Form) -> dict[str, Any]:
    cells = to_numbers(series, form)
    known = cells[~np.isnan(cells)]
    if not len(known):
        return {"center": 0.0, "scale": 1.0}
    largest = float(np.abs(known).max()) or 1.0
    spread = float((known / largest).std()) * largest  # huge numbers must not overflow when squared
    constant = not spread > 1e-12 * largest
    center = float((known / largest).mean()) * largest
    learned = {"center": center, "scale": 1.0 if constant else spread}
    if form == "plain":
        return learned
    unit = unit_of(series.drop_nulls().unique().to_list()) if form.startswith("quantity") else ""
    return {**learned, "form": form, **({"unit": unit} if unit else {})}


def _form(series: pl.Series) -> Form:
    import polars as pl

    if series.dtype.is_temporal():
        return "date"
    if series.dtype != pl.String:
        return "plain"
    return guess_form(series.drop_nulls().unique().to_list()) or "plain"


def _numbers(series: pl.Series, column: Mapping[str, Any]) -> np.ndarray:
    return to_numbers(series, column.get("form", "plain"), column.get("unit", ""))


def _encode_numbers(series: pl.Series, column: Mapping[str, Any]) -> np.ndarray:
    scaled = (_numbers(series, column) - column["center"]) / column["scale"]
    # So far out that it is no matter how far; forests reckon in single precision, and squares must not run over.
    return np.asarray(np.clip(np.nan_to_num(scaled, nan=0.0), -_FARTHEST, _FARTHEST)[:, None])


def _names(series: pl.Series) -> pl.Series:
    """Cells as text without blanks around them, missing where nothing is left."""
    import polars as pl

    texts = series.cast(pl.String).str.strip_chars(" \t")
    return texts.set(texts == "", None)


def scale_of(series: pl.Series) -> tuple[str, ...] | None:
    """Return the steps of the scale that the answers of a column of names are on.

    Parameters
    ----------
    series : polars.Series
        A column.

    Returns
    -------
    tuple of str or None
        See `handful.features.scales.find_scale`; None where they are on none.

    Examples
    --------
    >>> import polars as pl
    >>> scale_of(pl.Series(["high", "Low ", None, "medium"])) is None, scale_of(pl.Series(["red", "blue"]))
    (False, None)
    """
    return _steps(_names(series).drop_nulls().unique().to_list())


def _steps(values: Collection[str]) -> tuple[str, ...] | None:
    return find_scale(values) if len(values) <= _MOST_VALUES else None


def _learn_values(series: pl.Series) -> dict[str, Any]:
    counts = _names(series).drop_nulls().value_counts(name="n rows")
    ranked = sorted(counts.iter_rows(), key=lambda pair: (-pair[1], pair[0]))
    values = [value for value, _ in ranked[:_MOST_VALUES]]
    steps = _steps([value for value, _ in ranked])
    if steps is None:
        return {"values": values}
    places = _places(series, steps)
    places = places[~np.isnan(places)]
    return {"values": values, "steps": list(steps), "center": float(places.mean()), "scale": float(places.std())}


def _places(series: pl.Series, steps: Sequence[str]) -> np.ndarray:
    """Return the place of each cell on a scale, NaN where it has none."""
    spelled = places_of(steps)
    cells = _names(series)
    place = {cell: spelled.get(plain(cell), np.nan) for cell in cells.drop_nulls().unique().to_list()}
    return np.array([np.nan if cell is None else place[cell] for cell in cells.to_list()], dtype=np.float64)


def _encode_places(series: pl.Series, column: Mapping[str, Any]) -> np.ndarray:
    scaled = _PLACE_HEIGHT * (_places(series, column["steps"]) - column["center"]) / column["scale"]
    return np.asarray(np.clip(np.nan_to_num(scaled, nan=0.0), -_FARTHEST, _FARTHEST)[:, None])


def _codes(series: pl.Series, values: Sequence[str]) -> np.ndarray:
    """Return the place of each cell among the values, -1 where it is none of them."""
    import polars as pl

    if not len(values):
        return np.full(len(series), -1)
    places = list(range(len(values)))
    return _names(series).replace_strict(list(values), places, default=-1, return_dtype=pl.Int64).to_numpy()


def _encode_values(series: pl.Series, column: Mapping[str, Any]) -> Any:
    codes = _codes(series, column["values"])
    rows = np.flatnonzero(codes >= 0)
    cells = (np.full(len(rows), _HALF), (rows, codes[rows]))
    indicators = sparse.csr_matrix(cells, shape=(len(codes), len(column["values"])))
    return sparse.hstack([indicators, _encode_places(series, column)]) if "steps" in column else indicators


def _learn_texts(series: pl.Series, text: Any) -> tuple[dict[str, Any], TextParts | None]:
    if isinstance(text, str) and text not in ("words", "lsa", "vectors"):
        raise DataError(f"TableEncoder: text must be 'words', 'lsa', 'vectors' or an encoder, got {text!r}.")
    cells = _names(series)
    filled = cells.is_not_null().to_numpy()
    if (isinstance(text, str) and text == "words") or filled.sum() < _LEAST_TEXTS:
        return _learn_words(series), None
    from handful.features.texts import learn_texts

    learned, seen = learn_texts(cells.drop_nulls().to_list())
    place = sparse.csr_matrix(
        (np.ones(filled.sum(), dtype=np.float32), (np.flatnonzero(filled), np.arange(filled.sum()))),
        shape=(len(filled), int(filled.sum())),
    )
    parts = {"lsa": place @ seen.lsa, "letters": place @ seen.letters}
    column = {"view": "lsa", **learned}
    if not (isinstance(text, str) and text == "lsa"):
        from handful.features.vectors import find_encoder

        encoder = find_encoder(None if isinstance(text, str) else text)
        column |= {"view": "vectors", "encoder": encoder.mark, "width": encoder.width}
        parts = {"vectors": encoder.encode(text_cells(series)), **parts}
    return column, (parts, sparse.csr_matrix(place @ seen.words))


def text_cells(series: pl.Series) -> list[str]:
    """Return the texts of a column as encoders get them: without blanks around, empty where missing."""
    return _names(series).fill_null("").to_list()


def _is_viewed(column: Mapping[str, Any]) -> bool:
    """Tell whether a column is a text that is more than words."""
    return bool(column["kind"] == "text" and column.get("view", "words") != "words")


def _width(column: Mapping[str, Any]) -> int:
    if column["kind"] == "numeric":
        return 1
    return len(column["values"]) + ("steps" in column) if column["kind"] == "nominal" else len(column["words"])


def _parts(column: Mapping[str, Any]) -> dict[str, int]:
    """Return the spans of a text column that is more than words, with their widths."""
    parts = {"lsa": column["directions"].shape[1], "letters": column["letter_directions"].shape[1]}
    return {"vectors": column["width"], **parts} if column["view"] == "vectors" else parts


def _encode_texts(series: pl.Series, column: Mapping[str, Any]) -> TextParts:
    from handful.features.texts import encode_texts

    texts = text_cells(series)
    encoded = encode_texts(column, texts)
    parts = {"lsa": encoded.lsa, "letters": encoded.letters}
    if column["view"] == "vectors":
        from handful.features.vectors import known_encoder

        parts = {"vectors": known_encoder(column["encoder"]).encode(texts), **parts}
    return parts, encoded.words


def _learn_words(series: pl.Series) -> dict[str, Any]:
    from sklearn.feature_extraction.text import CountVectorizer

    texts = _names(series).drop_nulls().to_list()
    counter = CountVectorizer(ngram_range=(1, 2), max_features=_MOST_WORDS)
    try:
        counts = counter.fit_transform(texts)
    except ValueError:  # nothing that looks like a word
        return {"words": [], "weights": np.zeros(0)}
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    weights = np.log((1 + len(series)) / (1 + frequency)) + 1.0
    return {"words": counter.get_feature_names_out().tolist(), "weights": weights}


def _encode_words(series: pl.Series, column: Mapping[str, Any]) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    if not column["words"]:
        return sparse.csr_matrix((len(series), 0))
    counter = CountVectorizer(ngram_range=(1, 2), vocabulary=column["words"])
    counts = counter.transform(_names(series).fill_null("").to_list())
    return normalize(sparse.csr_matrix(counts) @ sparse.diags(column["weights"]))
