from __future__ import annotations

import json
import os
import signal

import numpy as np
import pytest
from cli_run import run

from handful.persistence.model_file import load
from handful.tagging import estimate as tagger_check
from handful.tagging.crf import CRF


@pytest.fixture
def corpus(tmp_path):
    rng = np.random.default_rng(0)
    words = {"D": ["the", "a"], "N": ["dog", "cat", "bird"], "V": ["barks", "sleeps"]}
    lines = []
    for _ in range(30):
        lines += [f"{rng.choice(words[tag])}\t{tag}" for tag in ("D", "N", "V")] + [""]
    path = tmp_path / "train.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_fit_predict_inspect(capsys, corpus, tmp_path):
    code, out, _ = run(capsys, "fit", "tagger", corpus, "--dev", corpus, "--max-iter", "20", "--json")
    facts = json.loads(out)
    assert code == 0
    assert facts["dev"]["accuracy"] == 1.0
    assert facts["dev_interval"][0] < facts["dev_interval"][1] == 1.0
    assert facts["tags"] == ["D", "N", "V"]
    model = tmp_path / "train.handful"
    text = tmp_path / "new.txt"
    text.write_text("the cat barks\n\na dog sleeps\n")
    code, out, _err = run(capsys, "predict", model, text)
    rows = [line.split("\t") for line in out.splitlines()[1:]]
    assert code == 0
    assert [row[:2] for row in rows[:4]] == [["the", "D"], ["cat", "N"], ["barks", "V"], [""]]
    assert all(0.5 < float(row[2]) <= 1 for row in rows if len(row) > 1)
    target = tmp_path / "out.tsv"
    code, out, _ = run(capsys, "predict", model, corpus, "-o", target, "--abstain", "1")
    assert (code, out) == (0, "")
    named, first = target.read_text().splitlines()[:2]
    assert named == "# global.columns = TOKEN GIVEN TAG CONFIDENCE"
    columns = first.split("\t")
    assert len(columns) == 4
    assert columns[2] == "_"
    told = json.loads(run(capsys, "inspect", model, "--json")[1])
    assert told["kind"] == "crf"
    assert told["how it was trained"]["sentences"] == 30
    assert told["top features"]["D"]


def test_a_tagger_that_was_not_measured_says_how_to(capsys, corpus):
    fit = ("fit", "tagger", corpus, "--no-check", "--max-iter", "3")
    assert "--dev FILE" in run(capsys, *fit)[1]
    assert "not measured" not in run(capsys, *fit, "--dev", corpus)[1]


def test_fit_tells_what_to_expect_of_a_tagger_and_saves_the_same_model(capsys, corpus, tmp_path, monkeypatch):
    fit = ("fit", "tagger", corpus, "--max-iter", "20", "--jobs", 1)
    _, out, _ = run(capsys, *fit)
    assert "Accuracy   100.0%, 95% interval" in out
    assert "(cross-validation, 30 sentences)" in out
    model = (tmp_path / "train.handful").read_bytes()
    code, out, _ = run(capsys, *fit, "--json")
    check = json.loads(out)["check"]
    assert (code, check["metric"], check["scores"]) == (0, "accuracy", {"accuracy": 1.0})
    assert (check["n_tested"], check["n_trained"], check["high"]) == (30, 24, 1.0)
    assert check["low"] == pytest.approx(0.975, abs=0.001)
    assert run(capsys, *fit, "--dev", corpus, "--json")[1].find('"check": null') > 0
    assert json.loads(run(capsys, *fit, "--no-check", "--json")[1])["check"] is None
    monkeypatch.setattr(tagger_check, "MOST_CHECKED", 29)
    assert "not measured" in run(capsys, *fit)[1]
    assert (tmp_path / "train.handful").read_bytes() == model, "what is measured changes nothing of what is saved"


def test_a_check_holds_out_neighbors_together():
    kinds = ["B-PER", "B-LOC"]
    text = [[f"name{name}", "said"] for name in range(25) for _ in range(4)]  # a name and its tag for a while
    tags = [[kinds[name % 2], "O"] for name in range(25) for _ in range(4)]
    tagger = CRF(templates=["word[0]"])
    check = tagger_check.check_tagger(tagger, text, tags, with_spans=True)
    assert (check.metric, check.n_tested, check.n_trained) == ("f1", 100, 80)
    assert check.low <= check.scores["f1"] <= check.high
    assert check.scores["f1"] < 0.7, "names of sentences that were held out are new"
    many = tagger_check.check_tagger(tagger, text * 5, tags * 5, with_spans=True)
    assert (many.n_tested, many.scores["f1"]) == (100, 1.0), "a fifth of many"
    assert tagger_check.check_tagger(tagger, text[:9], tags[:9], with_spans=True) is None


