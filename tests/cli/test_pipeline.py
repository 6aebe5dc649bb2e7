"""From raw text to trees, and what the commands hand each other."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise

import pytest
from cli_run import run
from quick_start import Process

from handful.cli import main
from handful.data.conll import read_conllu
from handful.data.tagged import read_tagged
from papers.generated_english import make_tagged_sentences

TREE = """# sent_id = {0}
1-2\tOldies\t_\t_\t_\t_\t_\t_\t_\t_
1\tOld\told\tADJ\tJJ\t_\t2\tamod\t_\tKept=Yes
2\tdogs\tdog\tNOUN\tNNS\tNumber=Plur\t3\tnsubj\t_\t_
3\tbarked\tbark\tVERB\tVBD\t_\t0\troot\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

"""
RAW = "Old dogs barked, barked. Old dogs barked.\n\nDogs barked!\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a treebank, taggers for two of its columns, parsers of one and two, and a tagger of spans."""
    place = tmp_path_factory.mktemp("pipeline")
    (place / "trees.conllu").write_text("".join(TREE.format(n) for n in range(8)))
    (place / "spans.tsv").write_text("Old\tB-A\ndogs\tI-A\nbarked\tO\n.\tO\n\n" * 8)
    (place / "raw.txt").write_text(RAW)
    fits = [
        ("tagger", "trees.conllu", "--tag", "xpos", "--max-iter", "20", "-o", "xpos.handful"),
        ("tagger", "trees.conllu", "--tag", "upos", "--max-iter", "20", "-o", "upos.handful"),
        ("tagger", "spans.tsv", "--max-iter", "20", "-o", "spans.handful"),
        ("parser", "trees.conllu", "--tag", "xpos", "--order", "1", "-o", "parser.handful"),
        ("parser", "trees.conllu", "--order", "1", "-o", "both.handful"),
    ]
    for kind, data, *options in fits:
        options[-1] = str(place / options[-1])
        with pytest.raises(SystemExit) as done:
            main(["fit", kind, str(place / data), *options])
        assert done.value.code == 0
    return place


def test_from_raw_text_to_trees(capsys, folder, tmp_path):
    target = tmp_path / "trees.conllu"
    models = folder / "xpos.handful", folder / "parser.handful"
    code, _, _err = run(capsys, "predict", *models, folder / "raw.txt", "-o", target)
    assert code == 0
    trees = list(read_conllu(target))
    assert trees[1].heads == (2, 3, 0, 3)
    assert trees[1].sentence["xpos"] == ("JJ", "NNS", "VBD", ".")
    for tree in trees:
        for token, cell in zip(tree.sentence.tokens, tree.sentence["misc"], strict=True):
            start, end = map(int, dict(part.split("=") for part in cell.split("|"))["TokenRange"].split(":"))
            assert RAW[start:end] == token
    code, out, _ = run(capsys, "predict", *models, folder / "raw.txt")
    assert out == target.read_text()
    rows = tmp_path / "trees.jsonl"
    assert run(capsys, "predict", *models, folder / "raw.txt", "-o", rows)[0] == 0
    told = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [row["head"] for row in told] == [list(tree.heads) for tree in trees]


@pytest.mark.corpus
def test_from_real_raw_text_to_trees_and_spans(capsys, data_folder, tmp_path):
    def parts(name, end):
        return gzip.decompress((data_folder / name).read_bytes()).decode().split("\n\n")[:end]

    treebank = parts("en_ewt-ud-dev.conllu.gz", 500)
    asked = [
        line.removeprefix("# text = ") for part in treebank[250:] for line in part.splitlines() if "# text = " in line
    ]
    files = {name: tmp_path / name for name in ("trees.conllu", "names.tsv", "raw.txt", "parsed.conllu", "spans.jsonl")}
    files["trees.conllu"].write_text("\n\n".join(treebank[:250]) + "\n\n")
    files["names.tsv"].write_text("\n\n".join(parts("wikigold.tsv.gz", 150)) + "\n\n")
    text = "\n\n".join(asked) + "\n"
    files["raw.txt"].write_text(text)
    models = {name: tmp_path / f"{name}.handful" for name in ("xpos", "parser", "names")}
    short = ("--max-iter", "15", "-o")
    assert run(capsys, "fit", "tagger", files["trees.conllu"], "--tag", "xpos", *short, models["xpos"])[0] == 0
    parser = ("--tag", "xpos", "--order", "1", "-o", models["parser"])
    assert run(capsys, "fit", "parser", files["trees.conllu"], *parser)[0] == 0
    assert run(capsys, "fit", "tagger", files["names.tsv"], *short, models["names"])[0] == 0
    both = models["xpos"], models["parser"]
    assert run(capsys, "predict", *both, files["raw.txt"], "-o", files["parsed.conllu"])[0] == 0
    trees = list(read_conllu(files["parsed.conllu"]))
    assert all(0 in tree.heads for tree in trees)
    cells = [cell for tree in trees for cell in tree.sentence["misc"]]
    places = [cell.split("TokenRange=")[1].split("|")[0].split(":") for cell in cells]
    words = [text[int(start) : int(end)] for start, end in places]
    assert words == [token for tree in trees for token in tree.sentence.tokens]
    assert "".join("".join(words).split()) == "".join(text.split()), "nothing is lost"
    assert run(capsys, "predict", models["names"], files["raw.txt"], "-o", files["spans.jsonl"])[0] == 0
    rows = [json.loads(line) for line in files["spans.jsonl"].read_text().splitlines()]
    found = [(row, span) for row in rows for span in row["spans"]]
    assert len(found) > 20
    for row, span in found:
        inside = [
            token for token, at in zip(row["tokens"], row["start"], strict=True) if span["start"] <= at < span["end"]
        ]
        assert "".join(text[span["start"] : span["end"]].split()) == "".join(inside)


