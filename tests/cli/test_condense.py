from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from cli_run import run as run_command

from handful.persistence.model_file import load
from handful.representations.condensed_features import CondensedFeatures

BINS = "--mode", "bins"


def run(capsys, command, *words):
    """Run a command in this process alone: starting workers takes longer than these small texts."""
    return run_command(capsys, command, *words, *(("--jobs", 1) if command == "condense" else ()))


@pytest.fixture
def model(capsys, tmp_path):
    rng = np.random.default_rng(0)
    words = {"D": ["the", "a"], "N": ["dog", "cat", "bird"], "V": ["barks", "sleeps"]}
    lines = []
    for _ in range(30):
        lines += [f"{rng.choice(words[tag])}\t{tag}" for tag in ("D", "N", "V")] + [""]
    (tmp_path / "train.tsv").write_text("\n".join(lines) + "\n")
    raw = [" ".join(rng.choice(words[tag]) for tag in ("D", "N", "V")) for _ in range(200)]
    (tmp_path / "first.txt").write_text("\n".join(raw[:120]) + "\n")
    (tmp_path / "second.txt.gz").write_bytes(gzip.compress(("\n".join(raw[120:]) + "\n").encode()))
    run(capsys, "fit", "tagger", tmp_path / "train.tsv", "--max-iter", "20", "--no-check")
    return tmp_path / "train.handful"


def test_a_tagger_gets_small_and_still_tags(capsys, model, tmp_path):
    train = tmp_path / "train.tsv"
    texts = tmp_path / "first.txt", tmp_path / "second.txt.gz"
    code, out, _ = run(capsys, "condense", model, train, *texts, *BINS, "--dev", train, "--resolution", 2, "--json")
    facts = json.loads(out)
    assert code == 0
    assert facts["tokens"] == 600
    assert facts["condensed_features"] < facts["features_before"]
    assert facts["dev"]["after"]["accuracy"] == 1.0
    code, out, _ = run(capsys, "predict", tmp_path / "train-condensed.handful", tmp_path / "first.txt")
    assert code == 0
    assert [line.split("\t")[1] for line in out.splitlines()[1:4]] == ["D", "N", "V"]
    told = json.loads(run(capsys, "inspect", tmp_path / "train-condensed.handful", "--json")[1])
    assert told["how it was trained"]["condensed features"] == facts["condensed_features"]


def test_what_came_out_is_told_for_the_worse_too(capsys, model, tmp_path):
    train, raw, small = tmp_path / "train.tsv", tmp_path / "first.txt", tmp_path / "small.handful"
    options = "--mode", "bins", "--dev", train, "-o", small, "--max-iter"
    code, _, _ = run(capsys, "condense", model, train, raw, *options, 50, "--discount", 30, "--resolution", 1)
    assert code == 0
    again = tmp_path / "again.handful"
    options = "--mode", "bins", "--discount", 0, "--resolution", 1000, "--max-iter", 3, "-o", again
    code, _, err = run(capsys, "condense", small, train, raw, *options)
    assert code == 0
    assert "not smaller" in err
    assert again.stat().st_size > small.stat().st_size


@pytest.mark.parametrize(
    ("given", "code", "says"),
    [
        ((*BINS, "--discount", "inf"), 2, "--discount: must be a number of at least 0 and below inf, got 'inf'"),
        ((*BINS, "--discount", 1e6), 2, "discount=1e+06 drops every feature. Lower it"),
        ((*BINS, "--resolution", 1e300), 2, "--resolution: must be a number"),
        ((*BINS, "--strength", 1e308), 2, "strength"),
        (
            (*BINS, "--strength", 1e8, "--penalty", "l1"),
            2,
            "strength=1e+08 sets every weight to 0. Lower it.",
        ),
    ],
)
def test_a_model_of_nothing_is_not_written(capsys, given, code, says, model, tmp_path):
    output = tmp_path / "small.handful"
    output.write_text("kept")
    found, _, err = run(capsys, "condense", model, tmp_path / "train.tsv", tmp_path / "first.txt", *given, "-o", output)
    assert (found, says in " ".join(err.split())) == (code, True), err
    assert output.read_text() == "kept"
    assert "Traceback" not in err
    assert "warning" not in err


