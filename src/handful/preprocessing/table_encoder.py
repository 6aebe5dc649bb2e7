"""Columns of a table as a matrix: scaled numbers, indicators, weighted words."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from handful.data.columns import TIME_OF_DAY, ColumnSpec, Kind, infer_columns, read_values
from handful.data.labels import Labels
from handful.errors import DataError, MissingExtraError, Notice, ParameterError, counted
from handful.persistence.old_columns import places_on_scale, upgraded
from handful.persistence.schema import Array, DictOf, Either, IfThere, ListOf, Names, Number, Record, Text, stored

if TYPE_CHECKING:
    import polars as pl

    from handful.data.table import Table

Span = tuple[int, int]


class Rows(np.ndarray):
    """A dense matrix of rows, with spans of columns by name and, next to it, counts of the words in the rows' texts.

    Everything that takes an array takes it; who knows more about text asks for `spans` and `words`. Choosing rows
    (``rows[numbers]``) keeps both; any other operation gives a plain array's worth of knowledge.

    Attributes
    ----------
    spans : dict of str to (int, int)
        First column and the one behind the last of ``"lsa"``, ``"letters"`` and ``"vectors"``.
    words : csr_matrix or None
        How often each word occurs in the texts of each row.

    Examples
    --------
    >>> rows = Rows.of(np.arange(6.0).reshape(3, 2), {"lsa": (0, 2)}, None)
    >>> rows[[0, 2]].spans, rows[:, 0].spans
    ({'lsa': (0, 2)}, {})
    """

    spans: dict[str, Span]
    words: Any

    @classmethod
    def of(cls, matrix: np.ndarray, spans: Mapping[str, Span], words: Any) -> Rows:
        """Put a matrix and what is known of it together."""
        rows = np.asarray(matrix).view(cls)
        rows.spans, rows.words = dict(spans), words
        return rows

    def without(self, name: str) -> Rows:
        """Return the rows without the columns of a span; the same rows if there is none of that name.

        Examples
        --------
        >>> rows = Rows.of(np.arange(6.0).reshape(2, 3), {"vectors": (0, 2), "lsa": (2, 3)}, None)
        >>> rows.without("vectors").tolist(), rows.without("vectors").spans
        ([[2.0], [5.0]], {'lsa': (0, 1)})
        """
        if name not in self.spans:
            return self
        start, stop = self.spans[name]
        left = {
            other: (a - (stop - start) * (a >= stop), b - (stop - start) * (a >= stop))
            for other, (a, b) in self.spans.items()
            if other != name
        }
        return Rows.of(np.delete(np.asarray(self), slice(start, stop), axis=1), left, self.words)

    @classmethod
    def stack(cls, first: Rows, second: Rows) -> Rows:
        """Put rows of the same columns below each other."""
        from scipy import sparse

        words = None if first.words is None else sparse.csr_matrix(sparse.vstack([first.words, second.words]))
        return cls.of(np.vstack([np.asarray(first), np.asarray(second)]), first.spans, words)

    def __array_finalize__(self, obj: Any) -> None:
        self.spans, self.words = {}, None

    def __getitem__(self, key: Any) -> Any:
        chosen = super().__getitem__(key)
        if isinstance(chosen, Rows) and chosen.ndim == 2 and not isinstance(key, tuple):
            chosen.spans = self.spans
            chosen.words = None if self.words is None else self.words[key]
        return chosen

    def __reduce__(self) -> tuple[Any, ...]:
        return Rows.of, (np.asarray(self), self.spans, self.words)


_MOST_WORDS = 2**14
_MOST_VALUES = 100
_DENSE_WIDTH = 1_000
_LEAST_TEXTS = 50
ENCODER_MARK = Record(stored(name=Text(), hash=Text(), probe=Array("f4 f8", "_", "_")))
"""What a model file keeps of an encoder; see `handful.preprocessing.sentence_encoders.Encoder.mark`."""

PARTS = ("vectors", "lsa", "letters")
"""Parts of a text that is more than words, in the order of their columns."""

TextParts = tuple[dict[str, np.ndarray], Any]  # matrices of a text column by span, and counts of its words
_FARTHEST = 1e30
_HALF = 1 / math.sqrt(2)  # two rows that differ in a name are then 1 apart
_SAME = 0.995  # correlation of numbers that count once
_SOME_ROWS = 2_000
_ENOUGH_ROWS = 20  # fewer numbers are alike by chance
_MOST_COMPARED = 2_000  # numbers whose correlations are computed
_MOST_EARLIER = 4  # datetime columns that another one counts from
_DAY = 86_400_000_000.0
_PARTS_OF_DATES = (
    "elapsed",
    "year",
    "month sin",
    "month cos",
    "weekday sin",
    "weekday cos",
    "hour sin",
    "hour cos",
    "hour",
)
SINCE = "since "
"""Begins the name of a part that is the time since another column."""


class UnreadableWarning(UserWarning):
    """Cells of numeric or datetime columns cannot be read and count as missing."""


def unread_notices(counts: Mapping[str, tuple[int, int]]) -> list[Notice]:
    """Return notices of cells that `handful.data.columns.unread_cells` counted, columns with most of them first.

    Examples
    --------
    >>> [str(notice) for notice in unread_notices({"age": (3, 30)})]
    ["Cells that cannot be read count as missing: 'age' (3 of 30)."]
    """
    if not counts:
        return []
    worst = sorted(counts.items(), key=lambda pair: (-pair[1][0], pair[0]))
    named = ", ".join(f"{name!r} ({n:,} of {filled:,})" for name, (n, filled) in worst[:5])
    named += f" and {counted(len(worst) - 5, 'more column')}" if worst[5:] else ""
    text = f"Cells that cannot be read count as missing: {named}."
    if any(2 * n > filled for n, filled in counts.values()):
        text += " With most cells missing, predictions are unreliable."
    return [Notice("unread-cells", text, worst[0][0])]


def warn_of_unread(counts: Mapping[str, tuple[int, int]]) -> None:
    """Warn of cells that cannot be read."""
    for notice in unread_notices(counts):
        warnings.warn(f"X: {notice}", UnreadableWarning, stacklevel=3)


def as_specs(frame: pl.DataFrame, columns: Sequence[ColumnSpec] | Mapping[str, str]) -> tuple[ColumnSpec, ...]:
    """Return the specifications of columns that may be given by kind alone."""
    if not isinstance(columns, Mapping):
        return tuple(spec for spec in columns if spec.kind != "skip")
    return infer_columns(frame.select(list(columns)), columns)[0]


class TableEncoder:
    """Turn rows of a table into vectors, in a way learned from the training rows alone.

    Parameters
    ----------
    columns : mapping of str to mapping
        What was learned about each column, as `state` returns it.

    Notes
    -----
    A *numeric* column is shifted and scaled to mean 0 and standard deviation 1; a missing cell becomes the mean. A *categorical*
    column becomes one indicator for each of its hundred most frequent values, of such a height that two rows that differ are
    1 apart; other values and missing cells are all zeros. A *datetime* column becomes elapsed time, year, the cycles of month,
    weekday and hour, and the time since each other datetime column, each a number as above. Numbers that are nearly
    identical (correlation of 0.999 and more) count once: m of them are divided by the square root of m.

    A *text* column becomes, by the view that is asked for, its words and word pairs (the 16,384 most frequent ones of the
    training rows, weighted by inverse document frequency, at length 1), LSA components of words and letters (see
    `handful.preprocessing.texts`), or these and embeddings (see `handful.preprocessing.sentence_encoders`).

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"size": [1.0, 3.0, None], "color": ["red", "blue", "red"]})
    >>> encoder = TableEncoder.learn(frame, {"size": "numeric", "color": "categorical"})
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
                    decimal=IfThere(Text(".", ",")),
                    form=IfThere(Text()),
                    unit=IfThere(Text()),
                )
            ),
            Record(
                stored(
                    kind=Text("datetime"),
                    date_format=IfThere(Text()),
                    parts=ListOf(Text(), "p?"),
                    centers=Array("f8", "p?"),
                    scales=Array("f8", "p?"),
                )
            ),
            Record(stored(kind=Text("categorical", "nominal"), values=ListOf(Text()))),
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
                    directions=Array("i1 f2 f4 f8", "_", "_"),
                    directions_scale=IfThere(Array("f4", "_", low=0)),
                    letter_directions=Array("i1 f2 f4 f8", "l?", "_"),
                    letter_directions_scale=IfThere(Array("f4", "l?", low=0)),
                    encoder=IfThere(ENCODER_MARK),
                    width=IfThere(Number(int, low=1)),
                )
            ),
        )
    )

    def __init__(self, columns: Mapping[str, Mapping[str, Any]]) -> None:
        self._columns = {name: upgraded(name, column) for name, column in columns.items()}
        # The rows it was learned from, and what was made of their texts on the way: they are usually asked for next.
        self._fresh: tuple[pl.DataFrame, dict[str, TextParts]] | None = None
        "".join(
            value for column in columns.values() for value in column.get("values", ())
        ).encode()  # half letters fail
        for name, column in self._columns.items():
            _check_column(name, column)
            since = [part[len(SINCE) :] for part in column.get("parts", ()) if part.startswith(SINCE)]
            if any(self._columns.get(other, {}).get("kind") != "datetime" for other in since):
                raise DataError(f"TableEncoder: column {name!r} must count from other datetime columns.")

    @classmethod
    def learn(
        cls, frame: pl.DataFrame, columns: Sequence[ColumnSpec] | Mapping[str, str], *, text: Any = "lsa"
    ) -> Self:
        """Learn scales, values and word weights.

        Parameters
        ----------
        frame : polars.DataFrame
            The training rows, as cells or as typed values.
        columns : sequence of ColumnSpec, or mapping of str to kind
            The columns to use.
        text : {"words", "lsa", "vectors"} or encoder, default="lsa"
            View of text columns. An encoder has ``encode(list of str)``, which returns one vector for each text. Columns
            with fewer than 50 texts come as words.

        Returns
        -------
        TableEncoder
            Ready to `transform`.
        """
        specs = as_specs(frame, columns)
        values = read_values(frame, specs)
        learned: dict[str, dict[str, Any]] = {}
        made: dict[str, TextParts] = {}
        dates = [spec.name for spec in specs if spec.kind == "datetime" and spec.date_format != TIME_OF_DAY]
        for spec in specs:
            column, cells = {"kind": spec.kind, **_reading(spec)}, values[spec.name]
            if spec.kind == "numeric":
                center, scale = _center_and_scale(_numbers(cells))
                column |= {"center": center, "scale": scale}
            elif spec.kind == "datetime":
                earlier = dates[: dates.index(spec.name)] if spec.name in dates else []
                column |= _learn_dates(values, spec, earlier[:_MOST_EARLIER])
            elif spec.kind == "categorical":
                column |= {"values": _frequent_values(cells)}
            else:
                words, parts = _learn_texts(cells, text)
                column |= words
                if parts is not None:
                    made[spec.name] = parts
            learned[spec.name] = column
        _count_once(learned, values)
        encoder = cls(learned)
        encoder._fresh = (frame, made) if made else None
        return encoder

    @property
    def specs(self) -> tuple[ColumnSpec, ...]:
        """How each column is read."""
        return tuple(
            ColumnSpec(name, column["kind"], column.get("decimal", "."), column.get("date_format"))
            for name, column in self._columns.items()
        )

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
            elif column["kind"] == "datetime":
                names.extend(f"{name}: {part}" for part in column["parts"])
            elif column["kind"] == "categorical":
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
        """Return how much each word of a text column points where a row points, as far as its vector shows.

        Parameters
        ----------
        name : str
            One of `vector_columns`.
        vector : ndarray
            A row of the matrix.

        Returns
        -------
        ndarray of float
            One number for each of the words that were learned; 0 of a word and below mean that it is absent.
        """
        column = self._columns[name]
        from handful.preprocessing.texts import directions_of

        directions = directions_of(column, "directions").astype(np.float64)
        along = np.asarray(vector)[self.places(name, "lsa")]
        return np.asarray(directions[: len(column["words"])] @ along)

    @property
    def layout(self) -> list[tuple[str, str, int]]:
        """Column of the table, part of its text (if it is more than words) and width of each block of the matrix.

        Blocks of the same part are adjacent, behind all others: several text columns are read as one.
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
            Rows, as cells or as typed values; columns that the encoder does not know are ignored.

        Returns
        -------
        ndarray or csr_matrix of shape (n_rows, n_names)
            Sparse where there are more than a thousand columns, as of words; `Rows`, which also
            carry counts of words, where texts are not only words.

        Raises
        ------
        DataError
            If a column is missing.
        """
        names = set(frame.columns)
        missing = [name for name in self._columns if name not in names]
        if missing:
            named = ", ".join(map(repr, missing[:5]))
            raise DataError(f"X: no column {named}, which the model was trained on. Add it.")
        values = read_values(frame, self.specs)
        if any(_is_viewed(column) for column in self._columns.values()):
            fresh = self._fresh[1] if self._fresh is not None and self._fresh[0] is frame else {}
            self._fresh = None
            return self._with_texts(values, fresh)
        is_sparse = self.width > _DENSE_WIDTH
        series = {
            column.name: column for column in values.get_columns()
        }  # quicker than by name where there are thousands
        blocks = [self._block(values, name, series[name], is_sparse=is_sparse) for name in self._columns]
        if is_sparse:
            return sparse.csr_matrix(sparse.hstack(blocks))
        return np.hstack(blocks) if blocks else np.zeros((frame.height, 0))

    def _block(self, values: pl.DataFrame, name: str, cells: pl.Series, *, is_sparse: bool = False) -> Any:
        """Return the matrix of a column that is not more than words."""
        column = self._columns[name]
        block: Any
        if column["kind"] == "numeric":
            block = _scaled(_numbers(cells)[:, None], column["center"], column["scale"])
        elif column["kind"] == "datetime":
            block = _scaled(_date_parts(values, name, column["parts"]), column["centers"], column["scales"])
        elif column["kind"] == "categorical":
            codes = _codes(cells, column["values"])
            rows = np.flatnonzero(codes >= 0)
            indicators = (np.full(len(rows), _HALF), (rows, codes[rows]))
            block = sparse.csr_matrix(indicators, shape=(len(codes), len(column["values"])))
            if "steps" in column:
                block = sparse.hstack([block, places_on_scale(cells, column)])
        else:
            block = _encode_words(cells, column)
        return sparse.csr_matrix(block) if is_sparse else block.toarray() if sparse.issparse(block) else block

    def _with_texts(self, values: pl.DataFrame, fresh: Mapping[str, TextParts]) -> Rows:
        """Put the views of texts next to the other columns, and the counts of their words behind them."""
        texts = {
            name: fresh[name] if name in fresh else _encode_texts(values[name], column)
            for name, column in self._columns.items()
            if _is_viewed(column)
        }
        blocks: list[Any] = []
        spans: dict[str, tuple[int, int]] = {}
        start = 0
        for name, part, width in self.layout:
            blocks.append(texts[name][0][part] if part else self._block(values, name, values[name]))
            if part:
                spans[part] = (spans.get(part, (start, start))[0], start + width)
            start += width
        return Rows.of(
            np.hstack(blocks), spans, sparse.csr_matrix(sparse.hstack([words for _, words in texts.values()]))
        )