def test_a_parser_of_two_columns_needs_a_tagger_for_each(capsys, folder):
    both, text = folder / "both.handful", folder / "raw.txt"
    code, out, err = run(capsys, "predict", folder / "upos.handful", folder / "xpos.handful", both, text)
    assert code == 0, err
    assert [line.split("\t")[3:5] for line in out.splitlines() if line][-1] == ["PUNCT", "."]
    code, _, err = run(capsys, "predict", folder / "xpos.handful", both, text)
    assert (code, err.count("\n")) == (1, 1)


def test_conllu_in_conllu_out(capsys, folder, tmp_path):
    trees, target = folder / "trees.conllu", tmp_path / "tagged.conllu"
    assert run(capsys, "predict", folder / "xpos.handful", trees, "-o", target)[0] == 0
    before, after = list(read_conllu(trees)), list(read_conllu(target))
    assert [tree.heads for tree in after] == [tree.heads for tree in before]
    assert [tree.labels for tree in after] == [tree.labels for tree in before]
    assert [tree.extras for tree in after] == [tree.extras for tree in before]
    generator, *comments = [line for tree in after for line in tree.sentence.comments]
    assert generator == "# generator = handful predict"
    assert comments == [line for tree in before for line in tree.sentence.comments]
    assert after[0].sentence["misc"][0].startswith("Kept=Yes|Confidence=0.")
    again = tmp_path / "again.conllu"
    assert run(capsys, "predict", folder / "xpos.handful", target, "-o", again)[0] == 0
    assert again.read_text() == target.read_text(), "what was said before is replaced, not said twice"
    assert run(capsys, "predict", folder / "spans.handful", trees, "-o", again)[0] == 0
    assert "tag=B-A|Confidence=" in next(iter(read_conllu(again))).sentence["misc"][0]
    direct, over = tmp_path / "direct.conllu", tmp_path / "over.conllu"
    run(capsys, "predict", folder / "xpos.handful", folder / "parser.handful", trees, "-o", direct)
    run(capsys, "predict", folder / "parser.handful", target, "-o", over)
    assert [tree.heads for tree in read_conllu(direct)] == [tree.heads for tree in read_conllu(over)]


def test_the_next_command_knows_a_tag_from_a_confidence(capsys, folder, tmp_path):
    words, tagged = tmp_path / "words.tsv", tmp_path / "tagged.tsv"
    words.write_text("Old\ndogs\nbarked\n.\n\n")
    assert run(capsys, "predict", folder / "xpos.handful", words, "-o", tagged)[0] == 0
    assert tagged.read_text().startswith("# global.columns = TOKEN XPOS CONFIDENCE\nOld\tJJ\t0.")
    code, _, err = run(capsys, "predict", folder / "parser.handful", tagged)
    assert (code, "Put a tagger before the parser" in err) == (2, True)
    assert read_tagged(tagged).tags == (("JJ", "NNS", "VBD", "."),)
    assert run(capsys, "predict", folder / "spans.handful", tagged, "-o", words)[0] == 0


