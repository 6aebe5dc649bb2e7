"""``handful fit prototypes``: a tagger from a few typical words for each label and raw text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from handful.cli.console import emit_json, progress_bar, say
from handful.cli.earlier_model import check_earlier
from handful.cli.options import Run, check_output, command_line, model_file, run_options, training_state
from handful.cli.parameters import parameters_of
from handful.cli.prototypes import MORE_TEXT
from handful.core.counted import counted
from handful.core.errors import DataError, ParameterError
from handful.corpora.sentences import read_sentences
from handful.tagging import PrototypeTeam
from handful.tagging.prototypes.coverage import under_several_labels

_SHOWN = 20  # words named in a note
_ASKED = 200  # sentences that are looked at for the length of their fields
_SHORT = 1.5  # words: fields that are shorter in the mean are hardly fields


@click.command("prototypes")
@click.argument("prototypes", type=click.Path(path_type=Path))
@click.argument("text", type=click.Path(path_type=Path))
@MORE_TEXT
@click.option(
    "--tagged",
    type=click.Path(path_type=Path),
    help="Tagged sentences to learn from as well; how much they count is chosen by cross-validation.",
)
@click.option("--spelling/--no-spelling", default=None, help="Whether suffixes, capitals, hyphens and digits count.")
@parameters_of(PrototypeTeam, leave_out=("spelling",), aliases={"max_iter": "--iterations"})
@run_options("model", "checkpoint", "seed", "as_json", jobs={"default": -1})
@click.pass_context
def command(
    ctx: click.Context,
    /,
    prototypes: Path,
    text: Path,
    similarity_text: Path | None,
    tagged: Path | None,
    spelling: bool | None,
    settings: dict[str, Any],
    run: Run,
) -> None:
    """Learn a tagger from PROTOTYPES, a list of typical words for each label, and TEXT, raw sentences.

    What is not set is chosen by the text itself: some prototypes are hidden, and the settings are best that give them
    their label all the same.
    """
    from handful.core.version import __version__
    from handful.corpora.formats import read_prototypes
    from handful.corpora.tagged import read_tagged
    from handful.methods import save

    target = model_file(run, text)
    check_output(target, prototypes, text, similarity_text, tagged, run.checkpoint)
    replaced = check_earlier(target, "prototypes")
    state = training_state(run)
    lists = read_prototypes(prototypes)
    if tagged is None:
        _check_own_words(prototypes, lists)
    sentences = list(_tokens(text))
    known = None if tagged is None else read_tagged(tagged)
    if known is not None and tagged is not None:
        _check_shared_labels(tagged, known.tags, [*lists, *(settings.get("labels") or ()), settings.get("boundary")])
    team = PrototypeTeam(
        lists,
        spelling="auto" if spelling is None else spelling,
        n_jobs=run.jobs,
        random_state=run.seed,
        **settings,
    )
    inputs, tags = list(sentences), None
    if known is not None:
        inputs = [*(sentence.tokens for sentence in known.sentences), *inputs]
        tags = [*map(list, known.tags), *[None] * len(sentences)]
    more = () if similarity_text is None else _tokens(similarity_text)
    with progress_bar() as progress:
        team.fit(inputs, tags, more_text=more, progress=progress, checkpoint=state)
    team.training_ = {
        "data": text.name,
        "prototypes": prototypes.name,
        "sentences": len(sentences),
        "command": command_line(ctx),
        "handful": __version__,
    }
    save(team, target)
    if replaced:
        say(replaced, stderr=True)
    facts = {"model": str(target), **_facts(team, lists, sentences)}
    if run.as_json:
        emit_json(facts)
    else:
        _tell(facts, team)


def _check_own_words(path: Path, lists: Mapping[str, Sequence[str]]) -> None:
    """Refuse lists in which every word stands under several labels: nothing would tell these apart."""
    several = under_several_labels(lists)
    if all(word in several for words in lists.values() for word in words):
        word, labels = next(iter(several.items()))
        raise DataError(
            f"{path}: every word stands under several labels, such as {word!r} under {' and '.join(labels)}, so that nothing "
            "tells the labels apart. Give each label words of its own."
        )


def _check_shared_labels(path: Path, tags: Iterable[Sequence[str]], labels: Collection[str | None]) -> None:
    """Refuse tagged sentences of another kind: a tagger of theirs would not need the list."""
    found = {tag for sentence in tags for tag in sentence}
    if not found & set(labels):
        listed = ", ".join(sorted(filter(None, labels))[:5])
        raise ParameterError(
            f"--tagged: some tags of {path} must be labels of the list ({listed}), got {', '.join(sorted(found)[:5])}."
        )


def _tokens(text: Path) -> Iterator[tuple[str, ...]]:
    return (sentence.tokens for sentence in read_sentences(text))


def _facts(team: PrototypeTeam, lists: Mapping[str, Sequence[str]], sentences: list[tuple[str, ...]]) -> dict[str, Any]:
    words = {word for sentence in sentences for word in sentence}
    return {
        "labels": team.classes_.tolist(),
        "sentences": len(sentences),
        "iterations": max(member.n_iter_ for member in team.members_),
        "settings": team.trials_,
        "linked_words": len(words & (team.links_.keys() - team.lexicon_.keys())),
        "several_labels": under_several_labels(lists),
        "absent_prototypes": sorted({word for listed in lists.values() for word in listed} - words),
        "weight_of_tagged": team.crf_weight_,
        "marks": team.marks_,
        "words_a_field": round(_field_length(team.predict(sentences[:_ASKED])), 2) if team.fields else None,
    }


def _field_length(tags: Iterable[Sequence[str]]) -> float:
    """Return the mean number of words that have one label in a row."""
    runs = [len(list(run)) for sentence in tags for _, run in groupby(sentence)]
    return sum(runs) / max(len(runs), 1)


def _tell(facts: dict[str, Any], team: PrototypeTeam) -> None:
    linked = f"; words linked to prototypes: {facts['linked_words']:,}" if _links(team) else ""
    say(
        f"{counted(len(facts['labels']), 'label')} from {counted(facts['sentences'], 'sentence')}{linked}. "
        f"Saved to {facts['model']}"
    )
    say(_chosen(team))
    if facts["marks"]:
        say(
            f"Marks between fields: {' '.join(facts['marks'])} (each has the label of the word before it; --no-marks takes "
            "them for words)"
        )
    several = [f"{word} ({', '.join(labels)})" for word, labels in facts["several_labels"].items()]
    if several:
        more_words = " ..." if len(several) > _SHOWN else ""
        say(f"Under several labels: {', '.join(several[:_SHOWN])}{more_words}", stderr=True)
    absent = facts["absent_prototypes"]
    if absent:
        more_words = " ..." if len(absent) > _SHOWN else ""
        say(f"Not in the text: {' '.join(absent[:_SHOWN])}{more_words}", stderr=True)
    length = facts["words_a_field"]
    if length is not None and length < _SHORT:
        say(f"Fields have {length:.1f} words in the mean. If yours are longer, try --sticky 4.", stderr=True)


def _chosen(team: PrototypeTeam) -> str:
    """Tell which settings were taken, and how good they are by what can be told without labels."""
    best = team.trials_[0]
    told = [
        f"similarity {best['similarity']}, threshold {best['threshold']:g}"
        if _links(team)
        else "no similarity of words",
        f"spelling {'counts' if best['spelling'] else 'does not count'}",
        *([f"sticky {best['sticky']:g}"] if best["sticky"] else []),
    ]
    lines = f"Settings: {', '.join(told)}."
    if best["recovered"] is not None:
        lines += f" Prototypes that were hidden got their label with a probability of {best['recovered']:.0%}."
    others = [trial for trial in team.trials_[1:] if trial.get("taggers")]
    if others:
        more = "another setting" if len(others) == 1 else f"{len(others)} other settings"
        lines += f" Taggers of {more}, as good as far as that can tell, answer besides."
    if not any(trial["similarity"] != "none" for trial in (best, *others)):
        lines += _why_no_links(team)
    if team.crf_ is not None:
        lines += f" Tagged sentences count {team.crf_weight_:.0%}, prototypes {1 - team.crf_weight_:.0%}."
    return lines


def _links(team: PrototypeTeam) -> bool:
    """Tell whether words are linked to prototypes that they are like."""
    return bool(team.trials_[0]["similarity"] != "none")


def _why_no_links(team: PrototypeTeam) -> str:
    """Tell how good the best kind of similarity was, where the best settings have none of it."""
    linking = next((trial for trial in team.trials_ if trial["similarity"] != "none"), None)
    if linking is None or linking["recovered"] is None:
        return ""
    kind, share = linking["similarity"], linking["recovered"]
    return (
        f" With words linked to prototypes that they are like ({kind}) it was {share:.0%}, so that nothing is linked; "
        f"--similarity {kind} links them all the same."
    )
