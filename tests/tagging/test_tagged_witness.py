"""Sentences that a witness has tagged, next to few reliable ones."""

import json

import numpy as np
import pytest
from cli_run import run

from handful.errors import DataError
from handful.tagging.recipes import TaggerSetup
from handful.tagging.witnesses import fit_tagged_witness

TAGS = "ABC"
SETUP = TaggerSetup("general", max_iter=30)


def made(n_gold=30, n_others=120, seed=0):
    """Return sentences whose tags depend on the words alone, each word with a tag by chance."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(rng.choice(letters, 6)) for _ in range(150)]
    tag_of = {word: TAGS[rng.integers(3)] for word in words}
    sentences = [tuple(rng.choice(words, 5).tolist()) for _ in range(n_gold + n_others + 50)]
    tags = [[tag_of[word] for word in sentence] for sentence in sentences]
    return sentences, tags, n_gold, n_gold + n_others


def fit(witness_tags, n_gold=30):
    sentences, tags, n, stop = made(n_gold)
    witness = {sentence: witness_tags(row) for sentence, row in zip(sentences[:stop], tags[:stop], strict=True)}
    tagger, learned = fit_tagged_witness(SETUP, sentences[:n], tags[:n], witness, with_spans=False)
    predicted = tagger.predict(list(map(list, sentences[stop:])))
    return learned, np.mean(
        [a == b for p, t in zip(predicted, tags[stop:], strict=True) for a, b in zip(p, t, strict=True)]
    )


def test_systematic_errors_of_a_witness_are_undone():
    learned, score = fit(lambda row: ["BCA"[TAGS.index(tag)] for tag in row])
    assert learned.agreement == 0
    assert learned.best == "corrected"
    assert learned.scores["corrected"] > learned.scores["alone"] + 0.2
    assert score > 0.9


def test_a_witness_by_chance_is_left_out():
    rng = np.random.default_rng(1)
    learned, score = fit(lambda row: rng.choice(list(TAGS), len(row)).tolist())
    sentences, tags, n, stop = made()
    alone = SETUP.fit_crf(list(map(list, sentences[:n])), tags[:n]).predict(list(map(list, sentences[stop:])))
    assert max(learned.scores.values()) < learned.scores["alone"] + 0.05
    if not learned.is_used:
        assert score == np.mean(
            [a == b for p, t in zip(alone, tags[stop:], strict=True) for a, b in zip(p, t, strict=True)]
        )


def test_a_witness_without_the_reliable_sentences_is_refused():
    with pytest.raises(DataError, match="0 sentences"):
        fit_tagged_witness(SETUP, [["a"]] * 20, [["A"]] * 20, {("b",): ["A"]}, with_spans=False)


def write(path, sentences, tags):
    rows = ("\n".join(f"{w}\t{t}" for w, t in zip(s, row, strict=True)) for s, row in zip(sentences, tags, strict=True))
    path.write_text("\n\n".join(rows) + "\n")
    return path


def test_the_command_prints_what_the_witness_adds(tmp_path, capsys):
    sentences, tags, n, stop = made(n_others=60)
    gold = write(tmp_path / "gold.tsv", sentences[:n], tags[:n])
    llm = write(tmp_path / "llm.tsv", sentences[:stop], tags[:stop])
    arguments = ("fit", "tagger", gold, "--also", llm, "--templates", "general", "--max-iter", "20", "--jobs", "1")
    code, out, _ = run(capsys, *arguments, "--json")
    assert code == 0
    witness = json.loads(out)["witness"]
    assert (witness["agreement"], witness["n_others"], witness["used"] != "alone") == (1.0, 60, True)
    other = write(tmp_path / "other.tsv", [["x"]] * 3, [["NEW"]] * 3)
    assert run(capsys, "fit", "tagger", gold, "--also", other)[0] == 1
    assert run(capsys, "fit", "tagger", gold, "--also", llm, "--method", "frequent-tag")[0] == 2