def _reading(spec: ColumnSpec) -> dict[str, Any]:
    """Return what a file must hold of how a column is read."""
    if spec.kind == "numeric":
        return {"decimal": spec.decimal} if spec.decimal != "." else {}
    return {"date_format": spec.date_format} if spec.date_format is not None else {}


def _check_column(name: str, column: dict[str, Any]) -> None:
    """Refuse what could not have been learned."""
    if len(set(column.get("values", ()))) < len(column.get("values", ())):
        raise DataError(f"TableEncoder: the values of column {name!r} must differ.")
    if column["kind"] == "datetime":
        known = [part for part in column["parts"] if part in _PARTS_OF_DATES or part.startswith(SINCE)]
        if not len(known) == len(column["parts"]) == len(column["centers"]) == len(column["scales"]):
            raise DataError(f"TableEncoder: the parts of column {name!r} must be known, and have a scale each.")
    elif _is_viewed(column):
        from handful.preprocessing.texts import check_texts

        check_texts(column)
        if column["view"] == "vectors":
            from handful.preprocessing.sentence_encoders import check_mark

            check_mark(column["encoder"], column["width"])
    elif column["kind"] == "text":
        column["weights"] = np.asarray(column["weights"], dtype=np.float64)
        if not len(set(column["words"])) == len(column["words"]) == len(column["weights"]):
            raise DataError(f"TableEncoder: the words of column {name!r} must differ and have a weight each.")