def test_a_tagger_is_rounded_without_raw_text(capsys, model, tmp_path):
    train, raw, small = tmp_path / "train.tsv", tmp_path / "first.txt", tmp_path / "small.handful"
    code, out, err = run(capsys, "condense", model, train, "-o", small, "--dev", train, "--json")
    assert code == 0, err
    facts = json.loads(out)
    assert (facts["mode"], facts["tokens"], facts["dev"]["after"]["accuracy"]) == ("rounded", 0, 1.0)
    assert facts["bytes"] < facts["bytes_before"]
    answers = [run(capsys, "predict", path, raw)[1] for path in (model, small)]
    tags = [[line.split("\t")[1] for line in lines.splitlines() if line and line[0] != "#"] for lines in answers]
    assert tags[0] == tags[1]
    small.write_text("kept")
    for options, says in [((raw,), "TEXT"), (("--counts", tmp_path / "c"), "--counts"), (("--drop", 1e6), "Lower it.")]:
        code, _, err = run(capsys, "condense", model, train, *options, "-o", small)
        assert (code, says in err) == (2, True), err
        assert small.read_text() == "kept"


@pytest.mark.parametrize("given", [(), ("--drop", 0.25)])
def test_what_was_left_out_is_told_with_what_it_cost(capsys, given, model, tmp_path):
    train, small = tmp_path / "train.tsv", tmp_path / "small.handful"
    options = "--mode", "rounded", "-o", small, *given
    told = json.loads(run(capsys, "condense", model, train, *options, "--json")[1])["dropped"]
    assert (told["below"] == 0.25) == bool(given)
    assert (told["errors_before"], told["errors"], told["changed"]) == (0.0, 0.0, 0.0)
    assert (told["score_before"], told["score"]) == (1.0, 1.0)
    assert told["changed_at_most"] > 0.0  # ten sentences do not tell much
    weights = np.abs(load(small).weights_)
    assert told["below"] <= weights.min() < 2 * told["below"] + 0.1
    _, out, _ = run(capsys, "condense", model, train, *options)
    assert f"weights below {told['below']:g}; 0.0% of predictions change" in out


def test_counts_of_yesterday_and_today_are_those_of_one_run(capsys, model, tmp_path):
    train, counts = tmp_path / "train.tsv", tmp_path / "counts"
    once, twice = tmp_path / "once.handful", tmp_path / "twice.handful"
    texts = tmp_path / "first.txt", tmp_path / "second.txt.gz"
    assert run(capsys, "condense", model, train, *texts, *BINS, "-o", once)[0] == 0
    for text in texts:
        code, out, _ = run(capsys, "condense", model, train, text, *BINS, "-o", twice, "--counts", counts, "--json")
        assert code == 0
    assert json.loads(out)["tokens"] == 600
    tagged = [run(capsys, "predict", path, texts[0])[1] for path in (once, twice)]
    assert tagged[0] == tagged[1]
    options = *BINS, "-o", twice, "--counts", counts, "--resolution", 1, "--json"
    code, out, _ = run(capsys, "condense", model, train, *options)
    assert (code, json.loads(out)["tokens"]) == (0, 600)


def test_text_that_was_counted_is_not_counted_again(capsys, model, tmp_path):
    train, text, counts = tmp_path / "train.tsv", tmp_path / "first.txt", tmp_path / "counts"
    small = tmp_path / "small.handful"

    def condense(*options):
        code, out, err = run(
            capsys, "condense", model, train, *options, *BINS, "-o", small, "--counts", counts, "--json"
        )
        assert code == 0, err
        return json.loads(out)["tokens"], err

    n_tokens, err = condense(text)
    assert "counted before" not in err
    first = counts.read_bytes(), small.read_bytes()
    assert condense(text) == (
        n_tokens,
        "1 piece of TEXT counted before.\n",
    )
    assert (counts.read_bytes(), small.read_bytes()) == first
    packed = tmp_path / "copy.txt.gz"  # the same text, whatever its name and however it is packed
    packed.write_bytes(gzip.compress(text.read_bytes()))
    assert condense(packed)[0] == n_tokens


def test_options_that_do_not_go_together(capsys, model, tmp_path):
    train, raw = tmp_path / "train.tsv", tmp_path / "first.txt"
    for options, says in [
        ((raw, *BINS, "--base-step", 0.1), "base_step needs held_out"),
        ((raw, *BINS, "--strength", "nan"), "--strength: must be a number above 0"),
        ((raw, *BINS, "--held-out", 3), "mode 'bins' holds nothing out"),
        (("--held-out", 31), "got 30"),
    ]:
        code, _, err = run(capsys, "condense", model, train, *options)
        assert code == 2
        assert says in err
    train.write_text(train.read_text() + "the\tD\n\n")
    code, _, err = run(capsys, "condense", model, train)
    assert code == 0
    assert "has 31 sentences, not 30" in err


