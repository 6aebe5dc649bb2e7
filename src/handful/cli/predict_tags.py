"""Tags for sentences, some hundred at a time."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from handful.cli.console import answers_to, say

if TYPE_CHECKING:
    from handful.cli.options import Run

_BATCH = 500


def predict_tags(model: Any, data: Path, run: Run, abstain: float | None) -> None:
    """Write sentences as columns: those of the file, then the tag, then how sure the model is of it.

    Parameters
    ----------
    model : tagger
        The model.
    data : Path
        Text, columns or CoNLL-U; packed or not, read as a stream.
    run : Run
        Where to (stdout by default), and the workers that tag. The output has the order of the input in any case.
    abstain : float or None
        Tags less sure than this become ``_``.
    """
    from handful.compute import map_parts
    from handful.core.errors import HandfulError, PartError
    from handful.corpora.tagged import read_untagged

    training = getattr(model, "training_", {})
    columns = getattr(model, "columns_", ["word"])[1:]
    sentences = read_untagged(data, training.get("layout", ("token",)), training.get("tag", "tag"), columns)
    n_sentences = n_tokens = n_blank = 0
    with answers_to(run.output) as file:
        shards = iter(lambda: list(islice(sentences, _BATCH)), [])
        try:
            tag = partial(_tagged, model, abstain)
            with closing(map_parts(tag, shards, n_jobs=run.jobs, engine=run.engine)) as parts:
                for tagged in parts:
                    file.write(tagged.text)
                    n_sentences += tagged.n_sentences
                    n_tokens += tagged.n_tokens
                    n_blank += tagged.n_blank
        except PartError as error:
            if isinstance(error.__cause__, HandfulError):
                raise error.__cause__ from None
            raise
    left = f", {n_blank:,} tags left blank below a confidence of {abstain:g}" if abstain is not None else ""
    where = f" in {run.output}" if run.output is not None else ""
    say(f"{n_tokens:,} tokens of {n_sentences:,} sentences tagged{left}{where}.", stderr=True)


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
    for (record, names), answer, sure in zip(shard, tags, _confidence(model, records, tags), strict=True):
        n_blank += _write(file, record, names, answer, sure, abstain)
    return _Tagged(file.getvalue(), len(records), sum(map(len, records)), n_blank)


def _confidence(model: Any, sentences: list[Any], tags: list[list[str]]) -> Iterator[np.ndarray]:
    if not hasattr(model, "predict_marginals"):
        yield from (np.full(len(answer), np.nan) for answer in tags)
        return
    for answer, shares in zip(tags, model.predict_marginals(sentences), strict=True):
        # A tagger that rewrites spans in another encoding has shares of its inner tags; the greatest speaks for it.
        yield np.array([share.get(tag, max(share.values())) for tag, share in zip(answer, shares, strict=True)])


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