def _numbers(cells: pl.Series) -> np.ndarray:
    return cells.fill_null(float("nan")).to_numpy()


def _center_and_scale(numbers: np.ndarray) -> tuple[float, float]:
    """Return mean and standard deviation of the known numbers; the scale of a constant is 1."""
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return 0.0, 1.0
    largest = float(np.abs(known).max()) or 1.0  # huge numbers must not overflow when squared
    spread = float((known / largest).std()) * largest
    return float((known / largest).mean()) * largest, spread if spread > 1e-12 * largest else 1.0


def _scaled(numbers: np.ndarray, center: Any, scale: Any) -> np.ndarray:
    # So far out that it is no matter how far; forests compute in single precision, and squares must not overflow.
    return np.asarray(np.clip(np.nan_to_num((numbers - center) / scale, nan=0.0), -_FARTHEST, _FARTHEST))


def _learn_dates(values: pl.DataFrame, spec: ColumnSpec, earlier: Sequence[str]) -> dict[str, Any]:
    parts = [*(("hour sin", "hour cos") if spec.date_format == TIME_OF_DAY else _PARTS_OF_DATES[:-1])]
    parts += [SINCE + name for name in earlier]
    numbers = _date_parts(values, spec.name, parts)
    learned = [_center_and_scale(column) for column in numbers.T]
    # A part that never varies says nothing, such as the hour of days.
    varies = [bool(np.nanmax(column, initial=-np.inf) > np.nanmin(column, initial=np.inf)) for column in numbers.T]
    kept = [place for place, varied in enumerate(varies) if varied]
    # Sine and cosine are one cycle and count as one number.
    scales = [learned[p][1] * (math.sqrt(2) if parts[p].endswith((" sin", " cos")) else 1.0) for p in kept]
    centers = np.array([learned[p][0] for p in kept], dtype=np.float64)
    return {"parts": [parts[p] for p in kept], "centers": centers, "scales": np.array(scales, dtype=np.float64)}


