"""Model pages in a real browser: what Python predicts, no network, nothing that cells can do."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.tree import DecisionTreeClassifier
from studio_browser import findings, sideways

from handful import export_html
from handful.data.table import as_table
from handful.models.condensed_rows import CondensedModel
from handful.models.table_model import TableModel

pytestmark = pytest.mark.browser

HOSTILE = (
    '<img src=x onerror="alert(1)">',
    "</script><script>alert(2)</script>",
    '"><svg onload=alert(3)>',
    "{{7*7}} ${8}",
)
WORDS = ["slow", "refund", "late", "Straße", "great", "naïve", "ÉTÉ", "don't", "x_1", "価格", "a", "B2B", "½"]


def make_rows(n: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)

    def some(*cells: str) -> list[str]:
        return rng.choice(cells, n).tolist()

    numbers = rng.gamma(2.0, 900.0, n)
    return pl.DataFrame(
        {
            "price": [f"${x:,.2f}" if k else f"{x:.1f}" for x, k in zip(numbers, rng.random(n) < 0.5, strict=True)],
            "rate": [f"{x:.3f}%" for x in rng.normal(0, 5, n)],
            "size": [f"{x:.4e}" if x > 0 else "" for x in rng.normal(1, 1, n)],
            'a,b;"c"': some("x", "y, z", 'say "hi"', "line\nbreak", "NA", " x "),
            HOSTILE[0]: some(*HOSTILE, "plain", "__proto__", "constructor"),
            "day": [f"{d}/{m}/20{y}" for d, m, y in rng.integers([1, 1, 10], [29, 13, 24], (n, 3)).tolist()],
            "at": [f"2024-0{m}-1{d}T{h:02}:30:15" for m, d, h in rng.integers([1, 0, 0], [9, 9, 24], (n, 3)).tolist()],
            "clock": [f"{h}:{m:02} pm" for h, m in rng.integers([1, 0], [13, 60], (n, 2)).tolist()],
            "note": [" ".join(words) for words in rng.choice(WORDS, (n, 5)).tolist()],
        }
    )


ROWS = make_rows(400, 0)
SUMS = np.array([float(cell.replace("$", "").replace(",", "")) for cell in ROWS["price"]])
LABELS = np.where(SUMS < 900, HOSTILE[1], np.where(ROWS["note"].str.contains("refund"), "zurück", "other"))
KINDS = dict.fromkeys(["price", "rate", "size"], "numeric") | {"note": "text", "day": "datetime", "at": "datetime"}


def make_model(kind: str) -> Any:
    if kind == "condensed":
        return CondensedModel(40).fit(as_table(ROWS, columns=KINDS), LABELS)
    table = as_table(ROWS, columns=KINDS | ({"note": "skip"} if kind == "linear" else {}))
    method = DecisionTreeClassifier(max_depth=6, random_state=0) if kind == "tree" else kind
    method = {"linear": "logistic-regression", "text-linear": "linear-svm", "forest": "random-forest"}.get(kind, method)
    params = {"n_estimators": 20} if kind == "forest" else None
    model = TableModel(method, params=params, text="words").fit(table, LABELS)
    return model.calibrate(table.values(), LABELS) if kind == "linear" else model


def open_page(chromium: Any, html: str, **settings: Any) -> tuple[Any, list[str]]:
    wrong: list[str] = []
    page = chromium.new_page(**settings)
    page.on("console", lambda message: message.type in ("error", "warning") and wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: request.url.startswith("http") and wrong.append(request.url))
    page.set_content(html)
    return page, wrong


@pytest.mark.parametrize("kind", ["condensed", "linear", "text-linear", "tree", "forest"])
def test_the_browser_predicts_what_python_does(kind: str, chromium: Any, tmp_path: Any) -> None:
    model, new = make_model(kind), make_rows(1_000, 1)
    new = new.with_columns(
        rate=pl.when(pl.int_range(pl.len()) % 9 == 0).then(pl.lit("unknown")).otherwise("rate"),
        day=pl.when(pl.int_range(pl.len()) % 7 == 0).then(pl.lit("31/2/2020")).otherwise("day"),
    )
    page, wrong = open_page(chromium, export_html(model))
    page.fill("#csv", new.write_csv())
    page.click("#predict")
    with page.expect_download() as download:
        page.click("#download")
    written = list(csv.DictReader(io.StringIO(download.value.path().read_text(), newline="")))
    labels, confidence = model.predict_with_confidence(new)
    assert [row["prediction"] for row in written] == labels.tolist()
    assert np.abs(np.array([float(row["confidence"]) for row in written]) - confidence).max() < 1e-4
    assert [row["note"] for row in written] == new["note"].to_list()
    assert wrong == []
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_and_fits_a_phone(scheme: Any, chromium: Any) -> None:
    html = export_html(make_model("condensed"))
    page, wrong = open_page(chromium, html, viewport={"width": 390, "height": 844}, color_scheme=scheme)
    page.fill("#csv", ROWS.head(20).write_csv())
    page.click("#predict")
    assert page.locator("#predictions tbody tr").count() == 20
    assert sideways(page) <= 0
    page.close()
    context = chromium.new_context(bypass_csp=True, color_scheme=scheme)  # axe is a script of its own
    page = context.new_page()
    page.set_content(html)
    assert findings(page) == []
    context.close()
    assert wrong == []


def test_one_row_is_predicted_as_it_is_typed(chromium: Any) -> None:
    model = CondensedModel(2).fit({"size": [1.0, 1.5, 8.0, 8.5]}, ["small", "small", "large", "large"])
    page, wrong = open_page(chromium, export_html(model))
    seen = []
    for cell in ("1", "9", "many"):
        page.fill("#c0", cell)
        seen.append((page.inner_text("#result .label"), page.locator("#result .warning").count()))
    assert [label for label, _ in seen[:2]] == ["small", "large"]
    assert [n for _, n in seen] == [0, 0, 1]
    assert "like row" in page.inner_text("#result")
    page.fill("#csv", "other\n1\n")
    page.click("#predict")
    assert "size" in page.inner_text("#summary")
    assert page.locator("#predictions").is_hidden()
    assert wrong == []
    page.close()


def test_nothing_but_the_script_of_the_page_runs(chromium: Any) -> None:
    page = open_page(chromium, export_html(make_model("condensed")))[0]
    assert page.evaluate("() => document.querySelectorAll('img, svg, script').length") == 2
    blocked = page.evaluate(
        """async () => {
            const policy = new Promise((done) => document.addEventListener("securitypolicyviolation", done));
            const other = document.createElement("script");
            other.textContent = "window.ran = 1";
            document.body.append(other);
            const sent = await fetch("https://example.org").then(() => "sent", () => "refused");
            return [(await policy).violatedDirective, window.ran === undefined, sent];
        }"""
    )
    assert json.dumps(blocked) == '["script-src-elem", true, "refused"]'
    page.close()
