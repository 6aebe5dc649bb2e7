"""Counts of the shares of a text, put together."""

from __future__ import annotations

from pathlib import Path

from handful.cli.console import console, emit_json
from handful.cli.count_files import count_files
from handful.cli.options import check_output
from handful.core.counted import counted


def are_counts(path: Path) -> bool:
    """Tell whether a file holds a model or counts, which are kept alike, and no table or sentences."""
    from handful.core.store import MAGIC

    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def add_counts(files: list[Path], where: Path, *, as_json: bool) -> None:
    """Write the sum of counts that ``condense --shard`` made; where a second model was counted with, its counts too.

    Parameters
    ----------
    files : list of Path
        One file per share.
    where : Path
        File to write.
    as_json : bool
        Print JSON.
    """
    from handful.representations.condensed.counts import FeatureCounts, merge_shares

    held_out = count_files(files[0], True)[1].exists()
    targets = count_files(where, held_out)
    size = 0
    for number, target in enumerate(targets):
        parts = [count_files(file, held_out)[number] for file in files]
        check_output(target, *parts)
        merged = merge_shares({str(part): FeatureCounts.load(part) for part in dict.fromkeys(parts)})
        merged.save(target)
        size = merged.size
    if as_json:
        emit_json({"output": str(where), "shards": len(set(files)), "tokens": size})
        return
    console().print(
        f"{where}: {counted(size, 'token')} in {counted(len(set(files)), 'shard')}.", markup=False, soft_wrap=True
    )