def _date_parts(values: pl.DataFrame, name: str, parts: Sequence[str]) -> np.ndarray:
    """Return parts of dates as numbers: days since 1970, year, cycles, days since another column."""
    import polars as pl

    cell = pl.col(name)
    day = cell.dt.epoch("us") / _DAY
    hour = (cell.dt.epoch("us") % int(_DAY)) / _DAY * 24
    cycles = {"month": (cell.dt.month() - 1) / 12, "weekday": (cell.dt.weekday() - 1) / 7, "hour": hour / 24}
    expressions = {"elapsed": day, "year": cell.dt.year().cast(pl.Float64), "hour": hour}
    for cycle, turn in cycles.items():
        expressions |= {f"{cycle} sin": (2 * math.pi * turn).sin(), f"{cycle} cos": (2 * math.pi * turn).cos()}
    for part in parts:
        if part.startswith(SINCE):
            expressions[part] = day - pl.col(part[len(SINCE) :]).dt.epoch("us") / _DAY
    chosen = [expressions[part].cast(pl.Float64).fill_null(float("nan")).alias(str(n)) for n, part in enumerate(parts)]
    return values.select(chosen).to_numpy() if chosen else np.zeros((values.height, 0))


def _count_once(learned: dict[str, dict[str, Any]], values: pl.DataFrame) -> None:
    """Divide numbers that are nearly identical by the square root of how many they are."""
    columns: list[np.ndarray] = []
    places: list[tuple[str, int | None]] = []
    for name, column in learned.items():
        if column["kind"] == "numeric":
            columns.append(_scaled(_numbers(values[name])[:_SOME_ROWS, None], column["center"], column["scale"]))
            places.append((name, None))
        elif column["kind"] == "datetime":
            parts = _date_parts(values[:_SOME_ROWS], name, column["parts"])
            columns.append(_scaled(parts, column["centers"], column["scales"]))
            places += [(name, n) for n in range(len(column["parts"]))]
    if len(places) < 2 or values.height < _ENOUGH_ROWS:
        return
    for (name, part), n in zip(places, count_alike(np.hstack(columns)).tolist(), strict=True):
        if n > 1 and part is None:
            learned[name]["scale"] *= math.sqrt(n)
        elif n > 1:
            learned[name]["scales"][part] *= math.sqrt(n)