@pytest.mark.parametrize("ending", ["tsv", "jsonl"])
def test_predictions_can_be_predicted_again(capsys, folder, tmp_path, ending):
    files = [folder / "raw.txt", *(tmp_path / f"{n}.{ending}" for n in range(3))]
    for source, target in pairwise(files):
        assert run(capsys, "predict", folder / "spans.handful", source, "-o", target)[0] == 0
    assert files[3].read_text() == files[2].read_text()
    if ending == "tsv":
        assert files[3].read_text().splitlines()[0] == "# global.columns = TOKEN START END GIVEN TAG CONFIDENCE"
    else:
        assert read_tagged(files[3]).tags[0][:3] == ("B-A", "I-A", "O")
        again = tmp_path / "again.handful"
        assert run(capsys, "fit", "tagger", files[3], "-o", again)[0] == 0


def test_json_lines_have_the_places_of_tokens_and_spans(capsys, folder, tmp_path):
    target = tmp_path / "spans.jsonl"
    texts = {"raw.txt": RAW, "tokens.txt": "Old dogs  barked .\n\nOld dogs barked .\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        assert run(capsys, "predict", folder / "spans.handful", tmp_path / name, "-o", target)[0] == 0
        rows = [json.loads(line) for line in target.read_text().splitlines()]
        for row in rows:
            cut = [text[a:b] for a, b in zip(row["start"], row["end"], strict=True)]
            assert cut == row["tokens"]
        assert rows[1]["spans"] == [{"start": text.rindex("Old"), "end": text.rindex("Old") + 8, "label": "A"}]
        assert rows[0]["tag"][:2] == ["B-A", "I-A"]
        assert read_tagged(target).tags[0] == tuple(rows[0]["tag"])
    given = tmp_path / "texts.jsonl"
    given.write_text('{"text": "Old dogs barked."}\n{"text": "Dogs!"}\n')
    assert run(capsys, "predict", folder / "spans.handful", given, "-o", target)[0] == 0
    assert json.loads(target.read_text().splitlines()[0])["spans"] == [{"start": 0, "end": 8, "label": "A"}]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("parser.handful", "xpos.handful", "raw.txt"), 1, "parser.handful: a model of trees. Name taggers first"),
        (("xpos.handful", "upos.handful", "parser.handful", "raw.txt"), 2, "no later model reads the tags 'upos'"),
        (("xpos.handful", "xpos.handful", "raw.txt"), 2, "two taggers fill the column 'xpos'"),
        (("xpos.handful", "parser.handful", "raw.txt", "--abstain", "0.5"), 2, "--abstain: not with a parser"),
        (("xpos.handful",), 2, "MODELS: missing"),
    ],
)
def test_models_that_cannot_work_together_are_refused(capsys, folder, monkeypatch, words, code, says):
    monkeypatch.chdir(folder)
    ended, out, err = run(capsys, "predict", *words)
    assert (ended, out) == (code, "")
    assert says in " ".join(err.split())
    assert "Traceback" not in err


def test_a_reader_that_has_enough_ends_the_command_well(folder, tmp_path):
    many = tmp_path / "many.txt"
    many.write_text("\n".join(" ".join(s.tokens) for s in (t.sentence for t in make_tagged_sentences(3000))) + "\n")
    done = Process(("predict", folder / "xpos.handful", many))
    assert done.stdout.readline().startswith(b"# global.columns")
    done.stdout.close()
    assert (done.stderr.read(), done.wait()) == (b"", 0)


@pytest.mark.parametrize(
    ("first", "second", "scheme"), [("B-A", "I-A", "IOB2"), ("I-A", "I-A", "IO"), ("B-A", "E-A", "IOBES")]
)
def test_how_sure_a_span_is_does_not_depend_on_how_it_is_written(first, second, scheme):
    """Taggers of spans know where they end; what they write may not."""
    from handful.data.records import Sentence
    from handful.models.pipeline import with_confidence
    from handful.tagging.crf import CRF

    single = {"IO": "I-A", "IOB2": "B-A", "IOBES": "S-A"}[scheme]
    words = [["old", "dogs", "barked"], ["Rex", "barked"], ["Max", "sat"]] * 4
    tags = [[first, second, "O"], [single, "O"], [single, "O"]] * 4
    tagger = CRF(encoding="iobes", strength=0.1, max_iter=30).fit(words, tags)
    assert tagger.scheme_ == scheme
    answers, sure = with_confidence(
        tagger, [Sentence(("Rex", "barked"), {}, ()), Sentence(("old", "dogs", "barked"), {}, ())]
    )
    assert answers == [[single, "O"], [first, second, "O"]]
    assert min(min(row) for row in sure) > 0.6
    assert max(max(row) for row in sure) <= 1