def test_wrong_use_is_one_sentence(capsys, model, tmp_path):
    train = tmp_path / "train.tsv"
    code, _, err = run(capsys, "condense", model, train, *BINS)
    assert code == 2
    code, _, err = run(capsys, "condense", model, train, tmp_path / "none.txt", *BINS)
    assert (code, "none.txt" in err, "Traceback" in err) == (1, True, False)
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    code, _, err = run(capsys, "condense", model, train, empty, *BINS)
    assert code == 1
    assert len(err.strip().splitlines()) == 1
    counts = tmp_path / "counts"
    counts.write_bytes(b"no counts")
    code, _, err = run(capsys, "condense", model, train, tmp_path / "first.txt", "--counts", counts, *BINS)
    assert code == 1
    assert str(counts) in err


@pytest.fixture
def treebank(tmp_path):
    """Trees with two columns of tags, and raw text."""
    rng = np.random.default_rng(0)
    words = {"DT": ["the", "a"], "NN": ["dog", "cat", "bird"], "VB": ["barks", "sleeps"]}
    coarse, heads = {"DT": "DET", "NN": "NOUN", "VB": "VERB"}, {"DT": 2, "NN": 3, "VB": 0}
    lines = []
    for _ in range(20):
        for number, tag in enumerate(words, start=1):
            cells = [str(number), rng.choice(words[tag]), "_", coarse[tag], tag, "_", str(heads[tag]), "_", "_", "_"]
            lines.append("\t".join(cells))
        lines.append("")
    raw = "\n".join(" ".join(rng.choice(mine) for mine in words.values()) for _ in range(50)) + "\n"
    (tmp_path / "raw.txt").write_text(raw)
    (tmp_path / "trees.conllu").write_text("\n".join(lines) + "\n")
    return tmp_path / "trees.conllu"


def fit_taggers(capsys, treebank):
    found = []
    for column in ("xpos", "upos"):
        found.append(treebank.with_name(f"{column}.handful"))
        code, _, err = run(
            capsys, "fit", "tagger", treebank, "--tag", column, "--max-iter", 20, "--no-check", "-o", found[-1]
        )
        assert code == 0, err
    return found


@pytest.mark.parametrize("columns", [("xpos", "upos"), ("upos",)])
def test_a_parser_gets_small_with_tags_of_taggers(capsys, columns, treebank, tmp_path):
    taggers = fit_taggers(capsys, treebank)[-len(columns) :]
    tag = ("--tag", *columns) if len(columns) == 1 else ()
    assert run(capsys, "fit", "parser", treebank, "--order", 1, *tag)[0] == 0
    options = "--dev", treebank, "--strength", 0.1, "--json"
    # A tagger knows its column, so their order does not matter.
    for given in {tuple(taggers), tuple(taggers[::-1])}:
        pos = [word for path in given for word in ("--pos", path)]
        code, out, err = run(
            capsys, "condense", tmp_path / "trees.handful", treebank, tmp_path / "raw.txt", *pos, *options
        )
        assert code == 0, err
        facts = json.loads(out)
        assert facts["tokens"] == 150
        assert facts["condensed_features"] < facts["features_before"]
        assert facts["dev"]["after"]["uas"] == 1.0
    code, out, err = run(
        capsys, "condense", tmp_path / "trees.handful", treebank, tmp_path / "raw.txt", *pos, *options, "--held-out", 2
    )
    assert code == 0, err
    assert json.loads(out)["dev"]["after"]["uas"] == 1.0


@pytest.fixture
def parser(capsys, treebank):
    """A parser of one column of tags, and the words of its condense command but for options."""
    (upos,) = fit_taggers(capsys, treebank)[1:]
    assert run(capsys, "fit", "parser", treebank, "--order", 1, "--tags", "upos")[0] == 0
    return treebank.with_name("trees.handful"), treebank, "--pos", upos, "--strength", 0.1


def interrupt(*_):
    raise KeyboardInterrupt


def test_a_run_that_was_stopped_between_two_files_of_counts_goes_on(capsys, parser, tmp_path, monkeypatch):
    counts, small = tmp_path / "counts", tmp_path / "small.handful"
    files = counts, tmp_path / "counts-held-out", small
    words = "condense", *parser[:2], tmp_path / "raw.txt", *parser[2:], "--held-out", 3, "-o", small, "--counts", counts
    assert run(capsys, *words)[0] == 0
    expected = [path.read_bytes() for path in files]
    for path in files:
        path.unlink()
    save_counts = CondensedFeatures.save_counts

    def save_the_first(features, path):
        if path != counts:
            raise KeyboardInterrupt
        save_counts(features, path)

    monkeypatch.setattr(CondensedFeatures, "save_counts", save_the_first)
    assert run(capsys, *words)[0] == 130
    monkeypatch.undo()
    assert [path.exists() for path in files[:2]] == [True, False]
    code, _, err = run(capsys, *words)
    assert code == 0, err
    assert [path.read_bytes() for path in files] == expected