def count_alike(columns: np.ndarray) -> np.ndarray:
    """Return how many columns are nearly identical to each one, itself included; ones where there are more than 2,000.

    Examples
    --------
    >>> count_alike(np.array([[0.0, 0.0, 5.0], [1.0, -2.0, 5.0], [2.0, -4.0, 9.0]])).tolist()
    [2, 2, 1]
    """
    if columns.shape[1] > _MOST_COMPARED:
        return np.ones(columns.shape[1], dtype=np.int64)
    centered = columns - columns.mean(axis=0)
    unit = centered / np.maximum(np.linalg.norm(centered, axis=0), 1e-12)
    return np.asarray(np.maximum((np.abs(unit.T @ unit) > _SAME).sum(axis=0), 1))


def _frequent_values(cells: pl.Series) -> list[str]:
    counts = cells.drop_nulls().value_counts(name="n rows")
    ranked = sorted(counts.iter_rows(), key=lambda pair: (-pair[1], pair[0]))
    return [value for value, _ in ranked[:_MOST_VALUES]]


def _codes(cells: pl.Series, values: Sequence[str]) -> np.ndarray:
    """Return the place of each cell among the values, -1 where it is none of them."""
    import polars as pl

    if not len(values):
        return np.full(len(cells), -1)
    places = list(range(len(values)))
    return cells.replace_strict(list(values), places, default=-1, return_dtype=pl.Int64).to_numpy()