def test_a_check_tells_how_good_names_are_that_were_not_seen():
    """The same names over and over, known by heart: only names that are held out on purpose tell what others will be worth."""
    rng = np.random.default_rng(0)
    text = [["said", f"{rng.choice(list('abcdefghijkl'))}x", "today"] for _ in range(120)]
    tags = [["O", "B-PER" if row[1] < "g" else "B-LOC", "O"] for row in text]
    check = tagger_check.check_tagger(CRF(templates=["word[0]"]), text, tags, with_spans=True)
    assert check.scores["f1"] == 1.0
    assert (check.new_names.known, check.new_names.by_name) == (1.0, True)
    assert check.new_names.n >= tagger_check.FEWEST_NEW
    assert check.new_names.f1 < 0.6
    new = [["said", f"name{i // 2}", "today"] for i in range(120)]  # each of them in two neighbors
    check = tagger_check.check_tagger(
        CRF(templates=["word[-1]", "word[0]"]), new, [["O", "B-PER", "O"]] * 120, with_spans=True
    )
    assert (check.new_names.known, check.new_names.n, check.new_names.f1) == (0.0, 120, 1.0)
    assert not check.new_names.by_name


def test_fit_tells_what_to_expect_of_other_names(capsys, tmp_path):
    path = tmp_path / "names.tsv"
    path.write_text("".join(f"said\tO\n{'xyz'[i % 3] * 3}\tB-PER\ntoday\tO\n\n" for i in range(90)))
    fit = ("fit", "tagger", path, "--max-iter", "20", "--jobs", 1)
    assert "New names " in run(capsys, *fit)[1]
    path.write_text("said\tO\nXerxes\tB-PER\ntoday\tO\n\n" * 12)
    code, out, _ = run(capsys, *fit)  # too few names to tell how it does on others
    assert (code, "F1 " in out, "New names" in out) == (0, True, False)


def test_the_hint_names_the_columns_that_are_read(capsys, tmp_path):
    path = tmp_path / "names.tsv"
    path.write_text("Rome\tNNP\tB-LOC\nfell\tVBD\tO\n\nOld\tNNP\tB-LOC\nRome\tNNP\tI-LOC\nrose\tVBD\tO\n\n" * 5)
    code, out, _ = run(capsys, "fit", "tagger", path, "--max-iter", "10", "--encoding", "iobes")
    assert code == 0
    bare = tmp_path / "words.tsv"
    bare.write_text("Rome\nfell\n\nRome\nrose\n\n")
    code, _, err = run(capsys, "predict", tmp_path / "names.handful", bare)
    assert (code, err.count("\n")) == (1, 1)
    code, out, _ = run(capsys, "predict", tmp_path / "names.handful", path)
    assert code == 0
    assert [line.split("\t")[3] for line in out.splitlines()[1:3]] == ["B-LOC", "O"]


def test_a_tagged_corpus_needs_no_target(capsys, corpus, monkeypatch, tmp_path):
    monkeypatch.setenv("HANDFUL_RUNS", str(tmp_path / "runs"))
    raw = tmp_path / "raw.txt"
    raw.write_text("the bird sleeps\n" * 20)
    settings = ("--labels", "4", "--n-splits", "2", "--methods", "crf", "--jobs", "1")
    code, out, _ = run(capsys, "compare", corpus, "--unlabeled", raw, *settings, "--json")
    found = json.loads(out)
    assert code == 0
    assert {row["method"] for row in found["methods"]} == {"frequent-tag", "crf"}
    assert found["facts"]["untagged sentences"] == 20
    table = tmp_path / "t.csv"
    table.write_text("x,y\n1,a\n2,b\n")
    code, _, _ = run(capsys, "compare", table)
    assert code == 2
    code, _, _err = run(capsys, "compare", table, "--target", "y", "--unlabeled", raw)
    assert code == 2


