"""The plan of Haghighi and Klein 2006 knows every claim of its paper."""

from __future__ import annotations

import tomllib

from handful.papers import Settings
from handful.papers.claims import Claim, paper_folder
from handful.papers.haghighi2006 import plans
from handful.papers.haghighi2006.figures import draw_transitions, transition_shares


def test_every_claim_is_measured_or_told_why_not(monkeypatch, tmp_path):
    monkeypatch.setenv("HANDFUL_DATA", str(tmp_path))
    monkeypatch.setattr(plans, "_made_ads", lambda bench: {})
    text = tomllib.loads((paper_folder("haghighi2006") / "paper.toml").read_text(encoding="utf-8"))
    claims = [Claim(**claim) for claim in text["claim"]]
    found = plans.run(Settings(quick=True))
    assert len({claim.id for claim in claims}) == len(claims)
    assert {claim.id for claim in claims if not claim.id.startswith("made-ads")} == set(found.not_run)
    assert "wsj-sample-pos" in found.not_run["english-48k-sim"]
    assert "not to be had" in found.not_run["ads-sim"]


def test_fields_are_compared_in_the_order_of_the_paper():
    from handful.corpora.make import APARTMENT_FIELDS, APARTMENT_PROTOTYPES, make_apartment_ads

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