def _learn_texts(series: pl.Series, text: Any) -> tuple[dict[str, Any], TextParts | None]:
    if isinstance(text, str) and text not in ("words", "lsa", "vectors"):
        raise DataError(f"TableEncoder: text must be 'words', 'lsa', 'vectors' or an encoder, got {text!r}.")
    cells = series
    filled = cells.is_not_null().to_numpy()
    if (isinstance(text, str) and text == "words") or filled.sum() < _LEAST_TEXTS:
        return _learn_words(series), None
    from handful.preprocessing.texts import learn_texts

    learned, seen = learn_texts(cells.drop_nulls().to_list())
    place = sparse.csr_matrix(
        (np.ones(filled.sum(), dtype=np.float32), (np.flatnonzero(filled), np.arange(filled.sum()))),
        shape=(len(filled), int(filled.sum())),
    )
    parts = {"lsa": place @ seen.lsa, "letters": place @ seen.letters}
    column = {"view": "lsa", **learned}
    if not (isinstance(text, str) and text == "lsa"):
        from handful.preprocessing.sentence_encoders import find_encoder

        encoder = find_encoder(None if isinstance(text, str) else text)
        column |= {"view": "vectors", "encoder": encoder.mark, "width": encoder.width}
        parts = {"vectors": encoder.encode(text_cells(series)), **parts}
    return column, (parts, sparse.csr_matrix(place @ seen.words))