def test_the_columns_of_the_hint_are_enough(capsys, tmp_path):
    path, short = tmp_path / "names.tsv", tmp_path / "short.tsv"
    path.write_text("Rome\tNNP\tB-NP\tB-LOC\nfell\tVBD\tO\tO\n\n" * 5)
    short.write_text("Rome\tNNP\nfell\tVBD\n\n")
    options = "--layout", "token,pos,chunk,ner", "--tag", "ner", "--max-iter", "10"
    code, out, _ = run(capsys, "fit", "tagger", path, *options)
    assert code == 0
    code, out, _ = run(capsys, "predict", tmp_path / "names.handful", short)
    assert code == 0
    assert [line.split("\t")[:3] for line in out.splitlines()[1:3]] == [["Rome", "NNP", "B-LOC"], ["fell", "VBD", "O"]]


def test_options_that_a_tagger_has_no_use_for_are_refused(capsys, corpus, tmp_path):
    run(capsys, "fit", "tagger", corpus, "--max-iter", "1")
    code, out, _err = run(capsys, "predict", tmp_path / "train.handful", corpus, "--column", "mine")
    assert (code, out) == (2, "")


def test_training_goes_on_from_a_checkpoint(capsys, corpus, tmp_path, monkeypatch):
    from handful.tagging.crf import CRF

    checkpoint = tmp_path / "run"
    options = "--max-iter", "10", "--resume", checkpoint
    assert run(capsys, "fit", "tagger", corpus, *options)[0] == 0
    once = (tmp_path / "train.handful").read_bytes()
    assert checkpoint.exists()
    assert run(capsys, "fit", "tagger", corpus, *options)[0] == 0
    assert (tmp_path / "train.handful").read_bytes() == once

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(CRF, "fit", stop)
    assert run(capsys, "fit", "tagger", corpus, *options)[0] == 130
    assert (tmp_path / "train.handful").read_bytes() == once


@pytest.mark.parametrize("method", ["crf", "stacked", "prototypes", "condensed"])
def test_every_method_is_fitted_and_predicts(capsys, method, corpus, tmp_path):
    raw, model = tmp_path / "raw.txt", tmp_path / "m.handful"
    raw.write_text("the bird sleeps\na dog barks\n" * 10)
    options = "--method", method, "--unlabeled", raw, "--max-iter", 20, "--n-clusters", 4, "--jobs", 1
    code, out, err = run(capsys, "fit", "tagger", corpus, *options, "--dev", corpus, "-o", model, "--json")
    assert code == 0, err
    assert json.loads(out)["dev"]["accuracy"] > 0.9
    code, out, err = run(capsys, "predict", model, raw)
    assert code == 0, err
    assert [line.split("\t")[1] for line in out.splitlines()[1:4]] == ["D", "N", "V"]


def test_too_little_raw_text_is_told_and_not_read(capsys, corpus, tmp_path):
    raw, alone, both = tmp_path / "raw.txt", tmp_path / "alone.handful", tmp_path / "both.handful"
    raw.write_text("the bird sleeps\na dog barks\n")
    options = "--max-iter", 5, "--jobs", 1, "-o"
    assert run(capsys, "fit", "tagger", corpus, *options, alone)[0] == 0
    code, _, err = run(capsys, "fit", "tagger", corpus, "--unlabeled", raw, *options, both)
    assert (code, "--unlabeled: not used" in err) == (0, True)
    assert load(both).weights_.tolist() == load(alone).weights_.tolist()
    code, _, err = run(capsys, "fit", "tagger", corpus, "--unlabeled", raw, "--n-clusters", 2, *options, both)
    assert (code, "not used" in err) == (0, False), "clusters that are asked for are made"


def test_what_a_method_cannot_use_is_refused(capsys, corpus, tmp_path):
    clusters = tmp_path / "clusters.txt"
    clusters.write_text("0\tthe\t3\n10\tdog\t2\n11\tbarks\t2\n")
    for options, says in [
        (("--method", "stacked"), "--method stacked: needs raw text. Add --unlabeled"),
        (("--method", "stacked", "--clusters", clusters), "--clusters: only for --method crf"),
        (("--clusters", clusters, "--unlabeled", corpus), "--clusters: not with --unlabeled"),
    ]:
        code, _, err = run(capsys, "fit", "tagger", corpus, *options)
        assert (code, says in " ".join(err.split())) == (2, True), err
    assert run(capsys, "fit", "tagger", corpus, "--clusters", clusters, "--max-iter", 5)[0] == 0


