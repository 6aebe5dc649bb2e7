"""Label book, review and two people in a real browser, by keyboard; focus, live region, keys, contrast, forced colors."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from studio_browser import findings, sideways

pytestmark = pytest.mark.browser

BOOK = """
guidelines = "Even rows are low."
[[label]]
name = "low"
key = "w"
description = "Small numbers."
[[label]]
name = "high"
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two clear groups with suggestions, a sixth of them wrong."""
    path = tmp_path / "team.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["x", "y", "said", "sure", "class"])
        for i in range(120):
            said = "high" if (i % 2 == 0) == (i % 6 == 0) else "low"
            out.writerow([i % 2 * 5 + i % 7 / 10, i % 2 * 3 + i % 5 / 10, said, 0.5 if i % 6 == 0 else 0.9, ""])
    (tmp_path / "labels.toml").write_text(BOOK)
    return path


def start(serve: Any, table: Path, *more: str) -> Any:
    given = ("--target", "class", "--labels", table.parent / "labels.toml", "--annotator", "ann")
    return serve(table, *given, *more)


def row(page: Any) -> int:
    return int(page.locator("#item").get_attribute("data-row"))


def press(page: Any, key: str) -> None:
    before = page.locator("#item").get_attribute("data-row")
    page.keyboard.press(key)
    page.locator(f'#item:not([data-row="{before}"])').wait_for()


def test_label_book_by_keyboard(table, serve, visit):
    page = visit(start(serve, table).link)
    page.locator('[data-label="low"] kbd', has_text="w").wait_for()
    page.locator("#guide summary").focus()
    page.keyboard.press("Enter")
    page.locator("#guide-text", has_text="Small numbers").wait_for()
    page.locator("#work").focus()
    press(page, "w")
    page.keyboard.press("f")  # find a label by typing
    page.keyboard.type("hi")
    before = row(page)
    page.keyboard.press("Enter")
    page.locator(f'#item:not([data-row="{before}"])').wait_for()
    page.locator("#count", has_text="2 of").wait_for()
    page.keyboard.press("c")
    page.keyboard.type("look again")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("#item", has_text="look again").wait_for()
    page.locator("#tab-book").focus()
    page.keyboard.press("Enter")
    page.locator('[data-entry="low"]').focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("small")
    page.keyboard.press("Enter")
    page.locator('[data-entry="small"]').wait_for()
    assert findings(page) == []
    page.keyboard.press("z")
    page.locator('[data-entry="low"]').wait_for()
    page.get_by_role("button", name="Export the label book").click()
    page.locator("#said", has_text="team.labels.toml").wait_for()


def test_keys_can_be_changed_and_switched_off(table, serve, visit):
    page = visit(start(serve, table).link)
    page.keyboard.press("?")
    page.locator("#help summary").click()
    page.locator("#keys input[data-command=skip]").fill("k")
    page.keyboard.press("Tab")
    page.locator("#skip kbd", has_text="k").wait_for(state="attached")
    page.keyboard.press("Escape")
    before = row(page)
    page.keyboard.press("s")
    page.wait_for_timeout(300)
    assert row(page) == before
    press(page, "k")
    page.keyboard.press("?")
    page.locator("#single-keys").uncheck()
    page.keyboard.press("Escape")
    before = row(page)
    page.keyboard.press("k")
    page.keyboard.press("w")
    page.wait_for_timeout(300)
    assert row(page) == before


def test_review_in_groups_by_keyboard(table, serve, visit):
    page = visit(start(serve, table, "--review", "said", "--confidence", "sure").link)
    assert page.locator("#item dt").all_inner_texts() == ["x", "y"]
    page.get_by_role("tab", name="Rows").click()
    page.locator("#show").select_option("review:low")
    page.locator("#threshold").fill("80")
    page.keyboard.press("Tab")
    page.locator("#found", has_text="40 rows").wait_for()
    page.locator("#review-text", has_text="Nothing is known").wait_for()
    page.locator("#list input").first.focus()
    first = page.locator("#list tr").first.get_attribute("data-row")
    page.keyboard.press("x")  # reject the row that has the focus
    page.locator("#found", has_text="39 rows").wait_for()
    assert page.locator(f'#list tr[data-row="{first}"]').count() == 0
    assert page.evaluate("() => document.activeElement.closest('#list') !== null")
    page.keyboard.press(" ")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+ ")
    page.locator("#chosen", has_text="3 rows selected").wait_for()
    page.keyboard.press("Enter")  # accept
    page.locator("#found", has_text="36 rows").wait_for()
    page.locator("#audit-group").click()
    page.locator("#label:not([hidden])").wait_for()
    for _ in range(5):
        assert row(page) % 6 != 0
        press(page, "w" if row(page) % 2 == 0 else "1")
    page.locator("#count", has_text="8 of").wait_for()
    page.get_by_role("tab", name="Rows").click()
    page.locator("#review-text", has_text="Of 5 random rows").wait_for()
    assert findings(page) == []
    page.locator("#accept-all").click()
    page.locator("#count", has_text="39 of").wait_for()
    page.keyboard.press("z")
    page.locator("#count", has_text="8 of").wait_for()


def test_selected_rows_are_labeled_together(table, serve, visit):
    page = visit(start(serve, table).link)
    page.get_by_role("tab", name="Rows").click()
    page.locator("#list input").nth(2).click()
    page.locator("#list input").nth(6).click(modifiers=["Shift"])
    page.keyboard.press("w")
    page.locator("#count", has_text="5 of").wait_for()
    page.locator("#list tr:nth-child(5) td:nth-child(3)", has_text="low").wait_for()
    page.locator("#all").check()
    page.locator("#chosen-ok").click()
    page.locator("#count", has_text="50 of").wait_for()


def test_a_second_person_kappa_and_conflicts(table, serve, visit):
    page = visit(start(serve, table, "--second", "1").link)
    given = {}
    for number in range(10):
        given[row(page)] = "low" if number % 2 == 0 else "high"
        press(page, "w" if number % 2 == 0 else page.locator('[data-label="high"] kbd').inner_text())
    page.locator("#count", has_text="10 of").wait_for()
    page.locator("#who").click()
    page.keyboard.type("ben")
    page.keyboard.press("Enter")
    page.locator("#who", has_text="ben").wait_for()
    page.locator("#work").focus()
    key = {name: page.locator(f'[data-label="{name}"] kbd').inner_text() for name in ("low", "high")}
    for number in range(10):
        at = row(page)
        assert at in given
        assert page.locator("#item", has_text="Labeled").count() == 0  # blind
        other = "high" if given[at] == "low" else "low"
        press(page, key[other if number < 2 else given[at]])
    page.locator("#agreement", has_text="80% of 10 rows").wait_for()
    assert float(page.locator("#agreement .big").inner_text()) == pytest.approx(0.6, abs=0.05)
    page.locator("#conflicts").click()
    page.locator("#found", has_text="2 rows").wait_for()
    page.locator("#list button").first.click()
    page.locator("#item", has_text="ben says").wait_for()
    assert findings(page) == []
    page.keyboard.press("w")
    page.locator("#agreement", has_text="1 conflict").wait_for()


def test_focus_stays_and_the_next_row_is_announced(table, serve, visit):
    page = visit(start(serve, table).link)
    page.locator('[data-label="high"]').focus()
    before = row(page)
    page.keyboard.press("Enter")
    page.locator(f'#item:not([data-row="{before}"])').wait_for()
    page.locator("#count", has_text="1 of").wait_for()
    assert page.evaluate("() => document.activeElement.dataset.label") == "high"
    page.locator("#announced", has_text=re.compile(rf"Row {row(page) + 1}\.")).wait_for(state="attached")
    assert page.locator("#announced").get_attribute("aria-live") == "polite"
    page.locator("#skip").focus()
    press(page, "Enter")
    assert page.evaluate("() => document.activeElement.id") == "skip"


CONTRAST = """() => {
  const linear = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const luminance = (name) => {
    const one = document.createElement("i");
    one.style.color = `var(--${name})`;
    document.body.append(one);
    const [r, g, b] = getComputedStyle(one).color.match(/[0-9.]+/g).map((c) => linear(c / 255));
    one.remove();
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const ratios = (back) => [...Array(12).keys()].map((n) => luminance(`hue-${n}`) / luminance(back));
  return ["card", "paper"].flatMap(ratios).map((ratio) => Math.max(ratio, 1 / ratio));
}"""


def test_colors_of_labels_have_contrast_and_survive_forced_colors(table, serve, visit, tmp_path):
    css = tmp_path / "own.css"
    css.write_text(":root { --accent: #7a0177; }")
    page = visit(start(serve, table, "--css", str(css)).link, reduced_motion="reduce")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert min(page.evaluate(CONTRAST)) >= 3
    style = "() => getComputedStyle(document.documentElement).getPropertyValue('--accent').trim()"
    assert page.evaluate(style) == "#7a0177"
    page.emulate_media(forced_colors="active", color_scheme="light")
    before = "(e) => getComputedStyle(e, '::before').backgroundColor"
    dots = {one.evaluate(before) for one in page.locator("#buttons button").all()}
    assert len(dots) == 2
    page.locator("#tab-book").click()
    assert findings(page) == []


def test_sixty_labels_on_a_phone(table, serve, visit):
    names = "\n".join(f'[[label]]\nname = "label number {n}"' for n in range(60))
    (table.parent / "labels.toml").write_text(names)
    page = visit(start(serve, table).link, width=390, reduced_motion="reduce")
    page.locator("#buttons button").nth(59).wait_for()
    for tab in ("Label", "Rows", "Guidelines"):
        page.get_by_role("tab", name=tab, exact=True).click()
        page.wait_for_timeout(300)
        assert sideways(page) <= 0
        assert findings(page) == []
    page.get_by_role("tab", name="Label", exact=True).click()
    page.keyboard.press("f")
    page.keyboard.type("ber 42")
    assert findings(page) == []
    page.keyboard.press("Enter")
    page.locator("#count", has_text="1 of").wait_for()


def label_truly(page: Any, n: int) -> None:
    """Label rows by the keys on the buttons."""
    for _ in range(n):
        press(page, page.locator(f'[data-label="{"low" if row(page) % 2 == 0 else "high"}"] kbd').inner_text())


def test_random_rows_on_request_and_informative_ones_again(table, serve, visit):
    page = visit(start(serve, table).link)
    page.locator("#random-only").click()
    page.locator("#random-only", has_text="Informative rows again").wait_for()
    label_truly(page, 20)
    assert page.locator("#item", has_text="Chosen at random").count()
    page.locator("#audit .big").wait_for()
    page.locator("#random-only").click()  # it is still there next to the figure
    page.locator("#random-only").wait_for(state="detached")
    for _ in range(40):  # the row on the page stays, and others come as soon as the model has chosen some
        page.wait_for_timeout(1_000)
        if page.locator("#item .says strong").count():
            return
        label_truly(page, 1)
    raise AssertionError("only random rows")


def test_axe_finds_nothing_on_any_view(table, serve, visit):
    page = visit(start(serve, table).link, reduced_motion="reduce")
    page.locator('[data-label="low"]').wait_for()
    label_truly(page, 8)
    views = {"Label": "#buttons", "Rows": "#list tr", "Map": "circle.dot", "Guidelines": "#entries tr"}
    for tab, shown in views.items():
        page.get_by_role("tab", name=tab, exact=True).click()
        page.locator(shown).first.wait_for()
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert findings(page) == []
    page.locator("[data-entry]").first.click()
    assert findings(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Label", exact=True).click()
    dialogs = {"?": "help", "f": "find-dialog", "c": "note-dialog", "l": "alike-dialog", "n": "name-dialog"}
    for key, dialog in dialogs.items():
        page.keyboard.press(key)
        page.locator(f"#{dialog}[open]").wait_for()
        assert findings(page) == []
        page.keyboard.press("Escape")


def test_buttons_stay_where_they_are(table, serve, visit):
    with table.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["text", "class"])
        out.writerows([f"row {i} " + "word " * (5 if i % 2 else 300), ""] for i in range(40))
    page = visit(start(serve, table).link)
    page.locator('[data-label="low"]').wait_for()
    tops = set()
    for _ in range(6):
        tops.add(page.locator('[data-label="low"]').bounding_box()["y"])
        press(page, "s")
    assert len(tops) == 1
