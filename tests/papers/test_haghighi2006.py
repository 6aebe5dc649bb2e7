"""The plan of Haghighi and Klein 2006 knows every claim of its paper."""

from __future__ import annotations

from handful.data.records import Sentence
from handful.representations.similarity import ContextSimilarity
from papers.claims import Settings, load_paper
from papers.haghighi2006 import plans
from papers.haghighi2006 import plans as texts
from papers.haghighi2006.plans import draw_transitions, transition_shares


def test_every_claim_is_measured_or_told_why_not(monkeypatch, tmp_path):
    monkeypatch.setenv("HANDFUL_DATA", str(tmp_path))
    monkeypatch.setattr(plans, "_made_ads", lambda bench: {})
    claims = load_paper("haghighi2006").claims
    found = plans.run(Settings(quick=True))
    assert {claim.id for claim in claims if not claim.id.startswith("made-ads")} == set(found.not_run)
    assert "wsj-sample-pos" in found.not_run["english-48k-sim"]
    assert "not to be had" in found.not_run["ads-sim"]


def test_parts_of_speech_are_compared_in_the_order_of_the_paper():
    from papers.generated_english import make_tagged_sentences

    sentences = [tree.sentence for tree in make_tagged_sentences(40, random_state=0)]
    words, tags = [s.tokens for s in sentences], [s["pos"] for s in sentences]
    similarity = ContextSimilarity().fit(words)
    values, found = plans._english(plans._Bench(Settings(quick=True)), words, tags, similarity, "english-48k")
    assert {c.id for c in load_paper("haghighi2006").claims if c.id.startswith("english-48k")} == set(values)
    assert values["english-48k-sim"] == plans.accuracy(tags, found)
    assert values["english-48k-gain"] == values["english-48k-sim"] - values["english-48k-proto"]
    # prototypes are locked to the label they mostly carry, so the other tokens are the harder ones
    assert values["english-48k-sim-others"] < values["english-48k-sim"]


def test_fields_are_compared_in_the_order_of_the_paper():
    from papers.generated import APARTMENT_FIELDS, APARTMENT_PROTOTYPES, make_apartment_ads

    ads = make_apartment_ads(12, random_state=0)
    words, tags = [ad.tokens for ad in ads], [ad["field"] for ad in ads]
    lists = {label: mine for label, mine in APARTMENT_PROTOTYPES.items() if label in APARTMENT_FIELDS}
    bench = plans._Bench(Settings(quick=True))
    found = plans._fields(bench, "made-ads", words, tags, lists, APARTMENT_FIELDS, plans._topic_similarity(words))
    for before, after in (("base", "proto"), ("proto", "sim"), ("sim", "bound")):
        step = found[f"made-ads-{after}"] - found[f"made-ads-{before}"]
        assert found[f"made-ads-{after}-over-{before}"] == step
        assert 0 < found[f"made-ads-{after}"] < 100


def test_transition_figure(tmp_path):
    gold, found = [["D", "N", "V"], ["D", "N"]], [["D", "N", "N"], ["N", "N"]]
    assert transition_shares(found, ["D", "N", "V"]).tolist() == [[0, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert draw_transitions(tmp_path / "figure.svg", gold, found).stat().st_size > 1000


def test_section_2_begins_where_the_list_of_files_says(monkeypatch, tmp_path):
    monkeypatch.setenv("HANDFUL_DATA", str(tmp_path))
    monkeypatch.setattr(texts, "load", lambda name: [Sentence((str(n),), {"pos": ("CD",)}) for n in range(4_000)])
    assert texts.wsj_sections(2)[0] == [("3914",), ("3915",)]
    (tmp_path / "ptb-wsj-pos-train.files.txt").write_text("wsj_0001 10\nwsj_0199 20\nwsj_0200 3970\n")
    assert texts.wsj_sections(2)[0] == [("30",), ("31",)]