def test_what_stands_beside_a_text_stays_in_json(capsys, corpus, tmp_path):
    assert run(capsys, "fit", "tagger", corpus, "--max-iter", "2")[0] == 0
    texts, answers = tmp_path / "texts.jsonl", tmp_path / "answers.jsonl"
    beside = {"id": "a-1", "from": {"page": 3}, "tag": "mine", "long": "x" * 600}
    texts.write_text(
        json.dumps({"text": "The dog barks. A bird sleeps.", **beside}) + '\n{"text": "The dog sleeps."}\n'
    )
    assert run(capsys, "predict", tmp_path / "train.handful", texts, "-o", answers)[0] == 0
    first, second, third = map(json.loads, answers.read_text().splitlines())
    for row in (first, second):
        assert (row["record"], row["id"], row["from"]) == (0, "a-1", {"page": 3})
        assert isinstance(row["tag"], list)  # the tagger's own
        assert "long" not in row
    assert (third["record"], "id" in third) == (1, False)


@pytest.mark.parametrize("name", ["out.ann", "out.xlsx", "out.csv.gz"])
def test_endings_that_are_not_written_are_refused(capsys, corpus, tmp_path, name):
    assert run(capsys, "fit", "tagger", corpus, "--max-iter", "2")[0] == 0
    code, _, err = run(capsys, "predict", tmp_path / "train.handful", corpus, "-o", tmp_path / name)
    assert (code, err.count("\n")) == (2, 1)
    assert not (tmp_path / name).exists()


def test_the_only_column_of_tags_in_the_development_set_needs_no_name(capsys, corpus, tmp_path):
    trees = tmp_path / "trees.conllu"
    rows = [line.split("\t") for line in corpus.read_text().splitlines()]
    cells = [f"{n % 4 + 1}\t{row[0]}\t_\tX\t{row[1]}\t_\t0\troot\t_\t_" if row[0] else "" for n, row in enumerate(rows)]
    trees.write_text("\n".join(cells) + "\n")
    asked = ["fit", "tagger", trees, "--tag", "xpos", "--max-iter", "20", "--json"]
    code, out, err = run(capsys, *asked, "--dev", corpus)
    assert code == 0, err
    assert json.loads(out)["dev"]["accuracy"] == 1.0
    several = tmp_path / "several.tsv"
    several.write_text("the\tX\tD\ndog\tX\tN\n\n")
    code, _, err = run(capsys, *asked, "--dev", several)
    assert code != 0


def test_other_tags_in_the_development_set_are_refused_before_training(capsys, corpus, tmp_path):
    names = tmp_path / "names.tsv"
    names.write_text("Rome\tB-LOC\nfell\tO\n\nOld\tB-LOC\nRome\tI-LOC\n\n" * 5)
    code, _, err = run(capsys, "fit", "tagger", names, "--dev", corpus)
    assert (code, err.count("\n")) == (1, 1)


def test_answers_are_scored_against_tags_of_the_same_kind(capsys, corpus, tmp_path):
    model, data = tmp_path / "m.handful", tmp_path / "new.tsv"
    assert run(capsys, "fit", "tagger", corpus, "--max-iter", "20", "-o", model)[0] == 0
    data.write_text("the\tD\ncat\tN\n\na\tN\ndog\tN\n\n")
    run(capsys, "predict", model, data)[2]
    answers = tmp_path / "answers.tsv"
    assert run(capsys, "predict", model, data, "-o", answers)[0] == 0
    assert "Against" not in run(capsys, "predict", model, answers)[2], "its own answers tell nothing"
    data.write_text("the\tD\ncat\tN\n\na\t_\ndog\t_\n\n")
    run(capsys, "predict", model, data)[2]
    for tags in ("OOOO", "____", "NNNN", "XYXY"):
        data.write_text("the\t{}\ncat\t{}\n\na\t{}\ndog\t{}\n\n".format(*tags))
        assert run(capsys, "predict", model, data)[2] == "4 tokens of 2 sentences tagged.\n"


def test_answers_are_scored_as_spans_where_they_are_spans(capsys, tmp_path):
    model, data = tmp_path / "m.handful", tmp_path / "a.tsv"
    data.write_text("Rome\tB-LOC\nfell\tO\n\nOslo\tB-LOC\nstood\tO\n\nit\tO\nstood\tO\n\n" * 8)
    assert run(capsys, "fit", "tagger", data, "--max-iter", "20", "-o", model)[0] == 0
    data.write_text("Rome\tI-LOC\nfell\tO\n\nit\tB-LOC\nstood\tO\n\n")
    run(capsys, "predict", model, data)[2]
    data.write_text("Rome\tO\nfell\tO\n\n")  # as a file that is to be tagged may come
    assert run(capsys, "predict", model, data)[2] == "2 tokens of 1 sentence tagged.\n"