def test_counts_of_two_models_go_together(capsys, parser, tmp_path, monkeypatch):
    counts, small, beside = tmp_path / "counts", tmp_path / "small.handful", tmp_path / "counts-held-out"
    first, second = tmp_path / "raw.txt", tmp_path / "more.txt"
    second.write_text("the dog sleeps\n" * 20)

    def condense(*options):
        code, out, err = run(capsys, "condense", *parser[:2], *options, *parser[2:], "-o", small, "--counts", counts)
        return code, out + err

    monkeypatch.setattr(CondensedFeatures, "save_counts", interrupt)
    assert condense(first, "--held-out", 3)[0] == 130
    monkeypatch.undo()
    assert not counts.exists()
    assert condense(first, "--held-out", 3)[0] == 0
    before = counts.read_bytes(), beside.read_bytes()
    assert condense(second, "--held-out", 4)[0] == 2
    assert (counts.read_bytes(), beside.read_bytes()) == before
    assert condense(second)[0] == 0  # adds to the first file alone
    code, err = condense("--held-out", 3)
    assert (code, "counts" in err) == (2, True)
    assert condense(second, "--held-out", 3)[0] == 0  # the second file counts what it lacks, the first nothing twice
    code, err = condense("--held-out", 3, "--base-step", 1e9)
    assert (code, "rounds every weight to 0" in err) == (2, True)
    other = run(capsys, "condense", *parser[:2], first, *parser[2:], "--held-out", 3, "--counts", counts, "-o", beside)
    assert (other[0], "must not replace" in other[2]) == (2, True)
    beside.unlink()
    assert condense("--held-out", 3)[0] == 2


def test_a_missing_tagger_is_told_before_anything_is_counted(capsys, treebank, model, tmp_path):
    xpos, _ = fit_taggers(capsys, treebank)
    parser, raw = tmp_path / "trees.handful", tmp_path / "raw.txt"
    assert run(capsys, "fit", "parser", treebank, "--order", 1, "--max-iter", 1)[0] == 0
    for given, says in [
        ((), "--pos is missing: name a tagger for each column of tags that the model reads (xpos and upos)"),
        (("--pos", xpos), "Or fit the parser with --tags xpos."),
        (("--pos", xpos, "--pos", xpos), "one tagger for xpos and one for upos"),
        (("--pos", xpos, "--pos", parser), "not a tagger, but dependency-parser"),
    ]:
        code, _, err = run(capsys, "condense", parser, treebank, raw, *given)
        assert (code, says in " ".join(err.split())) == (1 if parser in given else 2, True), err
    code, _, err = run(capsys, "condense", model, tmp_path / "train.tsv", tmp_path / "first.txt", *BINS, "--pos", xpos)
    assert code == 2


def test_a_file_of_spans_is_known_again_and_another_type_is_told(capsys, tmp_path):
    train, other, model = tmp_path / "names.tsv", tmp_path / "other" / "names.tsv", tmp_path / "names.handful"
    # Names of one token, which the tagger codes as S-HOST, beside a longer one.
    train.write_text("on\tO\nmail-20\tB-HOST\nat\tO\nFeb\tB-TIME\n14\tI-TIME\n\n" * 20)
    assert run(capsys, "fit", "tagger", train, "--max-iter", "20", "-o", model)[0] == 0
    assert "S-HOST" in load(model).classes_
    options = "-o", tmp_path / "small.handful"
    code, out, err = run(capsys, "condense", model, train, *options)
    assert (code, err) == (0, "")
    assert "weight" in out
    other.parent.mkdir()
    other.write_text(train.read_text().replace("-HOST", "-PLACE"))
    _, _, err = run(capsys, "condense", model, other, *options)
    assert "PLACE" in err
    assert "TIME" not in err


def test_raw_text_is_named_where_weights_are_learned_from_it(capsys, model, tmp_path):
    given = model, tmp_path / "train.tsv", tmp_path / "first.txt", *BINS, "-o", tmp_path / "small.handful"
    code, out, err = run(capsys, "condense", *given)
    assert code == 0, err
    assert "Mode       bins, 360 tokens of raw text" in out


def test_progress_has_tokens_a_second_and_the_number_of_pieces(model, tmp_path, monkeypatch):
    monkeypatch.setattr("handful.representations.counts._PART_BYTES", 300)
    steps = []
    features = CondensedFeatures(load(model)).fit([tmp_path / "first.txt"], progress=steps.append)
    counted = [step for step in steps if step.stage == "count"]
    n = features.counts_.n_shards_
    assert n > 1
    assert [step.done for step in counted] == list(range(1, n + 1))
    assert counted[-1].figures["tokens"] == features.counts_.size
    assert counted[0].figures["tokens/s"] > 0
    assert n <= counted[-1].total <= 2 * n
