"""Tags for sentences, some hundred at a time."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from handful.cli.console import console

_BATCH = 500


def predict_tags(
    model: Any,
    data: Path,
    output: Path | None,
    abstain: float | None,
    *,
    jobs: int | None = None,
    engine: str | None = None,
) -> None:
    """Write sentences as columns: those of the file, then the tag, then how sure the model is of it.

    Parameters
    ----------
    model : tagger
        The model.
    data : Path
        Text, columns or CoNLL-U; packed or not, read as a stream.
    output : Path or None
        Where to; None is stdout.
    abstain : float or None
        Tags less sure than this become ``_``.
    jobs, engine
        Workers that tag; see `handful.compute.map_reduce`. The output has the order of the input in any case.
    """
    from handful.compute import map_parts
    from handful.core.errors import HandfulError, PartError
    from handful.corpora.opening import write_text_file
    from handful.corpora.tagged import read_untagged

    training = getattr(model, "training_", {})
    columns = getattr(model, "columns_", ["word"])[1:]
    sentences = read_untagged(data, training.get("layout", ("token",)), training.get("tag", "tag"), columns)
    target: Any = nullcontext(sys.stdout) if output is None else write_text_file(output)
    n_sentences = n_tokens = n_blank = 0
    with target as file:
        shards = iter(lambda: list(islice(sentences, _BATCH)), [])
        try:
            with closing(map_parts(partial(_tagged, model, abstain), shards, n_jobs=jobs, engine=engine)) as found:
                for tagged in found:
                    file.write(tagged.text)
                    n_sentences += tagged.n_sentences
                    n_tokens += tagged.n_tokens
                    n_blank += tagged.n_blank
        except PartError as error:
            if isinstance(error.__cause__, HandfulError):
                raise error.__cause__ from None
            raise
    left = f", {n_blank:,} tags left blank below a confidence of {abstain:g}" if abstain is not None else ""
    where = f" in {output}" if output is not None else ""
    note = f"{n_tokens:,} tokens of {n_sentences:,} sentences tagged{left}{where}."
    console(stderr=True).print(note, style="dim", soft_wrap=True)


@dataclass(frozen=True)
class _Tagged:
    text: str
    n_sentences: int
    n_tokens: int
    n_blank: int


def _tagged(model: Any, abstain: float | None, shard: list[tuple[Any, tuple[str, ...]]]) -> _Tagged:
    records = [record for record, _ in shard]
    tags = model.predict(records)
    file = io.StringIO()
    n_blank = 0
    for (record, names), mine, sure in zip(shard, tags, _confidence(model, records, tags), strict=True):
        n_blank += _write(file, record, names, mine, sure, abstain)
    return _Tagged(file.getvalue(), len(records), sum(map(len, records)), n_blank)


def _confidence(model: Any, sentences: list[Any], tags: list[list[str]]) -> Iterator[np.ndarray]:
    if not hasattr(model, "predict_marginals"):
        yield from (np.full(len(mine), np.nan) for mine in tags)
        return
    for mine, shares in zip(tags, model.predict_marginals(sentences), strict=True):
        # A tagger that rewrites spans in another encoding has shares of its inner tags; the greatest speaks for it.
        yield np.array([share.get(tag, max(share.values())) for tag, share in zip(mine, shares, strict=True)])


def _write(
    file: IO[str], record: Any, names: tuple[str, ...], tags: list[str], sure: np.ndarray, abstain: float | None
) -> int:
    columns = [record.tokens if name == "token" else record[name] for name in names]
    n_blank = 0
    for number, (tag, share) in enumerate(zip(tags, sure, strict=True)):
        if abstain is not None and not share >= abstain:
            tag, n_blank = "_", n_blank + 1
        told = "_" if np.isnan(share) else f"{share:.4f}"
        file.write("\t".join([*(column[number] for column in columns), tag, told]) + "\n")
    file.write("\n")
    return n_blank