def test_a_model_in_place_of_data_is_called_a_model(capsys, corpus, tmp_path):
    model = tmp_path / "m.handful"
    assert run(capsys, "fit", "tagger", corpus, "--max-iter", "5", "-o", model)[0] == 0
    told = (1, f"handful: {model}: expected text, got a model of handful. Name the data, not the model.\n")
    asked = [["fit", "tagger"], ["fit", "parser"], ["fit", "senses"], ["predict", model], ["compare"]]
    for command in [*asked, ["fit", "tagger", corpus, "-o", tmp_path / "n.handful", "--dev"]]:
        code, _, err = run(capsys, *command, model)
        assert (code, err) == told, command
    text = tmp_path / "text.handful"
    text.write_text(corpus.read_text())
    assert "must not replace" in run(capsys, "fit", "tagger", text)[2]


def test_text_is_told_from_a_table(capsys, corpus, tmp_path):
    prose, cells = tmp_path / "prose.txt", tmp_path / "x.csv"
    prose.write_text("In Rome, it rained.\nIn Oslo, it snowed.\nIn Lima, it shone.\n")
    code, _, _ = run(capsys, "fit", "tagger", prose)
    assert code == 1
    cells.write_text("text\nIt rained in Rome.\nNobody, it seems, knew why; or when.\n")
    assert run(capsys, "fit", "tagger", corpus, "--max-iter", "5", "-o", tmp_path / "m.handful")[0] == 0
    code, _, _err = run(capsys, "predict", tmp_path / "m.handful", cells)
    assert code == 0


@pytest.fixture
def ctrl_c():
    """Take Ctrl-C as it is: a shell that runs the tests in the background lets them ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_fit_that_is_ended_leaves_a_whole_model_or_none(number, code, capsys, corpus, tmp_path, monkeypatch):
    def end(*_, **__):
        os.kill(os.getpid(), number)

    model = tmp_path / "train.handful"
    words = ("fit", "tagger", corpus, "--max-iter", "10")
    with monkeypatch.context() as patched:
        patched.setattr(CRF, "fit", end)
        assert (run(capsys, *words)[0], model.exists()) == (code, False)
    monkeypatch.setattr(tagger_check, "check_tagger", end)
    assert run(capsys, *words)[0] == code
    assert load(model).training_["sentences"] == 30
    monkeypatch.setattr(CRF, "fit", end)
    before = model.read_bytes()
    assert run(capsys, *words)[0] == code
    assert model.read_bytes() == before


def test_one_tag_alone_is_told_without_the_name_of_a_class(capsys, tmp_path):
    (tmp_path / "one.tsv").write_text("the\tO\ndog\tO\n\n" * 5)
    code, _, _err = run(capsys, "fit", "tagger", tmp_path / "one.tsv")
    assert code == 1


@pytest.mark.parametrize("name", ["tags.tsv", "tags.txt"])
def test_a_file_of_tokens_and_tags_is_tagged_and_scored(capsys, tmp_path, name):
    """Tokens and tags in a .txt file were taken for text, and fewer columns than in training were refused."""
    rows = [("Rome", "NNP", "I-NP", "B-LOC"), ("fell", "VBD", "I-VP", "O")]
    (tmp_path / "train.tsv").write_text(("\n".join(map("\t".join, rows)) + "\n\n") * 12)
    model = tmp_path / "m.handful"
    settings = ["--templates", "general", "--no-check", "--jobs", 1]
    assert run(capsys, "fit", "tagger", tmp_path / "train.tsv", "--model", model, *settings)[0] in (None, 0)
    (tmp_path / name).write_text("Rome\tB-LOC\nfell\tO\n\nRome\tB-LOC\nfell\tB-LOC\n\n")
    code, _, err = run(capsys, "predict", model, tmp_path / name, "-o", tmp_path / "out.tsv")
    assert code in (None, 0), err
    lines = (tmp_path / "out.tsv").read_text().splitlines()
    assert lines[1].split("\t")[0] == "Rome"
    assert [line.split("\t")[2] for line in lines[1:] if line] == ["B-LOC", "O", "B-LOC", "O"]
