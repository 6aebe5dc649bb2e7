"""``handful score``: answers held against a key."""

from __future__ import annotations

from pathlib import Path

import click

from handful.cli.console import emit_json, say
from handful.cli.options import run_option


@click.command("score")
@click.argument("answers", type=click.Path(path_type=Path))
@click.argument("key", type=click.Path(path_type=Path))
@click.option("--sense-map", type=click.Path(path_type=Path), help="Coarse senses; adds the coarse score.")
@run_option("as_json")
def command(answers: Path, key: Path, sense_map: Path | None, as_json: bool) -> None:
    """Score sense ANSWERS against KEY, as the Senseval scorer counts.

    Both files have 'word instance sense ...' on each line; several senses of a key line are all correct, several of an answer share
    the credit. KEY may also be the sample or table that the contexts are from, if it has their senses.
    """
    from handful.corpora.formats import read_key, read_sense_map
    from handful.corpora.occurrences import read_answers
    from handful.senses import score_senses

    gold, given = read_answers(key), read_key(answers)
    grains = {"fine": None} if sense_map is None else {"fine": None, "coarse": read_sense_map(sense_map)}
    scores = {grain: score_senses(gold, given, coarse) for grain, coarse in grains.items()}
    if as_json:
        emit_json(
            {
                grain: {
                    "precision": score.precision,
                    "recall": score.recall,
                    "instances": score.n_instances,
                    "answered": score.n_answered,
                }
                for grain, score in scores.items()
            }
        )
        return
    for grain, score in scores.items():
        say(
            f"{grain}: precision {score.precision:.1%}, recall {score.recall:.1%}, "
            f"{score.n_answered:,} of {score.n_instances:,} answered"
        )
