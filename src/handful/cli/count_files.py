"""Raw text that ``handful condense`` counts, and the files that counts are kept in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import console, emit_json
from handful.cli.options import check_output
from handful.core.counted import counted
from handful.core.errors import HandfulError

if TYPE_CHECKING:
    from handful.representations.condensed.condensing import Condensing
    from handful.representations.condensed.share import Share


def count_files(counts: Path | None, held_out: bool) -> list[Path]:
    """Return where counts are kept: those of a second model stand beside those of the first.

    Examples
    --------
    >>> [path.name for path in count_files(Path("news"), held_out=True)]
    ['news', 'news-held-out']
    """
    if counts is None:
        return []
    return [counts, *([counts.parent / f"{counts.name}-held-out"] if held_out else [])]


@dataclass(frozen=True)
class CountPlan:
    """What is to be counted, and where counts are kept.

    Parameters
    ----------
    texts : sequence of Path
        Raw text.
    files : list of Path
        See `count_files`.
    share : Share or None
        Which share of the text is counted, if only one is.
    again : bool
        Count what has been counted before.
    where : dict
        `n_jobs`, `engine` and `checkpoint` of `CondensedFeatures.fit`.
    """

    texts: Sequence[Path]
    files: list[Path]
    share: Share | None
    again: bool
    where: dict[str, Any]

    @property
    def stored(self) -> list[Path]:
        """Files that are there already."""
        return [path for path in self.files if path.exists()]

    def check(self, output: Path, read: Sequence[Path | None], *, needs_text: bool) -> None:
        """Refuse, before any work is done, what cannot be counted or kept.

        Parameters
        ----------
        output : Path
            File of the small model.
        read : sequence of Path or None
            Files that are read.
        needs_text : bool
            Whether there must be counts, or text for them.
        """
        check_output(output, *read, *self.files)
        for path in self.files:
            check_output(path, *read)
        stored = self.stored
        if self.share is not None:
            self._check_share(stored)
        elif stored and stored != self.files and not self.texts:
            missing = next(path for path in self.files if path not in stored)
            raise click.UsageError(
                f"--counts: with --held-out counts are kept in two files, {self.files[0]} and {self.files[1]}, but there "
                f"is no {missing}. Name TEXT again, or a new file."
            )
        if needs_text and not self.texts and not stored:
            raise click.UsageError("TEXT is missing: name raw text to count, or --counts with a file of counts.")

    def _check_share(self, stored: list[Path]) -> None:
        if not self.files or not self.texts or self.again:
            raise click.UsageError("--shard needs TEXT and --counts, and goes without --again.")
        if stored == self.files:
            raise click.UsageError(f"--shard: {self.files[0]} is there already. Remove it to count this share again.")

    def carry_out(self, condensing: Condensing, **options: Any) -> None:
        """Read counts that are there, count the text, and write the counts."""
        # A share that was stopped between two files is counted again.
        stored = self.stored if self.share is None else []
        if stored:
            condensing.read_counts(self.files)
        if self.texts:
            try:
                condensing.count(list(self.texts), again=self.again, share=self.share, **self.where, **options)
            except HandfulError as error:
                if self.share is not None:  # so that it can be run alone
                    error.args = (f"shard {self.share}: {error}",)
                raise
        if self.texts or stored:
            condensing.save_counts(self.files)

    def tell(self, condensing: Condensing, *, as_json: bool) -> None:
        """Tell what was counted of a share, or which pieces had been counted before."""
        if self.share is not None:
            facts = {"counts": str(self.files[0]), "shard": str(self.share), "tokens": condensing.n_counted}
            if as_json:
                emit_json(facts)
                return
            told = (
                f"{self.files[0]}: {counted(condensing.n_counted, 'token')}, share {self.share}. When all are there: "
            )
            console().print(f"{told}handful merge ... -o COUNTS", markup=False, soft_wrap=True)
        elif condensing.n_known:
            n = condensing.n_known
            pieces = f"{n:,} pieces of TEXT were" if n > 1 else "One piece of TEXT was"
            told = f"{pieces} counted before and left out; --again counts them once more."
            console(stderr=True).print(told, style="dim")