def text_cells(series: pl.Series) -> list[str]:
    """Return the texts of a column as encoders get them: without whitespace around, empty where missing."""
    return series.fill_null("").to_list()


def _is_viewed(column: Mapping[str, Any]) -> bool:
    """Tell whether a column is a text that is more than words."""
    return bool(column["kind"] == "text" and column.get("view", "words") != "words")


def _width(column: Mapping[str, Any]) -> int:
    if column["kind"] == "numeric":
        return 1
    if column["kind"] == "datetime":
        return len(column["parts"])
    return len(column["values"]) + ("steps" in column) if column["kind"] == "categorical" else len(column["words"])


def _parts(column: Mapping[str, Any]) -> dict[str, int]:
    """Return the spans of a text column that is more than words, with their widths."""
    parts = {"lsa": column["directions"].shape[1], "letters": column["letter_directions"].shape[1]}
    return {"vectors": column["width"], **parts} if column["view"] == "vectors" else parts


def _encode_texts(series: pl.Series, column: Mapping[str, Any]) -> TextParts:
    from handful.preprocessing.texts import encode_texts

    texts = text_cells(series)
    encoded = encode_texts(column, texts)
    parts = {"lsa": encoded.lsa, "letters": encoded.letters}
    if column["view"] == "vectors":
        from handful.preprocessing.sentence_encoders import known_encoder

        parts = {"vectors": known_encoder(column["encoder"]).encode(texts), **parts}
    return parts, encoded.words


def _learn_words(series: pl.Series) -> dict[str, Any]:
    from sklearn.feature_extraction.text import CountVectorizer

    texts = series.drop_nulls().to_list()
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
    counts = counter.transform(series.fill_null("").to_list())
    return normalize(sparse.csr_matrix(counts) @ sparse.diags(column["weights"]))


@dataclass(eq=False)
class EncodedTable:
    """Rows with labels, and an encoder for them.

    Parameters
    ----------
    frame : polars.DataFrame
        The rows.
    labels : Labels
        Their labels, encoded.
    encoder : TableEncoder
        Knows the columns.

    Examples
    --------
    >>> import polars as pl
    >>> from handful.data.labels import encode_labels
    >>> frame = pl.DataFrame({"size": [1.0, 3.0, 2.0]})
    >>> table = EncodedTable.learn(frame, {"size": "numeric"}, encode_labels(["a", "b", None]))
    >>> table[np.array([0, 1])].round(2).tolist()
    [[-1.22], [1.22]]
    """

    frame: pl.DataFrame
    labels: Labels
    encoder: TableEncoder

    @classmethod
    def learn(
        cls,
        frame: pl.DataFrame,
        columns: Sequence[ColumnSpec] | Mapping[str, str],
        labels: Labels,
        *,
        text: Any = "lsa",
    ) -> Self:
        """Learn the columns from all rows; see `TableEncoder.learn`."""
        return cls(frame, labels, TableEncoder.learn(frame, columns, text=text))

    @cached_property
    def everything(self) -> Any:
        """All rows, encoded."""
        return self.encoder.transform(self.frame)

    def __getitem__(self, rows: np.ndarray) -> Any:
        """Return some rows, encoded; all are encoded at once where that costs little more."""
        whole = len(rows) == self.frame.height
        # What was made of texts while their column was learned is still there for all rows.
        if whole or "everything" in self.__dict__ or "text" in self.encoder.kinds.values():
            return self.everything if whole and np.array_equal(rows, np.arange(len(rows))) else self.everything[rows]
        return self.encoder.transform(self.frame[rows])


_LEAST_UNLABELED = 1_000  # rows that are encoded even if that takes up to the whole time limit
_MAX_ENCODING = 0.5  # of the time limit that encoding may take, unless embeddings were asked for
_TEXT_NAMES = ("auto", "words", "lsa", "vectors", "static")


def choose_text(table: Table, text: Any = "auto", *, seconds: float = math.inf, seed: int = 0) -> tuple[Any, Table]:
    """Choose how the texts of a table are encoded, and the rows for which there is time.

    Parameters
    ----------
    table : Table
        The table.
    text : {"auto", "words", "lsa", "vectors"}, path, name or encoder
        ``"auto"`` and ``"vectors"`` use the installed encoder; a folder, a name or an object with ``encode`` another one.
        ``"auto"`` is LSA where none is installed, it does not know the language of the texts, or there is no time.
    seconds : float
        Time that is left. ``"auto"`` encodes in half of it, and leaves out unlabeled rows beyond that; for 1,000 of them it
        may take all of it.
    seed : int
        Seed of the choice of rows.

    Returns
    -------
    text : {"words", "lsa"} or Encoder
        For `TableEncoder.learn`.
    table : Table
        The rows, with a notice of what is left out.
    """
    is_name = isinstance(text, str)
    if "text" not in table.kinds.values():
        if not (is_name and text == "auto"):
            raise ParameterError(f"text: {table.name} has no text column. Leave this option out.")
        return "lsa", table
    if is_name and text in ("words", "lsa"):
        return text, table
    if not isinstance(text, str | os.PathLike) and not hasattr(text, "encode"):
        raise ParameterError(
            f"text: must be 'auto', 'words', 'lsa', 'vectors', a folder, a name of the hub or an object with "
            f"encode(list of str), got {text!r}."
        )
    if is_name and text == "auto":
        return _affordable(table, seconds, seed)
    near = get_close_matches(text, _TEXT_NAMES, n=1) if is_name and not os.path.exists(text) else []
    if near and near != [text]:
        raise ParameterError(f"text: there is no encoder {text!r}. Did you mean {near[0]!r}?")
    from handful.preprocessing.sentence_encoders import find_encoder

    return find_encoder(None if is_name and text == "vectors" else text), table


def _affordable(table: Table, seconds: float, seed: int) -> tuple[Any, Table]:
    from handful.preprocessing.sentence_encoders import (
        ENVIRONMENT,
        LEAST_KNOWN,
        encoder_at_hand,
        find_encoder,
        what_is_missing,
    )

    def noticed(table: Table, notice: str, **fixes: str) -> Table:
        return replace(table, notices=(*table.notices, Notice("text-encoding", notice, **fixes)))

    def without(why: str, **fixes: str) -> tuple[str, Table]:
        return "lsa", noticed(table, f"Texts are encoded by LSA, without embeddings: {why}", **fixes)

    if encoder_at_hand() is None:
        is_off = os.environ.get(ENVIRONMENT) == ""
        return ("lsa", table) if is_off else without(f"{what_is_missing()} Embeddings often do better.")
    try:
        encoder = find_encoder(None)
    except MissingExtraError as error:
        return without(str(error))
    columns = [text_cells(table.values()[name]) for name, kind in table.kinds.items() if kind == "text"]
    known = encoder.knows([text for texts in columns for text in texts])
    if known < LEAST_KNOWN:
        why = f"{encoder.name} knows only {known:.0%} of their longer words, so they seem to be of another language."
        return without(why, python_fix="text='vectors'.", cli_fix="--text vectors.")
    needed = sum(map(encoder.seconds_for, columns)) if math.isfinite(seconds) else 0.0
    if needed <= _MAX_ENCODING * seconds:
        return encoder, table
    n_rows, n_labeled, minutes = len(table), len(table.labeled), {"python_fix": "more minutes in Limits."}
    n_affordable = max(int(n_rows * _MAX_ENCODING * seconds / needed) - n_labeled, _LEAST_UNLABELED)
    takes = f"{encoder.name} would take about {needed:.0f} of {seconds:.0f} s"
    if needed * (n_labeled + n_affordable) > n_rows * seconds:
        return without(f"{takes}.", **minutes, cli_fix="more --minutes.")
    why = f"{n_affordable:,} of {len(table.unlabeled):,} unlabeled rows are used: {takes} for all."
    kept = np.random.default_rng([seed, 3]).permutation(table.unlabeled)[:n_affordable]
    table = noticed(table, why, **minutes, cli_fix="more --minutes.")
    return encoder, table[np.sort(np.concatenate([table.labeled, kept]))]
